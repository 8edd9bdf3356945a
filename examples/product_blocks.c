/*
 * The product of a long matrix and a square one, in blocks of rows: each launch takes all of B and a block of A and of
 * C, each a buffer of its own.
 */
#include "problem/blocks.h"
#include "problem/rows.h"

static size_t rows = 100000, inner = 1000, n_blocks = 20;

static const struct option_row options[] = {{"rows", &rows, NULL, "of A and C"},
                                            {"inner", &inner, NULL, "columns of A, rows and columns of B"},
                                            {"blocks", &n_blocks, NULL, "blocks of rows"},
                                            {0}};

struct parts {
    cl_mem b, *a, *c;
};

static void enqueue_block(const struct example *e, cl_kernel kernel, const struct parts *parts, const struct rows *m,
                          size_t i)
{
    struct block block = block_of(m->rows, i, n_blocks);
    write_all(e->queue, parts->a[i], block.rows * m->inner * sizeof(float), m->a + block.first * m->inner);
    set_product(kernel, parts->a[i], parts->b, parts->c[i], block.rows);
    set_int(kernel, 4, m->inner);
    set_int(kernel, 5, m->columns);
    launch(e->queue, kernel, m->columns, block.rows, TILE, NULL, NULL);
}

static void run(const struct example *e, cl_kernel kernel, const struct parts *parts, struct rows *m)
{
    write_all(e->queue, parts->b, m->inner * m->columns * sizeof(float), m->b);
    for (size_t i = 0; i < n_blocks; i++)
        enqueue_block(e, kernel, parts, m, i);
    for (size_t i = 0; i < n_blocks; i++) {
        struct block block = block_of(m->rows, i, n_blocks);
        must(clEnqueueReadBuffer(e->queue, parts->c[i], CL_FALSE, 0, block.rows * m->columns * sizeof(float),
                                 m->c + block.first * m->columns, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    }
    finish(e->queue);
}

static void create(const struct example *e, struct parts *parts, const struct rows *m)
{
    parts->b = make_buffer(e->context, CL_MEM_READ_ONLY, m->inner * m->columns * sizeof(float));
    parts->a = allocate(n_blocks, sizeof(cl_mem));
    parts->c = allocate(n_blocks, sizeof(cl_mem));
    for (size_t i = 0; i < n_blocks; i++) {
        size_t n = block_of(m->rows, i, n_blocks).rows;
        parts->a[i] = make_buffer(e->context, CL_MEM_READ_ONLY, n * m->inner * sizeof(float));
        parts->c[i] = make_buffer(e->context, CL_MEM_WRITE_ONLY, n * m->columns * sizeof(float));
    }
}

static void destroy(struct parts *parts)
{
    for (size_t i = 0; i < n_blocks; i++) {
        clReleaseMemObject(parts->a[i]);
        clReleaseMemObject(parts->c[i]);
    }
    clReleaseMemObject(parts->b);
    free(parts->a);
    free(parts->c);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "The product of a long matrix and a square one, in blocks of rows.",
                        .options = options,
                        .source = plain_product_source};
    struct rows m;
    struct parts parts;
    example_begin(&e, argc, argv);
    if (n_blocks > rows)
        refuse("--blocks", "there are more blocks than rows");
    rows_create(&m, rows, inner, inner);
    cl_kernel kernel = make_kernel(e.program, "plain_product");
    create(&e, &parts, &m);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, kernel, &parts, &m);
        report(&e, r, now() - begin, 0);
    }
    bool right = rows_check_product(&m);
    destroy(&parts);
    clReleaseKernel(kernel);
    rows_destroy(&m);
    return example_end(&e, right, "elements of the product against the host");
}
