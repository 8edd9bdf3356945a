/*
 * Functions of doubles for the CPU. libclc's read tables and branch: a vector of work-items gathers, and takes all
 * branches. Here are range reduction (W. J. Cody, W. Waite: Software Manual for the Elementary Functions, 1980), a
 * polynomial (Chebyshev's, fitted) and selections for what is special. Where precision is short a number is the sum of
 * two, the second one named …rest (T. J. Dekker: A floating-point technique for extending the available precision,
 * 1971).
 */
#include "polynomial.h"

#define INF ((double)INFINITY)
#define NONE ((double)NAN)

#define PI_2       1.5707963267948966
#define PI_2_REST  6.123233995736766e-17
#define LN2        0.6931471805599453
#define LN2_REST   2.3190468138462996e-17
#define LN2_HIGH   0.6931471805582987 /* 38 bits: its product with an exponent is exact */
#define LN2_LOW    1.6465949582897082e-12
#define LOG2E      1.4426950408889634
#define LOG2E_REST 2.0355273740931033e-17

#define TWO_THIRDS      0.6666666666666666
#define TWO_THIRDS_REST 3.700743415417188e-17
#define SIGN            0x8000000000000000

/* ---- Powers of two ----------------------------------------------------------------------------------------------- */

/* Adding this rounds a number to an integer and leaves that in the lowest bits; NaN stays NaN. */
#define MAGIC 6755399441055744.0 /* 1.5 * 2^52 */

/* The integer that was rounded so. */
static long integer_of(double magic)
{
    return as_long(magic) - as_long(MAGIC);
}

static double two_to_integer(long n)
{
    return as_double((n + 1023) << 52);
}

/* y 2^n for |n| < 2000, in two factors: a subnormal result is rounded at the second. */
static double scaled(double y, long n)
{
    long first = n >> 1;

    return y * two_to_integer(first) * two_to_integer(n - first);
}

/* Not clamp: NaN stays NaN. */
static double within(double x, double least, double most)
{
    double y = most < x ? most : x;

    return least > y ? least : y;
}

/* ---- Exponentials ------------------------------------------------------------------------------------------------ */

/* e^(r + rest) - 1 for |r| <= ln(2) / 2 */
static double expm1_near(double r, double rest)
{
    double r2 = r * r, r4 = r2 * r2;
    double low = of_8(r, r2, r4, (double8)(0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326084,
                                           0.0013888888888883711, 0.0001984126987500228, 2.480158732567746e-05,
                                           2.755725517000089e-06));
    double high = of_3(r, r2, (double3)(2.755727347871858e-07, 2.5105312729622103e-08, 2.09147553258932e-09));
    double p = fma(high, r4 * r4, low);

    return r + fma(r2, p, rest);
}

static double exp_near(double r, double rest)
{
    return 1 + expm1_near(r, rest);
}

/* e^(x + rest) 2^more */
static double exp_sum(double x, double rest, long more)
{
    double y = within(x, -800, 800), magic = fma(y, LOG2E, MAGIC), n = magic - MAGIC;
    double r = fma(-n, LN2_HIGH, y), low = fma(-n, LN2_LOW, fabs(x) <= 800 ? rest : 0), sum = r + low;

    return scaled(exp_near(sum, (r - sum) + low), integer_of(magic) + more);
}

double OVERLOADABLE exp(double x)
{
    return exp_sum(x, 0, 0);
}

double OVERLOADABLE exp2(double x)
{
    double y = within(x, -1100, 1100), magic = y + MAGIC, r = y - (magic - MAGIC), product = r * LN2;

    return scaled(exp_near(product, fma(r, LN2, -product) + r * LN2_REST), integer_of(magic));
}

double OVERLOADABLE exp10(double x)
{
    double y = within(x, -400, 400), magic = fma(y, 3.321928094887362, MAGIC), n = magic - MAGIC;
    double r = fma(-n, 0.30102999566224753, y), low = -n * 1.7336659603752853e-12, sum = r + low;
    double product = sum * 2.302585092994046;

    low = (r - sum) + low;
    low = fma(low, 2.302585092994046, sum * -2.1707562233822494e-16);
    return scaled(exp_near(product, fma(sum, 2.302585092994046, -product) + low), integer_of(magic));
}

