/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: nvidia SABOTAGE_ICD={build}/vendors-pocl/pocl.icd SABOTAGE_NAME="NVIDIA CUDA" SABOTAGE_LIKE=nvidia TESELA_NVIDIA=opencl TESELA_VENDORS={build}/vendors-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl */
/* any: */
/* timeout: 300 */
/* Separate compilation: headers, objects, libraries and links, on every member at once; and what may not be mixed. */
#include "begin.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static cl_context context;
static cl_command_queue queue;

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static cl_program make_program(const char *source)
{
    cl_int error = 1;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    return program;
}

static cl_int compile(cl_program program, const char *options)
{
    return clCompileProgram(program, 0, NULL, options, 0, NULL, NULL, NULL, NULL);
}

static cl_program make_object(const char *source, const char *options)
{
    cl_program program = make_program(source);

    assert_int_equal(compile(program, options), CL_SUCCESS);
    return program;
}

static cl_program link_all(cl_uint n, const cl_program *programs, const char *options)
{
    cl_int error = 1;
    cl_program program = clLinkProgram(context, 0, NULL, options, n, programs, NULL, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(program);
    return program;
}

static cl_program_binary_type type_of(cl_program program)
{
    cl_program_binary_type type = 77;

    assert_int_equal(clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL),
                     CL_SUCCESS);
    return type;
}

static cl_build_status status_of(cl_program program)
{
    cl_build_status status = 77;

    assert_int_equal(
        clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL),
        CL_SUCCESS);
    return status;
}

