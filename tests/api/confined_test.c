/*
 * Processes that may do little, as in containers: a filter forbids programs to be started, the file system is
 * read-only, /dev/shm is small, there is no home folder. Programs compute, or are told in a sentence why they can't be
 * built.
 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
#include "begin.h"
#include "child.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define N 1000

/* A folder of this test's own: what is built once is not built again. */
static char cache[] = "/tmp/tesela-confined-XXXXXX";
static int binary;             /* a file that holds a program's binary */
static const int may_not = 98; /* how a child ends whose limit can't be had here */

/* ---- A program --------------------------------------------------------------------------------------------------- */

static const char text[] = "kernel void f(global int *x) { int i = get_global_id(0); x[i] = 3 * i + 1; }";

static void compute(cl_context context, cl_program program)
{
    static cl_int found[N];
    cl_command_queue queue = make_queue(context, 0);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, sizeof found);
    cl_kernel kernel = clCreateKernel(program, "f", NULL);
    const size_t size = N;

    must(kernel && clSetKernelArg(kernel, 0, sizeof buffer, &buffer) == CL_SUCCESS);
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL) == CL_SUCCESS);
    must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) == CL_SUCCESS);
    for (int i = 0; i < N; i++)
        must(found[i] == 3 * i + 1);
}

static cl_program from_source(cl_context context)
{
    const char *source = text;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);

    must(program);
    return program;
}

/* Builds from source and computes. */
static void build_and_compute(void)
{
    cl_context context = make_context();
    cl_program program = from_source(context);

    must(clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS);
    compute(context, program);
    _exit(0); /* a sanitizer's search for leaks starts a process, too */
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

#define REFUSE(call, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

/* From now on this process makes threads, and no processes and no other programs. */
static void forbid_processes(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_execve, EPERM),
        REFUSE(SYS_execveat, EPERM),
#ifdef SYS_fork
        REFUSE(SYS_fork, EPERM),
        REFUSE(SYS_vfork, EPERM),
#endif
        REFUSE(SYS_clone3, ENOSYS), /* its flags can't be read; the C library then takes clone */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    must(fork() == -1 && errno == EPERM);
}

/* Mounts of this process's own; it ends with the status `may_not` if it may have none. */
static void own_mounts(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        _exit(may_not);
}

static void make_memory_small(void)
{
    own_mounts();
    must(mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64k") == 0);
}

/* The root, and the folder of temporary files if that is a file system of its own. */
static void make_all_read_only(void)
{
    const unsigned long again = MS_REMOUNT | MS_BIND | MS_RDONLY;

    own_mounts();
    must(mount(NULL, "/", NULL, again, NULL) == 0);
    must(mount(NULL, "/tmp", NULL, again, NULL) == 0 || errno == EINVAL);
    must(mkdir("/tmp/tesela-confined", 0700) == -1 && errno == EROFS);
}

/* ---- Where no program can be started ----------------------------------------------------------------------------- */

static void build_where_it_cannot(void)
{
    cl_context context;
    cl_device_id device;
    char log[2000] = "";

    setenv("TESELA_CACHE", "off", 1);
    forbid_processes();
    device = our_device();
    context = make_context();
    for (int i = 0; i < 2; i++) {
        cl_program program = from_source(context);

        must(clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_COMPILER_NOT_AVAILABLE);
        must(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL) == CL_SUCCESS);
        must(strstr(log, "can't be started here: Operation not permitted"));
    }
    _exit(0);
}

static void without_processes_builds_say_so(void **state)
{
    (void)state;
    assert_int_equal(ending(build_where_it_cannot), 0);
}

/* As a program that was run before, without limits: leaves the program in the cache, and its binary in a file. */
static void build_before(void)
{
    cl_context context = make_context();
    cl_program program = from_source(context);
    size_t size = 0;
    unsigned char *data;

    must(clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS);
    must(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) == CL_SUCCESS && size);
    data = malloc(size);
    must(data && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, NULL) == CL_SUCCESS);
    must(write(binary, data, size) == (ssize_t)size);
    _exit(0);
}

static void compute_from_the_cache(void)
{
    forbid_processes();
    build_and_compute();
}

static void compute_from_a_binary(void)
{
    static unsigned char data[1 << 20];
    const unsigned char *start = data;
    const size_t size = (size_t)pread(binary, data, sizeof data, 0);
    cl_device_id device;
    cl_context context;
    cl_program program;

    setenv("TESELA_CACHE", "off", 1);
    forbid_processes();
    device = our_device();
    context = make_context();
    program = clCreateProgramWithBinary(context, 1, &device, &size, &start, NULL, NULL);
    must(program && clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS);
    compute(context, program);
    _exit(0);
}

static void without_processes_what_was_built_before_runs(void **state)
{
    (void)state;
    assert_int_equal(ending(build_before), 0);
    assert_int_equal(ending(compute_from_the_cache), 0);
    assert_int_equal(ending(compute_from_a_binary), 0);
}

/* ---- Where little can be written --------------------------------------------------------------------------------- */

static void compute_without_a_home(void)
{
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("TESELA_CACHE");
    build_and_compute();
}

static void compute_with_small_memory(void)
{
    make_memory_small();
    build_and_compute();
}

/* From the cache, and anew: its folder can't be written. */
static void compute_read_only(void)
{
    make_all_read_only();
    build_and_compute();
}

static void compute_read_only_anew(void)
{
    setenv("TESELA_CACHE", "/tmp/tesela-confined", 1);
    compute_read_only();
}

static void a_home_is_not_needed(void **state)
{
    (void)state;
    assert_int_equal(ending(compute_without_a_home), 0);
}

static void little_may_be_written(void **state)
{
    void (*const children[])(void) = {compute_with_small_memory, compute_read_only, compute_read_only_anew};
    (void)state;

    for (size_t i = 0; i < LENGTH(children); i++) {
        int status = ending(children[i]);

        if (status == may_not) {
            print_message("left out: this user may have no mounts of its own\n");
            return;
        }
        assert_int_equal(status, 0);
    }
}

static int setup(void **state)
{
    (void)state;
    binary = memfd_create("binary", MFD_CLOEXEC);
    return binary < 0 || !mkdtemp(cache) || setenv("TESELA_CACHE", cache, 1);
}

static int teardown(void **state)
{
    char command[100];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", cache);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_processes_builds_say_so),
        cmocka_unit_test(without_processes_what_was_built_before_runs),
        cmocka_unit_test(a_home_is_not_needed),
        cmocka_unit_test(little_may_be_written),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
