/*
 * mad_hi, ctz, and the smoothsteps of scalar edges.
 */
#include "common.h"

#define MAD_HI(T)                                \
    T OVERLOADABLE mad_hi(T a, T b, T c)         \
    {                                            \
        return mul_hi(a, b) + c;                 \
    }
#define MAD_HI_SIZE(T, N) MAD_HI(T)
#define MAD_HI_ALL(T)     MAD_HI(T) EACH_SIZE(MAD_HI_SIZE, T)
EACH_INTEGER(MAD_HI_ALL)

/* The number of zeros below the lowest one; of 0 the number of bits. */
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
