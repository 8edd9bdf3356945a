/* Powers of a matrix, each brought into a common range on the host. */
#ifndef EXAMPLE_POWERS_H
#define EXAMPLE_POWERS_H

#include "problem/matrices.h"

struct powers {
    size_t n, iterations, bytes;
    float *a, *stored; /* stored: the last power in its common range */
    float least, greatest;
    double norm;
};

static inline void powers_create(struct powers *p, size_t n, size_t iterations)
{
    check_tiles(n);
    *p = (struct powers){.n = n, .iterations = iterations, .bytes = n * n * sizeof(float)};
    p->a = allocate(n * n, sizeof(float));
    p->stored = allocate(n * n, sizeof(float));
    fill_matrix(p->a, n, 1);
}

static inline void powers_destroy(struct powers *p)
{
    free(p->a);
    free(p->stored);
}

/* Lanes in which the host goes over a matrix, so that its compiler can use vectors. */
enum { LANES = 16 };

static inline void find_range(const float *c, size_t n, float *least, float *greatest)
{
    float low[LANES], high[LANES];
    for (int l = 0; l < LANES; l++)
        low[l] = high[l] = c[l];
    for (size_t i = LANES; i < n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            low[l] = c[i + l] < low[l] ? c[i + l] : low[l];
            high[l] = c[i + l] > high[l] ? c[i + l] : high[l];
        }
    *least = low[0];
    *greatest = high[0];
    for (int l = 1; l < LANES; l++) {
        *least = fminf(*least, low[l]);
        *greatest = fmaxf(*greatest, high[l]);
    }
}

/* Stores a row of the matrix in its range; returns the sum of its squares. */
static inline double store_row(float *restrict to, const float *restrict c, size_t n, float least, float greatest)
{
    float squares[LANES] = {0}, factor = 1 / greatest;
    double sum = 0;
    for (size_t i = 0; i < n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            float value = (c[i + l] - least) * factor;
            to[i + l] = value;
            squares[l] += value * value;
        }
    for (int l = 0; l < LANES; l++)
        sum += (double)squares[l];
    return sum;
}

/* Work on the host for each power: from each element the least one is subtracted, what is left is divided by the
 * greatest one and by the norm of all. */
static inline void powers_normalise(void *memory, void *argument)
{
    const float *c = memory;
    struct powers *p = argument;
    size_t n = p->n;
    double sum = 0;
    find_range(c, n * n, &p->least, &p->greatest);
    for (size_t y = 0; y < n; y++)
        sum += store_row(p->stored + y * n, c + y * n, n, p->least, p->greatest);
    p->norm = sqrt(sum);
    float factor = (float)(1 / p->norm), *stored = p->stored;
    for (size_t i = 0; i < n * n; i++)
        stored[i] *= factor;
}

/* One row of the last power is computed on the host; `last` is that power as the device left it. */
static inline bool powers_check(const struct powers *p, cl_command_queue queue, cl_mem last)
{
    size_t n = p->n, at = n / 3;
    double *row = allocate(n, sizeof(double)), *space = allocate(n, sizeof(double)), sum = 0;
    float *got = allocate(n, sizeof(float));
    read_now(queue, last, at * n * sizeof(float), n * sizeof(float), got);
    for (size_t x = 0; x < n; x++)
        row[x] = (double)p->a[at * n + x];
    for (size_t i = 0; i < p->iterations; i++)
        multiply_row(row, p->a, n, space);
    bool right = rows_equal(got, row, n);
    for (size_t x = 0; x < n; x++)
        right = right && fabs(p->stored[at * n + x] * p->norm * p->greatest - (got[x] - p->least)) <=
                             1e-4 * fabs((double)p->greatest);
    for (size_t i = 0; i < n * n; i++)
        sum += (double)p->stored[i] * (double)p->stored[i];
    free(row);
    free(space);
    free(got);
    return right && near(sum, 1, 1e-3);
}

#endif
