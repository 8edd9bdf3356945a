/*
 * Functions of halves (cl_khr_fp16): by those of floats, which are exact enough that the result, rounded once more, is
 * as exact as OpenCL C 3.0 extensions, 21.4 asks, and where that asks for the right one, is the right one. libclc has
 * none of them for these targets.
 */
#include "common.h"
#include "half_conversions.h"

/* DO(N, …) for each width. Clang doesn't find its own overloads of a name for which there is another one, so each
 * name is declared for floats first. */
#define EACH_WIDTH(DO, ...) \
    DO(, __VA_ARGS__) DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) DO(4, __VA_ARGS__) DO(8, __VA_ARGS__) DO(16, __VA_ARGS__)
#define EACH_VECTOR(DO, ...) \
    DO(2, __VA_ARGS__) DO(3, __VA_ARGS__) DO(4, __VA_ARGS__) DO(8, __VA_ARGS__) DO(16, __VA_ARGS__)
#define EACH_SPACE(DO, ...) \
    EACH_WIDTH(DO, private, __VA_ARGS__) EACH_WIDTH(DO, local, __VA_ARGS__) EACH_WIDTH(DO, global, __VA_ARGS__)

/* ---- Math -------------------------------------------------------------------------------------------------------- */

#define UNARY(N, F)                      \
    float##N OVERLOADABLE F(float##N x); \
    half##N OVERLOADABLE F(half##N x)    \
    {                                    \
        return narrow(F(widen(x)));      \
    }
#define BINARY(N, F)                                 \
    float##N OVERLOADABLE F(float##N x, float##N y); \
    half##N OVERLOADABLE F(half##N x, half##N y)     \
    {                                                \
        return narrow(F(widen(x), widen(y)));        \
    }
#define EACH_UNARY(DO)                                                                                             \
    DO(acos) DO(acosh) DO(acospi) DO(asin) DO(asinh) DO(asinpi) DO(atan) DO(atanh) DO(atanpi) DO(cbrt) DO(ceil)    \
    DO(cos) DO(cosh) DO(cospi) DO(erf) DO(erfc) DO(exp) DO(exp2) DO(exp10) DO(expm1) DO(floor) DO(lgamma) DO(log)  \
    DO(log2) DO(log10) DO(log1p) DO(logb) DO(rint) DO(round) DO(rsqrt) DO(sin) DO(sinh) DO(sinpi) DO(sqrt) DO(tan) \
    DO(tanh) DO(tanpi) DO(tgamma) DO(trunc) DO(degrees) DO(radians)
#define EACH_BINARY(DO)                                                                                        \
    DO(atan2) DO(atan2pi) DO(fdim) DO(fmax) DO(fmin) DO(fmod) DO(hypot) DO(maxmag) DO(minmag) DO(pow) DO(powr) \
    DO(remainder)
#define UNARY_OF_ALL(F)  EACH_WIDTH(UNARY, F)
#define BINARY_OF_ALL(F) EACH_WIDTH(BINARY, F)
EACH_UNARY(UNARY_OF_ALL)
EACH_BINARY(BINARY_OF_ALL)

