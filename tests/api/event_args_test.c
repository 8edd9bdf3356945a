/* Events: queries, refused arguments, user events, callbacks, and which events have times. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: cuda_standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* any: */

#include "begin.h"

#include <pthread.h>

static cl_context context;
static cl_command_queue queue;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, CL_QUEUE_PROFILING_ENABLE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static cl_int status_of(cl_event event)
{
    cl_int status;

    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
                     CL_SUCCESS);
    return status;
}

static void says_what_it_is_of(void **state)
{
    cl_command_queue of;
    cl_command_type type;
    cl_context in;
    cl_event event;
    cl_uint n;
    char byte = 7;
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 16);
    (void)state;

    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL), CL_SUCCESS);
    assert_ptr_equal(of, queue);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof in, &in, NULL), CL_SUCCESS);
    assert_ptr_equal(in, context);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    assert_int_equal(type, CL_COMMAND_WRITE_BUFFER);
    assert_int_equal(status_of(event), CL_COMPLETE);
    assert_int_equal(clRetainEvent(event), CL_SUCCESS);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 2);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof in - 1, &in, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetEventInfo(event, 0x7777, sizeof in, &in, NULL), CL_INVALID_VALUE);
    clReleaseEvent(event);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_INVALID_EVENT);
    clReleaseMemObject(buffer);
}

/* ---- User events ---- */

static void user_events_are_set_once(void **state)
{
    cl_event event = make_user_event(context);
    cl_command_queue of = queue;
    cl_command_type type;
    (void)state;

    assert_int_equal(status_of(event), CL_SUBMITTED);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL), CL_SUCCESS);
    assert_null(of);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    assert_int_equal(type, CL_COMMAND_USER);
    assert_int_equal(clSetUserEventStatus(event, CL_RUNNING), CL_INVALID_VALUE);
    assert_int_equal(clSetUserEventStatus(event, CL_SUBMITTED), CL_INVALID_VALUE);
    assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(status_of(event), CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_OPERATION);
    assert_int_equal(clSetUserEventStatus(event, -5), CL_INVALID_OPERATION);
    clReleaseEvent(event);
    assert_refused(CL_INVALID_CONTEXT, clCreateUserEvent((cl_context)queue, err));
}

static void only_user_events_can_be_set(void **state)
{
    cl_event event;
    (void)state;

    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_EVENT);
    assert_int_equal(clSetUserEventStatus((cl_event)queue, CL_COMPLETE), CL_INVALID_EVENT);
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
}

/* An error that the application sets reaches all that waits for it (OpenCL 3.0, 5.11). */
static void errors_spread(void **state)
{
    cl_event event = make_user_event(context), after;
    (void)state;

    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &event, &after), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(event, -77), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &after), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(status_of(event), -77);
    assert_true(status_of(after) < 0);
    clReleaseEvent(event);
    clReleaseEvent(after);
}

static void failed_events_fail_blocking_calls(void **state)
{
    cl_event event = make_user_event(context);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 16);
    char byte = 7;
    (void)state;

    assert_int_equal(clSetUserEventStatus(event, -77), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 1, &event, NULL),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(byte, 7);
    assert_refused(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                   clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 16, 1, &event, NULL, err));
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    /* What does not wait for it goes on. */
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, &byte, 0, NULL, NULL), CL_SUCCESS);
    clReleaseEvent(event);
    clReleaseMemObject(buffer);
}

/* ---- Waiting ---- */

static void wrong_lists_are_refused(void **state)
{
    cl_context other_context = make_context();
    cl_event here = make_user_event(context), there = make_user_event(other_context);
    cl_event mixed[2] = {here, there}, wrong[2] = {here, (cl_event)queue};
    (void)state;

    assert_int_equal(clWaitForEvents(0, &here), CL_INVALID_VALUE);
    assert_int_equal(clWaitForEvents(2, wrong), CL_INVALID_EVENT);
    assert_int_equal(clWaitForEvents(2, mixed), CL_INVALID_CONTEXT);
    clSetUserEventStatus(here, CL_COMPLETE);
    clSetUserEventStatus(there, CL_COMPLETE);
    assert_int_equal(clWaitForEvents(1, &here), CL_SUCCESS);
    clReleaseEvent(here);
    clReleaseEvent(there);
    clReleaseContext(other_context);
}

