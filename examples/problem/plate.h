/* A plate whose edges keep their values, by Jacobi's method: each inner point becomes the mean of its four neighbours.
 */
#ifndef EXAMPLE_PLATE_H
#define EXAMPLE_PLATE_H

#include "example.h"

enum { PLATE_GROUP = 16 };

/* change: for each row the greatest change of a point between two steps. */
static const char plate_source[] =
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void jacobi(global const float *from, global float *to, int columns, int rows)\n"
    "{\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  if (x > 0 && x < columns - 1 && y > 0 && y < rows - 1)\n"
    "    to[y * columns + x] = 0.25f * (from[y * columns + x - 1] + from[y * columns + x + 1] +\n"
    "                                   from[(y - 1) * columns + x] + from[(y + 1) * columns + x]);\n"
    "}\n"
    "kernel void change(global const float *a, global const float *b, global float *most, int columns)\n"
    "{\n"
    "  int y = get_global_id(0);\n"
    "  float found = 0;\n"
    "  for (int x = 0; x < columns; x++)\n"
    "    found = fmax(found, fabs(a[y * columns + x] - b[y * columns + x]));\n"
    "  most[y] = found;\n"
    "}\n";

struct plate {
    size_t n, bytes;
    float *start, *end;
};

/* The point i of a plate of n rows, at the start. */
static inline float start_value(size_t n, size_t i)
{
    bool edge = i % n == 0 || i % n == n - 1 || i / n == 0 || i / n == n - 1;
    return edge ? 1 + value_at(i) : value_at(i) / 4;
}

static inline void plate_create(struct plate *p, size_t n)
{
    *p = (struct plate){n, n * n * sizeof(float), allocate(n * n, sizeof(float)), allocate(n * n, sizeof(float))};
    for (size_t i = 0; i < n * n; i++)
        p->start[i] = start_value(n, i);
}

static inline void plate_destroy(struct plate *p)
{
    free(p->start);
    free(p->end);
}

/* The point (x, y) of a plate of n rows after so many steps, from the square of points that it depends on. */
static inline float point_after(size_t n, size_t x, size_t y, size_t n_steps)
{
    size_t left = x > n_steps ? x - n_steps : 0, top = y > n_steps ? y - n_steps : 0;
    size_t right = x + n_steps + 1 < n ? x + n_steps + 1 : n, bottom = y + n_steps + 1 < n ? y + n_steps + 1 : n,
           w = right - left, h = bottom - top;
    float *points[2] = {allocate(w * h, sizeof(float)), allocate(w * h, sizeof(float))};
    for (size_t j = 0; j < w * h; j++)
        points[0][j] = points[1][j] = start_value(n, (top + j / w) * n + left + j % w);
    for (size_t i = 0; i < n_steps; i++) {
        const float *from = points[i % 2];
        for (size_t j = 1; j + 1 < h; j++)
            for (size_t k = j * w + 1; k + 1 < (j + 1) * w; k++)
                points[1 - i % 2][k] = 0.25f * (from[k - 1] + from[k + 1] + from[k - w] + from[k + w]);
    }
    float value = points[n_steps % 2][(y - top) * w + x - left];
    free(points[0]);
    free(points[1]);
    return value;
}

/* Sixteen points; those of small plates depend on all. */
static inline bool plate_check(const struct plate *p, size_t n_steps)
{
    bool right = true;
    for (size_t i = 0; i < 16; i++) {
        size_t x = 1 + (i % 4) * (p->n - 3) / 3, y = 1 + (i / 4) * (p->n - 3) / 3;
        right = right && near((double)p->end[y * p->n + x], (double)point_after(p->n, x, y, n_steps), 1e-4);
    }
    return right;
}

#endif
