/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: beside TESELA_VENDORS={build}/vendors */
/* any: */
/* timeout: 300 */
/*
 * Kernels as an application sees them: their lifetime, every error of clSetKernelArg, queries, and that a launch runs
 * with the arguments at the time of its enqueue.
 */
#include "begin.h"

#include <stdbool.h>
#include <stdlib.h>

static const char source[] =
    "typedef struct { int a; float b; char c[24]; } record;\n"
    "kernel void add(global int *out, global const int *in, constant int *table, int n, local int *scratch)\n"
    "{\n"
    "    scratch[get_local_id(0)] = in[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = scratch[get_local_id(0)] + table[0] + n;\n"
    "}\n"
    "kernel void set(global int *out, int value) { out[get_global_id(0)] = value; }\n"
    "kernel void take(global int *out, record r, float4 v) { *out = r.a + r.c[23] + (int)v.w; }\n"
    "kernel void is_null(global int *out, global int *maybe) { *out = maybe == 0; }\n"
    "kernel void bytes(global uchar *out, uchar2 a, char2 b, uchar3 c, global const uchar *in, int from)\n"
    "{\n"
    "    uchar own[48];\n"
    "    for (int i = 0; i < 48; i++) own[i] = in[i] + 100;\n"
    "    vstore16(vload16(0, in + from), 0, out + 1); vstore16(vload16(0, own + from), 0, out + 17);\n"
    "    vstore2(a, 0, out + 33); vstore2(as_uchar2(b), 0, out + 35); vstore3(c, 0, out + 37);\n"
    "}\n"
    "kernel void nothing() {}\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void shaped(global int *out) { *out = 1; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;

static int setup(void **state)
{
    const char *text = source;
    (void)state;

    context = make_context();
    queue = make_queue(context, 0);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    return clBuildProgram(program, 0, NULL, "-cl-kernel-arg-info", NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseProgram(program) || clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static cl_kernel make_kernel(const char *name)
{
    cl_int error = 1;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(kernel);
    return kernel;
}

static void set_mem(cl_kernel kernel, cl_uint index, cl_mem buffer)
{
    assert_int_equal(clSetKernelArg(kernel, index, sizeof buffer, &buffer), CL_SUCCESS);
}

static void set_int(cl_kernel kernel, cl_uint index, cl_int value)
{
    assert_int_equal(clSetKernelArg(kernel, index, sizeof value, &value), CL_SUCCESS);
}

static void launch(cl_kernel kernel, size_t n)
{
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
}

static cl_int first_int(cl_mem buffer)
{
    cl_int value = -1;

    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &value, 0, NULL, NULL), CL_SUCCESS);
    return value;
}

/* ---- Life ---- */

static void wrong_creations_are_refused(void **state)
{
    const char *text = source;
    cl_program unbuilt = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    (void)state;

    assert_refused(CL_INVALID_PROGRAM, clCreateKernel(NULL, "set", err));
    assert_refused(CL_INVALID_VALUE, clCreateKernel(program, NULL, err));
    assert_refused(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "no_such_kernel", err));
    assert_refused(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(unbuilt, "set", err));
    assert_int_equal(clCreateKernelsInProgram(unbuilt, 0, NULL, NULL), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(clCreateKernelsInProgram(NULL, 0, NULL, NULL), CL_INVALID_PROGRAM);
    clReleaseProgram(unbuilt);
}

