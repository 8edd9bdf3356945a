/*
 * Devices without a compiler, over a test vendor (tests/vendor/fpga.h): an unmodified program of source runs on them
 * with prebuilt binaries, which are found by the rule of docs/user/fpga.md, beside a CPU that compiles. Transfers use
 * aligned memory, and missing or wrong binaries are reported.
 *
 * Members: 0 the board, 1 the emulator, 2 PoCL.
 * Launches run whole, as it is counted which member had how many.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl-fpga POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_SPLIT=off */
/* variant: copying TESELA_VENDORS={build}/vendors-pocl-fpga POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_ZERO_COPY=off TESELA_SPLIT=off */
/* variant: old FPGA_PLATFORM_VERSION="OpenCL 1.0 test FPGA" FPGA_VERSION="OpenCL 1.0 test FPGA" TESELA_VENDORS={build}/vendors-pocl-fpga POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin TESELA_SPLIT=off */
#include "begin.h"
#include "build_folder.h"

#include "../vendor/fpga.h"

#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define N 1024

enum { BOARD, EMULATOR, POCL, N_MEMBERS };

static const char *const source = "/* kernel void triple(global int *x) stands elsewhere */\n"
                                  "__kernel void set_all(__global int *x, int value)\n"
                                  "{ x[get_global_id(0)] = value; }\n"
                                  "kernel __attribute__((vec_type_hint(int))) void\n"
                                  "vector_add(global const int *a, global const int *b, global int *c)\n"
                                  "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
                                  "kernel void only_compiled(global int *x) { x[get_global_id(0)] = 7; }\n";

static char folder[] = "/tmp/tesela-fpga-XXXXXX";
static cl_device_id members[N_MEMBERS];
static fpga_transfers_fn *transfers;
static fpga_runs_fn *runs;
static fpga_alive_fn *alive;

/* ---- Things ------------------------------------------------------------------------------------------------------ */

static void write_file(const char *name, const char *content)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

#define BINARY(mode, kernels) "TESELA TEST FPGA 1\nmode " mode "\n" kernels

static const char *const hardware = BINARY("hardware", "kernel set_all\nkernel vector_add\n");
static const char *const emulation = BINARY("emulation", "kernel set_all\nkernel vector_add\n");

static cl_context context_of(cl_uint n, const cl_device_id *devices)
{
    cl_int error = 1;
    cl_context context = clCreateContext(NULL, n, devices, NULL, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    return context;
}

static cl_command_queue queue_of(cl_context context, cl_device_id device)
{
    cl_int error = 1;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);

    assert_int_equal(error, CL_SUCCESS);
    return queue;
}

static cl_program program_of(cl_context context, const char *text)
{
    cl_int error = 1;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    return program;
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int error = 1;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    return kernel;
}

static void run(cl_command_queue queue, cl_kernel kernel)
{
    const size_t n = N;

    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
}

static void set_args(cl_kernel kernel, cl_uint n, const cl_mem *buffers)
{
    for (cl_uint i = 0; i < n; i++)
        assert_int_equal(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]), CL_SUCCESS);
}

static void must_hold(cl_command_queue queue, cl_mem buffer, int value)
{
    int *found = aligned_alloc(64, N * sizeof(int));

    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, N * sizeof(int), found, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_int_equal(found[i], value);
    free(found);
}

/* What the build log of the device says has this in it. */
static void log_says(cl_program program, cl_device_id device, const char *text)
{
    char log[8192] = "";

    assert_int_equal(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL), CL_SUCCESS);
    if (!strstr(log, text))
        fail_msg("\"%s\" is missing in: %s", text, log);
}

