/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* any: */
/* timeout: 300 */
/*
 * Programs as an application sees them: sources and options, logs, binaries, callbacks, when builds are allowed, and
 * that a program sees the macros that the device promises, whatever its members' compilers define.
 */
#include "begin.h"

#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static cl_context context;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseContext(context);
}

static cl_program make_program(const char *source)
{
    cl_int error = 1;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(program);
    return program;
}

static cl_int build(cl_program program, const char *options)
{
    return clBuildProgram(program, 0, NULL, options, NULL, NULL);
}

static cl_program make_built(const char *source, const char *options)
{
    cl_program program = make_program(source);

    assert_int_equal(build(program, options), CL_SUCCESS);
    return program;
}

/* Heap; the caller frees. */
static char *build_text(cl_program program, cl_program_build_info param)
{
    size_t size = 0;
    char *text;

    assert_int_equal(clGetProgramBuildInfo(program, our_device(), param, 0, NULL, &size), CL_SUCCESS);
    text = malloc(size + 1);
    assert_int_equal(clGetProgramBuildInfo(program, our_device(), param, size, text, NULL), CL_SUCCESS);
    assert_int_equal(strlen(text) + 1, size);
    return text;
}

static cl_build_status status_of(cl_program program)
{
    cl_build_status status = 77;

    assert_int_equal(
        clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL),
        CL_SUCCESS);
    return status;
}

/* ---- Sources ---- */

static void wrong_sources_are_refused(void **state)
{
    const char *strings[2] = {"kernel void f() {}", NULL};
    (void)state;

    assert_refused(CL_INVALID_CONTEXT, clCreateProgramWithSource(NULL, 1, strings, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithSource(context, 0, strings, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithSource(context, 1, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithSource(context, 2, strings, NULL, err));
}

static void strings_are_joined(void **state)
{
    const char *strings[3] = {"kernel void first(global int *x) {XXX", " *x = 1; }\n", "kernel void second() {}"};
    const size_t lengths[3] = {strlen(strings[0]) - 3, 0, strlen(strings[2])};
    char text[200];
    cl_program program;
    cl_int error;
    (void)state;

    program = clCreateProgramWithSource(context, 3, strings, lengths, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, NULL), CL_SUCCESS);
    assert_string_equal(text, "kernel void first(global int *x) { *x = 1; }\nkernel void second() {}");
    assert_int_equal(build(program, NULL), CL_SUCCESS);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL), CL_SUCCESS);
    assert_string_equal(text, "first;second");
    clReleaseProgram(program);
}

static void a_program_tells_what_it_is(void **state)
{
    cl_program program = make_program("kernel void f() {}");
    cl_context its_context;
    cl_device_id device;
    cl_uint n;
    size_t size;
    (void)state;

    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof device, &device, NULL), CL_SUCCESS);
    assert_ptr_equal(device, our_device());
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof its_context, &its_context, NULL), CL_SUCCESS);
    assert_ptr_equal(its_context, context);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof size, &size, NULL),
                     CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_CONTEXT, 1, &its_context, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetProgramInfo(program, 12345, sizeof n, &n, NULL), CL_INVALID_VALUE);
    clReleaseProgram(program);
}

static void handles_are_checked(void **state)
{
    cl_program program = make_program("kernel void f() {}");
    cl_uint n;
    (void)state;

    assert_int_equal(clRetainProgram(program), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_INVALID_PROGRAM);
    assert_int_equal(build(program, NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof n, &n, NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clReleaseProgram((cl_program)context), CL_INVALID_PROGRAM);
}

/* ---- Building ---- */

static void a_build_leaves_its_options_and_state(void **state)
{
    cl_program program = make_program("kernel void f(global int *x) { *x = A; }");
    cl_program_binary_type type;
    char *text;
    (void)state;

    assert_int_equal(status_of(program), CL_BUILD_NONE);
    assert_int_equal(build(program, "-D A=3 -cl-mad-enable"), CL_SUCCESS);
    assert_int_equal(status_of(program), CL_BUILD_SUCCESS);
    text = build_text(program, CL_PROGRAM_BUILD_OPTIONS);
    assert_string_equal(text, "-D A=3 -cl-mad-enable");
    free(text);
    assert_int_equal(clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL),
                     CL_SUCCESS);
    assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    clReleaseProgram(program);
}

