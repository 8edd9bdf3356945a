/*
 * What evaluating a footprint costs: nanoseconds for each of some kernels, the whole launch and half of its groups; and
 * what it costs to ask how to cut the launch, and whether eight shares are legal. Not a test.
 */
#include "footprint/cache.h"
#include "footprint/cut.h"
#include "footprint_kernels.h"

#include <stdio.h>
#include <time.h>

#define ROUNDS 20000

static double now(void)
{
    struct timespec time;

    /* Of this process alone: others may run meanwhile. */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void measure(const char *name, const struct bed *bed, const struct tsl_window *window,
                    const struct tsl_argument_value *arguments)
{
    struct tsl_argument_touch touches[BED_ARGUMENTS];
    double best = 1e30, remembered;
    struct tsl_footprint_cache *cache = tsl_footprint_cache_create(&bed->footprint);

    if (!cache)
        abort();
    for (unsigned round = 0; round < 5; round++) {
        double start = now();

        for (unsigned i = 0; i < ROUNDS; i++)
            tsl_footprint_evaluate(&bed->footprint, window, arguments, touches);
        if ((now() - start) / ROUNDS < best)
            best = (now() - start) / ROUNDS;
    }
    remembered = now();
    for (unsigned i = 0; i < ROUNDS; i++)
        (void)tsl_footprint_cache_evaluate(cache, window, arguments, NULL);
    remembered = (now() - remembered) / ROUNDS;
    tsl_footprint_cache_destroy(cache);
    printf("%-20s %6.0f ns, remembered %4.0f ns; %u accesses, boxes read, written, sure:", name, best, remembered,
           bed->footprint.n_accesses);
    for (uint32_t i = 0; i < bed->footprint.n_arguments; i++)
        printf(" %u/%u/%u", touches[i].read.unknown ? 99 : touches[i].read.n,
               touches[i].write.unknown ? 99 : touches[i].write.n, touches[i].sure.n);
    printf("\n");
}

#define SHARES 8u

/* Eight shares along the dimension. */
static double measure_shares(const struct bed *bed, const struct tsl_window *window, unsigned dimension,
                             const struct tsl_argument_value *values, const struct tsl_cut_memory *memories)
{
    static struct tsl_argument_touch touches[SHARES][BED_ARGUMENTS];
    const struct tsl_argument_touch *shares[SHARES];
    struct tsl_window windows[SHARES];
    uint64_t ends[SHARES];
    unsigned legal = 0;
    double start;

    for (unsigned s = 0; s < SHARES; s++)
        ends[s] = tsl_cut_groups(window, dimension) * (s + 1) / SHARES;
    tsl_cut_windows(window, dimension, SHARES, ends, windows);
    for (unsigned s = 0; s < SHARES; s++) {
        tsl_footprint_evaluate(&bed->footprint, &windows[s], values, touches[s]);
        shares[s] = touches[s];
    }
    start = now();
    for (unsigned i = 0; i < ROUNDS; i++)
        legal += tsl_cut_shares(&bed->footprint, SHARES, shares, NULL, memories, NULL);
    return legal == ROUNDS ? (now() - start) / ROUNDS : -1;
}

static void measure_cut(const char *name, const struct bed *bed, const struct tsl_window *window,
                        const struct tsl_argument_value *values)
{
    struct tsl_cut_memory memories[BED_ARGUMENTS];
    unsigned dimension = 3;
    double start = now();

    for (uint32_t i = 0; i < bed->footprint.n_arguments; i++)
        memories[i] =
            (struct tsl_cut_memory){values[i].value ? NULL : &memories[i], NULL, 0, values[i].memory, true, 0, false};
    for (unsigned i = 0; i < ROUNDS / 10; i++)
        dimension = tsl_cut_dimension(&bed->footprint, window, values, memories, NULL);
    printf("%-20s cut along dimension %u, found in %.0f ns; eight shares are legal (-1: not) in:", name, dimension,
           (now() - start) / (ROUNDS / 10));
    for (unsigned d = 0; d < window->work_dim; d++)
        printf(" %.0f ns along %u%s", measure_shares(bed, window, d, values, memories), d,
               d + 1 < window->work_dim ? "," : "\n");
}

int main(void)
{
    static struct bed bed;
    int n = 4096;
    const struct tsl_argument_value buffer = {.memory = (uint64_t)n * (uint64_t)n * 4},
                                    scalar = {.value = &n, .size = sizeof(n)};
    const struct tsl_argument_value binary[] = {buffer, buffer, buffer, scalar},
                                    points[] = {buffer, buffer, scalar, scalar};
    const struct tsl_argument_value sum[] = {buffer, buffer, scalar};
    struct tsl_window line = {1, {0, 0, 0}, {4224, 1, 1}, {128, 1, 1}, {0, 0, 0}, {16, 1, 1}, true};
    struct tsl_window square = {2, {0, 0, 0}, {4096, 4096, 1}, {16, 16, 1}, {0, 0, 0}, {256, 128, 1}, true};
    struct tsl_window grid = {1, {0, 0, 0}, {1024, 1, 1}, {128, 1, 1}, {0, 0, 0}, {4, 1, 1}, true};

    for (unsigned half = 0; half < 2; half++) {
        line.whole = square.whole = grid.whole = half == 0;
        kernel_vector_add(&bed);
        measure(half ? "vector add, half" : "vector add", &bed, &line, binary);
        kernel_stencil(&bed);
        measure(half ? "stencil, half" : "stencil", &bed, &square, points);
        kernel_product(&bed);
        measure(half ? "tiled product, half" : "tiled product", &bed, &square, binary);
        kernel_grid_stride(&bed);
        measure(half ? "grid stride, half" : "grid stride", &bed, &grid, sum);
    }
    line.whole = square.whole = grid.whole = true;
    kernel_vector_add(&bed);
    measure_cut("vector add", &bed, &line, binary);
    kernel_stencil(&bed);
    measure_cut("stencil", &bed, &square, points);
    kernel_product(&bed);
    measure_cut("tiled product", &bed, &square, binary);
    kernel_grid_stride(&bed);
    measure_cut("grid stride", &bed, &grid, sum);
    return 0;
}
