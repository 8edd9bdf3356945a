/*
 * Atomics: the 64-bit atom_ functions of OpenCL 1, and C11's of OpenCL C 3.0 in all address spaces. No scope is wider
 * than the device; narrower scopes count as the device's, but what is done to local memory is of its work-group.
 */
#include "common.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define SCOPE memory_scope_device

/* ---- OpenCL 1: relaxed, returns the old value --------------------------------------------------------------- */

#define ATOM(T, AS, NAME, DO)                                                                              \
    T OVERLOADABLE atom_##NAME(volatile AS T *p, T x)                                                      \
    {                                                                                                      \
        return __opencl_atomic_##DO((volatile AS atomic_##T *)p, x, memory_order_relaxed, SCOPE);          \
    }
#define ATOM_ALL(T, AS)                                                                                    \
    ATOM(T, AS, add, fetch_add)                                                                            \
    ATOM(T, AS, sub, fetch_sub)                                                                            \
    ATOM(T, AS, xchg, exchange)                                                                            \
    ATOM(T, AS, min, fetch_min)                                                                            \
    ATOM(T, AS, max, fetch_max)                                                                            \
    ATOM(T, AS, and, fetch_and)                                                                            \
    ATOM(T, AS, or, fetch_or)                                                                              \
    ATOM(T, AS, xor, fetch_xor)                                                                            \
    T OVERLOADABLE atom_inc(volatile AS T *p)                                                              \
    {                                                                                                      \
        return __opencl_atomic_fetch_add((volatile AS atomic_##T *)p, 1, memory_order_relaxed, SCOPE);     \
    }                                                                                                      \
    T OVERLOADABLE atom_dec(volatile AS T *p)                                                              \
    {                                                                                                      \
        return __opencl_atomic_fetch_sub((volatile AS atomic_##T *)p, 1, memory_order_relaxed, SCOPE);     \
    }                                                                                                      \
    T OVERLOADABLE atom_cmpxchg(volatile AS T *p, T expected, T x)                                         \
    {                                                                                                      \
        __opencl_atomic_compare_exchange_strong((volatile AS atomic_##T *)p, &expected, x,                 \
                                                memory_order_relaxed, memory_order_relaxed, SCOPE);        \
        return expected;                                                                                   \
    }
ATOM_ALL(long, __global)
ATOM_ALL(long, __local)
ATOM_ALL(ulong, __global)
ATOM_ALL(ulong, __local)

/* ---- OpenCL C 3.0: each function without an order, with one, with a scope ---------------------------------------- */

/*
 * The front end's private address space is also its generic one, which needs no functions of its own. Comparisons use
 * the strongest order, which any other order permits, unless both orders are relaxed.
 *
 * Below: R name(volatile AS A *p, PARAMETERS), the three forms.
 */
#define FORMS_1(R, A, AS, NAME, DO)                                                                                  \
    R OVERLOADABLE NAME(volatile AS A *p)                                                                            \
    {                                                                                                                \
        return DO(p, memory_order_seq_cst, SCOPE);                                                                   \
    }                                                                                                                \
    R OVERLOADABLE NAME##_explicit(volatile AS A *p, memory_order order)                                             \
    {                                                                                                                \
        return DO(p, order, SCOPE);                                                                                  \
    }                                                                                                                \
    R OVERLOADABLE NAME##_explicit(volatile AS A *p, memory_order order, memory_scope scope)                         \
    {                                                                                                                \
        return DO(p, order, SCOPE);                                                                                  \
    }
#define FORMS_2(R, A, AS, T, NAME, DO)                                                                               \
    R OVERLOADABLE NAME(volatile AS A *p, T x)                                                                       \
    {                                                                                                                \
        return DO(p, x, memory_order_seq_cst, SCOPE);                                                                \
    }                                                                                                                \
    R OVERLOADABLE NAME##_explicit(volatile AS A *p, T x, memory_order order)                                        \
    {                                                                                                                \
        return DO(p, x, order, SCOPE);                                                                               \
    }                                                                                                                \
    R OVERLOADABLE NAME##_explicit(volatile AS A *p, T x, memory_order order, memory_scope scope)                    \
    {                                                                                                                \
        return DO(p, x, order, SCOPE);                                                                               \
    }
#define COMPARE(A, AS, T, EXPECTED, NAME, DO)                                                                        \
    bool OVERLOADABLE NAME(volatile AS A *p, EXPECTED T *expected, T x)                                              \
    {                                                                                                                \
        return DO(p, expected, x, memory_order_seq_cst, memory_order_seq_cst, SCOPE);                                \
    }                                                                                                                \
    bool OVERLOADABLE NAME##_explicit(volatile AS A *p, EXPECTED T *expected, T x, memory_order success,             \
                                      memory_order failure)                                                          \
    {                                                                                                                \
        return success == memory_order_relaxed && failure == memory_order_relaxed                                    \
                   ? DO(p, expected, x, memory_order_relaxed, memory_order_relaxed, SCOPE)                           \
                   : DO(p, expected, x, memory_order_seq_cst, memory_order_seq_cst, SCOPE);                          \
    }                                                                                                                \
    bool OVERLOADABLE NAME##_explicit(volatile AS A *p, EXPECTED T *expected, T x, memory_order success,             \
                                      memory_order failure, memory_scope scope)                                      \
    {                                                                                                                \
        return success == memory_order_relaxed && failure == memory_order_relaxed                                    \
                   ? DO(p, expected, x, memory_order_relaxed, memory_order_relaxed, SCOPE)                           \
                   : DO(p, expected, x, memory_order_seq_cst, memory_order_seq_cst, SCOPE);                          \
    }
#define COMPARES(A, AS, T, EXPECTED)                                                                                 \
    COMPARE(A, AS, T, EXPECTED, atomic_compare_exchange_strong, __opencl_atomic_compare_exchange_strong)             \
    COMPARE(A, AS, T, EXPECTED, atomic_compare_exchange_weak, __opencl_atomic_compare_exchange_strong)

#define ANY_TYPE(T, AS)                                                                                              \
    void OVERLOADABLE atomic_init(volatile AS atomic_##T *p, T x)                                                    \
    {                                                                                                                \
        __opencl_atomic_init(p, x);                                                                                  \
    }                                                                                                                \
    FORMS_2(void, atomic_##T, AS, T, atomic_store, __opencl_atomic_store)                                            \
    FORMS_1(T, atomic_##T, AS, atomic_load, __opencl_atomic_load)                                                    \
    FORMS_2(T, atomic_##T, AS, T, atomic_exchange, __opencl_atomic_exchange)                                         \
    COMPARES(atomic_##T, AS, T, __global)                                                                            \
    COMPARES(atomic_##T, AS, T, __local)                                                                             \
    COMPARES(atomic_##T, AS, T, )

#define INTEGER_TYPE(T, AS)                                                                                          \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_add, __opencl_atomic_fetch_add)                                       \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_sub, __opencl_atomic_fetch_sub)                                       \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_or, __opencl_atomic_fetch_or)                                         \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_xor, __opencl_atomic_fetch_xor)                                       \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_and, __opencl_atomic_fetch_and)                                       \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_min, __opencl_atomic_fetch_min)                                       \
    FORMS_2(T, atomic_##T, AS, T, atomic_fetch_max, __opencl_atomic_fetch_max)

#define EACH_SPACE(DO, T) DO(T, __global) DO(T, __local) DO(T, )

EACH_SPACE(ANY_TYPE, int)
EACH_SPACE(ANY_TYPE, uint)
EACH_SPACE(ANY_TYPE, long)
EACH_SPACE(ANY_TYPE, ulong)
EACH_SPACE(ANY_TYPE, float)
EACH_SPACE(ANY_TYPE, double)
EACH_SPACE(INTEGER_TYPE, int)
EACH_SPACE(INTEGER_TYPE, uint)
EACH_SPACE(INTEGER_TYPE, long)
EACH_SPACE(INTEGER_TYPE, ulong)

/* The headers also have the 64-bit types with an operand of the other signedness (intptr_t and its kin). */
#define MIXED(A, T, AS)                                                                                              \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_add, __opencl_atomic_fetch_add)                                       \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_sub, __opencl_atomic_fetch_sub)                                       \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_or, __opencl_atomic_fetch_or)                                         \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_xor, __opencl_atomic_fetch_xor)                                       \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_and, __opencl_atomic_fetch_and)                                       \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_min, __opencl_atomic_fetch_min)                                       \
    FORMS_2(A, atomic_##A, AS, T, atomic_fetch_max, __opencl_atomic_fetch_max)
MIXED(long, ulong, __global)
MIXED(long, ulong, __local)
MIXED(long, ulong, )
MIXED(ulong, long, __global)
MIXED(ulong, long, __local)
MIXED(ulong, long, )

/* atomic_flag is an atomic_int: 0 means clear. */
#define CLEAR(p, order, scope) __opencl_atomic_store(p, 0, order, scope)
#define TEST_AND_SET(p, order, scope) (__opencl_atomic_exchange(p, 1, order, scope) != 0)
#define FLAG(AS)                                                                                                     \
    FORMS_1(void, atomic_flag, AS, atomic_flag_clear, CLEAR)                                                         \
    FORMS_1(bool, atomic_flag, AS, atomic_flag_test_and_set, TEST_AND_SET)
FLAG(__global)
FLAG(__local)
FLAG()
