/*
 * A program's second run, from the binary that it kept, is as good as its first: what a launch reads moves and no more,
 * what it surely overwrites doesn't move at all, and launches are cut as before, exactly and by copies, also of kernels
 * that ask for their groups. Read from the timeline; the data are checked too.
 */
/* timeout: 120 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_SPLIT=always TESELA_ZERO_COPY=off */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* variant: both TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* two: TESELA_SPLIT=always */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { n = 1 << 14, in_size = 8 * n * sizeof(cl_int), out_size = n * sizeof(cl_int) };

static const char *const source = "kernel void window(global int *out, global const int *in, uint from)\n"
                                  "{ uint i = get_global_id(0); out[i] = in[from + i] + (int)get_group_id(0); }\n"
                                  "kernel void scatter(global int *out, global const int *in, uint from)\n"
                                  "{ uint i = get_global_id(0); out[in[i] & 16383] = (int)(from + i); }\n";

static struct proof proof;
static cl_int values[8 * n];

/* What one launch did. */
struct done {
    unsigned n_shares;
    uint64_t to_members;
    cl_int out[n];
};

static unsigned shares_of(const struct proof_trace *trace, uint64_t command)
{
    unsigned count = 0;

    for (size_t i = 0; i < trace->n; i++)
        count += trace->spans[i].command == command && !strcmp(trace->spans[i].category, "kernel");
    return count;
}

/* One launch on new buffers, of which the host has all. */
static void launch(cl_program program, const char *name, struct done *done)
{
    const size_t size = n, group = 64;
    const cl_uint from = 1000;
    const cl_int none = -1;
    cl_int error;
    cl_mem buffers[] = {proof_buffer(&proof, CL_MEM_READ_WRITE, out_size, NULL),
                        proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, in_size, values)};
    cl_kernel kernel = clCreateKernel(program, name, &error);

    proof_ok(error);
    proof_set(kernel, 2, buffers, 1, &from);
    proof_did(&proof, clEnqueueFillBuffer(proof.queue, buffers[0], &none, sizeof(none), 0, out_size, 0, NULL, NULL));
    uint64_t command =
        proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &size, &group, 0, NULL, NULL));
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, buffers[0], CL_TRUE, 0, out_size, done->out, 0, NULL, NULL));
    proof_ok(clFinish(proof.queue));
    const struct proof_trace *trace = proof_trace(&proof);
    done->n_shares = shares_of(trace, command);
    done->to_members = proof_moved(trace, command, command).to_members;
    for (int i = 0; i < 2; i++)
        proof_ok(clReleaseMemObject(buffers[i]));
    proof_ok(clReleaseKernel(kernel));
}

static cl_program from_binary(cl_program program)
{
    size_t size;
    cl_int status, error;

    proof_ok(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL));
    unsigned char *binary = malloc(size);
    const unsigned char *read = binary;
    proof_must(binary != NULL && size > 0);
    proof_ok(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
    cl_program again = clCreateProgramWithBinary(proof.context, 1, &proof.device, &size, &read, &status, &error);
    proof_ok(error);
    proof_ok(status);
    proof_ok(clBuildProgram(again, 1, &proof.device, "", NULL, NULL));
    free(binary);
    return again;
}

static void check_same(const char *name)
{
    static struct done first, second;
    cl_program again = from_binary(proof.program);

    launch(proof.program, name, &first);
    launch(again, name, &second);
    assert_true(first.n_shares >= 2);
    assert_int_equal(second.n_shares, first.n_shares);
    assert_int_equal(second.to_members, first.to_members);
    assert_memory_equal(second.out, first.out, out_size);
    proof_ok(clReleaseProgram(again));
}

/* An eighth of the input is read, and nothing of the output is fetched. */
static void a_window_is_as_exact(void **state)
{
    static struct done done;
    cl_program again = from_binary(proof.program);

    (void)state;
    check_same("window");
    launch(again, "window", &done);
    assert_true(done.to_members <= out_size);
    for (cl_int i = 0; i < n; i++)
        assert_int_equal(done.out[i], values[1000 + i] + i / 64);
    proof_ok(clReleaseProgram(again));
}

static void a_scatter_is_cut_as_before(void **state)
{
    (void)state;
    check_same("scatter");
}

static int open_proof(void **state)
{
    (void)state;
    for (cl_int i = 0; i < 8 * n; i++)
        values[i] = (int)((unsigned)i * 5u % n);
    proof_open(&proof, source);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_as_exact),
        cmocka_unit_test(a_scatter_is_cut_as_before),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
