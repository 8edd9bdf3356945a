/* variant: cpu TESELA_MEMBERS=cpu TESELA_VENDORS={build}/vendors-none SPIRV_SOURCES={source}/tests/spirv SPIRV_MODULES={build}/tests/spirv */
/* variant: turns SPIRV_OTHERS=yes TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=opencl,cpu TESELA_POLICY=round-robin SPIRV_SOURCES={source}/tests/spirv SPIRV_MODULES={build}/tests/spirv */
/* any: SPIRV_SOURCES={source}/tests/spirv SPIRV_MODULES={build}/tests/spirv */
/* timeout: 200 */
/*
 * Programs of SPIR-V on members that our kernel compiler serves. Each *.cl here is also there as the module that Clang
 * and llvm-spirv made of it: both must do the same, bit by bit, as the same functions compute it. SPIRV_OTHERS: not
 * where another compiler has the source, too, whose functions round in another way.
 */
#include "begin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1024, GROUP = 64, SIDE = 16 };

static cl_context context;
static cl_command_queue queue;
static cl_device_id device;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    device = our_device();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* Of the folder that the variable names; heap, with a 0 behind it. */
static char *contents(const char *variable, const char *name, const char *end, size_t *size)
{
    char path[4096], *data;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s%s", getenv(variable), name, end);
    file = fopen(path, "rb");
    if (!file)
        fail_msg("%s can't be read", path);
    data = calloc(1, 1 << 20);
    assert_non_null(data);
    *size = fread(data, 1, (1 << 20) - 1, file);
    fclose(file);
    return data;
}

static cl_program of_module(const char *name)
{
    size_t size;
    char *data = contents("SPIRV_MODULES", name, ".spv", &size);
    cl_int error;
    cl_program program = clCreateProgramWithIL(context, data, size, &error);

    assert_int_equal(error, CL_SUCCESS);
    free(data);
    return program;
}

static cl_program of_source(const char *name)
{
    size_t size;
    char *text = contents("SPIRV_SOURCES", name, ".cl", &size);
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, &size, &error);

    assert_int_equal(error, CL_SUCCESS);
    free(text);
    return program;
}

static char *log_of(cl_program program)
{
    static char log[1 << 16];

    memset(log, 0, sizeof(log));
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log, NULL);
    return log;
}

static void build(cl_program program, const char *options)
{
    if (clBuildProgram(program, 0, NULL, options, NULL, NULL))
        fail_msg("%s", log_of(program));
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    return kernel;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static cl_mem buffer_of(const void *data, size_t size)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, size, (void *)(uintptr_t)data, &error);

    assert_int_equal(error, CL_SUCCESS);
    return buffer;
}

static void read_back(cl_mem buffer, size_t size, void *data)
{
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(buffer);
}

/* out, in, and memory of the group's: what all kernels of programs.cl and generic.cl have. */
static void run(cl_program program, const char *name, cl_uint *out)
{
    static cl_uint in[ITEMS + 16], none[ITEMS];
    const size_t global = ITEMS, local = GROUP;
    cl_kernel kernel = kernel_of(program, name);
    cl_mem to, from;
    uint64_t state = 88172645463325252u;

    for (unsigned i = 0; i < ITEMS + 16; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        in[i] = (cl_uint)(state >> 33);
    }
    to = buffer_of(none, sizeof(none));
    from = buffer_of(in, sizeof(in));
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(from), &from), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, GROUP * sizeof(cl_uint), NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS);
    read_back(to, sizeof(none), out);
    clReleaseMemObject(from);
    clReleaseKernel(kernel);
}

