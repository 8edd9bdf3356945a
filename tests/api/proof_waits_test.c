/*
 * Which launches are cut that go round until something has changed in memory. Work-groups that look at what another one
 * says are never cut, as nothing promises that the other one runs meanwhile; the values are there before the launch, so
 * that the test itself waits for nobody.
 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_SPLIT=always TESELA_ZERO_COPY=off */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_SPLIT=always */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { n = 1 << 14, local = 32, n_groups = n / local };

#define FENCE "barrier(CLK_GLOBAL_MEM_FENCE); "

static const char *const source =
    "kernel void marks(global uint *out, uint value)\n"
    "{\n"
    "    if (get_local_id(0) == 0) out[get_group_id(0)] = value;\n"
    "}\n"
    "kernel void polls(global uint *out, uint value)\n"
    "{\n"
    "    uint other = get_group_id(0) ^ 1;\n"
    "    if (get_local_id(0) == 0) out[get_group_id(0)] = value;\n"
    "    do { " FENCE "} while (out[other] == 0);\n"
    "}\n"
    "kernel void polls_bits(global uint *out, uint value)\n"
    "{\n"
    "    uint other = get_group_id(0) ^ 1, bits;\n"
    "    if (get_local_id(0) == 0) out[get_group_id(0)] = value;\n"
    "    do { " FENCE "bits = 0; uint v = out[other]; do { bits++; v >>= 1; } while (v); } while (bits < 7);\n"
    "}\n"
    "kernel void polls_all(global uint *out, uint value)\n"
    "{\n"
    "    uint sum;\n"
    "    if (get_local_id(0) == 0) out[get_group_id(0)] = value;\n"
    "    do { " FENCE "sum = 0; for (uint i = 0; i < value; i++) sum |= out[i]; } while (sum == 0);\n"
    "}\n"
    "kernel void takes(global uint *out, global uint *next, uint value)\n"
    "{\n"
    "    uint at;\n"
    "    while ((at = atomic_inc(next)) < value) out[at] += at;\n"
    "}\n";

static struct proof proof;

static uint64_t launch(const char *name, unsigned n_buffers, const cl_mem *buffers, cl_uint value)
{
    const size_t global = n, group = local;
    cl_kernel kernel = proof_kernel(&proof, name);
    uint64_t command;

    proof_set(kernel, n_buffers, buffers, 1, &value);
    command = proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &global, &group, 0, NULL, NULL));
    proof_ok(clReleaseKernel(kernel));
    return command;
}

/* How many shares the launch had. */
static size_t n_shares(uint64_t command, const char *name)
{
    const struct proof_trace *trace = proof_trace(&proof);
    size_t found = 0;

    for (size_t i = 0; i < trace->n; i++)
        found += trace->spans[i].command == command && !strcmp(trace->spans[i].name, name) &&
                 strcmp(trace->spans[i].category, "command") != 0;
    return found;
}

static void read_back(cl_mem out, cl_uint *words)
{
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, out, CL_TRUE, 0, n * sizeof *words, words, 0, NULL, NULL));
}

static void check_marks(const char *name, bool whole)
{
    cl_uint *words = malloc(n * sizeof *words);
    uint64_t command;
    cl_mem out;

    memset(words, 1, n * sizeof *words);
    out = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, n * sizeof *words, words);
    command = launch(name, 1, &out, 77);
    read_back(out, words);
    for (cl_uint i = 0; i < n_groups; i++)
        assert_int_equal(words[i], 77);
    assert_in_range(n_shares(command, name), whole ? 1 : 2, whole ? 1 : 64);
    proof_ok(clReleaseMemObject(out));
    free(words);
}

/* What is no wait is cut here, or the other tests would tell nothing. */
static void groups_that_look_once_are_cut(void **state)
{
    (void)state;
    check_marks("marks", false);
}

static void groups_that_look_again_are_not(void **state)
{
    (void)state;
    check_marks("polls", true);
    check_marks("polls_bits", true);
    check_marks("polls_all", true);
}

/* Each piece of work is taken once. Results that are used forbid the cut here, where shares have copies. */
static void groups_that_count_take_each_once(void **state)
{
    cl_uint *words = calloc(n, sizeof *words), taken = 0;
    cl_mem out = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, n * sizeof *words, words);
    cl_mem next = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, sizeof taken, &taken);
    uint64_t command = launch("takes", 2, (const cl_mem[]){out, next}, n);

    (void)state;
    read_back(out, words);
    for (cl_uint i = 0; i < n; i++)
        assert_int_equal(words[i], i);
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, next, CL_TRUE, 0, sizeof taken, &taken, 0, NULL, NULL));
    assert_int_equal(taken, n + n);
    assert_int_equal(n_shares(command, "takes"), 1);
    proof_ok(clReleaseMemObject(next));
    proof_ok(clReleaseMemObject(out));
    free(words);
}

static int begin(void **state)
{
    (void)state;
    proof_open(&proof, source);
    return 0;
}

static int end(void **state)
{
    (void)state;
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_look_once_are_cut),
        cmocka_unit_test(groups_that_look_again_are_not),
        cmocka_unit_test(groups_that_count_take_each_once),
    };

    return cmocka_run_group_tests_name("proof_waits", tests, begin, end);
}
