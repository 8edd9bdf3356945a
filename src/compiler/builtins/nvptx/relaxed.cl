/*
 * What programs built with -cl-unsafe-math-optimizations or -cl-fast-relaxed-math get: the hardware's approximations, within
 * the errors of OpenCL C 3.0, 7.4 (table for these options), which are absolute ones for angles between -pi and pi and for
 * logarithms near 1. Others get what was there before this, by its name with "clc." before.
 */
#include "common.h"

/* compiler/builtins/builtins.h */
int relaxed(void) __asm("__tsl_relaxed");

#define RELAXED_1(NAME, MANGLED, FAST)       \
    float exact_##NAME(float x) __asm("clc." MANGLED); \
    float OVERLOADABLE NAME(float x)         \
    {                                        \
        return relaxed() ? FAST : exact_##NAME(x); \
    }
#define RELAXED_2(NAME, MANGLED, FAST)       \
    float exact_##NAME(float x, float y) __asm("clc." MANGLED); \
    float OVERLOADABLE NAME(float x, float y) \
    {                                        \
        return relaxed() ? FAST : exact_##NAME(x, y); \
    }
RELAXED_1(sin, "_Z3sinf", native_sin(x))
RELAXED_1(cos, "_Z3cosf", native_cos(x))
RELAXED_1(tan, "_Z3tanf", native_tan(x))
RELAXED_1(exp, "_Z3expf", native_exp(x))
RELAXED_1(exp2, "_Z4exp2f", native_exp2(x))
RELAXED_1(exp10, "_Z5exp10f", native_exp10(x))
RELAXED_1(log, "_Z3logf", native_log(x))
RELAXED_1(log2, "_Z4log2f", native_log2(x))
RELAXED_1(log10, "_Z5log10f", native_log10(x))
RELAXED_1(rsqrt, "_Z5rsqrtf", native_rsqrt(x))
RELAXED_2(powr, "_Z4powrff", native_powr(x, y))

/* exp2(y log2 |x|), with x's sign for odd numbers, and none for a negative x and no integer. */
static float relaxed_pow(float x, float y)
{
    float power = native_powr(fabs(x), y), of_two = y * 0.5f;
    bool is_integer = rint(y) == y, is_odd = is_integer && rint(of_two) != of_two;

    if (y == 0)
        return 1;
    return x < 0 && !is_integer ? NAN : is_odd ? copysign(power, x) : power;
}

RELAXED_2(pow, "_Z3powff", relaxed_pow(x, y))

#define SINCOS(AS, MANGLED)                                              \
    float exact_sincos_##AS(float x, AS float *c) __asm("clc." MANGLED); \
    float OVERLOADABLE sincos(float x, AS float *c)                      \
    {                                                                    \
        if (!relaxed())                                                  \
            return exact_sincos_##AS(x, c);                              \
        *c = native_cos(x);                                              \
        return native_sin(x);                                            \
    }
SINCOS(private, "_Z6sincosfPf")
SINCOS(global, "_Z6sincosfPU3AS1f")
SINCOS(local, "_Z6sincosfPU3AS3f")
