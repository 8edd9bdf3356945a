/* The program of ten lines of which docs/lab/performance.md says how long it takes to build. */
#ifndef TSL_BENCH_TEN_LINES_H
#define TSL_BENCH_TEN_LINES_H

#define TEN_LINES                                                         \
    "kernel void product(global const float *a, global const float *b,\n" \
    "                    global float *c, int n)\n"                       \
    "{\n"                                                                 \
    "    size_t x = get_global_id(0), y = get_global_id(1);\n"            \
    "    float sum = 0;\n"                                                \
    "\n"                                                                  \
    "    for (int k = 0; k < n; k++)\n"                                   \
    "        sum += a[y * n + k] * b[k * n + x];\n"                       \
    "    c[y * n + x] = sum;\n"                                           \
    "}\n"

#endif
