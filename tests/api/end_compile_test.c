/*
 * Programs that end while a vendor compiles for them. PoCL's basic device compiles inside the launch call, in a thread
 * of ours; its pthread device in a thread of its own. Each program is a process. The compiler must not be torn down
 * under its thread: exit waits, for two seconds of the thread's work at most. A handler that was set before the first
 * OpenCL call runs after that, and checks.
 */
/* variant: basic TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic TESELA_MEMBERS=basic POCL_KERNEL_CACHE=0 ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=pthread POCL_KERNEL_CACHE=0 ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* timeout: 200 */
#include "begin.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_PROCESSES 3
#define N           64u

static const char *const source = "kernel void a(global float *x) { x[get_global_id(0)] *= PLUS + sin(x[1]); }\n"
                                  "kernel void b(global float *x) { x[get_global_id(0)] += pow(x[0], PLUS); }\n";

static void must(int good)
{
    if (!good)
        _exit(3);
}

static float x[N] __attribute__((aligned(4096)));
static double ended;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Both kernels have run, on the application's memory itself; or exit has been patient. */
static void look(void)
{
    float begun = 1.0f;
    if (memcmp(&x[N - 1], &begun, sizeof begun) == 0 && now() - ended < 1.9)
        _exit(4);
}

/* Ends before, or while, or after the kernels are compiled: `rest` microseconds from their launches. */
static void end_while_compiling(unsigned i, useconds_t rest)
{
    static const char *const names[] = {"a", "b"};
    const size_t n = N;
    for (unsigned k = 0; k < N; k++)
        x[k] = 1.0f;
    atexit(look);
    cl_device_id device = our_device();
    cl_int error;
    char options[32];
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof x, x, &error);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, &error);

    snprintf(options, sizeof options, "-DPLUS=%u.0f", i);
    must(clBuildProgram(program, 0, NULL, options, NULL, NULL) == CL_SUCCESS);
    for (unsigned k = 0; k < 2; k++) {
        cl_kernel kernel = clCreateKernel(program, names[k], &error);
        must(!error && !clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        must(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL));
    }
    must(i % 2 || clFlush(queue) == CL_SUCCESS);
    usleep(rest);
    ended = now();
    exit(0);
}

static void test_ends(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        int status = -1;
        pid_t child = fork();

        assert_true(child >= 0);
        if (!child)
            end_while_compiling(i, 5000 * i);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status)
            print_message("process %u: status %#x\n", i, (unsigned)status);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
