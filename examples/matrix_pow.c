/*
 * Powers of a matrix: each is the one before times the matrix. Work on the host brings each into a common range and
 * stores it.
 */
#include "problem/powers.h"

static size_t size = 1024, iterations = 40;

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns"}, {"iterations", &iterations, NULL, "products"}, {0}};

/* Returns the side of c that has the last power. */
static size_t run(const struct example *e, cl_kernel kernel, cl_mem a, const cl_mem *c, struct powers *p)
{
    write_all(e->queue, a, p->bytes, p->a);
    for (size_t i = 0; i < p->iterations; i++) {
        set_product(kernel, i == 0 ? a : c[1 - i % 2], a, c[i % 2], p->n);
        launch(e->queue, kernel, p->n, p->n, TILE, NULL, NULL);
        enqueue_task(e, c[i % 2], p->bytes, CL_MAP_READ, powers_normalise, p);
    }
    finish(e->queue);
    return (p->iterations - 1) % 2;
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Powers of a matrix, each brought into a common range on the host.",
                        .options = options,
                        .source = PRODUCT_SOURCE};
    struct powers p;
    size_t last = 0;
    example_begin(&e, argc, argv);
    powers_create(&p, size, iterations);

    cl_kernel kernel = make_kernel(e.program, "product");
    cl_mem a = make_buffer(e.context, CL_MEM_READ_ONLY, p.bytes);
    cl_mem c[2] = {make_buffer(e.context, CL_MEM_HOST_READ_ONLY, p.bytes),
                   make_buffer(e.context, CL_MEM_HOST_READ_ONLY, p.bytes)};
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        last = run(&e, kernel, a, c, &p);
        report(&e, r, now() - begin, 0);
    }
    bool right = powers_check(&p, e.queue, c[last]);
    if (e.picture)
        write_heights(e.picture, p.stored, size, size, 1024);

    clReleaseMemObject(a);
    clReleaseMemObject(c[0]);
    clReleaseMemObject(c[1]);
    clReleaseKernel(kernel);
    powers_destroy(&p);
    return example_end(&e, right, "a row of the last power, and its norm");
}
