/*
 * Memory shared by several commands, members or parties: the application's own, mapped ranges, overlapping sub-buffers.
 * (proof_random_test.c mixes them; here each rule is tested by itself.)
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin PROOF_SPIN=5000 */
/* any: */
#include "proof.h"

#include <stdlib.h>
#include <string.h>

enum { n_ints = 4096, size = n_ints * sizeof(cl_int), quarter = n_ints / 4 };

static const char *const source = "kernel void add(global int *x, uint value, uint n)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0), v = n;\n"
                                  "    for (uint j = 0; i == 0 && j < n; j++)\n"
                                  "        v = v * 1664525 + 1013904223;\n"
                                  "    x[i] += value + (v == 4294967295u);\n"
                                  "}\n";

static struct proof proof;
static cl_kernel add;

static cl_mem make_buffer(cl_int value)
{
    cl_mem buffer = proof_buffer(&proof, CL_MEM_READ_WRITE, size, NULL);

    proof_did(&proof, clEnqueueFillBuffer(proof.queue, buffer, &value, sizeof(value), 0, size, 0, NULL, NULL));
    return buffer;
}

static void launch(cl_mem x, size_t n, cl_uint value, cl_uint spin)
{
    cl_uint values[] = {value, spin};

    proof_set(add, 1, &x, 2, values);
    proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, add, 1, NULL, &n, NULL, 0, NULL, NULL));
}

static cl_int *map(cl_mem x, cl_map_flags flags, size_t first, size_t n)
{
    cl_int error;
    cl_int *p = clEnqueueMapBuffer(proof.queue, x, CL_TRUE, flags, first * sizeof(cl_int), n * sizeof(cl_int), 0, NULL,
                                   NULL, &error);

    proof_did(&proof, error);
    return p;
}

static void unmap(cl_mem x, void *p)
{
    proof_did(&proof, clEnqueueUnmapMemObject(proof.queue, x, p, 0, NULL, NULL));
}

static void check_ints(const cl_int *data, size_t n, cl_int value)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(data[i], value);
}

/* Elements first … first + n - 1 are all value. */
static void check(cl_mem x, size_t first, size_t n, cl_int value)
{
    static cl_int data[n_ints];

    proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_TRUE, first * sizeof(cl_int), n * sizeof(cl_int), data, 0,
                                          NULL, NULL));
    check_ints(data, n, value);
}

static void fill(cl_int *p, size_t n, cl_int value)
{
    for (size_t i = 0; i < n; i++)
        p[i] = value;
}

static cl_uint map_count(cl_mem x)
{
    cl_uint n;

    proof_ok(clGetMemObjectInfo(x, CL_MEM_MAP_COUNT, sizeof(n), &n, NULL));
    return n;
}

/* ---- The application's memory in two commands -------------------------------------------------------------------- */

/* Neither blocks, and they have no buffer in common: what they share is p. */
static void read_to_p_then_write_from_p(void **state)
{
    static cl_int p[n_ints];
    cl_mem x = make_buffer(0), y = make_buffer(0);

    (void)state;
    for (int round = 1; round <= 10; round++) {
        fill(p, n_ints, -1);
        launch(x, n_ints, 1, proof_spin() / 4);
        proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_FALSE, 0, size, p, 0, NULL, NULL));
        proof_did(&proof, clEnqueueWriteBuffer(proof.queue, y, CL_FALSE, 0, size, p, 0, NULL, NULL));
        check(y, 0, n_ints, round);
    }
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseMemObject(y));
}

/* And the other way round, on parts of p that overlap: y must get what p held before x came. */
static void write_from_p_then_read_to_p(void **state)
{
    static cl_int p[n_ints];
    cl_mem x = make_buffer(7), y = make_buffer(0);

    (void)state;
    for (int round = 1; round <= 10; round++) {
        fill(p, n_ints, round);
        launch(y, n_ints, 1, proof_spin() / 4);
        proof_did(&proof, clEnqueueWriteBuffer(proof.queue, y, CL_FALSE, 0, size, p, 0, NULL, NULL));
        proof_did(&proof, clEnqueueReadBuffer(proof.queue, x, CL_FALSE, 0, size / 2, p + quarter, 0, NULL, NULL));
        check(y, 0, n_ints, round);
        proof_ok(clFinish(proof.queue));
        check_ints(p, quarter, round);
        check_ints(p + quarter, 2 * quarter, 7);
        check_ints(p + 3 * quarter, quarter, round);
    }
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseMemObject(y));
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

