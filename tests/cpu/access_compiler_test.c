/*
 * A kernel compiler that hangs, dies, answers late or sends nonsense does nothing to programs on two vendors' devices,
 * for which it is asked about argument access. A copy of the library finds such a compiler beside it: this program,
 * between the library and the real one.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_POLICY=round-robin TESELA_CACHE=/dev/null/none TESELA_LOG=info */
/* timeout: 300 */
#include "build_folder.h"
#include "child.h"

#include <CL/cl.h>
#include <libgen.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { n_ints = 512, n_launches = 6, from_library = 0, from_compiler = 1 };

static char self[4096];
static char folder[64]; /* with the copies */

static void path_in_folder(const char *name, char path[4096])
{
    snprintf(path, 4096, "%s/%s", folder, name);
}

/* ---- The compiler ------------------------------------------------------------------------------------------------ */

/* Takes the place of this process. */
static void become_real(const char *path, int socket)
{
    char *const arguments[] = {"tesela-kc", "--serve", "3", NULL};

    if (dup2(socket, 3) == 3)
        execv(path, arguments);
    _exit(127);
}

/* Nothing more is said, but the end of the conversation is seen. */
static void hang(int library)
{
    unsigned char byte;

    while (read(library, &byte, 1) > 0)
        continue;
    _exit(0);
}

/* What goes to the library, after `n` bytes of it before. False: nothing more goes anywhere. */
static bool spoil(const char *mode, unsigned char *bytes, size_t size, size_t n)
{
    enum { greeting = 100 }; /* more than its header, and less than an answer */

    if (n + size <= greeting || strcmp(mode, "well") == 0)
        return true;
    if (strcmp(mode, "nonsense") == 0)
        for (size_t i = 0; i < size; i++)
            bytes[i] ^= n + i > greeting ? 0x55 : 0;
    if (strcmp(mode, "dies") == 0)
        _exit(1);
    return strcmp(mode, "hangs") != 0;
}

static void relay(const char *mode, int library, int compiler)
{
    struct pollfd ends[] = {{.fd = library, .events = POLLIN}, {.fd = compiler, .events = POLLIN}};
    unsigned char bytes[4096];
    size_t n = 0;

    while (poll(ends, 2, -1) > 0)
        for (int i = from_library; i <= from_compiler; i++) {
            ssize_t size = ends[i].revents ? read(ends[i].fd, bytes, sizeof bytes) : 0;

            if (ends[i].revents && size <= 0)
                _exit(0);
            if (i == from_compiler && size > 0 && !spoil(mode, bytes, (size_t)size, n))
                hang(library);
            n += i == from_compiler ? (size_t)size : 0;
            if (size > 0 && write(ends[!i].fd, bytes, (size_t)size) != size)
                _exit(0);
        }
}

/* Its folder holds, in files, how it is to behave, and where the real one is. */
static int serve(void)
{
    char path[8192], mode[64] = "", real[4096] = "";
    FILE *file;
    int ends[2];

    snprintf(path, sizeof path, "%s/mode", dirname(strdupa(self)));
    file = fopen(path, "r");
    if (!file || fscanf(file, "%63s %4095s", mode, real) != 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 2;
    fclose(file);
    if (strcmp(mode, "late") == 0)
        sleep(4);
    if (fork() == 0) {
        close(ends[1]);
        become_real(real, ends[0]);
    }
    close(ends[0]);
    relay(mode, 3, ends[1]);
    return 0;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static void build_and_launch(cl_context context, cl_command_queue queue, int add)
{
    char text[256];
    const char *source = text;
    cl_int error, values[n_ints] = {0};
    size_t n = n_ints;

    snprintf(text, sizeof text,
             "kernel void f(global int *y, global int *x) { y[get_global_id(0)] += x[get_global_id(0)] + %d; }\n", add);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    must(!clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "f", &error);
    must(kernel);
    for (int i = 0; i < n_ints; i++)
        values[i] = i;
    cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &error);
    memset(values, 0, sizeof values);
    cl_mem y = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &error);
    must(!clSetKernelArg(kernel, 0, sizeof y, &y) && !clSetKernelArg(kernel, 1, sizeof x, &x));
    for (unsigned i = 0; i < n_launches; i++)
        must(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    must(!clEnqueueReadBuffer(queue, y, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
    for (int i = 0; i < n_ints; i++)
        must(values[i] == n_launches * (i + add));
    must(!clReleaseMemObject(x) && !clReleaseMemObject(y) && !clReleaseKernel(kernel) && !clReleaseProgram(program));
}

static void run_program(void)
{
    char said[4096];
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    setenv("OCL_ICD_VENDORS", folder, 1);
    path_in_folder("said", said);
    must(freopen(said, "w", stderr));
    must(!clGetPlatformIDs(1, &platform, NULL) && !clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    must(context && queue);
    for (int i = 0; i < 3; i++)
        build_and_launch(context, queue, i);
    must(!clReleaseCommandQueue(queue) && !clReleaseContext(context));
    exit(0);
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static void copy(const char *from, const char *to)
{
    char command[9000], path[4096];

    path_in_folder(to, path);
    snprintf(command, sizeof command, "cp '%s' '%s'", from, path);
    assert_int_equal(system(command), 0);
}

static void write_text(const char *name, const char *one, const char *two)
{
    char path[4096];
    FILE *file;

    path_in_folder(name, path);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n%s\n", one, two);
    fclose(file);
}

static int set_up(void **state)
{
    char path[4096];

    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tesela-access-XXXXXX");
    assert_non_null(mkdtemp(folder));
    path_in_folder("kc", path);
    assert_int_equal(mkdir(path, 0700), 0);
    copy(self, "kc/tesela-kc");
    snprintf(path, sizeof path, "%s/libtesela.so", build_folder());
    copy(path, "libtesela.so");
    path_in_folder("libtesela.so", path);
    write_text("tesela.icd", path, "");
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void assert_said(const char *mode, const char *wanted)
{
    char path[4096], text[1 << 16];
    FILE *file;
    size_t size;

    path_in_folder("said", path);
    file = fopen(path, "r");
    assert_non_null(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    if (!strstr(text, wanted))
        print_error("with a compiler that goes %s it isn't said \"%s\":\n%s\n", mode, wanted, text);
    assert_non_null(strstr(text, wanted));
}

static void programs_run_whatever_it_does(void **state)
{
    static const char *const modes[][2] = {
        {"well", "buffers that are only read are known"},
        {"hangs", "isn't known yet: the kernel compiler is slow"},
        {"dies", "the kernel compiler ended, again and again"},
        {"nonsense", "what kernels only read isn't known"},
        {"late", "isn't known yet: the kernel compiler is slow"},
    };
    char real[4096];

    (void)state;
    build_compiler(real, sizeof real);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        write_text("kc/mode", modes[i][0], real);
        assert_int_equal(ending(run_program), 0);
        assert_said(modes[i][0], modes[i][1]);
    }
}

int main(int n, char **args)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_run_whatever_it_does),
    };
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);

    self[size > 0 ? size : 0] = 0;
    if (n > 1 && strcmp(args[1], "--serve") == 0)
        return serve();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