static int prepare(void **state)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    char path[512], config[512], host[256] = "";
    void *library;
    cl_uint n;

    (void)state;
    alarm(50);
    assert_non_null(mkdtemp(folder));
    gethostname(host, sizeof host - 1);
    /* The board has no line: its binaries have no mode in their names. PoCL has one, and compiles what it finds no
     * binary of. */
    snprintf(config, sizeof config, "NODE %s\nOpenCL_GPU 0 0\nFPGA 0 1 emulation\nFPGA 1 0 software\n", host);
    write_file("config", config);
    snprintf(path, sizeof path, "%s/config", folder);
    setenv("TESELA_CONFIG", path, 1);
    setenv("TESELA_BINARIES", folder, 1);
    assert_int_equal(clCreateSubDevices(our_device(), by_member, N_MEMBERS, members, &n), CL_SUCCESS);
    assert_int_equal(n, N_MEMBERS);
    snprintf(path, sizeof path, "%s/tests/fpga-icd.so", build_folder());
    library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    transfers = (fpga_transfers_fn *)dlsym(library, "fpga_transfers");
    runs = (fpga_runs_fn *)dlsym(library, "fpga_runs");
    alive = (fpga_alive_fn *)dlsym(library, "fpga_alive");
    return transfers && runs && alive ? 0 : 1;
}