/* 2^n (e^r - 1) + 2^n - 1; half of it, since 2^1024 is too large. */
double OVERLOADABLE expm1(double x)
{
    double y = within(x, -60, 710), magic = fma(y, LOG2E, MAGIC), n = magic - MAGIC;
    double high = fma(-n, LN2_HIGH, y), low = -n * LN2_LOW, r = high + low;
    double half_power = two_to_integer(integer_of(magic) - 1);
    double half_of_it = fma(half_power, expm1_near(r, (high - r) + low), half_power - 0.5);

    return fabs(x) < 5e-17 ? x : 2 * half_of_it;
}

/* x + x^3 / 6 + … for |x| <= 1 */
static double sinh_near(double x)
{
    double u = x * x, u2 = u * u, u4 = u2 * u2;
    double p =
        of_8(u, u2, u4,
             (double8)(0.16666666666666666, 0.008333333333333333, 0.00019841269841269773, 2.755731922404034e-06,
                       2.505210836405804e-08, 1.6059048396350562e-10, 7.646625361656657e-13, 2.8445264169895285e-15));

    return fma(x * u, p, x);
}

double OVERLOADABLE sinh(double x)
{
    double e = exp_sum(fabs(x), 0, -1);

    return fabs(x) < 1 ? sinh_near(x) : copysign(e - 0.25 / e, x);
}

double OVERLOADABLE cosh(double x)
{
    double e = exp_sum(fabs(x), 0, -1);

    return e + 0.25 / e;
}

/* By e^(2 a) - 1, from which nothing is taken that the result needs (5 ulps). From 20 on it is 1. */
double OVERLOADABLE tanh(double x)
{
    double a = fabs(x), t = expm1(2 * (a > 20 ? 20 : a)); /* Not fmin: NaN stays NaN. */

    return copysign(t / (t + 2), x);
}

/* ---- Logarithms -------------------------------------------------------------------------------------------------- */

#define BIAS (0x1p52 + 1023)

/* Splits x > 0, normal, so that x = (1 + *f) * 2^(e - bias + BIAS) with 1 + *f between the roots of 1/2 and of 2. Returns
 * e: of infinity and NaN 1024 and more, of a negative number even more. */
static double split_normal(double x, double bias, double *f)
{
    ulong bits = as_ulong(x), e = bits + 0x00095f619980c433; /* from the root of 2 on one more */

    *f = as_double(bits - (e & 0xfff0000000000000) + 0x3ff0000000000000) - 1;
    return as_double(e >> 52 | 0x4330000000000000) - bias;
}

/* The same of any x > 0, x = (1 + *f) * 2^e. */
static double split_double(double x, double *f)
{
    bool small = x < 2.2250738585072014e-308;

    return split_normal(small ? x * 18014398509481984.0 : x, small ? BIAS + 54 : BIAS, f);
}

/* Returns q = f / (2 + f): log(1 + f) is twice its area tangent. 1 / (2 + f) is (1 - q) / 2. */
static double quotient_for_log(double f, double *twice_rest)
{
    double d = f + 2, q = f / d, left = fma(-q, f - (d - 2), fma(-q, d, f));

    *twice_rest = fma(-q, left, left);
    return q;
}

/* (2 atanh(q) - 2 q - 2/3 q^3) / q^5 with u = q^2 */
static double series_for_log(double u)
{
    double u2 = u * u, u4 = u2 * u2;
    double high = of_3(u, u2, (double3)(0.15386241881938594, 0.13268714792348096, 0.1308723619665962));

    return fma(high, u4, of_4(u, u2, (double4)(0.4000000000000088, 0.28571428570801954, 0.2222222239208901, 0.18181795600060666)));
}

/* e log(2) + near, e whole */
static double with_exponent(double e, double near, double *rest)
{
    double high = e * LN2_HIGH, sum = high + near;

    *rest = fma(e, LN2_LOW, near - (sum - high));
    return sum;
}

/* twice_rest and all of log(1 + f) but 2 q */
static double log_but_2q(double q, double twice_rest)
{
    double u = q * q;

    return fma(u * q, fma(u, series_for_log(u), TWO_THIRDS), twice_rest);
}