static void a_wrong_program_fails_and_says_why(void **state)
{
    cl_program program = make_program("kernel void f() {}\n\nkernel void g() { undeclared_thing = 1; }\n");
    cl_kernel kernel;
    char *log;
    (void)state;

    assert_int_equal(build(program, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(status_of(program), CL_BUILD_ERROR);
    log = build_text(program, CL_PROGRAM_BUILD_LOG);
    assert_non_null(strstr(log, "undeclared_thing"));
    free(log);
    assert_refused(CL_INVALID_PROGRAM_EXECUTABLE, (kernel = clCreateKernel(program, "f", err)));
    clReleaseProgram(program);
}

static void wrong_arguments_of_a_build_are_refused(void **state)
{
    cl_program program = make_program("kernel void f() {}");
    cl_device_id device = our_device(), not_one = (cl_device_id)context;
    int anything;
    (void)state;

    assert_int_equal(clBuildProgram(program, 0, &device, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clBuildProgram(program, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clBuildProgram(program, 1, &not_one, NULL, NULL, NULL), CL_INVALID_DEVICE);
    assert_int_equal(clBuildProgram(program, 1, &device, NULL, NULL, &anything), CL_INVALID_VALUE);
    assert_int_equal(build(program, "-cl-std=CL47.11"), CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(status_of(program), CL_BUILD_NONE);
    assert_int_equal(clBuildProgram(program, 1, &device, NULL, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clGetProgramBuildInfo(program, NULL, CL_PROGRAM_BUILD_STATUS, 0, NULL, NULL), CL_INVALID_DEVICE);
    assert_int_equal(clGetProgramBuildInfo(program, device, 4711, 0, NULL, NULL), CL_INVALID_VALUE);
    clReleaseProgram(program);
}

static void no_rebuild_under_a_kernel(void **state)
{
    cl_program program = make_built("kernel void f() {}", NULL);
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "f", &error);
    (void)state;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(build(program, NULL), CL_INVALID_OPERATION);
    clReleaseKernel(kernel);
    assert_int_equal(build(program, "-DX"), CL_SUCCESS);
    clReleaseProgram(program);
}

static void CL_CALLBACK linger(cl_mem memory, void *arg)
{
    const struct timespec while_another_builds = {.tv_nsec = 200000000};
    (void)memory;
    (void)arg;

    nanosleep(&while_another_builds, NULL);
}

/* Who drops what both launches held comes to the buffer before it comes to the first one's kernel. */
static void launch_and_release(cl_program program, cl_command_queue queue, cl_event start)
{
    const size_t one = 1;

    for (int i = 0; i < 2; i++) {
        cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint));
        cl_int error = 1;
        cl_kernel kernel = clCreateKernel(program, "f", &error);

        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clSetMemObjectDestructorCallback(buffer, linger, NULL), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 1, &start, NULL), CL_SUCCESS);
        clReleaseMemObject(buffer);
        clReleaseKernel(kernel);
    }
}

/* Launches hold their kernels, and a thread of ours may be dropping the last when the wait returns. */
static void a_rebuild_after_the_last_launch(void **state)
{
    cl_program program = make_built("kernel void f(global uint *x) { *x = 1; }", NULL);
    cl_command_queue queue = make_queue(context, 0);
    cl_event start = make_user_event(context);
    (void)state;

    launch_and_release(program, queue, start);
    assert_int_equal(build(program, NULL), CL_INVALID_OPERATION);
    assert_int_equal(clSetUserEventStatus(start, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(build(program, "-DX"), CL_SUCCESS);
    clReleaseEvent(start);
    clReleaseCommandQueue(queue);
    clReleaseProgram(program);
}

struct done {
    sem_t posted;
    cl_program program;
};

static void CL_CALLBACK post(cl_program program, void *arg)
{
    struct done *done = arg;

    done->program = program;
    sem_post(&done->posted);
}

static void a_callback_hears_of_success_and_failure(void **state)
{
    static const char *const sources[] = {"kernel void f() {}", "this is no program"};
    static struct done done;
    (void)state;

    sem_init(&done.posted, 0, 0);
    for (unsigned i = 0; i < 2; i++) {
        cl_program program = make_program(sources[i]);

        assert_int_equal(clBuildProgram(program, 0, NULL, "", post, &done), CL_SUCCESS);
        assert_int_equal(sem_wait(&done.posted), 0);
        assert_ptr_equal(done.program, program);
        assert_int_equal(status_of(program), i ? CL_BUILD_ERROR : CL_BUILD_SUCCESS);
        clReleaseProgram(program);
    }
}

/* A forked child gets errors, calls no vendor, and may let go of what it inherited. */
static void a_forked_child_gets_errors(void **state)
{
    cl_program program = make_built("kernel void f() {}", NULL);
    cl_kernel kernel = clCreateKernel(program, "f", NULL);
    int status = -1;
    pid_t child;
    (void)state;

    assert_non_null(kernel);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        size_t size = 0;
        cl_int error = 0;

        alarm(20); /* better dead than hung */
        if (clReleaseKernel(kernel) != CL_SUCCESS)
            _exit(1);
        if (build(program, NULL) != CL_OUT_OF_RESOURCES)
            _exit(2);
        if (clCreateKernel(program, "f", &error) || error != CL_OUT_OF_RESOURCES)
            _exit(3);
        if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_OUT_OF_RESOURCES)
            _exit(4);
        _exit(clReleaseProgram(program) == CL_SUCCESS ? 0 : 5);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* ---- Macros ---- */

static bool has_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    if (kernel)
        clReleaseKernel(kernel);
    return error == CL_SUCCESS;
}

static bool reports(cl_device_info param, const char *word)
{
    char text[4096] = " ";
    char wanted[100];

    assert_int_equal(clGetDeviceInfo(our_device(), param, sizeof text - 3, text + 1, NULL), CL_SUCCESS);
    strcat(text, " ");
    snprintf(wanted, sizeof wanted, " %s ", word);
    return strstr(text, wanted) != NULL;
}

/* One kernel for each macro that is defined; there is none for what the device doesn't report, on any member. */
static void extension_macros_are_those_of_the_device(void **state)
{
    static const char *const names[] = {
        "cl_khr_fp16",
        "cl_khr_fp64",
        "cl_khr_depth_images",
        "cl_khr_3d_image_writes",
        "cl_khr_subgroups",
        "cl_khr_int64_base_atomics",
        "cl_khr_mipmap_image",
        "cl_khr_global_int32_base_atomics",
        "cl_khr_gl_msaa_sharing",
        "cl_khr_byte_addressable_store",
    };
    char source[4096] = "kernel void always() {}\n";
    cl_program program;
    (void)state;

    for (size_t i = 0; i < LENGTH(names); i++)
        snprintf(source + strlen(source), sizeof source - strlen(source),
                 "#ifdef %s\nkernel void has_%s() {}\n#endif\n", names[i], names[i]);
    program = make_built(source, NULL);
    for (size_t i = 0; i < LENGTH(names); i++) {
        char kernel[100];

        snprintf(kernel, sizeof kernel, "has_%s", names[i]);
        if (has_kernel(program, kernel) != reports(CL_DEVICE_EXTENSIONS, names[i]))
            fail_msg("%s: macro and device disagree", names[i]);
    }
    clReleaseProgram(program);
}

/* Without -cl-std it is OpenCL C 1, and features are those of 3.0 only. */
static void versions_are_those_of_the_device(void **state)
{
    static const char source[] = "#if __OPENCL_VERSION__ == 300\nkernel void device_3() {}\n#endif\n"
                                 "#if __OPENCL_VERSION__ == 120\nkernel void device_12() {}\n#endif\n"
                                 "#if __OPENCL_C_VERSION__ == 120\nkernel void c_12() {}\n#endif\n"
                                 "#if __OPENCL_C_VERSION__ == 300\nkernel void c_30() {}\n#endif\n"
                                 "#ifdef __opencl_c_int64\nkernel void int64() {}\n#endif\n"
                                 "#ifdef __IMAGE_SUPPORT__\nkernel void images() {}\n#endif\n";
    cl_bool images = CL_TRUE;
    cl_version version = 0;
    cl_program program = make_built(source, NULL);
    (void)state;

    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_NUMERIC_VERSION, sizeof version, &version, NULL),
                     CL_SUCCESS);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL), CL_SUCCESS);
    assert_int_equal(has_kernel(program, "device_3"), version == CL_MAKE_VERSION(3, 0, 0));
    assert_int_equal(has_kernel(program, "device_12"), version == CL_MAKE_VERSION(1, 2, 0)); /* oclgrind alone */
    assert_true(has_kernel(program, "c_12"));
    assert_false(has_kernel(program, "c_30"));
    assert_false(has_kernel(program, "int64"));
    assert_int_equal(has_kernel(program, "images"), images != CL_FALSE);
    clReleaseProgram(program);
    /* Asked for 3.0, a member that knows only 1.2 compiles that, and says 3.0. */
    program = make_built(source, "-cl-std=CL3.0");
    assert_true(has_kernel(program, "c_30"));
    assert_false(has_kernel(program, "c_12"));
    clReleaseProgram(program);
}