/* All kernels of both; n: how many there are. */
static void compare(const char *name, const char *options, unsigned n)
{
    static cl_uint ours[ITEMS], theirs[ITEMS], none[ITEMS];
    cl_program source = of_source(name), module = of_module(name);
    char names[256], *rest, *each;

    build(source, options);
    build(module, "");
    assert_int_equal(clGetProgramInfo(module, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL), CL_SUCCESS);
    for (each = strtok_r(names, ";", &rest); each; each = strtok_r(NULL, ";", &rest), n--) {
        run(source, each, ours);
        run(module, each, theirs);
        assert_memory_not_equal(ours, none, sizeof(ours));
        for (unsigned i = 0; i < ITEMS; i++)
            if (ours[i] != theirs[i])
                fail_msg("%s: %#x at %u, and %#x of the module", each, ours[i], i, theirs[i]);
    }
    assert_int_equal(n, 0);
    clReleaseProgram(source);
    clReleaseProgram(module);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void the_device_says_what_it_takes(void **state)
{
    char text[256];
    (void)state;

    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, sizeof(text), text, NULL), CL_SUCCESS);
    assert_non_null(strstr(text, "SPIR-V_1.0"));
    assert_non_null(strstr(text, "SPIR-V_1.3"));
}

static void programs_do_the_same(void **state)
{
    (void)state;
    compare("programs", "", 3);
}

static void functions_do_the_same(void **state)
{
    (void)state;
    compare("functions", "", 1);
}

static void generic_pointers_do_the_same(void **state)
{
    (void)state;
    compare("generic", "-cl-std=CL3.0", 3);
}

static cl_mem image_of(cl_mem_flags flags, cl_channel_type type, void *data)
{
    const cl_image_format format = {CL_RGBA, type};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
    cl_int error;
    cl_mem image = clCreateImage(context, flags, &format, &desc, data, &error);

    assert_int_equal(error, CL_SUCCESS);
    return image;
}

static void run_images(cl_program program, cl_sampler sampler, cl_float *out)
{
    static const size_t origin[3], region[3] = {SIDE, SIDE, 1};
    cl_kernel kernel = kernel_of(program, "images");
    cl_uchar in[4 * SIDE * SIDE];
    cl_mem to = image_of(CL_MEM_WRITE_ONLY, CL_FLOAT, NULL), from;

    for (unsigned i = 0; i < sizeof(in); i++)
        in[i] = (cl_uchar)(i * 37 + i / 5);
    from = image_of(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_UNORM_INT8, in);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(from), &from), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof(sampler), &sampler), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, region, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadImage(queue, to, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(to);
    clReleaseMemObject(from);
    clReleaseKernel(kernel);
}

static void images_do_the_same(void **state)
{
    static cl_float ours[4 * SIDE * SIDE], theirs[4 * SIDE * SIDE];
    cl_program source = of_source("images"), module = of_module("images");
    cl_int error;
    cl_sampler sampler = clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
    (void)state;

    assert_int_equal(error, CL_SUCCESS);
    build(source, "");
    build(module, "");
    run_images(source, sampler, ours);
    run_images(module, sampler, theirs);
    assert_true(ours[3] > SIDE * 100);
    assert_memory_equal(ours, theirs, sizeof(ours));
    clReleaseSampler(sampler);
    clReleaseProgram(source);
    clReleaseProgram(module);
}

static void run_constants(cl_program program, const char *options, cl_ulong *out)
{
    static const cl_ulong none[5];
    const size_t one = 1;
    cl_mem to = buffer_of(none, sizeof(none));
    cl_kernel kernel;

    build(program, options);
    kernel = kernel_of(program, "constants");
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
    read_back(to, sizeof(none), out);
    clReleaseKernel(kernel);
}

