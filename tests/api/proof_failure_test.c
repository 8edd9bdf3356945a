/*
 * Failures don't spread: a user event set to an error fails the commands that depend on it, with the error that the
 * specification names, and no others. A forked child gets errors and doesn't hang, and its parent continues.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* any: */
#include "proof.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { n_ints = 256, size = n_ints * sizeof(cl_int), dependent = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST };

static const char *const source = "kernel void add(global int *x, uint value) { x[get_global_id(0)] += value; }\n";

static struct proof proof;
static cl_kernel add;

static cl_mem make_buffer(void)
{
    static const cl_int zeroes[n_ints];

    return proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)zeroes);
}

static cl_event launch(cl_command_queue queue, cl_mem x, cl_uint n_wait, const cl_event *wait)
{
    const size_t n = n_ints;
    const cl_uint one = 1;
    cl_event event;

    proof_set(add, 1, &x, 1, &one);
    proof_did(&proof, clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, NULL, n_wait, wait, &event));
    return event;
}

static cl_event user_event(void)
{
    cl_int error;
    cl_event event = clCreateUserEvent(proof.context, &error);

    proof_ok(error);
    return event;
}

static cl_int status_of(cl_event event)
{
    cl_int status;

    proof_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    return status;
}

static void check(cl_mem x, cl_int value)
{
    cl_int data[n_ints];

    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], value);
}

static void release_events(unsigned n, const cl_event *events)
{
    for (unsigned i = 0; i < n; i++)
        proof_ok(clReleaseEvent(events[i]));
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void CL_CALLBACK note_status(cl_event event, cl_int status, void *data)
{
    (void)event;
    atomic_store((atomic_int *)data, status);
}

/* The first waits for an event that fails, the second for the first; the third is in the same queue and waits for
 * nobody, the fourth is in another one. */
static void dependents_fail_and_others_go_on(void **state)
{
    cl_mem x = make_buffer(), y = make_buffer(), z = make_buffer();
    cl_command_queue other = proof_queue(&proof, 0);
    cl_event user = user_event(), events[5];
    atomic_int called = 1;

    (void)state;
    events[0] = launch(proof.queue, x, 1, &user);
    events[1] = launch(other, x, 1, &events[0]);
    events[2] = launch(proof.queue, y, 0, NULL);
    events[3] = launch(other, z, 0, NULL);
    proof_did(&proof, clEnqueueMarkerWithWaitList(proof.queue, 1, &events[1], &events[4]));
    proof_ok(clSetEventCallback(events[1], CL_COMPLETE, note_status, &called));
    proof_ok(clFlush(proof.queue));
    proof_ok(clSetUserEventStatus(user, -77));
    assert_int_equal(clWaitForEvents(1, &events[0]), dependent);
    assert_int_equal(clWaitForEvents(2, &events[1]), dependent);
    assert_int_equal(clWaitForEvents(1, &events[4]), dependent);
    proof_ok(clWaitForEvents(2, &events[2]));
    assert_int_equal(status_of(user), -77);
    assert_int_equal(status_of(events[0]), dependent);
    assert_int_equal(status_of(events[1]), dependent);
    assert_int_equal(status_of(events[2]), CL_COMPLETE);
    assert_int_equal(status_of(events[3]), CL_COMPLETE);
    assert_int_equal(status_of(events[4]), dependent);
    while (atomic_load(&called) == 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(atomic_load(&called), dependent);
    proof_ok(clFinish(proof.queue));
    proof_ok(clFinish(other));
    check(x, 0);
    check(y, 1);
    check(z, 1);
    release_events(5, events);
    release_events(1, &user);
    proof_ok(clReleaseCommandQueue(other));
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseMemObject(y));
    proof_ok(clReleaseMemObject(z));
}

/* A blocking call gives its command's error; a buffer that a failed command would have written is as before. */
static void blocking_calls_tell(void **state)
{
    cl_mem x = make_buffer();
    cl_event user = user_event();
    cl_int data[n_ints], error;

    (void)state;
    memset(data, 0x11, size);
    proof_ok(clSetUserEventStatus(user, -5));
    assert_int_equal(clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, data, 1, &user, NULL), dependent);
    proof.n_commands++;
    assert_int_equal(data[0], 0x11111111);
    assert_int_equal(clEnqueueWriteBuffer(proof.queue, x, CL_TRUE, 0, size, data, 1, &user, NULL), dependent);
    proof.n_commands++;
    assert_null(clEnqueueMapBuffer(proof.queue, x, CL_TRUE, CL_MAP_READ, 0, size, 1, &user, NULL, &error));
    proof.n_commands++;
    assert_int_equal(error, dependent);
    cl_uint n_maps;
    proof_ok(clGetMemObjectInfo(x, CL_MEM_MAP_COUNT, sizeof(n_maps), &n_maps, NULL));
    assert_int_equal(n_maps, 0);
    check(x, 0);
    release_events(1, &user);
    proof_ok(clReleaseMemObject(x));
}

