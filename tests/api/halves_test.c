/*
 * cl_khr_fp16: functions of halves, each of all halves, or of many pairs, against the host's doubles, within the errors
 * that the extension allows (OpenCL 3.0 extensions, 21.4); operators, conversions and memory exactly.
 */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: sse TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_PROCESSOR=x86-64 */
/* any: */
/* timeout: 300 */
#include "begin.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n_halves = 1 << 16 };

static cl_context context;
static cl_command_queue queue;

static bool has_halves(void)
{
    static char text[4000];
    cl_device_id device = our_device();
    return clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL) == CL_SUCCESS &&
           strstr(text, "cl_khr_fp16");
}

/* ---- Halves on the host ------------------------------------------------------------------------------------------ */

static double number_of(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31)
        return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

/* The distance between halves at x. */
static double ulp_at(double x)
{
    int exponent = 0;
    frexp(x, &exponent);
    exponent = exponent - 1 < -14 ? -14 : exponent - 1 > 15 ? 15 : exponent - 1;
    return ldexp(1, exponent - 10);
}

enum rounding { to_nearest, to_zero, up, down };

static uint16_t half_of(double x, enum rounding rounding)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double m = fabs(x), ulp = ulp_at(m), steps = m / ulp, whole = floor(steps), rest = steps - whole;
    bool more = rounding == to_nearest ? rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1)
                                       : rest > 0 && (rounding == up     ? !sign
                                                      : rounding == down ? sign
                                                                         : false);
    if (isnan(x))
        return 0x7e00;
    if (isinf(x))
        return sign | 0x7c00;
    double rounded = (whole + more) * ulp;
    if (rounded >= 65536) /* beyond the largest one */
        return sign |
               (rounding == to_nearest || (rounding == up && !sign) || (rounding == down && sign) ? 0x7c00 : 0x7bff);
    ulp = ulp_at(rounded);
    double fraction = rounded / ulp; /* with its leading 1 unless it is subnormal */
    int exponent = 0;
    frexp(rounded, &exponent);
    return sign |
           (rounded < ldexp(1, -14) ? (uint16_t)fraction : (uint16_t)((exponent + 14) << 10 | ((int)fraction - 1024)));
}

/* Errors in ulps of the true result. */
static double error_of(uint16_t found, double expected)
{
    double x = number_of(found);
    if (isnan(expected) || isnan(x))
        return isnan(expected) && isnan(x) ? 0 : INFINITY;
    if (fabs(expected) >= 65520 && isinf(x) && signbit(x) == signbit(expected))
        return 0;
    if (isinf(x))
        x = copysign(65536, x); /* what would come next */
    if (isinf(expected))
        return INFINITY;
    return fabs(x - expected) / ulp_at(expected);
}

/* ---- On the device ----------------------------------------------------------------------------------------------- */

static cl_program build(const char *text, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (clBuildProgram(program, 0, NULL, options, NULL, NULL) != CL_SUCCESS) {
        static char log[4000];
        cl_device_id device = our_device();
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n%.1500s\n", text, log);
        fail();
    }
    return program;
}

