/*
 * convert_…() from and to halves (OpenCL C 3.0, 6.4.3, with cl_khr_fp16). From a half by way of the float that it is.
 * To a half by way of a float, too: where an integer is no float it is beyond all halves, and a double comes as in
 * half_conversions.h.
 */
#include "common.h"
#include "half_conversions.h"

/* ---- From halves ------------------------------------------------------------------------------------------------- */

#define FROM(T, N, HOW)                                \
    T##N OVERLOADABLE convert_##T##N##HOW(float##N x); \
    T##N OVERLOADABLE convert_##T##N##HOW(half##N x)   \
    {                                                  \
        return convert_##T##N##HOW(widen(x));          \
    }
#define EACH_WIDTH(DO, T, HOW) DO(T, , HOW) DO(T, 2, HOW) DO(T, 3, HOW) DO(T, 4, HOW) DO(T, 8, HOW) DO(T, 16, HOW)
#define EACH_MODE(DO, T, SAT) \
    DO(T, SAT) DO(T, SAT##_rte) DO(T, SAT##_rtz) DO(T, SAT##_rtp) DO(T, SAT##_rtn)
#define FROM_WIDTHS(T, HOW) EACH_WIDTH(FROM, T, HOW)
#define FROM_INTEGER(T)     EACH_MODE(FROM_WIDTHS, T, ) EACH_MODE(FROM_WIDTHS, T, _sat)
EACH_INTEGER(FROM_INTEGER)
EACH_MODE(FROM_WIDTHS, float, )
EACH_MODE(FROM_WIDTHS, double, )
#define ITSELF(T, N, HOW)                                \
    half##N OVERLOADABLE convert_half##N##HOW(half##N x) \
    {                                                    \
        return x;                                        \
    }
#define ITSELF_WIDTHS(T, HOW) EACH_WIDTH(ITSELF, T, HOW)
EACH_MODE(ITSELF_WIDTHS, half, )

/* ---- To halves --------------------------------------------------------------------------------------------------- */

/* The nearest one, or its neighbour. */
static inline half step_to(half nearest, bool steps, bool away)
{
    ushort bits = as_ushort(nearest);

    return steps ? as_half((ushort)(away ? bits + 1 : bits - 1)) : nearest;
}

static inline half to_half(float x)
{
    return (half)x;
}

#define to_half_rte to_half

static inline half to_half_rtz(float x)
{
    half nearest = (half)x;

    return step_to(nearest, fabs((float)nearest) > fabs(x), false);
}

/* Zero is stepped from to the least half of the other sign. */
static inline half to_half_rtp(float x)
{
    half nearest = (half)x;

    return step_to(nearest, (float)nearest < x, !signbit(x));
}

static inline half to_half_rtn(float x)
{
    return -to_half_rtp(-x);
}

#define as_it_is(x) (x)
#define TO(T, HOW, FLOAT)                    \
    half OVERLOADABLE convert_half##HOW(T x) \
    {                                        \
        return to_half##HOW(FLOAT(x));       \
    }                                        \
    TO_VECTOR(T, HOW, FLOAT, 2)              \
    TO_VECTOR(T, HOW, FLOAT, 3)              \
    TO_VECTOR(T, HOW, FLOAT, 4)              \
    TO_VECTOR(T, HOW, FLOAT, 8)              \
    TO_VECTOR(T, HOW, FLOAT, 16)
#define TO_VECTOR(T, HOW, FLOAT, N)                   \
    half##N OVERLOADABLE convert_half##N##HOW(T##N x) \
    {                                                 \
        half##N y;                                    \
                                                      \
        for (int i = 0; i < N; i++)                   \
            y[i] = to_half##HOW(FLOAT(x[i]));         \
        return y;                                     \
    }
#define TO_ALL(T, FLOAT) \
    TO(T, , FLOAT) TO(T, _rte, FLOAT) TO(T, _rtz, FLOAT) TO(T, _rtp, FLOAT) TO(T, _rtn, FLOAT)
#define TO_INTEGER(T) TO_ALL(T, (float))
EACH_INTEGER(TO_INTEGER)
TO_ALL(float, as_it_is)
TO_ALL(double, to_odd)
