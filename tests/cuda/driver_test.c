/* The CUDA bridge against the driver contract: memory, copies, fills, order, gates, kernels, times. */
/* timeout: 120 */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* variant: standin2 TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_SEED=7 STANDIN_DEVICES=2 */
#include "cuda_env.h"

#include <pthread.h>

static unsigned char pattern_of(size_t i)
{
    return (unsigned char)(i * 7 + i / 256 * 3 + i / 65536 + 1);
}

static void fill_pattern(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = pattern_of(i);
}

static void members_say_what_they_can(void **state)
{
    cl_ulong size;
    cl_uint narrow;
    size_t got;
    char small[4];

    (void)state;
    assert_true(member->caps.memory_size >= member->caps.max_alloc_size && member->caps.max_alloc_size > 0);
    assert_true(member->caps.ordered_lanes && member->caps.speed > 0 && member->caps.gates && member->caps.profiles);
    assert_int_equal(driver->info(member->path, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(size), &size, &got), CL_SUCCESS);
    assert_int_equal(size, member->caps.memory_size);
    assert_int_equal(got, sizeof(size));
    assert_int_equal(driver->info(member->path, CL_DEVICE_VENDOR_ID, sizeof(narrow), &narrow, NULL), CL_SUCCESS);
    assert_int_equal(narrow, 0x10de);
    assert_int_equal(driver->info(member->path, CL_DEVICE_NAME, 0, NULL, &got), CL_SUCCESS);
    assert_int_equal(got, strlen(member->path->device_name) + 1);
    assert_int_equal(driver->info(member->path, CL_DEVICE_EXTENSIONS, sizeof(small), small, NULL), CL_INVALID_VALUE);
    assert_int_equal(driver->info(member->path, 0x7777, sizeof(size), &size, &got), CL_INVALID_VALUE);
}

/* ---- Copies -------------------------------------------------------------------------------------------------------
 */

/* Sizes through pieces, around the largest piece, and through the pipeline. */
static const size_t sizes[] = {1, 4095, 65536, 262143, 262144, 262145, 1 << 20, (9 << 20) + 12345, 40 << 20};

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
    /* Through the pipeline: rows, wide rows, slices. */
    static const struct box large[] = {
        {{1000, 1500, 1}, 24, 1024, 0, 8, 1000, 0},
        {{5000000, 2, 1}, 3, 5000100, 0, 1, 5000200, 0},
        {{700, 40, 30}, 16, 1000, 40000, 5, 700, 28000},
    };

    (void)state;
    for (int direction = 0; direction < N_DIRECTIONS; direction++) {
        for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
            copy_one_box(&boxes[i], BOX_MEMORY, (enum direction)direction, true);
            copy_one_box(&boxes[i], BOX_MEMORY, (enum direction)direction, false);
        }
        for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
            copy_one_box(&large[i], 11 << 20, (enum direction)direction, true);
            copy_one_box(&large[i], 11 << 20, (enum direction)direction, false);
        }
    }
}

static void what_cannot_be_reached_is_refused(void **state)
{
    struct tsl_copy copy = linear(NULL, &copy, 0, NULL, &copy, 0, 1);
    struct tsl_place host = {.host = &copy};
    struct tsl_fence *fence = NULL;

    (void)state;
    assert_int_equal(driver->copy(lane, &copy, NULL, &fence), CL_INVALID_MEM_OBJECT);
    assert_int_equal(driver->fill(lane, &host, 1, "", 1, NULL, &fence), CL_INVALID_MEM_OBJECT);
    assert_null(fence);
    assert_true(driver->can_copy_peer(member, member));
}

