/* Signals of faults: the built-in CPU keeps those in kernels, all others have the effect that they have without it. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
/*
 * cmocka takes the signals itself, so each case is a process of its own: it installs what it says, uses OpenCL, lets a
 * kernel fault, and then meets a fault outside of kernels, or is sent the signal.
 */
#include "test.h"

#include <CL/cl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WELL 42 /* the exit status of a case that went as it should */

static const char source[] =
    "kernel void fault(global int *a) { global int *p = (global int *)(size_t)a[0]; a[1] = *p; }\n"
    "kernel void divide(global int *a) { a[1] = 7 / a[0]; }\n"
    /* What becomes calls of the C library. */
    "typedef struct { int words[4096]; } block;\n"
    "kernel void fill(global int *a) {\n"
    "    global int *p = (global int *)(size_t)a[0];\n"
    "    for (int i = 0; i < 100000; i++) p[i] = 0;\n"
    "}\n"
    "kernel void copy(global int *a) { *(global block *)(size_t)a[0] = *(global block *)(size_t)a[1]; }\n";

/* AddressSanitizer has its own memset and memcpy, which end the program. */
#ifdef __SANITIZE_ADDRESS__
static const char *const faults[] = {"fault", "fault"};
#else
static const char *const faults[] = {"fault", "fault", "fill", "copy"};
#endif

/* ---- In the process ---------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t calls;
static void *volatile fault_address;
static volatile bool blocked, leaves = true;
static sigjmp_buf back;

static bool is_blocked(int signal)
{
    sigset_t now;

    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signal) == 1;
}

static void on_signal(int signal)
{
    calls++;
    blocked = is_blocked(signal) && is_blocked(SIGUSR1);
    if (leaves)
        siglongjmp(back, 1);
}

static void on_siginfo(int signal, siginfo_t *info, void *context)
{
    fault_address = context ? info->si_addr : NULL;
    on_signal(signal);
}

static void handle(int signal, int flags)
{
    struct sigaction action = {.sa_flags = flags};

    if (flags & SA_SIGINFO)
        action.sa_sigaction = on_siginfo;
    else
        action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(signal, &action, NULL);
}

static void must(cl_int error, const char *what)
{
    if (!error)
        return;
    fprintf(stderr, "%s: %d\n", what, error);
    _exit(1);
}

/* Runs a kernel; what its event says. */
static cl_int status_of(cl_context context, cl_device_id device, cl_program program, const char *name)
{
    int data[2] = {0, 0};
    size_t one = 1;
    cl_int error, status;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem mem = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(data), data, &error);
    cl_kernel kernel = clCreateKernel(program, name, &error);
    cl_event event;

    must(error, name);
    must(clSetKernelArg(kernel, 0, sizeof(mem), &mem), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event), "clEnqueueNDRangeKernel");
    clWaitForEvents(1, &event);
    must(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL), "clGetEventInfo");
    clReleaseEvent(event);
    clReleaseKernel(kernel);
    clReleaseMemObject(mem);
    clReleaseCommandQueue(queue);
    return status;
}

/* A kernel faults: its event fails, nobody else hears of it. Another divides by zero, which is no fault. */
static void let_kernels_fault(void)
{
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_program program;
    cl_int error;

    must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    must(error, "clCreateContext");
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        must(status_of(context, device, program, faults[i]) != CL_OUT_OF_RESOURCES, faults[i]);
    must(status_of(context, device, program, "divide"), "the status of a kernel that divides by zero");
    must(calls, "calls of the program's handler for a kernel's fault");
    clReleaseProgram(program);
    clReleaseContext(context);
}

static void read_nothing(void)
{
    int *volatile nothing = (int *)0x30; /* NOLINT: no memory is there */

    fprintf(stderr, "%d\n", *nothing);
}

static void divide_by_nothing(void)
{
    volatile int zero = 0;

#if defined(__x86_64__)
    __asm__ volatile("idivl %1" : : "a"(7), "m"(zero), "d"(0) : "cc");
#else
    raise(SIGFPE + zero);
#endif
}

