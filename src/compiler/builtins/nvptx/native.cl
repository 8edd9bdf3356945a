/*
 * libclc's native functions end in LLVM operations that the back end for NVIDIA GPUs has no instructions for. These use
 * the hardware's approximations, as native_… is meant to.
 */
#include "common.h"

float OVERLOADABLE native_sin(float x)
{
    return __nvvm_sin_approx_f(x);
}

float OVERLOADABLE native_cos(float x)
{
    return __nvvm_cos_approx_f(x);
}

float OVERLOADABLE native_tan(float x)
{
    return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x));
}

float OVERLOADABLE native_exp2(float x)
{
    return __nvvm_ex2_approx_f(x);
}

float OVERLOADABLE native_exp(float x)
{
    return __nvvm_ex2_approx_f(x * M_LOG2E_F);
}

float OVERLOADABLE native_exp10(float x)
{
    return __nvvm_ex2_approx_f(x * 3.32192809488736235f);
}

float OVERLOADABLE native_log2(float x)
{
    return __nvvm_lg2_approx_f(x);
}

float OVERLOADABLE native_log(float x)
{
    return __nvvm_lg2_approx_f(x) * M_LN2_F;
}

float OVERLOADABLE native_log10(float x)
{
    return __nvvm_lg2_approx_f(x) * 0.301029995663981195f;
}

float OVERLOADABLE native_powr(float x, float y)
{
    return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x));
}

float OVERLOADABLE native_sqrt(float x)
{
    return __nvvm_sqrt_approx_f(x);
}

float OVERLOADABLE native_rsqrt(float x)
{
    return __nvvm_rsqrt_approx_f(x);
}

float OVERLOADABLE native_recip(float x)
{
    return __nvvm_rcp_approx_ftz_f(x);
}

float OVERLOADABLE native_divide(float x, float y)
{
    return __nvvm_div_approx_f(x, y);
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