static cl_ulong bits_of_double(double value)
{
    cl_ulong bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static cl_ulong bits_of_float(float value)
{
    cl_uint bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void constants_are_set(void **state)
{
    cl_program program = of_module("constants");
    const cl_int number = -70000;
    const cl_short small = 300;
    const cl_long large = INT64_C(-0x123456789a);
    const float real = -0.75f;
    const double precise = 1e300;
    cl_ulong out[5];
    (void)state;

    run_constants(program, "", out);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 7);
    assert_int_equal(out[2], bits_of_float(2.5f));
    assert_int_equal(out[3], bits_of_double(1.5));
    assert_int_equal(out[4], 5);
    assert_int_equal(clSetProgramSpecializationConstant(program, 1, sizeof(number), &number), CL_SUCCESS);
    assert_int_equal(clSetProgramSpecializationConstant(program, 2, sizeof(small), &small), CL_SUCCESS);
    assert_int_equal(clSetProgramSpecializationConstant(program, 3, sizeof(large), &large), CL_SUCCESS);
    assert_int_equal(clSetProgramSpecializationConstant(program, 4, sizeof(real), &real), CL_SUCCESS);
    assert_int_equal(clSetProgramSpecializationConstant(program, 5, sizeof(precise), &precise), CL_SUCCESS);
    assert_int_equal(clSetProgramSpecializationConstant(program, 6, sizeof(number), &number), CL_INVALID_SPEC_ID);
    run_constants(program, "", out);
    assert_int_equal(out[0], (cl_ulong)(cl_long)(number + small));
    assert_int_equal(out[1], (cl_ulong)large);
    assert_int_equal(out[2], bits_of_float(real));
    assert_int_equal(out[3], bits_of_double(precise));
    assert_int_equal(out[4], (cl_ulong)(cl_long)number);
    clReleaseProgram(program);
}

static void compiled_modules_are_linked(void **state)
{
    static const char *text = "uint other(uint x) { return x * x; }\n";
    static const cl_uint none[GROUP];
    const size_t global = GROUP;
    cl_int error;
    cl_program parts[] = {of_module("part"), of_module("other"),
                          clCreateProgramWithSource(context, 1, &text, NULL, NULL)},
               whole;
    cl_mem to = buffer_of(none, sizeof(none));
    cl_uint out[GROUP];
    cl_kernel kernel;
    (void)state;

    assert_int_equal(clBuildProgram(parts[0], 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_non_null(strstr(log_of(parts[0]), "other"));
    for (unsigned i = 0; i < LENGTH(parts); i++)
        assert_int_equal(clCompileProgram(parts[i], 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    whole = clLinkProgram(context, 0, NULL, "", LENGTH(parts), parts, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    kernel = kernel_of(whole, "linked");
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(to), &to), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), CL_SUCCESS);
    read_back(to, sizeof(out), out);
    for (unsigned i = 0; i < GROUP; i++)
        assert_int_equal(out[i], i * i + 2 * i + 1);
    clReleaseKernel(kernel);
    clReleaseProgram(whole);
    for (unsigned i = 0; i < LENGTH(parts); i++)
        clReleaseProgram(parts[i]);
}

static void binaries_come_back(void **state)
{
    static cl_uint before[ITEMS], after[ITEMS];
    cl_program module = of_module("programs"), again;
    unsigned char *binary;
    size_t size;
    cl_int error;
    (void)state;

    build(module, "");
    run(module, "flow", before);
    assert_int_equal(clGetProgramInfo(module, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL), CL_SUCCESS);
    binary = malloc(size);
    assert_non_null(binary);
    assert_int_equal(clGetProgramInfo(module, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL), CL_SUCCESS);
    again = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    build(again, "");
    run(again, "flow", after);
    assert_memory_equal(before, after, sizeof(before));
    free(binary);
    clReleaseProgram(again);
    clReleaseProgram(module);
}

static void arguments_are_told(void **state)
{
    cl_program program = of_module("programs");
    cl_kernel kernel;
    cl_kernel_arg_address_qualifier address;
    char type[64], name[64];
    cl_uint n;
    (void)state;

    build(program, "-cl-kernel-arg-info");
    kernel = kernel_of(program, "groups");
    assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(n), &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 3);
    assert_int_equal(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(address), &address, NULL),
                     CL_SUCCESS);
    assert_int_equal(address, CL_KERNEL_ARG_ADDRESS_LOCAL);
    assert_int_equal(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof(type), type, NULL), CL_SUCCESS);
    assert_string_equal(type, "uint*"); /* the module was made so that it tells of signs */
    assert_int_equal(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_NAME, sizeof(name), name, NULL), CL_SUCCESS);
    assert_string_equal(name, "scratch");
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static cl_int launch_odd(const char *options)
{
    static const cl_uint none[GROUP];
    const size_t global = GROUP - 3, local = 16;
    cl_program program = of_module("constants");
    cl_mem to = buffer_of(none, sizeof(none));
    cl_kernel kernel;
    cl_int error;

    build(program, options);
    kernel = kernel_of(program, "constants");
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(to), &to), CL_SUCCESS);
    error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    clFinish(queue);
    clReleaseKernel(kernel);
    clReleaseMemObject(to);
    clReleaseProgram(program);
    return error;
}

