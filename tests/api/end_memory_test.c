/*
 * A program that ends with a transfer in flight, to memory that it has freed: the vendor must not start the transfer
 * because exit waits.
 */
/* variant: pthread TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=pthread END_ROUNDS=30000000 ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none END_ROUNDS=400000000 ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:intercept_tls_get_addr=0 */
#include "begin.h"
#include "child.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>

enum { size = 64 << 20 }; /* So much that nothing else comes to lie there. */

static const char *const source = "kernel void slow(global uint *x, uint n)\n"
                                  "{\n"
                                  "    uint i = get_global_id(0), y = x[i];\n"
                                  "    for (uint j = 0; j < n; j++)\n"
                                  "        y = y * 1664525 + (y >> 7);\n"
                                  "    x[i] = y;\n"
                                  "}\n";

static struct {
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem buffer;
} all;

static void launch(cl_uint n)
{
    const size_t items = 64;

    must(clSetKernelArg(all.kernel, 0, sizeof all.buffer, &all.buffer) == CL_SUCCESS);
    must(clSetKernelArg(all.kernel, 1, sizeof n, &n) == CL_SUCCESS);
    must(clEnqueueNDRangeKernel(all.queue, all.kernel, 1, NULL, &items, NULL, 0, NULL, NULL) == CL_SUCCESS);
}

static void begin(void)
{
    cl_device_id device = our_device();
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, NULL);

    must(clBuildProgram(program, 0, NULL, NULL, NULL, NULL) == CL_SUCCESS);
    all.queue = clCreateCommandQueue(context, device, 0, NULL);
    all.kernel = clCreateKernel(program, "slow", NULL);
    all.buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, NULL);
    launch(1);
    must(clFinish(all.queue) == CL_SUCCESS);
}

/* A second's work, or two, before the transfer: ThreadSanitizer sleeps for one at exit. */
static void end_with(bool reads)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    must(memory != MAP_FAILED);
    signal(SIGSEGV, SIG_DFL); /* cmocka's handler would call exit once more. */
    begin();
    launch((cl_uint)atoi(getenv("END_ROUNDS")));
    must((reads ? clEnqueueReadBuffer(all.queue, all.buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL)
                : clEnqueueWriteBuffer(all.queue, all.buffer, CL_FALSE, 0, size, memory, 0, NULL, NULL)) == CL_SUCCESS);
    must(clFlush(all.queue) == CL_SUCCESS);
    must(munmap(memory, size) == 0);
}

static void end_reading(void)
{
    end_with(true);
}

static void end_writing(void)
{
    end_with(false);
}

static void memory_that_is_gone_is_not_touched(void **state)
{
    (void)state;
    assert_int_equal(ending(end_reading), 7);
    assert_int_equal(ending(end_writing), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_that_is_gone_is_not_touched)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
