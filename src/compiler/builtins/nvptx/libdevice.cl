/*
 * Functions by NVIDIA's libdevice, where Tesela is built with it (docs/dev/compiler.md). Its errors in ulps (CUDA C++
 * Programming Guide, Mathematical Functions) are within OpenCL C's (3.0, 7.4); so are its results for special numbers,
 * which are C's, but where this says something else. Not taken: what it has no better (atan2 of
 * floats), and powers of integers, which it multiplies one by one.
 */
#include "common.h"

#define FORWARD_1(T, NAME, THEIRS)        \
    T THEIRS(T x);                        \
    T OVERLOADABLE NAME(T x)              \
    {                                     \
        return THEIRS(x);                 \
    }
#define FORWARD_2(T, NAME, THEIRS)        \
    T THEIRS(T x, T y);                   \
    T OVERLOADABLE NAME(T x, T y)         \
    {                                     \
        return THEIRS(x, y);              \
    }
#define OF_FLOAT(NAME)    FORWARD_1(float, NAME, __nv_##NAME##f)
#define OF_DOUBLE(NAME)   FORWARD_1(double, NAME, __nv_##NAME)
#define OF_FLOAT_2(NAME)  FORWARD_2(float, NAME, __nv_##NAME##f)
#define OF_DOUBLE_2(NAME) FORWARD_2(double, NAME, __nv_##NAME)
#define OF_BOTH(NAME)     OF_FLOAT(NAME) OF_DOUBLE(NAME)
#define OF_BOTH_2(NAME)   OF_FLOAT_2(NAME) OF_DOUBLE_2(NAME)

/* ---- One by one ---------------------------------------------------------------------------------------------------- */

OF_BOTH(sin)
OF_BOTH(cos)
OF_BOTH(tan)
OF_BOTH(sinpi)
OF_BOTH(cospi)
OF_BOTH(asin)
OF_BOTH(acos)
OF_BOTH(atan)
OF_DOUBLE(sinh)
OF_BOTH(cosh)
OF_BOTH(tanh)
OF_BOTH(asinh)
OF_BOTH(acosh)
OF_BOTH(atanh)
OF_BOTH(exp)
OF_BOTH(exp2)
OF_BOTH(exp10)
OF_BOTH(expm1)
OF_BOTH(log)
OF_BOTH(log2)
OF_BOTH(log10)
OF_BOTH(log1p)
OF_BOTH(cbrt)
OF_BOTH(erf)
OF_BOTH(erfc)
OF_BOTH(tgamma)
OF_BOTH(lgamma)
OF_DOUBLE_2(atan2)
OF_BOTH_2(fdim)
OF_BOTH_2(fmod)
OF_BOTH_2(remainder)
OF_BOTH_2(pow)

/* Theirs is infinite where the result is the largest number. Of numbers that far apart it is the larger one. */
double __nv_hypot(double x, double y);
double OVERLOADABLE hypot(double x, double y)
{
    double length = __nv_hypot(x, y), most = fmax(fabs(x), fabs(y)), least = fmin(fabs(x), fabs(y));

    return length == INFINITY && most < INFINITY && least < most * 0x1p-27 ? most : length;
}

/* 4.5 ulps of 6. Zeros and infinities have the quotient's signs. */
double OVERLOADABLE tanpi(double x)
{
    return sinpi(x) / cospi(x);
}

/* ---- Two at once --------------------------------------------------------------------------------------------------- */

#define SINCOS(T, THEIRS, AS)                                        \
    T OVERLOADABLE sincos(T x, AS T *c)                              \
    {                                                                \
        T s, t;                                                      \
                                                                     \
        THEIRS(x, &s, &t);                                           \
        *c = t;                                                      \
        return s;                                                    \
    }
#define SINCOS_VECTOR(T, N, AS)                                      \
    T##N OVERLOADABLE sincos(T##N x, AS T##N *c)                     \
    {                                                                \
        T##N s, t;                                                   \
        T one;                                                       \
                                                                     \
        for (int i = 0; i < N; i++) {                                \
            s[i] = sincos(x[i], &one);                               \
            t[i] = one;                                              \
        }                                                            \
        *c = t;                                                      \
        return s;                                                    \
    }
#define SINCOSES(T, THEIRS, AS)                                                                            \
    SINCOS(T, THEIRS, AS)                                                                                  \
    SINCOS_VECTOR(T, 2, AS) SINCOS_VECTOR(T, 3, AS) SINCOS_VECTOR(T, 4, AS) SINCOS_VECTOR(T, 8, AS)         \
    SINCOS_VECTOR(T, 16, AS)
void __nv_sincosf(float x, float *s, float *c);
void __nv_sincos(double x, double *s, double *c);
SINCOSES(float, __nv_sincosf, )
SINCOSES(float, __nv_sincosf, __global)
SINCOSES(float, __nv_sincosf, __local)
SINCOSES(double, __nv_sincos, )
SINCOSES(double, __nv_sincos, __global)
SINCOSES(double, __nv_sincos, __local)

/* ---- Of vectors ---------------------------------------------------------------------------------------------------- */

#define NAME sin
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cos
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tan
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME sinpi
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cospi
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tanpi
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME asin
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME acos
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atan
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME sinh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cosh
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tanh
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME asinh
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME acosh
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atanh
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME exp
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME exp2
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME exp10
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME expm1
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log2
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log10
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log1p
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cbrt
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME erf
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME erfc
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tgamma
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME lgamma
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atan2
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME hypot
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME fdim
EACH_SIZE(SIZE_2, float)
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME fmod
EACH_SIZE(SIZE_2, float)
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME remainder
EACH_SIZE(SIZE_2, float)
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME pow
EACH_SIZE(SIZE_2, float)
EACH_SIZE(SIZE_2, double)
#undef NAME
