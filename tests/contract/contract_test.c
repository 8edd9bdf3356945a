/* What every driver promises (driver/driver.h), but for programs: memory, copies, fills, order, completion, times,
 * gates. */
/* timeout: 120 */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* variant: standin2 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=7 STANDIN_DEVICES=2 */
/* any: */
#include "../cuda/standin_env.h"
#include "base/clock.h"
#include "driver/gather_kernels.h"
#include "driver_env.h"
#include "failed_wait.h"
#include "find_compiler.h"

#include <pthread.h>
#include <stdio.h>

static int open_member(void **state)
{
    int error;

    find_compiler();
    error = open_members(state);
    find_standin();
    return error;
}

static int close_member(void **state)
{
    close_members(state);
    check_standin();
    return 0;
}

static void members_say_what_they_can(void **state)
{
    const struct tsl_member_caps *caps = &member->caps;
    cl_ulong size;
    size_t got;

    (void)state;
    assert_true(caps->memory_size >= caps->max_alloc_size && caps->max_alloc_size > 0);
    assert_true(caps->base_align >= 1 && caps->base_align <= 4096);
    assert_true(caps->ordered_lanes && caps->speed > 0);
    assert_false(caps->submits_block && caps->gates);
    assert_int_equal(driver->info(member->path, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(size), &size, &got), CL_SUCCESS);
    assert_int_equal(size, caps->memory_size);
    assert_int_equal(got, sizeof(size));
    assert_int_equal(driver->info(member->path, CL_DEVICE_NAME, 0, NULL, &got), CL_SUCCESS);
    assert_int_equal(got, strlen(member->path->device_name) + 1);
    assert_int_equal(driver->info(member->path, CL_DEVICE_NAME, 1, &size, NULL), CL_INVALID_VALUE);
    assert_int_equal(driver->info(member->path, 0x7777, sizeof(size), &size, &got), CL_INVALID_VALUE);
}

/* The fake driver behind another one allows less than the contract: no slices between the rows of others, no parts of
 * parts. */
static bool is_fake(void)
{
    return strstr(member->path->device_name, "fake") != NULL;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static const size_t sizes[] = {1, 4095, 65536, 262143, 262144, 262145, 1 << 20, (9 << 20) + 12345};

static void bytes_of_all_sizes_go_there_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i];
        struct tsl_mem *a = new_mem(size + 100), *b = new_mem(size + 100);
        unsigned char *in = malloc(size + 100), *out = calloc(1, size + 100);
        struct tsl_copy copy = linear(b, NULL, 7, a, NULL, 3, size);
        struct tsl_copy back = linear(NULL, out, 1, b, NULL, 7, size);

        fill_pattern(in, size + 100);
        put(a, in, size + 100);
        assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->copy(lane, &back, NULL, NULL), CL_SUCCESS);
        finish(lane);
        assert_int_equal(out[0], 0);
        assert_memory_equal(out + 1, in + 3, size);
        assert_int_equal(out[size + 1], 0);
        free(in);
        free(out);
        driver->mem_free(a);
        driver->mem_free(b);
    }
}

#define BOX_MEMORY 8192

struct box {
    size_t region[3];
    size_t offset, row_pitch, slice_pitch;             /* of one side */
    size_t other_offset, other_row_pitch, other_slice; /* of the other */
};

static const struct box boxes[] = {
    {{16, 4, 1}, 0, 64, 0, 0, 16, 0},        /* to or from packed rows */
    {{16, 4, 1}, 200, 64, 0, 3, 32, 0},      /* begins inside a row */
    {{16, 4, 1}, 60, 64, 0, 0, 16, 0},       /* crosses the end of a row */
    {{8, 3, 5}, 100, 32, 256, 9, 8, 24},     /* slices, packed on the other side */
    {{8, 3, 5}, 100, 32, 256, 9, 16, 64},    /* slices on both */
    {{8, 3, 5}, 100, 32, 250, 9, 16, 64},    /* slices that are no multiple of the rows */
    {{24, 1, 7}, 5, 24, 100, 5, 24, 60},     /* slices of one row */
    {{1, 9, 1}, 31, 40, 0, 2, 3, 0},         /* a column */
    {{32, 4, 3}, 0, 32, 128, 640, 32, 128},  /* no gaps at all: linear */
    {{8, 2, 2}, 64, 200, 100, 64, 200, 100}, /* slices between the rows of others */
};

static size_t at(size_t offset, size_t row_pitch, size_t slice_pitch, size_t x, size_t y, size_t z)
{
    return offset + x + y * row_pitch + z * slice_pitch;
}

/* What the destination must look like, made byte by byte. */
static void expect_box(const struct box *b, unsigned char *expected, const unsigned char *src, bool to_other)
{
    for (size_t z = 0; z < b->region[2]; z++)
        for (size_t y = 0; y < b->region[1]; y++)
            for (size_t x = 0; x < b->region[0]; x++) {
                size_t one = at(b->offset, b->row_pitch, b->slice_pitch, x, y, z);
                size_t other = at(b->other_offset, b->other_row_pitch, b->other_slice, x, y, z);

                expected[to_other ? other : one] = src[to_other ? one : other];
            }
}

static void set_place(struct tsl_place *place, const struct box *b, bool other)
{
    place->offset = other ? b->other_offset : b->offset;
    place->row_pitch = other ? b->other_row_pitch : b->row_pitch;
    place->slice_pitch = other ? b->other_slice : b->slice_pitch;
}

enum direction { WRITE, READ, COPY, N_DIRECTIONS };

static void copy_one_box(const struct box *b, size_t size, enum direction direction, bool to_other)
{
    unsigned char *src = malloc(size), *dst = calloc(1, size), *expected = calloc(1, size);
    struct tsl_mem *from = new_mem(size), *to = new_mem(size);
    struct tsl_copy copy = {
        .dst = {.mem = direction == READ ? NULL : to, .host = dst},
        .src = {.mem = direction == WRITE ? NULL : from, .host = src},
        .region = {b->region[0], b->region[1], b->region[2]},
    };

    fill_pattern(src, size);
    expect_box(b, expected, src, to_other);
    put(from, src, size);
    put(to, dst, size);
    set_place(&copy.src, b, !to_other);
    set_place(&copy.dst, b, to_other);
    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    if (direction == READ)
        finish(lane);
    else
        get(to, dst, size);
    assert_memory_equal(dst, expected, size);
    driver->mem_free(from);
    driver->mem_free(to);
    free(src);
    free(dst);
    free(expected);
}