/* log(x) for x > 0, finite: only 2 q is wanted beyond a double. */
static double log_sum(double x, double *rest)
{
    double f, e = split_double(x, &f), twice_rest, q = quotient_for_log(f, &twice_rest), lost;
    double sum = with_exponent(e, 2 * q, &lost);

    *rest = log_but_2q(q, twice_rest + lost);
    return sum;
}

/* The same for powers, of (1 + f) 2^e. 16 ulps of a logarithm times up to 745 are 58.5 bits: 2 q's and 2/3 q^3's rests
 * count, and what q^2 lost, 1/102 of that, does not. *rest is below 1e-4. */
static double exact_log(double e, double f, double *rest)
{
    double more, lost, q = quotient_for_log(f, &more), u = q * q, cube = u * q, third = cube * TWO_THIRDS;
    double third_rest = fma(fma(u, q, -cube), TWO_THIRDS, fma(cube, TWO_THIRDS_REST, fma(cube, TWO_THIRDS, -third)));
    double sum = with_exponent(e, 2 * q, &lost), log_x = sum + third;

    lost += ((sum - log_x) + third) + (fma(more, u, more) + third_rest);
    *rest = fma(u * cube, series_for_log(u), lost);
    return log_x;
}

/* log_x for a number that has a logarithm; for others, the result that OpenCL C specifies. */
static double or_none(double log_x, double x)
{
    double y = x > 0 ? (x < INF ? log_x : x) : NONE;

    return x == 0 ? -INF : y;
}

double OVERLOADABLE log(double x)
{
    double rest, sum = log_sum(x, &rest);

    return or_none(sum + rest, x);
}

double OVERLOADABLE log2(double x)
{
    double f, e = split_double(x, &f), twice_rest, q = quotient_for_log(f, &twice_rest), near = 2 * q;
    double product = near * LOG2E, sum = e + product, lost = fma(near, LOG2E_REST, fma(near, LOG2E, -product));

    lost += product - (sum - e);
    return or_none(sum + fma(log_but_2q(q, twice_rest), LOG2E, lost), x);
}

double OVERLOADABLE log10(double x)
{
    double rest, sum = log_sum(x, &rest), product = sum * 0.4342944819032518;
    double lost = fma(sum, 1.098319650216765e-17, fma(sum, 0.4342944819032518, -product));

    return or_none(product + fma(rest, 0.4342944819032518, lost), x);
}

/* What x lost in y = 1 + x */
static double lost_in(double y, double x)
{
    double of_x = y - 1;

    return (1 - (y - of_x)) + (x - of_x);
}

/* log(y + lost), lost a small part of y */
static double log_of_sum(double y, double lost)
{
    double rest, sum = log_sum(y, &rest);

    return or_none(sum + (rest + lost / y), y);
}

double OVERLOADABLE log1p(double x)
{
    double y = 1 + x, log_y = log_of_sum(y, lost_in(y, x));

    return fabs(x) < 5e-17 || y == INF ? x : log_y;
}

/* log(1 + x), or log(2 a) for a beyond 1e9 */
static double log_near_or_far(double x, double a)
{
    bool far = a >= 1e9;
    double y = far ? a : 1 + x, log_y = log_of_sum(y, far ? 0 : lost_in(y, x));

    return log_y + (far ? LN2 : 0);
}

double OVERLOADABLE asinh(double x)
{
    double a = fabs(x), t = a + a * a / (1 + sqrt(fma(a, a, 1.0))), log_a = log_near_or_far(t, a);

    return copysign(a < 5e-17 || isnan(x) ? a : log_a, x);
}

double OVERLOADABLE acosh(double x)
{
    double t = x - 1, y = t + sqrt(t * (t + 2)), log_x = log_near_or_far(y, x);

    return x < 1 ? NONE : y < 5e-17 ? y : log_x;
}

double OVERLOADABLE atanh(double x)
{
    double a = fabs(x);

    return copysign(0.5 * log1p(2 * a / (1 - a)), x);
}

/* ---- Powers ------------------------------------------------------------------------------------------------------ */