static int clean(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* One context over all; each launch goes to the next member, and each finds what the one before left. */
static void a_program_of_source_runs_everywhere(void **state)
{
    unsigned before[2] = {runs("vector_add", "hardware"), runs("vector_add", "emulation")};
    cl_device_id device = our_device();
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel set, add;
    cl_mem a, b;
    int one = 1;

    (void)state;
    write_file("set_all.bin", hardware);
    write_file("set_all.emulation.aocx", emulation);
    context = make_context();
    queue = queue_of(context, device);
    program = program_of(context, source);
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    set = kernel_of(program, "set_all");
    add = kernel_of(program, "vector_add");
    a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    b = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    assert_int_equal(clSetKernelArg(set, 1, sizeof one, &one), CL_SUCCESS);
    set_args(set, 1, &a);
    run(queue, set);
    set_args(set, 1, &b);
    run(queue, set);
    set_args(add, 3, (cl_mem[]){a, b, a});
    for (int i = 0; i < 12; i++)
        run(queue, add);
    must_hold(queue, a, 13);
    assert_true(runs("vector_add", "hardware") - before[0] >= 4);
    assert_true(runs("vector_add", "emulation") - before[1] >= 4);
    assert_true(runs("vector_add", "hardware") - before[0] + runs("vector_add", "emulation") - before[1] <= 8);
    /* A kernel that no binary has runs where there is a compiler. */
    log_says(program, device, "there is no binary by this kernel's name: looked for ");
    log_says(program, device, "only_compiled.emulation.aocx");
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseKernel(set);
    clReleaseKernel(add);
    add = kernel_of(program, "only_compiled");
    a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    set_args(add, 1, &a);
    for (int i = 0; i < 4; i++)
        run(queue, add);
    must_hold(queue, a, 7);
    clReleaseKernel(add);
    clReleaseMemObject(a);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    remove_file("set_all.bin");
    remove_file("set_all.emulation.aocx");
}

/* Runs set_all and reads, on one member by its own device. */
static void runs_on(cl_device_id device, const char *options)
{
    cl_context context = context_of(1, &device);
    cl_command_queue queue = queue_of(context, device);
    cl_program program = program_of(context, source);
    cl_mem a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    cl_kernel set;
    int five = 5;

    assert_int_equal(clBuildProgram(program, 0, NULL, options, NULL, NULL), CL_SUCCESS);
    set = kernel_of(program, "set_all");
    set_args(set, 1, &a);
    assert_int_equal(clSetKernelArg(set, 1, sizeof five, &five), CL_SUCCESS);
    run(queue, set);
    must_hold(queue, a, 5);
    clReleaseKernel(set);
    clReleaseMemObject(a);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/* Builds for one member, where that must fail; what the log must say. */
static void fails_on(cl_device_id device, const char *options, cl_int expected, const char *says)
{
    cl_context context = context_of(1, &device);
    cl_program program = program_of(context, source);

    assert_int_equal(clBuildProgram(program, 0, NULL, options, NULL, NULL), expected);
    log_says(program, device, says);
    clReleaseProgram(program);
    clReleaseContext(context);
}

/* Names with the mode are for the member whose line has it, and for no other. */
static void the_mode_names_the_variant(void **state)
{
    unsigned before = runs("set_all", "emulation");

    (void)state;
    write_file("set_all.emulation.bin", emulation);
    runs_on(members[EMULATOR], NULL);
    assert_int_equal(runs("set_all", "emulation"), before + 1);
    fails_on(members[BOARD], NULL, CL_COMPILER_NOT_AVAILABLE, "/set_all.aocx, .xclbin and .bin");
    remove_file("set_all.emulation.bin");
    write_file("set_all.xclbin", hardware);
    before = runs("set_all", "hardware");
    runs_on(members[BOARD], NULL);
    assert_int_equal(runs("set_all", "hardware"), before + 1);
    fails_on(members[EMULATOR], NULL, CL_COMPILER_NOT_AVAILABLE, "/set_all.emulation.aocx, .xclbin and .bin");
    remove_file("set_all.xclbin");
}

/* The first 16 hexadecimal digits of the text's SHA-256, as sha256sum would say, options behind a 0. */
static void name_of_text(const char *options, char name[64])
{
    FILE *pipe;

    write_file("text", source);
    if (options) {
        char command[256];

        snprintf(command, sizeof command, "printf '\\0%s' >>%s/text", options, folder);
        assert_int_equal(system(command), 0);
    }
    {
        char command[256];

        snprintf(command, sizeof command, "sha256sum <%s/text", folder);
        pipe = popen(command, "r");
    }
    assert_non_null(pipe);
    assert_non_null(fgets(name, 17, pipe));
    pclose(pipe);
    strcat(name, ".bin");
    remove_file("text");
}

/* A binary of exactly this text and options comes before those by kernels' names. */
static void the_text_names_the_program(void **state)
{
    char name[64], with_options[64];

    (void)state;
    name_of_text(NULL, name);
    name_of_text("-DX=1", with_options);
    write_file("set_all.bin", "rubbish");
    write_file(name, hardware);
    runs_on(members[BOARD], NULL);
    runs_on(members[BOARD], " \t");
    fails_on(members[BOARD], "-DX=1", CL_BUILD_PROGRAM_FAILURE, "/set_all.bin is not taken by the device");
    write_file(with_options, hardware);
    runs_on(members[BOARD], "-DX=1");
    remove_file(name);
    fails_on(members[BOARD], NULL, CL_BUILD_PROGRAM_FAILURE, "/set_all.bin is not taken by the device");
    remove_file(with_options);
    remove_file("set_all.bin");
}

/* A file for each kernel: a program that is several. */
static void each_kernel_may_have_its_own(void **state)
{
    unsigned before = runs("vector_add", "hardware");
    cl_device_id board = members[BOARD];
    cl_context context = context_of(1, &board);
    cl_command_queue queue = queue_of(context, board);
    cl_program program = program_of(context, source);
    char names[256];
    cl_kernel set, add;
    cl_mem a;
    int value = 21;

    (void)state;
    write_file("set_all.bin", BINARY("hardware", "kernel set_all\n"));
    write_file("vector_add.aocx", BINARY("hardware", "kernel vector_add\n"));
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL), CL_SUCCESS);
    assert_string_equal(names, "set_all;vector_add");
    set = kernel_of(program, "set_all");
    add = kernel_of(program, "vector_add");
    a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    set_args(set, 1, &a);
    assert_int_equal(clSetKernelArg(set, 1, sizeof value, &value), CL_SUCCESS);
    run(queue, set);
    set_args(add, 3, (cl_mem[]){a, a, a});
    run(queue, add);
    must_hold(queue, a, 42);
    assert_int_equal(runs("vector_add", "hardware"), before + 1);
    clReleaseKernel(set);
    clReleaseKernel(add);
    clReleaseMemObject(a);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    remove_file("set_all.bin");
    remove_file("vector_add.aocx");
}

/* Where nothing is found the program runs on the members that compile; with none of these the build fails. */
static void a_missing_binary_is_told(void **state)
{
    cl_context context = make_context();
    cl_device_id device = our_device();
    cl_program program = program_of(context, source);
    char looked[512];

    (void)state;
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    snprintf(looked, sizeof looked, "looked for %s/set_all.aocx, .xclbin and .bin", folder);
    log_says(program, device, looked);
    snprintf(looked, sizeof looked, "looked for %s/vector_add.emulation.aocx", folder);
    log_says(program, device, looked);
    clReleaseProgram(program);
    clReleaseContext(context);
    fails_on(members[BOARD], NULL, CL_COMPILER_NOT_AVAILABLE, "there is no binary by the program's text: looked for ");
}

