/*
 * Variants of kernels on the built-in CPU, as users name them: what is chosen, what a guard refuses, what is missing or
 * crashes, and what the check finds. Each test is a process of its own, as the folder is read once.
 */
/* variant: alone TESELA_MEMBERS=cpu TESELA_VENDORS={build}/tests TESELA_CACHE=off TESELA_LOG=error,program:info,place:info */
/* variant: cut TESELA_MEMBERS=cpu TESELA_VENDORS={build}/tests TESELA_CACHE=off TESELA_SPLIT=always TESELA_LOG=error,program:info,place:info */
/* timeout: 200 */
#include "child.h"
#include "cpu_rig.h"
#include "test.h"

#include <CL/cl_tesela.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define N 4096

static const char source[] = "kernel void add_one(global const int *in, global int *out, int n) {\n"
                             "  size_t i = get_global_id(0); if (i < n) out[i] = in[i] + 1; }\n";

#define HEAD "KERNEL add_one\nPROGRAM any\nARGUMENTS in:buffer out:buffer n:int\nMEMBERS cpu\n"

static char folder[] = "/tmp/tesela-variants-XXXXXX", said_path[80];

/* ---- The user ---------------------------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text)
{
    char path[200];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void describe(const char *name, const char *lines)
{
    char text[4000], file[100];

    snprintf(text, sizeof(text), HEAD "%s\n", lines);
    snprintf(file, sizeof(file), "%s.variant", name);
    write_file(file, text);
}

static void describe_function(const char *name, const char *function, const char *lines)
{
    char text[2000];

    snprintf(text, sizeof(text), "FUNCTION %s/tests/libvariant-functions.so %s\n%s", getenv("TESELA_BUILD"), function,
             lines);
    describe(name, text);
}

/* What was said on standard error so far. */
static bool was_said(const char *what)
{
    static char text[1 << 16];
    FILE *file = fopen(said_path, "r");
    size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

    text[size] = 0;
    if (file)
        fclose(file);
    return strstr(text, what) != NULL;
}

/* Shows what was said, where that is not as it should be. */
static void must_say(const char *what, bool said)
{
    if (was_said(what) == said)
        return;
    printf("%s: %s\n", said ? "not said" : "said", what);
    fflush(stdout);
    must(system("cat /proc/self/fd/2 >/dev/null; true") == 0);
    FILE *file = fopen(said_path, "r");
    for (int c; file && (c = getc(file)) != EOF;)
        putchar(c);
    fflush(stdout);
    must(false);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

struct rig {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem in, out;
};

static void make_program(struct rig *r)
{
    const char *text = source;
    cl_platform_id platform;
    cl_int error;

    must(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS);
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &r->device, NULL) == CL_SUCCESS);
    r->context = clCreateContext(NULL, 1, &r->device, NULL, NULL, &error);
    must(error == CL_SUCCESS);
    r->queue = clCreateCommandQueueWithProperties(r->context, r->device, NULL, &error);
    must(error == CL_SUCCESS);
    r->program = clCreateProgramWithSource(r->context, 1, &text, NULL, &error);
    must(error == CL_SUCCESS && clBuildProgram(r->program, 1, &r->device, "", NULL, NULL) == CL_SUCCESS);
}

static void make_kernel(struct rig *r)
{
    int n = N;
    cl_int error;

    r->kernel = clCreateKernel(r->program, "add_one", &error);
    must(error == CL_SUCCESS);
    r->in = clCreateBuffer(r->context, CL_MEM_READ_ONLY, N * sizeof(int), NULL, &error);
    r->out = clCreateBuffer(r->context, CL_MEM_READ_WRITE, N * sizeof(int), NULL, &error);
    must(clSetKernelArg(r->kernel, 0, sizeof(r->in), &r->in) == CL_SUCCESS);
    must(clSetKernelArg(r->kernel, 1, sizeof(r->out), &r->out) == CL_SUCCESS);
    must(clSetKernelArg(r->kernel, 2, sizeof(n), &n) == CL_SUCCESS);
}

static cl_int run(struct rig *r, int seed, bool *right)
{
    static int values[N];
    size_t size = N;
    cl_int error;

    for (int i = 0; i < N; i++)
        values[i] = i * 7 + seed;
    must(clEnqueueWriteBuffer(r->queue, r->in, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL) == CL_SUCCESS);
    must(clEnqueueNDRangeKernel(r->queue, r->kernel, 1, NULL, &size, NULL, 0, NULL, NULL) == CL_SUCCESS);
    error = clEnqueueReadBuffer(r->queue, r->out, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL);
    *right = !error;
    for (int i = 0; i < N && !error; i++)
        *right &= values[i] == i * 7 + seed + 1;
    return error;
}

/* A program that knows nothing of variants. */
static void run_right(unsigned n)
{
    struct rig r;
    bool right;

    make_program(&r);
    make_kernel(&r);
    for (unsigned i = 0; i < n; i++)
        must(run(&r, (int)i, &right) == CL_SUCCESS && right);
}

