/*
 * OpenCL C's work-group collective functions (OpenCL C 3.0, 6.15.16), made of two that are a target's own: NAME_reduce
 * and NAME_scan, which `scan` of T and an operation are made of. Each has a name of its type and operation, as macros
 * know no overloading.
 *
 * Memory of the group has no name in functions, as OpenCL C has none outside of kernels: __tsl_group_memory is a
 * variable of as many bytes as the largest call wants (compiler/middle/group_memory.h), and so is __tsl_item_memory, of
 * as many for each work-item of the group. All functions use the same ones, and begin with a barrier where a call
 * before may still read them.
 */
#include "common.h"

__local void *__tsl_group_memory(uint size);
__local void *__tsl_item_memory(uint size);

#define GROUP_MEMORY(T, N) ((__local T *)__tsl_group_memory((N) * sizeof(T)))
#define ITEM_MEMORY(T)     ((__local T *)__tsl_item_memory(sizeof(T)))

static uint group_items(void)
{
    return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

static uint group_item(void)
{
    return get_local_linear_id();
}

#define OP_add(A, B)  ((A) + (B))
#define OP_min(A, B)  min(A, B)
#define OP_max(A, B)  max(A, B)
#define OP_fmin(A, B) fmin(A, B)
#define OP_fmax(A, B) fmax(A, B)

/* DO(T, operation, its name in the language, the value that changes nothing) */
/* clang-format off */
#define EACH_WHOLE_COLLECTIVE(DO)                                                   \
    DO(int, add, add, 0) DO(int, min, min, INT_MAX) DO(int, max, max, INT_MIN)      \
    DO(uint, add, add, 0) DO(uint, min, min, UINT_MAX) DO(uint, max, max, 0)        \
    DO(long, add, add, 0) DO(long, min, min, LONG_MAX) DO(long, max, max, LONG_MIN) \
    DO(ulong, add, add, 0) DO(ulong, min, min, ULONG_MAX) DO(ulong, max, max, 0)
#define EACH_REAL_COLLECTIVE(DO)                                                          \
    DO(float, add, add, 0) DO(float, fmin, min, INFINITY) DO(float, fmax, max, -INFINITY) \
    DO(double, add, add, 0) DO(double, fmin, min, INFINITY) DO(double, fmax, max, -INFINITY)
/* clang-format on */
#define EACH_COLLECTIVE(DO) EACH_WHOLE_COLLECTIVE(DO) EACH_REAL_COLLECTIVE(DO)

/* The language's functions, of T reduce_T_OP(T) and T scan_T_OP(T, exclusive). */
#define COLLECTIVE(T, OP, NAME, NOTHING)                 \
    T OVERLOADABLE work_group_reduce_##NAME(T x)         \
    {                                                    \
        return reduce_##T##_##OP(x);                     \
    }                                                    \
    T OVERLOADABLE work_group_scan_inclusive_##NAME(T x) \
    {                                                    \
        return scan_##T##_##OP(x, false);                \
    }                                                    \
    T OVERLOADABLE work_group_scan_exclusive_##NAME(T x) \
    {                                                    \
        return scan_##T##_##OP(x, true);                 \
    }
