/*
 * Eight threads on eight queues of one context, with kernels, their own buffers and shared ones; and objects released
 * in unusual orders: queues and buffers while commands are in flight, the context first of all.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin PROOF_ROUNDS=4 PROOF_SPIN=1000 */
/* any: */
#include "proof.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_threads = 8, n_ints = 128, size = n_ints * sizeof(cl_int) };

static const char *const source = "kernel void add(global int *x, global const int *y, uint n)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0), v = n;\n"
                                  "    for (uint j = 0; i == 0 && j < n; j++)\n"
                                  "        v = v * 1664525 + 1013904223;\n"
                                  "    x[i] += y[i] + (v == 4294967295u);\n"
                                  "}\n"
                                  "kernel void count(global volatile int *x) { atomic_inc(x); }\n";

static struct proof proof;
static cl_mem ones, counter;

static unsigned rounds(void)
{
    const char *value = getenv("PROOF_ROUNDS");

    return value ? (unsigned)atoi(value) : 25;
}

/* The numbers of commands of several threads mean nothing: only the context is counted through. */
static atomic_uint n_enqueued;

static void did(cl_int error)
{
    proof_ok(error);
    atomic_fetch_add(&n_enqueued, 1);
}

static cl_mem make_buffer(void)
{
    static const cl_int zeroes[n_ints];

    return proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)zeroes);
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
    const size_t n = n_ints;

    did(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, event));
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *data)
{
    proof_must(event && status == CL_COMPLETE);
    atomic_fetch_add((atomic_uint *)data, 1);
}

static void wait_for_calls(atomic_uint *n_calls, unsigned n)
{
    while (atomic_load(n_calls) < n)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Its own buffer by its own kernel and queue; the shared counter too, which all threads increment without any order:
 * the member's atomics, or one after another, must not lose one. */
static void *work(void *arg)
{
    cl_command_queue queue = proof_queue(&proof, *(unsigned *)arg % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    cl_kernel add = proof_kernel(&proof, "add"), count = proof_kernel(&proof, "count");
    cl_mem x = make_buffer(), buffers[] = {x, ones};
    const cl_uint spin = 100;
    atomic_uint n_calls = 0;
    cl_int data[n_ints];

    proof_set(add, 2, buffers, 1, &spin);
    proof_set(count, 1, &counter, 0, NULL);
    for (unsigned round = 1; round <= rounds(); round++) {
        cl_event event;

        launch(queue, add, &event);
        launch(queue, count, NULL);
        proof_ok(clSetEventCallback(event, CL_COMPLETE, count_call, &n_calls));
        did(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, size, data, 1, &event, NULL));
        for (int i = 0; i < n_ints; i++)
            proof_must(data[i] == (cl_int)round);
        proof_ok(clReleaseEvent(event));
    }
    proof_ok(clFinish(queue));
    wait_for_calls(&n_calls, rounds());
    proof_ok(clReleaseKernel(count));
    proof_ok(clReleaseKernel(add));
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseCommandQueue(queue));
    return NULL;
}

