/*
 * Chains of matrix products, one after the other: work on the host makes A[i], four kernels multiply it by C1 to C4,
 * one more adds the squares of the result for its norm. Two sets of matrices are used in turn.
 */
#include "problem/chains.h"

static size_t size = 1024, count = 16, n_sets = 2;

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns, a multiple of 16"},
                                            {"chains", &count, NULL, "how many"},
                                            {"sets", &n_sets, NULL, "sets of matrices"},
                                            {0}};

struct device_side {
    cl_kernel product, squares;
    cl_mem c[STAGES], *steps, *sums; /* steps: STAGES + 1 for each set; sums: one for each chain */
};

static void enqueue_chain(const struct example *e, const struct device_side *d, struct chains *c, size_t i)
{
    const cl_mem *steps = d->steps + i % n_sets * (STAGES + 1);
    enqueue_task(e, steps[0], c->bytes, CL_MAP_WRITE_INVALIDATE_REGION, make_start, &c->each[i]);
    for (size_t s = 0; s < STAGES; s++) {
        set_product(d->product, steps[s], d->c[s], steps[s + 1], c->n);
        launch(e->queue, d->product, c->n, c->n, TILE, NULL, NULL);
    }
    enqueue_squares(e->queue, d->squares, steps[STAGES], d->sums[i], c->n, NULL);
}

static void run(const struct example *e, const struct device_side *d, struct chains *c)
{
    for (size_t s = 0; s < STAGES; s++)
        write_all(e->queue, d->c[s], c->bytes, c->c[s]);
    for (size_t i = 0; i < c->count; i++)
        enqueue_chain(e, d, c, i);
    for (size_t i = 0; i < c->count; i++)
        must(clEnqueueReadBuffer(e->queue, d->sums[i], CL_FALSE, 0, SUM_GROUPS * sizeof(float),
                                 c->sums + i * SUM_GROUPS, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    finish(e->queue);
}

static void create(const struct example *e, struct device_side *d, const struct chains *c)
{
    d->product = make_kernel(e->program, "product");
    d->squares = make_kernel(e->program, "squares");
    d->steps = allocate(n_sets * (STAGES + 1), sizeof(cl_mem));
    d->sums = allocate(c->count, sizeof(cl_mem));
    for (size_t s = 0; s < STAGES; s++)
        d->c[s] = make_buffer(e->context, CL_MEM_READ_ONLY, c->bytes);
    for (size_t i = 0; i < n_sets * (STAGES + 1); i++)
        d->steps[i] = make_buffer(e->context, CL_MEM_READ_WRITE, c->bytes);
    for (size_t i = 0; i < c->count; i++)
        d->sums[i] = make_buffer(e->context, CL_MEM_WRITE_ONLY, SUM_GROUPS * sizeof(float));
}

static void destroy(struct device_side *d, const struct chains *c)
{
    for (size_t s = 0; s < STAGES; s++)
        clReleaseMemObject(d->c[s]);
    for (size_t i = 0; i < n_sets * (STAGES + 1); i++)
        clReleaseMemObject(d->steps[i]);
    for (size_t i = 0; i < c->count; i++)
        clReleaseMemObject(d->sums[i]);
    free(d->steps);
    free(d->sums);
    clReleaseKernel(d->product);
    clReleaseKernel(d->squares);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Chains of four matrix products and the norms of their results.",
                        .options = options,
                        .source = chain_source};
    struct chains c;
    struct device_side d;
    example_begin(&e, argc, argv);
    chains_create(&c, size, count);
    create(&e, &d, &c);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, &d, &c);
        report(&e, r, now() - begin, 0);
    }
    bool right = chains_check(&c, e.queue, d.steps[(count - 1) % n_sets * (STAGES + 1) + STAGES]);
    destroy(&d, &c);
    chains_destroy(&c);
    return example_end(&e, right, "a row of the last product, and all norms");
}