/* Runs the program's kernel `run`: out[i] of in[0][i], in[1][i], … */
static void run(const char *text, unsigned n_inputs, const void *const *inputs, size_t input_size, void *output,
                size_t output_size, size_t n)
{
    cl_program program = build(text, "");
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "run", &error);
    cl_mem buffers[4] = {make_buffer(context, CL_MEM_WRITE_ONLY, n * output_size)};
    assert_int_equal(error, CL_SUCCESS);
    for (unsigned i = 0; i < n_inputs; i++) {
        buffers[i + 1] = make_buffer(context, CL_MEM_READ_ONLY, n * input_size);
        assert_int_equal(
            clEnqueueWriteBuffer(queue, buffers[i + 1], CL_TRUE, 0, n * input_size, inputs[i], 0, NULL, NULL),
            CL_SUCCESS);
    }
    for (unsigned i = 0; i <= n_inputs; i++)
        assert_int_equal(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, n * output_size, output, 0, NULL, NULL),
                     CL_SUCCESS);
    for (unsigned i = 0; i <= n_inputs; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static uint16_t all[n_halves], second[n_halves], third[n_halves], found[n_halves];

/* Each half comes with others by chance, of which some are special or near it. */
static void make_inputs(void)
{
    static const uint16_t special[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3800,
                                       0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x4000, 0x4200, 0xc200};
    uint32_t seed = 12345;
    for (int i = 0; i < n_halves; i++) {
        all[i] = (uint16_t)i;
        for (int k = 0; k < 2; k++) {
            seed = seed * 1664525 + 1013904223;
            uint16_t chance = (uint16_t)(seed >> 16);
            (k ? third : second)[i] = seed % 7 == 0   ? special[(seed >> 8) % (sizeof special / sizeof *special)]
                                      : seed % 7 == 1 ? (uint16_t)(i + (seed >> 8) % 5 - 2)
                                                      : chance;
        }
    }
}

static int setup(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    make_inputs();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static const char *const types[] = {"half", "half2", "half3", "half4", "half8", "half16"};
static const int widths[] = {1, 2, 3, 4, 8, 16};

/* The expression of x, y and z, computed in vectors of that width, whose components are those of one work-item each. */
static void compute(const char *expression, int width)
{
    char text[2000];
    const void *const inputs[] = {all, second, third};
    const char *type = types[width];
    if (width == 0)
        snprintf(text, sizeof text,
                 "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                 "kernel void run(global half *o, global const half *a, global const half *b, global const half *c)\n"
                 "{ size_t i = get_global_id(0); half x = a[i], y = b[i], z = c[i]; o[i] = %s; }",
                 expression);
    else /* as many loads as there are components, so that the same work-items do for all widths */
        snprintf(text, sizeof text,
                 "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                 "kernel void run(global half *o, global const half *a, global const half *b, global const half *c)\n"
                 "{ size_t i = get_global_id(0), k = i %% %d; %s x = (%s)(1.0h), y = (%s)(2.0h), z = (%s)(0.5h);\n"
                 "  x[k] = a[i]; y[k] = b[i]; z[k] = c[i]; %s r = %s; o[i] = r[k]; }",
                 widths[width], type, type, type, type, type, expression);
    run(text, 3, inputs, 2, found, 2, n_halves);
}

struct function {
    const char *expression;
    double (*one)(double);
    double (*two)(double, double);
    double ulps;
    double most; /* of |x|, where the host's function is no reference beyond; 0: all */
};

static double exp10_(double x)
{
    return pow(10, x);
}
static double acospi(double x)
{
    return acos(x) / M_PI;
}
static double asinpi(double x)
{
    return asin(x) / M_PI;
}
static double atanpi(double x)
{
    return atan(x) / M_PI;
}
static double atan2pi(double x, double y)
{
    return atan2(x, y) / M_PI;
}
static double rsqrt_(double x)
{
    return 1 / sqrt(x);
}
static double sinpi(double x)
{
    double r = fmod(x, 2);
    return isinf(x) ? NAN : sin(M_PI * r);
}
static double cospi(double x)
{
    double r = fmod(x, 2);
    return isinf(x) ? NAN : fabs(fabs(r) - 0.5) == 0 || fabs(fabs(r) - 1.5) == 0 ? 0 : cos(M_PI * r);
}
static double degrees(double x)
{
    return x * 180 / M_PI;
}
static double radians(double x)
{
    return x * M_PI / 180;
}
static double sign(double x)
{
    return isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x;
}
static double add(double x, double y)
{
    return x + y;
}
static double subtract(double x, double y)
{
    return x - y;
}
static double multiply(double x, double y)
{
    return x * y;
}
static double divide(double x, double y)
{
    return x / y;
}
static double negate(double x)
{
    return -x;
}
static double maxmag(double x, double y)
{
    return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y);
}
static double minmag(double x, double y)
{
    return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y);
}
static double step(double x, double y)
{
    return y < x ? 0 : 1;
}
static double powr(double x, double y)
{
    return x < 0 || isnan(x) || isnan(y) || (x == 0 && y == 0) || (isinf(x) && y == 0) || (x == 1 && isinf(y))
               ? NAN
               : pow(x, y);
}
static double thrice_less(double x, double y)
{
    return x * 3 - y;
}

