/*
 * What it takes to make two copies of a range one, on each member that the environment names: GB/s of all bytes that
 * are read and written, beside a copy of the same size within the member's memory. Not a test.
 *
 * usage: combine [MiB]   of the range (1024)
 */
#include "driver/driver.h"
#include "members/members.h"

#include "compile_client/client.h"
#include "measure.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#define ROUNDS 7

static struct bench {
    struct tsl_member *member;
    const struct tsl_driver *driver;
    struct tsl_lane *lane;
    struct tsl_mem *mems[3];
    size_t size;
} bench;

/* The kernel compiler stands beside the library, which this program isn't. */
static void find_compiler(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

    if (n < 0)
        return;
    path[n] = 0;
    *strrchr(path, '/') = 0;
    strcat(path, "/../kc/tesela-kc");
    tsl_client_set_program(path, NULL);
}

static double finish_us(double begin)
{
    must(bench.driver->flush(bench.lane), "flush");
    must(bench.driver->finish(bench.lane), "finish");
    return now_us() - begin;
}

static void fill(unsigned mem, uint32_t value, size_t size)
{
    const struct tsl_fill fill = {
        .dst = {.mem = bench.mems[mem]}, .region = {size, 1, 1}, .pattern = &value, .pattern_size = sizeof(value)};

    must(bench.driver->fill(bench.lane, &fill, NULL, NULL), "fill");
}

static double copy_gbs(void)
{
    const struct tsl_copy copy = {
        .dst = {.mem = bench.mems[0]}, .src = {.mem = bench.mems[1]}, .region = {bench.size, 1, 1}};
    double best = INFINITY;

    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_us();

        must(bench.driver->copy(bench.lane, &copy, NULL, NULL), "copy");
        best = fmin(best, finish_us(begin));
    }
    return 2 * (double)bench.size / best / 1e3;
}

/* dst is before, as where a piece of an object is made of two copies. changed: of a, by halves of the range. */
static double combine_gbs(enum tsl_combine_how how, unsigned width, unsigned changed)
{
    bool merge = how == TSL_COMBINE_CHANGED;
    const struct tsl_combine combine = {.dst = {bench.mems[0], 0},
                                        .a = {bench.mems[1], 0},
                                        .b = {merge ? bench.mems[2] : bench.mems[0], 0},
                                        .before = {merge ? bench.mems[0] : NULL, 0},
                                        .size = bench.size,
                                        .width = width,
                                        .how = how};
    double best = INFINITY;

    for (int i = 0; i < ROUNDS; i++) {
        double begin;

        for (unsigned m = 0; m < 3; m++)
            fill(m, 0x01010101, bench.size);
        if (changed)
            fill(1, 0x02020202, bench.size / 2 * changed);
        finish_us(0);
        begin = now_us();
        must(bench.driver->combine(bench.lane, &combine, NULL, NULL), "combine");
        best = fmin(best, finish_us(begin));
    }
    return (merge ? 4 : 3) * (double)bench.size / best / 1e3;
}

static void measure(void)
{
    double copy = copy_gbs();

    printf("%s (%s), %zu MiB: copy %.1f GB/s\n", bench.member->path->id, bench.member->path->device_name,
           bench.size >> 20, copy);
    for (unsigned width = 1; width <= 8; width *= 2)
        for (unsigned changed = 0; changed <= 2; changed++) {
            double merge = combine_gbs(TSL_COMBINE_CHANGED, width, changed);

            printf("  merge by %u bytes, %3u %% changed: %7.1f GB/s, %.2f of the copy\n", width, 50 * changed, merge,
                   merge / copy);
        }
    for (unsigned width = 4; width <= 8; width *= 2) {
        double add = combine_gbs(TSL_COMBINE_ADD, width, 2);

        printf("  add by %u bytes: %7.1f GB/s, %.2f of the copy\n", width, add, add / copy);
    }
}

static void measure_member(struct tsl_member *member)
{
    bench.member = member;
    bench.driver = member->driver;
    if (!member->driver->can_combine || !member->driver->can_combine(member)) {
        printf("%s: can't combine\n", member->path->id);
        return;
    }
    must(bench.driver->lane_create(member, false, &bench.lane), "a lane");
    for (int i = 0; i < 3; i++)
        must(bench.driver->mem_alloc(member, bench.size, CL_MEM_READ_WRITE, NULL, &bench.mems[i]), "memory");
    for (unsigned m = 0; m < 3; m++)
        fill(m, 0, bench.size);
    finish_us(0);
    measure();
    for (int i = 0; i < 3; i++)
        bench.driver->mem_free(bench.mems[i]);
    bench.driver->lane_free(bench.lane);
}

int main(int argc, char **argv)
{
    struct tsl_member *const *members;
    unsigned n;

    bench.size = (size_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 1024) << 20;
    find_compiler();
    members = tsl_members_open(&n);
    for (unsigned i = 0; i < n; i++)
        measure_member(members[i]);
    return 0;
}
