/* Prices of options by the formula of Black and Scholes: one array of inputs, two of results. */
#ifndef EXAMPLE_PRICES_H
#define EXAMPLE_PRICES_H

#include "example.h"

enum { PRICE_GROUP = 128 };

static const char prices_source[] =
    "float below(float d)\n" /* of the normal distribution; Zelen and Severo's polynomial */
    "{\n"
    "  float k = 1 / (1 + 0.2316419f * fabs(d));\n"
    "  float tail = 0.39894228f * exp(-0.5f * d * d) * k * (0.31938153f + k * (-0.356563782f + k *\n"
    "      (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));\n"
    "  return d > 0 ? 1 - tail : tail;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(128, 1, 1)))\n"
    "void prices(global const float *in, global float *call, global float *put, int n)\n"
    "{\n"
    "  int i = get_global_id(0);\n"
    "  if (i >= n)\n"
    "    return;\n"
    "  float s = 5 + 25 * in[i], x = 1 + 99 * in[i], t = 0.25f + 9.75f * in[i], v = 0.3f, r = 0.02f;\n"
    "  float d1 = (log(s / x) + (r + 0.5f * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);\n"
    "  float later = x * exp(-r * t);\n"
    "  call[i] = s * below(d1) - later * below(d2);\n"
    "  put[i] = later * below(-d2) - s * below(-d1);\n"
    "}\n";

struct prices {
    size_t n;
    float *in, *call, *put;
};

static inline void prices_create(struct prices *p, size_t n)
{
    *p = (struct prices){n, allocate(n, sizeof(float)), allocate(n, sizeof(float)), allocate(n, sizeof(float))};
    for (size_t i = 0; i < n; i++)
        p->in[i] = value_at(i);
}

static inline void prices_destroy(struct prices *p)
{
    free(p->in);
    free(p->call);
    free(p->put);
}

static inline void set_prices(cl_kernel kernel, cl_mem in, cl_mem call, cl_mem put, size_t n)
{
    set_mem(kernel, 0, in);
    set_mem(kernel, 1, call);
    set_mem(kernel, 2, put);
    set_int(kernel, 3, n);
}

static inline void launch_prices(cl_command_queue queue, cl_kernel kernel, size_t n)
{
    const size_t global = round_up(n, PRICE_GROUP), local = PRICE_GROUP;
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

/* The normal distribution comes from the C library here, so the polynomial is checked as well. */
static inline bool prices_check(const struct prices *p)
{
    bool right = true;
    for (size_t i = 0; i < p->n; i += p->n / 5000 + 1) {
        double in = (double)p->in[i], s = 5 + 25 * in, x = 1 + 99 * in, t = 0.25 + 9.75 * in, v = 0.3, r = 0.02;
        double d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        double call = s * 0.5 * erfc(-d1 / sqrt(2)) - x * exp(-r * t) * 0.5 * erfc(-d2 / sqrt(2));
        double put = x * exp(-r * t) * 0.5 * erfc(d2 / sqrt(2)) - s * 0.5 * erfc(d1 / sqrt(2));
        right = right && fabs((double)p->call[i] - call) < 2e-3 && fabs((double)p->put[i] - put) < 2e-3;
    }
    return right;
}

#endif
