/* The driver over real vendors: memory, copies, fills, order, times. */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl */
#include "vendor_env.h"

static unsigned char pattern_of(size_t i)
{
    return (unsigned char)(i * 7 + i / 256 + 1);
}

static void fill_pattern(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = pattern_of(i);
}

static void members_say_what_they_can(void **state)
{
    cl_ulong size;
    size_t got;

    (void)state;
    assert_true(member->caps.memory_size >= member->caps.max_alloc_size && member->caps.max_alloc_size > 0);
    assert_true(member->caps.base_align >= 1 && member->caps.base_align <= 4096);
    assert_true(member->caps.ordered_lanes && member->caps.speed > 0);
    assert_int_equal(member->caps.submits_block, is_platform("Oclgrind") || strstr(member->path->device_name, "basic"));
    assert_false(member->caps.submits_block && member->caps.gates);
    assert_int_equal(driver->info(member->path, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(size), &size, &got), CL_SUCCESS);
    assert_int_equal(size, member->caps.memory_size);
    assert_int_equal(got, sizeof(size));
    assert_int_equal(driver->info(member->path, 0x7777, sizeof(size), &size, &got), CL_INVALID_VALUE);
}

static void bytes_go_there_and_back(void **state)
{
    struct tsl_mem *a = new_mem(100000), *b = new_mem(100000);
    unsigned char *in = malloc(100000), *out = calloc(1, 100000);
    struct tsl_copy copy = linear(b, NULL, 77, a, NULL, 33, 50000);

    (void)state;
    fill_pattern(in, 100000);
    put(a, in, 100000);
    put(b, out, 100000);
    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    get(b, out, 100000);
    assert_int_equal(out[76], 0);
    assert_memory_equal(out + 77, in + 33, 50000);
    assert_int_equal(out[50077], 0);
    free(in);
    free(out);
    driver->mem_free(a);
    driver->mem_free(b);
}

/* ---- Boxes --------------------------------------------------------------------------------------------------------
 */

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

static void copy_one_box(const struct box *b, enum direction direction, bool to_other)
{
    unsigned char src[BOX_MEMORY], dst[BOX_MEMORY], expected[BOX_MEMORY];
    struct tsl_mem *from = new_mem(BOX_MEMORY), *to = new_mem(BOX_MEMORY);
    struct tsl_copy copy = {
        .dst = {.mem = direction == READ ? NULL : to, .host = dst},
        .src = {.mem = direction == WRITE ? NULL : from, .host = src},
        .region = {b->region[0], b->region[1], b->region[2]},
    };

    fill_pattern(src, sizeof(src));
    memset(dst, 0, sizeof(dst));
    memset(expected, 0, sizeof(expected));
    expect_box(b, expected, src, to_other);
    put(from, src, sizeof(src));
    put(to, dst, sizeof(dst));
    set_place(&copy.src, b, !to_other);
    set_place(&copy.dst, b, to_other);
    assert_int_equal(driver->copy(lane, &copy, NULL, NULL), CL_SUCCESS);
    if (direction == READ)
        finish(lane);
    else
        get(to, dst, sizeof(dst));
    assert_memory_equal(dst, expected, sizeof(dst));
    driver->mem_free(from);
    driver->mem_free(to);
}

static void boxes_of_all_shapes_go_in_all_directions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++)
        for (int direction = 0; direction < N_DIRECTIONS; direction++) {
            copy_one_box(&boxes[i], direction, true);
            copy_one_box(&boxes[i], direction, false);
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

static void what_is_not_this_members_is_refused(void **state)
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

/* ---- Fills --------------------------------------------------------------------------------------------------------
 */

static void fill_and_check(size_t pattern_size, size_t offset, size_t size, size_t mem_size)
{
    unsigned char pattern[128], *bytes = calloc(1, mem_size);
    struct tsl_mem *mem = new_mem(mem_size);
    struct tsl_place place = {.mem = mem, .offset = offset};
    struct tsl_fence *fence;

    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = (unsigned char)(i + 100);
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
        fill_and_check(size, 0, size, 1024);
        fill_and_check(size, 3 * size, 5 * size, 1024);
    }
}

static cl_api_clEnqueueMarkerWithWaitList real_marker;
static unsigned n_waits_enqueued;

/* PoCL's own stops the program, and rusticl has none. */
static cl_int CL_API_CALL wait_for_events(cl_command_queue queue, cl_uint n, const cl_event *events)
{
    n_waits_enqueued += n;
    return real_marker(queue, n, events, NULL);
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_event *event)
{
    return real_marker(queue, 0, NULL, event);
}

/* One by one: late callbacks use others of the table. */
static void restore_fill_and_marker(const struct tsl_vendor_cl *saved)
{
    table()->clEnqueueFillBuffer = saved->clEnqueueFillBuffer;
    table()->clEnqueueMarkerWithWaitList = saved->clEnqueueMarkerWithWaitList;
    table()->clEnqueueWaitForEvents = saved->clEnqueueWaitForEvents;
    table()->clEnqueueMarker = saved->clEnqueueMarker;
}

