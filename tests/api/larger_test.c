/*
 * Launches whose buffers are larger than the device's memory, on the built-in CPU with a bound (TESELA_MEMORY): what
 * they compute is right, and those that can't be run fail with the right error.
 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_MEMORY=cpu=8M TESELA_LARGER=yes TESELA_LOG=tile:off */
/* variant: check TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_MEMORY=cpu=8M TESELA_LARGER=yes TESELA_LOG=tile:off TESELA_CHECK=access LARGER_ROWS=1024 */
/* variant: mixed TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=cpu,opencl TESELA_MEMORY=cpu=8M,opencl=8M TESELA_LOG=tile:off LARGER_ROWS=1536 */
#include "proof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { width = 1024, memory = 8 << 20 };

static const char *const source = "kernel void stencil(global float *to, global const float *from, uint height)\n"
                                  "{\n"
                                  "    size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);\n"
                                  "    if (x > 0 && x + 1 < w && y > 0 && y + 1 < height)\n"
                                  "        to[y * w + x] = 0.25f * (from[y * w + x - 1] + from[y * w + x + 1] +\n"
                                  "                                 from[(y - 1) * w + x] + from[(y + 1) * w + x]);\n"
                                  "}\n"
                                  "kernel void table(global int *x, constant int *values, uint n)\n"
                                  "{\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    x[i] = x[i] * 3 + values[(uint)x[i] % n];\n"
                                  "}\n"
                                  "kernel void scatter(global int *x, global const int *at)\n"
                                  "{\n"
                                  "    x[at[get_global_id(0)]] = 1;\n"
                                  "}\n"
                                  "kernel void sum(global int *x, global const int *a, global const int *b)\n"
                                  "{\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    x[i] = a[i] + b[i];\n"
                                  "}\n";

static struct proof proof;

/* Rows of a grid, so that one grid is larger than the memory, or with two members two are. */
static size_t height(void)
{
    const char *rows = getenv("LARGER_ROWS");

    return rows ? strtoul(rows, NULL, 10) : 3 * memory / width / sizeof(float) / 2;
}

static bool is_told_of_more(void)
{
    const char *larger = getenv("TESELA_LARGER");

    return larger && strcmp(larger, "yes") == 0;
}

/* Ints of a buffer that is larger than the memory, where there are such. */
static size_t most(void)
{
    return height() * width * (is_told_of_more() ? 2 : 1);
}

static cl_mem buffer_of(size_t size, const void *bytes)
{
    cl_int error;
    cl_mem buffer =
        clCreateBuffer(proof.context, bytes ? CL_MEM_COPY_HOST_PTR : 0, size, (void *)(uintptr_t)bytes, &error);

    proof_ok(error);
    return buffer;
}

static cl_int launch(cl_kernel kernel, cl_uint n_dimensions, const size_t *size)
{
    return clEnqueueNDRangeKernel(proof.queue, kernel, n_dimensions, NULL, size, NULL, 0, NULL, NULL);
}

/* ---- Stencils ---- */

static void step(float *to, const float *from, size_t rows)
{
    for (size_t y = 1; y + 1 < rows; y++)
        for (size_t x = 1; x + 1 < width; x++)
            to[y * width + x] = 0.25f * (from[y * width + x - 1] + from[y * width + x + 1] + from[(y - 1) * width + x] +
                                         from[(y + 1) * width + x]);
}

/* Whole launches of a stencil that goes to and fro between two grids, without a wait. */
static void stencils_are_right(void **state)
{
    size_t rows = height(), n = rows * width, size[2] = {width, rows};
    float *grids[2] = {malloc(n * sizeof(float)), malloc(n * sizeof(float))}, *got = malloc(n * sizeof(float));
    cl_kernel kernel = proof_kernel(&proof, "stencil");
    cl_uint value = (cl_uint)rows;
    cl_mem mems[2];

    (void)state;
    assert_true(grids[0] && grids[1] && got);
    for (size_t i = 0; i < n; i++)
        grids[0][i] = grids[1][i] = (float)(i * 2654435761u % 1000);
    for (unsigned i = 0; i < 2; i++)
        mems[i] = buffer_of(n * sizeof(float), grids[i]);
    for (unsigned i = 0; i < 5; i++) {
        proof_set(kernel, 2, (cl_mem[]){mems[1 - i % 2], mems[i % 2]}, 1, &value);
        proof_ok(launch(kernel, 2, size));
        step(grids[1 - i % 2], grids[i % 2], rows);
    }
    for (unsigned i = 0; i < 2; i++) {
        proof_ok(clEnqueueReadBuffer(proof.queue, mems[i], CL_TRUE, 0, n * sizeof(float), got, 0, NULL, NULL));
        for (size_t k = 0; k < n; k++)
            if (fabsf(got[k] - grids[i][k]) > 1e-3f)
                fail_msg("grid %u has %f at %zu, not %f", i, got[k], k, grids[i][k]);
        clReleaseMemObject(mems[i]);
    }
    clReleaseKernel(kernel);
    free(grids[0]);
    free(grids[1]);
    free(got);
}