static void members_copy_to_each_other(void **state)
{
    size_t size = 3 << 20;
    unsigned char *in = malloc(size), *out = calloc(1, size);
    struct tsl_mem *mine = new_mem(size), *theirs;
    struct tsl_copy copy;

    (void)state;
    fill_pattern(in, size);
    put(mine, in, size);
    for (unsigned i = 1; i < n_members; i++) {
        struct tsl_lane *other;
        struct tsl_fence *fence;
        struct tsl_waits waits = {.n = 1, .fences = &fence};

        assert_true(driver->can_copy_peer(member, members[i]));
        assert_int_equal(driver->lane_create(members[i], false, &other), CL_SUCCESS);
        assert_int_equal(driver->mem_alloc(members[i], size, 0, NULL, &theirs), CL_SUCCESS);
        copy = linear(theirs, NULL, 0, mine, NULL, 0, size);
        assert_int_equal(driver->copy(lane, &copy, NULL, &fence), CL_SUCCESS);
        /* The other member waits for this one's fence natively. */
        assert_int_equal(get_later(other, theirs, out, size, &waits, NULL), CL_SUCCESS);
        finish(other);
        assert_memory_equal(in, out, size);
        memset(out, 0, size);
        copy = (struct tsl_copy){.dst = {.mem = mine, .row_pitch = 512, .slice_pitch = 0},
                                 .src = {.mem = theirs, .offset = 100, .row_pitch = 1024, .slice_pitch = 0},
                                 .region = {300, 1000, 1}};
        assert_int_equal(driver->copy(other, &copy, NULL, NULL), CL_SUCCESS);
        finish(other);
        get(mine, out, size);
        assert_memory_equal(out + 512 * 999, in + 100 + 1024 * 999, 300);
        put(mine, in, size);
        tsl_fence_unref(fence);
        driver->mem_free(theirs);
        driver->lane_free(other);
    }
    driver->mem_free(mine);
    free(in);
    free(out);
}

/* ---- Host memory that work on its way writes ----------------------------------------------------------------------
 */

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

/* ---- Fills --------------------------------------------------------------------------------------------------------
 */