static void boxes_of_all_shapes_go_in_all_directions(void **state)
{
    /* Large enough for pieces: rows, wide rows, slices. */
    static const struct box large[] = {
        {{1000, 1500, 1}, 24, 1024, 0, 8, 1000, 0},
        {{5000000, 2, 1}, 3, 5000100, 0, 1, 5000200, 0},
        {{700, 40, 30}, 16, 1000, 40000, 5, 700, 28000},
    };

    (void)state;
    for (int direction = 0; direction < N_DIRECTIONS; direction++) {
        for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]) - (is_fake() ? 1 : 0); i++) {
            copy_one_box(&boxes[i], BOX_MEMORY, (enum direction)direction, true);
            copy_one_box(&boxes[i], BOX_MEMORY, (enum direction)direction, false);
        }
        for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
            copy_one_box(&large[i], 11 << 20, (enum direction)direction, true);
            copy_one_box(&large[i], 11 << 20, (enum direction)direction, false);
        }
    }
}

static void boxes_within_one_buffer_may_have_any_pitches(void **state)
{
    unsigned char bytes[BOX_MEMORY], expected[BOX_MEMORY];
    struct tsl_mem *mem = new_mem(BOX_MEMORY);
    /* Other pitches on both sides, and boxes that interleave without meeting. */
    static const struct box within[] = {{{16, 4, 1}, 0, 64, 0, 4096, 16, 0}, {{16, 4, 1}, 0, 64, 0, 32, 64, 0}};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct tsl_copy copy = {.dst.mem = mem, .src.mem = mem, .region = {16, 4, 1}};

        fill_pattern(bytes, sizeof(bytes));
        memcpy(expected, bytes, sizeof(bytes));
        expect_box(&within[i], expected, bytes, true);
        put(mem, bytes, sizeof(bytes));
        set_place(&copy.src, &within[i], false);
        set_place(&copy.dst, &within[i], true);
        assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
        get(mem, bytes, sizeof(bytes));
        assert_memory_equal(bytes, expected, sizeof(bytes));
    }
    driver->mem_free(mem);
}

