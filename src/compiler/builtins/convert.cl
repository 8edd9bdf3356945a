/*
 * Conversions in which libclc is wrong: saturating ones from floating point (its limits are rounded, and it keeps NaN),
 * and those rounded in a direction near the end of the range. OpenCL C 3.0, 6.4.3.
 */
#include "common.h"

/* ---- Floating point to integers, saturated: NaN becomes 0 --------------------------------------------------------- */

/* Values are chosen, none is behind a branch: work-items in a vector need no masks. A comparison with NaN is false, so y
 * is LEAST for NaN. LEAST and END (one more than MAX) are exact in F. */
#define SATURATE(T, F, SUFFIX, ROUND, BELOW, LEAST, END, MAX)                                  \
    T OVERLOADABLE convert_##T##_sat##SUFFIX(F x)                                              \
    {                                                                                          \
        F rounded = ROUND(x), y = rounded > (F)LEAST ? rounded : (F)LEAST;                     \
        T saturated = BELOW(T, F, y, END, MAX);                                                \
                                                                                               \
        return LEAST == 0 || rounded == rounded ? saturated : (T)0;                            \
    }
/* The conversion itself rounds towards zero. */
#define AS_IT_IS(x) (x)
/* MAX is exact in F, too; or it isn't. */
#define BELOW_MAX(T, F, y, END, MAX) ((T)(y < (F)MAX ? y : (F)MAX))
#define BELOW_END(T, F, y, END, MAX) (y < (F)END ? (T)(y < (F)END ? y : (F)0) : MAX)
#define SATURATE_MODES(T, F, ...)                      \
    SATURATE(T, F, , AS_IT_IS, __VA_ARGS__)            \
    SATURATE(T, F, _rte, rint, __VA_ARGS__)            \
    SATURATE(T, F, _rtz, AS_IT_IS, __VA_ARGS__)        \
    SATURATE(T, F, _rtp, ceil, __VA_ARGS__)            \
    SATURATE(T, F, _rtn, floor, __VA_ARGS__)
#define SATURATE_ALL(F, BELOW_INT)                                                                \
    SATURATE_MODES(char, F, BELOW_MAX, -128, 128, CHAR_MAX)                                       \
    SATURATE_MODES(uchar, F, BELOW_MAX, 0, 256, UCHAR_MAX)                                        \
    SATURATE_MODES(short, F, BELOW_MAX, -32768, 32768, SHRT_MAX)                                  \
    SATURATE_MODES(ushort, F, BELOW_MAX, 0, 65536, USHRT_MAX)                                     \
    SATURATE_MODES(int, F, BELOW_INT, -2147483648.0, 2147483648.0, INT_MAX)                       \
    SATURATE_MODES(uint, F, BELOW_INT, 0, 4294967296.0, UINT_MAX)                                 \
    SATURATE_MODES(long, F, BELOW_END, -9223372036854775808.0, 9223372036854775808.0, LONG_MAX)   \
    SATURATE_MODES(ulong, F, BELOW_END, 0, 18446744073709551616.0, ULONG_MAX)
SATURATE_ALL(float, BELOW_END)
SATURATE_ALL(double, BELOW_MAX)

/* ---- Integers to floating point, rounded in a direction ----------------------------------------------------------- */

/* m rounded down, or up, to the number of bits that F has. */
#define MAGNITUDES(F, BITS)                                              \
    static inline F down_##F(ulong m)                                    \
    {                                                                    \
        ulong extra = max(64 - BITS - (int)clz(m), 0);                   \
                                                                         \
        return (F)(m >> extra << extra);                                 \
    }                                                                    \
    static inline F up_##F(ulong m)                                      \
    {                                                                    \
        ulong extra = max(64 - BITS - (int)clz(m), 0);                   \
        ulong kept = m >> extra;                                         \
                                                                         \
        kept += kept << extra != m;                                      \
        return (F)kept * (F)(1UL << extra);                              \
    }
