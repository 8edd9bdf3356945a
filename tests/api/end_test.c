/*
 * Programs that end as real ones do: with all objects alive and in use, releasing and using them from handlers and
 * destructors that run before and after those of vendors' libraries, or from a thread while others work. Each is a
 * process, forked before the first OpenCL call, that must end by itself with its own status. Not for leak checks:
 * objects are left on purpose, and the search itself crashes beside vendors' busy threads.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=basic,pthread TESELA_POLICY=round-robin ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: beside TESELA_VENDORS={build}/vendors ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind TESELA_MEMBERS=opencl END_SPIN=10 ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0:new_delete_type_mismatch=0 */
/* timeout: 200 */
#include "begin.h"
#include "child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { n_ints = 1024, size = n_ints * sizeof(cl_int), n_threads = 4 };

static struct {
    cl_context context;
    cl_command_queue in_order, out_of_order;
    cl_mem buffer, sub;
    cl_program program;
    cl_kernel kernel;
    cl_event user, behind;
    void *mapped;
} all;

static const char *const source = "kernel void add(global int *x)\n"
                                  "{\n"
                                  "    int i = get_global_id(0);\n"
                                  "    for (int j = 0; j < SPIN; j++)\n"
                                  "        x[i] = x[i] * 3 + j;\n"
                                  "}\n";

static void CL_CALLBACK nothing(cl_event event, cl_int status, void *arg)
{
    (void)event, (void)status, (void)arg;
}

static cl_int launch(cl_command_queue queue, cl_mem buffer, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
    const size_t n = n_ints / 2;
    cl_int error = clSetKernelArg(all.kernel, 0, sizeof buffer, &buffer);

    return error ? error : clEnqueueNDRangeKernel(queue, all.kernel, 1, NULL, &n, NULL, n_waits, waits, event);
}