/* |x|^(y + y_rest), y finite and not zero. */
static double power_of_size(double x, double y, double y_rest)
{
    double size = fabs(x), f, e = split_double(size, &f), low, log_x = exact_log(e, f, &low), sum = log_x + low;
    double rest = (log_x - sum) + low, t = y * sum;
    double power = exp_sum(t, fma(y, sum, -t) + fma(y, rest, y_rest * sum), 0);

    return size > 0 && size < INF ? power : (size == 0) == (y > 0) ? 0 : INF;
}

#define T          double
#define REST(N, Y) 0
#include "powers.h"
#undef T

/* e^(t + y rest + lost) for |t| < 707, with which the power of two stays normal. y rest is below 1/8 in size; so little
 * waits for the rest. */
static double exp_usual(double t, double y, double rest, double lost)
{
    double magic = fma(t, LOG2E, MAGIC), n = magic - MAGIC, near = fma(-n, LN2_HIGH, t) + fma(-n, LN2_LOW, lost);
    double r = fma(y, rest, near), r2 = r * r, r4 = r2 * r2;
    double low = of_8(r, r2, r4, (double8)(0.5, 0.16666666666666768, 0.041666666666666739, 0.0083333333332436625,
                                           0.0013888888888824862, 0.0001984127006380158, 2.4801587460483666e-05,
                                           2.7557093848885167e-06));
    double high = of_3(r, r2, (double3)(2.7557158291760697e-07, 2.5151937302685336e-08, 2.0948046594683113e-09));
    double p = fma(high, r4 * r4, low);

    return as_double(as_long(fma(p, r2, 1 + r)) + (as_long(magic) << 52));
}

/* x^y for x > 0 where nothing is special; elsewhere *is_usual becomes false. */
static double usual_power(double x, double y, bool *is_usual)
{
    double f, e = split_normal(x, BIAS, &f), rest, log_x = exact_log(e, f, &rest), t = y * log_x;

    *is_usual = fabs(e) < 1021.5 && fabs(t) < 707;
    return exp_usual(t, y, rest, fma(y, log_x, -t));
}

/* The power of a negative number by that of its size, both finite. */
static double of_negative(double power, double y)
{
    double half_of_y = 0.5 * y;
    bool is_whole = trunc(y) == y, is_odd = is_whole && trunc(half_of_y) != half_of_y;

    return is_whole ? (is_odd ? -power : power) : NONE;
}

/* No power is this number, a signalling NaN, but no compiler knows: a loop until a result is another one is not made
 * a condition, so that work-items skip it together. Nobody goes round twice. */
#define IS_NEVER(POWER) (as_ulong(POWER) == 0x7ff0000017000000)

double OVERLOADABLE pow(double x, double y)
{
    bool is_usual;
    double power = usual_power(fabs(x), y, &is_usual);
    bool is_negative = as_long(x) < 0 && is_usual;

    for (bool again = !is_usual; again; again = IS_NEVER(power))
        power = any_pow(x, y);
    for (bool again = is_negative; again; again = IS_NEVER(power))
        power = of_negative(power, y);
    return power;
}

double OVERLOADABLE powr(double x, double y)
{
    bool is_usual;
    double power = usual_power(x, y, &is_usual);

    for (bool again = !is_usual; again; again = IS_NEVER(power))
        power = any_powr(x, y);
    return power;
}

/* ---- Remainders -------------------------------------------------------------------------------------------------- */

/* As for floats (../modulo.h): the quotient is right or one too large. */
static double OVERLOADABLE near_modulo(double x, double y, uint *quotient)
{
    double q = trunc(x / y * 1.0000000000000007), r = fma(-q, y, x);

    *quotient = (uint)(long)q - (r < 0);
    return r < 0 ? r + y : r;
}

/* Of a positive number, from 1 on; less for a subnormal one. */
static int OVERLOADABLE exponent_of(double x)
{
    bool small = x < 2.2250738585072014e-308;

    return (int)(as_long(small ? x * 18014398509481984.0 : x) >> 52) - (small ? 54 : 0);
}

#define T           double
#define NEAR        0x1p50
#define STEP        49
#define SCALE(Y, N) scaled(scaled(Y, (N) / 2), (N) - (N) / 2)
#include "../remainders.h"

/* ---- Angles ------------------------------------------------------------------------------------------------------ */