static void eight_threads_on_eight_queues(void **state)
{
    pthread_t threads[n_threads];
    unsigned numbers[n_threads];
    cl_int total;

    (void)state;
    for (unsigned i = 0; i < n_threads; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    did(clEnqueueReadBuffer(proof.queue, counter, CL_TRUE, 0, sizeof(total), &total, 0, NULL, NULL));
    assert_int_equal(total, n_threads * rounds() * n_ints);
}

/* Threads share one queue and one buffer; each adds its part. */
static void *add_to_shared(void *arg)
{
    cl_mem x = arg, buffers[] = {x, ones};
    cl_kernel add = proof_kernel(&proof, "add");
    const cl_uint spin = 0;

    proof_set(add, 2, buffers, 1, &spin);
    for (unsigned round = 0; round < rounds(); round++) {
        launch(proof.queue, add, NULL);
        if (round % 8 == 7)
            proof_ok(clFinish(proof.queue));
    }
    proof_ok(clReleaseKernel(add));
    return NULL;
}

static void eight_threads_on_one_queue(void **state)
{
    pthread_t threads[n_threads];
    cl_mem x = make_buffer();
    cl_int data[n_ints];

    (void)state;
    for (int i = 0; i < n_threads; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_to_shared, x), 0);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    did(clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, data, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        assert_int_equal(data[i], n_threads * rounds());
    proof_ok(clReleaseMemObject(x));
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

struct life {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem x, y;
    cl_int data[n_ints];
    atomic_uint n_calls;
};

static struct life *begin_life(void)
{
    struct life *l = calloc(1, sizeof(*l));
    struct proof p;
    const cl_uint spin = proof_spin() / 50;

    proof_must(l != NULL);
    proof_open(&p, source);
    l->context = p.context;
    l->queue = p.queue;
    l->program = p.program;
    l->kernel = proof_kernel(&p, "add");
    memset(l->data, 0, size);
    l->x = proof_buffer(&p, CL_MEM_COPY_HOST_PTR, size, l->data);
    l->data[0] = 1;
    l->y = proof_buffer(&p, CL_MEM_COPY_HOST_PTR, size, l->data);
    proof_set(l->kernel, 2, (cl_mem[]){l->x, l->y}, 1, &spin);
    return l;
}

/* Three kernels and a read are on their way; nobody keeps an event, the last one's callback tells of the end. */
static void enqueue_life(struct life *l)
{
    cl_event event;

    for (int i = 0; i < 3; i++)
        launch(l->queue, l->kernel, NULL);
    did(clEnqueueReadBuffer(l->queue, l->x, CL_FALSE, 0, size, l->data, 0, NULL, &event));
    proof_ok(clSetEventCallback(event, CL_COMPLETE, count_call, &l->n_calls));
    proof_ok(clReleaseEvent(event));
}

static void end_of_queue(struct life *l)
{
    proof_ok(clReleaseCommandQueue(l->queue));
}

static void end_of_context(struct life *l)
{
    proof_ok(clReleaseContext(l->context));
}

static void end_of_program(struct life *l)
{
    proof_ok(clReleaseProgram(l->program));
}

static void end_of_kernel(struct life *l)
{
    proof_ok(clReleaseKernel(l->kernel));
}

static void end_of_buffers(struct life *l)
{
    proof_ok(clReleaseMemObject(l->x));
    proof_ok(clReleaseMemObject(l->y));
}

enum { n_ends = 5, n_orders = 2 * n_ends };

/* The order's number tells which end is first, and whether the others follow forwards or backwards. */
static void live(unsigned order)
{
    static void (*const ends[n_ends])(struct life *) = {end_of_queue, end_of_context, end_of_program, end_of_kernel,
                                                        end_of_buffers};
    struct life *l = begin_life();

    enqueue_life(l);
    for (unsigned i = 0; i < n_ends; i++)
        ends[order < n_ends ? (order + i) % n_ends : (order - i) % n_ends](l);
    wait_for_calls(&l->n_calls, 1);
    proof_must(l->data[0] == 3 && l->data[1] == 0);
    free(l);
}

static void released_in_many_orders(void **state)
{
    (void)state;
    for (unsigned order = 0; order < n_orders; order++)
        live(order);
}

/* The same by several threads at once: nothing is ever quiet. */
static void *live_and_die(void *arg)
{
    for (unsigned i = 0; i < 3; i++)
        live((*(unsigned *)arg + 3 * i) % n_orders);
    return NULL;
}

static void and_by_several_threads(void **state)
{
    pthread_t threads[3];
    unsigned numbers[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, live_and_die, &numbers[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static int open_proof(void **state)
{
    cl_int data[n_ints];

    (void)state;
    proof_open(&proof, source);
    for (int i = 0; i < n_ints; i++)
        data[i] = 1;
    ones = proof_buffer(&proof, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, size, data);
    memset(data, 0, size);
    counter = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, data);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_ok(clReleaseMemObject(ones));
    proof_ok(clReleaseMemObject(counter));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_on_eight_queues),
        cmocka_unit_test(eight_threads_on_one_queue),
        cmocka_unit_test(released_in_many_orders),
        cmocka_unit_test(and_by_several_threads),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
