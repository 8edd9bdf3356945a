/* Built-in functions that have no precision to test, on the built-in CPU alone: async copies, barriers, shuffles,
 * ids, C11 atomics. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
#include "cpu_rig.h"
#include "test.h"

#include <string.h>

#define N     256u
#define LOCAL 32u

static const char source[] =
    "kernel void copies(global const uint *in, global uint *out, global const uint *unused, uint n) {\n"
    "    local uint a[32], b[8]; local uint3 c[8]; size_t g = get_group_id(0) * 32;\n"
    "    event_t e = async_work_group_copy(a, in + g, 32, 0);\n"
    "    e = async_work_group_copy(c, (global const uint3 *)(in + g), 8, e);\n"
    "    e = async_work_group_strided_copy(b, in + g, 8, 4, e); wait_group_events(1, &e);\n"
    "    a[get_local_id(0)] += b[get_local_id(0) / 4] + c[get_local_id(0) / 4].y + n; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    e = async_work_group_copy(out + g, a, 32, 0); wait_group_events(1, &e); }\n"
    "kernel void shuffles(global const uint *in, global uint *out, global const uint *masks, uint n) {\n"
    "    size_t i = get_global_id(0); prefetch(in, 1);\n"
    "    uint4 x = vload4(i % 60, in), y = vload4((i + 3) % 60, in), m = vload4(i % 60, masks);\n"
    "    out[i] = shuffle(x, m).y + 3 * shuffle2(x, y, m).w + n; }\n"
    "kernel void ids(global const uint *in, global uint *out, global const uint *unused, uint n) {\n"
    "    out[get_global_linear_id()] = get_local_linear_id() + 100 * get_work_dim() + 1000 * "
    "get_enqueued_local_size(0)\n"
    "        + n; }\n"
    "kernel void barriers(global const uint *in, global uint *out, global const uint *unused, uint n) {\n"
    "    local uint a[32]; size_t i = get_global_id(0), l = get_local_id(0); uint x;\n"
    "    a[l] = in[i]; work_group_barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x = a[31 - l]; work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);\n"
    "    a[l] = x + n; write_mem_fence(CLK_LOCAL_MEM_FENCE);\n"
    "    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_device);\n"
    "    read_mem_fence(CLK_LOCAL_MEM_FENCE); mem_fence(CLK_GLOBAL_MEM_FENCE); out[i] = a[(l + 1) % 32];\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device); }\n"
    "kernel void atomics(global const uint *in, global atomic_uint *out, global const uint *unused, uint n) {\n"
    "    uint old = 0, i = get_global_id(0);\n"
    "    atomic_fetch_add_explicit(out, i, memory_order_relaxed); atomic_fetch_or(out + 1, 1u << i % 31);\n"
    "    atomic_fetch_max(out + 2, i ^ 5); while (!atomic_compare_exchange_weak(out + 3, &old, old + n)) { }\n"
    "    if (i == 7) { atomic_store(out + 4, 77u); old = atomic_exchange(out + 5, 78u);\n"
    "        atomic_store(out + 6, atomic_load(out + 4) + old); } }\n";

static unsigned in[N], masks[N], out[N];

static void run(struct cpu_rig *rig, const char *kernel)
{
    cl_program program = cpu_rig_program(rig, source, "-cl-std=CL3.0");
    unsigned n = 9, zeros[N] = {0};
    cl_mem buffers[3];

    for (unsigned i = 0; i < N; i++) {
        in[i] = i * 2654435761u >> 9;
        masks[i] = i * 40503u >> 3;
    }
    buffers[0] = cpu_rig_buffer(rig, sizeof(in), in);
    buffers[1] = cpu_rig_buffer(rig, sizeof(zeros), zeros);
    buffers[2] = cpu_rig_buffer(rig, sizeof(masks), masks);
    cpu_rig_run(rig, program, kernel, 3, buffers, sizeof(n), &n, N);
    cpu_rig_read(rig, buffers[1], sizeof(out), out);
    for (int b = 0; b < 3; b++)
        clReleaseMemObject(buffers[b]);
    clReleaseProgram(program);
}

static void shuffles_take_what_the_mask_says(void **state)
{
    run(*state, "shuffles");
    for (unsigned i = 0; i < N; i++) {
        const unsigned *x = in + 4 * (i % 60), *y = in + 4 * ((i + 3) % 60), *m = masks + 4 * (i % 60);
        unsigned two = m[3] & 7;

        assert_int_equal(out[i], x[m[1] & 3] + 3 * (two < 4 ? x[two] : y[two - 4]) + 9);
    }
}

static void atomics_of_c11(void **state)
{
    unsigned bits = 0, most = 0;

    run(*state, "atomics");
    for (unsigned i = 0; i < N; i++) {
        bits |= 1u << i % 31;
        most = (i ^ 5) > most ? i ^ 5 : most;
    }
    assert_int_equal(out[0], N * (N - 1) / 2);
    assert_int_equal(out[1], bits);
    assert_int_equal(out[2], most);
    assert_int_equal(out[3], 9 * N);
    assert_int_equal(out[4], 77);
    assert_int_equal(out[5], 78);
    assert_int_equal(out[6], 77);
}

/* With a local size of its own, which the rig doesn't give. */
static void run_groups(struct cpu_rig *rig, const char *name, unsigned dims, const size_t *global, const size_t *local)
{
    cl_program program = cpu_rig_program(rig, source, "-cl-std=CL3.0");
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    unsigned n = 9;
    cl_mem buffers[3] = {cpu_rig_buffer(rig, sizeof(in), in), cpu_rig_buffer(rig, sizeof(out), NULL),
                         cpu_rig_buffer(rig, sizeof(in), in)};

    assert_int_equal(error, CL_SUCCESS);
    for (cl_uint b = 0; b < 3; b++)
        assert_int_equal(clSetKernelArg(kernel, b, sizeof(buffers[b]), &buffers[b]), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof(n), &n), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, dims, NULL, global, local, 0, NULL, NULL), CL_SUCCESS);
    cpu_rig_read(rig, buffers[1], sizeof(out), out);
    for (int b = 0; b < 3; b++)
        clReleaseMemObject(buffers[b]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static void async_copies_are_waited_for(void **state)
{
    const size_t global = N, local = LOCAL;

    for (unsigned i = 0; i < N; i++)
        in[i] = i * 2654435761u >> 9;
    run_groups(*state, "copies", 1, &global, &local);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(out[i], in[i] + in[i / 4 * 4] + in[i / 4 * 4 + 1] + 9);
}

static void barriers_of_all_kinds_are_waited_at(void **state)
{
    const size_t global = N, local = LOCAL;

    for (unsigned i = 0; i < N; i++)
        in[i] = i * 2654435761u >> 9;
    run_groups(*state, "barriers", 1, &global, &local);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(out[i], in[i / LOCAL * LOCAL + LOCAL - 1 - (i + 1) % LOCAL] + 9);
}

static void linear_ids_count_through_all_dimensions(void **state)
{
    const size_t global[3] = {8, 4, 8}, local[3] = {4, 2, 2};

    run_groups(*state, "ids", 3, global, local);
    for (unsigned i = 0; i < N; i++) {
        unsigned x = i % 8, y = i / 8 % 4, z = i / 32;

        assert_int_equal(out[i], x % 4 + 4 * (y % 2) + 8 * (z % 2) + 300 + 4000 + 9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(async_copies_are_waited_for),
        cmocka_unit_test(barriers_of_all_kinds_are_waited_at),
        cmocka_unit_test(shuffles_take_what_the_mask_says),
        cmocka_unit_test(linear_ids_count_through_all_dimensions),
        cmocka_unit_test(atomics_of_c11),
    };

    return cmocka_run_group_tests_name("functions", tests, cpu_rig_setup, cpu_rig_teardown);
}
