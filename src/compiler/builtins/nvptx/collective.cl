/*
 * Work-group collective functions for NVIDIA's GPUs. Work-items of a warp exchange values by shuffles; the last of each
 * warp leaves the warp's result in the group's memory, and the first warp puts these together. The last warp may have
 * fewer work-items than WARP, the first one has all where there are several.
 */
#include "collective.h"

#define WARP 32u

uint shuffle_up(uint members, uint x, uint by, uint least) __asm("llvm.nvvm.shfl.sync.up.i32");
uint shuffle_from(uint members, uint x, uint lane, uint most) __asm("llvm.nvvm.shfl.sync.idx.i32");
int barrier_or(int x) __asm("llvm.nvvm.barrier0.or");
int barrier_and(int x) __asm("llvm.nvvm.barrier0.and");

/* What a work-item knows of its warp. */
struct warp {
    uint items, item; /* of the group; this one */
    uint lane, lanes, members;
};

static struct warp warp_of(void)
{
    struct warp w = {.items = group_items(), .item = group_item()};

    w.lane = w.item % WARP;
    w.lanes = min(w.items - (w.item - w.lane), WARP);
    w.members = ~0u >> (WARP - w.lanes);
    return w;
}

#define EXCHANGE_32(T)                                                                \
    static T up_##T(const struct warp *w, T x, uint by)                               \
    {                                                                                 \
        return as_##T(shuffle_up(w->members, as_uint(x), by, 0));                     \
    }                                                                                 \
    static T from_##T(const struct warp *w, T x, uint lane)                           \
    {                                                                                 \
        return as_##T(shuffle_from(w->members, as_uint(x), lane, WARP - 1));          \
    }
#define EXCHANGE_64(T)                                                                \
    static T up_##T(const struct warp *w, T x, uint by)                               \
    {                                                                                 \
        uint2 v = as_uint2(x);                                                        \
                                                                                      \
        return as_##T((uint2)(shuffle_up(w->members, v.x, by, 0), shuffle_up(w->members, v.y, by, 0))); \
    }                                                                                 \
    static T from_##T(const struct warp *w, T x, uint lane)                           \
    {                                                                                 \
        uint2 v = as_uint2(x);                                                        \
                                                                                      \
        return as_##T((uint2)(shuffle_from(w->members, v.x, lane, WARP - 1),          \
                              shuffle_from(w->members, v.y, lane, WARP - 1)));        \
    }
EXCHANGE_32(int)
EXCHANGE_32(uint)
EXCHANGE_32(float)
EXCHANGE_64(long)
EXCHANGE_64(ulong)
EXCHANGE_64(double)

/* scan_of_warp: inclusive. totals_of_warps: parts[i] becomes the scan up to warp i; x is the work-item's result within
 * its warp. */
#define WARPS(T, OP, NAME, NOTHING)                                                   \
    static T scan_of_warp_##T##_##OP(const struct warp *w, T x)                       \
    {                                                                                 \
        for (uint by = 1; by < WARP; by *= 2) {                                       \
            T other = up_##T(w, x, by);                                               \
                                                                                      \
            x = w->lane >= by ? OP_##OP(other, x) : x;                                \
        }                                                                             \
        return x;                                                                     \
    }                                                                                 \
    static void totals_of_warps_##T##_##OP(const struct warp *w, T x, __local T *parts) \
    {                                                                                 \
        uint n = (w->items + WARP - 1) / WARP;                                        \
                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                 \
        if (w->lane == w->lanes - 1)                                                  \
            parts[w->item / WARP] = x;                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                                 \
        if (w->item < WARP) {                                                         \
            T total = scan_of_warp_##T##_##OP(w, parts[min(w->lane, n - 1)]);         \
                                                                                      \
            if (w->lane < n)                                                          \
                parts[w->lane] = total;                                               \
        }                                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                 \
    }                                                                                 \
    static T reduce_##T##_##OP(T x)                                                   \
    {                                                                                 \
        __local T *parts = GROUP_MEMORY(T, WARP);                                     \
        struct warp w = warp_of();                                                    \
                                                                                      \
        x = scan_of_warp_##T##_##OP(&w, x);                                           \
        if (w.items <= WARP)                                                          \
            return from_##T(&w, x, w.lanes - 1);                                      \
        totals_of_warps_##T##_##OP(&w, x, parts);                                     \
        return parts[(w.items - 1) / WARP];                                           \
    }                                                                                 \
    static T scan_##T##_##OP(T x, bool exclusive)                                     \
    {                                                                                 \
        __local T *parts = GROUP_MEMORY(T, WARP);                                     \
        struct warp w = warp_of();                                                    \
        T before;                                                                     \
                                                                                      \
        x = scan_of_warp_##T##_##OP(&w, x);                                           \
        if (exclusive)                                                                \
            before = up_##T(&w, x, 1);                                                \
        if (w.items > WARP)                                                           \
            totals_of_warps_##T##_##OP(&w, x, parts);                                 \
        if (exclusive)                                                                \
            x = w.lane ? before : NOTHING;                                            \
        return w.item >= WARP ? OP_##OP(parts[w.item / WARP - 1], x) : x;             \
    }
EACH_COLLECTIVE(WARPS)
EACH_COLLECTIVE(COLLECTIVE)

/* A barrier of the hardware gathers truths itself. */
int OVERLOADABLE work_group_any(int x)
{
    return barrier_or(x) != 0;
}

int OVERLOADABLE work_group_all(int x)
{
    return barrier_and(x) != 0;
}
