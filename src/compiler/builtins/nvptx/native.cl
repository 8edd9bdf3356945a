/*
 * native_… and half_… by the hardware's approximations. Subnormal numbers are zero, as the specification lets both have
 * it (OpenCL C 3.0, 6.15.2); half_… may be wrong by 8192 ulps.
 */
#include "common.h"

float OVERLOADABLE native_sin(float x)
{
    return __nvvm_sin_approx_ftz_f(x);
}

float OVERLOADABLE native_cos(float x)
{
    return __nvvm_cos_approx_ftz_f(x);
}

float OVERLOADABLE native_tan(float x)
{
    return __nvvm_div_approx_ftz_f(__nvvm_sin_approx_ftz_f(x), __nvvm_cos_approx_ftz_f(x));
}

float OVERLOADABLE native_exp2(float x)
{
    return __nvvm_ex2_approx_ftz_f(x);
}

float OVERLOADABLE native_exp(float x)
{
    return __nvvm_ex2_approx_ftz_f(x * M_LOG2E_F);
}

float OVERLOADABLE native_exp10(float x)
{
    return __nvvm_ex2_approx_ftz_f(x * 3.32192809488736235f);
}

float OVERLOADABLE native_log2(float x)
{
    return __nvvm_lg2_approx_ftz_f(x);
}

float OVERLOADABLE native_log(float x)
{
    return __nvvm_lg2_approx_ftz_f(x) * M_LN2_F;
}

float OVERLOADABLE native_log10(float x)
{
    return __nvvm_lg2_approx_ftz_f(x) * 0.301029995663981195f;
}

float OVERLOADABLE native_powr(float x, float y)
{
    return __nvvm_ex2_approx_ftz_f(y * __nvvm_lg2_approx_ftz_f(x));
}

float OVERLOADABLE native_sqrt(float x)
{
    return __nvvm_sqrt_approx_ftz_f(x);
}

float OVERLOADABLE native_rsqrt(float x)
{
    return __nvvm_rsqrt_approx_ftz_f(x);
}

float OVERLOADABLE native_recip(float x)
{
    return __nvvm_rcp_approx_ftz_f(x);
}

float OVERLOADABLE native_divide(float x, float y)
{
    return __nvvm_div_approx_ftz_f(x, y);
}

#define NAME native_sin
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_cos
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_tan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_exp2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_exp
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_exp10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_log2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_log
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_log10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_sqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_rsqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_recip
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME native_powr
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME native_divide
EACH_SIZE(SIZE_2, float)
#undef NAME

/* ---- half_… ---------------------------------------------------------------------------------------------------------
 */

#define HALF_1(NAME, NATIVE)              \
    float OVERLOADABLE half_##NAME(float x) \
    {                                     \
        return NATIVE;                    \
    }
HALF_1(exp, native_exp(x))
HALF_1(exp2, native_exp2(x))
HALF_1(exp10, native_exp10(x))
HALF_1(sqrt, native_sqrt(x))
HALF_1(rsqrt, native_rsqrt(x))
HALF_1(recip, native_recip(x))

/* Near 1 the approximation's error is constant, so these are a series there: log(1 + f). */
static float near_one(float f)
{
    return fma(f * f, fma(f, fma(f, -0.25f, 0.333333343f), -0.5f), f);
}

#define HALF_LOG(NAME, OF_E)                                                                  \
    float OVERLOADABLE half_##NAME(float x)                                                   \
    {                                                                                         \
        float f = x - 1;                                                                      \
                                                                                              \
        return fabs(f) < 0.0625f ? near_one(f) * OF_E : native_##NAME(x);                     \
    }
HALF_LOG(log, 1.0f)
HALF_LOG(log2, M_LOG2E_F)
HALF_LOG(log10, M_LOG10E_F)

float OVERLOADABLE half_divide(float x, float y)
{
    float q;

    __asm("div.full.ftz.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
    return q;
}

/* y may be large: the logarithm is an exact one. */
float OVERLOADABLE log2(float x);
float OVERLOADABLE half_powr(float x, float y)
{
    return native_exp2(y * log2(x));
}

/* Of angles up to 2^16: quarters of a turn are taken off, and near a zero the rest decides. Others are as good as 0,
 * so that results are a sine's or cosine's; infinite ones are no numbers. */
static float small_angle(float x, int *quarter)
{
    float n;

    x = fabs(x) > 65536.0f ? x - x : x;
    n = rint(x * M_2_PI_F);

    *quarter = (int)n;
    return fma(n, 4.37113883e-08f, fma(n, -1.57079637f, x));
}

static float small_sin(float r)
{
    float u = r * r;

    return fma(fma(u, 0.00833333191f, -0.166666672f) * u, r, r);
}

static float small_cos(float r)
{
    float u = r * r;

    return fma(fma(fma(u, -0.00138888881f, 0.0416666679f), u, -0.5f), u, 1.0f);
}

float OVERLOADABLE half_sin(float x)
{
    int quarter;
    float r = small_angle(x, &quarter), s = quarter & 1 ? small_cos(r) : small_sin(r);

    return quarter & 2 ? -s : s;
}

float OVERLOADABLE half_cos(float x)
{
    int quarter;
    float r = small_angle(x, &quarter), c = quarter & 1 ? small_sin(r) : small_cos(r);

    return (quarter + 1) & 2 ? -c : c;
}

float OVERLOADABLE half_tan(float x)
{
    int quarter;
    float r = small_angle(x, &quarter), s = small_sin(r), c = small_cos(r);

    return quarter & 1 ? half_divide(-c, s) : half_divide(s, c);
}

#define NAME half_exp
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_exp2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_exp10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_sqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_rsqrt
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_recip
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_log
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_log2
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_log10
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_sin
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_cos
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_tan
EACH_SIZE(SIZE_1, float)
#undef NAME
#define NAME half_divide
EACH_SIZE(SIZE_2, float)
#undef NAME
#define NAME half_powr
EACH_SIZE(SIZE_2, float)
#undef NAME