static void all_kernels_at_once(void **state)
{
    cl_kernel kernels[7];
    cl_uint n = 0;
    (void)state;

    assert_int_equal(clCreateKernelsInProgram(program, 0, NULL, &n), CL_SUCCESS);
    assert_int_equal(n, 7);
    assert_int_equal(clCreateKernelsInProgram(program, 6, kernels, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCreateKernelsInProgram(program, 7, kernels, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(clReleaseKernel(kernels[i]), CL_SUCCESS);
}

static void handles_are_checked(void **state)
{
    cl_kernel kernel = make_kernel("set");
    cl_int value = 1;
    (void)state;

    assert_int_equal(clRetainKernel(kernel), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_INVALID_KERNEL);
    assert_int_equal(clSetKernelArg(kernel, 1, 4, &value), CL_INVALID_KERNEL);
    assert_int_equal(clSetKernelArg((cl_kernel)program, 1, 4, &value), CL_INVALID_KERNEL);
    assert_refused(CL_INVALID_KERNEL, clCloneKernel(kernel, err));
}

/* Through its kernel the application still reaches a program that it has released. */
static void a_kernel_keeps_its_program(void **state)
{
    const char *text = "kernel void f() {}";
    cl_program own = clCreateProgramWithSource(context, 1, &text, NULL, NULL), again;
    cl_kernel kernel;
    cl_uint n;
    (void)state;

    assert_int_equal(clBuildProgram(own, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(own, "f", NULL);
    clReleaseProgram(own);
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof again, &again, NULL), CL_SUCCESS);
    assert_ptr_equal(again, own);
    assert_int_equal(clGetProgramInfo(own, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL), CL_SUCCESS);
    clReleaseKernel(kernel);
    assert_int_equal(clGetProgramInfo(own, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL), CL_INVALID_PROGRAM);
}

/* ---- Arguments ---- */

static void wrong_arguments_are_refused(void **state)
{
    cl_kernel kernel = make_kernel("add");
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 64), none = NULL, wrong = (cl_mem)queue;
    cl_int value = 1;
    (void)state;

    assert_int_equal(clSetKernelArg(kernel, 5, 4, &value), CL_INVALID_ARG_INDEX);
    assert_int_equal(clSetKernelArg(kernel, 0, 4, &buffer), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof wrong, &wrong), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof none, &none), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof none, NULL), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, 4, NULL), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 3, 8, &value), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 4, 4, &value), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 4, 0, NULL), CL_INVALID_ARG_SIZE);
    /* Arguments don't keep a handle alive, though they keep its memory. */
    clReleaseMemObject(buffer);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_INVALID_MEM_OBJECT);
    clReleaseKernel(kernel);
}

static void a_structure_is_no_larger_than_parameters_may_be(void **state)
{
    static char bytes[1 << 17];
    const char *text = "struct s { int a[4]; }; kernel void k(global int *x, struct s y) { *x = y.a[3]; }";
    cl_int error;
    cl_program of = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    cl_kernel kernel;

    (void)state;
    assert_int_equal(clBuildProgram(of, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(of, "k", &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, 16, bytes), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, 0, bytes), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof bytes, bytes), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, SIZE_MAX, bytes), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, 16, NULL), CL_INVALID_ARG_VALUE);
    clReleaseKernel(kernel);
    clReleaseProgram(of);
}

/* Structures of the application's may be called nearly as what OpenCL C has. */
static void names_of_structures_are_free(void **state)
{
    const char *text = "typedef struct { int a; } image_data; typedef struct { int a; } sampler_t_data;\n"
                       "kernel void k(global image_data *x, global sampler_t_data *y) { x->a = 1; y->a = 2; }";
    cl_mem x = make_buffer(context, CL_MEM_READ_WRITE, 4), y = make_buffer(context, CL_MEM_READ_WRITE, 4);
    const size_t one = 1;
    cl_int error, a = 0, b = 0;
    cl_program of = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    cl_kernel kernel;

    (void)state;
    assert_int_equal(clBuildProgram(of, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(of, "k", &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof x, &x), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof y, &y), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, 4, &a, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, y, CL_TRUE, 0, 4, &b, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(a + 10 * b, 21);
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseKernel(kernel);
    clReleaseProgram(of);
}

static void all_kinds_of_arguments_arrive(void **state)
{
    struct {
        cl_int a;
        cl_float b;
        cl_char c[24];
    } record = {.a = 100, .c = {[23] = 7}};
    const cl_float v[4] = {0, 0, 0, 1000};
    const cl_int table = 10, numbers[4] = {1, 2, 3, 4};
    cl_mem out = make_buffer(context, CL_MEM_READ_WRITE, 64), in, constant;
    cl_kernel add = make_kernel("add"), take = make_kernel("take"), is_null = make_kernel("is_null");
    size_t n = 4;
    (void)state;

    in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof numbers, (void *)numbers, NULL);
    constant = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof table, (void *)&table, NULL);
    set_mem(add, 0, out);
    set_mem(add, 1, in);
    set_mem(add, 2, constant);
    set_int(add, 3, 100);
    assert_int_equal(clSetKernelArg(add, 4, 4 * sizeof(cl_int), NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, &n, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(first_int(out), 111);
    set_mem(take, 0, out);
    assert_int_equal(clSetKernelArg(take, 1, sizeof record, &record), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(take, 2, sizeof v, v), CL_SUCCESS);
    launch(take, 1);
    assert_int_equal(first_int(out), 1107);
    set_mem(is_null, 0, out);
    set_mem(is_null, 1, NULL);
    launch(is_null, 1);
    assert_int_equal(first_int(out), 1);
    clReleaseKernel(add);
    clReleaseKernel(take);
    clReleaseKernel(is_null);
    clReleaseMemObject(in);
    clReleaseMemObject(constant);
    clReleaseMemObject(out);
}

/* Vectors of bytes as values, and where no vector begins. */
static void bytes_arrive_wherever_they_are(void **state)
{
    enum { FROM = 5 };
    const cl_uchar2 a = {{1, 2}};
    const cl_char2 b = {{-3, 4}};
    const cl_uchar3 c = {{5, 6, 7}};
    const unsigned char values[] = {1, 2, 253, 4, 5, 6, 7};
    unsigned char numbers[48], got[40];
    cl_kernel kernel = make_kernel("bytes");
    cl_mem out = make_buffer(context, CL_MEM_READ_WRITE, 64), in;
    (void)state;

    for (unsigned i = 0; i < sizeof numbers; i++)
        numbers[i] = (unsigned char)i;
    in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, NULL);
    set_mem(kernel, 0, out);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof a, &a), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof b, &b), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof c, &c), CL_SUCCESS);
    set_mem(kernel, 4, in);
    set_int(kernel, 5, FROM);
    launch(kernel, 1);
    assert_int_equal(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(got[1 + i], FROM + i);
        assert_int_equal(got[17 + i], FROM + i + 100);
    }
    assert_memory_equal(got + 33, values, sizeof values);
    clReleaseKernel(kernel);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

