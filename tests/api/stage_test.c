/*
 * Large transfers between pageable memory and a device's own, through pinned memory (TESELA_STAGING): every byte
 * arrives, in the order of the queue, whatever commands come before and after, from several threads at once.
 */
/* variant: one TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_GATES=on TESELA_STAGING=on */
/* variant: two TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="pthread pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin TESELA_GATES=on TESELA_STAGING=on */
#include "begin.h"
#include "thread_names.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE  ((size_t)9 << 20)
#define WORDS (SIZE / sizeof(cl_uint))

static const char *const source = "kernel void add(global uint *x, uint n) { x[get_global_id(0)] += n; }\n";

static cl_context context;
static cl_program program;

static void begin_program(void)
{
    cl_int error;
    context = make_context();
    program = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
}

static int close_program(void **state)
{
    (void)state;
    clReleaseProgram(program);
    clReleaseContext(context);
    return 0;
}

static int open_program(void **state)
{
    (void)state;
    begin_program();
    return 0;
}

static cl_uint *words(cl_uint seed)
{
    cl_uint *w = malloc(SIZE + 1);
    assert_non_null(w);
    for (size_t i = 0; i < WORDS; i++)
        w[i] = (cl_uint)i * 2654435761u + seed;
    return w;
}

static unsigned wrong_from(const cl_uint *w, size_t first, size_t n, cl_uint plus)
{
    unsigned n_wrong = 0;
    for (size_t i = 0; i < n; i++)
        n_wrong += w[i] != (cl_uint)(first + i) * 2654435761u + plus;
    return n_wrong;
}

static void add(cl_command_queue queue, cl_mem buffer, cl_uint n)
{
    const size_t items = WORDS;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    if (error || clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer) || clSetKernelArg(kernel, 1, sizeof(n), &n) ||
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL))
        abort();
    clReleaseKernel(kernel);
}

static void ok(cl_int error)
{
    if (error) {
        fprintf(stderr, "error %d\n", error);
        abort();
    }
}

/* Writes, kernels and reads without a wait between them, at odd places of memory. */
static unsigned one_round(cl_command_queue queue, cl_uint seed)
{
    cl_uint *from = words(seed), *to = words(0);
    char *odd = (char *)to + 1;
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, SIZE);
    unsigned n_wrong = 0;

    ok(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, SIZE, from, 0, NULL, NULL));
    for (cl_uint i = 1; i <= 3; i++) {
        add(queue, buffer, i);
        ok(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, SIZE, odd, 0, NULL, NULL));
        ok(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, SIZE, odd, 0, NULL, NULL));
    }
    add(queue, buffer, 4);
    ok(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 12, SIZE - 100, odd, 0, NULL, NULL));
    memmove(to, odd, SIZE - 100);
    n_wrong += wrong_from(to, 3, (SIZE - 100) / sizeof(cl_uint), seed + 10);
    cl_int error;
    cl_uint *mapped =
        clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, SIZE, 0, NULL, NULL, &error);
    ok(error);
    n_wrong += wrong_from(mapped, 0, WORDS, seed + 10);
    mapped[WORDS - 1] = 7;
    ok(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL));
    add(queue, buffer, 1);
    ok(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, SIZE, to, 0, NULL, NULL));
    n_wrong += wrong_from(to, 0, WORDS - 1, seed + 11) + (to[WORDS - 1] != 8);
    clReleaseMemObject(buffer);
    free(from);
    free(to);
    return n_wrong;
}

static void test_queue(void **state)
{
    cl_command_queue queue = make_queue(context, 0);
    (void)state;
    for (cl_uint i = 0; i < 3; i++)
        assert_int_equal(one_round(queue, 100 * i), 0);
    assert_true(n_threads_called("tesela-copy") > 0); /* It was that way, and no other. */
    clReleaseCommandQueue(queue);
}

static void *rounds(void *arg)
{
    unsigned *n_wrong = arg;
    cl_command_queue queue = make_queue(context, 0);
    for (cl_uint i = 0; i < 2; i++)
        *n_wrong += one_round(queue, (cl_uint)(uintptr_t)arg + i);
    clReleaseCommandQueue(queue);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    unsigned n_wrong[4] = {0};
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, rounds, &n_wrong[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(n_wrong[i], 0);
    }
}

/* A transfer behind an event that fails doesn't touch the memory, and what comes after it does run. */
static void test_failure(void **state)
{
    cl_command_queue queue = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, SIZE);
    cl_uint *to = words(5), *from = words(9);
    cl_event gate = make_user_event(context), read;
    cl_int status;

    (void)state;
    ok(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, SIZE, from, 0, NULL, NULL));
    add(queue, buffer, 1);
    ok(clFinish(queue));
    ok(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, SIZE, to, 1, &gate, &read));
    ok(clSetUserEventStatus(gate, -7));
    assert_int_equal(clWaitForEvents(1, &read), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    ok(clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    assert_true(status < 0);
    assert_int_equal(wrong_from(to, 0, WORDS, 5), 0);
    ok(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, SIZE, to, 0, NULL, NULL));
    assert_int_equal(wrong_from(to, 0, WORDS, 10), 0);
    clReleaseEvent(gate);
    clReleaseEvent(read);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    free(to);
    free(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, open_program, close_program);
}
