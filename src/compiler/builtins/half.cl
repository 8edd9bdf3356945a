/*
 * Stores of halves (OpenCL C 3.0, 6.15.7) in which libclc is wrong: rounding up or down, it makes 0 of everything far
 * below the smallest half; and it converts doubles by a function of the compiler's run-time library, which isn't
 * linked.
 */
#include "common.h"
#include "half_conversions.h"

/* ---- Floats, up and down: the nearest half, or its neighbour ------------------------------------------------------- */

static inline ushort bits_rtp(float x)
{
    ushort bits;

    vstore_half_rte(x, 0, (half *)&bits);
    if (vload_half(0, (half *)&bits) < x)
        bits += bits & 0x8000 ? -1 : 1;
    return bits;
}

static inline ushort bits_rtn(float x)
{
    return bits_rtp(-x) ^ 0x8000;
}

#define SCALAR(SPACE, MODE)                                                \
    void OVERLOADABLE vstore_half_##MODE(float x, size_t i, SPACE half *p) \
    {                                                                      \
        ((SPACE ushort *)p)[i] = bits_##MODE(x);                           \
    }
/* STEP: aligned vectors of three are four elements apart. */
#define VECTOR(SPACE, MODE, NAME, N, STEP)                                         \
    void OVERLOADABLE NAME##_half##N##_##MODE(float##N x, size_t i, SPACE half *p) \
    {                                                                              \
        for (int c = 0; c < N; c++)                                                \
            ((SPACE ushort *)p)[i * STEP + c] = bits_##MODE(x[c]);                 \
    }
#define SIZES(SPACE, MODE, NAME, STEP_3) \
    VECTOR(SPACE, MODE, NAME, 2, 2)      \
    VECTOR(SPACE, MODE, NAME, 3, STEP_3) \
    VECTOR(SPACE, MODE, NAME, 4, 4)      \
    VECTOR(SPACE, MODE, NAME, 8, 8)      \
    VECTOR(SPACE, MODE, NAME, 16, 16)
#define DIRECTED(SPACE, MODE)      \
    SCALAR(SPACE, MODE)            \
    SIZES(SPACE, MODE, vstore, 3)  \
    SIZES(SPACE, MODE, vstorea, 4)
#define EACH_SPACE(DO, ...) DO(private, __VA_ARGS__) DO(local, __VA_ARGS__) DO(global, __VA_ARGS__)
EACH_SPACE(DIRECTED, rtp)
EACH_SPACE(DIRECTED, rtn)

/* ---- Doubles: by way of floats whose last bit is 1 if they are inexact, so that they round like the double
 * ----------- */

#define ODD_VECTOR(N)                                  \
    static inline float##N to_odd##N(double##N x)      \
    {                                                  \
        float##N cut;                                  \
                                                       \
        for (int c = 0; c < N; c++)                    \
            cut[c] = to_odd(x[c]);                     \
        return cut;                                    \
    }
ODD_VECTOR(2)
ODD_VECTOR(3)
ODD_VECTOR(4)
ODD_VECTOR(8)
ODD_VECTOR(16)

/* Clang doesn't find its own overloads of a name for which there is another one. */
#define DOUBLE(SPACE, NAME, N, MODE)                                                \
    void OVERLOADABLE NAME##_half##N##MODE(float##N x, size_t i, SPACE half *p);    \
    void OVERLOADABLE NAME##_half##N##MODE(double##N x, size_t i, SPACE half *p)    \
    {                                                                               \
        NAME##_half##N##MODE(to_odd##N(x), i, p);                                   \
    }
#define DOUBLES(SPACE, MODE)        \
    DOUBLE(SPACE, vstore, , MODE)   \
    DOUBLE(SPACE, vstore, 2, MODE)  \
    DOUBLE(SPACE, vstore, 3, MODE)  \
    DOUBLE(SPACE, vstore, 4, MODE)  \
    DOUBLE(SPACE, vstore, 8, MODE)  \
    DOUBLE(SPACE, vstore, 16, MODE) \
    DOUBLE(SPACE, vstorea, 2, MODE) \
    DOUBLE(SPACE, vstorea, 3, MODE) \
    DOUBLE(SPACE, vstorea, 4, MODE) \
    DOUBLE(SPACE, vstorea, 8, MODE) \
    DOUBLE(SPACE, vstorea, 16, MODE)
EACH_SPACE(DOUBLES, )
EACH_SPACE(DOUBLES, _rte)
EACH_SPACE(DOUBLES, _rtz)
EACH_SPACE(DOUBLES, _rtp)
EACH_SPACE(DOUBLES, _rtn)
