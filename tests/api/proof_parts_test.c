/*
 * Parts of a matrix: a column that the host writes moves a column to each member that has the matrix, not the matrix;
 * and an inside and four edges, a kernel each in a queue of its own, round after round, keep each other's bytes and run
 * at the same time.
 *
 * Members have copies of their own, so TESELA_ZERO_COPY is off.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: zero_copy TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* two: TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { side = 1024, n_members = 2, n_parts = 5, n_rounds = 24 };

static const char *const source = "kernel void diagonal(global float *y, global const float *x)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0);\n"
                                  "    y[i] = x[i * 1024 + i] + x[i * 1024 + 7];\n"
                                  "}\n"
                                  "kernel void part(global float *x, uint left, uint top)\n"
                                  "{\n"
                                  "    uint at = (top + get_global_id(1)) * 1024 + left + get_global_id(0);\n"
                                  "    x[at] = 2 * x[at] + 1;\n"
                                  "}\n"
                                  /* Its first item takes long. */
                                  "kernel void long_part(global float *x, uint left, uint top, uint spin)\n"
                                  "{\n"
                                  "    uint at = (top + get_global_id(1)) * 1024 + left + get_global_id(0);\n"
                                  "    float v = x[at];\n"
                                  "    if (get_global_id(0) + get_global_id(1) == 0)\n"
                                  "        for (uint i = 0; i < spin; i++)\n"
                                  "            v = v * 0.5f + 1;\n"
                                  "    x[at] = v;\n"
                                  "}\n";

static struct proof proof;
static cl_mem x, y;
static cl_float *model, *back;
static const size_t size = (size_t)side * side * sizeof(cl_float);

/* Do the members work on the host's memory? Then there is one copy. */
static bool zero_copy(void)
{
    const char *setting = getenv("TESELA_ZERO_COPY");

    return !setting || strcmp(setting, "off") != 0;
}

/* A kernel that reads all of the matrix, on the next member. */
static uint64_t read_by_kernel(cl_kernel kernel)
{
    const size_t n = side;
    cl_float sums[side];
    const cl_mem buffers[] = {y, x};
    uint64_t command;

    proof_set(kernel, 2, buffers, 0, NULL);
    command = proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, y, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL));
    for (size_t i = 0; i < side; i++)
        proof_must(sums[i] == model[i * side + i] + model[i * side + 7]);
    return command;
}

static void a_column_moves_a_column(void **state)
{
    const size_t origin[3] = {7 * sizeof(cl_float), 0, 0}, none[3] = {0, 0, 0}, region[3] = {sizeof(cl_float), side, 1};
    const uint64_t column = (uint64_t)side * sizeof(cl_float), copies = zero_copy() ? 0 : n_members;
    cl_kernel kernel = proof_kernel(&proof, "diagonal");
    cl_float values[side];
    uint64_t command, last;

    (void)state;
    for (unsigned i = 0; i < n_members; i++)
        read_by_kernel(kernel);
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < side; i++)
            model[i * side + 7] = values[i] = (cl_float)(i + round);
        command = proof_did(&proof, clEnqueueWriteBufferRect(proof.queue, x, CL_FALSE, origin, none, region,
                                                             side * sizeof(cl_float), 0, sizeof(cl_float), 0, values, 0,
                                                             NULL, NULL));
        last = command;
        for (unsigned i = 0; i < n_members; i++)
            last = read_by_kernel(kernel);
        assert_int_equal(proof_moved(proof_trace(&proof), command, command).to_members, copies * column);
        /* The kernels lack nothing of the matrix; y, which has a column's size, may go to each of them. */
        assert_in_range(proof_moved(proof_trace(&proof), command, last).to_members, 0, 2 * copies * column);
    }
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, back, 0, NULL, NULL));
    assert_memory_equal(back, model, size);
    proof_ok(clReleaseKernel(kernel));
}