/* Libclc's, for large numbers. They stay calls (compiler/support/llvm.h), which only work-items make that need them. */
#define FAR_AWAY(NAME, MANGLED)                 \
    double clc_##NAME(double x) __asm(MANGLED); \
    double __tsl_called_far_##NAME(double x)    \
    {                                           \
        return clc_##NAME(x);                   \
    }
FAR_AWAY(sin, "clc._Z3sind")
FAR_AWAY(cos, "clc._Z3cosd")
FAR_AWAY(tan, "clc._Z3tand")
#define FAR 1e6

/* Returns the rest of x >= 0, up to FAR, after *quarter quarter turns. Pi / 2 is in pieces of 33 bits, of which the
 * products with less than 2^20 are exact. */
static double reduce_double(double x, double *rest, uint *quarter)
{
    double magic = fma(x, 0.6366197723675814, MAGIC), n = magic - MAGIC;
    double a = fma(-n, 1.5707963267341256, x), b = n * 6.077100506303966e-11;
    double first = a - b, lost = (a - first) - b;
    double c = n * 2.0222662487111665e-21, r = first - c;

    *rest = ((first - r) - c) + fma(-n, 8.4784276603689e-32, lost);
    *quarter = (uint)as_ulong(magic);
    return r;
}

static double sin_near_double(double r, double rest)
{
    double u = r * r, u2 = u * u, u4 = u2 * u2;
    double p =
        fma(of_3(u, u2, (double3)(-2.50521062259944e-08, 1.6058530596645953e-10, -7.586636882825159e-13)), u4,
            of_4(u, u2,
                 (double4)(-0.16666666666666666, 0.008333333333333331, -0.0001984126984126504, 2.755731921932058e-06)));

    return r + fma(r * u, p, fma(rest * u, -0.5, rest));
}

static double cos_near_double(double r, double rest)
{
    double u = r * r, half_u = 0.5 * u, one = 1 - half_u;
    double u2 = u * u, u4 = u2 * u2;
    double p = fma(
        of_3(u, u2, (double3)(2.0876755787492604e-09, -1.1470460319209502e-11, 4.7458384125304794e-14)), u4,
        of_4(u, u2,
             (double4)(0.041666666666666664, -0.0013888888888888887, 2.4801587301584632e-05, -2.755731922139249e-07)));

    return one + (((1 - one) - half_u) + fma(u * u, p, -r * rest));
}

/* The sign by the bit of value 2. */
static double turned_double(double value, uint quarter)
{
    return as_double(as_ulong(value) ^ ((ulong)(quarter & 2) << 62));
}

/* The value with the other sign where x is negative. */
static double with_sign(double value, double x)
{
    return as_double(as_ulong(value) ^ (as_ulong(x) & SIGN));
}

double OVERLOADABLE sin(double x)
{
    uint quarter;
    double rest, r = reduce_double(fabs(x), &rest, &quarter);
    double s = sin_near_double(r, rest), c = cos_near_double(r, rest);
    double result = with_sign(turned_double(quarter & 1 ? c : s, quarter), x);

    if (!(fabs(x) < FAR))
        result = __tsl_called_far_sin(x);
    return result;
}

double OVERLOADABLE cos(double x)
{
    uint quarter;
    double rest, r = reduce_double(fabs(x), &rest, &quarter);
    double s = sin_near_double(r, rest), c = cos_near_double(r, rest);
    double result = turned_double(quarter & 1 ? s : c, quarter + 1);

    if (!(fabs(x) < FAR))
        result = __tsl_called_far_cos(x);
    return result;
}

double OVERLOADABLE tan(double x)
{
    uint quarter;
    double rest, r = reduce_double(fabs(x), &rest, &quarter);
    double s = sin_near_double(r, rest), c = cos_near_double(r, rest);
    double t = (quarter & 1 ? -c : s) / (quarter & 1 ? s : c);
    double result = with_sign(t, x);

    if (!(fabs(x) < FAR))
        result = __tsl_called_far_tan(x);
    return result;
}

