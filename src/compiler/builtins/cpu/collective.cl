/*
 * Work-group collective functions for processors: the work-items of a group are run by one thread, many at once in a
 * vector. Operands of a reduction of whole numbers are put together as those of atomic operations at one address are:
 * a vector's at once (compiler/workgroup/analysis/combined.h). Other values are left in memory of
 * the group's, a place for each work-item.
 */
#include "collective.h"

#define PARTS 16u

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
        __local T *values = ITEM_MEMORY(T), *parts = GROUP_MEMORY(T, PARTS);           \
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
        __local T *values = ITEM_MEMORY(T);                                            \
        uint n = group_items(), item = group_item();                                   \
                                                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        values[item] = x;                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        if (item == 0) {                                                               \
            T before, result = NOTHING;                                                \
                                                                                       \
            for (uint i = 0; i < n; i++) {                                             \
                before = result;                                                       \
                result = OP_##OP(result, values[i]);                                   \
                values[i] = exclusive ? before : result;                               \
            }                                                                          \
        }                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                  \
        return values[item];                                                           \
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
