/*
 * Launches that write through an index, count with atomics or raise flags, cut over members whatever they write: their
 * shares work on copies, which are one afterwards. Programs see what one device would have done, launch after launch,
 * and the timeline tells that the launches were cut.
 */
/* timeout: 120 */
/* variant: cpu TESELA_MEMBERS=cpu TESELA_SPLIT=always */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* variant: zero_copy TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl,cpu TESELA_SPLIT=always */
/* variant: three TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* variant: small_groups TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic POCL_MAX_WORK_GROUP_SIZE=32 TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off TESELA_SPLIT=always */
/* two: TESELA_SPLIT=always */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { n = 1 << 18, n_bins = 509, n_flags = 64, n_rounds = 4 };

static const char *const source = "kernel void scatter(global int *out, global const int *index, int value)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    out[index[i]] = value + (int)i;\n"
                                  "}\n"
                                  "kernel void scatter_bytes(global uchar *out, global const int *index, int value)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    if (i % 3)\n"
                                  "        out[index[i]] = (uchar)(value + i);\n"
                                  "}\n"
                                  "kernel void histogram(global uint *bins, global const int *index, int step)\n"
                                  "{\n"
                                  "    atomic_add(&bins[index[get_global_id(0)] % 509], step);\n"
                                  "}\n"
                                  "kernel void least(global int *bins, global const int *index, int value)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    atomic_min(&bins[i % 509], value - index[i]);\n"
                                  "}\n"
                                  "kernel void flags(global int *found, global const int *index, int wanted)\n"
                                  "{\n"
                                  "    if (index[get_global_id(0)] == wanted)\n"
                                  "        found[3] = 1;\n"
                                  "    if (index[get_global_id(0)] == -5)\n"
                                  "        found[4] = 1;\n"
                                  "}\n"
                                  "kernel void append(global int *list, global const int *index, int value)\n"
                                  "{\n"
                                  "    int at = atomic_inc(&list[0]);\n"
                                  "    if (index[get_global_id(0)] < 1000)\n"
                                  "        list[1 + at % 500] = value;\n"
                                  "}\n";

static struct proof proof;
static cl_int *indices; /* a permutation of 0 … n-1 */
static cl_mem index_buffer;

/* ---- The work, and its model ------------------------------------------------------------------------------------- */

static cl_mem buffer_of(size_t size, const void *bytes)
{
    return proof_buffer(&proof, bytes ? CL_MEM_COPY_HOST_PTR : 0, size, (void *)(uintptr_t)bytes);
}

static uint64_t launch(const char *name, cl_mem out, cl_int value)
{
    const size_t global = n, local = 32;
    cl_kernel kernel = proof_kernel(&proof, name);
    uint64_t command;

    proof_ok(clSetKernelArg(kernel, 0, sizeof out, &out));
    proof_ok(clSetKernelArg(kernel, 1, sizeof index_buffer, &index_buffer));
    proof_ok(clSetKernelArg(kernel, 2, sizeof value, &value));
    command = proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    proof_ok(clReleaseKernel(kernel));
    return command;
}

static void read_back(cl_mem buffer, size_t size, void *bytes)
{
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL));
}

/* Spans of the command with that name: what made its copies one. */
static size_t n_spans(uint64_t command, const char *name)
{
    const struct proof_trace *trace = proof_trace(&proof);
    size_t found = 0;

    for (size_t i = 0; i < trace->n; i++)
        found += trace->spans[i].command == command && !strcmp(trace->spans[i].name, name) &&
                 strcmp(trace->spans[i].category, "command") != 0;
    return found;
}