/* sin(pi w) for |w| <= 1/2 */
static double sin_of_half_turns(double w)
{
    double u = w * w, u2 = u * u;
    double p = of_8(u, u2, u2 * u2,
                    (double8)(-5.16771278004997, 2.5501640398773401, -0.59926452932034303, 0.082145886596752322,
                              -0.0073704307196345865, 0.00046630087411496363, -2.1906201655131958e-05,
                              7.7257430307898759e-07));

    return fma(w, 2 * PI_2, w * fma(u, p, 2 * PI_2_REST));
}

#define T double
#include "half_turns.h"
#undef T

/* In half turns (6 ulps). What is left of whole ones is exact, and what is nearer to a quarter counts from there. */
double OVERLOADABLE tanpi(double x)
{
    double n = rint(x), r = x - n, size = fabs(r), half_of_n = 0.5 * n;
    bool far = size > 0.25;
    double q = far ? 0.5 - size : size, u = q * (2 * PI_2), rest = fma(q, 2 * PI_2, -u) + q * (2 * PI_2_REST);
    double s = sin_near_double(u, rest), c = cos_near_double(u, rest), t = (far ? c : s) / (far ? s : c);

    return r == 0 ? copysign(0.0, rint(half_of_n) == half_of_n ? x : -x) : copysign(t, r);
}

/* ---- Arcs -------------------------------------------------------------------------------------------------------- */

/* The arc tangent of q, 0 to 1: as it is, or from a quarter of pi. */
static double atan_near(double q)
{
    bool is_far = q > 0.41421356237309503;
    double z = (is_far ? q - 1 : q) / (is_far ? q + 1 : 1), u = z * z;
    double u2 = u * u, u4 = u2 * u2;
    double p = fma(
        fma(-0.01390121526306211, u4,
            of_4(u, u2,
                 (double4)(-0.05258013368524368, 0.04719215148004013, -0.041037097686679805, 0.030618880862882124))),
        u4 * u4,
        of_8(u, u2, u4,
             (double8)(-0.3333333333333333, 0.19999999999999993, -0.14285714285711482, 0.11111111110750424,
                       -0.09090909066753007, 0.07692306726982753, -0.06666641820103902, 0.05881922342871234)));

    return (is_far ? 0.7853981633974483 : 0) + (z + fma(z * u, p, is_far ? 3.061616997868383e-17 : 0));
}

double OVERLOADABLE atan(double x)
{
    double a = fabs(x), t = atan_near(a > 1 ? 1 / a : a);

    return copysign(a > 1 ? PI_2 - (t - PI_2_REST) : t, x);
}

/* The angle of (x, y), both not NaN, without y's sign. */
static double angle(double y, double x)
{
    double a = fabs(x), b = fabs(y), least = fmin(a, b), most = fmax(a, b);
    double q = most == 0 ? 0 : least == INF ? 1 : least / most, t = atan_near(q);

    t = b > a ? PI_2 - (t - PI_2_REST) : t;
    return as_long(x) < 0 ? 2 * PI_2 - (t - 2 * PI_2_REST) : t;
}

double OVERLOADABLE atan2(double y, double x)
{
    return isnan(x) || isnan(y) ? x + y : copysign(angle(y, x), y);
}

/* The arc sine of x, |x| <= 1/2. */
static double asin_near(double x)
{
    double u = x * x, u2 = u * u, u4 = u2 * u2;
    double p = fma(
        fma(fma(0.02965806130390572, u, -0.019313465666024366), u4,
            of_4(u, u2,
                 (double4)(0.009620961262630293, 0.009324648476317875, 0.0030251140174674947, 0.01960393110799315))),
        u4 * u4,
        of_8(u, u2, u4,
             (double8)(0.16666666666666666, 0.07500000000000119, 0.04464285714254847, 0.030381944475855856,
                       0.022372157427705222, 0.017352816997695017, 0.013963771548009896, 0.011566564202171593)));

    return fma(x * u, p, x);
}

double OVERLOADABLE asin(double x)
{
    double a = fabs(x), t = asin_near(a > 0.5 ? sqrt(0.5 - 0.5 * a) : a);

    return copysign(a > 0.5 ? PI_2 - (2 * t - PI_2_REST) : t, x);
}

