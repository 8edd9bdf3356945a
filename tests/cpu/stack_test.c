/* A thread with a small stack may build programs, have launches cut, and help with kernels that have much private
 * memory; and kernels with more memory than there is fail. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE=/dev/null/none ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1 */
/* variant: cut TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_SPLIT=always TESELA_NVIDIA=opencl TESELA_CACHE=/dev/null/none ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1 */
#include "cpu_rig.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_SIZE (512u << 10) /* of the library's own functions they make larger ones */
#else
#define STACK_SIZE (64u << 10)
#endif

#define N_ARRAYS 64 /* of 800 bytes: none is large, all are, and so for each lane */
#define N_ITEMS  64 /* a small launch: who waits does it */

/* Each array keeps what it was given. */
static void write_source(char *source, size_t size)
{
    size_t n = (size_t)snprintf(source, size, "kernel void f(global int *x) { int g = get_global_id(0), s = 0;\n");

    for (unsigned i = 0; i < N_ARRAYS; i++)
        n += (size_t)snprintf(source + n, size - n,
                              "int a%u[200]; for (int i = 0; i < 200; i++) a%u[(i * 7 + g) %% 200] = i + %u;\n", i, i,
                              i);
    for (unsigned i = 0; i < N_ARRAYS; i++)
        n += (size_t)snprintf(source + n, size - n, "s += a%u[(x[g] * 7 + g) %% 200];\n", i);
    snprintf(source + n, size - n, "x[g] = s; }\n");
}

static void *build_and_run(void *rig)
{
    static char source[1 << 16];
    static int x[N_ITEMS];
    cl_program program;
    cl_mem buffer;

    write_source(source, sizeof(source));
    program = cpu_rig_program(rig, source, "");
    for (unsigned n = 0; n < 20; n++) {
        for (int i = 0; i < N_ITEMS; i++)
            x[i] = 3 * i % 200;
        buffer = cpu_rig_buffer(rig, sizeof(x), x);
        cpu_rig_run(rig, program, "f", 1, &buffer, 0, NULL, N_ITEMS);
        cpu_rig_read(rig, buffer, sizeof(x), x);
        for (int i = 0; i < N_ITEMS; i++)
            assert_int_equal(x[i], N_ARRAYS * (3 * i % 200) + N_ARRAYS * (N_ARRAYS - 1) / 2);
        clReleaseMemObject(buffer);
    }
    clReleaseProgram(program);
    return NULL;
}

static void a_small_stack_is_enough(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;

    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_SIZE), 0);
    assert_int_equal(pthread_create(&thread, &attributes, build_and_run, *state), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

/* 2^60 bytes, sixteen times: nothing in sums of 64 bits. */
#define FOR_ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(a) X(b) X(c) X(d) X(e) X(f)
#define PRIVATE(n) "char p" #n "[1ul << 60]; p" #n "[x[g]] = g; p" #n "[x[g + 1]] = 3;\n"
#define LOCAL(n)   "local char l" #n "[1ul << 60]; l" #n "[x[g]] = g; l" #n "[x[g + 1]] = 3;\n"
#define SUM_P(n)   " + p" #n "[x[g + 2]]"
#define SUM_L(n)   " + l" #n "[x[g + 2]]"

static const char endless[] = "kernel void f(global long *x) { int g = get_global_id(0);\n" FOR_ALL(
    PRIVATE) "barrier(CLK_LOCAL_MEM_FENCE); x[g] "
             "= 0" FOR_ALL(SUM_P) "; }\n"
                                  "kernel void l(global long *x) { int g = get_global_id(0);\n" FOR_ALL(
                                      LOCAL) "barrier(CLK_LOCAL_MEM_FENCE); x[g] = "
                                             "0" FOR_ALL(SUM_L) "; }\n";

/* Neither is it said to be done, nor is anybody else's memory written. */
static void fails(struct cpu_rig *rig, cl_program program, const char *name)
{
    static long x[N_ITEMS + 2];
    cl_int error, status = CL_COMPLETE;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    cl_mem buffer = cpu_rig_buffer(rig, sizeof(x), x);
    const size_t global = N_ITEMS;
    cl_event event;

    if (error)
        return;
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_SUCCESS);
    error = clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event);
    if (!error) {
        clWaitForEvents(1, &event);
        assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
                         CL_SUCCESS);
        assert_int_equal(status, CL_OUT_OF_HOST_MEMORY); /* CL_OUT_OF_RESOURCES: a fault in it */
        clReleaseEvent(event);
    }
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
}

static void more_than_there_is_fails(void **state)
{
    cl_program program = cpu_rig_program(*state, endless, "");

    fails(*state, program, "f");
    fails(*state, program, "l");
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_stack_is_enough),
                                       cmocka_unit_test(more_than_there_is_fails)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