/* A part is mapped and changed between kernels on all of it. */
static void partial_maps(void **state)
{
    cl_mem x = make_buffer(0);

    (void)state;
    for (int round = 1; round <= 4; round++) {
        launch(x, n_ints, 1, 0);
        cl_int *p = map(x, CL_MAP_READ | CL_MAP_WRITE, quarter, quarter);
        check_ints(p, quarter, 11 * round - 10);
        fill(p, quarter, 11 * round);
        unmap(x, p);
    }
    launch(x, n_ints, 1, 0);
    check(x, 0, quarter, 5);
    check(x, quarter, quarter, 45);
    check(x, 2 * quarter, 2 * quarter, 5);
    proof_ok(clReleaseMemObject(x));
}

/* What is invalidated is not fetched, but its neighbours stay. */
static void an_invalidating_map(void **state)
{
    cl_mem x = make_buffer(0);

    (void)state;
    launch(x, n_ints, 3, 0);
    uint64_t before = proof.n_commands;
    cl_int *p = map(x, CL_MAP_WRITE_INVALIDATE_REGION, quarter, quarter);
    fill(p, quarter, 100);
    unmap(x, p);
    proof_ok(clFinish(proof.queue));
    assert_int_equal(proof_moved(proof_trace(&proof), before + 1, proof.n_commands).from_members, 0);
    launch(x, n_ints, 1, 0);
    check(x, 0, quarter, 4);
    check(x, quarter, quarter, 101);
    check(x, 2 * quarter, 2 * quarter, 4);
    proof_ok(clReleaseMemObject(x));
}

/* Several maps at once: disjoint ones to write, overlapping ones to read, one of them twice. */
static void maps_side_by_side(void **state)
{
    cl_mem x = make_buffer(0);
    cl_int *p[4];

    (void)state;
    launch(x, n_ints, 1, 0);
    for (int i = 0; i < 4; i++)
        p[i] = map(x, CL_MAP_WRITE, (size_t)i * quarter, quarter);
    assert_int_equal(map_count(x), 4);
    for (int i = 3; i >= 0; i--) {
        assert_ptr_equal(p[i], p[0] + i * quarter);
        fill(p[i], quarter, i);
        unmap(x, p[i]);
    }
    launch(x, n_ints, 1, 0);
    p[0] = map(x, CL_MAP_READ, 0, 2 * quarter);
    p[1] = map(x, CL_MAP_READ, quarter, 2 * quarter);
    p[2] = map(x, CL_MAP_READ, quarter, 2 * quarter);
    assert_int_equal(map_count(x), 3);
    check_ints(p[0], quarter, 1);
    check_ints(p[1], quarter, 2);
    check_ints(p[2] + quarter, quarter, 3);
    for (int i = 0; i < 3; i++)
        unmap(x, p[i]);
    assert_int_equal(map_count(x), 0);
    assert_int_equal(clEnqueueUnmapMemObject(proof.queue, x, p[0], 0, NULL, NULL), CL_INVALID_VALUE);
    check(x, 3 * quarter, quarter, 4);
    proof_ok(clReleaseMemObject(x));
}

/* A mapped range of x is where a read of y goes to, and where a write to z comes from; nobody waits in between. */
static void mapped_memory_in_other_commands(void **state)
{
    cl_mem x = make_buffer(0), y = make_buffer(5), z = make_buffer(0);

    (void)state;
    for (int round = 1; round <= 5; round++) {
        cl_int *p = map(x, CL_MAP_READ | CL_MAP_WRITE, quarter, 2 * quarter);
        launch(y, n_ints, 1, proof_spin() / 4);
        proof_did(&proof, clEnqueueReadBuffer(proof.queue, y, CL_FALSE, 0, size / 2, p, 0, NULL, NULL));
        proof_did(&proof, clEnqueueWriteBuffer(proof.queue, z, CL_FALSE, 0, size / 4, p + quarter, 0, NULL, NULL));
        unmap(x, p);
        launch(x, n_ints, 10, 0);
        launch(z, n_ints, 10, 0);
        check(z, 0, quarter, 5 + round + 10);
        check(x, quarter, 2 * quarter, 5 + round + 10);
        check(x, 0, quarter, 10 * round);
    }
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseMemObject(y));
    proof_ok(clReleaseMemObject(z));
}

