/*
 * Which vendors are believed what they say of variables of program scope. Two members of one vendor; what they tell of
 * features and sizes, and what their compilers take, is the test's invention. The programs are the vendor's own.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl TESELA_MEMBERS=opencl POCL_DEVICES="basic pthread" */
/* timeout: 200 */
#include "api.h"
#include "device/device.h"
#include "members/members.h"
#include "opencl/program.h"
#include "program/program.h"
#include "test.h"

#include <string.h>

#define FEATURE "__opencl_c_program_scope_global_variables"

enum { N = 2, FIRST = 1, SECOND = 2, BOTH = FIRST | SECOND };

/* What a member tells. */
static struct lie {
    struct tsl_opencl_device *device;
    struct tsl_opencl_cl real;
    bool second;  /* it is of OpenCL 2.1, and so has no features */
    bool feature; /* it has that for variables */
    size_t size;  /* of each program's variables */
    cl_int tried; /* what comes of a program that isn't the test's, by which the compiler is tried */
    unsigned n_tried;
} lies[N];

static cl_device_id device;
static cl_context context;

/* ---- The members ------------------------------------------------------------------------------------------------- */

static struct lie *lie_of(cl_device_id id)
{
    return lies[0].device->id == id ? &lies[0] : &lies[1];
}

static cl_int answer(const void *told, size_t told_size, size_t size, void *value, size_t *size_ret)
{
    if (value && size < told_size)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, told, told_size);
    if (size_ret)
        *size_ret = told_size;
    return CL_SUCCESS;
}

static CL_API_ENTRY cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info param, size_t size, void *value,
                                                   size_t *size_ret)
{
    static const cl_name_version feature = {CL_MAKE_VERSION(3, 0, 0), FEATURE};
    static const char version[] = "OpenCL 2.1 of a test", c_version[] = "OpenCL C 2.0 of a test";
    const struct lie *lie = lie_of(id);
    const size_t most = 4096 * (size_t)(1 + (lie == lies));

    if (param == CL_DEVICE_OPENCL_C_FEATURES)
        return answer(&feature, lie->feature ? sizeof(feature) : 0, size, value, size_ret);
    if (param == CL_DEVICE_VERSION && lie->second)
        return answer(version, sizeof(version), size, value, size_ret);
    if (param == CL_DEVICE_OPENCL_C_VERSION && lie->second)
        return answer(c_version, sizeof(c_version), size, value, size_ret);
    if (param == CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE)
        return answer(&most, sizeof(most), size, value, size_ret);
    return lie->real.clGetDeviceInfo(id, param, size, value, size_ret);
}

static CL_API_ENTRY cl_int CL_API_CALL build_info(cl_program program, cl_device_id id, cl_program_build_info param,
                                                  size_t size, void *value, size_t *size_ret)
{
    const struct lie *lie = lie_of(id);

    if (param == CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE)
        return answer(&lie->size, sizeof(lie->size), size, value, size_ret);
    return lie->real.clGetProgramBuildInfo(program, id, param, size, value, size_ret);
}

static bool is_trial(const struct lie *lie, cl_program program)
{
    char text[4096] = "";

    lie->real.clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof(text), text, NULL);
    return *text && !strstr(text, "kernel void k(");
}

/* In whatever version, as vendors differ in those that they have. */
static CL_API_ENTRY cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *ids,
                                                     const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                                     void *arg)
{
    struct lie *lie = lie_of(ids[0]);

    (void)options;
    if (!is_trial(lie, program))
        return lie->real.clBuildProgram(program, n, ids, "", notify, arg);
    lie->n_tried++;
    return lie->tried;
}

static CL_API_ENTRY cl_int CL_API_CALL compile_program(cl_program program, cl_uint n, const cl_device_id *ids,
                                                       const char *options, cl_uint n_headers,
                                                       const cl_program *headers, const char **names,
                                                       void(CL_CALLBACK *notify)(cl_program, void *), void *arg)
{
    (void)options;
    return lie_of(ids[0])->real.clCompileProgram(program, n, ids, "", n_headers, headers, names, notify, arg);
}