/* 50 launches with changing values, none of them waited for, and the handle of each buffer is let go at once. */
static void a_launch_has_the_arguments_of_its_moment(void **state)
{
    enum { N = 50 };
    cl_kernel kernel = make_kernel("set");
    cl_event start = make_user_event(context);
    cl_command_queue out_of_order = make_queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem buffers[N];
    const size_t one = 1;
    (void)state;

    for (cl_int i = 0; i < N; i++) {
        buffers[i] = make_buffer(context, CL_MEM_READ_WRITE, 4);
        set_mem(kernel, 0, buffers[i]);
        set_int(kernel, 1, 1000 + i);
        assert_int_equal(clEnqueueNDRangeKernel(out_of_order, kernel, 1, NULL, &one, NULL, 1, &start, NULL),
                         CL_SUCCESS);
    }
    set_int(kernel, 1, -5);
    assert_int_equal(clSetUserEventStatus(start, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clFinish(out_of_order), CL_SUCCESS);
    for (cl_int i = 0; i < N; i++) {
        assert_int_equal(first_int(buffers[i]), 1000 + i);
        clReleaseMemObject(buffers[i]);
    }
    clReleaseCommandQueue(out_of_order);
    clReleaseEvent(start);
    clReleaseKernel(kernel);
}

static cl_program build_with(cl_program of, const char *options)
{
    static const char *const text = "kernel void a(global int *out, int x) { out[0] = x + N; }\n"
                                    "kernel void b(global int *out) { out[0] = N; }";
    cl_int error = CL_SUCCESS;

    if (!of)
        of = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(of, 0, NULL, options, NULL, NULL), CL_SUCCESS);
    return of;
}

static int value_of(cl_kernel kernel, cl_mem out)
{
    const size_t one = 1;
    int value = -1;

    assert_int_equal(clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL), CL_SUCCESS);
    return value;
}

