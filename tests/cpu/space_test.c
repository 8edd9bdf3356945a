/* Generic pointers know their address space: to_global(), to_local(), to_private() and get_fence(). */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/* any: SPACES_MAY_LACK=1 */
#include "cpu_rig.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

/* What pointers point to, one kind after the other. Large private variables and those that live across barriers aren't
 * where small ones are, or would be; many others beside them may be further down the stack. */
enum { NOWHERE, GLOBAL, GLOBAL_END, LOCAL_ARGUMENT, LOCAL_VARIABLE, SMALL, LARGE, ACROSS, N_PLACES };

#define N 240

static const char source[] =
    "#define MANY 40\n"
    "#define BITS(P) (to_global(P) ? 1 : 0) | (to_local(P) ? 2 : 0) | (to_private(P) ? 4 : 0)\n"
    "#define SAME(P) (((void *)to_global(P) == P) + ((void *)to_local(P) == P) + ((void *)to_private(P) == P))\n"
    "kernel void all_places(global int *out, global int *data, int n, local int *l) {\n"
    "    local int variable[4];\n"
    "    int small[4] = {n, 1, 2, 3}, large[5000], across[8];\n"
    "    int id = get_global_id(0);\n"
    "    for (int i = 0; i < 5000; i++) large[i] = i * n;\n"
    "    for (int i = 0; i < 8; i++) across[i] = i + id;\n"
    "    variable[n & 3] = l[0] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int *all[] = {0, data, data + n - 1, l, variable + 3, small + (id & 3), large + id, across + (id & 7)};\n"
    "    int *p = all[id & 7];\n"
    "    const int *c = p; volatile int *v = p; void *o = p;\n"
    "    if (to_private(p)) *to_private(p) = 7;\n"
    "    if (to_local(p)) *to_local(p) = 7;\n"
    "    if (to_global(v)) *to_global(v) = 7;\n"
    "    out[id] = (BITS(p)) | (BITS(c)) << 3 | (BITS(v)) << 6 | (BITS(o)) << 9 | (p ? SAME(p) << 12 : 0)\n"
    "        | (get_fence(p) & ~(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE) ? 1 << 16 : 0)\n"
    "        | (to_global(p) && !(get_fence(p) & CLK_GLOBAL_MEM_FENCE) ? 1 << 17 : 0)\n"
    "        | (to_local(p) && !(get_fence(p) & CLK_LOCAL_MEM_FENCE) ? 1 << 18 : 0);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[id] += (across[0] + across[id & 7] + large[id] + small[id & 3]) << 20;\n"
    "}\n"
    "kernel void on_stack(global int *out, global int *data, int n, local int *l) {\n"
    "    int id = get_global_id(0), small[4] = {n, id, 2, 3}, *p = id & 1 ? (int *)data : small + (id >> 1 & 3);\n"
    "    out[id] = (BITS(p)) | SAME(p) << 12;\n"
    "    if (to_private(p)) *to_private(p) = 7;\n"
    "    out[id] += (small[0] + small[1] + small[2] + small[3]) << 20;\n"
    "}\n"
    "kernel void beside_much(global int *out, global int *data, int n, local int *l) {\n"
    "    int id = get_global_id(0), small[2] = {id, 1}, *p = id & 1 ? (int *)data : small;\n"
    "    float16 many[MANY];\n"
    "    for (int i = 0; i < MANY; i++) many[i] = (float16)(data[i & 7]) + i;\n"
    "    for (int i = 0; i < n / 100; i++) {\n"
    "        for (int k = 0; k < MANY; k++) many[k] = many[k] * 0.5f + many[(k + 1) % MANY].s123456789abcdef0;\n"
    "        if (to_private(p)) *to_private(p) += 1;\n"
    "    }\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < MANY; i++) sum += many[i].s0;\n"
    "    out[id] = (BITS(p)) | SAME(p) << 12 | (sum == -1.5f ? 1 << 17 : 0);\n"
    "    if (to_private(p)) out[id] += (small[0] - id) << 20;\n"
    "}\n";

static int wanted_of_all(int id)
{
    static const int bits[N_PLACES] = {0, 1, 1, 2, 2, 4, 4, 4};
    int place = id & 7, at = bits[place];
    int small[] = {N, 1, 2, 3}, across0 = id, across = (id & 7) + id, large = id * N;

    if (place == SMALL)
        small[id & 3] = 7;
    if (place == LARGE)
        large = 7;
    if (place == ACROSS) {
        across = 7;
        across0 = (id & 7) == 0 ? 7 : across0;
    }
    return (at * (1 + 8 + 64 + 512) | (at ? 1 << 12 : 0)) +
           (int)((unsigned)(across0 + across + large + small[id & 3]) << 20);
}

static int wanted_on_stack(int id)
{
    int small[] = {N, id, 2, 3};

    if (!(id & 1))
        small[id >> 1 & 3] = 7;
    return (id & 1 ? 1 : 4) + (1 << 12) + (int)((unsigned)(small[0] + small[1] + small[2] + small[3]) << 20);
}