static void begin(void)
{
    must(freopen(said_path, "w", stderr) != NULL);
    setenv("TESELA_VARIANTS", folder, 1);
}

static bool is_cut(void)
{
    return getenv("TESELA_SPLIT") != NULL;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void good_one_child(void)
{
    begin();
    describe_function("good", "add_one_well", "USE always\nWINDOWS yes");
    run_right(8);
    must_say("good was tried in a process of its own", true);
    must_say("runs as the variant good", true);
    must_say("error", false);
    _exit(0);
}

static void fast_one_child(void)
{
    begin();
    describe("fast", "FUNCTION missing.so f"); /* Nothing is lost by it. */
    describe_function("good", "add_one_well", "");
    run_right(12);
    must_say("fast of kernel add_one is left out on cpu: its file is not there", true);
    must_say("runs as the variant good", !is_cut()); /* It takes no parts of launches. */
    _exit(0);
}

static void text_child(void)
{
    begin();
    write_file("other.cl", "kernel void other(global const int *in, global int *out, int n)\n"
                           "{ size_t i = get_global_id(0); if (i < n) out[i] = 1 + in[i]; }\n");
    describe("text", "OPENCL other.cl other\nUSE always");
    run_right(6);
    must_say("runs as the variant text", true);
    must_say("error", false);
    _exit(0);
}

/* Half as many work-items, each of which makes two. */
static void sizes_child(void)
{
    begin();
    write_file("two.cl", "kernel void add_one(global const int *in, global int *out, int n)\n"
                         "{ size_t i = 2 * get_global_id(0);\n"
                         "  if (get_local_size(0) == 32) for (int k = 0; k < 2; k++) out[i + k] = 1 + in[i + k]; }\n");
    describe("two", "OPENCL two.cl\nUSE always\nGUARD global0 == n && n % 64 == 0\nGLOBAL n / 2\nLOCAL 32");
    run_right(6);
    must_say("runs as the variant two", !is_cut());
    must_say("error", false);
    _exit(0);
}

static void wrong_text_child(void)
{
    begin();
    write_file("bad.cl", "kernel void add_one(global const int *in) { syntax error }");
    write_file("args.cl", "kernel void add_one(global const int *in, global int *out) { }");
    describe("bad", "OPENCL bad.cl\nUSE always");
    describe("args", "OPENCL args.cl\nUSE always");
    run_right(3);
    must_say("bad of kernel add_one is left out on cpu: it can't be built", true);
    must_say("args of kernel add_one is left out on cpu: its kernel has other arguments", true);
    must_say("runs as the variant", false);
    _exit(0);
}

static void guard_child(void)
{
    begin();
    describe_function("small", "add_one_wrong", "USE always\nGUARD n < 100");
    describe_function("aligned", "add_one_wrong", "USE always\nGUARD bytes(out) == 12");
    run_right(4);
    must_say("runs as the variant", false);
    _exit(0);
}

static void refusing_child(void)
{
    begin();
    describe_function("refusing", "refuse", "USE always\nWINDOWS yes");
    run_right(6);
    must_say("refusing of kernel add_one is left out: it refused all of its first 4 launches", true);
    _exit(0);
}

/* Who took a launch may refuse as many as it likes. */
static void choosy_child(void)
{
    begin();
    describe_function("choosy", "take_every_fifth", "USE always\nTRIAL no\nWINDOWS yes");
    run_right(12);
    must_say("error", false);
    _exit(0);
}

/* A variant of any program's kernel never serves before it was found equal. */
static void unproven_child(void)
{
    begin();
    describe_function("lying", "add_one_wrong", "USE always\nWINDOWS yes");
    run_right(6);
    must_say("lying of kernel add_one is left out: its result differs from the original's: argument 1 (out), byte 148",
             true);
    _exit(0);
}

static void crashing_child(void)
{
    begin();
    describe_function("crashing", "crash", "USE always\nWINDOWS yes");
    run_right(4);
    must_say("crashing of kernel add_one is left out: its function crashed in a trial", true);
    _exit(0);
}

static void absent_function_child(void)
{
    begin();
    describe_function("absent", "no_such_function", "USE always\nWINDOWS yes");
    run_right(4);
    must_say("absent of kernel add_one is left out: its library has no such function", true);
    _exit(0);
}

static void check_child(void)
{
    struct rig r;
    bool right;

    begin();
    setenv("TESELA_CHECK", "variants", 1);
    describe_function("lying", "add_one_wrong", "WINDOWS yes");
    describe_function("honest", "add_one_well", "WINDOWS yes");
    make_program(&r);
    make_kernel(&r);
    run(&r, 3, &right);
    must_say("the variant lying of kernel add_one on cpu, command", true);
    must_say("its result differs from the original's: argument 1 (out), byte 148", true);
    must_say("the variant honest of kernel add_one on cpu, command", false);
    _exit(0);
}

/* ---- Programs that know ------------------------------------------------------------------------------------------ */

static unsigned n_calls;

static cl_int CL_CALLBACK add_by_program(const cl_variant_launch_tesela *launch, void *user_data)
{
    const int *in = launch->arguments[0].at;
    int *out = launch->arguments[1].at;

    ++*(unsigned *)user_data;
    for (size_t i = launch->begin[0]; i < launch->end[0]; i++)
        out[i] = in[i] + 1;
    return CL_SUCCESS;
}

static void extension_child(void)
{
    static const char description[] =
        "KERNEL add_one\nARGUMENTS in:buffer out:buffer n:int\nGIVEN\nUSE always\nNAME own\n"
        "WINDOWS yes\n";
    cl_platform_id platform;
    struct rig r;
    bool right;

    must(freopen(said_path, "w", stderr) != NULL);
    make_program(&r);
    must(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS);
    clAddKernelVariantTESELA_fn add =
        (clAddKernelVariantTESELA_fn)clGetExtensionFunctionAddressForPlatform(platform, "clAddKernelVariantTESELA");
    must(add != NULL);
    must(add(NULL, description, add_by_program, &n_calls) == CL_INVALID_PROGRAM);
    must(add(r.program, NULL, add_by_program, &n_calls) == CL_INVALID_VALUE);
    must(add(r.program, description, NULL, NULL) == CL_INVALID_VALUE);
    must(add(r.program, "KERNEL", add_by_program, &n_calls) == CL_INVALID_VALUE);
    must(add(r.program, description, add_by_program, &n_calls) == CL_SUCCESS);
    make_kernel(&r);
    must(add(r.program, description, add_by_program, &n_calls) == CL_INVALID_OPERATION);
    for (int i = 0; i < 5; i++)
        must(run(&r, i, &right) == CL_SUCCESS && right);
    must(n_calls >= 5);
    must(clReleaseKernel(r.kernel) == CL_SUCCESS && clReleaseProgram(r.program) == CL_SUCCESS);
    _exit(0);
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

static char trace_path[80];

static void traced_child(void)
{
    begin();
    setenv("TESELA_TRACE", trace_path, 1);
    describe_function("good", "add_one_well", "USE always\nWINDOWS yes");
    run_right(6);
    exit(0); /* Timelines are written to their end at exit. */
}

static bool says(const char *arguments, const char *what)
{
    static char text[1 << 16];
    char command[800];
    FILE *output;

    snprintf(command, sizeof(command), "TESELA_VARIANTS=%s %s/tesela %s", folder, getenv("TESELA_BUILD"), arguments);
    output = popen(command, "r");
    text[output ? fread(text, 1, sizeof(text) - 1, output) : 0] = 0;
    if (output)
        pclose(output);
    return strstr(text, what) != NULL;
}

static void timelines_and_tools_tell(void **state)
{
    char arguments[400];

    (void)state;
    snprintf(trace_path, sizeof(trace_path), "%s.trace", folder);
    assert_int_equal(ending(traced_child), 0);
    assert_true(says("info", "good: kernel add_one on cpu by function"));
    assert_true(says("info --json", "\"variants\""));
    snprintf(arguments, sizeof(arguments), "meters --json %s", trace_path);
    assert_true(says(arguments, "\"good\""));
    snprintf(arguments, sizeof(arguments), "report %s -o %s.html && cat %s.html", trace_path, trace_path, trace_path);
    assert_true(says(arguments, "variant good"));
    snprintf(arguments, sizeof(arguments), "%s.html", trace_path);
    assert_int_equal(remove(arguments), 0);
    assert_int_equal(remove(trace_path), 0);
}

static void in_child(void **state)
{
    assert_int_equal(ending(*(void (**)(void)) * state), 0);
}

static int clear(void **state)
{
    char command[200];

    (void)state;
    snprintf(command, sizeof(command), "rm -f %s/*", folder);
    return system(command);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(said_path, sizeof(said_path), "%s.said", folder);
    if (!mkdtemp(folder))
        return 1;
    snprintf(said_path, sizeof(said_path), "%s.said", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove(said_path);
    return rmdir(folder);
}

#define IN_CHILD(child)                                  \
    {                                                    \
#child, in_child, NULL, clear, &(void (*)(void)) \
        {                                                \
            child##_child                                \
        }                                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(good_one),
        IN_CHILD(fast_one),
        IN_CHILD(text),
        IN_CHILD(sizes),
        IN_CHILD(wrong_text),
        IN_CHILD(guard),
        IN_CHILD(refusing),
        IN_CHILD(choosy),
        IN_CHILD(unproven),
        IN_CHILD(crashing),
        IN_CHILD(absent_function),
        IN_CHILD(check),
        IN_CHILD(extension),
        cmocka_unit_test_teardown(timelines_and_tools_tell, clear),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
