/* The driver over real vendors, beyond what every driver promises (contract/): what vendors lack, and refuse. */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl */
#include "vendor_env.h"

static void vendors_are_known_for_what_they_do(void **state)
{
    bool blocks = is_platform("Oclgrind") || strstr(member->path->device_name, "basic");

    (void)state;
    assert_int_equal(member->caps.submits_block, blocks);
    assert_int_equal(member->caps.gates, !blocks && !is_platform("rusticl") &&
                                             !is_platform("Portable Computing Language") &&
                                             !is_platform("Intel(R) OpenCL"));
    assert_int_equal(member->caps.profiles, !is_platform("rusticl"));
}

static void fill_and_check(size_t pattern_size, size_t offset, size_t size, size_t mem_size)
{
    unsigned char pattern[128], *bytes = calloc(1, mem_size);
    struct tsl_mem *mem = new_mem(mem_size);
    struct tsl_place place = {.mem = mem, .offset = offset};
    struct tsl_fence *fence;

    for (size_t i = 0; i < sizeof(pattern); i++)
        pattern[i] = (unsigned char)(i + 100);
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
static void restore_fill_and_marker(const struct tsl_opencl_cl *saved)
{
    table()->clEnqueueFillBuffer = saved->clEnqueueFillBuffer;
    table()->clEnqueueMarkerWithWaitList = saved->clEnqueueMarkerWithWaitList;
    table()->clEnqueueWaitForEvents = saved->clEnqueueWaitForEvents;
    table()->clEnqueueMarker = saved->clEnqueueMarker;
}

/* OpenCL 1.1 has neither fills nor markers with lists; no such vendor is at hand, so the functions are taken away. */
static void vendors_without_fill_and_marker_do_it_by_other_means(void **state)
{
    struct tsl_opencl_cl saved = *table();
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
    fill_box_and_check(8, (const size_t[3]){32, 5, 3}, false);
    fill_box_and_check(4, (const size_t[3]){100000, 2, 2}, false);
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

static cl_int CL_API_CALL refuse_callback(cl_event event, cl_int status,
                                          void(CL_CALLBACK *fn)(cl_event, cl_int, void *), void *arg)
{
    (void)event, (void)status, (void)fn, (void)arg;
    return CL_OUT_OF_HOST_MEMORY;
}

static void a_vendor_that_takes_no_callback_is_an_error(void **state)
{
    struct tsl_opencl_cl saved = *table();
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

static cl_int CL_API_CALL refuse_with_a_number_of_its_own(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                                          size_t offset, size_t size, const void *from, cl_uint n,
                                                          const cl_event *waits, cl_event *event)
{
    (void)queue, (void)mem, (void)blocking, (void)offset, (void)size, (void)from, (void)n, (void)waits, (void)event;
    return -9999;
}

/* Programs have names for OpenCL's errors alone. */
static void an_error_that_opencl_does_not_know_gets_a_name(void **state)
{
    struct tsl_opencl_cl saved = *table();
    struct tsl_mem *mem = new_mem(64);
    char bytes[64] = {0};

    (void)state;
    table()->clEnqueueWriteBuffer = refuse_with_a_number_of_its_own;
    assert_int_equal(put_later(lane, mem, bytes, sizeof(bytes), NULL, NULL), CL_OUT_OF_RESOURCES);
    table()->clEnqueueWriteBuffer = saved.clEnqueueWriteBuffer;
    assert_false(tsl_member_is_lost(member));
    driver->mem_free(mem);
}

static cl_api_clFlush real_flush;
static unsigned n_flushes;

static cl_int CL_API_CALL refuse_first_flush(cl_command_queue queue)
{
    return n_flushes++ ? real_flush(queue) : CL_OUT_OF_RESOURCES;
}

/* A flush that is refused by `refuse`: the next one flushes once more. */
static void must_flush_twice(cl_int(CL_API_CALL *refuse)(cl_command_queue queue))
{
    bool blocks = member->caps.submits_block; /* There is nothing to flush. */
    struct tsl_fence *fence;

    finish(lane);
    real_flush = table()->clFlush;
    n_flushes = 0;
    table()->clFlush = refuse;
    assert_int_equal(driver->mark(lane, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->flush(lane), blocks ? CL_SUCCESS : CL_OUT_OF_RESOURCES);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(n_flushes, blocks ? 0 : 2);
    table()->clFlush = real_flush;
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
}

/* What was refused isn't sent: some vendors never begin it, and who waits for it would wait for ever. */
static void what_a_refused_flush_left_is_sent_by_the_next(void **state)
{
    (void)state;
    must_flush_twice(refuse_first_flush);
}

/* Stands for another thread that flushes meanwhile. */
static cl_int CL_API_CALL refuse_while_another_flushes(cl_command_queue queue)
{
    if (n_flushes++)
        return real_flush(queue);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(n_flushes, 2);
    return CL_OUT_OF_RESOURCES;
}

/* Nobody takes a lane for flushed because another thread is about to fail at it. */
static void a_flush_is_not_trusted_before_it_has_ended(void **state)
{
    (void)state;
    must_flush_twice(refuse_while_another_flushes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vendors_are_known_for_what_they_do),
        cmocka_unit_test(vendors_without_fill_and_marker_do_it_by_other_means),
        cmocka_unit_test(a_vendor_that_takes_no_callback_is_an_error),
        cmocka_unit_test(an_error_that_opencl_does_not_know_gets_a_name),
        cmocka_unit_test(what_a_refused_flush_left_is_sent_by_the_next),
        cmocka_unit_test(a_flush_is_not_trusted_before_it_has_ended),
    };

    return cmocka_run_group_tests_name("vendor", tests, open_member, close_members);
}
