/*
 * Work-group collective functions for processors: the work-items of a group are run by one thread, many at once in a
 * vector. Operands of a reduction of whole numbers are put together as those of atomic operations at one address are:
 * a vector's at once (compiler/workgroup/analysis/combined.h). Other values are left in the group's memory.
 */
#include "collective.h"

#define PARTS 16u
#define ITEMS 4096u /* of the largest group (compiler/cpu/cpu.c) */

#define REDUCE_WHOLE(T, OP, NAME, NOTHING)                                             \
    static T reduce_##T##_##OP(T x)                                                    \
    {                                                                                  \
        __local atomic_##T *result = GROUP_MEMORY(atomic_##T, 1);                      \
                                                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        *(__local T *)result = NOTHING;                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        __c11_atomic_fetch_##OP(result, x, __ATOMIC_RELAXED);                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        return *(__local T *)result;                                                   \
    }
EACH_WHOLE_COLLECTIVE(REDUCE_WHOLE)
REDUCE_WHOLE(int, or, or, 0)

/* PARTS work-items, a vector's work, put values together that are PARTS apart, so that a vector loads consecutive ones;
 * the first one puts their results together. */
#define REDUCE_REAL(T, OP, NAME, NOTHING)                                              \
    static T reduce_##T##_##OP(T x)                                                    \
    {                                                                                  \
        __local T *values = GROUP_MEMORY(T, ITEMS + PARTS), *parts = values + ITEMS;   \
        uint n = group_items(), whole = n / PARTS * PARTS, item = group_item();        \
        T result = NOTHING;                                                            \
                                                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        values[item] = x;                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        if (item < PARTS) {                                                            \
            for (uint i = 0; i < whole; i += PARTS)                                    \
                result = OP_##OP(result, values[i + item]);                            \
            if (item < n - whole)                                                      \
                result = OP_##OP(result, values[whole + item]);                        \
            parts[item] = result;                                                      \
        }                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        if (item == 0) {                                                               \
            for (uint i = 1; i < min(n, PARTS); i++)                                   \
                result = OP_##OP(result, parts[i]);                                    \
            parts[0] = result;                                                         \
        }                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        return parts[0];                                                               \
    }
EACH_REAL_COLLECTIVE(REDUCE_REAL)

/* One work-item does it: an operation for each value, where vectors would need a gather and a scatter. */
#define SCAN(T, OP, NAME, NOTHING)                                                     \
    static T scan_##T##_##OP(T x, bool exclusive)                                      \
    {                                                                                  \
        __local T *values = GROUP_MEMORY(T, ITEMS + 1);                                \
        uint n = group_items(), item = group_item();                                   \
                                                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        values[item + 1] = x;                                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        if (item == 0) {                                                               \
            T result = values[0] = NOTHING;                                            \
                                                                                       \
            for (uint i = 1; i <= n; i++)                                              \
                values[i] = result = OP_##OP(result, values[i]);                       \
        }                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        return values[item + (exclusive ? 0 : 1)];                                     \
    }
EACH_COLLECTIVE(SCAN)
EACH_COLLECTIVE(COLLECTIVE)

int OVERLOADABLE work_group_any(int x)
{
    return reduce_int_or(x) != 0;
}

int OVERLOADABLE work_group_all(int x)
{
    return reduce_int_or(x == 0) == 0;
}