/* A number on the right. */
#define WITH_NUMBER(N, F)                     \
    half##N OVERLOADABLE F(half##N x, half y) \
    {                                         \
        return F(x, (half##N)y);              \
    }
EACH_VECTOR(WITH_NUMBER, fmax)
EACH_VECTOR(WITH_NUMBER, fmin)

/* Bits alone. */
#define OF_BITS(N, _)                                                           \
    half##N OVERLOADABLE fabs(half##N x)                                        \
    {                                                                           \
        return as_half##N((ushort##N)(as_ushort##N(x) & (ushort##N)0x7fff));    \
    }                                                                           \
    half##N OVERLOADABLE copysign(half##N x, half##N y)                         \
    {                                                                           \
        return as_half##N((ushort##N)((as_ushort##N(x) & (ushort##N)0x7fff) |   \
                          (as_ushort##N(y) & (ushort##N)0x8000)));              \
    }                                                                           \
    half##N OVERLOADABLE nan(ushort##N code)                                    \
    {                                                                           \
        return as_half##N((ushort##N)(code | (ushort##N)0x7e00));               \
    }                                                                           \
    half##N OVERLOADABLE bitselect(half##N x, half##N y, half##N mask)          \
    {                                                                           \
        return as_half##N((ushort##N)((as_ushort##N(x) & ~as_ushort##N(mask)) | \
                          (as_ushort##N(y) & as_ushort##N(mask))));             \
    }
EACH_WIDTH(OF_BITS, _)

/* In the order of numbers -1 follows on 1, each a step from 0. */
static inline half next(half x, half y)
{
    short from = as_short(x), to = as_short(y);

    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return as_half((short)((to & 0x8000) | 1));
    return as_half((short)(from + ((x < y) == (from >= 0) ? 1 : -1)));
}
half OVERLOADABLE nextafter(half x, half y)
{
    return next(x, y);
}
#define NEXT(I) next(x.s##I, y.s##I)
#define NEXT_VECTOR(N, _)                                \
    half##N OVERLOADABLE nextafter(half##N x, half##N y) \
    {                                                    \
        return (half##N)(COMPONENTS_##N(NEXT));          \
    }
EACH_VECTOR(NEXT_VECTOR, _)

/* The product is exact in float, and the sum in double: where its bits don't fit, the larger one is beyond all halves,
 * or the smaller one below half of the larger one's last bit, and not on its edge. */
static inline half fused(half x, half y, half z)
{
    return narrow((double)((float)x * (float)y) + (double)z);
}
half OVERLOADABLE fma(half x, half y, half z)
{
    return fused(x, y, z);
}
#define FUSED(I) fused(x.s##I, y.s##I, z.s##I)
#define FMA_VECTOR(N, _)                                      \
    half##N OVERLOADABLE fma(half##N x, half##N y, half##N z) \
    {                                                         \
        return (half##N)(COMPONENTS_##N(FUSED));              \
    }
EACH_VECTOR(FMA_VECTOR, _)
#define MAD(N, _)                                             \
    half##N OVERLOADABLE mad(half##N x, half##N y, half##N z) \
    {                                                         \
        return narrow(widen(x) * widen(y) + widen(z));        \
    }
EACH_WIDTH(MAD, _)

/* ---- Math with integers ------------------------------------------------------------------------------------------ */

#define WITH_INTEGER(N, F)                         \
    float##N OVERLOADABLE F(float##N x, int##N n); \
    half##N OVERLOADABLE F(half##N x, int##N n)    \
    {                                              \
        return narrow(F(widen(x), n));             \
    }
EACH_WIDTH(WITH_INTEGER, ldexp)
EACH_WIDTH(WITH_INTEGER, pown)
EACH_WIDTH(WITH_INTEGER, rootn)
#define LDEXP_NUMBER(N, _)                       \
    half##N OVERLOADABLE ldexp(half##N x, int n) \
    {                                            \
        return ldexp(x, (int##N)n);              \
    }
EACH_VECTOR(LDEXP_NUMBER, _)
#define ILOGB(N, _)                        \
    int##N OVERLOADABLE ilogb(float##N x); \
    int##N OVERLOADABLE ilogb(half##N x)   \
    {                                      \
        return ilogb(widen(x));            \
    }
EACH_WIDTH(ILOGB, _)

/* ---- Math with results by pointers ------------------------------------------------------------------------------- */

#define HALF_RESULT(N, SPACE, F)                                 \
    float##N OVERLOADABLE F(float##N x, private float##N *more); \
    half##N OVERLOADABLE F(half##N x, SPACE half##N *more)       \
    {                                                            \
        float##N other;                                          \
        float##N result = F(widen(x), &other);                   \
                                                                 \
        *more = narrow(other);                                   \
        return narrow(result);                                   \
    }
EACH_SPACE(HALF_RESULT, modf)
EACH_SPACE(HALF_RESULT, sincos)
#define INTEGER_RESULT(N, SPACE, F)                            \
    float##N OVERLOADABLE F(float##N x, private int##N *more); \
    half##N OVERLOADABLE F(half##N x, SPACE int##N *more)      \
    {                                                          \
        int##N other;                                          \
        float##N result = F(widen(x), &other);                 \
                                                               \
        *more = other;                                         \
        return narrow(result);                                 \
    }
EACH_SPACE(INTEGER_RESULT, frexp)
EACH_SPACE(INTEGER_RESULT, lgamma_r)
#define REMQUO(N, SPACE, _)                                                     \
    float##N OVERLOADABLE remquo(float##N x, float##N y, private int##N *more); \
    half##N OVERLOADABLE remquo(half##N x, half##N y, SPACE int##N *more)       \
    {                                                                           \
        int##N other;                                                           \
        float##N result = remquo(widen(x), widen(y), &other);                   \
                                                                                \
        *more = other;                                                          \
        return narrow(result);                                                  \
    }
EACH_SPACE(REMQUO, _)
/* The largest half below 1, at most: a float's would round to 1. */
#define FRACT(N, SPACE, _)                                     \
    half##N OVERLOADABLE fract(half##N x, SPACE half##N *more) \
    {                                                          \
        float##N whole = floor(widen(x));                      \
                                                               \
        *more = narrow(whole);                                 \
        return narrow(fract_of(widen(x), whole));              \
    }

static inline float OVERLOADABLE fract_of(float x, float whole)
{
    return isinf(x) ? 0.0f : x != x ? x : fmin(x - whole, 0.99951171875f);
}
#define FRACT_PART(I) fract_of(x.s##I, whole.s##I)
#define FRACT_VECTOR(N, _)                                                   \
    static inline float##N OVERLOADABLE fract_of(float##N x, float##N whole) \
    {                                                                        \
        return (float##N)(COMPONENTS_##N(FRACT_PART));                       \
    }
EACH_VECTOR(FRACT_VECTOR, _)
EACH_SPACE(FRACT, _)

/* ---- Common functions -------------------------------------------------------------------------------------------- */

#define SMALLER_AND_LARGER(N, _)                                               \
    half##N OVERLOADABLE min(half##N x, half##N y)                             \
    {                                                                          \
        return y < x ? y : x;                                                  \
    }                                                                          \
    half##N OVERLOADABLE max(half##N x, half##N y)                             \
    {                                                                          \
        return x < y ? y : x;                                                  \
    }                                                                          \
    half##N OVERLOADABLE clamp(half##N x, half##N least, half##N most)         \
    {                                                                          \
        return min(max(x, least), most);                                       \
    }                                                                          \
    half##N OVERLOADABLE mix(half##N x, half##N y, half##N a)                  \
    {                                                                          \
        return narrow(widen(x) + (widen(y) - widen(x)) * widen(a));            \
    }                                                                          \
    half##N OVERLOADABLE step(half##N edge, half##N x)                         \
    {                                                                          \
        return x < edge ? (half##N)0 : (half##N)1;                             \
    }                                                                          \
    float##N OVERLOADABLE smoothstep(float##N low, float##N high, float##N x); \
    half##N OVERLOADABLE smoothstep(half##N low, half##N high, half##N x)      \
    {                                                                          \
        return narrow(smoothstep(widen(low), widen(high), widen(x)));          \
    }                                                                          \
    float##N OVERLOADABLE sign(float##N x);                                    \
    half##N OVERLOADABLE sign(half##N x)                                       \
    {                                                                          \
        return narrow(sign(widen(x)));                                         \
    }
EACH_WIDTH(SMALLER_AND_LARGER, _)
#define NUMBERS(N, _)                                               \
    WITH_NUMBER(N, min)                                             \
    WITH_NUMBER(N, max)                                             \
    half##N OVERLOADABLE clamp(half##N x, half least, half most)    \
    {                                                               \
        return clamp(x, (half##N)least, (half##N)most);             \
    }                                                               \
    half##N OVERLOADABLE mix(half##N x, half##N y, half a)          \
    {                                                               \
        return mix(x, y, (half##N)a);                               \
    }                                                               \
    half##N OVERLOADABLE step(half edge, half##N x)                 \
    {                                                               \
        return step((half##N)edge, x);                              \
    }                                                               \
    half##N OVERLOADABLE smoothstep(half low, half high, half##N x) \
    {                                                               \
        return smoothstep((half##N)low, (half##N)high, x);          \
    }
EACH_VECTOR(NUMBERS, _)

/* ---- Geometry: no component's square is beyond the floats -------------------------------------------------------- */

#define GEOMETRY(DO) DO(, _) DO(2, _) DO(3, _) DO(4, _)
#define LENGTHS(N, _)                                 \
    float OVERLOADABLE dot(float##N x, float##N y);   \
    half OVERLOADABLE dot(half##N x, half##N y)       \
    {                                                 \
        return narrow(dot(widen(x), widen(y)));       \
    }                                                 \
    half OVERLOADABLE length(half##N x)               \
    {                                                 \
        return narrow(sqrt(dot(widen(x), widen(x)))); \
    }                                                 \
    half OVERLOADABLE distance(half##N x, half##N y)  \
    {                                                 \
        float##N between = widen(x) - widen(y);       \
                                                      \
        return narrow(sqrt(dot(between, between)));   \
    }                                                 \
    float##N OVERLOADABLE normalize(float##N x);      \
    half##N OVERLOADABLE normalize(half##N x)         \
    {                                                 \
        return narrow(normalize(widen(x)));           \
    }
GEOMETRY(LENGTHS)
#define CROSS(N)                                         \
    float##N OVERLOADABLE cross(float##N x, float##N y); \
    half##N OVERLOADABLE cross(half##N x, half##N y)     \
    {                                                    \
        return narrow(cross(widen(x), widen(y)));        \
    }
CROSS(3)
CROSS(4)

/* ---- Relations: int of numbers, short of vectors ----------------------------------------------------------------- */

#define COMPARISONS(N, TRUTH)                                                                  \
    TRUTH OVERLOADABLE isequal(half##N x, half##N y) { return x == y; }                        \
    TRUTH OVERLOADABLE isnotequal(half##N x, half##N y) { return x != y; }                     \
    TRUTH OVERLOADABLE isgreater(half##N x, half##N y) { return x > y; }                       \
    TRUTH OVERLOADABLE isgreaterequal(half##N x, half##N y) { return x >= y; }                 \
    TRUTH OVERLOADABLE isless(half##N x, half##N y) { return x < y; }                          \
    TRUTH OVERLOADABLE islessequal(half##N x, half##N y) { return x <= y; }                    \
    TRUTH OVERLOADABLE islessgreater(half##N x, half##N y) { return (x < y) | (x > y); }       \
    TRUTH OVERLOADABLE isordered(half##N x, half##N y) { return (x == x) & (y == y); }         \
    TRUTH OVERLOADABLE isunordered(half##N x, half##N y) { return (x != x) | (y != y); }       \
    TRUTH OVERLOADABLE isnan(half##N x) { return x != x; }                                     \
    TRUTH OVERLOADABLE isinf(half##N x) { return MAGNITUDE(N, x) == (ushort##N)0x7c00; }       \
    TRUTH OVERLOADABLE isfinite(half##N x) { return MAGNITUDE(N, x) < (ushort##N)0x7c00; }     \
    TRUTH OVERLOADABLE isnormal(half##N x)                                                     \
    {                                                                                          \
        return (MAGNITUDE(N, x) < (ushort##N)0x7c00) & (MAGNITUDE(N, x) >= (ushort##N)0x0400); \
    }                                                                                          \
    TRUTH OVERLOADABLE signbit(half##N x) { return as_short##N(x) < (short##N)0; }
#define MAGNITUDE(N, x) (as_ushort##N(x) & (ushort##N)0x7fff)
COMPARISONS(, int)
COMPARISONS(2, short2)
COMPARISONS(3, short3)
COMPARISONS(4, short4)
COMPARISONS(8, short8)
COMPARISONS(16, short16)

#define SELECT(N, T)                                              \
    half##N OVERLOADABLE select(half##N x, half##N y, T##N which) \
    {                                                             \
        return which ? y : x;                                     \
    }
EACH_WIDTH(SELECT, short)
EACH_WIDTH(SELECT, ushort)

/* ---- Memory, as of integers -------------------------------------------------------------------------------------- */

#define LOAD(N, SPACE)                                           \
    half##N OVERLOADABLE vload##N(size_t i, const SPACE half *p) \
    {                                                            \
        return as_half##N(vload##N(i, (const SPACE ushort *)p)); \
    }
#define LOAD_AND_STORE(N, SPACE)                                    \
    LOAD(N, SPACE)                                                  \
    void OVERLOADABLE vstore##N(half##N x, size_t i, SPACE half *p) \
    {                                                               \
        vstore##N(as_ushort##N(x), i, (SPACE ushort *)p);           \
    }
#define DECLARE(N, SPACE)                                             \
    ushort##N OVERLOADABLE vload##N(size_t i, const SPACE ushort *p); \
    void OVERLOADABLE vstore##N(ushort##N x, size_t i, SPACE ushort *p);
#define DECLARE_LOAD(N, SPACE) ushort##N OVERLOADABLE vload##N(size_t i, const SPACE ushort *p);
EACH_VECTOR(DECLARE, private)
EACH_VECTOR(DECLARE, local)
EACH_VECTOR(DECLARE, global)
EACH_VECTOR(DECLARE_LOAD, constant)
EACH_VECTOR(LOAD_AND_STORE, private)
EACH_VECTOR(LOAD_AND_STORE, local)
EACH_VECTOR(LOAD_AND_STORE, global)
EACH_VECTOR(LOAD, constant)

#define COPIES(N, TO, FROM)                                                                                       \
    event_t OVERLOADABLE async_work_group_copy(TO ushort##N *, const FROM ushort##N *, size_t, event_t);          \
    event_t OVERLOADABLE async_work_group_copy(TO half##N *to, const FROM half##N *from, size_t n, event_t event) \
    {                                                                                                             \
        return async_work_group_copy((TO ushort##N *)to, (const FROM ushort##N *)from, n, event);                 \
    }                                                                                                             \
    event_t OVERLOADABLE async_work_group_strided_copy(TO ushort##N *, const FROM ushort##N *, size_t, size_t,    \
                                                       event_t);                                                  \
    event_t OVERLOADABLE async_work_group_strided_copy(TO half##N *to, const FROM half##N *from, size_t n,        \
                                                       size_t stride, event_t event)                              \
    {                                                                                                             \
        return async_work_group_strided_copy((TO ushort##N *)to, (const FROM ushort##N *)from, n, stride, event); \
    }
EACH_WIDTH(COPIES, local, global)
EACH_WIDTH(COPIES, global, local)
#define PREFETCH(N, _)                                            \
    void OVERLOADABLE prefetch(const global half##N *p, size_t n) \
    {                                                             \
        (void)p, (void)n;                                         \
    }
EACH_WIDTH(PREFETCH, _)

/* ---- Components in another order --------------------------------------------------------------------------------- */

#define EACH_MASK(DO, M) DO(2, M) DO(4, M) DO(8, M) DO(16, M)
#define SHUFFLE(N, M)                                                          \
    ushort##M OVERLOADABLE shuffle(ushort##N x, ushort##M mask);               \
    half##M OVERLOADABLE shuffle(half##N x, ushort##M mask)                    \
    {                                                                          \
        return as_half##M(shuffle(as_ushort##N(x), mask));                     \
    }                                                                          \
    ushort##M OVERLOADABLE shuffle2(ushort##N x, ushort##N y, ushort##M mask); \
    half##M OVERLOADABLE shuffle2(half##N x, half##N y, ushort##M mask)        \
    {                                                                          \
        return as_half##M(shuffle2(as_ushort##N(x), as_ushort##N(y), mask));   \
    }
EACH_MASK(SHUFFLE, 2)
EACH_MASK(SHUFFLE, 4)
EACH_MASK(SHUFFLE, 8)
EACH_MASK(SHUFFLE, 16)

/* ---- Of a work-group --------------------------------------------------------------------------------------------- */

#define COLLECTIVE(F)              \
    float OVERLOADABLE F(float x); \
    half OVERLOADABLE F(half x)    \
    {                              \
        return (half)F((float)x);  \
    }
#define OPERATIONS(DO)                                                            \
    DO(work_group_reduce_add) DO(work_group_reduce_min) DO(work_group_reduce_max) \
    DO(work_group_scan_exclusive_add) DO(work_group_scan_exclusive_min)           \
    DO(work_group_scan_exclusive_max) DO(work_group_scan_inclusive_add)           \
    DO(work_group_scan_inclusive_min) DO(work_group_scan_inclusive_max)
OPERATIONS(COLLECTIVE)
float OVERLOADABLE work_group_broadcast(float x, size_t l0);
float OVERLOADABLE work_group_broadcast(float x, size_t l0, size_t l1);
float OVERLOADABLE work_group_broadcast(float x, size_t l0, size_t l1, size_t l2);
half OVERLOADABLE work_group_broadcast(half x, size_t l0)
{
    return (half)work_group_broadcast((float)x, l0);
}
half OVERLOADABLE work_group_broadcast(half x, size_t l0, size_t l1)
{
    return (half)work_group_broadcast((float)x, l0, l1);
}
half OVERLOADABLE work_group_broadcast(half x, size_t l0, size_t l1, size_t l2)
{
    return (half)work_group_broadcast((float)x, l0, l1, l2);
}
