/*
 * The product of square matrices (the kernel `product` of examples/product.c) in C with OpenMP. A function for
 * openmp_product.variant.
 */
#include <CL/cl_tesela.h>
#include <string.h>

enum { BLOCK = 64 };

/* Rows from … to of a block of columns. */
static void block(const float *a, const float *b, float *c, size_t n, size_t row, size_t rows, size_t column,
                  size_t columns)
{
    for (size_t y = row; y < row + rows; y++)
        memset(&c[y * n + column], 0, columns * sizeof(float));
    for (size_t k = 0; k < n; k++)
        for (size_t y = row; y < row + rows; y++) {
            const float factor = a[y * n + k];

#pragma omp simd
            for (size_t x = column; x < column + columns; x++)
                c[y * n + x] += factor * b[k * n + x];
        }
}

cl_int openmp_product(const cl_variant_launch_tesela *launch, void *user_data);

/* product(a, b, c, n) */
cl_int openmp_product(const cl_variant_launch_tesela *launch, void *user_data)
{
    const cl_variant_argument_tesela *args = launch->arguments;
    const size_t n = (size_t) * (const int *)args[3].at;
    const float *a = args[0].at, *b = args[1].at;
    float *c = args[2].at;

    (void)user_data;
    /* Work-item (x, y) makes column x of row y. */
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads((int)launch->n_threads)
    for (size_t y = launch->begin[1]; y < launch->end[1]; y += BLOCK / 8)
        for (size_t x = launch->begin[0]; x < launch->end[0]; x += BLOCK) {
            size_t rows = launch->end[1] - y, columns = launch->end[0] - x;

            block(a, b, c, n, y, rows < BLOCK / 8 ? rows : BLOCK / 8, x, columns < BLOCK ? columns : BLOCK);
        }
    return CL_SUCCESS;
}
