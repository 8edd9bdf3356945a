/*
 * Host tasks that follow each other closely, each with a kernel behind it: while one runs, what the one before made
 * ready is submitted by another thread, a sender. What they compute is right, and no event is forgotten.
 */
/* variant: senders TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_SENDERS=always */
/* variant: apart TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_SENDERS=always TESELA_ZERO_COPY=off */
/* variant: off TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_SENDERS=off */
/* any: */
#include "begin.h"
#include "thread_names.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n_ints = 512, size = n_ints * sizeof(cl_int), n_sets = 2, n_planes = 3, n_frames = 60 };

struct plane {
    cl_int *buffer; /* put there by Tesela */
    cl_int value;
    atomic_int *n_wrong, *n_stored;
};

static void CL_CALLBACK load(void *args)
{
    const struct plane *plane = args;
    for (int i = 0; i < n_ints; i++)
        plane->buffer[i] = plane->value + i;
}

static void CL_CALLBACK store(void *args)
{
    const struct plane *plane = args;
    for (int i = 0; i < n_ints; i++)
        atomic_fetch_add(plane->n_wrong, plane->buffer[i] != 3 * (plane->value + i));
    atomic_fetch_add(plane->n_stored, 1);
}

static atomic_int n_wrong, n_stored, n_told;

static void CL_CALLBACK tell(cl_event event, cl_int status, void *arg)
{
    (void)event, (void)arg;
    atomic_fetch_add(&n_told, status == CL_COMPLETE);
}

static void enqueue(cl_command_queue queue, void(CL_CALLBACK *task)(void *), cl_mem buffer, cl_int value)
{
    struct plane plane = {NULL, value, &n_wrong, &n_stored};
    const void *location = &plane.buffer;
    cl_event event;
    assert_int_equal(clEnqueueNativeKernel(queue, task, &plane, sizeof plane, 1, &buffer, &location, 0, NULL, &event),
                     CL_SUCCESS);
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, tell, NULL), CL_SUCCESS);
    clReleaseEvent(event);
}

static cl_kernel make_kernel(cl_context context, cl_program *program)
{
    const char *source = "kernel void thrice(global const int *x, global int *y) {"
                         "    y[get_global_id(0)] = 3 * x[get_global_id(0)];"
                         "}";
    cl_int error;
    *program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(*program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    cl_kernel kernel = clCreateKernel(*program, "thrice", &error);
    assert_int_equal(error, CL_SUCCESS);
    return kernel;
}

struct set {
    cl_mem from[n_planes], to[n_planes];
};

static void compute(cl_command_queue queue, cl_kernel kernel, const struct set *set)
{
    const size_t n = n_ints;
    for (int p = 0; p < n_planes; p++) {
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof(cl_mem), &set->from[p]), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 1, sizeof(cl_mem), &set->to[p]), CL_SUCCESS);
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    }
}

static cl_int value_of(int frame, int plane)
{
    return 1000 * frame + 100000 * plane;
}

static void each(cl_command_queue queue, void(CL_CALLBACK *task)(void *), const cl_mem *buffers, int frame)
{
    for (int p = 0; p < n_planes; p++)
        enqueue(queue, task, buffers[p], value_of(frame, p));
}

/* The frames go by two sets of buffers: one is loaded while the other is computed and stored. */
static void run(cl_command_queue queue, cl_kernel kernel, const struct set *sets)
{
    each(queue, load, sets[0].from, 0);
    for (int f = 0; f < n_frames; f++) {
        compute(queue, kernel, &sets[f % n_sets]);
        if (f + 1 < n_frames)
            each(queue, load, sets[(f + 1) % n_sets].from, f + 1);
        each(queue, store, sets[f % n_sets].to, f);
    }
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void frames_are_right(void **state)
{
    const char *senders = getenv("TESELA_SENDERS"), *members = getenv("TESELA_MEMBERS");
    cl_context context = make_context();
    cl_command_queue queue = make_queue(context, 0);
    cl_program program;
    cl_kernel kernel = make_kernel(context, &program);
    struct set sets[n_sets];
    (void)state;
    for (int i = 0; i < n_sets * n_planes; i++) {
        sets[i / n_planes].from[i % n_planes] = make_buffer(context, CL_MEM_READ_ONLY, size);
        sets[i / n_planes].to[i % n_planes] = make_buffer(context, CL_MEM_WRITE_ONLY, size);
    }
    for (int round = 0; round < 5; round++)
        run(queue, kernel, sets);
    assert_int_equal(atomic_load(&n_wrong), 0);
    assert_int_equal(atomic_load(&n_stored), 5 * n_frames * n_planes);
    if (senders && members && strcmp(members, "opencl") == 0)
        assert_int_equal(n_threads_called("tesela-sender") > 0, strcmp(senders, "always") == 0);
    for (int i = 0; i < n_sets * n_planes; i++) {
        clReleaseMemObject(sets[i / n_planes].from[i % n_planes]);
        clReleaseMemObject(sets[i / n_planes].to[i % n_planes]);
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    for (int i = 0; i < 5000 && atomic_load(&n_told) < 2 * 5 * n_frames * n_planes; i++)
        usleep(1000);
    assert_int_equal(atomic_load(&n_told), 2 * 5 * n_frames * n_planes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
