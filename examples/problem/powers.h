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

/* Work on the host for each power: from each element the least one is subtracted, what is left is divided by the
 * greatest one and by the norm of all. */
static inline void powers_normalise(void *memory, void *argument)
{
    const float *c = memory;
    struct powers *p = argument;
    size_t n = p->n * p->n;
    double sum = 0;
    p->least = p->greatest = c[0];
    for (size_t i = 1; i < n; i++) {
        p->least = c[i] < p->least ? c[i] : p->least;
        p->greatest = c[i] > p->greatest ? c[i] : p->greatest;
    }
    for (size_t row = 0; row < p->n; row++) {
        float part = 0;
        for (size_t i = row * p->n; i < (row + 1) * p->n; i++) {
            p->stored[i] = (c[i] - p->least) / p->greatest;
            part += p->stored[i] * p->stored[i];
        }
        sum += (double)part;
    }
    p->norm = sqrt(sum);
    float factor = (float)(1 / p->norm);
    for (size_t i = 0; i < n; i++)
        p->stored[i] *= factor;
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
