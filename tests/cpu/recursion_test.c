/* Functions that end by calling themselves, or each other, which OpenCL C forbids and all compilers take: loops. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define N 32

static const char source[] =
    "int product(int n, int p) { if (n <= 1) return p; return product(n - 1, p * n); }\n"
    "int sum(int n) { return n == 0 ? 0 : n + sum(n - 1); }\n"
    "int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }\n"
    "int odd(int n); int even(int n) { if (n == 0) return 1; return odd(n - 1); }\n"
    "int odd(int n) { if (n == 0) return 0; return even(n - 1); }\n"
    "void fill(global int *o, int from, int to) { if (from >= to) return; o[from] = gcd(from, 12); "
    "fill(o, from + 1, to); }\n"
    "int rank(global const int *a, int i, int n) { if (i >= n) return 0; if (a[i] > 5) return rank(a, i + 2, n); "
    "return rank(a, i + 1, n); }\n"
    "#define K(name, value) kernel void name(global int *o) { int i = get_global_id(0); o[i] = value; }\n"
    "K(products, product(i % 13, 1)) K(sums, sum(i)) K(gcds, gcd(i * 6, 84)) K(evens, even(i))\n"
    "kernel void fills(global int *o) { int i = get_global_id(0); if (i % 8 == 0) fill(o, i, i + 8); }\n"
    "K(ranks, rank(o, i, 0))\n"
    "kernel void other(global int *o) { o[get_global_id(0)] = 7; }\n"
    "int many(int n) { return n < 2 ? 1 : many(n - 1) + many(n - 2); } K(refused, many(i))\n";

static int product(int n)
{
    return n < 2 ? 1 : n * product(n - 1);
}

static int gcd(int a, int b)
{
    return b ? gcd(b, a % b) : a;
}

static int right(const char *kernel, int i)
{
    switch (kernel[0]) {
    case 'p':
        return product(i % 13);
    case 's':
        return i * (i + 1) / 2;
    case 'g':
        return gcd(i * 6, 84);
    case 'e':
        return i % 2 == 0;
    case 'f':
        return gcd(i, 12);
    case 'o':
        return 7;
    default:
        return 0;
    }
}

static void calls_at_the_end_are_loops(void **state)
{
    static const char *const names[] = {"products", "sums", "gcds", "evens", "fills", "ranks", "other"};
    cl_program program = cpu_rig_program(*state, source, "");
    int got[N];

    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        cl_mem mem = cpu_rig_buffer(*state, sizeof(got), NULL);

        cpu_rig_run(*state, program, names[k], 1, &mem, 0, NULL, N);
        cpu_rig_read(*state, mem, sizeof(got), got);
        for (int i = 0; i < N; i++)
            if (got[i] != right(names[k], i))
                fail_msg("%s: %d for %d", names[k], got[i], i);
        clReleaseMemObject(mem);
    }
    clReleaseProgram(program);
}

/* The program has its other kernels; the log says why this one isn't there. */
static void what_is_left_costs_its_kernel_alone(void **state)
{
    struct cpu_rig *rig = *state;
    cl_program program = cpu_rig_program(rig, source, "");
    char log[4000] = "";
    cl_int error;

    assert_null(clCreateKernel(program, "refused", &error));
    assert_int_equal(error, CL_INVALID_KERNEL_NAME);
    assert_int_equal(clGetProgramBuildInfo(program, rig->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL),
                     CL_SUCCESS);
    assert_non_null(strstr(log, "the kernel refused is left out: the function many calls itself"));
    clReleaseProgram(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_at_the_end_are_loops),
        cmocka_unit_test(what_is_left_costs_its_kernel_alone),
    };

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