/* What depends by data alone goes on: only wait lists carry errors from command to command. */
static void a_failed_command_leaves_the_data_as_they_were(void **state)
{
    cl_mem x = make_buffer();
    cl_event user = user_event(), first, second;

    (void)state;
    first = launch(proof.queue, x, 0, NULL);
    second = launch(proof.queue, x, 1, &user);
    proof_ok(clSetUserEventStatus(user, -1));
    cl_event third = launch(proof.queue, x, 0, NULL);
    assert_int_equal(clWaitForEvents(1, &second), dependent);
    proof_ok(clWaitForEvents(1, &third));
    check(x, 2);
    release_events(4, (cl_event[]){user, first, second, third});
    proof_ok(clReleaseMemObject(x));
}

static void user_events_are_set_once(void **state)
{
    cl_event user = user_event(), command;
    cl_mem x = make_buffer();

    (void)state;
    assert_int_equal(clSetUserEventStatus(user, CL_RUNNING), CL_INVALID_VALUE);
    proof_ok(clSetUserEventStatus(user, CL_COMPLETE));
    assert_int_equal(clSetUserEventStatus(user, CL_COMPLETE), CL_INVALID_OPERATION);
    assert_int_equal(clSetUserEventStatus(user, -1), CL_INVALID_OPERATION);
    command = launch(proof.queue, x, 1, &user);
    assert_int_equal(clSetUserEventStatus(command, CL_COMPLETE), CL_INVALID_EVENT);
    proof_ok(clWaitForEvents(1, &command));
    release_events(2, (cl_event[]){user, command});
    proof_ok(clReleaseMemObject(x));
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

/* In the child: whatever is called returns, and nothing that would need a device succeeds. 0: all is well. */
static int use_in_child(cl_mem x, cl_event event)
{
    const size_t n = n_ints;
    cl_int data[n_ints], status, error;

    alarm(20);
    if (clEnqueueNDRangeKernel(proof.queue, add, 1, NULL, &n, NULL, 0, NULL, NULL) == CL_SUCCESS)
        return 1;
    if (clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, data, 0, NULL, NULL) == CL_SUCCESS)
        return 2;
    if (clEnqueueMapBuffer(proof.queue, x, CL_TRUE, CL_MAP_READ, 0, size, 0, NULL, NULL, &error) || !error)
        return 3;
    if (clFinish(proof.queue) == CL_SUCCESS || clFlush(proof.queue) == CL_SUCCESS)
        return 4;
    if (clWaitForEvents(1, &event) == CL_SUCCESS)
        return 5;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
    if (clCreateContext(NULL, 1, &proof.device, NULL, NULL, &error) || !error)
        return 6;
    clReleaseEvent(event);
    clReleaseMemObject(x);
    clReleaseKernel(add);
    clReleaseCommandQueue(proof.queue);
    clReleaseContext(proof.context);
    return 0;
}

/* The child is born while commands are on their way, and another one by a child. */
static void a_forked_child_gets_errors_and_its_parent_goes_on(void **state)
{
    cl_mem x = make_buffer();

    (void)state;
    for (int round = 1; round <= 5; round++) {
        cl_event event = launch(proof.queue, x, 0, NULL);
        int status = -1;
        pid_t child = fork();

        if (child == 0)
            _exit(use_in_child(x, event));
        assert_true(child > 0);
        proof_ok(clWaitForEvents(1, &event));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        check(x, round);
        release_events(1, &event);
    }
    proof_ok(clReleaseMemObject(x));
}

/* ---- Set-up ------------------------------------------------------------------------------------------------------ */

static int open_proof(void **state)
{
    (void)state;
    proof_open(&proof, source);
    add = proof_kernel(&proof, "add");
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_ok(clReleaseKernel(add));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependents_fail_and_others_go_on),
        cmocka_unit_test(blocking_calls_tell),
        cmocka_unit_test(a_failed_command_leaves_the_data_as_they_were),
        cmocka_unit_test(user_events_are_set_once),
        cmocka_unit_test(a_forked_child_gets_errors_and_its_parent_goes_on),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