/* ---- Others ---- */

/* A small buffer is read at places that come out of memory. */
static void tables_stay_whole(void **state)
{
    enum { n_values = 1000 };
    size_t n = most();
    int *x = malloc(n * sizeof(int)), *got = malloc(n * sizeof(int)), values[n_values];
    cl_kernel kernel = proof_kernel(&proof, "table");
    cl_uint value = n_values;
    cl_mem mems[2];

    (void)state;
    assert_true(x && got);
    for (unsigned i = 0; i < n_values; i++)
        values[i] = (int)(i * i);
    for (size_t i = 0; i < n; i++)
        x[i] = (int)(i % 5000);
    mems[0] = buffer_of(n * sizeof(int), x);
    mems[1] = buffer_of(sizeof values, values);
    proof_set(kernel, 2, mems, 1, &value);
    proof_ok(launch(kernel, 1, &n));
    proof_ok(clEnqueueReadBuffer(proof.queue, mems[0], CL_TRUE, 0, n * sizeof(int), got, 0, NULL, NULL));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], x[i] * 3 + values[(unsigned)x[i] % n_values]);
    clReleaseMemObject(mems[0]);
    clReleaseMemObject(mems[1]);
    clReleaseKernel(kernel);
    free(x);
    free(got);
}

/* Parts of one buffer as arguments. */
static void parts_of_buffers_are_right(void **state)
{
    size_t n = most() / 8 / 1024 * 1024, part = n * sizeof(int);
    int *x = malloc(8 * part);
    cl_kernel kernel = proof_kernel(&proof, "sum");
    cl_mem whole, mems[3];

    (void)state;
    assert_true(x);
    for (size_t i = 0; i < 8 * n; i++)
        x[i] = (int)i;
    whole = buffer_of(8 * part, x);
    for (unsigned i = 0; i < 3; i++)
        mems[i] = proof_sub_buffer(whole, CL_MEM_READ_WRITE, (i == 0 ? 7 : i) * part, part);
    proof_set(kernel, 3, mems, 0, NULL);
    if (launch(kernel, 1, &n) == CL_SUCCESS) { /* The three lie far apart in one buffer: their hull is too large. */
        proof_ok(clEnqueueReadBuffer(proof.queue, whole, CL_TRUE, 7 * part, part, x, 0, NULL, NULL));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(x[i], (int)(n + i) + (int)(2 * n + i));
    }
    for (unsigned i = 0; i < 3; i++)
        clReleaseMemObject(mems[i]);
    clReleaseMemObject(whole);
    clReleaseKernel(kernel);
    free(x);
}

static void others_are_refused(void **state)
{
    size_t n = most();
    cl_kernel kernel = proof_kernel(&proof, "scatter");
    cl_mem mems[2] = {buffer_of(n * sizeof(int), NULL), buffer_of(n * sizeof(int), NULL)};

    (void)state;
    proof_set(kernel, 2, mems, 0, NULL);
    if (2 * n * sizeof(int) > memory)
        assert_int_equal(launch(kernel, 1, &n), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    clReleaseMemObject(mems[0]);
    clReleaseMemObject(mems[1]);
    clReleaseKernel(kernel);
}

static void limits_follow(void **state)
{
    cl_ulong size, most_size;

    (void)state;
    proof_ok(clGetDeviceInfo(proof.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof size, &size, NULL));
    proof_ok(clGetDeviceInfo(proof.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most_size, &most_size, NULL));
    if (is_told_of_more())
        assert_true(size > 16 * memory && most_size > 8 * memory);
    else
        assert_true(size == memory && most_size == memory);
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
        cmocka_unit_test(limits_follow),      cmocka_unit_test(stencils_are_right),
        cmocka_unit_test(tables_stay_whole),  cmocka_unit_test(parts_of_buffers_are_right),
        cmocka_unit_test(others_are_refused),
    };

    return cmocka_run_group_tests_name("buffers larger than the device", tests, begin, end);
}
