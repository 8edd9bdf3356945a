/* Three matrices of which one launch makes the third: their sum, or their product element by element of a row and a
 * column. A block of rows of A and C is enough for a part of C. */
#ifndef EXAMPLE_ROWS_H
#define EXAMPLE_ROWS_H

#include "problem/matrices.h"

static const char add_source[] =
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void add(global const float *a, global const float *b, global float *c, int rows, int columns)\n"
    "{\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x < columns && y < rows)\n"
    "    c[y * columns + x] = a[y * columns + x] + b[y * columns + x];\n"
    "}\n";

static const char plain_product_source[] =
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void plain_product(global const float *a, global const float *b, global float *c, int rows, int inner,\n"
    "                   int columns)\n"
    "{\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x >= columns || y >= rows)\n"
    "    return;\n"
    "  float sum = 0;\n"
    "  for (int k = 0; k < inner; k++)\n"
    "    sum += a[y * inner + k] * b[k * columns + x];\n"
    "  c[y * columns + x] = sum;\n"
    "}\n";

/* A: rows × inner, B: inner × columns, C: rows × columns. */
struct rows {
    size_t rows, inner, columns;
    float *a, *b, *c;
};

static inline void rows_create(struct rows *r, size_t rows, size_t inner, size_t columns)
{
    *r = (struct rows){rows, inner, columns, NULL, NULL, NULL};
    r->a = allocate(rows * inner, sizeof(float));
    r->b = allocate(inner * columns, sizeof(float));
    r->c = allocate(rows * columns, sizeof(float));
    for (size_t i = 0; i < rows * inner; i++)
        r->a[i] = value_at(i);
    for (size_t i = 0; i < inner * columns; i++)
        r->b[i] = value_at(i + 31) - 0.25f;
    memset(r->c, 0, rows * columns * sizeof(float));
}

static inline void rows_destroy(struct rows *r)
{
    free(r->a);
    free(r->b);
    free(r->c);
}

/* Compares some two hundred elements of the product with the host's; where the device computed a sum, all. */
static inline bool rows_check_product(const struct rows *r)
{
    bool right = true;
    size_t n = r->rows * r->columns;
    for (size_t i = 0; i < n; i += n / 200 + 1) {
        double sum = 0;
        for (size_t k = 0; k < r->inner; k++)
            sum += (double)r->a[i / r->columns * r->inner + k] * (double)r->b[k * r->columns + i % r->columns];
        right = right && near((double)r->c[i], sum, 1e-3);
    }
    return right;
}

static inline bool rows_check_sum(const struct rows *r)
{
    bool right = true;
    for (size_t i = 0; i < r->rows * r->columns; i++)
        right = right && r->c[i] == r->a[i] + r->b[i];
    return right;
}

#endif
