/*
 * Powers of floats, for the CPU and for GPUs (16 ulps, as OpenCL C 3.0, 7.4, wants it of pow). Who includes this has
 * two_to(t, t_rest), which returns 2^(t + t_rest), and RECIPROCAL(X), wrong by an ulp at most.
 */
#include "split.h"

/* x^(y + y_rest) for x > 0, all finite: the logarithm is a sum of two floats, as y may be large. */
static float positive_power_2(float x, float y, float y_rest)
{
    float f, e = split(x, enlarge(x), &f), d = f + 2, d_rest = f - (d - 2), r = RECIPROCAL(d);
    float q = f * r, q_rest = (fma(-q, d, f) - q * d_rest) * r, u = q * q;
    float tail = fma(fma(fma(0.118836701f, u, 0.142658696f), u, 0.200001612f), u, 0.333333343f) * u * q;
    /* log2(1 + f) is 2 / ln 2 times the area tangent of f / (2 + f). Clang never contracts two statements to an fma. */
    float l = 2.88539004f * q;
    float more = fma(2.88539004f, q_rest + tail, 3.85192607e-08f * q);
    float log2_f = l + more;
    float log2_rest = more - (log2_f - l) + fma(2.88539004f, q, -l);
    float sum = e + log2_f;
    float rest = (e != 0 ? log2_f - (sum - e) : 0) + log2_rest;
    float t = y * sum;

    return two_to(t, fma(y, sum, -t) + fma(y, rest, y_rest * sum));
}
