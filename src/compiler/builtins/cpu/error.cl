/*
 * The error function and its complement for the CPU, without branches and tables: erfc(x) is e^(-x^2) times a slowly
 * falling function, of which one polynomial serves all x > 0 (M. M. Shepherd, J. G. Laframboise: Chebyshev
 * approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < infinity, 1981).
 */
#include "polynomial.h"

/* ---- Floats ------------------------------------------------------------------------------------------------------ */

/* erfc(x) for x >= 0. From 10.5 on it is zero. */
static float OVERLOADABLE erfc_of_size(float x)
{
    float a = x > 10.5f ? 10.5f : x; /* Not fmin: NaN stays NaN. */
    float t = (a - 3.75f) / (a + 3.75f), t2 = t * t, t4 = t2 * t2, square = a * a, e = exp(-square);
    float low = of_8(t, t2, t4,
                     (float8)(1.23751259f, -0.140240535f, 0.00358466478f, 0.0822731778f, -0.108790986f, 0.0923594013f,
                              -0.0587416887f, 0.0280368011f));
    float p = fma(of_3(t, t2, (float3)(-0.00990101695f, 0.00234430633f, 0.00110954198f)), t4 * t4, low);

    return fma(-e, fma(a, a, -square), e) * (p / fma(a, 2.0f, 1.0f));
}

float OVERLOADABLE erfc(float x)
{
    float y = erfc_of_size(fabs(x));

    return x < 0 ? 2 - y : y;
}

float OVERLOADABLE erf(float x)
{
    float u = x * x, u2 = u * u;
    float low = of_4(u, u2, (float4)(1.1283791f, -0.37612343f, 0.11280317f, -0.026715055f));
    float p = fma(fma(-0.0005648060f, u, 0.004921762f), u2 * u2, low);

    return fabs(x) < 1 ? x * p : copysign(1 - erfc_of_size(fabs(x)), x);
}

/* ---- Doubles ----------------------------------------------------------------------------------------------------- */

/* erfc(x) for x >= 0. From 28 on it is zero. */
static double OVERLOADABLE erfc_of_size(double x)
{
    double a = x > 28 ? 28 : x;
    double t = (a - 3.75) / (a + 3.75), t2 = t * t, t4 = t2 * t2, t8 = t4 * t4, square = a * a, e = exp(-square);
    double low = of_8(t, t2, t4,
                      (double8)(1.2375126308378277, -0.1402405985855468, 0.003585415485441065, 0.0822767384901176,
                                -0.10880393014052128, 0.09230432116170129, -0.05869339861461485, 0.028362277390876236));
    double middle = of_8(t, t2, t4,
                         (double8)(-0.009746579301163733, 0.0017556261681541919, 0.00029371216577631884,
                                   -0.0002901561417820751, 5.1654294132640184e-05, 2.2392480171688765e-05,
                                   -1.1454623558104036e-05, -9.939873859512483e-07));
    double high = fma(fma(5.73664112279627e-09, t, 3.124965129804122e-08), t4,
                      of_4(t, t2,
                           (double4)(1.7622756856288439e-06, -2.654328714012675e-08, -2.598999598812524e-07,
                                     -2.440963451252244e-09)));
    double p = fma(fma(high, t8, middle), t8, low);

    return fma(-e, fma(a, a, -square), e) * (p / fma(a, 2.0, 1.0));
}

double OVERLOADABLE erfc(double x)
{
    double y = erfc_of_size(fabs(x));

    return x < 0 ? 2 - y : y;
}

#define MAGIC 6755399441055744.0 /* 1.5 * 2^52: what is added to it is rounded to an integer, in the lowest bits */

/* e^-x for 0 <= x <= 700, wrong by 2e-15 of it. */
static double falling(double x)
{
    double magic = fma(x, -1.4426950408889634, MAGIC), n = magic - MAGIC;
    double r = fma(-n, 1.6465949582897082e-12, fma(-n, 0.6931471805582987, -x)), r2 = r * r, r4 = r2 * r2;
    double p = fma(2.7613795554519859e-7, r4 * r4, of_8(r, r2, r4, (double8)(0.5, 0.16666666666648303, 0.041666666666651367, 0.008333333353717157, 0.0013888888905871346, 0.00019841208756992321, 2.4801536409064086e-5, 2.7625102005388107e-6)));

    return fma(r2, p, r + 1) * as_double((as_long(magic) - as_long(MAGIC) + 1023) << 52);
}

/* erf(x) for x >= 1, which is 1 from 6 on: e^(-x^2) is less than 0.4 there, and counts for little. The rest of the
 * complement is a polynomial of 1 / (x + 3). */
static double far_erf(double x)
{
    double a = x > 6 ? 6 : x, w = 1 / (a + 3) - 0.18055555555555556, w2 = w * w, w4 = w2 * w2;
    double high = fma(-18869.516370631902, w4, of_4(w, w2, (double4)(-1024.4669458813659, 121.16991279666875, 4337.8172515277065, 1347.9203850838369)));
    double p = fma(high, w4 * w4, of_8(w, w2, w4, (double8)(0.20798329133342885, 2.2228009098391923, 10.305469638843884, 37.96125560736928, 106.60599386009237, 205.31981553945083, 174.43083466092552, -311.4236949584976)));

    return fma(-falling(a * a), p, 1.0);
}

double OVERLOADABLE erf(double x)
{
    double u = x * x, u2 = u * u, u4 = u2 * u2;
    double low =
        of_8(u, u2, u4,
             (double8)(1.1283791670955126, -0.37612638903183543, 0.11283791670945006, -0.02686617064323777,
                       0.0052239776071164225, -0.0008548325975389692, 0.00012055294904839707, -1.492473690741966e-05));
    double high = of_4(
        u, u2,
        (double4)(1.6447424703317362e-06, -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10));
    double p = fma(high, u4 * u4, low);

    return fabs(x) < 1 ? x * p : copysign(far_erf(fabs(x)), x);
}

/* ---- Of vectors -------------------------------------------------------------------------------------------------- */

#define NAME erf
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME erfc
EACH_SIZE(SIZE_1, float)
EACH_SIZE(SIZE_1, double)
#undef NAME
