/*
 * Polynomials whose parts don't wait for each other (G. Estrin: Organization of computer systems, 1960): a work-item's
 * loop mostly waits for one function's result before the next one begins. The coefficients begin with the lowest.
 */
#include "../common.h"

#define PARTS(T)                                                \
    static inline T OVERLOADABLE of_3(T x, T x2, T##3 c)        \
    {                                                           \
        return fma(c.s2, x2, fma(c.s1, x, c.s0));               \
    }                                                           \
    static inline T OVERLOADABLE of_4(T x, T x2, T##4 c)        \
    {                                                           \
        return fma(fma(c.s3, x, c.s2), x2, fma(c.s1, x, c.s0)); \
    }                                                           \
    static inline T OVERLOADABLE of_8(T x, T x2, T x4, T##8 c)  \
    {                                                           \
        return fma(of_4(x, x2, c.hi), x4, of_4(x, x2, c.lo));   \
    }
PARTS(float)
PARTS(double)
#undef PARTS
