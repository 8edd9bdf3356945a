/*
 * Threads build programs from source and from binaries, run and release them, while others unload the compiler, which
 * is only a hint: no build may notice.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* any: */
/* timeout: 200 */
#include "proof.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { n_rounds = 6, n_builders = 4 };

static const char *source = "kernel void answer(global uint *x) { *x = 42; }";
static struct proof proof;
static cl_platform_id platform;
static unsigned char *binary;
static size_t binary_size;
static atomic_bool done;

static cl_program make_linked(void)
{
    cl_int error;
    cl_program program, linked;

    program = clCreateProgramWithSource(proof.context, 1, &source, NULL, &error);
    proof_ok(error);
    proof_ok(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    linked = clLinkProgram(proof.context, 0, NULL, "", 1, &program, NULL, NULL, &error);
    proof_ok(error);
    proof_ok(clReleaseProgram(program));
    return linked;
}

static cl_program make_loaded(void)
{
    const unsigned char *from = binary;
    cl_int error;
    cl_program program = clCreateProgramWithBinary(proof.context, 1, &proof.device, &binary_size, &from, NULL, &error);

    proof_ok(error);
    proof_ok(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    return program;
}

static void must_answer(cl_program program)
{
    const size_t one = 1;
    cl_uint value = 0;
    cl_int error;
    cl_command_queue queue = proof_queue(&proof, 0);
    cl_mem buffer = proof_buffer(&proof, CL_MEM_READ_WRITE, sizeof value, NULL);
    cl_kernel kernel = clCreateKernel(program, "answer", &error);

    proof_ok(error);
    proof_set(kernel, 1, &buffer, 0, NULL);
    proof_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    proof_ok(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    proof_must(value == 42);
    proof_ok(clReleaseMemObject(buffer));
    proof_ok(clReleaseCommandQueue(queue));
    proof_ok(clReleaseKernel(kernel));
}

static void *build(void *arg)
{
    const bool *from_source = arg;

    for (int i = 0; i < n_rounds; i++) {
        cl_program program = *from_source ? make_linked() : make_loaded();

        must_answer(program);
        proof_ok(clReleaseProgram(program));
    }
    return NULL;
}

static void *unload(void *arg)
{
    (void)arg;
    while (!atomic_load(&done))
        proof_ok(clUnloadPlatformCompiler(platform));
    return NULL;
}

static void builds_beside_builds(void **state)
{
    static const bool from_source[n_builders] = {true, false, true, false};
    pthread_t builders[n_builders], unloader;
    cl_program program;

    (void)state;
    proof_open(&proof, NULL);
    proof_ok(clGetPlatformIDs(1, &platform, NULL));
    program = make_linked();
    proof_ok(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof binary_size, &binary_size, NULL));
    binary = malloc(binary_size);
    assert_non_null(binary);
    proof_ok(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    proof_ok(clReleaseProgram(program));
    assert_int_equal(pthread_create(&unloader, NULL, unload, NULL), 0);
    for (int i = 0; i < n_builders; i++)
        assert_int_equal(pthread_create(&builders[i], NULL, build, (void *)(uintptr_t)&from_source[i]), 0);
    for (int i = 0; i < n_builders; i++)
        assert_int_equal(pthread_join(builders[i], NULL), 0);
    atomic_store(&done, true);
    assert_int_equal(pthread_join(unloader, NULL), 0);
    free(binary);
    proof_close(&proof);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(builds_beside_builds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