/* For the other board, cut, of nobody: the device's own word counts, and the log has it. */
static void a_wrong_binary_is_told(void **state)
{
    (void)state;
    write_file("set_all.bin", emulation);
    fails_on(members[BOARD], NULL, CL_BUILD_PROGRAM_FAILURE, "/set_all.bin is not taken by the device (error -42)");
    write_file("set_all.bin", "");
    fails_on(members[BOARD], NULL, CL_BUILD_PROGRAM_FAILURE, "/set_all.bin is not taken by the device");
    remove_file("set_all.bin");
    write_file("set_all.emulation.bin", hardware);
    fails_on(members[EMULATOR], NULL, CL_BUILD_PROGRAM_FAILURE, "is it for this board, made for emulation?");
    remove_file("set_all.emulation.bin");
}

/* ---- Separate compilation ---------------------------------------------------------------------------------------- */

static const char *const one_part = "int twice(int);\n"
                                    "kernel void set_all(global int *x, int value)\n"
                                    "{ x[get_global_id(0)] = value; }\n"
                                    "kernel void doubled(global int *x)\n"
                                    "{ x[get_global_id(0)] = twice(x[get_global_id(0)]); }\n";
static const char *const other_part = "#include \"add.h\"\n"
                                      "int twice(int x) { return 2 * x; }\n";
static const char *const header = "kernel void vector_add(global const int *a, global const int *b, global int *c)\n"
                                  "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n";

static cl_program compiled(cl_context context, const char *text)
{
    cl_program program = program_of(context, text), include = program_of(context, header);
    const char *name = "add.h";

    assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 1, &include, &name, NULL, NULL), CL_SUCCESS);
    clReleaseProgram(include);
    return program;
}

static cl_program linked(cl_context context, const char *options, cl_uint n, const cl_program *parts, cl_int expected)
{
    cl_int error = 1;
    cl_program program = clLinkProgram(context, 0, NULL, options, n, parts, NULL, NULL, &error);

    assert_int_equal(error, expected);
    return program;
}

/* The members with a compiler compile and link, the boards get what has the names of the kernels that are linked: of
 * an object, and by way of a library of a header. */
static void parts_are_linked_everywhere(void **state)
{
    unsigned before[2] = {runs("vector_add", "hardware"), runs("vector_add", "emulation")};
    cl_device_id device = our_device();
    cl_context context = make_context();
    cl_command_queue queue = queue_of(context, device);
    cl_program parts[2] = {compiled(context, one_part)}, other = compiled(context, other_part), whole;
    cl_mem a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    cl_kernel set, add, doubled;
    int three = 3;

    (void)state;
    log_says(other, device, "binaries are looked for at linking");
    write_file("set_all.bin", BINARY("hardware", "kernel set_all\n"));
    write_file("vector_add.bin", BINARY("hardware", "kernel vector_add\n"));
    write_file("vector_add.emulation.bin", BINARY("emulation", "kernel vector_add\n"));
    parts[1] = linked(context, "-create-library", 1, &other, CL_SUCCESS);
    whole = linked(context, NULL, 2, parts, CL_SUCCESS);
    log_says(whole, device, "set_all.emulation.aocx");
    log_says(whole, device, "doubled.aocx");
    set = kernel_of(whole, "set_all");
    add = kernel_of(whole, "vector_add");
    doubled = kernel_of(whole, "doubled");
    set_args(set, 1, &a);
    assert_int_equal(clSetKernelArg(set, 1, sizeof three, &three), CL_SUCCESS);
    run(queue, set);
    set_args(add, 3, (cl_mem[]){a, a, a});
    for (int i = 0; i < 6; i++)
        run(queue, add);
    set_args(doubled, 1, &a);
    run(queue, doubled);
    must_hold(queue, a, 3 << 7);
    assert_true(runs("vector_add", "hardware") > before[0]);
    assert_true(runs("vector_add", "emulation") > before[1]);
    clReleaseKernel(set);
    clReleaseKernel(add);
    clReleaseKernel(doubled);
    clReleaseMemObject(a);
    clReleaseProgram(parts[0]);
    clReleaseProgram(parts[1]);
    clReleaseProgram(other);
    clReleaseProgram(whole);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    remove_file("set_all.bin");
    remove_file("vector_add.bin");
    remove_file("vector_add.emulation.bin");
}

