/*
 * Two queues without events, each writing its half of one buffer with kernels that take the whole buffer as an
 * argument, on different members: common in programs, and it works on real devices. No byte may be lost, in a thousand
 * rounds.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* two: TESELA_POLICY=round-robin */
#include "proof.h"

#include <pthread.h>
#include <string.h>

enum { n_rounds = 1000, half = 16, n_ints = 2 * half, size = n_ints * sizeof(cl_int) };

static const char *const source = "kernel void write_half(global int *x, uint first, uint value)\n"
                                  "{\n"
                                  "    x[first + get_global_id(0)] = value + first + get_global_id(0);\n"
                                  "}\n";

static struct proof proof;
static cl_mem x;
static cl_command_queue queues[2];
static cl_kernel kernels[2]; /* one for each half: threads may not share one */

static void write_half(unsigned i, cl_uint value)
{
    cl_uint values[] = {i * half, value};
    const size_t n = half;

    proof_set(kernels[i], 1, &x, 2, values);
    proof_ok(clEnqueueNDRangeKernel(queues[i], kernels[i], 1, NULL, &n, NULL, 0, NULL, NULL));
}

static void check_half(const cl_int *data, unsigned i, cl_uint value)
{
    for (cl_uint j = i * half; j < (i + 1) * half; j++)
        proof_must(data[j] == (cl_int)(value + j));
}

static void no_byte_is_lost_by_one_thread(void **state)
{
    cl_int data[n_ints];

    (void)state;
    for (cl_uint round = 1; round <= n_rounds; round++) {
        write_half(0, round);
        write_half(1, 2 * round);
        proof_ok(clFinish(queues[0]));
        proof_ok(clFinish(queues[1]));
        proof_ok(clEnqueueReadBuffer(queues[round % 2], x, CL_TRUE, 0, size, data, 0, NULL, NULL));
        check_half(data, 0, round);
        check_half(data, 1, 2 * round);
        proof.n_commands += 3;
    }
    const struct proof_trace *trace = proof_trace(&proof);
    unsigned n_differ = 0;
    for (uint64_t first = 1; first < proof.n_commands; first += 3)
        n_differ += strcmp(proof_work(trace, first)->member, proof_work(trace, first + 1)->member) != 0;
    assert_int_equal(n_differ, n_rounds);
}

static pthread_barrier_t meet;

/* Each thread checks its own half at once; both halves are checked when both have written. */
static void *write_and_check(void *arg)
{
    unsigned i = *(const unsigned *)arg;
    cl_int data[n_ints];

    for (cl_uint round = 1; round <= n_rounds; round++) {
        write_half(i, (i + 1) * round);
        proof_ok(clEnqueueReadBuffer(queues[i], x, CL_TRUE, i * half * sizeof(cl_int), size / 2, &data[i * half], 0,
                                     NULL, NULL));
        check_half(data, i, (i + 1) * round);
        pthread_barrier_wait(&meet);
        proof_ok(clEnqueueReadBuffer(queues[i], x, CL_TRUE, 0, size, data, 0, NULL, NULL));
        check_half(data, 0, round);
        check_half(data, 1, 2 * round);
        pthread_barrier_wait(&meet);
    }
    return NULL;
}

static void nor_by_two_threads(void **state)
{
    pthread_t threads[2];
    unsigned numbers[] = {0, 1};

    (void)state;
    pthread_barrier_init(&meet, NULL, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_check, &numbers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&meet);
}

static int open_proof(void **state)
{
    static const cl_int zeroes[n_ints];

    (void)state;
    proof_open(&proof, source);
    x = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)zeroes);
    for (int i = 0; i < 2; i++) {
        queues[i] = proof_queue(&proof, 0);
        kernels[i] = proof_kernel(&proof, "write_half");
    }
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        proof_ok(clReleaseCommandQueue(queues[i]));
        proof_ok(clReleaseKernel(kernels[i]));
    }
    proof_ok(clReleaseMemObject(x));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_byte_is_lost_by_one_thread),
        cmocka_unit_test(nor_by_two_threads),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
