/* Kernels compute as OpenCL C says, however the program's own threads round, and what those are set to stays. */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl TESELA_CACHE={build}/cache/tesela */
#include "cpu_rig.h"
#include "test.h"

#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define N 100000 /* many pieces, for all threads */

/* Thirds are rounded; a tenth of the smallest normal number isn't one. */
static const char source[] = "kernel void third(global float *x, global double *d) {\n"
                             "    size_t i = get_global_id(0); x[i] = x[i] / 3; d[i] = d[i] / 3; }\n"
                             "kernel void tenth(global float *x) { x[get_global_id(0)] *= 0.1f; }\n";

/* All kinds of functions that look at exponents, or scale. */
static const char many[] =
    "kernel void f(global float *x) {\n"
    "    size_t i = get_global_id(0); float a = x[i], b = x[i ^ 1]; int e;\n"
    "    float s = frexp(a, &e) + logb(a) + log(a) + log1p(a) + sqrt(fabs(a)) + cbrt(a) + fmod(a, b) + remquo(a, b, "
    "&e)\n"
    "        + pow(fabs(a), b) + sin(a) + tan(b) + exp(a) + expm1(b) + ldexp(a, 3) + nextafter(a, b) + hypot(a, b)\n"
    "        + atan2(a, b) + asinh(a) + rsqrt(fabs(b)) + lgamma(a) + tgamma(b) + erf(a) + rint(a) + a / b + ilogb(b);\n"
    "    x[i] = s; }\n";

static cl_program program;

static void thirds_are_rounded_to_nearest(void **state)
{
    static float x[N], x_right[N];
    static double d[N], d_right[N];

    for (int i = 0; i < N; i++) {
        x[i] = (float)(i + 1);
        d[i] = i + 1;
    }
    for (unsigned n = 0; n < 10; n++) {
        cl_mem buffers[] = {cpu_rig_buffer(*state, sizeof(x), x), cpu_rig_buffer(*state, sizeof(d), d)};

        fesetround(FE_TONEAREST);
        for (int i = 0; i < N; i++) {
            x_right[i] = x[i] / 3;
            d_right[i] = d[i] / 3;
        }
        fesetround(FE_UPWARD);
        cpu_rig_run(*state, program, "third", 2, buffers, 0, NULL, N);
        cpu_rig_read(*state, buffers[0], sizeof(x), x);
        cpu_rig_read(*state, buffers[1], sizeof(d), d);
        assert_memory_equal(x, x_right, sizeof(x));
        assert_memory_equal(d, d_right, sizeof(d));
        clReleaseMemObject(buffers[0]);
        clReleaseMemObject(buffers[1]);
    }
}

/* Small launches stay with who waits. */
static void subnormal_numbers_are_kept(void **state)
{
    static const unsigned tenth = 0x000ccccd; /* of 0x00800000 */
    unsigned bits[16];

    for (unsigned n = 0; n < 100; n++) {
        cl_mem buffer;

        for (unsigned i = 0; i < 16; i++)
            bits[i] = 0x00800000;
        buffer = cpu_rig_buffer(*state, sizeof(bits), bits);
        cpu_rig_run(*state, program, "tenth", 1, &buffer, 0, NULL, 16);
        cpu_rig_read(*state, buffer, sizeof(bits), bits);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(bits[i], tenth);
        clReleaseMemObject(buffer);
    }
}

static void run_bits(void **state, cl_program of, const char *name, unsigned n, unsigned *bits)
{
    cl_mem buffer = cpu_rig_buffer(*state, n * sizeof(*bits), bits);

    cpu_rig_run(*state, of, name, 1, &buffer, 0, NULL, n);
    cpu_rig_read(*state, buffer, n * sizeof(*bits), bits);
    clReleaseMemObject(buffer);
}

/* Other kernels keep them, on the same threads. */
static void subnormal_numbers_are_zero_if_asked(void **state)
{
    cl_program flushing = cpu_rig_program(*state, source, "-cl-denorms-are-zero");
    unsigned bits[16];

    for (unsigned i = 0; i < 16; i++)
        bits[i] = 0x00800000;
    run_bits(state, flushing, "tenth", 16, bits);
    for (unsigned i = 0; i < 16; i++)
#if defined(__x86_64__)
        assert_int_equal(bits[i], 0);
#else
        assert_true(bits[i] == 0 || bits[i] == 0x000ccccd);
#endif
    clReleaseProgram(flushing);
    subnormal_numbers_are_kept(state);
}

static void functions_end_without_subnormal_numbers(void **state)
{
    static unsigned kept[4096], flushed[4096];
    cl_program keeping = cpu_rig_program(*state, many, ""),
               flushing = cpu_rig_program(*state, many, "-cl-denorms-are-zero");

    for (unsigned i = 0; i < 4096; i++) /* subnormal numbers, then from 2^-12 to 2^12 */
        kept[i] = flushed[i] = i < 2048 ? (i & 1) << 31 | (i * 4093 & 0x7fffff) : 0x39800000 + (i - 2048) * 98304;
    run_bits(state, keeping, "f", 4096, kept);
    run_bits(state, flushing, "f", 4096, flushed);
    assert_memory_equal(kept + 2048, flushed + 2048, sizeof(kept) / 2);
    clReleaseProgram(keeping);
    clReleaseProgram(flushing);
}

/* Nor does it see that something underflowed. */
static void the_program_keeps_its_way(void **state)
{
    feclearexcept(FE_ALL_EXCEPT);
    subnormal_numbers_are_kept(state);
    assert_int_equal(fetestexcept(FE_UNDERFLOW), 0);
    assert_int_equal(fegetround(), FE_UPWARD);
#if defined(__x86_64__)
    assert_int_equal(_mm_getcsr() & 0x8040u, 0x8040u);
#endif
}

/* As a program that was linked with -ffast-math, and rounds upwards, before it calls OpenCL: the threads that are made
 * then have it from this one. */
static int compute_oddly(void **state)
{
    fesetround(FE_UPWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040u); /* subnormal numbers are zero, as results and as operands */
#endif
    if (cpu_rig_setup(state))
        return -1;
    program = cpu_rig_program(*state, source, "-cl-fp32-correctly-rounded-divide-sqrt");
    return 0;
}

static int compute_no_more(void **state)
{
    clReleaseProgram(program);
    return cpu_rig_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirds_are_rounded_to_nearest),
        cmocka_unit_test(subnormal_numbers_are_kept),
        cmocka_unit_test(subnormal_numbers_are_zero_if_asked),
        cmocka_unit_test(functions_end_without_subnormal_numbers),
        cmocka_unit_test(the_program_keeps_its_way),
    };

    return cmocka_run_group_tests(tests, compute_oddly, compute_no_more);
}