static void a_board_alone_links_what_is_there(void **state)
{
    cl_device_id board = members[BOARD];
    cl_context context = context_of(1, &board);
    cl_program part = compiled(context, one_part), whole;
    size_t size = 1;
    char names[64];

    (void)state;
    /* An object has nothing to be kept as a binary. */
    assert_int_equal(clGetProgramInfo(part, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), CL_SUCCESS);
    assert_int_equal(size, 0);
    whole = linked(context, NULL, 1, &part, CL_LINKER_NOT_AVAILABLE);
    log_says(whole, board, "there is no binary by this kernel's name: looked for ");
    clReleaseProgram(whole);
    write_file("set_all.aocx", emulation);
    whole = linked(context, NULL, 1, &part, CL_LINK_PROGRAM_FAILURE);
    log_says(whole, board, "/set_all.aocx is not taken by the device");
    clReleaseProgram(whole);
    write_file("set_all.aocx", hardware);
    whole = linked(context, NULL, 1, &part, CL_SUCCESS);
    assert_int_equal(clGetProgramInfo(whole, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL), CL_SUCCESS);
    assert_string_equal(names, "set_all;vector_add");
    clReleaseProgram(whole);
    clReleaseProgram(part);
    clReleaseContext(context);
    remove_file("set_all.aocx");
}

/* ---- Bytes and transfers ----------------------------------------------------------------------------------------- */

/* A program of a vendor's own bytes runs on those that take them, and is a binary of ours afterwards. */
static void bare_bytes_go_to_those_that_take_them(void **state)
{
    const unsigned char *bytes = (const unsigned char *)hardware;
    size_t size = strlen(hardware);
    cl_device_id device = our_device(), emulator = members[EMULATOR];
    cl_context context = make_context();
    cl_command_queue queue = queue_of(context, device);
    unsigned before = runs("set_all", "hardware");
    cl_int error, status = 1;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error);
    cl_mem a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    cl_kernel set;
    int value = 9;

    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(status, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &device, NULL, NULL, NULL), CL_SUCCESS);
    set = kernel_of(program, "set_all");
    set_args(set, 1, &a);
    assert_int_equal(clSetKernelArg(set, 1, sizeof value, &value), CL_SUCCESS);
    for (int i = 0; i < 3; i++)
        run(queue, set);
    must_hold(queue, a, 9);
    assert_int_equal(runs("set_all", "hardware"), before + 3);
    clReleaseKernel(set);
    clReleaseProgram(program);
    clReleaseMemObject(a);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    context = context_of(1, &emulator);
    assert_refused(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &emulator, &size, &bytes, &status, err));
    clReleaseContext(context);
}

/* What boards have without a binary runs on them alone, and nobody builds it; PoCL has none such. Boards of before
 * OpenCL 1.2 have no such call, whatever they name. */
