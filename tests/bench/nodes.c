/*
 * What members of other nodes cost, beside MPI's own messages. Measures; tests nothing.
 *
 *     mpirun -n 2 build/tests/nodes_pingpong           MPI alone: a message there and back, and large ones
 *     build/tesela run --nodes=1 --members=remote -- build/tests/nodes_bench
 *
 * With two nodes the second prints the way from one to the other as well, straight and by the program's memory.
 * Medians. The second calls the driver, without the core.
 */
#include "base/clock.h"
#include "members/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 2001
#define SIZE   ((size_t)64 << 20)
#define TIMES  15

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, unsigned n)
{
    qsort(values, n, sizeof(*values), compare);
    return values[n / 2];
}

static void must(cl_int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "nodes: %s: error %d\n", what, error);
    exit(1);
}

static double command_us(const struct tsl_driver *driver, struct tsl_lane *lane)
{
    static double us[ROUNDS];

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t begin = tsl_clock_ns();
        struct tsl_fence *fence;

        must(driver->mark(lane, NULL, &fence), "mark");
        must(driver->flush(lane), "flush");
        must(driver->fence_wait(fence), "wait");
        us[i] = (double)(tsl_clock_ns() - begin) / 1e3;
        tsl_fence_unref(fence);
    }
    return median(us, ROUNDS);
}

/* Of many that nobody waits for in between. */
static double batched_us(const struct tsl_driver *driver, struct tsl_lane *lane, struct tsl_mem *mem)
{
    static const int zero;
    struct tsl_fill fill = {.dst = {.mem = mem}, .region = {4, 1, 1}, .pattern = &zero, .pattern_size = 4};
    double us[9];

    for (unsigned i = 0; i < 9; i++) {
        uint64_t begin = tsl_clock_ns();

        for (unsigned j = 0; j < 2000; j++)
            must(driver->fill(lane, &fill, NULL, NULL), "fill");
        must(driver->finish(lane), "finish");
        us[i] = (double)(tsl_clock_ns() - begin) / 1e3 / 2000;
    }
    return median(us, 9);
}

/* Each in a frame of its own, told back by another, nobody waits in between: what the busiest of program, head and node
 * takes for the two. */
static double frame_us(const struct tsl_driver *driver, struct tsl_lane *lane)
{
    double us[9];

    for (unsigned i = 0; i < 9; i++) {
        uint64_t begin = tsl_clock_ns();

        for (unsigned j = 0; j < 2000; j++) {
            struct tsl_fence *fence;

            must(driver->mark(lane, NULL, &fence), "mark");
            must(driver->flush(lane), "flush");
            tsl_fence_unref(fence);
        }
        must(driver->finish(lane), "finish");
        us[i] = (double)(tsl_clock_ns() - begin) / 1e3 / 2000;
    }
    return median(us, 9);
}

static void copy_now(struct tsl_lane *lane, struct tsl_place dst, struct tsl_place src, size_t size)
{
    const struct tsl_driver *driver = lane->member->driver;
    struct tsl_copy copy = {.dst = dst, .src = src, .region = {size, 1, 1}};
    struct tsl_fence *fence;

    must(driver->copy(lane, &copy, NULL, &fence), "copy");
    must(driver->flush(lane), "flush");
    must(driver->fence_wait(fence), "wait");
    tsl_fence_unref(fence);
}

/* Seconds. */
static double copies(struct tsl_lane *lane, struct tsl_place dst, struct tsl_place src, size_t size)
{
    double seconds[TIMES];

    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t begin = tsl_clock_ns();

        copy_now(lane, dst, src, size);
        seconds[i] = (double)(tsl_clock_ns() - begin) / 1e9;
    }
    return median(seconds, TIMES);
}

static double gigabytes(struct tsl_lane *lane, struct tsl_mem *mem, void *host, bool writes)
{
    struct tsl_place there = {.mem = mem}, here = {.host = host};

    return (double)SIZE / 1e9 / copies(lane, writes ? there : here, writes ? here : there, SIZE);
}

static double by_host(struct tsl_lane *from, struct tsl_lane *to, struct tsl_place dst, struct tsl_place src,
                      void *host, size_t size)
{
    double seconds[TIMES];

    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t begin = tsl_clock_ns();

        copy_now(from, (struct tsl_place){.host = host}, src, size);
        copy_now(to, dst, (struct tsl_place){.host = host}, size);
        seconds[i] = (double)(tsl_clock_ns() - begin) / 1e9;
    }
    return median(seconds, TIMES);
}

/* From a to b, if a copy can go straight. */
static void between(struct tsl_lane *from, struct tsl_mem *mem, struct tsl_member *b, void *host)
{
    static const size_t sizes[] = {64, 100000, SIZE};
    struct tsl_lane *to;
    struct tsl_mem *there;

    if (b->driver != mem->member->driver || !b->driver->can_copy_peer(mem->member, b))
        return;
    must(b->driver->lane_create(b, false, &to), "lane");
    must(b->driver->mem_alloc(b, SIZE, CL_MEM_READ_WRITE, NULL, &there), "memory");
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct tsl_place dst = {.mem = there}, src = {.mem = mem};

        printf("from %s to %s, %zu bytes: straight %.1f us, by the program %.1f us\n", mem->member->path->id,
               b->path->id, sizes[i], copies(to, dst, src, sizes[i]) * 1e6,
               by_host(from, to, dst, src, host, sizes[i]) * 1e6);
    }
}

int main(void)
{
    unsigned n;
    struct tsl_member *const *members = tsl_members_open(&n);
    const struct tsl_driver *driver;
    struct tsl_lane *lane;
    struct tsl_mem *mem;
    char *host = malloc(SIZE);

    if (n == 0 || !host) {
        fprintf(stderr, "nodes: there is no member\n");
        return 1;
    }
    memset(host, 1, SIZE);
    driver = members[0]->driver;
    must(driver->lane_create(members[0], false, &lane), "lane");
    must(driver->mem_alloc(members[0], SIZE, CL_MEM_READ_WRITE, NULL, &mem), "memory");
    printf("member: %s\n", members[0]->path->id);
    printf("a command, there and back: %.1f us\n", command_us(driver, lane));
    printf("a command of 2000 in a row: %.2f us\n", batched_us(driver, lane, mem));
    printf("a command in a frame of its own, of 2000: %.2f us\n", frame_us(driver, lane));
    printf("write of 64 MiB: %.2f GB/s\n", gigabytes(lane, mem, host, true));
    printf("read of 64 MiB: %.2f GB/s\n", gigabytes(lane, mem, host, false));
    if (n > 1)
        between(lane, mem, members[n - 1], host);
    return 0;
}