/* What released kernels leave behind their handles serves the next ones. */
static void a_kernel_for_each_launch_begins_anew(void **state)
{
    cl_program of = build_with(NULL, "-DN=1");
    cl_mem out = make_buffer(context, CL_MEM_READ_WRITE, sizeof(int));
    const size_t one = 1;
    cl_kernel kernels[20];

    (void)state;
    for (int i = 0; i < 40; i++) {
        cl_kernel a = clCreateKernel(of, "a", NULL), b = clCreateKernel(of, "b", NULL);

        /* Arguments of the last one are none of this one's. */
        assert_int_equal(clEnqueueNDRangeKernel(queue, a, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
        assert_int_equal(clSetKernelArg(a, 1, sizeof i, &i), CL_SUCCESS);
        assert_int_equal(value_of(a, out), i + 1);
        assert_int_equal(value_of(b, out), 1);
        assert_int_equal(clReleaseKernel(a) || clReleaseKernel(b), CL_SUCCESS);
        assert_int_equal(clReleaseKernel(a), CL_INVALID_KERNEL);
    }
    /* More at once than are kept, each with its own arguments. */
    for (int i = 0; i < 20; i++) {
        kernels[i] = clCreateKernel(of, "a", NULL);
        assert_int_equal(clSetKernelArg(kernels[i], 1, sizeof i, &i), CL_SUCCESS);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(value_of(kernels[i], out), i + 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(clReleaseKernel(kernels[i]), CL_SUCCESS);
    /* None of them is left where the program is another. */
    build_with(of, "-DN=7");
    kernels[0] = clCreateKernel(of, "b", NULL);
    assert_int_equal(value_of(kernels[0], out), 7);
    assert_int_equal(clReleaseKernel(kernels[0]) || clReleaseProgram(of) || clReleaseMemObject(out), CL_SUCCESS);
}

static void a_clone_has_the_arguments_and_its_own_life(void **state)
{
    cl_kernel kernel = make_kernel("set"), clone;
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 4);
    cl_int error;
    (void)state;

    set_mem(kernel, 0, buffer);
    set_int(kernel, 1, 1);
    clone = clCloneKernel(kernel, &error);
    assert_int_equal(error, CL_SUCCESS);
    launch(clone, 1);
    assert_int_equal(first_int(buffer), 1);
    set_int(clone, 1, 2);
    launch(kernel, 1);
    assert_int_equal(first_int(buffer), 1);
    clReleaseKernel(kernel);
    launch(clone, 1);
    assert_int_equal(first_int(buffer), 2);
    clReleaseKernel(clone);
    clReleaseMemObject(buffer);
}

/* ---- Queries ---- */

static void a_kernel_tells_what_it_is(void **state)
{
    cl_kernel kernel = make_kernel("add");
    cl_context its_context;
    char name[10];
    cl_uint n;
    size_t size;
    (void)state;

    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, &size), CL_SUCCESS);
    assert_string_equal(name, "add");
    assert_int_equal(size, 4);
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 5);
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof its_context, &its_context, NULL), CL_SUCCESS);
    assert_ptr_equal(its_context, context);
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, 1, &n, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelInfo(kernel, 4711, sizeof n, &n, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelInfo(NULL, CL_KERNEL_NUM_ARGS, sizeof n, &n, NULL), CL_INVALID_KERNEL);
    clReleaseKernel(kernel);
}

static void arguments_tell_what_they_are(void **state)
{
    static const struct {
        const char *name, *type;
        cl_kernel_arg_address_qualifier address;
        cl_kernel_arg_type_qualifier qualifier;
    } expected[] = {
        {"out", "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_NONE},
        {"in", "int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST},
        {"table", "int*", CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST},
        {"n", "int", CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE},
        {"scratch", "int*", CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_TYPE_NONE},
    };
    cl_kernel kernel = make_kernel("add");
    cl_kernel_arg_access_qualifier access;
    (void)state;

    for (cl_uint i = 0; i < LENGTH(expected); i++) {
        cl_kernel_arg_address_qualifier address;
        cl_kernel_arg_type_qualifier qualifier;
        char text[20];

        assert_int_equal(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof text, text, NULL), CL_SUCCESS);
        assert_string_equal(text, expected[i].name);
        assert_int_equal(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL), CL_SUCCESS);
        assert_string_equal(text, expected[i].type);
        assert_int_equal(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL),
                         CL_SUCCESS);
        assert_int_equal(address, expected[i].address);
        assert_int_equal(
            clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL),
            CL_SUCCESS);
        assert_int_equal(qualifier, expected[i].qualifier);
    }
    assert_int_equal(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL),
                     CL_SUCCESS);
    assert_int_equal(access, CL_KERNEL_ARG_ACCESS_NONE);
    assert_int_equal(clGetKernelArgInfo(kernel, 5, CL_KERNEL_ARG_NAME, 0, NULL, NULL), CL_INVALID_ARG_INDEX);
    assert_int_equal(clGetKernelArgInfo(kernel, 0, 4711, 0, NULL, NULL), CL_INVALID_VALUE);
    clReleaseKernel(kernel);
}

static size_t work_group_number(cl_kernel kernel, cl_kernel_work_group_info param)
{
    size_t value = 0;

    assert_int_equal(clGetKernelWorkGroupInfo(kernel, our_device(), param, sizeof value, &value, NULL), CL_SUCCESS);
    return value;
}