static void assert_cut(uint64_t command, const char *name, const char *rung)
{
    assert_in_range(n_spans(command, name), 2, 64);
    assert_in_range(n_spans(command, rung), 1, 64);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void a_scatter_through_an_index(void **state)
{
    cl_int *model = calloc(n, sizeof *model), *words = malloc(n * sizeof *words);
    cl_mem out = buffer_of(n * sizeof *words, NULL); /* never written before */
    uint64_t command = 0;

    (void)state;
    for (cl_int round = 0; round < n_rounds; round++) {
        command = launch("scatter", out, round * 1000);
        for (cl_int i = 0; i < n; i++)
            model[indices[i]] = round * 1000 + i;
    }
    read_back(out, n * sizeof *words, words);
    assert_memory_equal(words, model, n * sizeof *words);
    assert_cut(command, "scatter", "merge");
    clReleaseMemObject(out);
    free(words);
    free(model);
}

/* Bytes beside each other are of different shares, and some stay as they were. */
static void single_bytes(void **state)
{
    cl_uchar *model = malloc(n), *bytes = malloc(n);
    cl_mem out;
    uint64_t command = 0;

    (void)state;
    for (size_t i = 0; i < n; i++)
        model[i] = (cl_uchar)(i * 31);
    out = buffer_of(n, model);
    for (cl_int round = 0; round < n_rounds; round++) {
        command = launch("scatter_bytes", out, round * 77);
        for (cl_uint i = 0; i < n; i++)
            if (i % 3)
                model[indices[i]] = (cl_uchar)((cl_uint)round * 77 + i);
    }
    read_back(out, n, bytes);
    assert_memory_equal(bytes, model, n);
    assert_cut(command, "scatter_bytes", "merge");
    clReleaseMemObject(out);
    free(bytes);
    free(model);
}

static void a_histogram(void **state)
{
    cl_uint model[n_bins], bins[n_bins];
    cl_mem out;
    uint64_t command = 0;

    (void)state;
    for (cl_uint i = 0; i < n_bins; i++)
        model[i] = 5 * i;
    out = buffer_of(sizeof model, model);
    for (cl_uint round = 1; round <= n_rounds; round++) {
        command = launch("histogram", out, (cl_int)round);
        for (size_t i = 0; i < n; i++)
            model[indices[i] % n_bins] += round;
    }
    read_back(out, sizeof bins, bins);
    assert_memory_equal(bins, model, sizeof bins);
    assert_cut(command, "histogram", "reduce");
    clReleaseMemObject(out);
}

static void minima(void **state)
{
    cl_int model[n_bins], bins[n_bins];
    cl_mem out;
    uint64_t command;

    (void)state;
    for (cl_int i = 0; i < n_bins; i++)
        model[i] = i % 2 ? 1000 : -2147483647 - 1 + i;
    out = buffer_of(sizeof model, model);
    command = launch("least", out, 500);
    for (cl_int i = 0; i < n; i++)
        if (500 - indices[i] < model[i % n_bins])
            model[i % n_bins] = 500 - indices[i];
    read_back(out, sizeof bins, bins);
    assert_memory_equal(bins, model, sizeof bins);
    assert_cut(command, "least", "reduce");
    clReleaseMemObject(out);
}

static void flags_of_one_constant(void **state)
{
    static const cl_int zeros[n_flags];
    cl_int found[n_flags];
    cl_mem out = buffer_of(sizeof zeros, zeros);
    uint64_t command = launch("flags", out, -1);

    (void)state;
    read_back(out, sizeof found, found);
    assert_memory_equal(found, zeros, sizeof found);
    assert_cut(command, "flags", "merge");
    launch("flags", out, 12345);
    read_back(out, sizeof found, found);
    for (unsigned i = 0; i < n_flags; i++)
        assert_int_equal(found[i], i == 3);
    clReleaseMemObject(out);
}

/* Results that are used forbid the cut. */
static void a_list_is_not_cut(void **state)
{
    cl_int list[512] = {0};
    cl_mem out = buffer_of(sizeof list, list);
    uint64_t command = launch("append", out, 7);

    (void)state;
    read_back(out, sizeof list, list);
    assert_int_equal(list[0], n);
    assert_int_equal(n_spans(command, "append"), 1);
    clReleaseMemObject(out);
}

static int begin(void **state)
{
    (void)state;
    proof_open(&proof, source);
    indices = malloc(n * sizeof *indices);
    for (size_t i = 0; i < n; i++)
        indices[i] = (cl_int)(i * 7919 % n);
    index_buffer = buffer_of(n * sizeof *indices, indices);
    return 0;
}

static int end(void **state)
{
    (void)state;
    clReleaseMemObject(index_buffer);
    free(indices);
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scatter_through_an_index),
        cmocka_unit_test(single_bytes),
        cmocka_unit_test(a_histogram),
        cmocka_unit_test(minima),
        cmocka_unit_test(flags_of_one_constant),
        cmocka_unit_test(a_list_is_not_cut),
    };

    return cmocka_run_group_tests_name("proof_joint", tests, begin, end);
}
