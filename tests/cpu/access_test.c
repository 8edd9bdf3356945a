/*
 * Kernels of two vendors: a buffer that our kernel compiler found to be only read stays valid on both members, so it is
 * transferred to each of them once; one that may be written is transferred for every launch. If the two vendors' code
 * may differ, our compiler's reading tells nothing, and the data are right whichever kernel writes. Transfers are read
 * from the timeline; data are checked. Launches alternate between devices with their own memory (TESELA_ZERO_COPY=off).
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: rusticl TESELA_VENDORS={build}/vendors TESELA_MEMBERS=pthread,llvmpipe POCL_DEVICES=pthread TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: wrapped SABOTAGE_ICD={build}/vendors-pocl/pocl.icd TESELA_VENDORS={build}/vendors-pocl-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: beside_cpu TESELA_VENDORS={build}/vendors-oclgrind TESELA_MEMBERS=cpu,opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: unknown SABOTAGE_ICD={build}/vendors-pocl/pocl.icd SABOTAGE_NAME=Unknown TESELA_VENDORS={build}/vendors-sabotage POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin TESELA_GATES=off */
/* variant: unknown_on SABOTAGE_ICD={build}/vendors-pocl/pocl.icd SABOTAGE_NAME=Unknown TESELA_VENDORS={build}/vendors-sabotage POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin TESELA_GATES=off TESELA_VENDOR_ROLES=on */
/* variant: changed ACCESS_CHANGED=1 TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin */
/* variant: off TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin TESELA_VENDOR_ROLES=off */
#include "proof.h"

#include <CL/cl_tesela.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_ints = 3072, x_size = n_ints * sizeof(cl_int), n_launches = 6 };

/* Is one of the members ours? It says itself of its own kernels what they do. */
static bool has_cpu(void)
{
    return strstr(getenv("TESELA_MEMBERS"), "cpu,");
}

/* For vendors whose compilers were looked at, unless the setting says otherwise; not where a vendor's variable changed
 * what it compiles. */
static bool is_on(void)
{
    const char *setting = getenv("TESELA_VENDOR_ROLES");

    return !getenv("ACCESS_CHANGED") && (setting ? strcmp(setting, "on") == 0 : !getenv("SABOTAGE_NAME"));
}

static struct proof proof;

struct data {
    cl_mem x, y[n_launches];
};

static struct data make_data(void)
{
    struct data data = {.x = proof_buffer(&proof, CL_MEM_READ_WRITE, x_size, NULL)};
    cl_int values[n_ints];

    for (cl_int i = 0; i < n_ints; i++)
        values[i] = i;
    proof_did(&proof, clEnqueueWriteBuffer(proof.queue, data.x, CL_TRUE, 0, x_size, values, 0, NULL, NULL));
    for (unsigned i = 0; i < n_launches; i++)
        data.y[i] = proof_buffer(&proof, CL_MEM_READ_WRITE, x_size, NULL);
    return data;
}

static void release_data(const struct data *data)
{
    proof_ok(clReleaseMemObject(data->x));
    for (unsigned i = 0; i < n_launches; i++)
        proof_ok(clReleaseMemObject(data->y[i]));
}

static void launch(cl_kernel kernel, const struct data *data, unsigned i)
{
    cl_mem buffers[] = {data->y[i], data->x};
    size_t n = n_ints;

    proof_set(kernel, 2, buffers, 0, NULL);
    proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
}

static void read_ints(cl_mem buffer, cl_int *values)
{
    proof_did(&proof, clEnqueueReadBuffer(proof.queue, buffer, CL_TRUE, 0, x_size, values, 0, NULL, NULL));
}

static struct proof_moved moved_by_launches(cl_kernel kernel, struct data *data)
{
    uint64_t first = proof.n_commands + 1;

    for (unsigned i = 0; i < n_launches; i++)
        launch(kernel, data, i);
    proof_ok(clFinish(proof.queue));
    return proof_moved(proof_trace(&proof), first, proof.n_commands);
}

/* Bytes of x that went to members and back in all launches of the first kernel; each y is x + 1. */
static struct proof_moved run(const char *source)
{
    cl_int values[n_ints];
    struct proof_moved moved;
    struct data data;
    cl_kernel kernel;

    proof_open(&proof, source);
    kernel = proof_kernel(&proof, "f");
    data = make_data();
    moved = moved_by_launches(kernel, &data);
    for (unsigned i = 0; i < n_launches; i++) {
        read_ints(data.y[i], values);
        for (cl_int k = 0; k < n_ints; k++)
            assert_int_equal(values[k], k + 1);
    }
    release_data(&data);
    proof_ok(clReleaseKernel(kernel));
    proof_close(&proof);
    return moved;
}

#define ADD "{ y[get_global_id(0)] = x[get_global_id(0)] + 1; }"

