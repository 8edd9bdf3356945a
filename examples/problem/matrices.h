/* Square matrices: their product by tiles in local memory, rows of products on the host. */
#ifndef EXAMPLE_MATRICES_H
#define EXAMPLE_MATRICES_H

#include "example.h"

enum { TILE = 16 };

#define PRODUCT_SOURCE                                                                              \
    "#define TILE 16\n"                                                                             \
    "kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))\n"                                 \
    "void product(global const float *a, global const float *b, global float *c, int n)\n"          \
    "{\n"                                                                                           \
    "  local float s[TILE][TILE], t[TILE][TILE];\n"                                                 \
    "  int x = get_global_id(0), y = get_global_id(1), i = get_local_id(0), j = get_local_id(1);\n" \
    "  float sum = 0;\n"                                                                            \
    "  for (int k = 0; k < n; k += TILE) {\n"                                                       \
    "    s[j][i] = a[y * n + k + i];\n"                                                             \
    "    t[j][i] = b[(k + j) * n + x];\n"                                                           \
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"                                                           \
    "    for (int m = 0; m < TILE; m++)\n"                                                          \
    "      sum += s[j][m] * t[m][i];\n"                                                             \
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"                                                           \
    "  }\n"                                                                                         \
    "  c[y * n + x] = sum;\n"                                                                       \
    "}\n"

static inline void check_tiles(size_t n)
{
    if (n % TILE)
        refuse("--size", "a multiple of 16 is needed");
}

/* A matrix of positive elements whose rows add up to about one, so that products of many stay in range. */
static inline void fill_matrix(float *a, size_t n, size_t seed)
{
    for (size_t i = 0; i < n * n; i++)
        a[i] = value_at(i * 2 + seed * 7919) * 2 / (float)n;
}

static inline void set_product(cl_kernel kernel, cl_mem a, cl_mem b, cl_mem c, size_t n)
{
    set_mem(kernel, 0, a);
    set_mem(kernel, 1, b);
    set_mem(kernel, 2, c);
    set_int(kernel, 3, n);
}

/* row = row × a, on the host; `space` has room for a row. */
static inline void multiply_row(double *row, const float *a, size_t n, double *space)
{
    for (size_t x = 0; x < n; x++)
        space[x] = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t x = 0; x < n; x++)
            space[x] += row[k] * a[k * n + x];
    memcpy(row, space, n * sizeof(*row));
}

static inline bool rows_equal(const float *got, const double *expected, size_t n)
{
    bool equal = true;
    for (size_t x = 0; x < n; x++)
        equal = equal && near(got[x], expected[x], 1e-3);
    return equal;
}

#endif
