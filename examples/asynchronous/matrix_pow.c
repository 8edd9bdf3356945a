/*
 * Powers of a matrix for one device, overlapped by hand: kernels in one queue, reads in a second one, events between
 * the two, two pinned buffers in turn. While the host works on one power, the next one is computed and read.
 */
#include "problem/powers.h"

#include "asynchronous/pinned.h"

static size_t size = 1024, iterations = 40;

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns"}, {"iterations", &iterations, NULL, "products"}, {0}};

struct pipeline {
    cl_command_queue reads;
    cl_kernel kernel;
    cl_mem a, c[2];
    struct pinned pinned[2];
    cl_event computed[2], read[2]; /* of the powers with even and odd numbers */
};

/* Power i overwrites power i - 2, so it waits for that to be read. */
static void enqueue(const struct example *e, struct pipeline *s, const struct powers *p, size_t i)
{
    size_t side = i % 2;
    forget(&s->computed[side]);
    set_product(s->kernel, i == 0 ? s->a : s->c[1 - side], s->a, s->c[side], p->n);
    launch(e->queue, s->kernel, p->n, p->n, TILE, s->read[side], &s->computed[side]);
    must(clFlush(e->queue), "clFlush");
    forget(&s->read[side]);
    must(clEnqueueReadBuffer(s->reads, s->c[side], CL_FALSE, 0, p->bytes, s->pinned[side].at, 1, &s->computed[side],
                             &s->read[side]),
         "clEnqueueReadBuffer");
    must(clFlush(s->reads), "clFlush");
}

static void normalise(struct pipeline *s, struct powers *p, size_t i)
{
    must(clWaitForEvents(1, &s->read[i % 2]), "clWaitForEvents");
    powers_normalise(s->pinned[i % 2].at, p);
}

/* Returns the side of c that has the last power. */
static size_t run(const struct example *e, struct pipeline *s, struct powers *p)
{
    write_all(e->queue, s->a, p->bytes, p->a);
    for (size_t i = 0; i < p->iterations; i++) {
        enqueue(e, s, p, i);
        if (i > 0)
            normalise(s, p, i - 1);
    }
    normalise(s, p, p->iterations - 1);
    finish(e->queue);
    return (p->iterations - 1) % 2;
}

static void create(const struct example *e, struct pipeline *s, const struct powers *p)
{
    *s = (struct pipeline){.reads = second_queue(e), .kernel = make_kernel(e->program, "product")};
    s->a = make_buffer(e->context, CL_MEM_READ_ONLY, p->bytes);
    for (int i = 0; i < 2; i++) {
        s->c[i] = make_buffer(e->context, CL_MEM_READ_WRITE, p->bytes);
        s->pinned[i] = pin(e, p->bytes);
    }
}

static void destroy(const struct example *e, struct pipeline *s)
{
    for (int i = 0; i < 2; i++) {
        forget(&s->computed[i]);
        forget(&s->read[i]);
        clReleaseMemObject(s->c[i]);
        unpin(e, &s->pinned[i]);
    }
    clReleaseMemObject(s->a);
    clReleaseKernel(s->kernel);
    clReleaseCommandQueue(s->reads);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Powers of a matrix, each brought into a common range on the host.\n"
                                 "Overlapped by hand: two queues, events, pinned buffers.",
                        .options = options,
                        .source = PRODUCT_SOURCE};
    struct powers p;
    struct pipeline s;
    size_t last = 0;
    example_begin(&e, argc, argv);
    powers_create(&p, size, iterations);
    create(&e, &s, &p);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        last = run(&e, &s, &p);
        report(&e, r, now() - begin, 0);
    }
    bool right = powers_check(&p, e.queue, s.c[last]);
    if (e.picture)
        write_heights(e.picture, p.stored, size, size, 1024);
    destroy(&e, &s);
    powers_destroy(&p);
    return example_end(&e, right, "a row of the last power, and its norm");
}
