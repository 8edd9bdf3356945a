/*
 * Roots and divisions on the built-in CPU alone. Of 1 / sqrt(x), where it may be wrong by some ulps the compiler may
 * take an estimate, the same one in vectors and one by one; where a program wants roots and divisions rounded
 * correctly, none.
 */
/* variant: alone TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
/* variant: avx2 TESELA_PROCESSOR=x86-64-v3 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
/* variant: sse TESELA_PROCESSOR=x86-64 TESELA_VENDORS={build}/tests TESELA_NVIDIA=opencl */
#include "cpu_rig.h"
#include "test.h"

#include <math.h>
#include <string.h>

#define N 65536u

static const char source[] =
    "kernel void lanes(global const float *x, global float *y) {\n"
    "    size_t i = get_global_id(0); y[i] = ROOT(x[i]); }\n"
    "kernel void odd(global const float *x, global float *y) {\n" /* a single lane, after full vectors */
    "    size_t i = get_global_id(0); if (i % 3 == 1) y[i] = ROOT(x[i]); else y[i] = ROOT(x[i ^ 0]); }\n"
    "kernel void fours(global const float *x, global float *y) {\n"
    "    size_t i = get_global_id(0) / 4; if (get_global_id(0) % 4 == 0) vstore4(ROOT(vload4(i, x)), i, y); }\n"
    "kernel void alone(global const float *x, global float *y) {\n"
    "    if (get_global_id(0) == 0) for (uint i = 0; i < 65536; i++) { if (y[i] == 7) break; y[i] = ROOT(x[i]); } }\n";

static float in[N], out[N], first[N];

/* All signs and exponents, and what is none, or no number. */
static void fill(void)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = i << 16 | (uint32_t)(cpu_rig_random() & 0xffff);

        memcpy(&in[i], &bits, sizeof(bits));
    }
    for (uint32_t i = 0; i < N; i += 128) /* 0, infinity and their like */
        memcpy(&in[i], &(uint32_t){i << 16}, sizeof(float));
}

static void run(struct cpu_rig *rig, const char *options, const char *kernel)
{
    cl_program program = cpu_rig_program(rig, source, options);
    cl_mem buffers[2] = {cpu_rig_buffer(rig, sizeof(in), in), cpu_rig_buffer(rig, sizeof(out), NULL)};

    memset(out, 0, sizeof(out));
    assert_int_equal(clEnqueueWriteBuffer(rig->queue, buffers[1], CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), 0);
    cpu_rig_run(rig, program, kernel, 2, buffers, 0, NULL, N);
    cpu_rig_read(rig, buffers[1], sizeof(out), out);
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    clReleaseProgram(program);
}

/* In ulps of what is right; a wrong infinity, or number where there is none, is infinitely wrong. */
static double error_of(float got, float x)
{
    double right = 1 / sqrt((double)x);
    int exponent;

    if (isnan(right) || isinf(right) || right == 0)
        return (isnan(right) && isnan(got)) || (got == right && !signbit(got) == !signbit(right)) ? 0 : INFINITY;
    frexp(right, &exponent);
    return fabs(got - right) / ldexp(1, exponent - 24);
}

static void must_be_near(struct cpu_rig *rig, const char *options)
{
    static const char *const kernels[] = {"lanes", "odd", "fours", "alone"};

    for (unsigned k = 0; k < 4; k++) {
        run(rig, options, kernels[k]);
        for (unsigned i = 0; i < N; i++) {
            if (!(error_of(out[i], in[i]) <= 2))
                fail_msg("%s, %s: of %a it is %a", options, kernels[k], in[i], out[i]);
            /* In a loop LLVM may part the division from its root, and both are exact. */
            if (k && k < 3 && memcmp(&out[i], &first[i], sizeof(float)) && !isnan(out[i]))
                fail_msg("%s, %s: of %a it is %a, not %a", options, kernels[k], in[i], out[i], first[i]);
        }
        if (k == 0)
            memcpy(first, out, sizeof(out));
    }
}

static void reciprocal_roots_are_near(void **state)
{
    fill();
    must_be_near(*state, "-DROOT=rsqrt");
    must_be_near(*state, "-DROOT=1/sqrt");
    must_be_near(*state, "-DROOT=rsqrt -cl-fp32-correctly-rounded-divide-sqrt");
}

static void roots_and_divisions_are_exact_where_they_shall_be(void **state)
{
    fill();
    run(*state, "-DROOT=1/sqrt -cl-fp32-correctly-rounded-divide-sqrt", "lanes");
    for (unsigned i = 0; i < N; i++) {
        float root = sqrtf(in[i]), right = 1 / root;

        if (memcmp(&out[i], &right, sizeof(float)) && !(isnan(out[i]) && isnan(right)))
            fail_msg("of %a it is %a, not %a", in[i], out[i], right);
    }
}

/* From 2^-40 to 2^40: of numbers beyond 2^62 nothing is promised. */
static void fill_with_middling(float *numbers)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = ((uint32_t)cpu_rig_random() & 0x807fffff) | (87 + i % 80) << 23;

        memcpy(&numbers[i], &bits, sizeof(bits));
    }
}

static void must_be_within(float got, double right, double ulps, const char *what, float x)
{
    int exponent;

    frexp(right, &exponent);
    if (!(fabs(got - right) / ldexp(1, exponent - 24) <= ulps))
        fail_msg("%s of %a is %a, not %a: wrong by more than %g ulps", what, x, got, right, ulps);
}

/* Errors that relaxed mathematics allows (OpenCL C 3.0, 7.4). */
static void relaxed_divisions_and_roots_are_near(void **state)
{
    for (int round = 0; round < 8; round++) {
        fill_with_middling(in);
        run(*state, "-DROOT(v)=(v)/x[i^1] -cl-fast-relaxed-math", "lanes");
        for (unsigned i = 0; i < N; i++)
            must_be_within(out[i], (double)in[i] / in[i ^ 1], 2.5, "the quotient", in[i]);
        run(*state, "-DROOT(x)=sqrt(fabs(x)) -cl-fast-relaxed-math", "lanes");
        for (unsigned i = 0; i < N; i++)
            must_be_within(out[i], sqrt(fabs((double)in[i])), 3, "the root", in[i]);
    }
}

/* From 2^-125 to 2^125. */
static void fill_with_any_size(float *numbers)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = ((uint32_t)cpu_rig_random() & 0x807fffff) | (2 + i % 251) << 23;

        memcpy(&numbers[i], &bits, sizeof(bits));
    }
}

static void relaxed_reciprocals_are_near(void **state)
{
    fill_with_any_size(in);
    run(*state, "-DROOT=1.0f/ -cl-fast-relaxed-math", "lanes");
    for (unsigned i = 0; i < N; i++)
        must_be_within(out[i], 1.0 / in[i], 2.5, "the reciprocal", in[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reciprocal_roots_are_near),
                                       cmocka_unit_test(relaxed_divisions_and_roots_are_near),
                                       cmocka_unit_test(relaxed_reciprocals_are_near),
                                       cmocka_unit_test(roots_and_divisions_are_exact_where_they_shall_be)};

    return cmocka_run_group_tests(tests, cpu_rig_setup, cpu_rig_teardown);
}