static const struct function functions[] = {
    {"x + y", .two = add, .ulps = 0.5},
    {"x - y", .two = subtract, .ulps = 0.5},
    {"x * y", .two = multiply, .ulps = 0.5},
    {"x / y", .two = divide, .ulps = 1},
    {"-x", .one = negate, .ulps = 0},
    {"fabs(x)", .one = fabs, .ulps = 0},
    {"sqrt(x)", .one = sqrt, .ulps = 0.5},
    {"rsqrt(x)", .one = rsqrt_, .ulps = 1},
    {"floor(x)", .one = floor, .ulps = 0},
    {"ceil(x)", .one = ceil, .ulps = 0},
    {"trunc(x)", .one = trunc, .ulps = 0},
    {"rint(x)", .one = rint, .ulps = 0},
    {"round(x)", .one = round, .ulps = 0},
    {"logb(x)", .one = logb, .ulps = 0},
    {"cbrt(x)", .one = cbrt, .ulps = 2},
    {"exp(x)", .one = exp, .ulps = 2},
    {"exp2(x)", .one = exp2, .ulps = 2},
    {"exp10(x)", .one = exp10_, .ulps = 2},
    {"expm1(x)", .one = expm1, .ulps = 2},
    {"log(x)", .one = log, .ulps = 2},
    {"log2(x)", .one = log2, .ulps = 2},
    {"log10(x)", .one = log10, .ulps = 2},
    {"log1p(x)", .one = log1p, .ulps = 2},
    {"sin(x)", .one = sin, .ulps = 2},
    {"cos(x)", .one = cos, .ulps = 2},
    {"tan(x)", .one = tan, .ulps = 2},
    {"sinpi(x)", .one = sinpi, .ulps = 2},
    {"cospi(x)", .one = cospi, .ulps = 2},
    {"asin(x)", .one = asin, .ulps = 2},
    {"acos(x)", .one = acos, .ulps = 2},
    {"atan(x)", .one = atan, .ulps = 2},
    {"asinpi(x)", .one = asinpi, .ulps = 2},
    {"acospi(x)", .one = acospi, .ulps = 2},
    {"atanpi(x)", .one = atanpi, .ulps = 2},
    {"sinh(x)", .one = sinh, .ulps = 2},
    {"cosh(x)", .one = cosh, .ulps = 2},
    {"tanh(x)", .one = tanh, .ulps = 2},
    {"asinh(x)", .one = asinh, .ulps = 2},
    {"acosh(x)", .one = acosh, .ulps = 2},
    {"atanh(x)", .one = atanh, .ulps = 2},
    {"erf(x)", .one = erf, .ulps = 4},
    {"erfc(x)", .one = erfc, .ulps = 4},
    {"tgamma(x)", .one = tgamma, .ulps = 4, 30},
    {"degrees(x)", .one = degrees, .ulps = 2},
    {"radians(x)", .one = radians, .ulps = 2},
    {"sign(x)", .one = sign, .ulps = 0},
    {"atan2(x, y)", .two = atan2, .ulps = 2},
    {"atan2pi(x, y)", .two = atan2pi, .ulps = 2},
    {"fdim(x, y)", .two = fdim, .ulps = 0.5},
    {"fmax(x, y)", .two = fmax, .ulps = 0},
    {"fmin(x, y)", .two = fmin, .ulps = 0},
    {"fmod(x, y)", .two = fmod, .ulps = 0},
    {"hypot(x, y)", .two = hypot, .ulps = 2},
    {"maxmag(x, y)", .two = maxmag, .ulps = 0},
    {"minmag(x, y)", .two = minmag, .ulps = 0},
    {"pow(x, y)", .two = pow, .ulps = 4},
    {"powr(x, y)", .two = powr, .ulps = 4},
    {"remainder(x, y)", .two = remainder, .ulps = 0},
    {"copysign(x, y)", .two = copysign, .ulps = 0},
    {"step(x, y)", .two = step, .ulps = 0},
    {"mad(x, (half)3, -y)", .two = thrice_less, .ulps = 4096}, /* any error is allowed; it is near */
};

/* Where one is zero or none is a number, more than one answer is right for some. */
static bool leaves_open(const struct function *f, double x, double y)
{
    bool sizes = strstr(f->expression, "fmax") || strstr(f->expression, "fmin") || strstr(f->expression, "mag");
    if (strstr(f->expression, "mad"))
        return isnan(x + y) || isinf(x) || isinf(y) || fabs(3 * x) > 60000 || fabs(3 * x - y) < 1;
    if (strstr(f->expression, "step") || strstr(f->expression, "sign("))
        return isnan(x) || isnan(y);
    if (strstr(f->expression, "powr") || strstr(f->expression, "degrees"))
        return fabs(x) == 0 && (y == 0 || isnan(y));
    return sizes && (isnan(x) || isnan(y));
}

