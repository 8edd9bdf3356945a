/*
 * What builds cost: programs of several kinds, each built a number of times as if for the first time (a comment
 * differs), then again from the cache. Times are medians; processor time is the kernel compiler's, with its children's.
 * Not a test.
 *
 *     TESELA_BUILD=build build/tests/builds [COUNT [PROGRAM]]
 */
#include "compile_client/client.h"
#include "compile_client/compile.h"
#include "ten_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_COUNT 1000

static const struct {
    const char *name, *source;
} programs[] = {
    {"one line", "kernel void f(global float *x) { x[get_global_id(0)] += 1; }\n"},
    {"ten lines with a loop", TEN_LINES},
    {"vectors of int", "kernel void add(global int8 *a, global int8 *b, global int8 *c, int n)\n"
                       "{\n"
                       "    size_t i = get_global_id(0);\n"
                       "    int8 x = a[i], y = b[i];\n"
                       "    for (int k = 0; k < n; k++)\n"
                       "        x = select(x + y, rotate(x, y) & (int8)k, x < y);\n"
                       "    c[i] = x;\n"
                       "}\n"},
    {"shuffles", "kernel void s(global uchar16 *a, global uchar16 *m, global uchar16 *c)\n"
                 "{\n"
                 "    size_t i = get_global_id(0);\n"
                 "    c[i] = shuffle(a[i], m[i]) + convert_uchar16_sat(convert_float16(a[i]) * 1.5f);\n"
                 "}\n"},
    {"barriers", "kernel void sum(global const float *x, global float *out, local float *s)\n"
                 "{\n"
                 "    size_t i = get_local_id(0);\n"
                 "    s[i] = x[get_global_id(0)];\n"
                 "    for (size_t n = get_local_size(0) / 2; n; n /= 2) {\n"
                 "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                 "        if (i < n) s[i] += s[i + n];\n"
                 "    }\n"
                 "    if (i == 0) out[get_group_id(0)] = s[0];\n"
                 "}\n"},
    {"functions", "kernel void f(global float4 *x)\n"
                  "{\n"
                  "    size_t i = get_global_id(0);\n"
                  "    x[i] = sin(x[i]) * pow(x[i], (float4)2.5f) + exp(x[i]);\n"
                  "}\n"},
    {"atomics", "kernel void f(volatile global int *x, global int *y)\n"
                "{\n"
                "    size_t i = get_global_id(0);\n"
                "    y[i] = atomic_add(x, 3) + atomic_cmpxchg(x + 1, 2, 3);\n"
                "}\n"},
};

#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The compiler's processor time with its children's, ms. */
static double processor_ms(void)
{
    unsigned long own[2], children[2];
    char path[64];
    FILE *file;
    int n = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", tsl_client_process());
    file = fopen(path, "r");
    if (file) {
        n = fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &own[0], &own[1],
                   &children[0], &children[1]);
        fclose(file);
    }
    return n == 4 ? (double)(own[0] + own[1] + children[0] + children[1]) * 1e3 / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* How long it took, ms. */
static double build(const char *source, unsigned salt)
{
    char *text;
    struct tsl_wire_build request = {.target = TSL_WIRE_CPU, .options = (char *)""};
    struct tsl_compiled compiled;
    double from = now_ms();

    if (asprintf(&text, "// %ld %u\n%s", (long)getpid(), salt, source) < 0)
        abort();
    request.source = text;
    if (tsl_compile(&request, &compiled) != CL_SUCCESS) {
        fprintf(stderr, "%s\n", compiled.built.log);
        exit(1);
    }
    tsl_compiled_finish(&compiled);
    free(text);
    return now_ms() - from;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *times, unsigned n)
{
    qsort(times, n, sizeof(*times), compare);
    return times[n / 2];
}

static void measure(unsigned which, unsigned count)
{
    static double times[MAX_COUNT];
    double processor = processor_ms(), cold;

    for (unsigned i = 0; i < count; i++)
        times[i] = build(programs[which].source, i);
    processor = (processor_ms() - processor) / count;
    cold = median(times, count);
    for (unsigned i = 0; i < count; i++)
        times[i] = build(programs[which].source, i);
    printf("%-24s %10.2f %10.2f %10.3f\n", programs[which].name, cold, processor, median(times, count));
}

int main(int n, char **args)
{
    unsigned count = n > 1 ? (unsigned)strtoul(args[1], NULL, 10) : 41;
    char path[4096], cache[] = "/tmp/tesela-builds-XXXXXX";
    double from = now_ms();

    if (!getenv("TESELA_BUILD") || !count || count > MAX_COUNT || !mkdtemp(cache)) {
        fprintf(stderr, "usage: TESELA_BUILD=FOLDER builds [COUNT, at most %d [PROGRAM]]\n", MAX_COUNT);
        return 2;
    }
    setenv("TESELA_CACHE", cache, 1);
    snprintf(path, sizeof(path), "%s/kc/tesela-kc", getenv("TESELA_BUILD"));
    tsl_client_set_program(path, NULL);
    build(programs[0].source, MAX_COUNT);
    printf("the first build, with the start of the compiler: %.1f ms\n", now_ms() - from);
    printf("%-24s %10s %10s %10s\n", "median, ms", "cold", "processor", "cached");
    for (unsigned i = 0; i < N_PROGRAMS; i++)
        if (n < 3 || !strcmp(args[2], programs[i].name))
            measure(i, count);
    snprintf(path, sizeof(path), "rm -r %s", cache);
    return system(path) != 0;
}
