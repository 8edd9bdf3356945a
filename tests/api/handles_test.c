/* Handles through the loader: every call recognises NULL, freed handles, and handles of another kind. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* any: */

#include "begin.h"

#include <pthread.h>

/* A program's usual objects, all of them freed, or alive. */
struct objects {
    cl_context context;
    cl_command_queue queue;
    cl_mem buffer, sub;
    cl_program program;
    cl_event event;
};

static void make_all(struct objects *o)
{
    const char *source = "__kernel void nothing(__global int *x) { x[0] = 1; }";
    const cl_buffer_region region = {0, 64};
    cl_int error;

    o->context = make_context();
    o->queue = make_queue(o->context, 0);
    o->buffer = make_buffer(o->context, CL_MEM_READ_WRITE, 256);
    o->sub = clCreateSubBuffer(o->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    o->program = clCreateProgramWithSource(o->context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    o->event = make_user_event(o->context);
}

static void free_all(const struct objects *o)
{
    assert_int_equal(clSetUserEventStatus(o->event, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(o->event), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(o->program), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(o->sub), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(o->buffer), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(o->queue), CL_SUCCESS);
    assert_int_equal(clReleaseContext(o->context), CL_SUCCESS);
}

/* None of them is valid; what else the calls are given is. */
static void refuse_all(const struct objects *o)
{
    const char *source = "";
    char bytes[64];

    assert_int_equal(clRetainContext(o->context), CL_INVALID_CONTEXT);
    assert_int_equal(clReleaseContext(o->context), CL_INVALID_CONTEXT);
    assert_int_equal(clGetContextInfo(o->context, CL_CONTEXT_NUM_DEVICES, 64, bytes, NULL), CL_INVALID_CONTEXT);
    assert_refused(CL_INVALID_CONTEXT, clCreateCommandQueue(o->context, our_device(), 0, err));
    assert_refused(CL_INVALID_CONTEXT, clCreateBuffer(o->context, CL_MEM_READ_WRITE, 64, NULL, err));
    assert_refused(CL_INVALID_CONTEXT, clCreateProgramWithSource(o->context, 1, &source, NULL, err));
    assert_refused(CL_INVALID_CONTEXT, clCreateUserEvent(o->context, err));

    assert_int_equal(clRetainCommandQueue(o->queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clReleaseCommandQueue(o->queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFlush(o->queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFinish(o->queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueReadBuffer(o->queue, o->buffer, CL_TRUE, 0, 1, bytes, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);

    assert_int_equal(clRetainMemObject(o->buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clReleaseMemObject(o->buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clReleaseMemObject(o->sub), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clGetMemObjectInfo(o->buffer, CL_MEM_SIZE, 64, bytes, NULL), CL_INVALID_MEM_OBJECT);

    assert_int_equal(clRetainProgram(o->program), CL_INVALID_PROGRAM);
    assert_int_equal(clReleaseProgram(o->program), CL_INVALID_PROGRAM);
    assert_refused(CL_INVALID_PROGRAM, clCreateKernel(o->program, "nothing", err));

    assert_int_equal(clRetainEvent(o->event), CL_INVALID_EVENT);
    assert_int_equal(clReleaseEvent(o->event), CL_INVALID_EVENT);
    assert_int_equal(clWaitForEvents(1, &o->event), CL_INVALID_EVENT);
    assert_int_equal(clSetUserEventStatus(o->event, CL_COMPLETE), CL_INVALID_EVENT);
}

static void null_is_refused(void **state)
{
    const struct objects none = {0};
    (void)state;

    refuse_all(&none);
}

static void freed_ones_are_refused(void **state)
{
    struct objects o;
    (void)state;

    make_all(&o);
    free_all(&o);
    refuse_all(&o);
}

static void other_kinds_are_refused(void **state)
{
    struct objects o, mixed;
    (void)state;

    make_all(&o);
    mixed = (struct objects){
        .context = (cl_context)o.queue,
        .queue = (cl_command_queue)o.buffer,
        .buffer = (cl_mem)o.program,
        .sub = (cl_mem)o.event,
        .program = (cl_program)o.context,
        .event = (cl_event)o.sub,
    };
    refuse_all(&mixed);
    free_all(&o);
}

/* A child leads to its parents as long as it lives, whoever released them. */
static void parents_outlive_their_release(void **state)
{
    struct objects o;
    cl_mem parent;
    cl_context context;
    cl_command_queue queue;
    cl_event event;
    (void)state;

    make_all(&o);
    assert_int_equal(clEnqueueMarkerWithWaitList(o.queue, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    clSetUserEventStatus(o.event, CL_COMPLETE);
    clReleaseEvent(o.event);
    clReleaseProgram(o.program);
    clReleaseMemObject(o.buffer);
    clReleaseCommandQueue(o.queue);
    clReleaseContext(o.context);
    assert_int_equal(clGetMemObjectInfo(o.sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL), CL_SUCCESS);
    assert_ptr_equal(parent, o.buffer);
    assert_int_equal(clGetMemObjectInfo(parent, CL_MEM_CONTEXT, sizeof context, &context, NULL), CL_SUCCESS);
    assert_ptr_equal(context, o.context);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL), CL_SUCCESS);
    assert_ptr_equal(queue, o.queue);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(clFlush(o.queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clReleaseMemObject(o.sub), CL_SUCCESS);
    assert_int_equal(clRetainMemObject(o.buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clRetainContext(o.context), CL_INVALID_CONTEXT);
}

/* ---- Threads ---- */

static cl_event _Atomic shared;

/* One thread makes and frees events while others ask about whatever handle they saw last. */
static void *ask(void *arg)
{
    cl_event event;

    (void)arg;
    while ((event = shared)) {
        cl_uint n;
        cl_int error = clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL);

        if (error != CL_SUCCESS && error != CL_INVALID_EVENT)
            return "an unexpected error";
    }
    return NULL;
}

static void asking_races_with_freeing(void **state)
{
    cl_context context = make_context();
    pthread_t threads[2];
    (void)state;

    shared = make_user_event(context);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, NULL), 0);
    for (int i = 0; i < 2000; i++) {
        cl_event event = shared;

        clSetUserEventStatus(event, CL_COMPLETE);
        shared = make_user_event(context);
        clReleaseEvent(event);
    }
    clSetUserEventStatus(shared, CL_COMPLETE);
    clReleaseEvent(shared);
    shared = NULL;
    for (int i = 0; i < 2; i++) {
        void *complaint;

        pthread_join(threads[i], &complaint);
        assert_null(complaint);
    }
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_refused),           cmocka_unit_test(freed_ones_are_refused),
        cmocka_unit_test(other_kinds_are_refused),   cmocka_unit_test(parents_outlive_their_release),
        cmocka_unit_test(asking_races_with_freeing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