static void what_is_only_read_moves_once_to_each(void **state)
{
    static const char *const sources[] = {
        "kernel void f(global int *y, global int *x) " ADD,
        "kernel void f(global int *y, global const int *restrict x) " ADD,
        "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n#ifndef MORE\n#define MORE "
        "1\n#endif\n"
        "int get(global int *p) { return p[0] + MORE; }\n"
        "kernel void f(global int *y, global int *x) { y[get_global_id(0)] = get(x + get_global_id(0)); }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct proof_moved moved = run(sources[i]);

        assert_int_equal(moved.to_members, (is_on() ? 2 : n_launches) * x_size);
        assert_int_equal(moved.from_members, is_on() ? 0 : (n_launches - 1) * x_size);
    }
}

/* Two members in turns: the first launch on each fetches x, and each later one what the one before may have written. */
static void what_may_be_written_moves_each_time(void **state)
{
    static const struct {
        const char *source;
        size_t written; /* bytes of x, as far as is known */
    } programs[] = {
        /* It never does, and were it to, it would be one element. */
        {"kernel void f(global int *y, global int *x) { if (y == x) x[0] = 7; y[get_global_id(0)] = "
         "x[get_global_id(0)] + 1; }",
         sizeof(cl_int)},
        /* What is stored is there already, but some vendors' compilers store it. */
        {"kernel void f(global int *y, global int *x) { x[get_global_id(0)] = x[get_global_id(0)]; y[get_global_id(0)] "
         "= x[get_global_id(0)] + 1; }",
         x_size},
        /* What vendors' macros say is told to all alike. */
        {"#ifdef __oclgrind__\n#define P x\n#else\n#define P x\n#endif\n"
         "kernel void f(global int *y, global int *x) { y[get_global_id(0)] = P[get_global_id(0)] + 1; }",
         0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        size_t written = is_on() ? programs[i].written : x_size;
        struct proof_moved moved = run(programs[i].source);

        if (!has_cpu()) {
            assert_int_equal(moved.to_members, 2 * x_size + (n_launches - 2) * written);
            assert_int_equal(moved.from_members, (n_launches - 1) * written);
        }
    }
}

/* Some vendors' compilers write x, others don't; y tells. Nothing that was written is lost. */
static void code_that_differs_between_vendors_stays_right(void **state)
{
    static const char *const conditions[] = {"defined(__x86_64__)",
                                             "defined(__SPIR__) || defined(__SPIR64__)",
                                             "__has_builtin(__builtin_ia32_pause)",
                                             "__clang_major__ > 14",
                                             "0",
                                             "1"};
    bool wrote[2] = {false, false};

    (void)state;
    for (size_t c = 0; c < sizeof(conditions) / sizeof(conditions[0]); c++) {
        char source[512];
        cl_int values[n_ints], told, written = 0;
        struct data data;
        cl_kernel kernel;

        snprintf(source, sizeof(source),
                 "#if %s\n#define ADD 1\n#endif\nkernel void f(global int *y, global int *x) {\n"
                 "size_t i = get_global_id(0);\n#ifdef ADD\nx[i] += 1; y[i] = 1;\n#else\ny[i] = x[i] < 0;\n#endif\n}\n",
                 conditions[c]);
        proof_open(&proof, source);
        kernel = proof_kernel(&proof, "f");
        data = make_data();
        for (unsigned i = 0; i < n_launches; i++)
            launch(kernel, &data, i);
        for (unsigned i = 0; i < n_launches; i++) {
            read_ints(data.y[i], values);
            told = values[0];
            written += told;
            wrote[told] = true;
        }
        read_ints(data.x, values);
        for (cl_int k = 0; k < n_ints; k++)
            assert_int_equal(values[k], k + written);
        release_data(&data);
        proof_ok(clReleaseKernel(kernel));
        proof_close(&proof);
    }
    assert_true(wrote[0] && wrote[1]);
}

/* A build that isn't of the whole program's text says nothing. */
static void linked_programs_are_not_known(void **state)
{
    static const char *text = "kernel void f(global int *y, global int *x) " ADD;
    struct proof_moved moved;
    struct data data;
    cl_program compiled, linked;
    cl_kernel kernel;
    cl_int error;

    (void)state;
    proof_open(&proof, NULL);
    compiled = clCreateProgramWithSource(proof.context, 1, &text, NULL, &error);
    proof_ok(error);
    proof_ok(clCompileProgram(compiled, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    linked = clLinkProgram(proof.context, 0, NULL, "", 1, &compiled, NULL, NULL, &error);
    proof_ok(error);
    kernel = clCreateKernel(linked, "f", &error);
    proof_ok(error);
    data = make_data();
    moved = moved_by_launches(kernel, &data);
    if (!has_cpu())
        assert_int_equal(moved.to_members, n_launches * x_size);
    release_data(&data);
    proof_ok(clReleaseKernel(kernel));
    proof_ok(clReleaseProgram(compiled));
    proof_ok(clReleaseProgram(linked));
    proof_close(&proof);
}

/* Vendors whose code may be made of something else. */
static void a_vendors_variable_makes_nothing_known(void **state)
{
    struct proof_moved moved;

    (void)state;
    setenv("AMD_OCL_LINK_OPTIONS", "", 1);
    moved = run("kernel void f(global int *y, global int *x) " ADD);
    unsetenv("AMD_OCL_LINK_OPTIONS");
    if (!has_cpu())
        assert_int_equal(moved.to_members, n_launches * x_size);
}

/* What an argument only reads may be written by way of another. */
static void the_same_bytes_in_two_arguments_stay_right(void **state)
{
    const size_t part = x_size / 2, n = n_ints / 2;
    cl_int values[n_ints];
    cl_kernel kernel;
    struct data data;

    (void)state;
    proof_open(&proof, "kernel void f(global int *y, global int *x) " ADD);
    kernel = proof_kernel(&proof, "f");
    data = make_data();
    cl_mem first = proof_sub_buffer(data.x, CL_MEM_READ_WRITE, 0, part);
    cl_mem second = proof_sub_buffer(data.x, CL_MEM_READ_WRITE, part, part);
    /* The whole of it in place; one half out of the other, and all as the other's source. */
    const cl_mem pairs[][2] = {{data.x, data.x}, {first, second}, {second, first}, {first, data.x}, {data.x, data.x}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const size_t size = pairs[i][0] == data.x ? n_ints : n;

        proof_set(kernel, 2, pairs[i], 0, NULL);
        proof_did(&proof, clEnqueueNDRangeKernel(proof.queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    }
    read_ints(data.x, values);
    /* +1; first = second + 1; second = first + 1; first + 1; +1 */
    for (cl_int k = 0; k < (cl_int)n; k++) {
        assert_int_equal(values[k], k + (cl_int)n + 1 + 1 + 1 + 1);
        assert_int_equal(values[k + (cl_int)n], k + (cl_int)n + 1 + 1 + 1 + 1);
    }
    proof_ok(clReleaseMemObject(first));
    proof_ok(clReleaseMemObject(second));
    release_data(&data);
    proof_ok(clReleaseKernel(kernel));
    proof_close(&proof);
}

/* Each member has the access of its own build, and a cloned kernel that of the kernel. */
static void builds_with_other_options_have_their_own_access(void **state)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    static const char *source = "kernel void f(global int *y, global int *x) { size_t i = get_global_id(0);\n"
                                "W[i] += 1; y[i] = x[i]; }\n";
    static const char *const options[] = {"-DW=x", "-DW=y"};
    cl_device_id members[2];
    cl_command_queue queues[2];
    cl_int values[n_ints], error;
    const size_t n = n_ints;
    cl_kernel kernel, clone;
    struct data data;

    (void)state;
    proof_ok(clCreateSubDevices(proof_root(), by_member, 2, members, NULL));
    proof_open_on(&proof, NULL, 2, members);
    proof.program = clCreateProgramWithSource(proof.context, 1, &source, NULL, &error);
    proof_ok(error);
    for (unsigned i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueue(proof.context, members[i], 0, &error);
        proof_ok(error);
        proof_ok(clBuildProgram(proof.program, 1, &members[i], options[i], NULL, NULL));
    }
    kernel = proof_kernel(&proof, "f");
    clone = clCloneKernel(kernel, &error);
    proof_ok(error);
    data = make_data();
    proof_ok(clFinish(proof.queue));
    for (unsigned i = 0; i < n_launches; i++) {
        const cl_mem buffers[] = {data.y[i], data.x};

        proof_set(i < 4 ? kernel : clone, 2, buffers, 0, NULL);
        proof_did(&proof,
                  clEnqueueNDRangeKernel(queues[i % 2], i < 4 ? kernel : clone, 1, NULL, &n, NULL, 0, NULL, NULL));
        proof_ok(clFinish(queues[i % 2]));
    }
    read_ints(data.x, values);
    for (cl_int k = 0; k < n_ints; k++)
        assert_int_equal(values[k], k + n_launches / 2);
    read_ints(data.y[n_launches - 1], values);
    for (cl_int k = 0; k < n_ints; k++)
        assert_int_equal(values[k], k + n_launches / 2);
    for (unsigned i = 0; i < 2; i++)
        proof_ok(clReleaseCommandQueue(queues[i]));
    release_data(&data);
    proof_ok(clReleaseKernel(kernel));
    proof_ok(clReleaseKernel(clone));
    proof_close(&proof);
}

/* A variable that is there when the vendors are loaded, and is gone when they build. */
static int set_up(void **state)
{
    (void)state;
    if (getenv("ACCESS_CHANGED"))
        setenv("CLVK_CLSPV_BIN", "", 1);
    proof_open(&proof, NULL);
    proof_close(&proof);
    unsetenv("CLVK_CLSPV_BIN");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_only_read_moves_once_to_each),
        cmocka_unit_test(what_may_be_written_moves_each_time),
        cmocka_unit_test(code_that_differs_between_vendors_stays_right),
        cmocka_unit_test(linked_programs_are_not_known),
        cmocka_unit_test(a_vendors_variable_makes_nothing_known),
        cmocka_unit_test(the_same_bytes_in_two_arguments_stay_right),
        cmocka_unit_test(builds_with_other_options_have_their_own_access),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