static int begin(void **state)
{
    cl_platform_id platform;
    unsigned n;
    struct tsl_member *const *members = tsl_device_members(tsl_device_root(), &n);

    (void)state;
    assert_int_equal(n, N);
    assert_int_equal(tsl_api_clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(tsl_api_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    for (unsigned i = 0; i < N; i++) {
        struct tsl_opencl_device *its = tsl_opencl_member(members[i])->device;

        lies[i] = (struct lie){.device = its, .real = its->cl};
        its->cl.clGetDeviceInfo = device_info;
        its->cl.clGetProgramBuildInfo = build_info;
        its->cl.clBuildProgram = build_program;
        its->cl.clCompileProgram = compile_program;
    }
    context = tsl_api_clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    return context ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return tsl_api_clReleaseContext(context);
}

/* Each test begins with members that know nothing and tell of nothing. */
static int be_plain(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        lies[i] = (struct lie){.device = lies[i].device, .real = lies[i].real, .tried = CL_BUILD_PROGRAM_FAILURE};
        lies[i].device->version = 300;
        atomic_store(&lies[i].device->default_variables, 0);
    }
    return 0;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static cl_program new_program(void)
{
    const char *text = "kernel void k(global int *a) { a[0] = 1; }";
    cl_program program = tsl_api_clCreateProgramWithSource(context, 1, &text, NULL, NULL);

    assert_non_null(program);
    return program;
}

/* It is on these members, of so many bytes of variables, and its kernels wait for all others if there are some. */
static void is_on(cl_program program, unsigned members, size_t bytes, bool waits)
{
    cl_int error;
    cl_kernel kernel = tsl_api_clCreateKernel(program, "k", &error);
    const struct tsl_kernel *k = (const struct tsl_kernel *)kernel;
    size_t told = 99;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(k->eligible, members);
    for (unsigned i = 0; i < N; i++)
        if (members >> i & 1)
            assert_int_equal(k->parts[i].facts.opaque, waits);
    assert_int_equal(tsl_api_clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                                   sizeof(told), &told, NULL),
                     CL_SUCCESS);
    assert_int_equal(told, bytes);
    tsl_api_clReleaseKernel(kernel);
    tsl_api_clReleaseProgram(program);
}

static cl_program built(const char *options)
{
    cl_program program = new_program();

    assert_int_equal(tsl_api_clBuildProgram(program, 1, &device, options, NULL, NULL), CL_SUCCESS);
    return program;
}

static cl_program linked(const char *options)
{
    cl_program object = new_program(), program;
    cl_int error;

    assert_int_equal(tsl_api_clCompileProgram(object, 1, &device, options, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    program = tsl_api_clLinkProgram(context, 1, &device, "", 1, &object, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    tsl_api_clReleaseProgram(object);
    return program;
}

/* Takes the program. */
static cl_program reloaded(cl_program program)
{
    unsigned char *bytes;
    size_t size;
    cl_int error;

    assert_int_equal(tsl_api_clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL), 0);
    bytes = malloc(size);
    assert_int_equal(tsl_api_clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL), 0);
    tsl_api_clReleaseProgram(program);
    program =
        tsl_api_clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&bytes, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    free(bytes);
    assert_int_equal(tsl_api_clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    return program;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void without_the_feature_no_size_says_nothing(void **state)
{
    (void)state;
    is_on(built("-cl-std=CL2.0"), FIRST, 0, true);
    is_on(linked("-cl-std=CL2.0"), FIRST, 0, true);
    is_on(built("-cl-std=CL3.0"), BOTH, 0, false); /* there are none without the feature */
    is_on(built("-cl-std=CL1.2"), BOTH, 0, false);
    is_on(built(""), BOTH, 0, false);
    is_on(linked("-cl-std=CL1.2"), BOTH, 0, false);
}

static void with_the_feature_it_says_that_there_are_none(void **state)
{
    (void)state;
    lies[1].feature = true;
    is_on(built("-cl-std=CL2.0"), BOTH, 0, false);
    lies[0].size = 16; /* which counts constants, then */
    is_on(built("-cl-std=CL3.0"), BOTH, 0, false);
    is_on(linked("-cl-std=CL3.0"), BOTH, 0, false);
}

static void who_has_the_feature_keeps_the_program(void **state)
{
    (void)state;
    lies[0].size = 16;
    is_on(built("-cl-std=CL3.0"), FIRST, 16, true);
    lies[1].feature = true;
    lies[1].size = 12;
    is_on(built("-cl-std=CL3.0"), SECOND, 12, true);
    is_on(linked("-cl-std=CL3.0"), SECOND, 12, true);
    is_on(reloaded(built("-cl-std=CL3.0")), SECOND, 12, true);
    lies[0].feature = true;
    is_on(built("-cl-std=CL3.0"), FIRST, 16, true);
}

static void opencl_c_1_has_constants_alone(void **state)
{
    (void)state;
    lies[0].feature = lies[1].feature = true;
    lies[0].size = lies[1].size = 16;
    is_on(built("-cl-std=CL1.2"), BOTH, 0, false);
    is_on(linked("-cl-std=CL1.1"), BOTH, 0, false);
    assert_int_equal(lies[0].n_tried + lies[1].n_tried, 0);
}

/* Tried once for each device, and only where a size is told. */
static void what_compilers_take_by_themselves_is_tried(void **state)
{
    (void)state;
    lies[0].feature = lies[1].feature = true;
    is_on(built(""), BOTH, 0, false);
    assert_int_equal(lies[0].n_tried + lies[1].n_tried, 0);
    lies[0].size = lies[1].size = 16;
    is_on(built(""), BOTH, 0, false);
    is_on(built("-DX"), BOTH, 0, false);
    assert_int_equal(lies[0].n_tried, 1);
    assert_int_equal(lies[1].n_tried, 1);
    be_plain(state);
    lies[0].size = lies[1].size = 16;
    lies[0].tried = lies[1].tried = CL_SUCCESS;
    is_on(built(""), FIRST, 16, true);
    is_on(built("-DX"), FIRST, 16, true);
    assert_int_equal(lies[0].n_tried, 1);
}

/* Only a compiler's "no" is one. */
static void a_compiler_that_cannot_be_asked_may_take_them(void **state)
{
    (void)state;
    lies[0].size = lies[1].size = 16;
    lies[0].tried = lies[1].tried = CL_OUT_OF_HOST_MEMORY;
    is_on(built(""), FIRST, 16, true);
}

/* It has them by its version, under no name. */
static void opencl_2_knows_of_them(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        lies[i].second = true;
        lies[i].device->version = 210;
    }
    is_on(built("-cl-std=CL2.0"), BOTH, 0, false);
    lies[0].size = lies[1].size = 16;
    is_on(built("-cl-std=CL2.0"), FIRST, 16, true);
    lies[0].size = 0;
    is_on(built("-cl-std=CL2.0"), BOTH, 0, false);
}

static bool is_reported(size_t *most)
{
    cl_name_version features[64];
    size_t size;
    bool found = false;

    tsl_device_forget();
    assert_int_equal(tsl_api_clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, sizeof(features), features, &size),
                     CL_SUCCESS);
    for (size_t i = 0; i < size / sizeof(features[0]); i++)
        found |= strcmp(features[i].name, FEATURE) == 0;
    assert_int_equal(tsl_api_clGetDeviceInfo(device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof(*most), most, NULL),
                     CL_SUCCESS);
    return found;
}

static void the_feature_is_that_of_all(void **state)
{
    size_t most;

    (void)state;
    assert_false(is_reported(&most));
    assert_int_equal(most, 0);
    lies[0].feature = true;
    assert_false(is_reported(&most));
    assert_int_equal(most, 0);
    lies[1].feature = true;
    assert_true(is_reported(&most));
    assert_int_equal(most, 4096);
    lies[1].feature = false;
    lies[1].second = true;
    assert_true(is_reported(&most));
    assert_int_equal(most, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_the_feature_no_size_says_nothing, be_plain),
        cmocka_unit_test_setup(with_the_feature_it_says_that_there_are_none, be_plain),
        cmocka_unit_test_setup(who_has_the_feature_keeps_the_program, be_plain),
        cmocka_unit_test_setup(opencl_c_1_has_constants_alone, be_plain),
        cmocka_unit_test_setup(what_compilers_take_by_themselves_is_tried, be_plain),
        cmocka_unit_test_setup(a_compiler_that_cannot_be_asked_may_take_them, be_plain),
        cmocka_unit_test_setup(opencl_2_knows_of_them, be_plain),
        cmocka_unit_test_setup(the_feature_is_that_of_all, be_plain),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
