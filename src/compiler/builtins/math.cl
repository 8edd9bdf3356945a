/*
 * Functions in which libclc is less exact than OpenCL C requires (16 ulp for both, OpenCL 3.0 C, 7.4): erfc of floats
 * was wrong for subnormal results, tgamma by hundreds of ulps.
 */
#include "common.h"

/* ---- The gamma function ------------------------------------------------------------------------------------------ */

/* Gamma reaches the largest double before 171.7, and is zero below -200. */
#define LARGEST  172.0
#define SMALLEST -200.0

/* Gamma(y) as a product of two factors, both finite even if the product isn't, for y >= 12, by Stirling's series
 * (Abramowitz and Stegun, 6.1.41). y^(y - 1/2) would overflow before the product does, so its root is used twice. */
static double2 stirling(double y)
{
    double r = 1 / y, q = r * r, root = pow(y, 0.5 * y - 0.25);
    double tail = q * (-1.0 / 360 + q * (1.0 / 1260 + q * (-1.0 / 1680 + q * (1.0 / 1188 + q * (-691.0 / 360360 + q / 156)))));

    return (double2)(root, root * exp(-y) * 2.5066282746310005024 * exp(r * (1.0 / 12 + tail)));
}

/* The relative growth of Gamma with y: the effect of an error in the argument. */
static double growth(double y)
{
    return log(y) - 0.5 / y;
}

/* For x > 0: shifted up to where the series is exact, and divided by the factors in between. The rounding error of the
 * shift is corrected. */
static double2 positive(double x)
{
    double between = 1, y = x;
    double2 gamma;

    if (x < 12) {
        double n = 12 - floor(x);

        for (double i = 0; i < n; i++)
            between *= x + i;
        y = x + n;
        x -= y - n;
    } else
        x = 0;
    gamma = stirling(y);
    gamma.y = gamma.y * (1 + x * growth(y)) / between;
    return gamma;
}

double OVERLOADABLE tgamma(double x)
{
    double2 gamma;

    if (isnan(x) || x > LARGEST)
        return x > LARGEST ? INFINITY : x;
    if (x == 0)
        return 1 / x;
    if (x > 0) {
        gamma = positive(x);
        return gamma.x * gamma.y;
    }
    if (x == floor(x))
        return NAN; /* -infinity, too */
    if (x < SMALLEST)
        return fmod(floor(x), 2) == 0 ? 0.0 : -0.0;
    if (x > -1e-300)
        return 1 / x;
    /* Gamma(x) = pi / (sin(pi x) Gamma(1 - x)) */
    double y = 1 - x, lost = (1 - y) - x;

    gamma = positive(y);
    gamma.y *= 1 + lost * growth(y);
    return 3.14159265358979323846 / (sinpi(x) * gamma.y) / gamma.x;
}

float OVERLOADABLE tgamma(float x)
{
    return (float)tgamma((double)x);
}

/* ---- The complementary error function ---------------------------------------------------------------------------- */

/* Otherwise hidden by ours. */
double OVERLOADABLE erfc(double x);

float OVERLOADABLE erfc(float x)
{
    return (float)erfc((double)x);
}

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

#define TGAMMA(I) tgamma(x.s##I)
#define ERFC(I)   erfc(x.s##I)
#define VECTOR_TGAMMA(T, N)                  \
    T OVERLOADABLE tgamma(T x)               \
    {                                        \
        return (T)(COMPONENTS_##N(TGAMMA));  \
    }
#define VECTOR_ERFC(T, N)                    \
    T OVERLOADABLE erfc(T x)                 \
    {                                        \
        return (T)(COMPONENTS_##N(ERFC));    \
    }
EACH_SIZE(VECTOR_TGAMMA, float)
EACH_SIZE(VECTOR_TGAMMA, double)
EACH_SIZE(VECTOR_ERFC, float)
