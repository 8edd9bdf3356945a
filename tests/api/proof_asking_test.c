/*
 * Kernels that ask for more of a launch than global ids, of a text in which macros decide, cut over other vendors'
 * devices: programs see the answers of the whole launch, and nothing of the second text by which these are given.
 */
/* timeout: 120 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* variant: zero_copy TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl,cpu TESELA_SPLIT=always */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* two: TESELA_SPLIT=always */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { width = 192, height = 96, tile = 8, n = width * height };

/* Words that might print are in macros and comments alone. */
static const char *const source =
    "#define OUT(t) ou##t /* no printf */\n"
    "#ifdef __opencl_c_integer_dot_product_input_4x8bit\n"
    "#define EXTRA(x) (x)\n"
    "#elif __OPENCL_VERSION__ >= 100\n"
    "#define EXTRA(x) (x)\n"
    "#endif\n"
    "uint group(void) { return (uint)(get_group_id(1) * get_num_groups(0) + get_group_id(0)); }\n"
    "kernel void ask(global uint *out, const uint factor)\n"
    "{\n"
    "    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);\n"
    "    out[y * get_global_size(0) + x] = EXTRA(group()) * factor + (uint)get_global_offset(1);\n"
    "}\n"
    "kernel void plain(global uint *out, const uint factor)\n"
    "{\n"
    "    OUT(t)[get_global_id(0)] = (uint)get_global_id(0) * EXTRA(factor);\n"
    "}\n"
    "kernel void linear(global uint *out, const uint factor)\n"
    "{\n"
    "    uint groups = (uint)get_num_groups(0), id = (uint)(get_group_id(0) * get_local_size(0) + get_local_id(0));\n"
    "    for (uint i = id; i < get_global_size(0); i += get_global_size(0))\n"
    "        out[i] = i + factor * groups;\n"
    "}\n";

static struct proof proof;
static cl_uint found[n];

static uint64_t run(const char *name, cl_uint dims, const size_t *offset, const size_t *local)
{
    const size_t global[2] = {dims == 2 ? width : n, height};
    const cl_uint factor = 3;
    cl_mem out = proof_buffer(&proof, 0, sizeof found, NULL);
    cl_kernel kernel = proof_kernel(&proof, name);
    uint64_t command;

    proof_ok(clSetKernelArg(kernel, 0, sizeof out, &out));
    proof_ok(clSetKernelArg(kernel, 1, sizeof factor, &factor));
    command =
        proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, dims, offset, global, local, 0, NULL, NULL));
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, out, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    proof_ok(clReleaseKernel(kernel));
    proof_ok(clReleaseMemObject(out));
    return command;
}

static void assert_cut(uint64_t command, const char *name)
{
    const struct proof_trace *trace = proof_trace(&proof);
    size_t shares = 0;

    for (size_t i = 0; i < trace->n; i++)
        shares += trace->spans[i].command == command && !strcmp(trace->spans[i].name, name) &&
                  strcmp(trace->spans[i].category, "command") != 0;
    assert_in_range(shares, 2, 64);
}

static void groups_are_numbered_through(void **state)
{
    const size_t offset[2] = {5, 70}, local[2] = {tile, tile};
    uint64_t command = run("ask", 2, offset, local);

    (void)state;
    for (cl_uint i = 0; i < n; i++)
        assert_int_equal(found[i], (i / width / tile * (width / tile) + i % width / tile) * 3 + 70);
    assert_cut(command, "ask");
}

static void kernels_that_do_not_ask_are_cut(void **state)
{
    uint64_t command = run("plain", 1, NULL, NULL);

    (void)state;
    for (cl_uint i = 0; i < n; i++)
        assert_int_equal(found[i], 3 * i);
    assert_cut(command, "plain");
}

static void numbers_of_groups_are_the_whole_launchs(void **state)
{
    const size_t local = 64;

    (void)state;
    run("linear", 1, NULL, &local);
    for (cl_uint i = 0; i < n; i++)
        assert_int_equal(found[i], i + 3 * (n / 64));
}

/* The device chooses the groups' size where the launch isn't cut. */
static void free_sizes_are_answered(void **state)
{
    cl_uint groups;

    (void)state;
    run("linear", 1, NULL, NULL);
    groups = found[0] / 3;
    assert_in_range(groups, 1, n);
    for (cl_uint i = 0; i < n; i++)
        assert_int_equal(found[i], i + 3 * groups);
}

static void programs_see_their_own_arguments(void **state)
{
    cl_kernel kernel = proof_kernel(&proof, "ask"), all[8];
    cl_uint n_args = 0, n_kernels = 0, value = 1;
    char name[64] = "";

    (void)state;
    proof_ok(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL));
    assert_int_equal(n_args, 2);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof value, &value), CL_INVALID_ARG_INDEX);
    if (clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_NAME, sizeof name, name, NULL) == CL_SUCCESS)
        assert_string_equal(name, "factor");
    assert_int_not_equal(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_NAME, sizeof name, name, NULL), CL_SUCCESS);
    proof_ok(clCreateKernelsInProgram(proof.program, 8, all, &n_kernels));
    assert_int_equal(n_kernels, 3);
    for (cl_uint i = 0; i < n_kernels; i++)
        proof_ok(clReleaseKernel(all[i]));
    proof_ok(clReleaseKernel(kernel));
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
        cmocka_unit_test(groups_are_numbered_through),
        cmocka_unit_test(kernels_that_do_not_ask_are_cut),
        cmocka_unit_test(numbers_of_groups_are_the_whole_launchs),
        cmocka_unit_test(free_sizes_are_answered),
        cmocka_unit_test(programs_see_their_own_arguments),
    };

    return cmocka_run_group_tests_name("proof_asking", tests, begin, end);
}