MAGNITUDES(float, 24)
MAGNITUDES(double, 53)

#define DIRECTED(F, T)                                                                     \
    F OVERLOADABLE convert_##F##_rtz(T x)                                                  \
    {                                                                                      \
        return x < 0 ? -down_##F(-(ulong)x) : down_##F(x);                                 \
    }                                                                                      \
    F OVERLOADABLE convert_##F##_rtp(T x)                                                  \
    {                                                                                      \
        return x < 0 ? -down_##F(-(ulong)x) : up_##F(x);                                   \
    }                                                                                      \
    F OVERLOADABLE convert_##F##_rtn(T x)                                                  \
    {                                                                                      \
        return x < 0 ? -up_##F(-(ulong)x) : down_##F(x);                                   \
    }
DIRECTED(float, int)
DIRECTED(float, uint)
DIRECTED(float, long)
DIRECTED(float, ulong)
DIRECTED(double, long)
DIRECTED(double, ulong)

/* ---- Doubles to floats, rounded in a direction: the nearest, or its neighbour -------------------------------------- */

float OVERLOADABLE convert_float_rtz(double x)
{
    float nearest = (float)x;

    return fabs((double)nearest) > fabs(x) ? as_float(as_int(nearest) - 1) : nearest;
}

float OVERLOADABLE convert_float_rtp(double x)
{
    float nearest = (float)x;

    return (double)nearest < x ? as_float(as_int(nearest) + (as_int(nearest) < 0 ? -1 : 1)) : nearest;
}

float OVERLOADABLE convert_float_rtn(double x)
{
    float nearest = (float)x;

    return (double)nearest > x ? as_float(as_int(nearest) + (as_int(nearest) < 0 ? 1 : -1)) : nearest;
}

/* ---- Vectors ------------------------------------------------------------------------------------------------------ */

#define LIST_2(F)  F(x.s0), F(x.s1)
#define LIST_3(F)  LIST_2(F), F(x.s2)
#define LIST_4(F)  LIST_3(F), F(x.s3)
#define LIST_8(F)  LIST_4(F), F(x.s4), F(x.s5), F(x.s6), F(x.s7)
#define LIST_16(F) LIST_8(F), F(x.s8), F(x.s9), F(x.sa), F(x.sb), F(x.sc), F(x.sd), F(x.se), F(x.sf)
#define VECTOR(TO, FROM, NAME, N)                                   \
    TO##N OVERLOADABLE convert_##TO##N##NAME(FROM##N x)             \
    {                                                               \
        return (TO##N)(LIST_##N(convert_##TO##NAME));               \
    }
#define VECTORS(TO, FROM, NAME) \
    VECTOR(TO, FROM, NAME, 2) VECTOR(TO, FROM, NAME, 3) VECTOR(TO, FROM, NAME, 4) VECTOR(TO, FROM, NAME, 8) \
    VECTOR(TO, FROM, NAME, 16)
#define SATURATED(T)             \
    VECTORS(T, float, _sat)      \
    VECTORS(T, float, _sat_rte)  \
    VECTORS(T, float, _sat_rtz)  \
    VECTORS(T, float, _sat_rtp)  \
    VECTORS(T, float, _sat_rtn)  \
    VECTORS(T, double, _sat)     \
    VECTORS(T, double, _sat_rte) \
    VECTORS(T, double, _sat_rtz) \
    VECTORS(T, double, _sat_rtp) \
    VECTORS(T, double, _sat_rtn)
EACH_INTEGER(SATURATED)

#define DIRECTIONS(F, T)    \
    VECTORS(F, T, _rtz)     \
    VECTORS(F, T, _rtp)     \
    VECTORS(F, T, _rtn)
DIRECTIONS(float, int)
DIRECTIONS(float, uint)
DIRECTIONS(float, long)
DIRECTIONS(float, ulong)
DIRECTIONS(double, long)
DIRECTIONS(double, ulong)
DIRECTIONS(float, double)
