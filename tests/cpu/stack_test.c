/* A thread with a small stack may build programs, and help with kernels that have much private memory. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE=/dev/null/none */
#include "cpu_rig.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK_SIZE (512u << 10) /* of the library's own functions they make larger ones */
#else
#define STACK_SIZE (64u << 10)
#endif

#define N_ARRAYS 64 /* of 800 bytes: none is large, all are, and so for each lane */
#define N_ITEMS  64 /* a small launch: who waits does it */

/* Each array keeps what it was given. */
static void write_source(char *source, size_t size)
{
    size_t n = (size_t)snprintf(source, size, "kernel void f(global int *x) { int g = get_global_id(0), s = 0;\n");

    for (unsigned i = 0; i < N_ARRAYS; i++)
        n += (size_t)snprintf(source + n, size - n,
                              "int a%u[200]; for (int i = 0; i < 200; i++) a%u[(i * 7 + g) %% 200] = i + %u;\n", i, i,
                              i);
    for (unsigned i = 0; i < N_ARRAYS; i++)
        n += (size_t)snprintf(source + n, size - n, "s += a%u[(x[g] * 7 + g) %% 200];\n", i);
    snprintf(source + n, size - n, "x[g] = s; }\n");
}

static void *build_and_run(void *rig)
{
    static char source[1 << 16];
    static int x[N_ITEMS];
    cl_program program;
    cl_mem buffer;

    write_source(source, sizeof(source));
    program = cpu_rig_program(rig, source, "");
    for (unsigned n = 0; n < 20; n++) {
        for (int i = 0; i < N_ITEMS; i++)
            x[i] = 3 * i % 200;
        buffer = cpu_rig_buffer(rig, sizeof(x), x);
        cpu_rig_run(rig, program, "f", 1, &buffer, 0, NULL, N_ITEMS);
        cpu_rig_read(rig, buffer, sizeof(x), x);
        for (int i = 0; i < N_ITEMS; i++)
            assert_int_equal(x[i], N_ARRAYS * (3 * i % 200) + N_ARRAYS * (N_ARRAYS - 1) / 2);
        clReleaseMemObject(buffer);
    }
    clReleaseProgram(program);
    return NULL;
}

static void a_small_stack_is_enough(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;

    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_SIZE), 0);
    assert_int_equal(pthread_create(&thread, &attributes, build_and_run, *state), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_stack_is_enough)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