/* ---- CL_MEM_USE_HOST_PTR ----------------------------------------------------------------------------------------- */

static void the_applications_memory_as_storage(void **state)
{
    static cl_int storage[n_ints];
    cl_mem x, y = make_buffer(50);

    (void)state;
    fill(storage, n_ints, 1);
    x = proof_buffer(&proof, CL_MEM_USE_HOST_PTR, size, storage);
    launch(x, n_ints, 1, 0);
    launch(x, n_ints, 1, 0);
    cl_int *p = map(x, CL_MAP_READ | CL_MAP_WRITE, quarter, quarter);
    assert_ptr_equal(p, storage + quarter);
    check_ints(p, quarter, 3);
    fill(p, quarter, 30);
    unmap(x, p);
    launch(x, n_ints, 1, 0);
    check(x, 0, quarter, 4);
    check(x, quarter, quarter, 31);
    p = map(x, CL_MAP_READ, 0, n_ints);
    assert_ptr_equal(p, storage);
    check_ints(storage, quarter, 4);
    check_ints(storage + quarter, quarter, 31);
    check_ints(storage + 2 * quarter, 2 * quarter, 4);
    unmap(x, p);
    /* The storage, mapped, in a command on another buffer. */
    p = map(x, CL_MAP_WRITE, 0, n_ints);
    launch(y, n_ints, 1, proof_spin() / 4);
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, y, CL_FALSE, 0, size / 4, storage, 0, NULL, NULL));
    unmap(x, p);
    launch(x, n_ints, 1, 0);
    check(x, 0, quarter, 52);
    check(x, quarter, quarter, 32);
    proof_ok(clReleaseMemObject(x));
    proof_ok(clReleaseMemObject(y));
}

/* ---- Sub-buffers ------------------------------------------------------------------------------------------------- */

/* Kernels take turns on two sub-buffers that overlap, with members in turns: each must see what the others did. */
static void sub_buffers_that_overlap(void **state)
{
    enum { n_rounds = 12 };
    cl_mem x = make_buffer(0),
           parts[] = {proof_sub_buffer(x, 0, 0, size / 4 * 3), proof_sub_buffer(x, 0, size / 4, size / 4 * 3)};

    (void)state;
    for (int round = 0; round < n_rounds; round++) {
        launch(parts[round % 2], 3 * quarter, 1, 0);
        if (round % 5 == 4)
            launch(x, n_ints, 1, 0);
    }
    check(parts[1], 0, quarter, n_rounds + 2);
    check(x, 0, quarter, n_rounds / 2 + 2);
    check(x, quarter, 2 * quarter, n_rounds + 2);
    check(x, 3 * quarter, quarter, n_rounds / 2 + 2);
    proof_ok(clReleaseMemObject(parts[0]));
    proof_ok(clReleaseMemObject(x)); /* The sub-buffer that is left keeps it. */
    check(parts[1], 2 * quarter, quarter, n_rounds / 2 + 2);
    proof_ok(clReleaseMemObject(parts[1]));
}

/* ---- Set-up ------------------------------------------------------------------------------------------------------ */

static int open_proof(void **state)
{
    (void)state;
    proof_open(&proof, source);
    add = proof_kernel(&proof, "add");
    return 0;
}

static int close_proof(void **state)
{
    (void)state;
    proof_ok(clFinish(proof.queue));
    proof_ok(clReleaseKernel(add));
    proof_close(&proof);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_to_p_then_write_from_p),
        cmocka_unit_test(write_from_p_then_read_to_p),
        cmocka_unit_test(partial_maps),
        cmocka_unit_test(an_invalidating_map),
        cmocka_unit_test(maps_side_by_side),
        cmocka_unit_test(mapped_memory_in_other_commands),
        cmocka_unit_test(the_applications_memory_as_storage),
        cmocka_unit_test(sub_buffers_that_overlap),
    };

    return cmocka_run_group_tests(tests, open_proof, close_proof);
}