/* left, top, width, height: the inside, two rows, two columns. */
static const cl_uint parts[n_parts][4] = {{1, 1, side - 2, side - 2},
                                          {0, 0, side, 1},
                                          {0, side - 1, side, 1},
                                          {0, 1, 1, side - 2},
                                          {side - 1, 1, 1, side - 2}};

static void parts_keep_each_other(void **state)
{
    cl_command_queue queues[n_parts];
    cl_kernel kernels[n_parts];
    cl_float value = 0;

    (void)state;
    for (unsigned i = 0; i < n_parts; i++) {
        queues[i] = proof_queue(&proof, 0);
        kernels[i] = proof_kernel(&proof, "part");
        proof_set(kernels[i], 1, &x, 2, parts[i]);
    }
    proof_did(&proof, clEnqueueFillBuffer(proof.queue, x, &value, sizeof value, 0, size, 0, NULL, NULL));
    proof_ok(clFinish(proof.queue));
    for (unsigned round = 0; round < n_rounds; round++) {
        for (unsigned i = 0; i < n_parts; i++) {
            const size_t n[2] = {parts[i][2], parts[i][3]};

            proof_did(&proof, clEnqueueNDRangeKernel(queues[i], kernels[i], 2, NULL, n, NULL, 0, NULL, NULL));
        }
        value = 2 * value + 1;
        if (round % 4 != 3)
            continue;
        for (unsigned i = 0; i < n_parts; i++)
            proof_ok(clFinish(queues[i]));
        proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, back, 0, NULL, NULL));
        for (size_t i = 0; i < (size_t)side * side; i++)
            proof_must(back[i] == value);
    }
    for (unsigned i = 0; i < n_parts; i++) {
        proof_ok(clReleaseKernel(kernels[i]));
        proof_ok(clReleaseCommandQueue(queues[i]));
    }
}

/* They have nothing to wait for: of the inside and the edges some run at the same time. */
static void parts_overlap(void **state)
{
    uint64_t commands[n_parts];
    unsigned n_overlaps = 0;
    cl_float value = 0;

    (void)state;
    proof_did(&proof, clEnqueueFillBuffer(proof.queue, x, &value, sizeof value, 0, size, 0, NULL, NULL));
    proof_ok(clFinish(proof.queue));
    for (unsigned i = 0; i < n_parts; i++) {
        const size_t n[2] = {parts[i][2], parts[i][3]};
        const cl_uint numbers[] = {parts[i][0], parts[i][1], proof_spin()};
        cl_command_queue queue = proof_queue(&proof, 0);
        cl_kernel kernel = proof_kernel(&proof, "long_part");

        proof_set(kernel, 1, &x, 3, numbers);
        commands[i] = proof_did(&proof, clEnqueueNDRangeKernel(queue, kernel, 2, NULL, n, NULL, 0, NULL, NULL));
        proof_ok(clFlush(queue));
        proof_ok(clReleaseKernel(kernel));
        proof_ok(clReleaseCommandQueue(queue));
    }
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_TRUE, 0, size, back, 0, NULL, NULL));
    const struct proof_trace *trace = proof_trace(&proof);
    for (unsigned i = 0; i < n_parts; i++)
        for (unsigned k = 0; k < i; k++)
            n_overlaps += proof_overlap(proof_work(trace, commands[k]), proof_work(trace, commands[i]));
    assert_true(n_overlaps > 0);
}

static int open_proof(void **state)
{
    (void)state;
    model = malloc(size);
    back = malloc(size);
    assert_true(model && back);
    for (size_t i = 0; i < (size_t)side * side; i++)
        model[i] = (cl_float)(i % 1000);
    proof_open(&proof, source);
    x = proof_buffer(&proof, CL_MEM_COPY_HOST_PTR, size, model);
    y = proof_buffer(&proof, CL_MEM_READ_WRITE, side * sizeof(cl_float), NULL);
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseMemObject(y));
    proof_close(&proof);
    free(model);
    free(back);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_moves_a_column),
        cmocka_unit_test(parts_keep_each_other),
        cmocka_unit_test(parts_overlap),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