static double expected_of(const struct function *f, double x, double y)
{
    return f->one ? f->one(x) : f->two(x, y);
}

static unsigned wrong_of(const struct function *f, int width)
{
    unsigned n_wrong = 0;
    for (int i = 0; i < n_halves; i++) {
        double x = number_of(all[i]), y = number_of(second[i]), expected = expected_of(f, x, y);
        if ((f->most > 0 && fabs(x) > f->most) || leaves_open(f, x, y))
            continue;
        double error = error_of(found[i], expected);
        if (error > f->ulps && n_wrong++ < 3)
            fprintf(stderr, "%s of %s: %a, %a: %a instead of %a, %g ulps\n", f->expression, types[width], x, y,
                    number_of(found[i]), expected, error);
    }
    return n_wrong;
}

static void functions_are_exact(void **state)
{
    unsigned n_wrong = 0;
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int k = 0; k < 2; k++) { /* alone, and in vectors, wide ones of what is built quickly */
            int width = k * (1 + (int)f % (functions[f].ulps < 1 ? 5 : 3));
            compute(functions[f].expression, width);
            n_wrong += wrong_of(&functions[f], width);
        }
    assert_int_equal(n_wrong, 0);
}

/* fma rounds once: a reference in the host's long doubles is exact, as 64 bits hold each sum that doesn't overflow. */
static void fma_rounds_once(void **state)
{
    unsigned n_wrong = 0;
    (void)state;
    compute("fma(x, y, z)", 0);
    for (int i = 0; i < n_halves; i++) {
        double x = number_of(all[i]), y = number_of(second[i]), z = number_of(third[i]), sum = x * y + z;
        uint16_t expected = half_of(sum, to_nearest);
        bool same = isnan(sum) ? isnan(number_of(found[i])) : found[i] == expected;
        if (!same && n_wrong++ < 5)
            fprintf(stderr, "fma(%a, %a, %a): %a instead of %a\n", x, y, z, number_of(found[i]), number_of(expected));
    }
    assert_int_equal(n_wrong, 0);
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static const char *const mode_names[] = {"", "_rtz", "_rtp", "_rtn"};
static const enum rounding modes[] = {to_nearest, to_zero, up, down};

static unsigned conversions_from(const char *type, size_t size, const void *inputs, double (*at)(size_t), bool wide)
{
    unsigned n_wrong = 0;
    for (int m = 0; m < 4; m++) {
        char text[500];
        snprintf(text, sizeof text,
                 wide ? "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                        "kernel void run(global half *o, global const %s *a)\n"
                        "{ size_t i = get_global_id(0); o[i] = convert_half4%s((%s4)(a[i])).y; }"
                      : "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                        "kernel void run(global half *o, global const %s *a)\n"
                        "{ size_t i = get_global_id(0); o[i] = convert_half%s((%s)a[i]); }",
                 type, mode_names[m], type);
        run(text, 1, (const void *const[]){inputs}, size, found, 2, n_halves);
        for (size_t i = 0; i < n_halves; i++) {
            uint16_t expected = half_of(at(i), modes[m]);
            bool same = isnan(at(i)) ? isnan(number_of(found[i])) : found[i] == expected;
            if (!same && n_wrong++ < 5)
                fprintf(stderr, "convert_half%s(%s %a): %a instead of %a\n", mode_names[m], type, at(i),
                        number_of(found[i]), number_of(expected));
        }
    }
    return n_wrong;
}

static double doubles[n_halves];
static float floats[n_halves];
static int32_t ints[n_halves];
static uint64_t longs[n_halves];

static double double_at(size_t i)
{
    return doubles[i];
}
static double float_at(size_t i)
{
    return (double)floats[i];
}
static double int_at(size_t i)
{
    return ints[i];
}
static double long_at(size_t i)
{
    return (double)longs[i];
}

/* Halves, the middles between them, and a little beside both. */
static void make_numbers(void)
{
    for (int i = 0; i < n_halves; i++) {
        double x = number_of((uint16_t)i), between = ulp_at(x) / 2 * (i % 3);
        doubles[i] = x + between + (i % 5 == 1 ? ldexp(between, -40) : i % 5 == 2 ? -ldexp(between, -40) : 0);
        floats[i] = (float)(x + between + (i % 5 == 1 ? ldexp(between, -12) : i % 5 == 2 ? -ldexp(between, -12) : 0));
        ints[i] = (int32_t)((uint32_t)i * 2654435761u) >> (i % 32);
        longs[i] = ((uint64_t)i * UINT64_C(11400714819323198485)) >> (i % 64);
    }
}

static void conversions_to_halves(void **state)
{
    (void)state;
    make_numbers();
    assert_int_equal(conversions_from("float", 4, floats, float_at, false), 0);
    assert_int_equal(conversions_from("double", 8, doubles, double_at, false), 0);
    assert_int_equal(conversions_from("int", 4, ints, int_at, false), 0);
    assert_int_equal(conversions_from("ulong", 8, longs, long_at, false), 0);
    assert_int_equal(conversions_from("double", 8, doubles, double_at, true), 0);
    assert_int_equal(conversions_from("int", 4, ints, int_at, true), 0);
}

/* A cast is a conversion, too; the compiler has it, and no function. */
static void casts_round_once(void **state)
{
    unsigned n_wrong = 0;
    (void)state;
    make_numbers();
    run("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "kernel void run(global half *o, global const double *a)\n"
        "{ size_t i = get_global_id(0); o[i] = (half)a[i]; }",
        1, (const void *const[]){doubles}, 8, found, 2, n_halves);
    for (int i = 0; i < n_halves; i++)
        n_wrong += isnan(doubles[i]) ? !isnan(number_of(found[i])) : found[i] != half_of(doubles[i], to_nearest);
    assert_int_equal(n_wrong, 0);
}

static void conversions_from_halves(void **state)
{
    static int16_t shorts[n_halves];
    unsigned n_wrong = 0;
    (void)state;
    run("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "kernel void run(global short *o, global const half *a)\n"
        "{ size_t i = get_global_id(0); o[i] = convert_short_sat_rte(a[i]); }",
        1, (const void *const[]){all}, 2, shorts, 2, n_halves);
    for (int i = 0; i < n_halves; i++) {
        double x = number_of(all[i]), r = isnan(x) ? 0 : fmin(fmax(rint(x), -32768), 32767);
        n_wrong += shorts[i] != (int16_t)r;
    }
    assert_int_equal(n_wrong, 0);
    run("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "kernel void run(global double *o, global const half *a)\n"
        "{ size_t i = get_global_id(0); o[i] = convert_double2((half2)(a[i])).y; }",
        1, (const void *const[]){all}, 2, doubles, 8, n_halves);
    for (int i = 0; i < n_halves; i++)
        n_wrong += isnan(number_of(all[i])) ? !isnan(doubles[i]) : doubles[i] != number_of(all[i]);
    assert_int_equal(n_wrong, 0);
}

/* ---- All else, each right or wrong by itself --------------------------------------------------------------------- */

/* Each line is an expression that is true. */
static const char *const truths[] = {
    "isequal((half)1, (half)1) == 1",
    "all(isless((half3)(1.0h, -2.0h, 0.0h), (half3)(1.5h)))",
    "isnan((half)NAN) == 1 && !isnan((half)1)",
    "isinf((half)INFINITY) && isfinite((half)65504)",
    "!isnormal((half)6.0e-8h) && isnormal((half)1)",
    "signbit((half)-0.0h) == 1",
    "isunordered((half)NAN, (half)1) == 1 && isordered((half)1, (half)2) == 1",
    "islessgreater((half)1, (half)2) == 1 && islessgreater((half)1, (half)1) == 0",
    "select((half)1, (half)2, (ushort)1) == 2 && select((half)1, (half)2, (short)0) == 1",
    "all(select((half2)(1.0h, 2.0h), (half2)(3.0h, 4.0h), (short2)(-1, 0)) == (half2)(3.0h, 2.0h))",
    "as_ushort(bitselect(as_half((ushort)0x1234), as_half((ushort)0xffff), as_half((ushort)0x00ff))) == 0x12ff",
    "as_ushort(nextafter((half)1, (half)2)) == 0x3c01 && as_ushort(nextafter((half)0, (half)-1)) == 0x8001",
    "as_ushort(nextafter((half)-1, (half)0)) == 0xbbff && as_ushort(nextafter(as_half((ushort)1), (half)0)) == 0",
    "as_ushort(nan((ushort)3)) == 0x7e03",
    "ilogb((half)0.25h) == -2 && all(ilogb((half4)(8.0h)) == (int4)(3))",
    "ldexp((half)1.5h, 3) == 12 && all(ldexp((half2)(1.0h), (int2)(1, -1)) == (half2)(2.0h, 0.5h))",
    "pown((half)-2, 3) == -8 && rootn((half)27, 3) == 3",
    "clamp((half)5, (half)0, (half)2) == 2 && all(clamp((half4)(-1.0h), (half)0, (half)2) == (half4)(0.0h))",
    "mix((half)1, (half)3, (half)0.5h) == 2 && all(mix((half2)(1.0h), (half2)(3.0h), (half)0.5h) == (half2)(2.0h))",
    "smoothstep((half)0, (half)2, (half)1) == (half)0.5h && all(step((half)1, (half3)(2.0h)) == (half3)(1.0h))",
    "max((half)1, (half)2) == 2 && all(min((half2)(1.0h, 5.0h), (half)2) == (half2)(1.0h, 2.0h))",
    "all(fmax((half8)(1.0h), (half)2) == (half8)(2.0h))",
    "dot((half3)(1.0h, 2.0h, 3.0h), (half3)(4.0h, 5.0h, 6.0h)) == 32",
    "length((half2)(300.0h, 400.0h)) == 500",
    "distance((half4)(1.0h), (half4)(2.0h)) == 2 && all(normalize((half2)(0.0h, 4.0h)) == (half2)(0.0h, 1.0h))",
    "all(cross((half3)(1.0h, 0.0h, 0.0h), (half3)(0.0h, 1.0h, 0.0h)) == (half3)(0.0h, 0.0h, 1.0h))",
    "all(shuffle((half4)(1.0h, 2.0h, 3.0h, 4.0h), (ushort2)(3, 0)) == (half2)(4.0h, 1.0h))",
    "all(shuffle2((half2)(1.0h, 2.0h), (half2)(3.0h, 4.0h), (ushort4)(3, 2, 1, 0)) == (half4)(4.0h, 3.0h, 2.0h, 1.0h))",
    "modf((half)2.5h, &h) == (half)0.5h && h == 2",
    "fract((half)-0.25h, &h) == (half)0.75h && h == -1",
    "fract(as_half((ushort)0x8001), &h) == (half)0.99951171875h",
    "frexp((half)6, &n) == (half)0.75h && n == 3",
    "remquo((half)7, (half)2, &n) == -1 && (n & 7) == 4",
    "sincos((half)0, &h) == 0 && h == 1",
    "fabs(lgamma_r((half)-0.5h, &n) - (half)1.2655h) < (half)0.01h && n == -1",
    "all(sincos((half2)(0.0h), &h2) == (half2)(0.0h) && h2 == (half2)(1.0h))",
    "(vstore3((half3)(1.0h, 2.0h, 3.0h), 1, p), p[3] == 1 && p[4] == 2 && p[5] == 3)",
    "(vstore4((half4)(5.0h), 0, l), all(vload4(0, l) == (half4)(5.0h)))",
    "all(vload2(1, c) == (half2)(3.0h, 4.0h))",
    "all(convert_int4((half4)(-1.5h)) == (int4)(-1))",
    "(-(half2)(1.0h, -2.0h)).y == 2 && ((half2)(1.0h) < (half2)(2.0h)).x == -1",
    "sizeof(half3) == 8",
    "(half)1 / (half)3 * (half)3 != (half)0",
    "(h = 3, h++, h) == 4",
    "work_group_reduce_add((half)1) == 1",
    "work_group_scan_inclusive_max((half)2) == 2 && work_group_broadcast((half)7, 0) == 7",
};

static void expressions_are_true(void **state)
{
    enum { n = sizeof truths / sizeof *truths };
    static char text[20000];
    int results[n], at = 0;
    cl_int error;
    (void)state;
    at += snprintf(text + at, sizeof text - at,
                   "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                   "constant half c[] = {1.0h, 2.0h, 3.0h, 4.0h};\n"
                   "kernel void run(global int *o) { half p[16]; local half l[8]; half h; half2 h2; int n;\n");
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - at, "o[%d] = %s;\n", i, truths[i]);
    snprintf(text + at, sizeof text - at, "}");
    cl_program program = build(text, "-cl-std=CL3.0");
    cl_kernel kernel = clCreateKernel(program, "run", &error);
    cl_mem out = make_buffer(context, CL_MEM_WRITE_ONLY, sizeof results);
    const size_t one = 1;
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof out, &out), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof results, results, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < n; i++)
        if (!results[i])
            fprintf(stderr, "not so: %s\n", truths[i]);
    for (int i = 0; i < n; i++)
        assert_true(results[i]);
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* Copies of groups, local memory, and an argument by value. */
static void copies_by_work_groups(void **state)
{
    unsigned n_wrong = 0;
    (void)state;
    run("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        "__attribute__((reqd_work_group_size(64, 1, 1)))\n"
        "kernel void run(global half *o, global const half *a)\n"
        "{ local half l[64]; size_t g = get_group_id(0) * 64, i = get_local_id(0);\n"
        "  event_t e = async_work_group_copy(l, a + g, 64, 0); wait_group_events(1, &e);\n"
        "  o[g + i] = l[63 - i]; }",
        1, (const void *const[]){all}, 2, found, 2, n_halves);
    for (int i = 0; i < n_halves; i++)
        n_wrong += found[i] != all[i / 64 * 64 + 63 - i % 64] && !isnan(number_of(found[i]));
    assert_int_equal(n_wrong, 0);
}