/* OpenCL 1.1 has neither fills nor markers with lists; no such vendor is at hand, so the functions are taken away. */
static void vendors_without_fill_and_marker_do_it_by_other_means(void **state)
{
    struct tsl_vendor_cl saved = *table();
    struct tsl_fence *first, *second;
    struct tsl_waits waits = {.n = 1, .fences = &first};

    (void)state;
    real_marker = saved.clEnqueueMarkerWithWaitList;
    n_waits_enqueued = 0;
    table()->clEnqueueWaitForEvents = wait_for_events;
    table()->clEnqueueMarker = marker;
    table()->clEnqueueFillBuffer = NULL;
    for (size_t size = 1; size <= 128; size *= 2)
        fill_and_check(size, 2 * size, 6 * size, 2048);
    fill_and_check(4, 64, 300000, 400000);
    table()->clEnqueueMarkerWithWaitList = NULL;
    assert_int_equal(driver->mark(lane, NULL, &first), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, &waits, &second), CL_SUCCESS);
    assert_int_equal(driver->mark(lane, &waits, NULL), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(second), CL_COMPLETE);
    assert_int_equal(n_waits_enqueued, member->caps.submits_block ? 0 : 2);
    tsl_fence_unref(first);
    tsl_fence_unref(second);
    restore_fill_and_marker(&saved);
    finish(lane);
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

/* ---- Order and times ----------------------------------------------------------------------------------------------
 */

static void lanes_wait_for_each_other(void **state)
{
    struct tsl_lane *lanes[2] = {new_lane(false), new_lane(false)};
    struct tsl_mem *a = new_mem(1 << 16), *b = new_mem(1 << 16);
    struct tsl_fence *fence = NULL;

    (void)state;
    /* Nobody flushes in between. */
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

static void only_fences_of_the_member_can_be_waited_for(void **state)
{
    struct tsl_driver other = {.name = "other"};
    struct tsl_fence foreign = {.driver = &other}, *list[] = {&foreign}, *fence = NULL;
    struct tsl_waits waits = {.n = 1, .fences = list};

    (void)state;
    assert_false(driver->can_wait(member, &foreign));
    assert_int_equal(driver->mark(lane, &waits, &fence), CL_INVALID_EVENT_WAIT_LIST);
    assert_null(fence);
    assert_int_equal(driver->mark(lane, NULL, NULL), CL_SUCCESS);
    finish(lane);
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

static cl_int CL_API_CALL refuse_callback(cl_event event, cl_int status,
                                          void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *arg)
{
    (void)event, (void)status, (void)fn, (void)arg;
    return CL_OUT_OF_HOST_MEMORY;
}

static void a_vendor_that_takes_no_callback_is_an_error(void **state)
{
    struct tsl_vendor_cl saved = *table();
    struct tsl_fence *fence;
    struct told told = {0};
    cl_int error;

    (void)state;
    table()->clSetEventCallback = refuse_callback;
    assert_int_equal(driver->mark(lane, NULL, &fence), CL_SUCCESS);
    error = driver->fence_notify(fence, tell_test, &told);
    assert_true(error == CL_OUT_OF_HOST_MEMORY ? told.n == 0 : told.n == 1);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    assert_true(told.n == (error ? 0 : 1));
    tsl_fence_unref(fence);
    table()->clSetEventCallback = saved.clSetEventCallback;
}

static void times_are_in_order_and_of_our_clock(void **state)
{
    struct tsl_mem *mem = new_mem(1 << 22);
    struct tsl_fence *fences[5];
    struct tsl_times times[5];
    const uint64_t slack = 2000000; /* A sighting is as wide as the enqueuing call was long. */
    uint64_t before = tsl_clock_ns(), after;

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(fill_ints(lane, mem, i, 1 << 20, NULL, &fences[i]), CL_SUCCESS);
    for (int i = 0; i < 5; i++)
        assert_int_equal(driver->fence_wait(fences[i]), CL_COMPLETE);
    after = tsl_clock_ns();
    for (int i = 0; i < 5; i++) {
        cl_int error = driver->fence_times(fences[i], &times[i]);

        assert_int_equal(error, member->caps.profiles ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE);
        tsl_fence_unref(fences[i]);
        if (error)
            continue;
        assert_true(times[i].start_ns <= times[i].end_ns);
        assert_true(times[i].start_ns + slack >= before && times[i].end_ns <= after + slack);
        if (i)
            assert_true(times[i].start_ns + slack >= times[i - 1].end_ns);
    }
    assert_int_equal(member->caps.profiles, !is_platform("rusticl"));
    driver->mem_free(mem);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_say_what_they_can),
        cmocka_unit_test(bytes_go_there_and_back),
        cmocka_unit_test(boxes_of_all_shapes_go_in_all_directions),
        cmocka_unit_test(boxes_within_one_buffer_may_have_any_pitches),
        cmocka_unit_test(a_copy_in_many_commands_has_one_fence),
        cmocka_unit_test(what_is_not_this_members_is_refused),
        cmocka_unit_test(patterns_of_all_sizes_are_filled),
        cmocka_unit_test(vendors_without_fill_and_marker_do_it_by_other_means),
        cmocka_unit_test(parts_of_memory_are_the_same_memory),
        cmocka_unit_test(memory_that_cannot_be_is_refused),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(more_waits_than_a_few),
        cmocka_unit_test(only_fences_of_the_member_can_be_waited_for),
        cmocka_unit_test(a_fence_outlives_its_lane),
        cmocka_unit_test(completion_is_told_once),
        cmocka_unit_test(a_fence_may_go_before_it_is_told),
        cmocka_unit_test(a_vendor_that_takes_no_callback_is_an_error),
        cmocka_unit_test(times_are_in_order_and_of_our_clock),
        cmocka_unit_test(lanes_without_profiling_have_no_times),
    };

    return cmocka_run_group_tests_name("vendor", tests, open_member, close_member);
}