/* The handler was called once, with all that the system says, and leaves by a jump. */
static int is_handled(int signal, int flags)
{
    handle(signal, flags);
    let_kernels_fault();
    if (!sigsetjmp(back, 1)) {
        if (signal == SIGFPE)
            divide_by_nothing();
        else
            read_nothing();
        return 1;
    }
    return calls == 1 && blocked && !is_blocked(signal) &&
                   (!(flags & SA_SIGINFO) || signal == SIGFPE || fault_address == (void *)0x30) /* NOLINT */
               ? WELL
               : 1;
}

static int is_sent(int signal)
{
    kill(getpid(), signal);
    return WELL;
}

static int run_case(const char *name)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (strcmp(name, "old") == 0)
        return is_handled(SIGSEGV, 0);
    if (strcmp(name, "old fpe") == 0)
        return is_handled(SIGFPE, 0);
    if (strcmp(name, "siginfo") == 0)
        return is_handled(SIGSEGV, SA_SIGINFO);
    if (strcmp(name, "siginfo fpe") == 0)
        return is_handled(SIGFPE, SA_SIGINFO);
    if (strcmp(name, "once") == 0) {
        handle(SIGSEGV, (int)SA_RESETHAND);
        leaves = false; /* the instruction is tried again */
    }
    if (strcmp(name, "ignored") == 0)
        signal(SIGSEGV, SIG_IGN);
    let_kernels_fault();
    if (strcmp(name, "sent") == 0 || strcmp(name, "ignored") == 0)
        return is_sent(SIGSEGV);
    if (strcmp(name, "default fpe") == 0)
        divide_by_nothing();
    read_nothing();
    return 1;
}

/* ---- Outside ----------------------------------------------------------------------------------------------------- */

static int status_of_case(const char *name)
{
    char *const arguments[] = {"fault_test", "--case", (char *)name, NULL};
    int status;
    pid_t child = fork();

    if (child == 0) {
        /* A sanitizer would take the default's place. */
        setenv("ASAN_OPTIONS", "handle_segv=0:handle_sigfpe=0:detect_leaks=0:allow_user_segv_handler=1", 1);
        setenv("TSAN_OPTIONS", "handle_segv=0:handle_sigfpe=0", 1);
        execv("/proc/self/exe", arguments);
        _exit(3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void ends_well(const char *name)
{
    int status = status_of_case(name);

    if (!WIFEXITED(status) || WEXITSTATUS(status) != WELL)
        fail_msg("%s: status %#x", name, (unsigned)status);
}

static void dies_of(const char *name, int signal)
{
    int status = status_of_case(name);

    if (!WIFSIGNALED(status) || WTERMSIG(status) != signal)
        fail_msg("%s: status %#x", name, (unsigned)status);
}

/* What a case said on its standard error, which it has as a file. */
static void says(const char *name, const char *text)
{
    FILE *file = tmpfile();
    char said[4096];
    int kept = dup(STDERR_FILENO), status;

    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    status = status_of_case(name);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    said[fread(said, 1, sizeof(said) - 1, file)] = 0;
    fclose(file);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != WELL || !strstr(said, text))
        fail_msg("%s: status %#x, said: %s", name, (unsigned)status, said);
}

static void the_kernel_is_named(void **state)
{
    (void)state;
    says("old", "kernel fault used memory that isn't there (address ");
}

static void handlers_of_the_program_are_called(void **state)
{
    (void)state;
    ends_well("old");
    ends_well("old fpe");
    ends_well("siginfo");
    ends_well("siginfo fpe");
}

static void without_handlers_the_program_ends(void **state)
{
    (void)state;
    dies_of("default", SIGSEGV);
    dies_of("default fpe", SIGFPE);
    dies_of("sent", SIGSEGV);
}

static void what_handlers_asked_for_is_kept(void **state)
{
    (void)state;
    dies_of("once", SIGSEGV);
    ends_well("ignored");
}

int main(int n, char **args)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_is_named),
        cmocka_unit_test(handlers_of_the_program_are_called),
        cmocka_unit_test(without_handlers_the_program_ends),
        cmocka_unit_test(what_handlers_asked_for_is_kept),
    };

    if (n > 2 && strcmp(args[1], "--case") == 0)
        return run_case(args[2]);
#ifdef __SANITIZE_THREAD__
    puts("not tried under ThreadSanitizer, whose own handlers stand between: a case now and then dies of its signal");
    return 0;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