/* Pixels of halves, written by one kernel, read by another at points and by a sampler. */
static void pixels_of_halves(void **state)
{
    enum { width = 64, height = 16 };
    const char *text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                       "kernel void put(write_only image2d_t to)"
                       "{ int2 at = (int2)(get_global_id(0), get_global_id(1));"
                       "  write_imageh(to, at, (half4)(at.x, at.y, at.x * 0.25h, -at.y)); }"
                       "kernel void run(global int *wrong, read_only image2d_t from, sampler_t s)"
                       "{ int2 at = (int2)(get_global_id(0), get_global_id(1));"
                       "  half4 x = read_imageh(from, at), y = read_imageh(from, s, convert_float2(at) + 0.5f);"
                       "  half4 e = (half4)(at.x, at.y, at.x * 0.25h, -at.y);"
                       "  wrong[at.y * get_global_size(0) + at.x] = any(x != e) || any(y != e); }";
    const cl_image_format format = {CL_RGBA, CL_HALF_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height};
    const size_t global[2] = {width, height};
    static int wrong[width * height];
    cl_bool images = CL_FALSE;
    cl_int error;
    (void)state;
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL), CL_SUCCESS);
    if (!images)
        return;
    cl_program program = build(text, "");
    cl_kernel put = clCreateKernel(program, "put", &error), get = clCreateKernel(program, "run", &error);
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
    cl_mem out = make_buffer(context, CL_MEM_WRITE_ONLY, sizeof wrong);
    assert_int_equal(clSetKernelArg(put, 0, sizeof image, &image), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(get, 0, sizeof out, &out), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(get, 1, sizeof image, &image), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(get, 2, sizeof sampler, &sampler), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, put, 2, NULL, global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, get, 2, NULL, global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof wrong, wrong, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < width * height; i++)
        assert_int_equal(wrong[i], 0);
    clReleaseSampler(sampler);
    clReleaseMemObject(out);
    clReleaseMemObject(image);
    clReleaseKernel(put);
    clReleaseKernel(get);
    clReleaseProgram(program);
}

/* Then the device says so in each answer. */
static void the_device_has_no_halves(void **state)
{
    cl_device_fp_config config = 1;
    cl_uint width = 1;
    (void)state;
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_HALF_FP_CONFIG, sizeof config, &config, NULL), CL_SUCCESS);
    assert_int_equal(config, 0);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, sizeof width, &width, NULL),
                     CL_SUCCESS);
    assert_int_equal(width, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_exact),     cmocka_unit_test(fma_rounds_once),
        cmocka_unit_test(conversions_to_halves),   cmocka_unit_test(casts_round_once),
        cmocka_unit_test(conversions_from_halves), cmocka_unit_test(expressions_are_true),
        cmocka_unit_test(copies_by_work_groups),   cmocka_unit_test(pixels_of_halves),
    };
    const struct CMUnitTest none[] = {cmocka_unit_test(the_device_has_no_halves)};
    return has_halves() ? cmocka_run_group_tests(tests, setup, teardown) : cmocka_run_group_tests(none, NULL, NULL);
}