static void built_in_kernels_run_on_the_boards(void **state)
{
    unsigned before[2] = {runs("triple", "hardware"), runs("triple", "emulation")};
    const bool old = getenv("FPGA_VERSION") != NULL;
    cl_device_id device = our_device();
    cl_context context = make_context();
    cl_command_queue queue = queue_of(context, device);
    cl_mem a = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(int));
    const int one = 1;
    size_t most[3];
    char names[64] = "?";
    cl_program program;
    cl_kernel triple;

    (void)state;
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_BUILT_IN_KERNELS, sizeof names, names, NULL), CL_SUCCESS);
    assert_string_equal(names, old ? "" : "triple");
    if (old) {
        assert_refused(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 1, &device, "triple", err));
    } else {
        program = clCreateProgramWithBuiltInKernels(context, 1, &device, "triple", NULL);
        assert_non_null(program);
        triple = kernel_of(program, "triple");
        set_args(triple, 1, &a);
        assert_int_equal(clEnqueueFillBuffer(queue, a, &one, sizeof one, 0, N * sizeof(int), 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(clGetKernelWorkGroupInfo(triple, device, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof most, most, NULL),
                         CL_SUCCESS);
        assert_int_equal(most[0], 1 << 20);
        assert_int_equal(most[1], 16);
        assert_int_equal(most[2], 1);
        for (int i = 0; i < 6; i++)
            run(queue, triple);
        must_hold(queue, a, 729);
        assert_int_equal(runs("triple", "hardware"), before[0] + 3);
        assert_int_equal(runs("triple", "emulation"), before[1] + 3);
        clReleaseKernel(triple);
        clReleaseProgram(program);
    }
    clReleaseMemObject(a);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    context = context_of(1, &members[POCL]);
    assert_refused(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 1, &members[POCL], "triple", err));
    clReleaseContext(context);
}

/* Between members and the host, and between a board and memory of the application that is not aligned: by addresses
 * that the DMA takes. */