/* As no -cl-std says of which OpenCL C it is. */
static void groups_may_have_remainders(void **state)
{
    cl_bool offered = CL_FALSE;
    (void)state;

    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof(offered), &offered, NULL),
                     CL_SUCCESS);
    assert_int_equal(launch_odd(""), offered ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch_odd("-cl-uniform-work-group-size"), CL_INVALID_WORK_GROUP_SIZE);
}

/* Also where another member takes no module: it has no say in this. */
static void unknown_options_are_refused(void **state)
{
    cl_program program = of_module("programs");
    (void)state;

    assert_int_equal(clBuildProgram(program, 0, NULL, "-nonsense", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(clCompileProgram(program, 0, NULL, "-nonsense", 0, NULL, NULL, NULL, NULL),
                     CL_INVALID_COMPILER_OPTIONS);
    clReleaseProgram(program);
}

static void addresses_of_32_bits_are_refused(void **state)
{
    enum { MEMORY_MODEL = 3 << 16 | 14, PHYSICAL_32 = 1, PHYSICAL_64 };
    size_t size;
    cl_uint *words = (cl_uint *)(void *)contents("SPIRV_MODULES", "constants", ".spv", &size), at = 5;
    cl_int error;
    cl_program program;
    (void)state;

    while (words[at] != MEMORY_MODEL)
        at += words[at] >> 16;
    assert_int_equal(words[at + 1], PHYSICAL_64);
    words[at + 1] = PHYSICAL_32;
    program = clCreateProgramWithIL(context, words, size, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_non_null(strstr(log_of(program), "Physical32"));
    clReleaseProgram(program);
    free(words);
}

/* The translator takes no care of what it is given: it ends, and this program goes on. */
static void damaged_modules_fail(void **state)
{
    size_t size;
    char *data = contents("SPIRV_MODULES", "programs", ".spv", &size);
    (void)state;

    for (unsigned i = 1; i <= 12; i++) {
        size_t part = size / 13 * i / 4 * 4;
        cl_int error;
        cl_program program = clCreateProgramWithIL(context, data, part < 20 ? 20 : part, &error);

        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
        assert_non_null(strstr(log_of(program), "error: "));
        clReleaseProgram(program);
    }
    free(data);
    programs_do_the_same(state);
}

int main(void)
{
    const struct CMUnitTest rounded[] = {
        cmocka_unit_test(functions_do_the_same),
        cmocka_unit_test(generic_pointers_do_the_same),
        cmocka_unit_test(images_do_the_same),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_says_what_it_takes),
        cmocka_unit_test(programs_do_the_same),
        cmocka_unit_test(constants_are_set),
        cmocka_unit_test(compiled_modules_are_linked),
        cmocka_unit_test(binaries_come_back),
        cmocka_unit_test(arguments_are_told),
        cmocka_unit_test(groups_may_have_remainders),
        cmocka_unit_test(damaged_modules_fail),
        cmocka_unit_test(unknown_options_are_refused),
        cmocka_unit_test(addresses_of_32_bits_are_refused),
    };
    int failed = getenv("SPIRV_OTHERS") ? 0 : cmocka_run_group_tests(rounded, setup, teardown);

    return failed + cmocka_run_group_tests(tests, setup, teardown);
}