double OVERLOADABLE acos(double x)
{
    double a = fabs(x), t = asin_near(a > 0.5 ? sqrt(0.5 - 0.5 * a) : x);
    double large = x > 0 ? 2 * t : 2 * PI_2 - (2 * t - 2 * PI_2_REST);

    return a > 0.5 ? large : PI_2 - (t - PI_2_REST);
}

/* An angle in half turns. */
static double turns(double angle)
{
    return copysign(fma(angle, 0.3183098861837907, angle * -1.9678676675182486e-17), angle);
}

double OVERLOADABLE asinpi(double x)
{
    return turns(asin(x));
}

double OVERLOADABLE acospi(double x)
{
    return turns(acos(x));
}

double OVERLOADABLE atanpi(double x)
{
    return turns(atan(x));
}

double OVERLOADABLE atan2pi(double y, double x)
{
    return turns(atan2(y, x));
}

/* ---- Signs and exponents ----------------------------------------------------------------------------------------- */

double OVERLOADABLE sign(double x)
{
    double one = fabs(x) > 0 ? copysign(1.0, x) : x;

    return isnan(x) ? 0 : one;
}

/* Of a subnormal number after a product that makes it normal. */
int OVERLOADABLE ilogb(double x)
{
    double size = fabs(x);
    bool small = size < 0x1p-1022;
    int e = (int)(as_ulong(small ? size * 0x1p54 : size) >> 52) - (small ? 1023 + 54 : 1023);

    return size == 0 ? FP_ILOGB0 : size < INF ? e : FP_ILOGBNAN; /* of infinity, too */
}

/* ---- Roots ------------------------------------------------------------------------------------------------------- */

/* 1 / cbrt(a) for a that is normal: a third of the exponent gives it to 4 %, which a polynomial and its series make
 * exact. Nothing divides. */
static double reciprocal_cbrt(double a)
{
    double y = as_double((ulong)(0x553ee94a - (uint)(as_ulong(a) >> 32) / 3) << 32), e = fma(-a * y, y * y, 1.0);
    double p = fma(0.14522076524658747, e, 0.17417551640865767);

    p = fma(p, e, 0.22222064321411542);
    p = fma(p, e, 0.33333155742527915);
    y = fma(y * e, p, y);
    e = fma(-a * y, y * y, 1.0);
    return fma(y * e, fma(e, 0.2222222222222222, 0.3333333333333333), y);
}

/* The last step takes what the root's cube lacks. */
double OVERLOADABLE cbrt(double x)
{
    double size = fabs(x);
    bool small = size < 2.2250738585072014e-308;
    double a = small ? size * 18014398509481984.0 : size, y = reciprocal_cbrt(a), r = a * y * y, square = r * r;
    double lack = fma(-square, r, a) - fma(r, r, -square) * r, root = fma(lack * (y * y), 0.3333333333333333, r);

    return size > 0 && size < INF ? copysign(small ? root * 3.814697265625e-06 : root, x) : x;
}

/* Root and quotient may be wrong by 2 ulps (compiler/builtins/builtins.c), so the compiler may use an estimate
 * (compiler/cpu/estimated_roots.h). */
double OVERLOADABLE rsqrt(double x)
{
    return 1 / __builtin_sqrt(x);
}

/* ---- Of vectors -------------------------------------------------------------------------------------------------- */

#define ILOGB(I) ilogb(x.s##I)
#define ILOGB_SIZE(T, N)                        \
    int##N OVERLOADABLE ilogb(T x)              \
    {                                           \
        return (int##N)(COMPONENTS_##N(ILOGB)); \
    }
EACH_SIZE(ILOGB_SIZE, double)
#define NAME sign
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cbrt
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME rsqrt
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tanh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tanpi
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME exp
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME exp2
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME exp10
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME expm1
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME sinh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cosh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log2
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log10
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME log1p
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME asinh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME acosh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atanh
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME sin
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME cos
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME tan
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atan
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME asin
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME acos
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME asinpi
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME acospi
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atanpi
EACH_SIZE(SIZE_1, double)
#undef NAME
#define NAME atan2
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME atan2pi
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME fmod
EACH_SIZE(SIZE_2, double)
#undef NAME
#define NAME remainder
EACH_SIZE(SIZE_2, double)
#undef NAME
