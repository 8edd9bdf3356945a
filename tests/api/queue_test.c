/* Command queues: properties, queries, counts, and the commands that only order others. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* any: */

#include "begin.h"

#include <pthread.h>
#include <unistd.h>

static cl_context context;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseContext(context);
}

static cl_command_queue_properties flags_of(cl_command_queue queue)
{
    cl_command_queue_properties flags;

    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL), CL_SUCCESS);
    return flags;
}

static void says_what_it_was_made_with(void **state)
{
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue queue, default_queue = (cl_command_queue)1;
    cl_queue_properties kept[8];
    cl_context in;
    cl_device_id on;
    cl_uint n;
    size_t size;
    cl_int error;
    (void)state;

    queue = clCreateCommandQueueWithProperties(context, our_device(), properties, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof in, &in, NULL), CL_SUCCESS);
    assert_ptr_equal(in, context);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof on, &on, NULL), CL_SUCCESS);
    assert_ptr_equal(on, our_device());
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(flags_of(queue), properties[1]);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof kept, kept, &size), CL_SUCCESS);
    assert_int_equal(size, sizeof properties);
    assert_memory_equal(kept, properties, size);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof n, &n, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE_DEFAULT, sizeof default_queue, &default_queue, NULL),
                     CL_SUCCESS);
    assert_null(default_queue);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof in - 1, &in, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetCommandQueueInfo(queue, 0x7777, sizeof kept, kept, NULL), CL_INVALID_VALUE);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void defaults_are_in_order_without_profiling(void **state)
{
    const cl_queue_properties empty[] = {0};
    cl_command_queue queues[3];
    size_t size;
    cl_int error;
    (void)state;

    queues[0] = clCreateCommandQueueWithProperties(context, our_device(), NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    queues[1] = clCreateCommandQueueWithProperties(context, our_device(), empty, &error);
    assert_int_equal(error, CL_SUCCESS);
    queues[2] = clCreateCommandQueue(context, our_device(), 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(flags_of(queues[i]), 0);
        assert_int_equal(clGetCommandQueueInfo(queues[i], CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &size), CL_SUCCESS);
        assert_int_equal(size, i == 1 ? sizeof empty : 0);
        assert_int_equal(clReleaseCommandQueue(queues[i]), CL_SUCCESS);
    }
}

static void wrong_properties_are_refused(void **state)
{
    static const struct {
        cl_queue_properties list[5];
        cl_int error;
    } wrong[] = {
        {{CL_QUEUE_PROPERTIES, 1 << 10, 0}, CL_INVALID_VALUE},
        {{0x7777, 1, 0}, CL_INVALID_VALUE},
        {{CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 0, 0}, CL_INVALID_VALUE},
        {{CL_QUEUE_SIZE, 1024, 0}, CL_INVALID_VALUE},
        {{CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0}, CL_INVALID_VALUE},
        {{CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
         CL_INVALID_VALUE},
        {{CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
         CL_INVALID_QUEUE_PROPERTIES},
        {{CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_SIZE, 1024, 0},
         CL_INVALID_QUEUE_PROPERTIES},
    };
    (void)state;

    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_refused(wrong[i].error, clCreateCommandQueueWithProperties(context, our_device(), wrong[i].list, err));
    assert_refused(CL_INVALID_VALUE, clCreateCommandQueue(context, our_device(), CL_QUEUE_ON_DEVICE, err));
    assert_refused(CL_INVALID_VALUE, clCreateCommandQueue(context, our_device(), 1 << 10, err));
}

static void wrong_places_are_refused(void **state)
{
    cl_device_id no_device = (cl_device_id)our_platform();
    cl_context no_context = (cl_context)our_platform();
    (void)state;

    assert_refused(CL_INVALID_DEVICE, clCreateCommandQueue(context, no_device, 0, err));
    assert_refused(CL_INVALID_DEVICE, clCreateCommandQueueWithProperties(context, no_device, NULL, err));
    assert_refused(CL_INVALID_CONTEXT, clCreateCommandQueue(no_context, our_device(), 0, err));
    assert_int_equal(clSetDefaultDeviceCommandQueue(context, our_device(), NULL), CL_INVALID_OPERATION);
    assert_int_equal(clSetDefaultDeviceCommandQueue(context, no_device, NULL), CL_INVALID_DEVICE);
}

static void set_property(cl_command_queue queue, cl_command_queue_properties flags, cl_bool on,
                         cl_command_queue_properties before)
{
    cl_command_queue_properties old = 99;

    assert_int_equal(clSetCommandQueueProperty(queue, flags, on, &old), CL_SUCCESS);
    assert_int_equal(old, before);
    assert_int_equal(flags_of(queue), on ? before | flags : before & ~flags);
}

static void properties_change(void **state)
{
    const cl_command_queue_properties both = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    cl_command_queue queue = make_queue(context, 0);
    (void)state;

    set_property(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, 0);
    set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_TRUE, CL_QUEUE_PROFILING_ENABLE);
    set_property(queue, both, CL_TRUE, both);
    set_property(queue, 0, CL_FALSE, both);
    set_property(queue, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, both);
    set_property(queue, both, CL_FALSE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    assert_int_equal(clSetCommandQueueProperty(queue, both, CL_TRUE, NULL), CL_SUCCESS);
    assert_int_equal(clSetCommandQueueProperty(queue, 1 << 10, CL_TRUE, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetCommandQueueProperty(queue, CL_QUEUE_ON_DEVICE, CL_FALSE, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetCommandQueueProperty((cl_command_queue)context, both, CL_TRUE, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(flags_of(queue), both);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static cl_int status_of(cl_event event)
{
    cl_int status;

    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
                     CL_SUCCESS);
    return status;
}

static void write_byte(cl_command_queue queue, cl_mem mem, cl_uint n, const cl_event *after, cl_event *event)
{
    static const char byte = 7;

    assert_int_equal(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, 1, &byte, n, after, event), CL_SUCCESS);
}

/* A write behind one that waits for the gate: is it held back? Both are complete at the end. */
static bool is_held_back(cl_command_queue queue, cl_mem first, cl_mem second)
{
    cl_event gate = make_user_event(context), events[2];
    bool held = false;

    write_byte(queue, first, 1, &gate, &events[0]);
    write_byte(queue, second, 0, NULL, &events[1]);
    if (flags_of(queue) & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        assert_int_equal(clWaitForEvents(1, &events[1]), CL_SUCCESS);
    else {
        assert_int_equal(clFlush(queue), CL_SUCCESS);
        usleep(20000);
        held = status_of(events[1]) != CL_COMPLETE;
    }
    assert_int_not_equal(status_of(events[0]), CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(2, events), CL_SUCCESS);
    for (int i = 0; i < 2; i++)
        clReleaseEvent(events[i]);
    clReleaseEvent(gate);
    return held;
}

static void order_changes(void **state)
{
    cl_command_queue queue = make_queue(context, 0);
    cl_mem mems[2] = {clCreateBuffer(context, 0, 64, NULL, NULL), clCreateBuffer(context, 0, 64, NULL, NULL)};
    (void)state;

    for (int i = 0; i < 3; i++) {
        assert_true(is_held_back(queue, mems[0], mems[1]));
        set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_TRUE, 0);
        assert_false(is_held_back(queue, mems[0], mems[1]));
        set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_FALSE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    }
    clReleaseMemObject(mems[0]);
    clReleaseMemObject(mems[1]);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void *open_later(void *gate)
{
    usleep(30000);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    return NULL;
}

/* What was enqueued by the old order ends first, so that nothing runs by two. */
static void order_changes_when_all_is_complete(void **state)
{
    cl_command_queue queue = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem mem = clCreateBuffer(context, 0, 64, NULL, NULL);
    cl_event gate = make_user_event(context), event;
    pthread_t thread;
    (void)state;

    write_byte(queue, mem, 1, &gate, &event);
    assert_int_equal(pthread_create(&thread, NULL, open_later, gate), 0);
    set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_FALSE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    assert_int_equal(status_of(event), CL_COMPLETE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    clReleaseEvent(event);
    clReleaseEvent(gate);
    clReleaseMemObject(mem);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

/* Only who changes the order has to wait. */
static void profiling_changes_at_once(void **state)
{
    cl_command_queue queue = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem mem = clCreateBuffer(context, 0, 64, NULL, NULL);
    cl_event gate = make_user_event(context), event;
    cl_ulong end;
    (void)state;

    write_byte(queue, mem, 1, &gate, &event);
    set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_TRUE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    set_property(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    assert_int_not_equal(status_of(event), CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    clReleaseEvent(event);
    clReleaseEvent(gate);
    clReleaseMemObject(mem);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void *write_often(void *queue)
{
    cl_mem mem = clCreateBuffer(context, 0, 64, NULL, NULL);

    for (int i = 0; i < 3000; i++)
        write_byte(queue, mem, 0, NULL, NULL);
    clReleaseMemObject(mem);
    return NULL;
}

/* Another thread's commands have one rule each, the one before or the one after. */
static void changes_beside_commands(void **state)
{
    cl_command_queue queue = make_queue(context, 0);
    pthread_t thread;
    (void)state;

    assert_int_equal(pthread_create(&thread, NULL, write_often, queue), 0);
    for (int i = 0; i < 300; i++) {
        set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, CL_TRUE, 0);
        set_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_FALSE,
                     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE);
        set_property(queue, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, CL_QUEUE_PROFILING_ENABLE);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

/* Each event has times if its queue profiled when it was enqueued, whatever came later. */
static void profiling_changes(void **state)
{
    cl_command_queue queue = make_queue(context, 0);
    cl_mem mem = clCreateBuffer(context, 0, 64, NULL, NULL);
    cl_event events[4];
    (void)state;

    for (int i = 0; i < 4; i++) {
        write_byte(queue, mem, 0, NULL, &events[i]);
        set_property(queue, CL_QUEUE_PROFILING_ENABLE, i % 2 == 0, i % 2 ? CL_QUEUE_PROFILING_ENABLE : 0);
    }
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    for (int i = 0; i < 4; i++) {
        cl_ulong times[2];

        for (int j = 0; j < 2; j++)
            assert_int_equal(clGetEventProfilingInfo(events[i],
                                                     j ? CL_PROFILING_COMMAND_END : CL_PROFILING_COMMAND_START,
                                                     sizeof times[j], &times[j], NULL),
                             i % 2 ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE);
        assert_true(i % 2 == 0 || (times[0] > 0 && times[0] <= times[1]));
        clReleaseEvent(events[i]);
    }
    clReleaseMemObject(mem);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void is_counted(void **state)
{
    cl_command_queue queue = make_queue(context, 0);
    cl_uint n;
    (void)state;

    assert_int_equal(clRetainCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 2);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFinish(queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFlush(queue), CL_INVALID_COMMAND_QUEUE);
}

/* A command under way lets its queue be asked for, and taken again, but nobody would flush what came to it meanwhile.
 */
static void released_takes_no_commands(void **state)
{
    cl_command_queue queue = make_queue(context, 0), seen = NULL;
    cl_event gate = make_user_event(context), event, other;
    (void)state;

    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &gate, &event), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof seen, &seen, NULL), CL_SUCCESS);
    assert_ptr_equal(seen, queue);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clRetainCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, &other), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &other), CL_SUCCESS);
    clReleaseEvent(gate);
    clReleaseEvent(event);
    clReleaseEvent(other);
    assert_int_equal(clFlush(queue), CL_INVALID_COMMAND_QUEUE);
}

/* ---- Markers and barriers ---- */

static cl_command_type type_of(cl_event event)
{
    cl_command_type type;

    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    return type;
}

static void order_commands_complete(void **state)
{
    cl_command_queue queue = make_queue(context, 0);
    cl_event events[3];
    (void)state;

    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, &events[0]), CL_SUCCESS);
    assert_int_equal(clEnqueueBarrierWithWaitList(queue, 1, &events[0], &events[1]), CL_SUCCESS);
    assert_int_equal(clEnqueueMarker(queue, &events[2]), CL_SUCCESS);
    assert_int_equal(clEnqueueBarrier(queue), CL_SUCCESS);
    assert_int_equal(clEnqueueWaitForEvents(queue, 3, events), CL_SUCCESS);
    assert_int_equal(type_of(events[0]), CL_COMMAND_MARKER);
    assert_int_equal(type_of(events[1]), CL_COMMAND_BARRIER);
    assert_int_equal(type_of(events[2]), CL_COMMAND_MARKER);
    assert_int_equal(clFlush(queue), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    for (int i = 0; i < 3; i++) {
        cl_int status;

        assert_int_equal(clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
                         CL_SUCCESS);
        assert_int_equal(status, CL_COMPLETE);
        assert_int_equal(clReleaseEvent(events[i]), CL_SUCCESS);
    }
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void wrong_order_commands_are_refused(void **state)
{
    cl_command_queue queue = make_queue(context, 0), no_queue = (cl_command_queue)context;
    cl_context other_context = make_context();
    cl_event here = make_user_event(context), there = make_user_event(other_context);
    cl_event mixed[2] = {here, there}, wrong = (cl_event)context;
    (void)state;

    assert_int_equal(clEnqueueMarkerWithWaitList(no_queue, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, &here, NULL), CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueBarrierWithWaitList(queue, 1, &wrong, NULL), CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueBarrierWithWaitList(queue, 2, mixed, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueMarker(queue, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMarker(no_queue, &wrong), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueBarrier(no_queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueWaitForEvents(queue, 0, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWaitForEvents(queue, 1, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWaitForEvents(queue, 1, &wrong), CL_INVALID_EVENT);
    assert_int_equal(clEnqueueWaitForEvents(queue, 2, mixed), CL_INVALID_CONTEXT);
    /* Nothing of that is left in the queue, or this would wait for ever. */
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clSetUserEventStatus(here, CL_COMPLETE);
    clSetUserEventStatus(there, CL_COMPLETE);
    clReleaseEvent(here);
    clReleaseEvent(there);
    clReleaseContext(other_context);
    clReleaseCommandQueue(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(says_what_it_was_made_with, setup, teardown),
        cmocka_unit_test_setup_teardown(defaults_are_in_order_without_profiling, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_properties_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_places_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(properties_change, setup, teardown),
        cmocka_unit_test_setup_teardown(order_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(order_changes_when_all_is_complete, setup, teardown),
        cmocka_unit_test_setup_teardown(profiling_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(profiling_changes_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(changes_beside_commands, setup, teardown),
        cmocka_unit_test_setup_teardown(is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(released_takes_no_commands, setup, teardown),
        cmocka_unit_test_setup_teardown(order_commands_complete, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_order_commands_are_refused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
