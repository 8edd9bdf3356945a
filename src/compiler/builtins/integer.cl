/*
 * mad_hi, ctz, abs_diff, and smoothstep with scalar edges; sub_sat of int and long, mad_sat of long, mad24 of int, in
 * which libclc takes 0 - INT_MIN and products with 0 for overflows, and wraps where it must not; mad_sat of int and uint
 * in 64 bits, for vectors of work-items.
 */
#include "common.h"

/* The sum wraps, for signed types, too. */
#define MAD_HI(T, U)                                 \
    T OVERLOADABLE mad_hi(T a, T b, T c)             \
    {                                                \
        return (T)((U)mul_hi(a, b) + (U)c);          \
    }
MAD_HI(char, uchar)
MAD_HI(uchar, uchar)
MAD_HI(short, ushort)
MAD_HI(ushort, ushort)
MAD_HI(int, uint)
MAD_HI(uint, uint)
MAD_HI(long, ulong)
MAD_HI(ulong, ulong)

#define MAD_HI_OF(I) mad_hi(a.s##I, b.s##I, c.s##I)
#define MAD_HI_SIZE(T, N)                            \
    T OVERLOADABLE mad_hi(T a, T b, T c)             \
    {                                                \
        return (T)(COMPONENTS_##N(MAD_HI_OF));       \
    }
#define MAD_HI_ALL(T) EACH_SIZE(MAD_HI_SIZE, T)
EACH_INTEGER(MAD_HI_ALL)

/* The number of zeros below the lowest one; for 0 the number of bits. */
#define CTZ(T, WIDE, COUNT)                                                     \
    T OVERLOADABLE ctz(T x)                                                     \
    {                                                                           \
        return x ? (T)COUNT((WIDE)x) : (T)(8 * sizeof(T));                      \
    }
CTZ(char, uint, __builtin_ctz)
CTZ(uchar, uint, __builtin_ctz)
CTZ(short, uint, __builtin_ctz)
CTZ(ushort, uint, __builtin_ctz)
CTZ(int, uint, __builtin_ctz)
CTZ(uint, uint, __builtin_ctz)
CTZ(long, ulong, __builtin_ctzl)
CTZ(ulong, ulong, __builtin_ctzl)

#define CTZ_OF(I) ctz(x.s##I)
#define CTZ_SIZE(T, N)                           \
    T OVERLOADABLE ctz(T x)                      \
    {                                            \
        return (T)(COMPONENTS_##N(CTZ_OF));      \
    }
#define CTZ_ALL(T) EACH_SIZE(CTZ_SIZE, T)
EACH_INTEGER(CTZ_ALL)

#define SMOOTHSTEP(T, N)                                             \
    T OVERLOADABLE smoothstep(double edge0, double edge1, T x)       \
    {                                                                \
        T t = clamp((x - edge0) / (edge1 - edge0), (T)0, (T)1);      \
                                                                     \
        return t * t * (3 - 2 * t);                                  \
    }
EACH_SIZE(SMOOTHSTEP, double)

/* The difference of two signed numbers may exceed their type's range. */
#define ABS_DIFF(T, U)                                         \
    U OVERLOADABLE abs_diff(T a, T b)                          \
    {                                                          \
        return a > b ? (U)((U)a - (U)b) : (U)((U)b - (U)a);    \
    }
ABS_DIFF(char, uchar)
ABS_DIFF(uchar, uchar)
ABS_DIFF(short, ushort)
ABS_DIFF(ushort, ushort)
ABS_DIFF(int, uint)
ABS_DIFF(uint, uint)
ABS_DIFF(long, ulong)
ABS_DIFF(ulong, ulong)

#define ABS_DIFF_OF(I) abs_diff(a.s##I, b.s##I)
#define ABS_DIFF_SIZE(T, U, N)                                 \
    U##N OVERLOADABLE abs_diff(T##N a, T##N b)                 \
    {                                                          \
        return (U##N)(COMPONENTS_##N(ABS_DIFF_OF));            \
    }
#define ABS_DIFF_ALL(T, U)   \
    ABS_DIFF_SIZE(T, U, 2)   \
    ABS_DIFF_SIZE(T, U, 3)   \
    ABS_DIFF_SIZE(T, U, 4)   \
    ABS_DIFF_SIZE(T, U, 8)   \
    ABS_DIFF_SIZE(T, U, 16)
ABS_DIFF_ALL(char, uchar)
ABS_DIFF_ALL(uchar, uchar)
ABS_DIFF_ALL(short, ushort)
ABS_DIFF_ALL(ushort, ushort)
ABS_DIFF_ALL(int, uint)
ABS_DIFF_ALL(uint, uint)
ABS_DIFF_ALL(long, ulong)
ABS_DIFF_ALL(ulong, ulong)

/* ---- Saturation ----------------------------------------------------------------------------------------------------
 */

/* The difference can only overflow if the signs differ, and then it has the wrong sign. */
#define SUB_SAT(T, U, LEAST, MOST)                             \
    T OVERLOADABLE sub_sat(T a, T b)                           \
    {                                                          \
        T d = (T)((U)a - (U)b);                                \
                                                               \
        return ((a ^ b) & (a ^ d)) < 0 ? a < 0 ? LEAST : MOST : d; \
    }
SUB_SAT(int, uint, INT_MIN, INT_MAX)
SUB_SAT(long, ulong, LONG_MIN, LONG_MAX)

/* Product and sum fit in 64 bits. */
int OVERLOADABLE mad_sat(int a, int b, int c)
{
    long sum = (long)a * b + c;

    return (int)(sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : sum);
}

uint OVERLOADABLE mad_sat(uint a, uint b, uint c)
{
    ulong sum = (ulong)a * b + c;

    return (uint)(sum > UINT_MAX ? UINT_MAX : sum);
}

/* Product and sum have 128 bits. */
long OVERLOADABLE mad_sat(long a, long b, long c)
{
    ulong low = (ulong)a * (ulong)b, sum = low + (ulong)c;
    long high = mul_hi(a, b) + (c >> 63) + (sum < low);

    if (high != (long)sum >> 63)
        return high < 0 ? LONG_MIN : LONG_MAX;
    return (long)sum;
}

int OVERLOADABLE mad24(int a, int b, int c)
{
    return (int)((uint)mul24(a, b) + (uint)c);
}

#define SUB_SAT_OF(I) sub_sat(a.s##I, b.s##I)
#define MAD_SAT_OF(I) mad_sat(a.s##I, b.s##I, c.s##I)
#define MAD24_OF(I)   mad24(a.s##I, b.s##I, c.s##I)
#define SUB_SAT_SIZE(T, N)                       \
    T OVERLOADABLE sub_sat(T a, T b)             \
    {                                            \
        return (T)(COMPONENTS_##N(SUB_SAT_OF));  \
    }
#define MAD_SAT_SIZE(T, N)                       \
    T OVERLOADABLE mad_sat(T a, T b, T c)        \
    {                                            \
        return (T)(COMPONENTS_##N(MAD_SAT_OF));  \
    }
#define MAD24_SIZE(T, N)                         \
    T OVERLOADABLE mad24(T a, T b, T c)          \
    {                                            \
        return (T)(COMPONENTS_##N(MAD24_OF));    \
    }
EACH_SIZE(SUB_SAT_SIZE, int)
EACH_SIZE(SUB_SAT_SIZE, long)
EACH_SIZE(MAD_SAT_SIZE, int)
EACH_SIZE(MAD_SAT_SIZE, uint)
EACH_SIZE(MAD_SAT_SIZE, long)
EACH_SIZE(MAD24_SIZE, int)
