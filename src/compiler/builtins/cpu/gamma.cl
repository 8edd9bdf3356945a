/*
 * The gamma function of floats for the CPU, without branches, loops and calls: for x >= 1/2 it is
 * t^(x - 1/2) e^-t P(x) / Q(x), with t = x + 3.9 and polynomials P and Q (C. Lanczos: A precision approximation of the
 * gamma function, 1964), for others pi / (sin(pi x) gamma(1 - x)). Doubles with short series are as exact as a float
 * needs it.
 */
#include "polynomial.h"

#define MAGIC 6755399441055744.0 /* 1.5 * 2^52: what is added to it is rounded to an integer, in the lowest bits */
#define PI    3.141592653589793
#define LN2   0.6931471805599453
#define LOG2E 1.4426950408889634

/* log(x) for a normal x > 0, wrong by 1e-11: a power of two, and the area tangent's series. */
static double short_log(double x)
{
    long bits = as_long(x), e = (bits - 0x3fe6a09e667f3bcd) >> 52;
    double f = as_double(bits - (e << 52)) - 1, q = f / (f + 2), u = q * q;
    double p = of_4(u, u * u, (double4)(0.33333333276762681, 0.20000061316849406, 0.1427536542238591,
                                        0.11666456402203565));

    return fma((double)(int)e, LN2, 2 * fma(q * u, p, q));
}

/* e^x for |x| < 700, wrong by 1e-9 of it. */
static double short_exp(double x)
{
    double magic = fma(x, LOG2E, MAGIC), r = fma(-(magic - MAGIC), LN2, x), r2 = r * r;
    double p = fma(fma(0.00019890980869750326, r, 0.0013933641031986701), r2 * r2,
                   of_4(r, r2, (double4)(0.50000000134577272, 0.16666666681614256, 0.041666465006040049,
                                         0.0083333109344488685)));

    return fma(r2, p, r + 1) * as_double((as_long(magic) - as_long(MAGIC) + 1023) << 52);
}

/* sin(pi r) for |r| <= 1/2 */
static double short_sin(double r)
{
    double u = r * r, u2 = u * u;
    double p = fma(fma(-0.007028303855203096, u, 0.082050350201472475), u2 * u2,
                   of_4(u, u2, (double4)(3.141592653536132, -5.167712764593, 2.5501633179384269,
                                         -0.59925218653158298)));

    return r * p;
}

/* 16 ulps. From 60 on both results are beyond all floats, and a larger number would be beyond doubles, too. */
float OVERLOADABLE tgamma(float x)
{
    bool low = x < 0.5f;
    double y = low ? 1.0 - x : x, z = y > 60 ? 60 : y, t = z + 3.9, z2 = z * z;
    double power = short_exp(fma(z - 0.5, short_log(t), -t));
    double p = fma(2.5066282789806352, z2 * z2,
                   of_4(z, z2, (double4)(585.3721169637292, 599.03836531603041, 229.86592818636905,
                                         39.199488178704032)));
    double q = z * fma(z2, z + 6, fma(z, 11.0, 6.0));
    float n = rint(x), r = x - n, half_of_n = n * 0.5f;
    double sine = short_sin(r), s = rint(half_of_n) == half_of_n ? sine : -sine;
    float result = (float)((low ? PI * q : power * p) / (low ? s * power * p : q));

    result = x < 0 && r == 0 ? NAN : result;
    return x == 0 ? 1 / x : result;
}
