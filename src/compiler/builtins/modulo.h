/* Remainders whose quotient is small, for the CPU and for GPUs. QUOTIENT(X, Y): their quotient, wrong by 2 ulps at
 * most. */
#include "common.h"

#define NEAR 0x1p20f

/* x modulo y, both positive and finite, where the quotient is below NEAR; *quotient: it. The computed quotient is
 * enlarged, by so much that it is right or one too large; therefore the rest is exact. */
static inline float OVERLOADABLE near_modulo(float x, float y, uint *quotient)
{
    float q = trunc(QUOTIENT(x, y) * 1.00000048f), r = fma(-q, y, x);

    *quotient = (uint)q - (r < 0);
    return r < 0 ? r + y : r;
}