/* OpenCL 3.0, 5.9.4: only programs that were built for it tell. */
static void arguments_are_told_only_if_asked_for(void **state)
{
    const char *text = "kernel void k(global int *x, const int n) { *x = n; }";
    static const char *const options[] = {"", "-cl-kernel-arg-info", "-w", "-w  -cl-kernel-arg-info"};
    cl_kernel_arg_address_qualifier address;

    (void)state;
    for (size_t i = 0; i < LENGTH(options); i++) {
        cl_int error;
        cl_program of = clCreateProgramWithSource(context, 1, &text, NULL, &error);
        cl_program linked;
        cl_kernel kernels[2];

        assert_int_equal(clCompileProgram(of, 0, NULL, options[i], 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
        linked = clLinkProgram(context, 0, NULL, "", 1, &of, NULL, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clBuildProgram(of, 0, NULL, options[i], NULL, NULL), CL_SUCCESS);
        kernels[0] = clCreateKernel(of, "k", &error);
        kernels[1] = clCreateKernel(linked, "k", &error);
        for (int k = 0; k < 2; k++) {
            error = clGetKernelArgInfo(kernels[k], 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address, NULL);
            /* PoCL forgets what it knew when it links. */
            if (i % 2 == 0)
                assert_int_equal(error, CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
            else if (k == 0)
                assert_int_equal(error, CL_SUCCESS);
            clReleaseKernel(kernels[k]);
        }
        clReleaseProgram(linked);
        clReleaseProgram(of);
    }
}

static void work_groups_fit_the_device(void **state)
{
    cl_kernel add = make_kernel("add"), shaped = make_kernel("shaped");
    size_t max, shape[3], size;
    (void)state;

    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof max, &max, NULL), CL_SUCCESS);
    assert_in_range(work_group_number(add, CL_KERNEL_WORK_GROUP_SIZE), 1, max);
    assert_in_range(work_group_number(add, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 1, max);
    work_group_number(add, CL_KERNEL_PRIVATE_MEM_SIZE);
    size = work_group_number(add, CL_KERNEL_LOCAL_MEM_SIZE);
    assert_int_equal(clSetKernelArg(add, 4, 1000, NULL), CL_SUCCESS);
    assert_int_equal(work_group_number(add, CL_KERNEL_LOCAL_MEM_SIZE), size + 1000);
    assert_int_equal(
        clGetKernelWorkGroupInfo(shaped, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof shape, shape, NULL),
        CL_SUCCESS);
    assert_int_equal(shape[0], 4);
    assert_int_equal(shape[1], 2);
    assert_int_equal(shape[2], 1);
    assert_int_equal(clGetKernelWorkGroupInfo(add, our_device(), CL_KERNEL_GLOBAL_WORK_SIZE, sizeof shape, shape, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetKernelWorkGroupInfo(add, (cl_device_id)queue, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, NULL),
                     CL_INVALID_DEVICE);
    clReleaseKernel(add);
    clReleaseKernel(shaped);
}

static void what_the_device_has_not_is_refused(void **state)
{
    cl_kernel kernel = make_kernel("set");
    cl_device_svm_capabilities svm = 0;
    size_t size;
    (void)state;

    clGetDeviceInfo(our_device(), CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, NULL), svm ? CL_SUCCESS : CL_INVALID_OPERATION);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL),
                     svm ? CL_SUCCESS : CL_INVALID_OPERATION);
    assert_int_equal(
        clGetKernelSubGroupInfo(kernel, our_device(), CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof size, &size, NULL),
        CL_INVALID_OPERATION);
    clReleaseKernel(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_creations_are_refused),
        cmocka_unit_test(all_kernels_at_once),
        cmocka_unit_test(handles_are_checked),
        cmocka_unit_test(a_kernel_keeps_its_program),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_structure_is_no_larger_than_parameters_may_be),
        cmocka_unit_test(names_of_structures_are_free),
        cmocka_unit_test(all_kinds_of_arguments_arrive),
        cmocka_unit_test(bytes_arrive_wherever_they_are),
        cmocka_unit_test(a_launch_has_the_arguments_of_its_moment),
        cmocka_unit_test(a_kernel_for_each_launch_begins_anew),
        cmocka_unit_test(a_clone_has_the_arguments_and_its_own_life),
        cmocka_unit_test(a_kernel_tells_what_it_is),
        cmocka_unit_test(arguments_tell_what_they_are),
        cmocka_unit_test(arguments_are_told_only_if_asked_for),
        cmocka_unit_test(work_groups_fit_the_device),
        cmocka_unit_test(what_the_device_has_not_is_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