/* Runs the program's kernel "answer" twice, so that with two members each does it once. */
static void answers(cl_program program, cl_int expected)
{
    cl_int error = 1;
    cl_kernel kernel = clCreateKernel(program, "answer", &error);

    assert_int_equal(error, CL_SUCCESS);
    for (int i = 0; i < 2; i++) {
        cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 4);
        cl_int value = 0;

        assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
        assert_int_equal(clEnqueueTask(queue, kernel, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &value, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(value, expected);
        clReleaseMemObject(buffer);
    }
    clReleaseKernel(kernel);
}

static const char caller[] = "int helper(int x);\n"
                             "kernel void answer(global int *out) { *out = helper(ADD); }\n";
static const char helper[] = "int helper(int x) { return x + 40; }\n";

/* ---- What works ---- */

static void objects_become_a_program(void **state)
{
    cl_program objects[2] = {make_object(caller, "-DADD=2"), make_object(helper, NULL)}, program;
    (void)state;

    assert_int_equal(type_of(objects[0]), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    assert_int_equal(status_of(objects[0]), CL_BUILD_SUCCESS);
    program = link_all(2, objects, NULL);
    assert_int_equal(type_of(program), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    clReleaseProgram(objects[0]);
    clReleaseProgram(objects[1]);
    answers(program, 42);
    clReleaseProgram(program);
}

static void headers_are_found_by_name(void **state)
{
    const char *names[2] = {"first.h", "folder/second.h"};
    cl_program headers[2] = {make_program("#define FIRST 30\n"), make_program("#define SECOND 12\n")};
    cl_program object = make_program("#include \"first.h\"\n#include \"folder/second.h\"\n"
                                     "kernel void answer(global int *out) { *out = FIRST + SECOND; }\n");
    cl_program program;
    (void)state;

    assert_int_equal(clCompileProgram(object, 0, NULL, NULL, 2, headers, names, NULL, NULL), CL_SUCCESS);
    program = link_all(1, &object, "");
    answers(program, 42);
    clReleaseProgram(program);
    clReleaseProgram(object);
    clReleaseProgram(headers[0]);
    clReleaseProgram(headers[1]);
}

static void a_library_is_linked_later(void **state)
{
    cl_program object = make_object(helper, NULL), parts[2], program;
    cl_kernel kernel;
    (void)state;

    parts[1] = link_all(1, &object, "-create-library");
    assert_int_equal(type_of(parts[1]), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    assert_refused(CL_INVALID_PROGRAM_EXECUTABLE, (kernel = clCreateKernel(parts[1], "answer", err)));
    parts[0] = make_object(caller, "-DADD=1");
    program = link_all(2, parts, NULL);
    answers(program, 41);
    clReleaseProgram(program);
    clReleaseProgram(parts[0]);
    clReleaseProgram(parts[1]);
    clReleaseProgram(object);
}

/* A linker that doesn't know what it needn't use, as PoCL's, links all the same. */
static void linkers_may_be_allowed_more(void **state)
{
    static const char *const allowed[] = {"-cl-denorms-are-zero",
                                          "-cl-unsafe-math-optimizations",
                                          "-cl-finite-math-only",
                                          "-cl-fast-relaxed-math",
                                          "-cl-no-signed-zeroes",
                                          "-cl-no-subgroup-ifp",
                                          "-create-library -enable-link-options -cl-fast-relaxed-math"};
    cl_program object = make_object("kernel void answer(global int *out) { *out = 42; }\n", NULL), linked;
    char log[20000];
    (void)state;

    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        linked = link_all(1, &object, allowed[i]);
        log[0] = 0;
        assert_int_equal(clGetProgramBuildInfo(linked, our_device(), CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL),
                         CL_SUCCESS);
        assert_null(strstr(log, "failed"));
        if (type_of(linked) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
            answers(linked, 42);
        clReleaseProgram(linked);
    }
    clReleaseProgram(object);
}

static void names_of_kernels_may_be_long(void **state)
{
    enum { LENGTH_OF_NAME = 2000 };
    char name[LENGTH_OF_NAME + 1], source[LENGTH_OF_NAME + 200], names[2 * LENGTH_OF_NAME];
    cl_program object, linked;
    cl_int error = 1;
    cl_kernel kernel;
    (void)state;

    memset(name, 'k', LENGTH_OF_NAME);
    name[LENGTH_OF_NAME] = 0;
    snprintf(source, sizeof source,
             "kernel void %s(global int *out) { *out = 5; }\nkernel void answer(global int *out)"
             " { *out = 6; }\n",
             name);
    object = make_object(source, NULL);
    linked = link_all(1, &object, NULL);
    assert_int_equal(clGetProgramInfo(linked, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL), CL_SUCCESS);
    assert_non_null(strstr(names, name));
    kernel = clCreateKernel(linked, name, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
    answers(linked, 6);
    clReleaseProgram(linked);
    clReleaseProgram(object);
}

static void an_object_survives_as_a_binary(void **state)
{
    cl_program object = make_object(helper, NULL), parts[2], program;
    cl_device_id device = our_device();
    unsigned char *binary;
    const unsigned char *binaries[1];
    size_t size = 0;
    cl_int error, status;
    (void)state;

    assert_int_equal(clGetProgramInfo(object, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), CL_SUCCESS);
    assert_true(size > 0);
    binary = malloc(size);
    assert_int_equal(clGetProgramInfo(object, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL), CL_SUCCESS);
    clReleaseProgram(object);
    binaries[0] = binary;
    parts[0] = clCreateProgramWithBinary(context, 1, &device, &size, binaries, &status, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(type_of(parts[0]), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    /* It isn't built, and nothing is lost by the asking. */
    assert_int_equal(clBuildProgram(parts[0], 0, NULL, NULL, NULL, NULL), CL_INVALID_BINARY);
    parts[1] = make_object(caller, "-DADD=3");
    program = link_all(2, parts, NULL);
    answers(program, 43);
    free(binary);
    clReleaseProgram(program);
    clReleaseProgram(parts[0]);
    clReleaseProgram(parts[1]);
}

/* oclgrind can't, and would end the process: it is left out. */
static void a_variable_is_shared(void **state)
{
    cl_program objects[2] = {make_program("extern constant int shared;\n"
                                          "kernel void answer(global int *out) { *out = shared; }\n"),
                             make_program("constant int shared = 44;\n")};
    cl_program program;
    (void)state;

    if (strstr(getenv("TESELA_VENDORS"), "vendors-oclgrind")) {
        char log[200] = "";

        assert_int_equal(compile(objects[0], NULL), CL_COMPILE_PROGRAM_FAILURE);
        assert_int_equal(clGetProgramBuildInfo(objects[0], our_device(), CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
                         CL_SUCCESS);
        assert_non_null(strstr(log, "extern"));
    } else {
        assert_int_equal(compile(objects[0], NULL), CL_SUCCESS);
        assert_int_equal(compile(objects[1], NULL), CL_SUCCESS);
        program = link_all(2, objects, NULL);
        answers(program, 44);
        clReleaseProgram(program);
    }
    clReleaseProgram(objects[0]);
    clReleaseProgram(objects[1]);
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

static void callbacks_hear_of_the_end(void **state)
{
    static struct done done;
    cl_program object = make_program(helper), library;
    cl_int error;
    (void)state;

    sem_init(&done.posted, 0, 0);
    assert_int_equal(clCompileProgram(object, 0, NULL, NULL, 0, NULL, NULL, post, &done), CL_SUCCESS);
    sem_wait(&done.posted);
    assert_ptr_equal(done.program, object);
    assert_int_equal(status_of(object), CL_BUILD_SUCCESS);
    library = clLinkProgram(context, 0, NULL, "-create-library", 1, &object, post, &done, &error);
    assert_int_equal(error, CL_SUCCESS);
    sem_wait(&done.posted);
    assert_ptr_equal(done.program, library);
    assert_int_equal(type_of(library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    clReleaseProgram(library);
    clReleaseProgram(object);
}

/* ---- What doesn't ---- */

static void a_wrong_source_fails_and_says_why(void **state)
{
    cl_program program = make_program("void f() { undeclared_thing = 1; }");
    char log[8192] = "";
    (void)state;

    assert_int_equal(compile(program, NULL), CL_COMPILE_PROGRAM_FAILURE);
    assert_int_equal(status_of(program), CL_BUILD_ERROR);
    assert_int_equal(type_of(program), CL_PROGRAM_BINARY_TYPE_NONE);
    assert_int_equal(clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL),
                     CL_SUCCESS);
    assert_non_null(strstr(log, "undeclared_thing"));
    assert_int_equal(compile(program, "-cl-std=CL0.1"), CL_INVALID_COMPILER_OPTIONS);
    clReleaseProgram(program);
}

/* Some compilers would look for a file of that name, and die. */
static void words_that_are_no_options_are_refused(void **state)
{
    static const char options[] = "-w --no-- option";
    cl_program program = make_program(helper), object = make_object(helper, NULL);
    (void)state;

    assert_int_equal(clBuildProgram(program, 0, NULL, options, NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(compile(program, options), CL_INVALID_COMPILER_OPTIONS);
    assert_refused(CL_INVALID_LINKER_OPTIONS, clLinkProgram(context, 0, NULL, options, 1, &object, NULL, NULL, err));
    clReleaseProgram(object);
    clReleaseProgram(program);
}

static void only_objects_and_libraries_are_linked(void **state)
{
    cl_program parts[2] = {make_program(helper), make_object(helper, NULL)};
    cl_program built = make_program("kernel void answer(global int *out) { *out = 1; }"), linked;
    (void)state;

    assert_refused(CL_INVALID_OPERATION, clLinkProgram(context, 0, NULL, NULL, 2, parts, NULL, NULL, err));
    assert_int_equal(clBuildProgram(built, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    assert_refused(CL_INVALID_OPERATION, clLinkProgram(context, 0, NULL, NULL, 1, &built, NULL, NULL, err));
    /* What a link made isn't built. */
    linked = link_all(1, &parts[1], "-create-library");
    assert_int_equal(clBuildProgram(linked, 0, NULL, NULL, NULL, NULL), CL_INVALID_OPERATION);
    clReleaseProgram(linked);
    /* What is built may be compiled afterwards, and is no executable then. */
    assert_int_equal(compile(built, NULL), CL_SUCCESS);
    assert_refused(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(built, "answer", err));
    for (int i = 0; i < 2; i++)
        clReleaseProgram(parts[i]);
    clReleaseProgram(built);
}

static void wrong_arguments_are_refused(void **state)
{
    const char *name = "a.h", *no_name = NULL;
    cl_program program = make_object(helper, NULL), wrong = (cl_program)context;
    cl_device_id device = our_device(), not_one = (cl_device_id)context;
    int anything;
    (void)state;

    assert_int_equal(compile(NULL, NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 0, &program, &name, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 1, &program, &no_name, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 1, &wrong, &name, NULL, NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, &anything), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 1, &not_one, NULL, 0, NULL, NULL, NULL, NULL), CL_INVALID_DEVICE);
    assert_refused(CL_INVALID_CONTEXT, clLinkProgram(NULL, 0, NULL, NULL, 1, &program, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clLinkProgram(context, 0, NULL, NULL, 0, NULL, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clLinkProgram(context, 1, NULL, NULL, 1, &program, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clLinkProgram(context, 0, NULL, NULL, 1, &program, NULL, &anything, err));
    assert_refused(CL_INVALID_DEVICE, clLinkProgram(context, 1, &not_one, NULL, 1, &program, NULL, NULL, err));
    assert_refused(CL_INVALID_PROGRAM, clLinkProgram(context, 1, &device, NULL, 1, &wrong, NULL, NULL, err));
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_become_a_program),
        cmocka_unit_test(headers_are_found_by_name),
        cmocka_unit_test(a_library_is_linked_later),
        cmocka_unit_test(linkers_may_be_allowed_more),
        cmocka_unit_test(names_of_kernels_may_be_long),
        cmocka_unit_test(an_object_survives_as_a_binary),
        cmocka_unit_test(a_variable_is_shared),
        cmocka_unit_test(callbacks_hear_of_the_end),
        cmocka_unit_test(a_wrong_source_fails_and_says_why),
        cmocka_unit_test(words_that_are_no_options_are_refused),
        cmocka_unit_test(only_objects_and_libraries_are_linked),
        cmocka_unit_test(wrong_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
