/* Powers of two for the CPU, without branches and tables. */
#include "common.h"

/* Adding this rounds a number to an integer and leaves that, plus 254, in the lowest bits; NaN stays NaN. */
#define MAGIC 12583166.0f /* 1.5 * 2^23 + 254 */

/* e^r - 1 for |r| <= ln(2) / 2: r + r^2 p(r), fitted to 8e-9 as a whole. */
static inline float expm1_near(float r)
{
    float r2 = r * r,
          p = fma(fma(0.00139262508315f, r, 0.00836323288368f), r2, fma(0.041666554213f, r, 0.166665766661f));

    return fma(r2, fma(p, r, 0.5f), r);
}

/* e^r 2^n for |r| <= ln(2) / 2. n: in magic. The power is applied in two factors (254 is the sum of their exponents'
 * biases): a subnormal result is rounded at the second. */
static inline float exponential(float r, float magic)
{
    int first = (as_int(magic) << 22) & 0x7f800000, rest = (as_int(magic) << 23) - first;

    return (expm1_near(r) + 1.0f) * as_float(first) * as_float(rest);
}

/* Not clamp: NaN stays NaN, and it is one instruction. */
static inline float within(float x, float least, float most)
{
    float y = most < x ? most : x;

    return least > y ? least : y;
}
