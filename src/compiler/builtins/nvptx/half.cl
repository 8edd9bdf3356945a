/*
 * Loads and stores of halves (OpenCL C 3.0, 6.15.7) by the hardware's conversions: one instruction for each rounding of
 * floats and of doubles. Vectors that are aligned are loaded and stored in one piece.
 */
#include "common.h"
#include "../half_stores.h"

/* ---- One number ----------------------------------------------------------------------------------------------------
 */

#define BITS(FROM, LETTER, MODE, ROUNDING, PTX)                                           \
    static inline ushort bits_##FROM##MODE(FROM x)                                        \
    {                                                                                     \
        ushort bits;                                                                      \
                                                                                          \
        __asm("cvt." ROUNDING ".f16." PTX " %0, %1;" : "=h"(bits) : LETTER(x));           \
        return bits;                                                                      \
    }
#define BITS_OF(FROM, LETTER, PTX)          \
    BITS(FROM, LETTER, _rtz, "rz", PTX)     \
    BITS(FROM, LETTER, _rtp, "rp", PTX)     \
    BITS(FROM, LETTER, _rtn, "rm", PTX)
BITS_OF(float, "f", "f32")
BITS_OF(double, "d", "f64")
BITS(double, "d", _rte, "rn", "f64")

/* An operation of LLVM's, which it can do at compile time. */
static inline ushort bits_float_rte(float x)
{
    ushort bits;

    __builtin_store_halff(x, (half *)&bits);
    return bits;
}

static inline float number(ushort bits)
{
    return __builtin_load_halff((half *)&bits);
}

/* The default rounding. */
#define bits_float  bits_float_rte
#define bits_double bits_double_rte

/* ---- Stores --------------------------------------------------------------------------------------------------------
 */

#define STORES_OF(FROM)            \
    EACH_SPACE(STORES, FROM, )     \
    EACH_SPACE(STORES, FROM, _rte) \
    EACH_SPACE(STORES, FROM, _rtz) \
    EACH_SPACE(STORES, FROM, _rtp) \
    EACH_SPACE(STORES, FROM, _rtn)
STORES_OF(float)
STORES_OF(double)

/* ---- Loads ---------------------------------------------------------------------------------------------------------
 */

#define LOAD(SPACE, N)                                                            \
    float##N OVERLOADABLE vloada_half##N(size_t i, const SPACE half *p)           \
    {                                                                             \
        ushort##N bits = ((const SPACE ushort##N *)p)[i];                         \
                                                                                  \
        return (float##N)(EACH_OF_##N(number, bits));                                \
    }
#define LOADS(N)       \
    LOAD(private, N)   \
    LOAD(local, N)     \
    LOAD(global, N)    \
    LOAD(constant, N)
LOADS(2)
LOADS(4)
LOADS(8)
LOADS(16)
