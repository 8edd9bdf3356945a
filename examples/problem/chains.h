/* Chains of matrix products, B[i] = A[i] × C1 × C2 × C3 × C4, and the norm of each B[i]. */
#ifndef EXAMPLE_CHAINS_H
#define EXAMPLE_CHAINS_H

#include "problem/matrices.h"

enum { STAGES = 4, SUM_GROUP = 256, SUM_GROUPS = 64 };

/* squares: each of SUM_GROUPS work-groups adds the squares of its part. */
static const char chain_source[] =
    PRODUCT_SOURCE "kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
                   "void squares(global const float *b, global float *sums, int n)\n"
                   "{\n"
                   "  local float part[256];\n"
                   "  int l = get_local_id(0), g = get_global_id(0) / 256, each = n / 64;\n"
                   "  float sum = 0;\n"
                   "  for (int i = l; i < each; i += 256)\n"
                   "    sum += b[g * each + i] * b[g * each + i];\n"
                   "  part[l] = sum;\n"
                   "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                   "  for (int s = 128; s > 0; s /= 2) {\n"
                   "    if (l < s)\n"
                   "      part[l] += part[l + s];\n"
                   "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                   "  }\n"
                   "  if (l == 0)\n"
                   "    sums[g] = part[0];\n"
                   "}\n";

struct chains {
    size_t n, count, bytes;
    float *c[STAGES];
    float *sums; /* SUM_GROUPS for each chain */
    struct chain {
        struct chains *all;
        size_t i;
    } * each; /* what the host's work on a chain needs to know */
};

static inline void chains_create(struct chains *c, size_t n, size_t count)
{
    check_tiles(n);
    *c = (struct chains){.n = n, .count = count, .bytes = n * n * sizeof(float)};
    for (size_t s = 0; s < STAGES; s++) {
        c->c[s] = allocate(n * n, sizeof(float));
        fill_matrix(c->c[s], n, s + 2);
    }
    c->sums = allocate(count * SUM_GROUPS, sizeof(float));
    c->each = allocate(count, sizeof(*c->each));
    for (size_t i = 0; i < count; i++)
        c->each[i] = (struct chain){c, i};
}

static inline void chains_destroy(struct chains *c)
{
    for (size_t s = 0; s < STAGES; s++)
        free(c->c[s]);
    free(c->sums);
    free(c->each);
}

static inline float chain_factor(size_t i)
{
    return 1 + (float)(i % 8) / 8;
}

/* Work on the host: makes A[i], the same matrix for all chains but for a factor. */
static inline void make_start(void *memory, void *argument)
{
    const struct chain *chain = argument;
    float *a = memory, factor = chain_factor(chain->i) * 2 / (float)chain->all->n;
    for (size_t i = 0; i < chain->all->n * chain->all->n; i++)
        a[i] = value_at(i) * factor;
}

static inline void enqueue_squares(cl_command_queue queue, cl_kernel kernel, cl_mem b, cl_mem sums, size_t n,
                                   cl_event *done)
{
    const size_t global = SUM_GROUPS * SUM_GROUP, local = SUM_GROUP;
    set_mem(kernel, 0, b);
    set_mem(kernel, 1, sums);
    set_int(kernel, 2, n * n);
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, done), "clEnqueueNDRangeKernel");
}

static inline double chain_norm(const struct chains *c, size_t i)
{
    double sum = 0;
    for (size_t g = 0; g < SUM_GROUPS; g++)
        sum += (double)c->sums[i * SUM_GROUPS + g];
    return sqrt(sum);
}

/* A row of the last product is computed on the host; all norms must be that of the last but for the factors. */
static inline bool chains_check(const struct chains *c, cl_command_queue queue, cl_mem last)
{
    size_t n = c->n, at = n / 3;
    double *row = allocate(n, sizeof(double)), *space = allocate(n, sizeof(double)), sum = 0;
    float *b = allocate(n * n, sizeof(float)), factor = chain_factor(c->count - 1);
    read_now(queue, last, 0, c->bytes, b);
    for (size_t x = 0; x < n; x++)
        row[x] = (double)(value_at(at * n + x) * factor * 2 / (float)n);
    for (size_t s = 0; s < STAGES; s++)
        multiply_row(row, c->c[s], n, space);
    bool right = rows_equal(b + at * n, row, n);
    for (size_t i = 0; i < n * n; i++)
        sum += (double)b[i] * (double)b[i];
    for (size_t i = 0; i < c->count; i++)
        right = right && near(chain_norm(c, i), sqrt(sum) * (double)(chain_factor(i) / factor), 1e-3);
    free(row);
    free(space);
    free(b);
    return right;
}

#endif