static void fill_and_check(size_t pattern_size, size_t offset, size_t size, size_t mem_size, bool same)
{
    unsigned char pattern[128], *bytes = calloc(1, mem_size);
    struct tsl_mem *mem = new_mem(mem_size);
    struct tsl_place place = {.mem = mem, .offset = offset};
    struct tsl_fence *fence;

    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = same ? 9 : (unsigned char)(i + 100);
    put(mem, bytes, mem_size);
    assert_int_equal(driver->fill(lane, &place, size, pattern, pattern_size, NULL, &fence), CL_SUCCESS);
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

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

static void parts_of_memory_are_the_same_memory(void **state)
{
    size_t align = member->caps.base_align;
    struct tsl_mem *mem = new_mem(8 * align), *part, *part_of_part;

    (void)state;
    assert_int_equal(driver->mem_sub(mem, 2 * align, 4 * align, &part), CL_SUCCESS);
    assert_int_equal(part->size, 4 * align);
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

static void memory_that_cannot_be_is_refused(void **state)
{
    size_t align = member->caps.base_align;
    struct tsl_mem *mem = new_mem(4 * align), *all, *none = NULL;

    (void)state;
    assert_int_equal(driver->mem_sub(mem, align + 1, align, &none), CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_int_equal(driver->mem_sub(mem, 3 * align, 2 * align, &none), CL_INVALID_VALUE);
    assert_int_equal(driver->mem_sub(mem, 0, 0, &none), CL_INVALID_VALUE);
    assert_int_equal(driver->mem_alloc(member, member->caps.max_alloc_size + 1, 0, NULL, &none),
                     CL_INVALID_BUFFER_SIZE);
    all = new_mem(member->caps.memory_size / 4 * 3);
    assert_int_equal(driver->mem_alloc(member, member->caps.memory_size / 2, 0, NULL, &none),
                     CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_null(none);
    driver->mem_free(all);
    driver->mem_free(mem);
    all = new_mem(member->caps.memory_size / 2);
    driver->mem_free(all);
}

/* ---- Order --------------------------------------------------------------------------------------------------------
 */

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

/* A watch, wherever it stands, tells of its own fence and of no other. */
static void nothing_is_told_before_it_is_there(void **state)
{
    enum { N = 6 };
    static const int order[N] = {4, 1, 5, 0, 3, 2};
    struct tsl_lane *other = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);
    struct told told[N] = {0};
    struct tsl_fence *fences[N];

    (void)state;
    if (is_standin())
        standin.stop(true);
    for (int i = 0; i < N; i++)
        assert_int_equal(fill_ints(other, mem, i, 16, NULL, &fences[i]), CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_int_equal(driver->fence_notify(fences[order[i]], tell_test, &told[order[i]]), CL_SUCCESS);
    if (is_standin()) {
        usleep(20000);
        for (int i = 0; i < N; i++)
            assert_int_equal(atomic_load(&told[i].n), 0);
        standin.stop(false);
    }
    for (int i = 0; i < N; i++) {
        wait_until_told(&told[i]);
        assert_int_equal(atomic_load(&told[i].status), CL_COMPLETE);
        tsl_fence_unref(fences[i]);
    }
    driver->lane_free(other);
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
    const uint64_t slack = 1000000;
    uint64_t before = tsl_clock_ns(), after;

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(fill_ints(lane, mem, i, 1 << 20, NULL, &fences[i]), CL_SUCCESS);
    assert_int_equal(put_later(lane, mem, bytes, 1 << 22, NULL, &fences[5]), CL_SUCCESS);
    for (int i = 0; i < 6; i++)
        assert_int_equal(driver->fence_wait(fences[i]), CL_COMPLETE);
    after = tsl_clock_ns();
    for (int i = 0; i < 6; i++) {
        assert_int_equal(driver->fence_times(fences[i], &times[i]), CL_SUCCESS);
        tsl_fence_unref(fences[i]);
        assert_true(times[i].start_ns <= times[i].end_ns);
        assert_true(times[i].start_ns + slack >= before && times[i].end_ns <= after + slack);
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

/* ---- Gates --------------------------------------------------------------------------------------------------------
 */

static void work_behind_a_gate_waits_for_it(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), *gated, *after;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct tsl_lane *other = new_lane(false);
    struct told told = {0};

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, NULL, &after), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(after, tell_test, &told), CL_SUCCESS);
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
    driver->lane_free(other);
    driver->mem_free(mem);
}

static void a_gate_that_fails_fails_what_waits(void **state)
{
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_lane *other = new_lane(false);
    struct tsl_fence *gate = new_gate(), *gated, *second, *third;
    struct tsl_waits waits = {.n = 1, .fences = &gate}, again = {.n = 1, .fences = &gated};
    struct told told = {0}, told_second = {0}, late = {0};

    (void)state;
    assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
    finish(lane);
    assert_int_equal(fill_ints(lane, mem, 2, 1024, &waits, &gated), CL_SUCCESS);
    assert_int_equal(fill_ints(other, mem, 3, 1024, &again, &second), CL_SUCCESS);
    /* What only stands behind it is done all the same. */
    assert_int_equal(fill_ints(lane, mem, 7, 16, NULL, &third), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(gated, tell_test, &told), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(second, tell_test, &told_second), CL_SUCCESS);
    assert_int_equal(driver->gate_open(gate, CL_OUT_OF_RESOURCES), CL_SUCCESS);
    wait_until_told(&told);
    wait_until_told(&told_second);
    assert_true(atomic_load(&told.status) < 0 && atomic_load(&told_second.status) < 0);
    assert_true(driver->fence_wait(gated) < 0 && driver->fence_wait(second) < 0);
    assert_true(driver->fence_wait(gate) < 0);
    assert_int_equal(driver->fence_wait(third), CL_COMPLETE);
    assert_int_equal(driver->fence_notify(gated, tell_test, &late), CL_SUCCESS);
    assert_true(late.n == 1 && late.status < 0);
    finish(lane);
    finish(other);
    assert_int_equal(get_int(mem, 1023), 1);
    assert_int_equal(get_int(mem, 15), 7);
    /* Also what comes after the failure. */
    assert_int_equal(fill_ints(other, mem, 4, 1024, &waits, NULL), CL_SUCCESS);
    finish(other);
    assert_int_equal(get_int(mem, 1023), 1);
    tsl_fence_unref(gate);
    tsl_fence_unref(gated);
    tsl_fence_unref(second);
    tsl_fence_unref(third);
    driver->lane_free(other);
    driver->mem_free(mem);
}

/* Copies and launches that are held keep what they were given. */
static void held_work_keeps_what_it_was_given(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "add_value");
    struct tsl_mem *mem = new_mem(4096);
    struct tsl_fence *gate = new_gate(), **list = malloc(sizeof(*list));
    struct tsl_waits waits = {.n = 1, .fences = list};
    int *value = malloc(sizeof(*value)), in[1024], out[1024] = {0};
    struct tsl_bound_arg *args = malloc(2 * sizeof(*args));
    struct tsl_bound_args bound = bind(2, args);
    struct tsl_window window = whole(1024, 64);

    (void)state;
    for (int i = 0; i < 1024; i++)
        in[i] = i;
    *list = gate;
    *value = 1000;
    args[0] = mem_arg(mem);
    args[1] = (struct tsl_bound_arg){TSL_ARG_VALUE, sizeof(*value), value, NULL};
    assert_int_equal(put_later(lane, mem, in, sizeof(in), &waits, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, kernel, &bound, &window, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_later(lane, mem, out, sizeof(out), NULL, NULL), CL_SUCCESS);
    *value = 5;
    args[0] = mem_arg(NULL);
    *list = NULL;
    free(value);
    free(args);
    free(list);
    usleep(5000);
    assert_int_equal(out[5], 0);
    in[5] = 77; /* written before the gate opens: that is what gates are for */
    assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
    finish(lane);
    assert_int_equal(out[1023], 2023);
    assert_int_equal(out[5], 1077);
    tsl_fence_unref(gate);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
}

static void open_gate(void *gate, cl_int status)
{
    assert_int_equal(driver->gate_open(gate, status), CL_SUCCESS);
}

/* The bridge: one fence's completion opens the next gate. */
static void completion_opens_the_next_gate(void **state)
{
    struct tsl_fence *gates[20], *fences[20];
    struct tsl_mem *mem = new_mem(4096);
    struct told told = {0};

    (void)state;
    for (int i = 0; i < 20; i++) {
        struct tsl_waits waits = {.n = i ? 1 : 0, .fences = &gates[i ? i - 1 : 0]};

        assert_int_equal(fill_ints(lane, mem, i, 16, &waits, &fences[i]), CL_SUCCESS);
        gates[i] = new_gate();
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(driver->fence_notify(fences[i], open_gate, gates[i]), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(gates[19], tell_test, &told), CL_SUCCESS);
    wait_until_told(&told);
    assert_int_equal(atomic_load(&told.status), CL_COMPLETE);
    assert_int_equal(get_int(mem, 0), 19);
    for (int i = 0; i < 20; i++) {
        tsl_fence_unref(fences[i]);
        tsl_fence_unref(gates[i]);
    }
    driver->mem_free(mem);
}

#define ROUNDS 200

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
        driver->gate_open(race->gate, race->status);
        pthread_barrier_wait(&race->start);
    }
    return NULL;
}

/* Submits work behind the gate, in two lanes, while another thread opens it. */
static void race_once(struct race *race, struct tsl_lane *other, struct tsl_mem *mem)
{
    struct tsl_waits waits = {.n = 1, .fences = &race->gate};
    struct tsl_fence *fences[8];
    struct told told[8] = {{0}};

    race->gate = new_gate();
    pthread_barrier_wait(&race->start);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(fill_ints(i & 1 ? lane : other, mem, i, 16, i % 3 ? &waits : NULL, &fences[i]), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(fences[i], tell_test, &told[i]), CL_SUCCESS);
    }
    for (int i = 0; i < 8; i++) {
        wait_until_told(&told[i]);
        assert_int_equal(driver->fence_wait(fences[i]) < 0, atomic_load(&told[i].status) < 0);
        assert_int_equal(atomic_load(&told[i].status) < 0, i % 3 && race->status < 0);
        tsl_fence_unref(fences[i]);
    }
    pthread_barrier_wait(&race->start);
    tsl_fence_unref(race->gate);
}

static void gates_open_while_work_is_submitted(void **state)
{
    static const cl_int statuses[] = {CL_COMPLETE, CL_OUT_OF_RESOURCES};
    struct tsl_lane *other = new_lane(false);
    struct tsl_mem *mem = new_mem(4096);

    (void)state;
    for (int s = 0; s < 2; s++) {
        struct race race = {.status = statuses[s]};
        pthread_t opener;

        assert_int_equal(pthread_barrier_init(&race.start, NULL, 2), 0);
        assert_int_equal(pthread_create(&opener, NULL, open_gates, &race), 0);
        for (int i = 0; i < ROUNDS; i++)
            race_once(&race, other, mem);
        assert_int_equal(pthread_join(opener, NULL), 0);
        pthread_barrier_destroy(&race.start);
    }
    driver->lane_free(other);
    driver->mem_free(mem);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------------
 */

static void a_kernel_adds(void **state)
{
    enum { N = 100000 };
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "vector_add");
    struct tsl_mem *a = new_mem(4 * N), *b = new_mem(4 * N), *sum = new_mem(4 * N);
    struct tsl_bound_arg args[] = {mem_arg(a), mem_arg(b), mem_arg(sum)};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(N, 0);
    int *in = malloc(4 * N), *out = calloc(N, 4);

    (void)state;
    for (int i = 0; i < N; i++)
        in[i] = 3 * i;
    assert_int_equal(put_later(lane, a, in, 4 * N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(fill_ints(lane, b, 5, N, NULL, NULL), CL_SUCCESS);
    assert_int_equal(driver->launch(lane, kernel, &bound, &window, NULL, NULL), CL_SUCCESS);
    get(sum, out, 4 * N);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], 3 * i + 5);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(a);
    driver->mem_free(b);
    driver->mem_free(sum);
    free(in);
    free(out);
}

static uint64_t packed(const uint64_t v[3])
{
    return v[0] + 1000 * v[1] + 1000000 * v[2];
}

/* Each work-item in the window told once what it should; the others told nothing. */
static void check_ids(const struct tsl_window *w, const uint64_t *out)
{
    size_t n = w->global_size[0] * w->global_size[1] * w->global_size[2];

    for (size_t i = 0; i < n; i++, out += 8) {
        const uint64_t x[3] = {i % w->global_size[0], i / w->global_size[0] % w->global_size[1],
                               i / w->global_size[0] / w->global_size[1]};
        uint64_t group[3], local[3], size[3], groups[3];
        bool in = true;

        for (int d = 0; d < 3; d++) {
            group[d] = x[d] / w->local_size[d];
            local[d] = x[d] % w->local_size[d];
            groups[d] = (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d];
            size[d] = w->global_size[d] - group[d] * w->local_size[d];
            if (size[d] > w->local_size[d])
                size[d] = w->local_size[d];
            in &= w->whole || (group[d] >= w->group_begin[d] && group[d] < w->group_begin[d] + w->group_count[d]);
        }
        assert_int_equal(out[7], in ? w->work_dim : 0);
        for (int d = 0; in && d < 3; d++)
            assert_int_equal(out[d], x[d] + w->global_offset[d]);
        if (!in)
            continue;
        assert_int_equal(out[3], packed(group));
        assert_int_equal(out[4], packed(local));
        assert_int_equal(out[5], packed(size));
        assert_int_equal(out[6], packed(groups));
    }
}

static void ids_answer_as_for_the_whole_launch(void **state)
{
    static const struct tsl_window windows[] = {
        {1, {0}, {64, 1, 1}, {16, 1, 1}, {0}, {0}, true},
        {1, {100, 0, 0}, {70, 1, 1}, {16, 1, 1}, {0}, {0}, true},
        {1, {0}, {5, 1, 1}, {8, 1, 1}, {0}, {0}, true},
        {2, {3, 9, 0}, {20, 13, 1}, {8, 4, 1}, {0}, {0}, true},
        {3, {1, 2, 3}, {9, 7, 5}, {4, 2, 2}, {0}, {0}, true},
        {1, {0}, {64, 1, 1}, {16, 1, 1}, {1, 0, 0}, {2, 1, 1}, false},
        {1, {7, 0, 0}, {70, 1, 1}, {16, 1, 1}, {3, 0, 0}, {2, 1, 1}, false},
        {2, {3, 9, 0}, {20, 13, 1}, {8, 4, 1}, {1, 2, 0}, {2, 2, 1}, false},
        {3, {0}, {9, 7, 5}, {4, 2, 2}, {2, 3, 2}, {1, 1, 1}, false},
        {2, {0}, {2, 70000, 1}, {2, 1, 1}, {0}, {0}, true}, /* more groups than a grid has in y */
    };
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "tell_ids");

    (void)state;
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        const struct tsl_window *w = &windows[i];
        size_t size = 64 * w->global_size[0] * w->global_size[1] * w->global_size[2];
        struct tsl_mem *mem = new_mem(size);
        struct tsl_bound_arg arg = mem_arg(mem);
        struct tsl_bound_args bound = bind(1, &arg);
        uint64_t *out = malloc(size);

        assert_int_equal(fill_ints(lane, mem, 0, size / 4, NULL, NULL), CL_SUCCESS);
        assert_int_equal(driver->launch(lane, kernel, &bound, w, NULL, NULL), CL_SUCCESS);
        get(mem, out, size);
        check_ids(w, out);
        driver->mem_free(mem);
        free(out);
    }
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static void local_arguments_lie_apart(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_dkernel *kernel = new_kernel(program, "reverse");
    struct tsl_mem *mem = new_mem(4 * 256);
    struct tsl_bound_arg args[] = {
        mem_arg(mem), {.kind = TSL_ARG_LOCAL, .size = 4 * 33}, {.kind = TSL_ARG_LOCAL, .size = 4 * 64}};
    struct tsl_bound_args bound = bind(3, args);
    struct tsl_window window = whole(256, 32);
    int in[256], out[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        in[i] = i;
    put(mem, in, sizeof(in));
    assert_int_equal(driver->launch(lane, kernel, &bound, &window, NULL, NULL), CL_SUCCESS);
    get(mem, out, sizeof(out));
    for (int i = 0; i < 256; i++)
        assert_int_equal(out[i], 1000 + i / 32 * 32 + 31 - i % 32);
    args[1].size = 1 << 20;
    assert_int_equal(driver->launch(lane, kernel, &bound, &window, NULL, NULL), CL_OUT_OF_RESOURCES);
    driver->kernel_free(kernel);
    driver->program_free(program);
    driver->mem_free(mem);
}

static void kernels_are_listed_and_known(void **state)
{
    struct tsl_dprogram *program = build_kernels(member);
    struct tsl_kernel_facts facts;
    struct tsl_dkernel *kernel = NULL;
    char *names;

    (void)state;
    assert_int_equal(driver->program_kernels(program, &names), CL_SUCCESS);
    assert_string_equal(names, "vector_add;tell_ids;add_value;reverse;nothing;wild");
    free(names);
    assert_int_equal(driver->kernel_create(program, "none", &kernel, &facts), CL_INVALID_KERNEL_NAME);
    assert_null(kernel);
    assert_int_equal(driver->kernel_create(program, "vector_add", &kernel, &facts), CL_SUCCESS);
    assert_true(facts.n_args == 3 && facts.args[0].role == TSL_ROLE_READ && facts.args[2].role == TSL_ROLE_WRITE);
    assert_true(facts.work_group_size >= 32 && facts.preferred_multiple == 32);
    assert_true(driver->windows_ok(kernel, &facts));
    tsl_kernel_facts_finish(&facts);
    driver->kernel_free(kernel);
    driver->program_free(program);
}

static cl_int build_bytes(const void *data, size_t size, enum tsl_program_kind kind, struct tsl_dprogram **program,
                          char **log)
{
    struct tsl_program_input input = {.kind = kind, .data = data, .size = size, .options = ""};

    *program = NULL;
    return driver->build(member, &input, program, log);
}

static void binaries_come_back_and_damaged_ones_are_refused(void **state)
{
    struct tsl_dprogram *program = build_kernels(member), *again;
    void *data;
    size_t size;
    char *log;

    (void)state;
    assert_int_equal(driver->program_binary(program, &data, &size), CL_SUCCESS);
    assert_int_equal(build_bytes(data, size, TSL_PROGRAM_BINARY, &again, &log), CL_SUCCESS);
    free(log);
    driver->program_free(again);
    for (size_t cut = 0; cut < size; cut += cut < 1000 ? 1 : 997) {
        assert_int_equal(build_bytes(data, cut, TSL_PROGRAM_BINARY, &again, &log), CL_INVALID_BINARY);
        assert_non_null(log);
        free(log);
    }
    assert_int_equal(
        driver->build(member,
                      &(struct tsl_program_input){
                          .kind = TSL_PROGRAM_BINARY, .data = data, .size = size, .options = "", .foreign = true},
                      &again, &log),
        CL_INVALID_BINARY);
    free(log);
    free(data);
    driver->program_free(program);
}

static void ptx_that_is_none_is_told_of(void **state)
{
    struct tsl_dprogram *program;
    char *log;
    size_t size;
    void *image = tsl_cuda_image_encode(TSL_CUDA_IMAGE_PTX, 75, 0, NULL, "nonsense", 8, &size);

    (void)state;
    assert_int_equal(build_bytes(image, size, TSL_PROGRAM_BINARY, &program, &log), CL_BUILD_PROGRAM_FAILURE);
    assert_null(program);
    assert_true(strlen(log) > 20);
    free(log);
    free(image);
}

/* ---- The application's own CUDA -----------------------------------------------------------------------------------
 */

static void the_applications_context_stays_current(void **state)
{
    CUcontext mine, popped;
    struct tsl_mem *mem;

    (void)state;
    assert_int_equal(tsl_cu.cuDevicePrimaryCtxRetain(&mine, tsl_cuda_member(member)->gpu->device), CUDA_SUCCESS);
    assert_int_equal(tsl_cu.cuCtxPushCurrent_v2(mine), CUDA_SUCCESS);
    mem = new_mem(4096);
    assert_int_equal(fill_ints(lane, mem, 1, 1024, NULL, NULL), CL_SUCCESS);
    finish(lane);
    driver->mem_free(mem);
    assert_int_equal(tsl_cu.cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    assert_ptr_equal(popped, mine);
    tsl_cu.cuDevicePrimaryCtxRelease_v2(tsl_cuda_member(member)->gpu->device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_say_what_they_can),
        cmocka_unit_test(bytes_of_all_sizes_go_there_and_back),
        cmocka_unit_test(boxes_of_all_shapes_go_in_all_directions),
        cmocka_unit_test(what_cannot_be_reached_is_refused),
        cmocka_unit_test(members_copy_to_each_other),
        cmocka_unit_test(what_a_read_brings_a_write_takes_along),
        cmocka_unit_test(what_was_written_may_change_when_its_fence_is_complete),
        cmocka_unit_test(a_later_mark_stands_for_earlier_reads),
        cmocka_unit_test(patterns_of_all_sizes_are_filled),
        cmocka_unit_test(parts_of_memory_are_the_same_memory),
        cmocka_unit_test(memory_that_cannot_be_is_refused),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(only_fences_of_the_driver_can_be_waited_for),
        cmocka_unit_test(a_fence_outlives_its_lane),
        cmocka_unit_test(completion_is_told_once),
        cmocka_unit_test(nothing_is_told_before_it_is_there),
        cmocka_unit_test(a_fence_may_go_before_it_is_told),
        cmocka_unit_test(times_are_in_order_and_of_our_clock),
        cmocka_unit_test(lanes_without_profiling_have_no_times),
        cmocka_unit_test(work_behind_a_gate_waits_for_it),
        cmocka_unit_test(a_gate_that_fails_fails_what_waits),
        cmocka_unit_test(held_work_keeps_what_it_was_given),
        cmocka_unit_test(completion_opens_the_next_gate),
        cmocka_unit_test(gates_open_while_work_is_submitted),
        cmocka_unit_test(a_kernel_adds),
        cmocka_unit_test(ids_answer_as_for_the_whole_launch),
        cmocka_unit_test(local_arguments_lie_apart),
        cmocka_unit_test(kernels_are_listed_and_known),
        cmocka_unit_test(binaries_come_back_and_damaged_ones_are_refused),
        cmocka_unit_test(ptx_that_is_none_is_told_of),
        cmocka_unit_test(the_applications_context_stays_current),
    };

    return cmocka_run_group_tests_name("cuda", tests, open_member, close_member);
}