static int wanted_beside_much(int id)
{
    return (id & 1 ? 1 : 4) + (1 << 12) + (id & 1 ? 0 : (N / 100) << 20);
}

static void check(struct cpu_rig *rig, cl_program program, const char *name, int (*wanted)(int id), cl_mem data,
                  size_t local)
{
    static int out[N];
    const size_t n = N;
    const int last = N;
    cl_int error;
    cl_mem buffer = cpu_rig_buffer(rig, sizeof(out), NULL);
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(data), &data), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof(last), &last), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, 64, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &n, local ? &local : NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    cpu_rig_read(rig, buffer, sizeof(out), out);
    for (int i = 0; i < N; i++)
        if (out[i] != wanted(i))
            fail_msg("%s, groups of %zu: work-item %d: %#x, not %#x", name, local, i, (unsigned)out[i],
                     (unsigned)wanted(i));
    clReleaseKernel(kernel);
    clReleaseMemObject(buffer);
}

/* The application's own stack is global memory, too, where a buffer lies there. */
static void pointers_know_where_they_point_to(void **state)
{
    static const size_t locals[] = {1, 5, 8, 16, 60, 0};
    static const char *const options[] = {"-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CL3.0 -cl-opt-disable"};
    struct cpu_rig *rig = *state;
    _Alignas(4096) int memory[4096] = {0};
    cl_int error;

    if (!cpu_rig_has(rig, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT)) {
        assert_non_null(getenv("SPACES_MAY_LACK"));
        return;
    }
    for (unsigned o = 0; o < 3; o++) {
        cl_program program = cpu_rig_program(rig, source, options[o]);
        cl_mem data = cpu_rig_buffer(rig, N * sizeof(int), NULL);
        cl_mem lent = clCreateBuffer(rig->context, CL_MEM_USE_HOST_PTR, sizeof(memory), memory, &error);

        assert_int_equal(error, CL_SUCCESS);
        for (unsigned i = 0; i < sizeof(locals) / sizeof(locals[0]); i++) {
            check(rig, program, "all_places", wanted_of_all, data, locals[i]);
            check(rig, program, "all_places", wanted_of_all, lent, locals[i]);
            check(rig, program, "on_stack", wanted_on_stack, data, locals[i]);
            check(rig, program, "on_stack", wanted_on_stack, lent, locals[i]);
            check(rig, program, "beside_much", wanted_beside_much, data, locals[i]);
        }
        clReleaseMemObject(data);
        clReleaseMemObject(lent);
        clReleaseProgram(program);
    }
}

/* Each row is put together of the same sixteen numbers. LLVM's SLP vectoriser made nonsense of the casts between spaces
 * that this leaves. */
static void many_accesses_by_them_are_right(void **state)
{
    static const char text[] =
        "#define R3(N) vload3(0, s + N)\n"
        "#define R4(N) vload4(0, s + N)\n"
        "kernel void rows(global ulong16 *out, global ulong *in) {\n"
        "    const ulong *s = in;\n"
        "    out[0] = (ulong16)(R3(0), R3(3), R3(6), R3(9), R4(12));\n"
        "    out[1] = (ulong16)(R3(0), R3(3), R3(6), R4(9), in[13], in[14], in[15]);\n"
        "    out[2] = (ulong16)(R3(0), R3(3), R3(6), R4(9), in[13], vload2(0, s + 14));\n"
        "    out[3] = (ulong16)(R3(0), R3(3), R3(6), R4(9), vload2(0, s + 13), in[15]);\n"
        "    out[4] = (ulong16)(R3(0), R3(3), R3(6), R4(9), R3(13));\n"
        "    out[5] = (ulong16)(R3(0), R3(3), R4(6), in[10], in[11], in[12], in[13], in[14], in[15]);\n"
        "    out[6] = (ulong16)(R3(0), R3(3), R4(6), in[10], in[11], in[12], in[13], vload2(0, s + 14));\n"
        "    out[7] = (ulong16)(R3(0), R3(3), R4(6), in[10], in[11], in[12], vload2(0, s + 13), in[15]);\n"
        "}\n";
    struct cpu_rig *rig = *state;
    cl_program program;
    cl_ulong in[16], out[8][16];
    cl_mem buffers[2];

    if (!cpu_rig_has(rig, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT)) {
        assert_non_null(getenv("SPACES_MAY_LACK"));
        return;
    }
    for (cl_ulong i = 0; i < 16; i++)
        in[i] = (i + 1) * UINT64_C(0x0123456789abcdef);
    program = cpu_rig_program(rig, text, "-cl-std=CL3.0");
    buffers[0] = cpu_rig_buffer(rig, sizeof(out), NULL);
    buffers[1] = cpu_rig_buffer(rig, sizeof(in), in);
    cpu_rig_run(rig, program, "rows", 2, buffers, 0, NULL, 1);
    cpu_rig_read(rig, buffers[0], sizeof(out), out);
    for (unsigned row = 0; row < 8; row++)
        assert_memory_equal(out[row], in, sizeof(in));
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_know_where_they_point_to),
        cmocka_unit_test(many_accesses_by_them_are_right),
    };

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