static void a_copy_in_many_commands_has_one_fence(void **state)
{
    unsigned char src[512], dst[8192];
    struct tsl_mem *mem = new_mem(sizeof(dst));
    struct tsl_copy copy = {
        .dst = {.mem = mem, .row_pitch = 40, .slice_pitch = 250},
        .src = {.host = src, .row_pitch = 8, .slice_pitch = 24},
        .region = {8, 3, 20},
    };
    struct tsl_fence *fence;

    (void)state;
    fill_pattern(src, sizeof(src));
    assert_int_equal(driver->copy(lane, &copy, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    memset(src, 0, sizeof(src)); /* All of it was read by then. */
    tsl_fence_unref(fence);
    get(mem, dst, sizeof(dst));
    for (size_t z = 0; z < 20; z++)
        for (size_t y = 0; y < 3; y++)
            for (size_t x = 0; x < 8; x++)
                assert_int_equal(dst[z * 250 + y * 40 + x], pattern_of(z * 24 + y * 8 + x));
    driver->mem_free(mem);
}

static void what_cannot_be_reached_is_refused(void **state)
{
    char byte = 0;
    struct tsl_copy copy = linear(NULL, &byte, 0, NULL, &byte, 0, 1);
    struct tsl_place host = {.host = &byte};
    struct tsl_fence *fence = NULL;

    (void)state;
    assert_int_equal(driver->copy(lane, &copy, NULL, &fence), CL_INVALID_MEM_OBJECT);
    assert_int_equal(driver->fill(lane, &(struct tsl_fill){host, {1, 1, 1}, "", 1}, NULL, &fence),
                     CL_INVALID_MEM_OBJECT);
    assert_null(fence);
    assert_true(driver->can_copy_peer(member, member));
}

/* ---- Host memory that work on its way reads and writes ----------------------------------------------------------- */

static void what_a_read_brings_a_write_takes_along(void **state)
{
    static const size_t some[] = {64, 100000, 2 << 20};
    struct tsl_lane *other = new_lane(false);

    (void)state;
    for (int i = 0; i < 3; i++) {
        size_t n = some[i] / 4;
        struct tsl_mem *a = new_mem(some[i]), *b = new_mem(some[i]);
        int *through = calloc(n, 4), *out = calloc(n, 4);
        struct tsl_fence *fence;
        struct tsl_waits waits = {.n = 1, .fences = &fence};

        /* In one lane, without a wait; then on to another lane that waits. */
        assert_int_equal(fill_ints(lane, a, 11 + i, n, NULL, NULL), CL_SUCCESS);
        assert_int_equal(get_later(lane, a, through, some[i], NULL, NULL), CL_SUCCESS);
        assert_int_equal(put_later(lane, b, through, some[i], NULL, NULL), CL_SUCCESS);
        assert_int_equal(get_later(lane, b, out, some[i], NULL, &fence), CL_SUCCESS);
        assert_int_equal(put_later(other, a, out, some[i], &waits, NULL), CL_SUCCESS);
        assert_int_equal(fill_ints(other, b, 5, 1, NULL, NULL), CL_SUCCESS);
        finish(other);
        assert_int_equal(get_int(a, n - 1), 11 + i);
        assert_int_equal(out[0], 11 + i);
        tsl_fence_unref(fence);
        finish(lane);
        driver->mem_free(a);
        driver->mem_free(b);
        free(through);
        free(out);
    }
    driver->lane_free(other);
}

static void what_was_written_may_change_when_its_fence_is_complete(void **state)
{
    static const size_t some[] = {1000, 200000, 5 << 20};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct tsl_mem *mem = new_mem(some[i]);
        unsigned char *bytes = malloc(some[i]), *out = malloc(some[i]);
        struct tsl_fence *fence;

        memset(bytes, 1, some[i]);
        assert_int_equal(put_later(lane, mem, bytes, some[i], NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        memset(bytes, 2, some[i]);
        tsl_fence_unref(fence);
        assert_int_equal(get_later(lane, mem, out, some[i], NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        memset(bytes, 1, some[i]);
        assert_memory_equal(out, bytes, some[i]);
        tsl_fence_unref(fence);
        driver->mem_free(mem);
        free(bytes);
        free(out);
    }
}

static void a_later_mark_stands_for_earlier_reads(void **state)
{
    struct tsl_mem *mem = new_mem(4000);
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *mark, *second;
    struct tsl_waits waits = {.n = 1, .fences = &mark};
    int out[1000] = {0};

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 3, 1000, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_later(lane, mem, out, 4000, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, NULL, &mark), CL_SUCCESS);
    assert_int_equal(driver->mark(other, &waits, &second), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(second), CL_COMPLETE);
    assert_int_equal(out[999], 3);
    tsl_fence_unref(mark);
    tsl_fence_unref(second);
    driver->lane_free(other);
    driver->mem_free(mem);
}

/* A large read may take another way than a short one before it. */
static void a_large_read_stands_for_short_ones_before(void **state)
{
    static const size_t large = 5 << 20;
    struct tsl_mem *mem = new_mem(large);
    int *out = malloc(large), before[1000];

    (void)state;
    for (int round = 1; round <= 100; round++) {
        struct tsl_fence *fence;

        assert_int_equal(fill_ints(lane, mem, round, large / 4, NULL, NULL), CL_SUCCESS);
        assert_int_equal(get_later(lane, mem, before, sizeof(before), NULL, NULL), CL_SUCCESS);
        assert_int_equal(get_later(lane, mem, out, large, NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
        assert_int_equal(before[999], round);
        assert_int_equal(out[large / 4 - 1], round);
        tsl_fence_unref(fence);
    }
    free(out);
    driver->mem_free(mem);
}

/* ---- Fills ------------------------------------------------------------------------------------------------------- */

static void fill_and_check(size_t pattern_size, size_t offset, size_t size, size_t mem_size, bool same)
{
    unsigned char pattern[128], *bytes = calloc(1, mem_size);
    struct tsl_mem *mem = new_mem(mem_size);
    struct tsl_place place = {.mem = mem, .offset = offset};
    struct tsl_fence *fence;

    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = same ? 9 : (unsigned char)(i + 100);
    put(mem, bytes, mem_size);
    assert_int_equal(driver->fill(lane, &(struct tsl_fill){place, {size, 1, 1}, pattern, pattern_size}, NULL, &fence),
                     CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    get(mem, bytes, mem_size);
    for (size_t i = 0; i < mem_size; i++)
        assert_int_equal(bytes[i], i >= offset && i < offset + size ? pattern[(i - offset) % pattern_size] : 0);
    free(bytes);
    driver->mem_free(mem);
}

static void patterns_of_all_sizes_are_filled(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 128; size *= 2) {
        fill_and_check(size, 0, size, 1024, false);
        fill_and_check(size, 3 * size, 5 * size, 1024, false);
        fill_and_check(size, 2 * size, 6 * size, 2048, true);
        fill_and_check(size, 128, 256 * 1024, 300000, false);
    }
}

static void boxes_are_filled(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 128; size *= 2) {
        fill_box_and_check(size, (const size_t[3]){4 * size, 5, 1}, false);
        fill_box_and_check(size, (const size_t[3]){4 * size, 5, 3}, size == 16);
        fill_box_and_check(size, (const size_t[3]){2 * size, 1, 4}, false);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* ---- Combining --------------------------------------------------------------------------------------------------- */

/* dst, a, b, before: the ranges, and the bytes that they hold. */
struct combined {
    struct tsl_combine combine;
    size_t mem_size;
    unsigned char *a, *b, *before, *expected;
};

static uint64_t element(const unsigned char *bytes, size_t width)
{
    uint64_t value = 0;

    memcpy(&value, bytes, width);
    return value;
}

static int64_t as_signed(uint64_t value, size_t width)
{
    return width == 4 ? (int32_t)value : (int64_t)value;
}

static uint64_t folded(uint64_t a, uint64_t b, uint64_t before, size_t width, enum tsl_combine_how how)
{
    bool less = as_signed(a, width) < as_signed(b, width);

    switch (how) {
    case TSL_COMBINE_CHANGED:
        return a != before ? a : b;
    case TSL_COMBINE_ADD:
        return a + b;
    case TSL_COMBINE_AND:
        return a & b;
    case TSL_COMBINE_OR:
        return a | b;
    case TSL_COMBINE_XOR:
        return a ^ b;
    case TSL_COMBINE_SMIN:
        return less ? a : b;
    case TSL_COMBINE_SMAX:
        return less ? b : a;
    case TSL_COMBINE_UMIN:
        return a < b ? a : b;
    default:
        return a < b ? b : a;
    }
}

/* Most of a and b are as before, at random elements. */
static void make_bytes(struct combined *c)
{
    unsigned char **all[] = {&c->a, &c->b, &c->before};
    size_t width = c->combine.width;

    for (int i = 0; i < 3; i++) {
        *all[i] = malloc(c->mem_size);
        fill_pattern(*all[i], c->mem_size);
    }
    if (c->combine.how != TSL_COMBINE_CHANGED) {
        for (size_t i = 0; i < c->mem_size; i++)
            c->a[i] = (unsigned char)(c->b[i] * 37 + 11);
        return;
    }
    memcpy(c->b, c->before, c->mem_size);
    for (size_t i = 0; i + width <= c->mem_size; i += width) {
        size_t kind = i / width * 2654435761u >> 7 & 7;

        if (kind == 1 || kind == 3)
            c->a[i + width - 1] ^= 0x55; /* one byte of the element */
        if (kind == 2 || kind == 3)
            c->b[i] ^= 0xaa;
    }
}

/* in: which of the others dst is, or memory of its own (0). */
static void combine_and_check(enum tsl_combine_how how, unsigned width, size_t at, size_t size, int in)
{
    struct combined c = {.mem_size = at + 64 + size + 64};
    struct tsl_combine *combine = &c.combine;
    struct tsl_mem *mems[4];
    unsigned char *out = calloc(1, c.mem_size), *dst;

    *combine = (struct tsl_combine){.size = size, .width = width, .how = how};
    make_bytes(&c);
    for (int i = 0; i < 4; i++)
        mems[i] = new_mem(c.mem_size);
    combine->a = (struct tsl_combine_side){mems[1], at};
    combine->b = (struct tsl_combine_side){mems[2], at + 16};
    if (how == TSL_COMBINE_CHANGED)
        combine->before = (struct tsl_combine_side){mems[3], at + 32};
    put(mems[0], out, c.mem_size);
    put(mems[1], c.a, c.mem_size);
    put(mems[2], c.b, c.mem_size);
    put(mems[3], c.before, c.mem_size);
    combine->dst = in == 1 ? combine->a : in == 2 ? combine->b : in == 3 ? combine->before : combine->dst;
    if (!in)
        combine->dst = (struct tsl_combine_side){mems[0], at + 48};
    dst = in == 1 ? c.a : in == 2 ? c.b : in == 3 ? c.before : out;
    c.expected = malloc(c.mem_size);
    memcpy(c.expected, dst, c.mem_size);
    for (size_t i = 0; i < size; i += width) {
        uint64_t value = folded(element(c.a + at + i, width), element(c.b + at + 16 + i, width),
                                element(c.before + at + 32 + i, width), width, how);

        memcpy(c.expected + combine->dst.offset + i, &value, width);
    }
    assert_int_equal(driver->combine(lane, combine, NULL, NULL), CL_SUCCESS);
    finish(lane);
    get(combine->dst.mem, out, c.mem_size);
    assert_memory_equal(out, c.expected, c.mem_size);
    for (int i = 0; i < 4; i++)
        driver->mem_free(mems[i]);
    free(out);
    free(c.a);
    free(c.b);
    free(c.before);
    free(c.expected);
}

static bool can_combine(void)
{
    return !is_standin() && driver->can_combine && driver->can_combine(member);
}

static void two_ranges_become_one(void **state)
{
    static const size_t lengths[] = {1, 3, 64, 1001, 70000};

    (void)state;
    if (!can_combine())
        return;
    assert_true(driver->can_combine(member)); /* The answer stays. */
    for (int how = 0; how < TSL_N_COMBINE_HOWS; how++)
        for (unsigned width = how == TSL_COMBINE_CHANGED ? 1 : 4; width <= 8; width *= 2)
            for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
                for (int in = 0; in < (how == TSL_COMBINE_CHANGED ? 4 : 3); in++)
                    combine_and_check((enum tsl_combine_how)how, width, (i + (unsigned)in) % 2 * width,
                                      lengths[i] * width, in);
}

static void large_ranges_become_one(void **state)
{
    (void)state;
    if (!can_combine())
        return;
    combine_and_check(TSL_COMBINE_CHANGED, 4, 0, ((size_t)3 << 20) + 4, 2);
    combine_and_check(TSL_COMBINE_ADD, 8, 0, ((size_t)3 << 20) + 8, 1);
}

static void a_combine_waits_and_has_a_fence(void **state)
{
    struct tsl_mem *mems[3];
    struct tsl_lane *other;
    struct tsl_fence *filled, *fence;
    uint32_t one = 1, two = 2, out[256];

    (void)state;
    if (!can_combine())
        return;
    other = new_lane(false);
    for (int i = 0; i < 3; i++)
        mems[i] = new_mem(sizeof(out));
    struct tsl_fill a = {
        .dst = {.mem = mems[1]}, .region = {sizeof(out), 1, 1}, .pattern = &one, .pattern_size = sizeof(one)};
    struct tsl_fill b = a;
    b.dst.mem = mems[2];
    b.pattern = &two;
    const struct tsl_combine combine = {.dst = {mems[0], 0},
                                        .a = {mems[1], 0},
                                        .b = {mems[2], 0},
                                        .size = sizeof(out),
                                        .width = sizeof(one),
                                        .how = TSL_COMBINE_ADD};
    assert_int_equal(driver->fill(other, &a, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->fill(other, &b, NULL, &filled), CL_SUCCESS);
    const struct tsl_waits waits = {1, &filled};
    assert_int_equal(driver->combine(lane, &combine, &waits, &fence), CL_SUCCESS);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(filled);
    tsl_fence_unref(fence);
    get(mems[0], out, sizeof(out));
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(out[i], 3);
    for (int i = 0; i < 3; i++)
        driver->mem_free(mems[i]);
    finish(other);
    driver->lane_free(other);
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

#define MOST_PIECES 40u

struct gathered {
    unsigned n;
    size_t size;
    struct tsl_range_of_bytes list[MOST_PIECES];
    unsigned char *src, *expected;
};

/* Pieces and gaps of up to `most` units of so many bytes; in runs of `alike` pieces they are alike. */
static void make_pieces(struct gathered *g, unsigned n, unsigned most, unsigned unit, unsigned alike)
{
    uint64_t at = 0, gap = 0, size = 0;

    g->n = n;
    for (unsigned i = 0; i < n; i++) {
        if (i % alike == 0) {
            gap = (uint64_t)rand() % most * unit + unit;
            size = (uint64_t)rand() % most * unit + unit;
        }
        g->list[i].begin = at += gap;
        g->list[i].end = at += size;
    }
    g->size = at + 64;
    g->src = malloc(g->size);
    g->expected = calloc(1, g->size);
    for (size_t i = 0; i < g->size; i++)
        g->src[i] = (unsigned char)rand();
    for (unsigned i = 0; i < n; i++)
        memcpy(g->expected + g->list[i].begin, g->src + g->list[i].begin, g->list[i].end - g->list[i].begin);
}

/* By the driver's own way, if it has one, else by the kernels that drivers use. Members of nodes gather from other
 * nodes alone. */
static void gather_and_check(struct tsl_gather_kernels *kernels, unsigned n, unsigned most, unsigned unit,
                             unsigned alike)
{
    const bool own = driver->gather && strcmp(driver->name, "remote") != 0;
    struct gathered g;

    make_pieces(&g, n, most, unit, alike);
    struct tsl_mem *src = new_mem(g.size), *dst = new_mem(g.size);
    unsigned char *out = calloc(1, g.size);
    struct tsl_gather gather = {dst, src, g.n, g.list};
    put(src, g.src, g.size);
    put(dst, out, g.size);
    if (own)
        assert_int_equal(driver->gather(lane, &gather, NULL, NULL), CL_SUCCESS);
    else
        assert_int_equal(tsl_gather_kernels_run(kernels, lane, &gather, NULL, NULL), CL_SUCCESS);
    finish(lane);
    get(dst, out, g.size);
    assert_memory_equal(out, g.expected, g.size);
    driver->mem_free(src);
    driver->mem_free(dst);
    free(out);
    free(g.src);
    free(g.expected);
}

static void pieces_are_gathered(void **state)
{
    struct tsl_gather_kernels kernels;

    (void)state;
    if (is_standin() || is_fake()) /* Neither compiles. */
        return;
    srand(5);
    tsl_gather_kernels_init(&kernels);
    for (unsigned n = 1; n <= MOST_PIECES; n += 3)
        for (unsigned unit = 1; unit <= 16; unit *= 2)
            gather_and_check(&kernels, n, n % 2 ? 3 : 400, unit, 1 + (unsigned)rand() % n);
    gather_and_check(&kernels, 2, 100000, 16, 1); /* Each work-item has several. */
    tsl_gather_kernels_finish(&kernels);
}

static void parts_of_memory_are_the_same_memory(void **state)
{
    size_t align = member->caps.base_align;
    struct tsl_mem *mem = new_mem(8 * align), *part, *part_of_part;

    (void)state;
    assert_int_equal(driver->mem_sub(mem, 2 * align, 4 * align, &part), CL_SUCCESS);
    assert_int_equal(part->size, 4 * align);
    if (is_fake())
        assert_int_equal(driver->mem_sub(mem, 3 * align, align, &part_of_part), CL_SUCCESS);
    else
        assert_int_equal(driver->mem_sub(part, align, align, &part_of_part), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, mem, 1, 8 * align / 4, NULL, NULL), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, part_of_part, 2, align / 4, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_int(mem, 3 * align / 4 - 1), 1);
    assert_int_equal(get_int(mem, 3 * align / 4), 2);
    assert_int_equal(get_int(mem, 4 * align / 4), 1);
    assert_int_equal(get_int(part, align / 4), 2);
    driver->mem_free(part_of_part);
    driver->mem_free(part);
    driver->mem_free(mem);
}

/* Where the driver has host memory of its own for host copies: bytes go there and back, and what was given back serves
 * again. */
static void host_memory_of_the_driver_is_memory(void **state)
{
    static const size_t n = sizeof(sizes) / sizeof(sizes[0]);
    struct tsl_mem *mems[sizeof(sizes) / sizeof(sizes[0])];
    void *host;

    (void)state;
    for (int round = 0; member->caps.pins_host && round < 3; round++) {
        for (size_t i = 0; i < n; i++) {
            struct tsl_mem *mem = new_mem(sizes[i]);
            unsigned char *expected = malloc(sizes[i]);

            assert_int_equal(driver->host_alloc(member, sizes[i], &host, &mems[i]), CL_SUCCESS);
            assert_ptr_equal(mems[i]->member, member);
            fill_pattern(expected, sizes[i]);
            memcpy(host, expected, sizes[i]);
            put(mem, host, sizes[i]);
            memset(host, 0, sizes[i]);
            get(mem, host, sizes[i]);
            assert_memory_equal(host, expected, sizes[i]);
            free(expected);
            driver->mem_free(mem);
        }
        for (size_t i = 0; i < n; i++)
            driver->mem_free(mems[i]);
    }
    if (member->caps.pins_host)
        assert_int_not_equal(driver->host_alloc(member, (size_t)1 << 50, &host, &mems[0]), CL_SUCCESS);
}

static struct tsl_mem *new_shared(size_t size, size_t alignment, void **host)
{
    struct tsl_mem *mem = NULL;

    assert_int_equal(
        driver->svm_alloc(member, &(struct tsl_svm_request){CL_MEM_READ_WRITE, size, alignment}, host, &mem),
        CL_SUCCESS);
    assert_ptr_equal(mem->member, member);
    assert_int_equal((uintptr_t)*host % alignment, 0);
    return mem;
}

/* Shared virtual memory is the host's, from its first byte to its last; bytes go from there to the device and back, and
 * what was given back serves again. */
static void shared_memory_is_the_hosts(void **state)
{
    static const size_t alignments[] = {1, 128, 4096};
    bool gives = member->caps.svm && !member->caps.svm_anywhere;
    void *host;

    (void)state;
    if (member->caps.svm_anywhere)
        assert_true(member->caps.svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
    if (gives)
        assert_true(driver->svm_reaches(member, member));
    for (size_t i = 0; gives && i < 3 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i / 3];
        struct tsl_mem *shared = new_shared(size, alignments[i % 3], &host), *mem = new_mem(size);
        unsigned char *expected = malloc(size);

        fill_pattern(expected, size);
        memcpy(host, expected, size);
        put(mem, host, size);
        memset(host, 0, size);
        get(mem, host, size);
        assert_memory_equal(host, expected, size);
        driver->mem_free(mem);
        driver->mem_free(shared);
        free(expected);
    }
    if (gives)
        assert_int_not_equal(
            driver->svm_alloc(member, &(struct tsl_svm_request){0, 0, 128}, &host, &(struct tsl_mem *){NULL}),
            CL_SUCCESS);
}

/* Who takes it for a buffer's storage works there: from anywhere in it. */
static void shared_memory_is_storage(void **state)
{
    size_t align = member->caps.base_align, size = 8 * align;
    struct tsl_mem *shared, *mem = NULL;
    void *host;

    (void)state;
    if (!member->caps.svm_is_mem)
        return;
    shared = new_shared(size, align, &host);
    memset(host, 1, size);
    assert_int_equal(driver->mem_alloc(member, 4 * align, 0, (char *)host + 2 * align, &mem), CL_SUCCESS);
    assert_int_equal(get_int(mem, 0), 0x01010101);
    *(cl_int *)((char *)host + 2 * align) = 5;
    assert_int_equal(get_int(mem, 0), 5);
    put(mem, &(cl_int){7}, sizeof(cl_int));
    assert_int_equal(*(cl_int *)((char *)host + 2 * align), 7);
    driver->mem_free(mem);
    assert_int_equal(*(cl_int *)((char *)host + 2 * align), 7);
    driver->mem_free(shared);
}

static void memory_that_cannot_be_is_refused(void **state)
{
    size_t align = member->caps.base_align;
    struct tsl_mem *mem = new_mem(4 * align), *none = NULL;

    (void)state;
    assert_int_equal(driver->mem_sub(mem, align + 1, align, &none), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_int_equal(driver->mem_sub(mem, 3 * align, 2 * align, &none), CL_INVALID_VALUE);
    assert_int_equal(driver->mem_sub(mem, 0, 0, &none), CL_INVALID_VALUE);
    assert_int_equal(driver->mem_alloc(member, member->caps.max_alloc_size + 1, 0, NULL, &none),
                     CL_INVALID_BUFFER_SIZE);
    assert_null(none);
    driver->mem_free(mem);
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void lanes_wait_for_each_other(void **state)
{
    struct tsl_lane *lanes[2] = {new_lane(false), new_lane(false)};
    struct tsl_mem *a = new_mem(1 << 16), *b = new_mem(1 << 16);
    struct tsl_fence *fence = NULL;

    (void)state;
    for (int i = 0; i < 50; i++) {
        struct tsl_waits waits = {.n = fence ? 1 : 0, .fences = &fence};
        struct tsl_copy copy = linear(i & 1 ? a : b, NULL, 0, i & 1 ? b : a, NULL, 0, 1 << 16);
        struct tsl_fence *filled;

        assert_int_equal(fill_ints(lanes[i & 1], i & 1 ? b : a, i, 1 << 14, fence ? &waits : NULL, &filled),
                         CL_SUCCESS);
        if (fence)
            tsl_fence_unref(fence);
        waits = (struct tsl_waits){.n = 1, .fences = &filled};
        assert_int_equal(driver->copy(lanes[~i & 1], &copy, &waits, &fence), CL_SUCCESS);
        tsl_fence_unref(filled);
    }
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    assert_int_equal(driver->fence_status(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    assert_int_equal(get_int(a, (1 << 14) - 1), 49);
    assert_int_equal(get_int(b, 5), 49);
    for (int i = 0; i < 2; i++)
        driver->lane_free(lanes[i]);
    driver->mem_free(a);
    driver->mem_free(b);
}

static void more_waits_than_a_few(void **state)
{
    struct tsl_fence *fences[40], *last;
    struct tsl_waits waits = {.n = 40, .fences = fences};
    struct tsl_lane *other = new_lane(false);

    (void)state;
    for (int i = 0; i < 40; i++)
        assert_int_equal(driver->mark(other, NULL, &fences[i]), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, &waits, &last), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(last), CL_COMPLETE);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(driver->fence_status(fences[i]), CL_COMPLETE);
        tsl_fence_unref(fences[i]);
    }
    tsl_fence_unref(last);
    driver->lane_free(other);
}

static void only_fences_of_the_driver_can_be_waited_for(void **state)
{
    struct tsl_driver other = {.name = "other"};
    struct tsl_fence foreign = {.driver = &other}, *list[] = {&foreign}, *fence = NULL;
    struct tsl_waits waits = {.n = 1, .fences = list};

    (void)state;
    assert_false(driver->can_wait(member, &foreign));
    assert_int_equal(driver->mark(lane, &waits, &fence), CL_INVALID_EVENT_WAIT_LIST);
    assert_null(fence);
}

/* ---- Completion, and when it was --------------------------------------------------------------------------------- */

static void a_fence_outlives_its_lane(void **state)
{
    struct tsl_lane *other = new_lane(true);
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *fence;
    struct told told = {0};

    (void)state;
    assert_int_equal(fill_ints(other, mem, 5, 1024, NULL, &fence), CL_SUCCESS);
    driver->lane_free(other);
    assert_int_equal(driver->fence_notify(fence, tell_test, &told), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    wait_until_told(&told);
    tsl_fence_unref(fence);
    assert_int_equal(get_int(mem, 1023), 5);
    driver->mem_free(mem);
}

static void completion_is_told_once(void **state)
{
    struct tsl_mem *mem = new_mem(1 << 20);
    struct tsl_fence *fences[100];
    struct told told[100] = {{0}}, late = {0};

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(fill_ints(lane, mem, i, 1 << 18, NULL, &fences[i]), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(fences[i], tell_test, &told[i]), CL_SUCCESS);
    }
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    for (int i = 0; i < 100; i++) {
        wait_until_told(&told[i]);
        assert_int_equal(atomic_load(&told[i].status), CL_COMPLETE);
    }
    assert_int_equal(driver->fence_notify(fences[0], tell_test, &late), CL_SUCCESS);
    assert_int_equal(late.n, 1);
    finish(lane);
    usleep(20000);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(atomic_load(&told[i].n), 1);
        tsl_fence_unref(fences[i]);
    }
    driver->mem_free(mem);
}

static void a_fence_may_go_before_it_is_told(void **state)
{
    struct tsl_mem *mem = new_mem(1 << 16);
    struct told told[50] = {{0}};

    (void)state;
    for (int i = 0; i < 50; i++) {
        struct tsl_fence *fence;

        assert_int_equal(fill_ints(lane, mem, i, 1 << 14, NULL, &fence), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(fence, tell_test, &told[i]), CL_SUCCESS);
        tsl_fence_unref(fence);
    }
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    for (int i = 0; i < 50; i++)
        wait_until_told(&told[i]);
    finish(lane);
    driver->mem_free(mem);
}

static void times_are_in_order_and_of_our_clock(void **state)
{
    struct tsl_mem *mem = new_mem(1 << 22);
    struct tsl_fence *fences[6];
    struct tsl_times times[6];
    unsigned char *bytes = calloc(1, 1 << 22);
    const uint64_t far = 1000000000; /* Another clock is further off than any sighting is wide. */
    uint64_t before = tsl_clock_ns(), after, slack;

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(fill_ints(lane, mem, i, 1 << 20, NULL, &fences[i]), CL_SUCCESS);
    assert_int_equal(put_later(lane, mem, bytes, 1 << 22, NULL, &fences[5]), CL_SUCCESS);
    for (int i = 0; i < 6; i++)
        assert_int_equal(driver->fence_wait(fences[i]), CL_COMPLETE);
    after = tsl_clock_ns();
    slack = 2000000 + (after - before); /* A sighting is as wide as the enqueuing call was long, on a busy machine. */
    for (int i = 0; i < 6; i++) {
        cl_int error = driver->fence_times(fences[i], &times[i]);

        assert_int_equal(error, member->caps.profiles ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE);
        tsl_fence_unref(fences[i]);
        if (error)
            continue;
        assert_true(times[i].start_ns <= times[i].end_ns);
        assert_true(times[i].start_ns + far >= before && times[i].end_ns <= after + far);
        if (i && i < 5)
            assert_true(times[i].start_ns + slack >= times[i - 1].end_ns);
    }
    driver->mem_free(mem);
    free(bytes);
}

static void lanes_without_profiling_have_no_times(void **state)
{
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *fence;
    struct tsl_times times;

    (void)state;
    assert_int_equal(driver->mark(other, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    assert_int_equal(driver->fence_times(fence, &times), CL_PROFILING_INFO_NOT_AVAILABLE);
    tsl_fence_unref(fence);
    driver->lane_free(other);
}

/* ---- Gates ------------------------------------------------------------------------------------------------------- */

/* True where there are gates. Where there are none, that is what is checked. */
static bool has_gates(void)
{
    struct tsl_fence *gate = NULL;

    if (member->caps.gates)
        return true;
    assert_int_equal(driver->gate_create(member, &gate), CL_INVALID_OPERATION);
    assert_null(gate);
    return false;
}

/* Like finish(), after failures, which the technology may report there too. */
static void drain(struct tsl_lane *l)
{
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    driver->finish(l);
}

static void work_behind_a_gate_waits_for_it(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate, *gated, *after;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct tsl_lane *other = new_lane(false);
    struct told told = {0};

    (void)state;
    if (has_gates()) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
        finish(lane);
        assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
        assert_int_equal(driver->mark(lane, NULL, &after), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(after, tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        /* Another lane goes on meanwhile. */
        assert_int_equal(driver->mark(other, NULL, NULL), CL_SUCCESS);
        finish(other);
        usleep(20000);
        assert_true(driver->fence_status(gate) > 0 && driver->fence_status(gated) > 0);
        assert_int_equal(atomic_load(&told.n), 0);
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_INVALID_OPERATION);
        assert_int_equal(driver->gate_open(gated, CL_COMPLETE), CL_INVALID_VALUE);
        wait_until_told(&told);
        assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
        assert_int_equal(driver->fence_wait(gate), CL_COMPLETE);
        assert_int_equal(driver->fence_wait(gated), CL_COMPLETE);
        assert_int_equal(get_int(mem, 1023), 2);
        tsl_fence_unref(gate);
        tsl_fence_unref(gated);
        tsl_fence_unref(after);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
}

static void a_gate_that_fails_fails_what_waits(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *gate, *gated, *second;
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1, .fences = &gated};
    struct told told = {0}, told_second = {0}, late = {0};

    (void)state;
    if (has_gates()) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
        finish(lane);
        assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
        assert_int_equal(fill_ints(other, mem, 3, 1024, &again, &second), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(gated, tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(second, tell_test, &told_second), CL_SUCCESS);
        assert_int_equal(driver->flush(other), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
        wait_until_told(&told);
        wait_until_told(&told_second);
        assert_true(atomic_load(&told.status) < 0 && atomic_load(&told_second.status) < 0);
        assert_true(driver->fence_wait(gated) < 0 && driver->fence_wait(second) < 0);
        assert_true(driver->fence_wait(gate) < 0);
        assert_int_equal(driver->fence_notify(gated, tell_test, &late), CL_SUCCESS);
        assert_true(late.n == 1 && late.status < 0);
        drain(lane);
        drain(other);
        /* Nothing of it ran, and the lanes still work. */
        assert_int_equal(get_int(mem, 1023), 1);
        assert_int_equal(fill_ints(other, mem, 4, 1024, NULL, NULL), CL_SUCCESS);
        finish(other);
        assert_int_equal(get_int(mem, 1023), 4);
        usleep(20000);
        assert_int_equal(atomic_load(&told.n), 1);
        tsl_fence_unref(gate);
        tsl_fence_unref(gated);
        tsl_fence_unref(second);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
}

static void what_waits_for_a_failure_fails_and_the_lane_goes_on(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate, *late;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct told told = {0};

    (void)state;
    if (has_gates()) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
        assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &late), CL_SUCCESS);
        assert_int_equal(fill_ints(lane, mem, 3, 512, NULL, NULL), CL_SUCCESS);
        assert_true(driver->fence_wait(late) < 0);
        assert_int_equal(driver->fence_notify(late, tell_test, &told), CL_SUCCESS);
        assert_true(told.n == 1 && told.status < 0);
        assert_int_equal(get_int(mem, 511), 3);
        assert_int_equal(get_int(mem, 512), 1);
        tsl_fence_unref(gate);
        tsl_fence_unref(late);
    }
    driver->mem_free(mem);
}

static void what_waits_for_a_failure_comes_after_the_rest(void **state)
{
    (void)state;
    if (has_gates())
        wait_for_a_failure_and_others();
}

static void open_gate(void *gate, cl_int status)
{
    assert_int_equal(driver->gate_open(gate, status), CL_SUCCESS);
}

/* The bridge: one fence's completion opens the next gate, from inside its notification. */
static void completion_opens_the_next_gate(void **state)
{
    struct tsl_fence *gates[20], *fences[20];
    struct tsl_mem *mem = new_mem(4096);
    struct told told = {0};

    (void)state;
    if (has_gates()) {
        for (int i = 0; i < 20; i++) {
            struct tsl_waits waits = {.n = i ? 1 : 0, .fences = &gates[i ? i - 1 : 0]};

            assert_int_equal(fill_ints(lane, mem, i, 16, &waits, &fences[i]), CL_SUCCESS);
            gates[i] = new_gate();
        }
        for (int i = 0; i < 20; i++)
            assert_int_equal(driver->fence_notify(fences[i], open_gate, gates[i]), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(gates[19], tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        wait_until_told(&told);
        assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
        assert_int_equal(get_int(mem, 0), 19);
        for (int i = 0; i < 20; i++) {
            tsl_fence_unref(fences[i]);
            tsl_fence_unref(gates[i]);
        }
    }
    driver->mem_free(mem);
}

#define ROUNDS 300

struct race {
    struct tsl_fence *gate;
    cl_int status;
    pthread_barrier_t start;
};

static void *open_gates(void *arg)
{
    struct race *race = arg;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&race->start);
        assert_int_equal(driver->gate_open(race->gate, race->status), CL_SUCCESS);
        pthread_barrier_wait(&race->start);
    }
    return NULL;
}

/* Submits work behind the gate, in two lanes, while another thread opens it. */
static void race_once(struct race *race, struct tsl_lane *const *lanes, struct tsl_mem *const *mems)
{
    struct tsl_waits waits = {.n = 1, .fences = &race->gate};
    struct tsl_fence *fences[8];
    struct told told[8] = {{0}};

    race->gate = new_gate();
    pthread_barrier_wait(&race->start);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(fill_ints(lanes[i & 1], mems[i & 1], i, 16, i % 3 ? &waits : NULL, &fences[i]), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(fences[i], tell_test, &told[i]), CL_SUCCESS);
    }
    assert_int_equal(driver->flush(lanes[0]), CL_SUCCESS);
    assert_int_equal(driver->flush(lanes[1]), CL_SUCCESS);
    for (int i = 0; i < 8; i++) {
        wait_until_told(&told[i]);
        assert_int_equal(driver->fence_wait(fences[i]) < 0, atomic_load(&told[i].status) < 0);
        if (i % 3)
            assert_int_equal(atomic_load(&told[i].status) < 0, race->status < 0);
        tsl_fence_unref(fences[i]);
    }
    pthread_barrier_wait(&race->start);
    tsl_fence_unref(race->gate);
}

static void run_races(cl_int status)
{
    struct race race = {.status = status};
    struct tsl_lane *lanes[2] = {new_lane(false), new_lane(false)};
    struct tsl_mem *mems[2] = {new_mem(4096), new_mem(4096)};
    pthread_t opener;

    assert_int_equal(pthread_barrier_init(&race.start, NULL, 2), 0);
    assert_int_equal(pthread_create(&opener, NULL, open_gates, &race), 0);
    for (int i = 0; i < ROUNDS; i++)
        race_once(&race, lanes, mems);
    assert_int_equal(pthread_join(opener, NULL), 0);
    pthread_barrier_destroy(&race.start);
    for (int i = 0; i < 2; i++) {
        drain(lanes[i]);
        driver->lane_free(lanes[i]);
        driver->mem_free(mems[i]);
    }
}

static void gates_open_while_work_is_submitted(void **state)
{
    (void)state;
    if (has_gates())
        run_races(CL_COMPLETE);
}

static void gates_fail_while_work_is_submitted(void **state)
{
    (void)state;
    if (has_gates())
        run_races(CL_OUT_OF_RESOURCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_say_what_they_can),
        cmocka_unit_test(bytes_of_all_sizes_go_there_and_back),
        cmocka_unit_test(boxes_of_all_shapes_go_in_all_directions),
        cmocka_unit_test(boxes_within_one_buffer_may_have_any_pitches),
        cmocka_unit_test(a_copy_in_many_commands_has_one_fence),
        cmocka_unit_test(what_cannot_be_reached_is_refused),
        cmocka_unit_test(what_a_read_brings_a_write_takes_along),
        cmocka_unit_test(what_was_written_may_change_when_its_fence_is_complete),
        cmocka_unit_test(a_later_mark_stands_for_earlier_reads),
        cmocka_unit_test(a_large_read_stands_for_short_ones_before),
        cmocka_unit_test(patterns_of_all_sizes_are_filled),
        cmocka_unit_test(boxes_are_filled),
        cmocka_unit_test(two_ranges_become_one),
        cmocka_unit_test(large_ranges_become_one),
        cmocka_unit_test(a_combine_waits_and_has_a_fence),
        cmocka_unit_test(pieces_are_gathered),
        cmocka_unit_test(parts_of_memory_are_the_same_memory),
        cmocka_unit_test(host_memory_of_the_driver_is_memory),
        cmocka_unit_test(shared_memory_is_the_hosts),
        cmocka_unit_test(shared_memory_is_storage),
        cmocka_unit_test(memory_that_cannot_be_is_refused),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(more_waits_than_a_few),
        cmocka_unit_test(only_fences_of_the_driver_can_be_waited_for),
        cmocka_unit_test(a_fence_outlives_its_lane),
        cmocka_unit_test(completion_is_told_once),
        cmocka_unit_test(a_fence_may_go_before_it_is_told),
        cmocka_unit_test(times_are_in_order_and_of_our_clock),
        cmocka_unit_test(lanes_without_profiling_have_no_times),
        cmocka_unit_test(work_behind_a_gate_waits_for_it),
        cmocka_unit_test(a_gate_that_fails_fails_what_waits),
        cmocka_unit_test(what_waits_for_a_failure_fails_and_the_lane_goes_on),
        cmocka_unit_test(what_waits_for_a_failure_comes_after_the_rest),
        cmocka_unit_test(completion_opens_the_next_gate),
        cmocka_unit_test(gates_open_while_work_is_submitted),
        cmocka_unit_test(gates_fail_while_work_is_submitted),
    };

    return cmocka_run_group_tests_name("contract", tests, open_member, close_member);
}
