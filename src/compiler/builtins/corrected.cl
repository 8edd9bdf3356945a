/*
 * Functions in which libclc, as built for GPUs, differs from OpenCL C 3.0, 7.4 and 7.5: it treats subnormal floats as
 * zero, and loses the signs of zeros. libclc's functions are called by their names with "clc." before.
 */
#include "common.h"

#define LIST_2(F, X)  F((X).s0), F((X).s1)
#define LIST_3(F, X)  LIST_2(F, X), F((X).s2)
#define LIST_4(F, X)  LIST_3(F, X), F((X).s3)
#define LIST_8(F, X)  LIST_4(F, X), F((X).s4), F((X).s5), F((X).s6), F((X).s7)
#define LIST_16(F, X) LIST_8(F, X), F((X).s8), F((X).s9), F((X).sa), F((X).sb), F((X).sc), F((X).sd), F((X).se), F((X).sf)

#define VECTOR_1(T, N, NAME)                     \
    T##N OVERLOADABLE NAME(T##N x)               \
    {                                            \
        return (T##N)(LIST_##N(NAME, x));        \
    }
#define VECTORS_1(T, NAME) \
    VECTOR_1(T, 2, NAME) VECTOR_1(T, 3, NAME) VECTOR_1(T, 4, NAME) VECTOR_1(T, 8, NAME) VECTOR_1(T, 16, NAME)

#define EACH_2(F, X, Y)  F((X).s0, (Y).s0), F((X).s1, (Y).s1)
#define EACH_3(F, X, Y)  EACH_2(F, X, Y), F((X).s2, (Y).s2)
#define EACH_4(F, X, Y)  EACH_3(F, X, Y), F((X).s3, (Y).s3)
#define EACH_8(F, X, Y)  EACH_4(F, X, Y), F((X).s4, (Y).s4), F((X).s5, (Y).s5), F((X).s6, (Y).s6), F((X).s7, (Y).s7)
#define EACH_16(F, X, Y)                                                                                            \
    EACH_8(F, X, Y), F((X).s8, (Y).s8), F((X).s9, (Y).s9), F((X).sa, (Y).sa), F((X).sb, (Y).sb), F((X).sc, (Y).sc), \
        F((X).sd, (Y).sd), F((X).se, (Y).se), F((X).sf, (Y).sf)

#define VECTOR_2(T, U, N, NAME)                  \
    T##N OVERLOADABLE NAME(T##N x, U##N y)       \
    {                                            \
        return (T##N)(EACH_##N(NAME, x, y));     \
    }
#define VECTORS_2(T, U, NAME) \
    VECTOR_2(T, U, 2, NAME) VECTOR_2(T, U, 3, NAME) VECTOR_2(T, U, 4, NAME) VECTOR_2(T, U, 8, NAME) VECTOR_2(T, U, 16, NAME)

/* ---- Signs of zeros ----------------------------------------------------------------------------------------------- */

#define KEEP_ZERO(NAME, MANGLED)              \
    double clc_##NAME(double x) __asm(MANGLED); \
    double OVERLOADABLE NAME(double x)        \
    {                                         \
        return x == 0 ? x : clc_##NAME(x);    \
    }                                         \
    VECTORS_1(double, NAME)
KEEP_ZERO(atan, "clc._Z4atand")
KEEP_ZERO(atanpi, "clc._Z6atanpid")
KEEP_ZERO(erf, "clc._Z3erfd")
KEEP_ZERO(expm1, "clc._Z5expm1d")
KEEP_ZERO(sin, "clc._Z3sind")
KEEP_ZERO(tan, "clc._Z3tand")

/* sinpi of an integer has the integer's sign, cospi of a half none, tanpi of an odd integer the opposite one. */
#define HALF_TURNS(T, LETTER)                                                        \
    T clc_sinpi_##T(T x) __asm("clc._Z5sinpi" LETTER);                               \
    T clc_cospi_##T(T x) __asm("clc._Z5cospi" LETTER);                               \
    T clc_tanpi_##T(T x) __asm("clc._Z5tanpi" LETTER);                               \
    T OVERLOADABLE sinpi(T x)                                                        \
    {                                                                                \
        T s = clc_sinpi_##T(x);                                                      \
                                                                                     \
        return s == 0 ? copysign(s, x) : s;                                          \
    }                                                                                \
    T OVERLOADABLE cospi(T x)                                                        \
    {                                                                                \
        return clc_cospi_##T(x) + (T)0;                                              \
    }                                                                                \
    T OVERLOADABLE tanpi(T x)                                                        \
    {                                                                                \
        T t = clc_tanpi_##T(x);                                                      \
        bool odd = x * (T)0.5 != floor(x * (T)0.5);                                  \
                                                                                     \
        return t == 0 ? copysign(t, odd ? -x : x) : t;                               \
    }                                                                                \
    VECTORS_1(T, sinpi) VECTORS_1(T, cospi) VECTORS_1(T, tanpi)
HALF_TURNS(float, "f")
HALF_TURNS(double, "d")

#define BELOW_ONE_float  0x1.fffffep-1f
#define BELOW_ONE_double 0x1.fffffffffffffp-1

#define FRACT_PART(T)                                                                           \
    static inline T fraction_##T(T x)                                                           \
    {                                                                                           \
        T f = fmin(x - floor(x), BELOW_ONE_##T);                                                \
                                                                                                \
        return isnan(x) ? x : isinf(x) || x == 0 ? copysign((T)0, x) : f;                       \
    }
FRACT_PART(float)
FRACT_PART(double)

#define FRACT(T, AS)                                        \
    T OVERLOADABLE fract(T x, AS T *whole)                  \
    {                                                       \
        *whole = floor(x);                                  \
        return fraction_##T(x);                             \
    }
#define FRACT_VECTOR(T, N, AS)                              \
    T##N OVERLOADABLE fract(T##N x, AS T##N *whole)         \
    {                                                       \
        *whole = floor(x);                                  \
        return (T##N)(LIST_##N(fraction_##T, x));           \
    }
#define FRACTS(T, AS)                                                                                   \
    FRACT(T, AS) FRACT_VECTOR(T, 2, AS) FRACT_VECTOR(T, 3, AS) FRACT_VECTOR(T, 4, AS) FRACT_VECTOR(T, 8, AS) \
    FRACT_VECTOR(T, 16, AS)
FRACTS(float, __global)
FRACTS(float, __local)
FRACTS(float, )
FRACTS(double, __global)
FRACTS(double, __local)
FRACTS(double, )

#define SINCOS(AS)                                          \
    double OVERLOADABLE sincos(double x, AS double *c)      \
    {                                                       \
        *c = cos(x);                                        \
        return sin(x);                                      \
    }
#define SINCOS_VECTOR(N, AS)                                \
    double##N OVERLOADABLE sincos(double##N x, AS double##N *c) \
    {                                                       \
        *c = cos(x);                                        \
        return sin(x);                                      \
    }
#define SINCOSES(AS) \
    SINCOS(AS) SINCOS_VECTOR(2, AS) SINCOS_VECTOR(3, AS) SINCOS_VECTOR(4, AS) SINCOS_VECTOR(8, AS) SINCOS_VECTOR(16, AS)
SINCOSES(__global)
SINCOSES(__local)
SINCOSES()

/* ---- Powers of two ------------------------------------------------------------------------------------------------ */

static inline double power(int n)
{
    return as_double((long)(n + 1023) << 52);
}

/* Computed exactly in double, so rounded once. */
float OVERLOADABLE ldexp(float x, int n)
{
    return (float)((double)x * power(clamp(n, -400, 400)));
}

/* In steps: only the last one loses bits of a subnormal result. */
double OVERLOADABLE ldexp(double x, int n)
{
    n = clamp(n, -2200, 2200);
    for (int i = 0; i < 2; i++) {
        int step = n > 1023 ? min(n - 1023, 1023) : n < -1022 ? max(n + 1022, -969) : 0;

        x *= power(step);
        n -= step;
    }
    return x * power(clamp(n, -1022, 1023));
}

VECTORS_2(float, int, ldexp)
VECTORS_2(double, int, ldexp)

#define LDEXP_SCALAR(T, N)                       \
    T##N OVERLOADABLE ldexp(T##N x, int n)       \
    {                                            \
        return ldexp(x, (int##N)n);              \
    }
#define LDEXP_SCALARS(T) LDEXP_SCALAR(T, 2) LDEXP_SCALAR(T, 3) LDEXP_SCALAR(T, 4) LDEXP_SCALAR(T, 8) LDEXP_SCALAR(T, 16)
LDEXP_SCALARS(float)
LDEXP_SCALARS(double)

/* ---- Exponentials ------------------------------------------------------------------------------------------------- */

#include "exponential.h"

float OVERLOADABLE exp(float x)
{
    float y = within(x, -104.0f, 89.0f); /* beyond, results are zero and infinity, too */
    float magic = fma(y, 1.44269504088896341f, MAGIC), n = magic - MAGIC;

    return exponential(fma(n, -1.42860682e-06f, fma(n, -0.693145752f, y)), magic);
}

float OVERLOADABLE exp2(float x)
{
    float y = within(x, -151.0f, 129.0f), magic = y + MAGIC;

    return exponential((y - (magic - MAGIC)) * 0.693147180559945309f, magic);
}

float OVERLOADABLE exp10(float x)
{
    float y = within(x, -46.0f, 39.0f), magic = fma(y, 3.32192809488736235f, MAGIC), n = magic - MAGIC;

    return exponential(fma(n, -4.60503898e-06f, fma(n, -0.301025391f, y)) * 2.30258509299404568f, magic);
}

VECTORS_1(float, exp)
VECTORS_1(float, exp2)
VECTORS_1(float, exp10)

/* ---- Neighbours --------------------------------------------------------------------------------------------------- */

float OVERLOADABLE nextafter(float x, float y)
{
    int bits = as_int(x);

    if (isnan(x) || isnan(y))
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return copysign(as_float(1), y);
    return as_float(bits + ((x < y) == (bits > 0) ? 1 : -1));
}

VECTORS_2(float, float, nextafter)

/* ---- Remainders --------------------------------------------------------------------------------------------------- */

#define QUOTIENT(X, Y) ((X) / (Y))
#include "modulo.h"

/* Of a positive number, from 1 on; less for a subnormal one. */
static inline int OVERLOADABLE exponent_of(float x)
{
    return x < FLT_MIN ? (int)(as_uint(x * 0x1p24f) >> 23) - 24 : (int)(as_uint(x) >> 23);
}

#define T           float
#define STEP        19
#define SCALE(Y, N) ldexp(Y, N)
#include "remainders.h"

VECTORS_2(float, float, fmod)
VECTORS_2(float, float, remainder)

#define REMQUO(AS)                                            \
    float OVERLOADABLE remquo(float x, float y, AS int *q)    \
    {                                                         \
        int bits;                                             \
        float r = nearest_remainder(x, y, &bits);             \
                                                              \
        *q = bits;                                            \
        return r;                                             \
    }
#define REMQUO_VECTOR(N, AS)                                               \
    float##N OVERLOADABLE remquo(float##N x, float##N y, AS int##N *q)     \
    {                                                                      \
        float rs[N];                                                       \
        int bits[N];                                                       \
        float xs[16], ys[16];                                              \
                                                                           \
        vstore##N(x, 0, xs);                                               \
        vstore##N(y, 0, ys);                                               \
        for (int i = 0; i < N; i++)                                        \
            rs[i] = nearest_remainder(xs[i], ys[i], &bits[i]);             \
        *q = vload##N(0, bits);                                            \
        return vload##N(0, rs);                                            \
    }
#define REMQUOS(AS) REMQUO(AS) REMQUO_VECTOR(2, AS) REMQUO_VECTOR(3, AS) REMQUO_VECTOR(4, AS) REMQUO_VECTOR(8, AS) REMQUO_VECTOR(16, AS)
REMQUOS(__global)
REMQUOS(__local)
REMQUOS()

/* ---- Roots -------------------------------------------------------------------------------------------------------- */

double OVERLOADABLE exp2(double x); /* otherwise hidden by ours */

float OVERLOADABLE rootn(float x, int n)
{
    float root = (float)exp2(log2(fabs((double)x)) / n);

    if (n == 0 || isnan(x) || (x < 0 && !(n & 1)))
        return NAN;
    return n & 1 ? copysign(root, x) : root;
}

VECTORS_2(float, int, rootn)

/* ---- The gamma function's logarithm ------------------------------------------------------------------------------- */

/* libclc's is infinite near zero, and minus infinity where Gamma has poles. */
#define LGAMMA(T, LETTER)                                                     \
    T clc_lgamma_##T(T x) __asm("clc._Z6lgamma" LETTER);                      \
    T OVERLOADABLE lgamma(T x)                                                \
    {                                                                         \
        if (isinf(x))                                                         \
            return INFINITY;                                                  \
        return fabs(x) < (T)0x1p-60f ? -log(fabs(x)) : clc_lgamma_##T(x);     \
    }                                                                         \
    /* Gamma's sign; 0 where it has none. */                                  \
    static inline int gamma_sign_##T(T x)                                     \
    {                                                                         \
        if (x == 0)                                                           \
            return signbit(x) ? -1 : 1;                                       \
        if (isnan(x) || (x < 0 && x == floor(x)))                             \
            return 0;                                                         \
        return x < 0 && floor(x) * (T)0.5 != floor(x * (T)0.5) ? -1 : 1;      \
    }                                                                         \
    VECTORS_1(T, lgamma)
LGAMMA(float, "f")
LGAMMA(double, "d")

#define LGAMMA_R(T, AS)                                                       \
    T OVERLOADABLE lgamma_r(T x, AS int *sign)                                \
    {                                                                         \
        *sign = gamma_sign_##T(x);                                            \
        return lgamma(x);                                                     \
    }
#define LGAMMA_R_VECTOR(T, N, AS)                                             \
    T##N OVERLOADABLE lgamma_r(T##N x, AS int##N *sign)                       \
    {                                                                         \
        *sign = (int##N)(LIST_##N(gamma_sign_##T, x));                        \
        return lgamma(x);                                                     \
    }
#define LGAMMA_RS(T, AS)                                                                                            \
    LGAMMA_R(T, AS) LGAMMA_R_VECTOR(T, 2, AS) LGAMMA_R_VECTOR(T, 3, AS) LGAMMA_R_VECTOR(T, 4, AS) LGAMMA_R_VECTOR(T, 8, AS) \
    LGAMMA_R_VECTOR(T, 16, AS)
LGAMMA_RS(float, __global)
LGAMMA_RS(float, __local)
LGAMMA_RS(float, )
LGAMMA_RS(double, __global)
LGAMMA_RS(double, __local)
LGAMMA_RS(double, )

/* ---- NaN
 * ---------------------------------------------------------------------------------------------------------- */

/* libclc's is infinity if the code is 0, and a signalling NaN if the code's highest bits are set. */
#define QUIET 0x7ff8000000000000UL

double OVERLOADABLE nan(ulong code)
{
    return as_double(code | QUIET);
}

#define NAN_VECTOR(N)                          \
    double##N OVERLOADABLE nan(ulong##N code)  \
    {                                          \
        return as_double##N(code | QUIET);     \
    }
NAN_VECTOR(2)
NAN_VECTOR(3)
NAN_VECTOR(4)
NAN_VECTOR(8)
NAN_VECTOR(16)
