/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* timeout: 300 */
/* Each error that the specification lists for calls of programs, kernels, launches and events. */
#include "errors.h"

#include <CL/cl_tesela.h>

#define ROOM 4096

static const char source[] =
    "kernel void set(global int *out, int value) { out[get_global_id(0)] = value; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void shaped(global int *out) { out[0] = 1; }\n"
    "kernel void locals(global int *out, local int *scratch) { scratch[0] = 1; out[0] = scratch[0]; }\n"
    "kernel void sampled(read_only image2d_t i, sampler_t s, global float4 *out)\n"
    "{ out[0] = read_imagef(i, s, (int2)(0, 0)); }\n";

static cl_device_id device, member;
static cl_command_queue other_queue;
static cl_program program, unbuilt, broken, foreign_program, object, plain;
static cl_kernel set, shaped, locals, unset;
static cl_mem buffer, foreign;
static cl_event pending;
static char room[ROOM];

/* ---- Things ---- */

static cl_program of_source(cl_context of, const char *text)
{
    cl_program made = clCreateProgramWithSource(of, 1, &text, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static cl_kernel kernel_of(const char *name)
{
    cl_kernel made = clCreateKernel(program, name, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static void make_programs(void)
{
    program = of_source(context, source);
    unbuilt = of_source(context, "kernel void k(global int *x) { *x = 1; }");
    broken = of_source(context, "kernel void k(global int *x) { this is no C }");
    foreign_program = of_source(other, "kernel void k(global int *x) { *x = 1; }");
    object = of_source(context, "int f(int x); kernel void k(global int *x) { *x = f(1); }");
    plain = of_source(context, "kernel void k(global int *x) { *x = 1; }");
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(clBuildProgram(foreign_program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    assert_int_equal(clCompileProgram(object, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clBuildProgram(plain, 0, NULL, "", NULL, NULL), CL_SUCCESS);
}

static int setup(void **state)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};

    (void)state;
    device = our_device();
    begin_errors(CL_QUEUE_PROFILING_ENABLE);
    other_queue = make_queue(other, 0);
    make_programs();
    set = kernel_of("set");
    shaped = kernel_of("shaped");
    locals = kernel_of("locals");
    unset = kernel_of("set");
    buffer = make_buffer(context, CL_MEM_READ_WRITE, ROOM);
    foreign = make_buffer(other, CL_MEM_READ_WRITE, ROOM);
    clSetKernelArg(set, 0, sizeof buffer, &buffer);
    clSetKernelArg(set, 1, sizeof(cl_int), &(cl_int){1});
    clSetKernelArg(shaped, 0, sizeof buffer, &buffer);
    clSetKernelArg(locals, 0, sizeof buffer, &buffer);
    pending = make_user_event(context);
    return clCreateSubDevices(device, by_member, 1, &member, NULL);
}

static int teardown(void **state)
{
    const cl_program programs[] = {program, unbuilt, broken, foreign_program, object, plain};
    const cl_kernel kernels[] = {set, shaped, locals, unset};

    (void)state;
    for (size_t i = 0; i < LENGTH(kernels); i++)
        clReleaseKernel(kernels[i]);
    for (size_t i = 0; i < LENGTH(programs); i++)
        clReleaseProgram(programs[i]);
    clReleaseEvent(pending);
    clReleaseMemObject(buffer);
    clReleaseMemObject(foreign);
    clReleaseCommandQueue(other_queue);
    end_errors();
    return clReleaseDevice(member);
}

/* ---- Programs ---- */

static void test_creation(void **state)
{
    const char *text = "kernel void k() {}", *no_text = NULL;
    const unsigned char rubbish[] = "no binary of anybody's", *binary = rubbish, *no_binary = NULL;
    const size_t rubbish_size = sizeof rubbish, none = 0;

    (void)state;
    E(clCreateProgramWithSource, CL_INVALID_CONTEXT, "another object",
      OF(clCreateProgramWithSource((cl_context)queue, 1, &text, NULL, &code)));
    E(clCreateProgramWithSource, CL_INVALID_VALUE, "none",
      OF(clCreateProgramWithSource(context, 0, &text, NULL, &code)));
    E(clCreateProgramWithSource, CL_INVALID_VALUE, "no list",
      OF(clCreateProgramWithSource(context, 1, NULL, NULL, &code)));
    E(clCreateProgramWithSource, CL_INVALID_VALUE, "NULL in it",
      OF(clCreateProgramWithSource(context, 1, &no_text, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_CONTEXT, "another object",
      OF(clCreateProgramWithBinary((cl_context)queue, 1, &device, &rubbish_size, &binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_VALUE, "no list",
      OF(clCreateProgramWithBinary(context, 1, NULL, &rubbish_size, &binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_VALUE, "no devices",
      OF(clCreateProgramWithBinary(context, 0, &device, &rubbish_size, &binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_DEVICE, "not the context's",
      OF(clCreateProgramWithBinary(context, 1, &member, &rubbish_size, &binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_VALUE, "no lengths",
      OF(clCreateProgramWithBinary(context, 1, &device, NULL, &binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_VALUE, "no binaries",
      OF(clCreateProgramWithBinary(context, 1, &device, &rubbish_size, NULL, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_VALUE, "an empty one",
      OF(clCreateProgramWithBinary(context, 1, &device, &none, &binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_VALUE, "NULL for one",
      OF(clCreateProgramWithBinary(context, 1, &device, &rubbish_size, &no_binary, NULL, &code)));
    E(clCreateProgramWithBinary, CL_INVALID_BINARY, "rubbish",
      OF(clCreateProgramWithBinary(context, 1, &device, &rubbish_size, &binary, NULL, &code)));
    E(clCreateProgramWithBuiltInKernels, CL_INVALID_CONTEXT, "another object",
      OF(clCreateProgramWithBuiltInKernels((cl_context)queue, 1, &device, "k", &code)));
    E(clCreateProgramWithBuiltInKernels, CL_INVALID_VALUE, "no list",
      OF(clCreateProgramWithBuiltInKernels(context, 1, NULL, "k", &code)));
    E(clCreateProgramWithBuiltInKernels, CL_INVALID_VALUE, "no names",
      OF(clCreateProgramWithBuiltInKernels(context, 1, &device, NULL, &code)));
    E(clCreateProgramWithBuiltInKernels, CL_INVALID_VALUE, "unknown",
      OF(clCreateProgramWithBuiltInKernels(context, 1, &device, "nobody_has_it", &code)));
    E(clCreateProgramWithBuiltInKernels, CL_INVALID_DEVICE, "not the context's",
      OF(clCreateProgramWithBuiltInKernels(context, 1, &member, "k", &code)));
    E(clRetainProgram, CL_INVALID_PROGRAM, "another object", clRetainProgram((cl_program)queue));
    E(clReleaseProgram, CL_INVALID_PROGRAM, "another object", clReleaseProgram((cl_program)queue));
    E(clUnloadPlatformCompiler, CL_INVALID_PLATFORM, "another object",
      clUnloadPlatformCompiler((cl_platform_id)context));
}

static cl_int build(cl_program of, const char *options)
{
    return clBuildProgram(of, 0, NULL, options, NULL, NULL);
}

static cl_int compile(cl_program of, cl_uint n, const cl_program *headers, const char **names, const char *options)
{
    return clCompileProgram(of, 0, NULL, options, n, headers, names, NULL, NULL);
}

static cl_program from_binary(void)
{
    size_t its_size = 0;
    cl_program made;
    unsigned char *bytes;

    assert_int_equal(clGetProgramInfo(plain, CL_PROGRAM_BINARY_SIZES, sizeof its_size, &its_size, NULL), CL_SUCCESS);
    bytes = test_malloc(its_size);
    assert_int_equal(clGetProgramInfo(plain, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL), CL_SUCCESS);
    made = clCreateProgramWithBinary(context, 1, &device, &its_size, (const unsigned char **)&bytes, NULL, &code);
    test_free(bytes);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static void test_builds(void **state)
{
    cl_program binary = from_binary();
    const char *name = "h.h";

    (void)state;
    E(clBuildProgram, CL_INVALID_PROGRAM, "another object", build((cl_program)queue, ""));
    E(clBuildProgram, CL_INVALID_VALUE, "no list", clBuildProgram(unbuilt, 1, NULL, "", NULL, NULL));
    E(clBuildProgram, CL_INVALID_VALUE, "no devices", clBuildProgram(unbuilt, 0, &device, "", NULL, NULL));
    E(clBuildProgram, CL_INVALID_VALUE, "data for nobody", clBuildProgram(unbuilt, 0, NULL, "", NULL, room));
    E(clBuildProgram, CL_INVALID_DEVICE, "not the program's", clBuildProgram(unbuilt, 1, &member, "", NULL, NULL));
    E(clBuildProgram, CL_INVALID_BUILD_OPTIONS, "an unknown option", build(unbuilt, "-cl-no-such-option"));
    E(clBuildProgram, CL_BUILD_PROGRAM_FAILURE, "no C", build(broken, ""));
    E(clBuildProgram, CL_INVALID_OPERATION, "with kernels", build(program, ""));
    NEVER(clBuildProgram, CL_INVALID_BINARY, "every binary that was taken is for all devices that it was given for");
    NEVER(clBuildProgram, CL_COMPILER_NOT_AVAILABLE, "fpga_test.c");
    E(clCompileProgram, CL_INVALID_PROGRAM, "another object", compile((cl_program)queue, 0, NULL, NULL, ""));
    E(clCompileProgram, CL_INVALID_CONTEXT, "a foreign header", compile(unbuilt, 1, &foreign_program, &name, ""));
    E(clCompileProgram, CL_INVALID_PROGRAM, "a header that is none",
      compile(unbuilt, 1, &(const cl_program){(cl_program)queue}, &name, ""));
    E(clCompileProgram, CL_INVALID_VALUE, "no list", clCompileProgram(unbuilt, 1, NULL, "", 0, NULL, NULL, NULL, NULL));
    E(clCompileProgram, CL_INVALID_VALUE, "no devices",
      clCompileProgram(unbuilt, 0, &device, "", 0, NULL, NULL, NULL, NULL));
    E(clCompileProgram, CL_INVALID_VALUE, "headers, but none", compile(unbuilt, 0, &unbuilt, NULL, ""));
    E(clCompileProgram, CL_INVALID_VALUE, "names, but none", compile(unbuilt, 0, NULL, &name, ""));
    E(clCompileProgram, CL_INVALID_VALUE, "no headers", compile(unbuilt, 1, NULL, &name, ""));
    E(clCompileProgram, CL_INVALID_VALUE, "no names", compile(unbuilt, 1, &unbuilt, NULL, ""));
    E(clCompileProgram, CL_INVALID_VALUE, "data for nobody",
      clCompileProgram(unbuilt, 0, NULL, "", 0, NULL, NULL, NULL, room));
    E(clCompileProgram, CL_INVALID_DEVICE, "not the program's",
      clCompileProgram(unbuilt, 1, &member, "", 0, NULL, NULL, NULL, NULL));
    E(clCompileProgram, CL_INVALID_COMPILER_OPTIONS, "unknown", compile(unbuilt, 0, NULL, NULL, "-cl-no-such-option"));
    E(clCompileProgram, CL_COMPILE_PROGRAM_FAILURE, "no C", compile(broken, 0, NULL, NULL, ""));
    E(clCompileProgram, CL_INVALID_OPERATION, "with kernels", compile(program, 0, NULL, NULL, ""));
    E(clCompileProgram, CL_INVALID_OPERATION, "of a binary", compile(binary, 0, NULL, NULL, ""));
    NEVER(clCompileProgram, CL_COMPILER_NOT_AVAILABLE, "fpga_test.c");
    clReleaseProgram(binary);
}

static cl_int link_of(cl_uint n, const cl_program *inputs, const char *options)
{
    cl_program made = clLinkProgram(context, 0, NULL, options, n, inputs, NULL, NULL, &code);

    if (made)
        clReleaseProgram(made);
    return code;
}

static void test_links(void **state)
{
    const cl_program wrong = (cl_program)queue;

    (void)state;
    E(clLinkProgram, CL_INVALID_CONTEXT, "another object",
      OF(clLinkProgram((cl_context)queue, 0, NULL, "", 1, &object, NULL, NULL, &code)));
    E(clLinkProgram, CL_INVALID_VALUE, "no list",
      OF(clLinkProgram(context, 1, NULL, "", 1, &object, NULL, NULL, &code)));
    E(clLinkProgram, CL_INVALID_VALUE, "no devices",
      OF(clLinkProgram(context, 0, &device, "", 1, &object, NULL, NULL, &code)));
    E(clLinkProgram, CL_INVALID_VALUE, "nothing", link_of(0, &object, ""));
    E(clLinkProgram, CL_INVALID_VALUE, "no inputs", link_of(1, NULL, ""));
    E(clLinkProgram, CL_INVALID_VALUE, "data for nobody",
      OF(clLinkProgram(context, 0, NULL, "", 1, &object, NULL, room, &code)));
    E(clLinkProgram, CL_INVALID_PROGRAM, "another object", link_of(1, &wrong, ""));
    E(clLinkProgram, CL_INVALID_CONTEXT, "a foreign input", link_of(1, &foreign_program, ""));
    E(clLinkProgram, CL_INVALID_DEVICE, "not the context's",
      OF(clLinkProgram(context, 1, &member, "", 1, &object, NULL, NULL, &code)));
    E(clLinkProgram, CL_INVALID_LINKER_OPTIONS, "unknown", link_of(1, &object, "-no-such-option"));
    E(clLinkProgram, CL_INVALID_OPERATION, "never compiled", link_of(1, &unbuilt, ""));
    E(clLinkProgram, CL_LINK_PROGRAM_FAILURE, "a function is lacking", link_of(1, &object, ""));
    NEVER(clLinkProgram, CL_LINKER_NOT_AVAILABLE, "fpga_test.c");
}

static void test_program_queries(void **state)
{
    (void)state;
    E(clGetProgramInfo, CL_INVALID_PROGRAM, "another object",
      clGetProgramInfo((cl_program)queue, CL_PROGRAM_SOURCE, ROOM, room, NULL));
    E(clGetProgramInfo, CL_INVALID_VALUE, "unknown", clGetProgramInfo(program, 7, ROOM, room, NULL));
    E(clGetProgramInfo, CL_INVALID_VALUE, "no room", clGetProgramInfo(program, CL_PROGRAM_SOURCE, 1, room, NULL));
    E(clGetProgramInfo, CL_INVALID_PROGRAM_EXECUTABLE, "kernels of nothing",
      clGetProgramInfo(broken, CL_PROGRAM_NUM_KERNELS, ROOM, room, NULL));
    E(clGetProgramInfo, CL_INVALID_PROGRAM_EXECUTABLE, "names of nothing",
      clGetProgramInfo(broken, CL_PROGRAM_KERNEL_NAMES, ROOM, room, NULL));
    E(clGetProgramBuildInfo, CL_INVALID_PROGRAM, "another object",
      clGetProgramBuildInfo((cl_program)queue, device, CL_PROGRAM_BUILD_LOG, ROOM, room, NULL));
    E(clGetProgramBuildInfo, CL_INVALID_DEVICE, "not the program's",
      clGetProgramBuildInfo(program, member, CL_PROGRAM_BUILD_LOG, ROOM, room, NULL));
    E(clGetProgramBuildInfo, CL_INVALID_VALUE, "unknown", clGetProgramBuildInfo(program, device, 7, ROOM, room, NULL));
    E(clGetProgramBuildInfo, CL_INVALID_VALUE, "no room",
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, 1, room, NULL));
}

/* ---- Kernels ---- */

static void test_kernels(void **state)
{
    cl_kernel two[2];

    (void)state;
    E(clCreateKernel, CL_INVALID_PROGRAM, "another object", OF(clCreateKernel((cl_program)queue, "set", &code)));
    E(clCreateKernel, CL_INVALID_PROGRAM_EXECUTABLE, "of nothing", OF(clCreateKernel(broken, "k", &code)));
    E(clCreateKernel, CL_INVALID_KERNEL_NAME, "unknown", OF(clCreateKernel(program, "nobody", &code)));
    E(clCreateKernel, CL_INVALID_VALUE, "nameless", OF(clCreateKernel(program, NULL, &code)));
    NEVER(clCreateKernel, CL_INVALID_KERNEL_DEFINITION, "sub_device_test.c; the virtual device leaves members out");
    E(clCreateKernelsInProgram, CL_INVALID_PROGRAM, "another object",
      clCreateKernelsInProgram((cl_program)queue, 2, two, NULL));
    E(clCreateKernelsInProgram, CL_INVALID_PROGRAM_EXECUTABLE, "of nothing",
      clCreateKernelsInProgram(broken, 2, two, NULL));
    E(clCreateKernelsInProgram, CL_INVALID_VALUE, "no room", clCreateKernelsInProgram(program, 2, two, NULL));
    E(clRetainKernel, CL_INVALID_KERNEL, "another object", clRetainKernel((cl_kernel)queue));
    E(clReleaseKernel, CL_INVALID_KERNEL, "another object", clReleaseKernel((cl_kernel)queue));
    E(clGetKernelInfo, CL_INVALID_KERNEL, "another object",
      clGetKernelInfo((cl_kernel)queue, CL_KERNEL_NUM_ARGS, ROOM, room, NULL));
    E(clGetKernelInfo, CL_INVALID_VALUE, "unknown", clGetKernelInfo(set, 7, ROOM, room, NULL));
    E(clGetKernelInfo, CL_INVALID_VALUE, "no room", clGetKernelInfo(set, CL_KERNEL_NUM_ARGS, 1, room, NULL));
    E(clGetKernelWorkGroupInfo, CL_INVALID_KERNEL, "another object",
      clGetKernelWorkGroupInfo((cl_kernel)queue, device, CL_KERNEL_WORK_GROUP_SIZE, ROOM, room, NULL));
    E(clGetKernelWorkGroupInfo, CL_INVALID_DEVICE, "not the kernel's",
      clGetKernelWorkGroupInfo(set, member, CL_KERNEL_WORK_GROUP_SIZE, ROOM, room, NULL));
    E(clGetKernelWorkGroupInfo, CL_INVALID_VALUE, "unknown",
      clGetKernelWorkGroupInfo(set, device, 7, ROOM, room, NULL));
    E(clGetKernelWorkGroupInfo, CL_INVALID_VALUE, "no room",
      clGetKernelWorkGroupInfo(set, device, CL_KERNEL_WORK_GROUP_SIZE, 1, room, NULL));
    E(clGetKernelWorkGroupInfo, CL_INVALID_VALUE, "not built in",
      clGetKernelWorkGroupInfo(set, device, CL_KERNEL_GLOBAL_WORK_SIZE, ROOM, room, NULL));
    E(clGetKernelArgInfo, CL_INVALID_KERNEL, "another object",
      clGetKernelArgInfo((cl_kernel)queue, 0, CL_KERNEL_ARG_NAME, ROOM, room, NULL));
    E(clGetKernelArgInfo, CL_INVALID_ARG_INDEX, "beyond",
      clGetKernelArgInfo(set, 2, CL_KERNEL_ARG_NAME, ROOM, room, NULL));
    E(clGetKernelArgInfo, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "not asked for",
      clGetKernelArgInfo(set, 0, CL_KERNEL_ARG_NAME, ROOM, room, NULL));
}

static void test_arg_info(void **state)
{
    cl_program asked = of_source(context, "kernel void k(global int *x) { *x = 1; }");
    cl_kernel kernel;

    (void)state;
    assert_int_equal(build(asked, "-cl-kernel-arg-info"), CL_SUCCESS);
    kernel = clCreateKernel(asked, "k", &code);
    E(clGetKernelArgInfo, CL_INVALID_VALUE, "unknown", clGetKernelArgInfo(kernel, 0, 7, ROOM, room, NULL));
    E(clGetKernelArgInfo, CL_INVALID_VALUE, "no room",
      clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, 1, room, NULL));
    clReleaseKernel(kernel);
    clReleaseProgram(asked);
}

static void test_args(void **state)
{
    cl_mem wrong = (cl_mem)queue;

    (void)state;
    E(clSetKernelArg, CL_INVALID_KERNEL, "another object", clSetKernelArg((cl_kernel)queue, 0, sizeof buffer, &buffer));
    E(clSetKernelArg, CL_INVALID_ARG_INDEX, "beyond", clSetKernelArg(set, 2, sizeof buffer, &buffer));
    E(clSetKernelArg, CL_INVALID_CONTEXT, "a foreign buffer", clSetKernelArg(set, 0, sizeof foreign, &foreign));
    E(clSetKernelArg, CL_INVALID_MEM_OBJECT, "another object", clSetKernelArg(set, 0, sizeof wrong, &wrong));
    E(clSetKernelArg, CL_INVALID_ARG_SIZE, "half a buffer", clSetKernelArg(set, 0, sizeof buffer / 2, &buffer));
    E(clSetKernelArg, CL_INVALID_ARG_SIZE, "a long for an int", clSetKernelArg(set, 1, 8, room));
    E(clSetKernelArg, CL_INVALID_ARG_SIZE, "no local memory", clSetKernelArg(locals, 1, 0, NULL));
    E(clSetKernelArg, CL_INVALID_ARG_VALUE, "a value for local memory", clSetKernelArg(locals, 1, 4, room));
    E(clSetKernelArg, CL_INVALID_ARG_VALUE, "NULL for a value", clSetKernelArg(set, 1, sizeof(cl_int), NULL));
    NEVER(clSetKernelArg, CL_INVALID_SAMPLER, "image tests");
    NEVER(clSetKernelArg, CL_INVALID_DEVICE_QUEUE, "no queues on the device");
    NEVER(clSetKernelArg, CL_MAX_SIZE_RESTRICTION_EXCEEDED, "no such restriction");
}

/* ---- Launches ---- */

static const size_t one = 1, none = 0, eight = 8, seven = 7, most = SIZE_MAX;
static const size_t huge_group[] = {1u << 20}, ones[] = {1, 1, 1, 1};

static cl_int launch(cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global, const size_t *local)
{
    return clEnqueueNDRangeKernel(the_queue(), kernel, dims, offset, global, local, n_list, list, NULL);
}

static void test_launches(void **state)
{
    cl_kernel abroad_kernel = clCreateKernel(foreign_program, "k", &code);

    (void)state;
    WAIT_LISTS(clEnqueueNDRangeKernel, launch(set, 1, NULL, &one, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_KERNEL, "another object", launch((cl_kernel)queue, 1, NULL, &one, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_CONTEXT, "a foreign kernel", launch(abroad_kernel, 1, NULL, &one, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_KERNEL_ARGS, "without arguments", launch(unset, 1, NULL, &one, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_DIMENSION, "flat", launch(set, 0, NULL, ones, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_DIMENSION, "in four dimensions", launch(set, 4, NULL, ones, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_GLOBAL_OFFSET, "ends beyond size_t", launch(set, 1, &most, &eight, NULL));
    NEVER(clEnqueueNDRangeKernel, CL_INVALID_GLOBAL_WORK_SIZE,
          "since 2.1 a size may be NULL or 0, and size_t is the host's");
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_GROUP_SIZE, "a group of none", launch(set, 1, NULL, &eight, &none));
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_GROUP_SIZE, "not whole groups", launch(set, 1, NULL, &eight, &seven));
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_GROUP_SIZE, "not the required one",
      launch(shaped, 1, NULL, &eight, &one));
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_GROUP_SIZE, "not given, but required",
      launch(shaped, 1, NULL, &seven, NULL));
    E(clEnqueueNDRangeKernel, CL_INVALID_WORK_ITEM_SIZE, "too large a group",
      launch(set, 1, NULL, huge_group, huge_group));
    NEVER(clEnqueueNDRangeKernel, CL_INVALID_PROGRAM_EXECUTABLE, "sub_device_test.c");
    NEVER(clEnqueueNDRangeKernel, CL_MISALIGNED_SUB_BUFFER_OFFSET, "fpga_test.c, whose members differ");
    NEVER(clEnqueueNDRangeKernel, CL_INVALID_IMAGE_SIZE, "an image that no member can have isn't made");
    NEVER(clEnqueueNDRangeKernel, CL_IMAGE_FORMAT_NOT_SUPPORTED, "the same");
    NEVER(clEnqueueNDRangeKernel, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c");
    NEVER(clEnqueueNDRangeKernel, CL_INVALID_OPERATION, "of shared virtual memory");
    clReleaseKernel(abroad_kernel);
}

static cl_int task(cl_kernel kernel)
{
    return clEnqueueTask(the_queue(), kernel, n_list, list, NULL);
}

static void test_tasks(void **state)
{
    cl_kernel abroad_kernel = clCreateKernel(foreign_program, "k", &code);

    (void)state;
    WAIT_LISTS(clEnqueueTask, task(set));
    E(clEnqueueTask, CL_INVALID_KERNEL, "another object", task((cl_kernel)queue));
    E(clEnqueueTask, CL_INVALID_CONTEXT, "a foreign kernel", task(abroad_kernel));
    E(clEnqueueTask, CL_INVALID_KERNEL_ARGS, "without arguments", task(unset));
    E(clEnqueueTask, CL_INVALID_WORK_GROUP_SIZE, "another size is required", task(shaped));
    NEVER(clEnqueueTask, CL_INVALID_PROGRAM_EXECUTABLE, "sub_device_test.c");
    NEVER(clEnqueueTask, CL_MISALIGNED_SUB_BUFFER_OFFSET, "as above");
    NEVER(clEnqueueTask, CL_INVALID_IMAGE_SIZE, "as above");
    NEVER(clEnqueueTask, CL_IMAGE_FORMAT_NOT_SUPPORTED, "as above");
    NEVER(clEnqueueTask, CL_MEM_OBJECT_ALLOCATION_FAILURE, "as above");
    NEVER(clEnqueueTask, CL_INVALID_OPERATION, "of shared virtual memory");
    clReleaseKernel(abroad_kernel);
}

static cl_int suggest(cl_command_queue of, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                      size_t *suggested)
{
    static clGetKernelSuggestedLocalWorkSizeKHR_fn get;

    if (!get)
        get = (clGetKernelSuggestedLocalWorkSizeKHR_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(
            our_platform(), "clGetKernelSuggestedLocalWorkSizeKHR");
    assert_non_null(get);
    return get(of, kernel, dims, offset, global, suggested);
}

static void test_suggestions(void **state)
{
    cl_kernel abroad_kernel = clCreateKernel(foreign_program, "k", &code);
    size_t suggested[3];

    (void)state;
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_COMMAND_QUEUE, "another object",
      suggest((cl_command_queue)context, set, 1, NULL, &one, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_KERNEL, "another object",
      suggest(queue, (cl_kernel)queue, 1, NULL, &one, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_CONTEXT, "a foreign kernel",
      suggest(queue, abroad_kernel, 1, NULL, &one, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_KERNEL_ARGS, "without arguments",
      suggest(queue, unset, 1, NULL, &one, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_WORK_DIMENSION, "in four dimensions",
      suggest(queue, set, 4, NULL, ones, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_GLOBAL_OFFSET, "ends beyond size_t",
      suggest(queue, set, 1, &most, &eight, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_GLOBAL_WORK_SIZE, "no size",
      suggest(queue, set, 1, NULL, NULL, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_GLOBAL_WORK_SIZE, "empty",
      suggest(queue, set, 1, NULL, &none, suggested));
    E(clGetKernelSuggestedLocalWorkSize, CL_INVALID_VALUE, "nowhere to put it",
      suggest(queue, set, 1, NULL, &one, NULL));
    NEVER(clGetKernelSuggestedLocalWorkSize, CL_INVALID_PROGRAM_EXECUTABLE, "as above");
    NEVER(clGetKernelSuggestedLocalWorkSize, CL_MISALIGNED_SUB_BUFFER_OFFSET, "as above");
    NEVER(clGetKernelSuggestedLocalWorkSize, CL_INVALID_IMAGE_SIZE, "as above");
    NEVER(clGetKernelSuggestedLocalWorkSize, CL_IMAGE_FORMAT_NOT_SUPPORTED, "as above");
    NEVER(clGetKernelSuggestedLocalWorkSize, CL_INVALID_OPERATION, "of shared virtual memory");
    clReleaseKernel(abroad_kernel);
}

static void CL_CALLBACK body(void *arg)
{
    (void)arg;
}

static cl_int native(void(CL_CALLBACK *fn)(void *), void *args, size_t args_size, cl_uint n, const cl_mem *mems,
                     const void **places)
{
    return clEnqueueNativeKernel(the_queue(), fn, args, args_size, n, mems, places, n_list, list, NULL);
}

static void test_native_kernels(void **state)
{
    void *args[2] = {NULL, NULL};
    const void *place = &args[0];
    const cl_mem wrong = (cl_mem)queue;
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    const cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &code);

    (void)state;
    assert_int_equal(code, CL_SUCCESS);
    WAIT_LISTS(clEnqueueNativeKernel, native(body, args, sizeof args, 1, &buffer, &place));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "no function", native(NULL, args, sizeof args, 1, &buffer, &place));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "no arguments", native(body, NULL, sizeof args, 0, NULL, NULL));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "buffers, no arguments", native(body, NULL, 0, 1, &buffer, &place));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "empty arguments", native(body, args, 0, 0, NULL, NULL));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "no list", native(body, args, sizeof args, 1, NULL, &place));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "no places", native(body, args, sizeof args, 1, &buffer, NULL));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "a list of none", native(body, args, sizeof args, 0, &buffer, NULL));
    E(clEnqueueNativeKernel, CL_INVALID_VALUE, "places for none", native(body, args, sizeof args, 0, NULL, &place));
    E(clEnqueueNativeKernel, CL_INVALID_MEM_OBJECT, "another object",
      native(body, args, sizeof args, 1, &wrong, &place));
    E(clEnqueueNativeKernel, CL_INVALID_MEM_OBJECT, "an image", native(body, args, sizeof args, 1, &image, &place));
    clReleaseMemObject(image);
    NEVER(clEnqueueNativeKernel, CL_INVALID_OPERATION, "Tesela's device can");
    NEVER(clEnqueueNativeKernel, CL_MEM_OBJECT_ALLOCATION_FAILURE, "it needs host memory only");
}

/* ---- Events ---- */

static void CL_CALLBACK told(cl_event event, cl_int status, void *arg)
{
    (void)event, (void)status, (void)arg;
}

static void test_events(void **state)
{
    const cl_event wrong = (cl_event)queue, mixed[] = {good, abroad};

    (void)state;
    E(clCreateUserEvent, CL_INVALID_CONTEXT, "another object", OF(clCreateUserEvent((cl_context)queue, &code)));
    E(clSetUserEventStatus, CL_INVALID_EVENT, "another object", clSetUserEventStatus(wrong, CL_COMPLETE));
    E(clSetUserEventStatus, CL_INVALID_VALUE, "running", clSetUserEventStatus(pending, CL_RUNNING));
    E(clSetUserEventStatus, CL_INVALID_OPERATION, "twice", clSetUserEventStatus(good, CL_COMPLETE));
    E(clWaitForEvents, CL_INVALID_VALUE, "none", clWaitForEvents(0, &good));
    E(clWaitForEvents, CL_INVALID_VALUE, "no list", clWaitForEvents(1, NULL));
    E(clWaitForEvents, CL_INVALID_CONTEXT, "of two contexts", clWaitForEvents(2, mixed));
    E(clWaitForEvents, CL_INVALID_EVENT, "another object", clWaitForEvents(1, &wrong));
    E(clWaitForEvents, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "failed", clWaitForEvents(1, &failed));
    E(clGetEventInfo, CL_INVALID_EVENT, "another object", clGetEventInfo(wrong, CL_EVENT_CONTEXT, ROOM, room, NULL));
    E(clGetEventInfo, CL_INVALID_VALUE, "unknown", clGetEventInfo(good, 7, ROOM, room, NULL));
    E(clGetEventInfo, CL_INVALID_VALUE, "no room", clGetEventInfo(good, CL_EVENT_CONTEXT, 1, room, NULL));
    E(clSetEventCallback, CL_INVALID_EVENT, "another object", clSetEventCallback(wrong, CL_COMPLETE, told, NULL));
    E(clSetEventCallback, CL_INVALID_VALUE, "no function", clSetEventCallback(good, CL_COMPLETE, NULL, NULL));
    E(clSetEventCallback, CL_INVALID_VALUE, "when it is queued", clSetEventCallback(good, CL_QUEUED, told, NULL));
    E(clRetainEvent, CL_INVALID_EVENT, "another object", clRetainEvent(wrong));
    E(clReleaseEvent, CL_INVALID_EVENT, "another object", clReleaseEvent(wrong));
    E(clGetEventProfilingInfo, CL_INVALID_EVENT, "another object",
      clGetEventProfilingInfo(wrong, CL_PROFILING_COMMAND_END, ROOM, room, NULL));
    E(clGetEventProfilingInfo, CL_PROFILING_INFO_NOT_AVAILABLE, "a user event",
      clGetEventProfilingInfo(good, CL_PROFILING_COMMAND_END, ROOM, room, NULL));
}

static void test_profiling(void **state)
{
    cl_event plain_event, timed;

    (void)state;
    assert_int_equal(clEnqueueMarkerWithWaitList(other_queue, 0, NULL, &plain_event), CL_SUCCESS);
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 0, NULL, &timed), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clFinish(other_queue), CL_SUCCESS);
    E(clGetEventProfilingInfo, CL_PROFILING_INFO_NOT_AVAILABLE, "a queue that doesn't profile",
      clGetEventProfilingInfo(plain_event, CL_PROFILING_COMMAND_END, ROOM, room, NULL));
    E(clGetEventProfilingInfo, CL_INVALID_VALUE, "unknown", clGetEventProfilingInfo(timed, 7, ROOM, room, NULL));
    E(clGetEventProfilingInfo, CL_INVALID_VALUE, "no room",
      clGetEventProfilingInfo(timed, CL_PROFILING_COMMAND_END, 1, room, NULL));
    clReleaseEvent(timed);
    n_list = 1, list = &pending;
    assert_int_equal(clEnqueueMarkerWithWaitList(queue, 1, &pending, &timed), CL_SUCCESS);
    E(clGetEventProfilingInfo, CL_PROFILING_INFO_NOT_AVAILABLE, "not complete",
      clGetEventProfilingInfo(timed, CL_PROFILING_COMMAND_END, ROOM, room, NULL));
    n_list = 0, list = NULL;
    assert_int_equal(clSetUserEventStatus(pending, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clReleaseEvent(timed);
    clReleaseEvent(plain_event);
}

static void test_markers(void **state)
{
    cl_event event;

    (void)state;
    WAIT_LISTS(clEnqueueMarkerWithWaitList, clEnqueueMarkerWithWaitList(the_queue(), n_list, list, NULL));
    WAIT_LISTS(clEnqueueBarrierWithWaitList, clEnqueueBarrierWithWaitList(the_queue(), n_list, list, NULL));
    E(clEnqueueMarker, CL_INVALID_COMMAND_QUEUE, "another object", clEnqueueMarker((cl_command_queue)context, &event));
    E(clEnqueueMarker, CL_INVALID_VALUE, "no event", clEnqueueMarker(queue, NULL));
    E(clEnqueueBarrier, CL_INVALID_COMMAND_QUEUE, "another object", clEnqueueBarrier((cl_command_queue)context));
    E(clEnqueueWaitForEvents, CL_INVALID_COMMAND_QUEUE, "another object",
      clEnqueueWaitForEvents((cl_command_queue)context, 1, &good));
    E(clEnqueueWaitForEvents, CL_INVALID_CONTEXT, "a foreign event", clEnqueueWaitForEvents(queue, 1, &abroad));
    E(clEnqueueWaitForEvents, CL_INVALID_VALUE, "none", clEnqueueWaitForEvents(queue, 0, &good));
    E(clEnqueueWaitForEvents, CL_INVALID_VALUE, "no list", clEnqueueWaitForEvents(queue, 1, NULL));
}

static void test_all_are_met(void **state)
{
    static const char *const rows[] = {
        "clCreateProgramWithSource CL_INVALID_CONTEXT CL_INVALID_VALUE",
        "clCreateProgramWithBinary CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_DEVICE CL_INVALID_BINARY",
        "clCreateProgramWithBuiltInKernels CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_DEVICE",
        "clRetainProgram CL_INVALID_PROGRAM",
        "clReleaseProgram CL_INVALID_PROGRAM",
        "clBuildProgram CL_INVALID_PROGRAM CL_INVALID_VALUE CL_INVALID_DEVICE CL_INVALID_BINARY "
        "CL_INVALID_BUILD_OPTIONS CL_COMPILER_NOT_AVAILABLE CL_BUILD_PROGRAM_FAILURE CL_INVALID_OPERATION",
        "clCompileProgram CL_INVALID_PROGRAM CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_DEVICE "
        "CL_INVALID_COMPILER_OPTIONS CL_INVALID_OPERATION CL_COMPILER_NOT_AVAILABLE CL_COMPILE_PROGRAM_FAILURE",
        "clUnloadPlatformCompiler CL_INVALID_PLATFORM",
        "clGetProgramInfo CL_INVALID_PROGRAM CL_INVALID_VALUE CL_INVALID_PROGRAM_EXECUTABLE",
        "clGetProgramBuildInfo CL_INVALID_PROGRAM CL_INVALID_DEVICE CL_INVALID_VALUE",
        "clCreateKernel CL_INVALID_PROGRAM CL_INVALID_PROGRAM_EXECUTABLE CL_INVALID_KERNEL_NAME "
        "CL_INVALID_KERNEL_DEFINITION CL_INVALID_VALUE",
        "clCreateKernelsInProgram CL_INVALID_PROGRAM CL_INVALID_PROGRAM_EXECUTABLE CL_INVALID_VALUE",
        "clRetainKernel CL_INVALID_KERNEL",
        "clReleaseKernel CL_INVALID_KERNEL",
        "clSetKernelArg CL_INVALID_KERNEL CL_INVALID_ARG_INDEX CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT "
        "CL_INVALID_SAMPLER CL_INVALID_DEVICE_QUEUE CL_INVALID_ARG_SIZE CL_INVALID_ARG_VALUE "
        "CL_MAX_SIZE_RESTRICTION_EXCEEDED",
        "clGetKernelInfo CL_INVALID_KERNEL CL_INVALID_VALUE",
        "clGetKernelWorkGroupInfo CL_INVALID_KERNEL CL_INVALID_DEVICE CL_INVALID_VALUE",
        "clGetKernelArgInfo CL_INVALID_KERNEL CL_INVALID_ARG_INDEX CL_INVALID_VALUE CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
        "clGetKernelSuggestedLocalWorkSize CL_INVALID_COMMAND_QUEUE CL_INVALID_KERNEL CL_INVALID_PROGRAM_EXECUTABLE "
        "CL_INVALID_CONTEXT CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION CL_INVALID_GLOBAL_OFFSET "
        "CL_INVALID_GLOBAL_WORK_SIZE CL_MISALIGNED_SUB_BUFFER_OFFSET CL_INVALID_IMAGE_SIZE "
        "CL_IMAGE_FORMAT_NOT_SUPPORTED CL_INVALID_OPERATION CL_INVALID_VALUE",
        "clEnqueueNDRangeKernel CL_INVALID_COMMAND_QUEUE CL_INVALID_KERNEL CL_INVALID_PROGRAM_EXECUTABLE "
        "CL_INVALID_CONTEXT CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION CL_INVALID_GLOBAL_OFFSET "
        "CL_INVALID_GLOBAL_WORK_SIZE CL_INVALID_WORK_GROUP_SIZE CL_INVALID_WORK_ITEM_SIZE "
        "CL_MISALIGNED_SUB_BUFFER_OFFSET CL_INVALID_IMAGE_SIZE CL_IMAGE_FORMAT_NOT_SUPPORTED "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_EVENT_WAIT_LIST CL_INVALID_OPERATION",
        "clEnqueueTask CL_INVALID_PROGRAM_EXECUTABLE CL_INVALID_COMMAND_QUEUE CL_INVALID_KERNEL CL_INVALID_CONTEXT "
        "CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_GROUP_SIZE CL_MISALIGNED_SUB_BUFFER_OFFSET CL_INVALID_IMAGE_SIZE "
        "CL_IMAGE_FORMAT_NOT_SUPPORTED CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_EVENT_WAIT_LIST "
        "CL_INVALID_OPERATION",
        "clEnqueueNativeKernel CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_OPERATION "
        "CL_INVALID_MEM_OBJECT CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_EVENT_WAIT_LIST",
        "clCreateUserEvent CL_INVALID_CONTEXT",
        "clSetUserEventStatus CL_INVALID_EVENT CL_INVALID_VALUE CL_INVALID_OPERATION",
        "clWaitForEvents CL_INVALID_VALUE CL_INVALID_CONTEXT CL_INVALID_EVENT "
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        "clGetEventInfo CL_INVALID_EVENT CL_INVALID_VALUE",
        "clSetEventCallback CL_INVALID_EVENT CL_INVALID_VALUE",
        "clRetainEvent CL_INVALID_EVENT",
        "clReleaseEvent CL_INVALID_EVENT",
        "clEnqueueMarkerWithWaitList CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_EVENT_WAIT_LIST",
        "clEnqueueMarker CL_INVALID_COMMAND_QUEUE CL_INVALID_VALUE",
        "clEnqueueWaitForEvents CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_VALUE",
        "clEnqueueBarrierWithWaitList CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_EVENT_WAIT_LIST",
        "clEnqueueBarrier CL_INVALID_COMMAND_QUEUE",
        "clGetEventProfilingInfo CL_INVALID_EVENT CL_PROFILING_INFO_NOT_AVAILABLE CL_INVALID_VALUE",
        "clLinkProgram CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_PROGRAM CL_INVALID_DEVICE "
        "CL_INVALID_LINKER_OPTIONS CL_INVALID_OPERATION CL_LINKER_NOT_AVAILABLE CL_LINK_PROGRAM_FAILURE",
    };

    (void)state;
    check_list(rows, LENGTH(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation),       cmocka_unit_test(test_builds),
        cmocka_unit_test(test_links),          cmocka_unit_test(test_program_queries),
        cmocka_unit_test(test_kernels),        cmocka_unit_test(test_arg_info),
        cmocka_unit_test(test_args),           cmocka_unit_test(test_launches),
        cmocka_unit_test(test_tasks),          cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_native_kernels), cmocka_unit_test(test_events),
        cmocka_unit_test(test_profiling),      cmocka_unit_test(test_markers),
        cmocka_unit_test(test_all_are_met),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
