/* A float as a power of two and what is left. */
#ifndef SPLIT_H
#define SPLIT_H

#include "common.h"

/* Scales a subnormal number by 2^23, so that it becomes normal. */
static float enlarge(float x)
{
    return x < 1.17549435e-38f ? x * 8388608.0f : x;
}

/* Splits x > 0, finite, scaled to y, so that x = (1 + *f) * 2^e with 1 + *f between 2/3 and 4/3. Returns e. */
static float split(float x, float y, float *f)
{
    int e = (as_int(y) - 0x3f2aaaab) & 0xff800000;

    *f = as_float(as_int(y) - e) - 1;
    return fma((float)e, 1.1920929e-07f, x < 1.17549435e-38f ? -23.0f : 0.0f);
}

#endif
