/*
 * Stores of halves by LLVM's conversion, which rounds to the nearest as OpenCL's default does and is one instruction of
 * most processors. libclc rounds by some fifty instructions first.
 */
#include "common.h"
#include "../half_stores.h"

static inline ushort bits_float_rte(float x)
{
    ushort bits;

    __builtin_store_halff(x, (half *)&bits);
    return bits;
}

/* The default rounding. */
#define bits_float bits_float_rte

EACH_SPACE(STORES, float, )
EACH_SPACE(STORES, float, _rte)
