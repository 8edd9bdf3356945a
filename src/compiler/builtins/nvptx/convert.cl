/*
 * Conversions with a rounding, and saturated ones (OpenCL C 3.0, 6.4.3), each by one of the hardware's instructions. What
 * is too large for an integer becomes its end, whether it is asked for or not (PTX ISA 8.5, 9.7.9.21). What is no number
 * becomes zero where a float becomes 32 bits or fewer; otherwise saturated conversions look for it.
 */
#include "common.h"

/* ---- Floating point to integers ------------------------------------------------------------------------------------
 */

#define ANY(x)        true
#define A_NUMBER(x)   ((x) == (x))

#define TO_INTEGER(T, WIDE, LETTER, PTX, F, F_LETTER, F_PTX, IS_GOOD, ROUND, MODE)             \
    static inline T to_##T##_##F##MODE(F x)                                                    \
    {                                                                                          \
        WIDE bits;                                                                             \
                                                                                               \
        __asm("cvt." ROUND PTX F_PTX " %0, %1;" : LETTER(bits) : F_LETTER(x));                 \
        return (T)bits;                                                                        \
    }                                                                                          \
    T OVERLOADABLE convert_##T##_sat##MODE(F x)                                                \
    {                                                                                          \
        return IS_GOOD(x) ? to_##T##_##F##MODE(x) : (T)0;                                      \
    }
#define TO_INTEGER_ROUNDED(T, WIDE, LETTER, PTX, F, F_LETTER, F_PTX, IS_GOOD, ROUND, MODE)     \
    TO_INTEGER(T, WIDE, LETTER, PTX, F, F_LETTER, F_PTX, IS_GOOD, ROUND, MODE)                 \
    T OVERLOADABLE convert_##T##MODE(F x)                                                      \
    {                                                                                          \
        return to_##T##_##F##MODE(x);                                                          \
    }
#define TO_INTEGER_MODES(...)                       \
    TO_INTEGER(__VA_ARGS__, "rzi", )                \
    TO_INTEGER_ROUNDED(__VA_ARGS__, "rzi", _rtz)    \
    TO_INTEGER_ROUNDED(__VA_ARGS__, "rni", _rte)    \
    TO_INTEGER_ROUNDED(__VA_ARGS__, "rpi", _rtp)    \
    TO_INTEGER_ROUNDED(__VA_ARGS__, "rmi", _rtn)
#define TO_INTEGERS(F, F_LETTER, F_PTX, IS_GOOD)                                             \
    TO_INTEGER_MODES(char, int, "=r", ".sat.s8", F, F_LETTER, F_PTX, IS_GOOD)                \
    TO_INTEGER_MODES(uchar, uint, "=r", ".sat.u8", F, F_LETTER, F_PTX, IS_GOOD)              \
    TO_INTEGER_MODES(short, int, "=r", ".sat.s16", F, F_LETTER, F_PTX, IS_GOOD)              \
    TO_INTEGER_MODES(ushort, uint, "=r", ".sat.u16", F, F_LETTER, F_PTX, IS_GOOD)            \
    TO_INTEGER_MODES(int, int, "=r", ".s32", F, F_LETTER, F_PTX, IS_GOOD)                    \
    TO_INTEGER_MODES(uint, uint, "=r", ".u32", F, F_LETTER, F_PTX, IS_GOOD)                  \
    TO_INTEGER_MODES(long, long, "=l", ".s64", F, F_LETTER, F_PTX, A_NUMBER)                 \
    TO_INTEGER_MODES(ulong, ulong, "=l", ".u64", F, F_LETTER, F_PTX, A_NUMBER)
TO_INTEGERS(float, "f", ".f32", ANY)
TO_INTEGERS(double, "d", ".f64", A_NUMBER)

/* ---- To floating point, rounded in a direction ---------------------------------------------------------------------
 */

#define TO_FLOATING(F, F_LETTER, F_PTX, T, LETTER, PTX, ROUND, MODE)                           \
    F OVERLOADABLE convert_##F##MODE(T x)                                                      \
    {                                                                                          \
        F y;                                                                                   \
                                                                                               \
        __asm("cvt." ROUND F_PTX PTX " %0, %1;" : F_LETTER(y) : LETTER(x));                    \
        return y;                                                                              \
    }
#define TO_FLOATING_MODES(...)              \
    TO_FLOATING(__VA_ARGS__, "rz", _rtz)    \
    TO_FLOATING(__VA_ARGS__, "rp", _rtp)    \
    TO_FLOATING(__VA_ARGS__, "rm", _rtn)
TO_FLOATING_MODES(float, "=f", ".f32", int, "r", ".s32")
TO_FLOATING_MODES(float, "=f", ".f32", uint, "r", ".u32")
TO_FLOATING_MODES(float, "=f", ".f32", long, "l", ".s64")
TO_FLOATING_MODES(float, "=f", ".f32", ulong, "l", ".u64")
TO_FLOATING_MODES(double, "=d", ".f64", long, "l", ".s64")
TO_FLOATING_MODES(double, "=d", ".f64", ulong, "l", ".u64")
TO_FLOATING_MODES(float, "=f", ".f32", double, "d", ".f64")

/* ---- Vectors ------------------------------------------------------------------------------------------------------- */

#define VECTOR(TO, FROM, NAME, N)                            \
    TO##N OVERLOADABLE convert_##TO##N##NAME(FROM##N x)      \
    {                                                        \
        return (TO##N)(EACH_OF_##N(convert_##TO##NAME, x));        \
    }
#define VECTORS(TO, FROM, NAME) \
    VECTOR(TO, FROM, NAME, 2) VECTOR(TO, FROM, NAME, 3) VECTOR(TO, FROM, NAME, 4) VECTOR(TO, FROM, NAME, 8) \
    VECTOR(TO, FROM, NAME, 16)
#define ROUNDED(TO, FROM, NAME)  \
    VECTORS(TO, FROM, NAME##rtz) \
    VECTORS(TO, FROM, NAME##rtp) \
    VECTORS(TO, FROM, NAME##rtn)
#define VECTORS_OF(T, F)         \
    VECTORS(T, F, _sat)          \
    VECTORS(T, F, _sat_rte)      \
    VECTORS(T, F, _rte)          \
    ROUNDED(T, F, _sat_)         \
    ROUNDED(T, F, _)
#define VECTORS_OF_BOTH(T)       \
    VECTORS_OF(T, float)         \
    VECTORS_OF(T, double)
EACH_INTEGER(VECTORS_OF_BOTH)
ROUNDED(float, int, _)
ROUNDED(float, uint, _)
ROUNDED(float, long, _)
ROUNDED(float, ulong, _)
ROUNDED(double, long, _)
ROUNDED(double, ulong, _)
ROUNDED(float, double, _)