static void make_all(void)
{
    const cl_buffer_region region = {0, size / 2};
    const cl_queue_properties out_of_order[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_device_id device = our_device();
    char options[32];
    cl_int error;

    all.context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    all.in_order = clCreateCommandQueue(all.context, device, 0, NULL);
    all.out_of_order = clCreateCommandQueueWithProperties(all.context, device, out_of_order, NULL);
    all.buffer = clCreateBuffer(all.context, CL_MEM_READ_WRITE, size, NULL, NULL);
    all.sub = clCreateSubBuffer(all.buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    all.program = clCreateProgramWithSource(all.context, 1, (const char **)(uintptr_t)&source, NULL, NULL);
    snprintf(options, sizeof options, "-DSPIN=%s", getenv("END_SPIN") ? getenv("END_SPIN") : "1000");
    must(clBuildProgram(all.program, 0, NULL, options, NULL, NULL) == CL_SUCCESS);
    all.kernel = clCreateKernel(all.program, "add", &error);
    must(error == CL_SUCCESS);
    all.user = clCreateUserEvent(all.context, &error);
    must(error == CL_SUCCESS);
    /* Each member compiles it now: PoCL's own compiler aborts if the process ends while it is at work, natively too. */
    for (int i = 0; i < 2; i++)
        must(launch(all.in_order, all.buffer, 0, NULL, NULL) == CL_SUCCESS && clFinish(all.in_order) == CL_SUCCESS);
}

/* Kernels on their way, some behind an event that nobody sets, a callback owed, a mapped range. */
static void start_all(void)
{
    cl_int error;

    must(clEnqueueFillBuffer(all.in_order, all.buffer, "x", 1, 0, size, 0, NULL, NULL) == CL_SUCCESS);
    all.mapped =
        clEnqueueMapBuffer(all.in_order, all.buffer, CL_TRUE, CL_MAP_READ, size / 2, size / 2, 0, NULL, NULL, &error);
    must(error == CL_SUCCESS);
    for (int i = 0; i < 20; i++)
        must(launch(i % 2 ? all.in_order : all.out_of_order, all.sub, 0, NULL, NULL) == CL_SUCCESS);
    must(launch(all.out_of_order, all.sub, 1, &all.user, &all.behind) == CL_SUCCESS);
    must(clSetEventCallback(all.behind, CL_COMPLETE, nothing, NULL) == CL_SUCCESS);
    must(clFlush(all.in_order) == CL_SUCCESS && clFlush(all.out_of_order) == CL_SUCCESS);
}

static void use_all(void)
{
    char byte = 0;

    must(clEnqueueWriteBuffer(all.in_order, all.buffer, CL_TRUE, 3, 1, "y", 0, NULL, NULL) == CL_SUCCESS);
    must(launch(all.in_order, all.buffer, 0, NULL, NULL) == CL_SUCCESS);
    must(clEnqueueReadBuffer(all.in_order, all.buffer, CL_TRUE, 3, 1, &byte, 0, NULL, NULL) == CL_SUCCESS);
    must(clFinish(all.in_order) == CL_SUCCESS);
}

static void release_all(void)
{
    must(clSetUserEventStatus(all.user, CL_COMPLETE) == CL_SUCCESS);
    must(clReleaseEvent(all.user) == CL_SUCCESS);
    must(!all.behind || clReleaseEvent(all.behind) == CL_SUCCESS);
    must(!all.mapped || clEnqueueUnmapMemObject(all.in_order, all.buffer, all.mapped, 0, NULL, NULL) == CL_SUCCESS);
    must(clReleaseKernel(all.kernel) == CL_SUCCESS);
    must(clReleaseProgram(all.program) == CL_SUCCESS);
    must(clReleaseMemObject(all.sub) == CL_SUCCESS);
    must(clReleaseMemObject(all.buffer) == CL_SUCCESS);
    must(clReleaseCommandQueue(all.in_order) == CL_SUCCESS);
    must(clReleaseCommandQueue(all.out_of_order) == CL_SUCCESS);
    must(clReleaseContext(all.context) == CL_SUCCESS);
}

/* ---- Ways to end ------------------------------------------------------------------------------------------------- */

static void all_is_left_alive(void)
{
    make_all();
    start_all();
}

static void all_is_released(void)
{
    make_all();
    start_all();
    release_all();
}

/* Later handlers run first: this one before those of the vendors' libraries. */
static void a_handler_releases(void)
{
    make_all();
    start_all();
    atexit(release_all);
}

static void a_handler_uses_and_releases(void)
{
    make_all();
    start_all();
    atexit(release_all);
    atexit(use_all);
}

/* As the destructor of an object that was made before main: the vendors' own have run by then. */
static void an_early_handler_releases(void)
{
    atexit(release_all);
    make_all();
    use_all();
}

static bool destructor_releases;

__attribute__((destructor)) static void at_the_very_end(void)
{
    if (destructor_releases)
        release_all();
}

static void a_destructor_releases(void)
{
    make_all();
    use_all();
    destructor_releases = true;
}

static atomic_uint n_working;

static void *work(void *arg)
{
    const cl_queue_properties properties[] = {0};
    cl_device_id device = our_device();

    (void)arg;
    for (unsigned i = 0;; i++) {
        cl_command_queue queue = clCreateCommandQueueWithProperties(all.context, device, properties, NULL);
        cl_mem mine = clCreateBuffer(all.context, CL_MEM_READ_WRITE, size, NULL, NULL);

        clEnqueueFillBuffer(queue, mine, &i, sizeof i, 0, size, 0, NULL, NULL);
        clEnqueueCopyBuffer(queue, mine, all.buffer, 0, 0, size, 0, NULL, NULL);
        clFinish(queue);
        clReleaseMemObject(mine);
        clReleaseCommandQueue(queue);
        if (i == 3)
            n_working++;
    }
    return NULL;
}

static void threads_are_at_work(void)
{
    pthread_t thread;

    make_all();
    start_all();
    for (int i = 0; i < n_threads; i++)
        must(pthread_create(&thread, NULL, work, NULL) == 0);
    while (n_working < n_threads)
        usleep(1000);
}

static void *end_it(void *arg)
{
    (void)arg;
    exit(7);
}

static void another_thread_ends_it(void)
{
    pthread_t thread;

    threads_are_at_work();
    must(pthread_create(&thread, NULL, end_it, NULL) == 0);
    work(NULL);
}

static void it_ends_without_handlers(void)
{
    all_is_left_alive();
    quick_exit(7);
}

static void only_platforms_were_listed(void)
{
    our_device();
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void (*const ways[])(void) = {
    all_is_left_alive,           all_is_released,           a_handler_releases,
    a_handler_uses_and_releases, an_early_handler_releases, a_destructor_releases,
    threads_are_at_work,         another_thread_ends_it,    it_ends_without_handlers,
    only_platforms_were_listed,
};
static const char *const names[] = {
    "all is left alive",           "all is released",           "a handler releases",
    "a handler uses and releases", "an early handler releases", "a destructor releases",
    "threads are at work",         "another thread ends it",    "it ends without handlers",
    "only platforms were listed",
};

static void every_end_is_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(ways); i++) {
        int status = ending(ways[i]);

        if (status != 7)
            fail_msg("%s: status %d", names[i], status);
    }
}

/* A child that never came to OpenCL's parent: what fork leaves behind doesn't matter, both use all of it. */
static void both_begin_after_a_fork(void)
{
    int status;
    pid_t pid = fork();

    must(pid >= 0);
    make_all();
    start_all();
    release_all();
    if (pid == 0)
        exit(7);
    must(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void parent_and_child_have_each_their_own(void **state)
{
    (void)state;
    assert_int_equal(ending(both_begin_after_a_fork), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_is_clean),
        cmocka_unit_test(parent_and_child_have_each_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