static void transfers_are_aligned(void **state)
{
    unsigned unaligned = transfers(false), aligned = transfers(true);
    char *memory = aligned_alloc(64, N * sizeof(int) + 64);
    cl_context both;
    cl_command_queue queues[2];
    cl_program program;
    cl_kernel add;
    cl_mem a, sub;
    cl_buffer_region region = {.origin = N, .size = N};
    cl_int error;

    (void)state;
    write_file("vector_add.bin", hardware);
    both = context_of(2, (cl_device_id[]){members[BOARD], members[POCL]});
    queues[0] = queue_of(both, members[BOARD]);
    queues[1] = queue_of(both, members[POCL]);
    program = program_of(both, source);
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    add = kernel_of(program, "vector_add");
    a = make_buffer(both, CL_MEM_READ_WRITE, N * sizeof(int));
    set_args(add, 3, (cl_mem[]){a, a, a});
    for (int i = 0; i < N; i++)
        memcpy(memory + 4 + 4 * i, &(int){1}, 4);
    assert_int_equal(clEnqueueWriteBuffer(queues[0], a, CL_FALSE, 0, N * sizeof(int), memory + 4, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int i = 0; i < 4; i++) {
        run(queues[0], add);
        clFinish(queues[0]);
        run(queues[1], add);
        clFinish(queues[1]);
    }
    run(queues[0], add);
    memset(memory, 0, N * sizeof(int) + 64);
    assert_int_equal(clEnqueueReadBuffer(queues[0], a, CL_TRUE, 0, N * sizeof(int), memory + 4, 0, NULL, NULL),
                     CL_SUCCESS);
    for (int i = 0; i < N; i++)
        assert_memory_equal(memory + 4 + 4 * i, &(int){512}, 4);
    sub = clCreateSubBuffer(a, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    run(queues[0], add);
    assert_int_equal(clEnqueueReadBuffer(queues[0], sub, CL_TRUE, 0, N, memory + 8, 0, NULL, NULL), CL_SUCCESS);
    for (size_t i = 0; i < N / sizeof(int); i++)
        assert_memory_equal(memory + 8 + 4 * i, &(int){1024}, 4);
    assert_int_equal(transfers(false), unaligned);
    assert_true(transfers(true) >= aligned + 10);
    clReleaseMemObject(sub);
    clReleaseMemObject(a);
    clReleaseKernel(add);
    clReleaseProgram(program);
    clReleaseCommandQueue(queues[0]);
    clReleaseCommandQueue(queues[1]);
    clReleaseContext(both);
    free(memory);
    remove_file("vector_add.bin");
}

/* Every second half row of 32 bytes: written, copied, and read, from and to addresses that aren't aligned. */
static void boxes_of_a_board(cl_command_queue queue, cl_mem a, cl_mem b, char *memory)
{
    static const size_t zero[3], region[3] = {16, N / 32, 1};

    for (int i = 0; i < N / 2; i++)
        memory[i + 1] = (char)(3 * i + 7);
    assert_int_equal(
        clEnqueueWriteBufferRect(queue, a, CL_FALSE, zero, zero, region, 32, 0, 16, 0, memory + 1, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clEnqueueCopyBufferRect(queue, a, b, zero, zero, region, 32, 0, 32, 0, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(
        clEnqueueReadBufferRect(queue, b, CL_TRUE, zero, zero, region, 32, 0, 16, 0, memory + N + 3, 0, NULL, NULL),
        CL_SUCCESS);
    assert_memory_equal(memory + 1, memory + N + 3, N / 2);
}

/* Also the only device of its context: the host's copy stands between. */
static void transfers_of_a_board_alone_are_aligned(void **state)
{
    unsigned unaligned = transfers(false);
    char *memory = aligned_alloc(64, 2 * N + 64);
    cl_context context = context_of(1, &members[BOARD]);
    cl_command_queue queue = queue_of(context, members[BOARD]);
    cl_mem a = make_buffer(context, CL_MEM_READ_WRITE, N), b = make_buffer(context, CL_MEM_READ_WRITE, N);

    (void)state;
    for (int i = 0; i < N; i++)
        memory[i + 1] = (char)i;
    assert_int_equal(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, N, memory + 1, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueCopyBuffer(queue, a, b, 0, 0, N, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, N, memory + N + 3, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(memory + 1, memory + N + 3, N);
    assert_int_equal(transfers(false), unaligned);
    boxes_of_a_board(queue, a, b, memory);
    assert_int_equal(transfers(false), unaligned);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    free(memory);
}

/* User events, wait lists over vendors, an out-of-order queue, callbacks, times. */
static void events_go_over_both(void **state)
{
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
    cl_context both;
    cl_command_queue queues[2];
    cl_event gate, chain[9];
    cl_program program;
    cl_kernel add;
    cl_mem a;
    cl_int error;
    cl_ulong start, end, last = 0;
    const size_t n = N;

    (void)state;
    write_file("vector_add.bin", hardware);
    both = context_of(2, (cl_device_id[]){members[BOARD], members[POCL]});
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueueWithProperties(both, members[i ? POCL : BOARD], properties, &error);
        assert_int_equal(error, CL_SUCCESS);
    }
    program = program_of(both, source);
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    add = kernel_of(program, "vector_add");
    a = make_buffer(both, CL_MEM_READ_WRITE, N * sizeof(int));
    gate = make_user_event(both);
    assert_int_equal(clEnqueueFillBuffer(queues[0], a, &(int){1}, sizeof(int), 0, N * sizeof(int), 1, &gate, &chain[0]),
                     CL_SUCCESS);
    set_args(add, 3, (cl_mem[]){a, a, a});
    for (int i = 1; i < 9; i++)
        assert_int_equal(clEnqueueNDRangeKernel(queues[i % 2], add, 1, NULL, &n, NULL, 1, &chain[i - 1], &chain[i]),
                         CL_SUCCESS);
    clFlush(queues[0]);
    clFlush(queues[1]);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &chain[8]), CL_SUCCESS);
    must_hold(queues[0], a, 256);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(clWaitForEvents(1, &chain[i]), CL_SUCCESS);
        assert_int_equal(clGetEventProfilingInfo(chain[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), 0);
        assert_int_equal(clGetEventProfilingInfo(chain[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), 0);
        /* On one clock, though the board has another. */
        assert_true(start <= end);
        assert_true(i == 0 || (start + 1000000000u > last && start < last + 20000000000u));
        last = end;
        clReleaseEvent(chain[i]);
    }
    clReleaseEvent(gate);
    clReleaseMemObject(a);
    clReleaseKernel(add);
    clReleaseProgram(program);
    clReleaseCommandQueue(queues[0]);
    clReleaseCommandQueue(queues[1]);
    clReleaseContext(both);
    remove_file("vector_add.bin");
}

/* Boards begin buffers at finer addresses than PoCL: what they may use, a queue of PoCL's, or of the virtual device's,
 * refuses in each call that the specification says it of. */
static void sub_buffers_begin_where_the_queue_device_may(void **state)
{
    const char *text = "kernel void set_all(global int *x, int value) { x[get_global_id(0)] = value; }\n";
    cl_device_id devices[] = {our_device(), members[BOARD], members[POCL]};
    cl_context all = context_of(LENGTH(devices), devices);
    const cl_buffer_region region = {64, 64};
    const size_t origin[3] = {0}, apart[3] = {512, 0, 0}, row[3] = {4, 1, 1}, n = 1;
    cl_program program = program_of(all, text);
    cl_int error = 1, value = 3, found = 0;
    char bytes[64] = {0};
    cl_mem whole = clCreateBuffer(all, CL_MEM_READ_WRITE, 4096, NULL, &error), part;
    cl_kernel kernel;

    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    write_file("set_all.bin", hardware);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = kernel_of(program, "set_all");
    part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    set_args(kernel, 1, &part);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    for (size_t i = 0; i < LENGTH(devices); i++) {
        cl_int expected = devices[i] == members[BOARD] ? CL_SUCCESS : CL_MISALIGNED_SUB_BUFFER_OFFSET;
        cl_command_queue queue = queue_of(all, devices[i]);
        void *mapped;

#define MUST(call, ...) assert_int_equal(call(__VA_ARGS__, 0, NULL, NULL), expected)
        MUST(clEnqueueWriteBuffer, queue, part, CL_TRUE, 0, 4, bytes);
        MUST(clEnqueueReadBuffer, queue, part, CL_TRUE, 0, 4, bytes);
        MUST(clEnqueueWriteBufferRect, queue, part, CL_TRUE, origin, origin, row, 0, 0, 0, 0, bytes);
        MUST(clEnqueueReadBufferRect, queue, part, CL_TRUE, origin, origin, row, 0, 0, 0, 0, bytes);
        MUST(clEnqueueCopyBuffer, queue, part, whole, 0, 512, 4);
        MUST(clEnqueueCopyBuffer, queue, whole, part, 512, 0, 4);
        MUST(clEnqueueCopyBufferRect, queue, whole, part, apart, origin, row, 0, 0, 0, 0);
        MUST(clEnqueueFillBuffer, queue, part, bytes, 4, 0, 4);
        MUST(clEnqueueNDRangeKernel, queue, kernel, 1, NULL, &n, NULL);
        MUST(clEnqueueTask, queue, kernel);
#undef MUST
        mapped = clEnqueueMapBuffer(queue, part, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &error);
        assert_int_equal(error, expected);
        if (mapped)
            assert_int_equal(clEnqueueUnmapMemObject(queue, part, mapped, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clFinish(queue), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, whole, CL_TRUE, region.origin, sizeof found, &found, 0, NULL, NULL),
                         CL_SUCCESS);
        clReleaseCommandQueue(queue);
    }
    assert_int_equal(found, value);
    clReleaseMemObject(part);
    clReleaseMemObject(whole);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseContext(all);
    remove_file("set_all.bin");
}

/* What is left is each member's context, and the lanes and fences that are kept for later are none of the vendor's. */
static void nothing_is_left(void **state)
{
    (void)state;
    for (int i = 0; i < 2000 && alive() > 2; i++)
        usleep(1000);
    assert_int_equal(alive(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_source_runs_everywhere),
        cmocka_unit_test(the_mode_names_the_variant),
        cmocka_unit_test(the_text_names_the_program),
        cmocka_unit_test(each_kernel_may_have_its_own),
        cmocka_unit_test(a_missing_binary_is_told),
        cmocka_unit_test(a_wrong_binary_is_told),
        cmocka_unit_test(parts_are_linked_everywhere),
        cmocka_unit_test(a_board_alone_links_what_is_there),
        cmocka_unit_test(bare_bytes_go_to_those_that_take_them),
        cmocka_unit_test(built_in_kernels_run_on_the_boards),
        cmocka_unit_test(transfers_are_aligned),
        cmocka_unit_test(transfers_of_a_board_alone_are_aligned),
        cmocka_unit_test(events_go_over_both),
        cmocka_unit_test(sub_buffers_begin_where_the_queue_device_may),
        cmocka_unit_test(nothing_is_left),
    };

    return cmocka_run_group_tests_name("fpga", tests, prepare, clean);
}
