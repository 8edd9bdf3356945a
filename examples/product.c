/* The product of two square matrices as one launch, by tiles in local memory. */
#include "problem/rows.h"

static size_t size = 4096;

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns, a multiple of 16"}, {0}};

int main(int argc, char **argv)
{
    struct example e = {
        .about = "The product of two matrices as one launch.", .options = options, .source = PRODUCT_SOURCE};
    struct rows m;
    example_begin(&e, argc, argv);
    check_tiles(size);
    rows_create(&m, size, size, size);
    size_t bytes = size * size * sizeof(float);
    cl_kernel kernel = make_kernel(e.program, "product");
    cl_mem a = make_buffer(e.context, CL_MEM_READ_ONLY, bytes), b = make_buffer(e.context, CL_MEM_READ_ONLY, bytes),
           c = make_buffer(e.context, CL_MEM_WRITE_ONLY, bytes);
    set_product(kernel, a, b, c, size);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        write_all(e.queue, a, bytes, m.a);
        write_all(e.queue, b, bytes, m.b);
        finish(e.queue);
        double written = now();
        launch(e.queue, kernel, size, size, TILE, NULL, NULL);
        finish(e.queue);
        double computed = now();
        read_now(e.queue, c, 0, bytes, m.c);
        report(&e, r, now() - begin, computed - written);
    }
    bool right = rows_check_product(&m);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseMemObject(c);
    clReleaseKernel(kernel);
    rows_destroy(&m);
    return example_end(&e, right, "elements of the product against the host");
}
