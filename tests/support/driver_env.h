/* Shared by tests of drivers: the members that the environment chose, a lane of the first, and short forms of calls
 * that a test isn't about. */
#ifndef TSL_TESTS_DRIVER_ENV_H
#define TSL_TESTS_DRIVER_ENV_H

#include "facts/kernel_facts.h"
#include "members/members.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tsl_member *const *members;
static unsigned n_members;
static struct tsl_member *member; /* the first */
static const struct tsl_driver *driver;
static struct tsl_lane *lane;

static inline int open_members(void **state)
{
    (void)state;
    alarm(300); /* a lost completion would be an endless wait */
    members = tsl_members_open(&n_members);
    assert_true(n_members > 0);
    member = members[0];
    driver = member->driver;
    return driver->lane_create(member, true, &lane);
}

static inline int close_members(void **state)
{
    (void)state;
    driver->lane_free(lane);
    tsl_members_reset();
    return 0;
}

static inline struct tsl_lane *new_lane(bool profile)
{
    struct tsl_lane *l;

    assert_int_equal(driver->lane_create(member, profile, &l), CL_SUCCESS);
    return l;
}

static inline struct tsl_mem *new_mem(size_t size)
{
    struct tsl_mem *mem;

    assert_int_equal(driver->mem_alloc(member, size, CL_MEM_READ_WRITE, NULL, &mem), CL_SUCCESS);
    assert_int_equal(mem->size, size);
    return mem;
}

static inline struct tsl_copy linear(struct tsl_mem *dst, void *dst_host, size_t dst_offset, struct tsl_mem *src,
                                     const void *src_host, size_t src_offset, size_t size)
{
    return (struct tsl_copy){
        .dst = {.mem = dst, .host = dst_host, .offset = dst_offset},
        .src = {.mem = src, .host = (void *)src_host, .offset = src_offset},
        .region = {size, 1, 1},
    };
}

static inline void finish(struct tsl_lane *l)
{
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    assert_int_equal(driver->finish(l), CL_SUCCESS);
}

static inline cl_int put_later(struct tsl_lane *l, struct tsl_mem *mem, const void *data, size_t size,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_copy copy = linear(mem, NULL, 0, NULL, data, 0, size);

    return driver->copy(l, &copy, waits, fence);
}

static inline cl_int get_later(struct tsl_lane *l, struct tsl_mem *mem, void *data, size_t size,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_copy copy = linear(NULL, data, 0, mem, NULL, 0, size);

    return driver->copy(l, &copy, waits, fence);
}

static inline void put(struct tsl_mem *mem, const void *data, size_t size)
{
    assert_int_equal(put_later(lane, mem, data, size, NULL, NULL), CL_SUCCESS);
    finish(lane);
}

static inline void get(struct tsl_mem *mem, void *data, size_t size)
{
    assert_int_equal(get_later(lane, mem, data, size, NULL, NULL), CL_SUCCESS);
    finish(lane);
}

static inline int get_int(struct tsl_mem *mem, size_t index)
{
    int value = -1;
    struct tsl_copy copy = linear(NULL, &value, 0, mem, NULL, index * sizeof(value), sizeof(value));

    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    finish(lane);
    return value;
}

/* Fills the first `n` ints. */
static inline cl_int fill_ints(struct tsl_lane *l, struct tsl_mem *mem, int value, size_t n,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_fill fill = {{.mem = mem}, {n * sizeof(value), 1, 1}, &value, sizeof(value)};

    return driver->fill(l, &fill, waits, fence);
}

/* For rows that lie apart, and slices, with patterns that fit into a row and patterns that don't. */
static inline void fill_box_and_check(size_t pattern_size, const size_t region[3], bool same)
{
    size_t row_pitch = region[0] + 2 * pattern_size, slice_pitch = (region[1] + 1) * row_pitch;
    size_t offset = 3 * pattern_size, mem_size = offset + region[2] * slice_pitch;
    unsigned char pattern[128], *bytes = calloc(1, mem_size), *expected = calloc(1, mem_size);
    struct tsl_mem *mem = new_mem(mem_size);
    struct tsl_fill fill = {
        .dst = {.mem = mem, .offset = offset, .row_pitch = row_pitch, .slice_pitch = slice_pitch},
        .region = {region[0], region[1], region[2]},
        .pattern = pattern,
        .pattern_size = pattern_size,
    };
    struct tsl_fence *fence;

    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = same ? 9 : (unsigned char)(i + 100);
    put(mem, bytes, mem_size);
    assert_int_equal(driver->fill(lane, &fill, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            for (size_t x = 0; x < region[0]; x++)
                expected[offset + z * slice_pitch + y * row_pitch + x] = pattern[x % pattern_size];
    get(mem, bytes, mem_size);
    assert_memory_equal(bytes, expected, mem_size);
    free(bytes);
    free(expected);
    driver->mem_free(mem);
}

static inline struct tsl_fence *new_gate(void)
{
    struct tsl_fence *gate;

    assert_int_equal(driver->gate_create(member, &gate), CL_SUCCESS);
    return gate;
}

static inline unsigned char pattern_of(size_t i)
{
    return (unsigned char)(i * 7 + i / 256 * 3 + i / 65536 + 1);
}

static inline void fill_pattern(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = pattern_of(i);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static inline struct tsl_dkernel *new_kernel(struct tsl_dprogram *program, const char *name)
{
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel;

    assert_int_equal(driver->kernel_create(program, name, &kernel, &facts), CL_SUCCESS);
    assert_string_equal(facts.name, name);
    tsl_kernel_facts_finish(&facts);
    return kernel;
}

static inline struct tsl_bound_arg mem_arg(struct tsl_mem *mem)
{
    return (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .mem = mem};
}

/* A compound literal lives as long as its block. */
#define VALUE_ARG(type, ...) \
    ((struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(type), .value = &(type){__VA_ARGS__}})

static inline struct tsl_bound_args bind(cl_uint n, const struct tsl_bound_arg *args)
{
    static _Atomic uint64_t serial;

    return (struct tsl_bound_args){.serial = ++serial, .n = n, .args = args};
}

static inline struct tsl_window whole(size_t global, size_t local)
{
    return (struct tsl_window){
        .work_dim = 1,
        .global_size = {global, 1, 1},
        .local_size = {local, local ? 1 : 0, local ? 1 : 0},
        .whole = true,
    };
}

/* How often a fence's completion was reported, and the last status. */
struct told {
    atomic_int n, status;
};

static inline void tell_test(void *arg, cl_int status)
{
    struct told *told = arg;

    atomic_store(&told->status, status);
    atomic_fetch_add(&told->n, 1);
}

/* Polls for at most ten seconds. */
static inline void wait_until_told(struct told *told)
{
    for (int i = 0; i < 10000 && !atomic_load(&told->n); i++)
        usleep(1000);
    assert_int_equal(atomic_load(&told->n), 1);
}

#endif