static void what_the_application_defines_stays(void **state)
{
    cl_program program = make_built("#ifdef cl_khr_subgroup_rotate\nkernel void mine() {}\n#endif\nkernel void f() {}",
                                    "-Dcl_khr_subgroup_rotate=1");
    (void)state;

    assert_true(has_kernel(program, "mine"));
    clReleaseProgram(program);
}

/* ---- Binaries ---- */

static unsigned char *get_binary(cl_program program, size_t *size)
{
    unsigned char *binary;

    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL), CL_SUCCESS);
    assert_true(*size > 0);
    binary = malloc(*size);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), CL_SUCCESS);
    return binary;
}

static void a_program_survives_as_a_binary(void **state)
{
    cl_program program = make_built("kernel void set(global int *x) { *x = 42; }", NULL), loaded;
    cl_command_queue queue = make_queue(context, 0);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 4);
    cl_device_id device = our_device();
    cl_int error, status = 1, answer = 0;
    size_t size;
    unsigned char *binary = get_binary(program, &size);
    const unsigned char *binaries[] = {binary};
    cl_kernel kernel;
    (void)state;

    clReleaseProgram(program);
    loaded = clCreateProgramWithBinary(context, 1, &device, &size, binaries, &status, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(status, CL_SUCCESS);
    assert_int_equal(build(loaded, NULL), CL_SUCCESS);
    kernel = clCreateKernel(loaded, "set", &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clEnqueueTask(queue, kernel, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &answer, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(answer, 42);
    free(binary);
    clReleaseKernel(kernel);
    clReleaseProgram(loaded);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
}

static void wrong_binaries_are_refused(void **state)
{
    const unsigned char *rubbish[] = {(const unsigned char *)"rubbish"}, *none[] = {NULL};
    cl_device_id device = our_device(), not_one = (cl_device_id)context;
    const size_t size = 7, nothing = 0;
    cl_int status = 1;
    (void)state;

    assert_refused(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &device, &size, rubbish, &status, err));
    assert_int_equal(status, CL_INVALID_BINARY);
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBinary(context, 1, &device, &nothing, rubbish, &status, err));
    assert_int_equal(status, CL_INVALID_VALUE);
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBinary(context, 1, &device, &size, none, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBinary(context, 0, &device, &size, rubbish, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBinary(context, 1, NULL, &size, rubbish, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBinary(context, 1, &device, NULL, rubbish, NULL, err));
    assert_refused(CL_INVALID_DEVICE, clCreateProgramWithBinary(context, 1, &not_one, &size, rubbish, NULL, err));
    assert_refused(CL_INVALID_CONTEXT, clCreateProgramWithBinary(NULL, 1, &device, &size, rubbish, NULL, err));
}

static void a_binary_of_an_unbuilt_program_is_empty(void **state)
{
    cl_program program = make_program("kernel void f() {}");
    size_t size = 77;
    (void)state;

    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), CL_SUCCESS);
    assert_int_equal(size, 0);
    clReleaseProgram(program);
}