/* ---- Callbacks ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int n;
    cl_int status;
    cl_event event;
} heard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void CL_CALLBACK hear(cl_event event, cl_int status, void *arg)
{
    (void)arg;
    pthread_mutex_lock(&heard.lock);
    heard.n++;
    heard.status = status;
    heard.event = event;
    pthread_cond_signal(&heard.changed);
    pthread_mutex_unlock(&heard.lock);
}

static void wait_until_heard(int n)
{
    pthread_mutex_lock(&heard.lock);
    while (heard.n < n)
        pthread_cond_wait(&heard.changed, &heard.lock);
    pthread_mutex_unlock(&heard.lock);
}

static void callbacks_tell_the_end(void **state)
{
    cl_event event = make_user_event(context);
    (void)state;

    heard.n = 0;
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, hear, NULL), CL_SUCCESS);
    assert_int_equal(clSetEventCallback(event, CL_QUEUED, hear, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, -1, hear, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, 77, hear, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback((cl_event)queue, CL_COMPLETE, hear, NULL), CL_INVALID_EVENT);
    assert_int_equal(clSetUserEventStatus(event, CL_COMPLETE), CL_SUCCESS);
    wait_until_heard(1);
    assert_int_equal(heard.status, CL_COMPLETE);
    assert_ptr_equal(heard.event, event);
    /* Too late is not never. */
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, hear, NULL), CL_SUCCESS);
    wait_until_heard(2);
    clReleaseEvent(event);
}

/* ---- Times ---- */

static void times_are_in_order(void **state)
{
    static const cl_profiling_info params[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                               CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END,
                                               CL_PROFILING_COMMAND_COMPLETE};
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 1 << 20);
    static char bytes[1 << 20];
    cl_ulong times[5], before, after;
    cl_event event;
    (void)state;

    assert_int_equal(clGetHostTimer(our_device(), &before), CL_SUCCESS);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof bytes, bytes, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clGetHostTimer(our_device(), &after), CL_SUCCESS);
    for (size_t i = 0; i < LENGTH(params); i++) {
        size_t size;

        assert_int_equal(clGetEventProfilingInfo(event, params[i], sizeof times[i], &times[i], &size), CL_SUCCESS);
        assert_int_equal(size, sizeof times[i]);
        assert_true(times[i] >= (i ? times[i - 1] : before));
    }
    assert_true(times[3] <= after);
    assert_int_equal(clGetEventProfilingInfo(event, 0x7777, sizeof times[0], times, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetEventProfilingInfo(event, params[0], 4, times, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetEventProfilingInfo((cl_event)queue, params[0], sizeof times[0], times, NULL),
                     CL_INVALID_EVENT);
    clReleaseEvent(event);
    clReleaseMemObject(buffer);
}

static void some_events_have_no_times(void **state)
{
    cl_command_queue plain = make_queue(context, 0);
    cl_event user = make_user_event(context), marker, unfinished;
    cl_ulong time;
    (void)state;

    assert_int_equal(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    assert_int_equal(clEnqueueMarkerWithWaitList(plain, 0, NULL, &marker), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &marker), CL_SUCCESS);
    assert_int_equal(clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &user, &unfinished), CL_SUCCESS);
    assert_int_equal(clGetEventProfilingInfo(unfinished, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    clSetUserEventStatus(user, CL_COMPLETE);
    assert_int_equal(clWaitForEvents(1, &unfinished), CL_SUCCESS);
    clReleaseEvent(user);
    clReleaseEvent(marker);
    clReleaseEvent(unfinished);
    clReleaseCommandQueue(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(says_what_it_is_of, setup, teardown),
        cmocka_unit_test_setup_teardown(user_events_are_set_once, setup, teardown),
        cmocka_unit_test_setup_teardown(only_user_events_can_be_set, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_spread, setup, teardown),
        cmocka_unit_test_setup_teardown(failed_events_fail_blocking_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_lists_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(callbacks_tell_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(times_are_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(some_events_have_no_times, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