/* ---- What there isn't ---- */

static void CL_CALLBACK never(cl_program program, void *arg)
{
    (void)program;
    (void)arg;
    fail();
}

static void what_the_device_has_not_is_refused(void **state)
{
    cl_program program = make_program("kernel void f() {}");
    cl_device_id device = our_device();
    cl_uint word = 7;
    size_t size = 77;
    (void)state;

    assert_refused(CL_INVALID_OPERATION, clCreateProgramWithIL(context, &word, sizeof word, err));
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 1, &device, "none.such", err));
    assert_int_equal(clSetProgramSpecializationConstant(program, 0, sizeof word, &word), CL_INVALID_OPERATION);
    assert_int_equal(clSetProgramReleaseCallback(program, never, NULL), CL_INVALID_OPERATION);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_IL, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, 0);
    clReleaseProgram(program);
    assert_int_equal(clUnloadPlatformCompiler(our_platform()), CL_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(strings_are_joined),
        cmocka_unit_test(a_program_tells_what_it_is),
        cmocka_unit_test(handles_are_checked),
        cmocka_unit_test(a_build_leaves_its_options_and_state),
        cmocka_unit_test(a_wrong_program_fails_and_says_why),
        cmocka_unit_test(wrong_arguments_of_a_build_are_refused),
        cmocka_unit_test(no_rebuild_under_a_kernel),
        cmocka_unit_test(a_rebuild_after_the_last_launch),
        cmocka_unit_test(a_callback_hears_of_success_and_failure),
        cmocka_unit_test(a_forked_child_gets_errors),
        cmocka_unit_test(extension_macros_are_those_of_the_device),
        cmocka_unit_test(versions_are_those_of_the_device),
        cmocka_unit_test(what_the_application_defines_stays),
        cmocka_unit_test(a_program_survives_as_a_binary),
        cmocka_unit_test(wrong_binaries_are_refused),
        cmocka_unit_test(a_binary_of_an_unbuilt_program_is_empty),
        cmocka_unit_test(what_the_device_has_not_is_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
