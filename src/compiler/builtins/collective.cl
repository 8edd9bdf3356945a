/*
 * Collective functions of which one work-item's value goes to all: the same for all targets.
 */
#include "collective.h"

/* Of the work-item for which `mine` is true. */
#define GIVE(T)                                          \
    static T give_##T(T x, bool mine)                    \
    {                                                    \
        __local T *shared = GROUP_MEMORY(T, 1);          \
                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                    \
        if (mine)                                        \
            *shared = x;                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                    \
        return *shared;                                  \
    }
#define BROADCAST(T)                                                                                       \
    GIVE(T)                                                                                                \
    T OVERLOADABLE work_group_broadcast(T x, size_t l0)                                                    \
    {                                                                                                      \
        return give_##T(x, get_local_id(0) == l0);                                                         \
    }                                                                                                      \
    T OVERLOADABLE work_group_broadcast(T x, size_t l0, size_t l1)                                         \
    {                                                                                                      \
        return give_##T(x, get_local_id(0) == l0 && get_local_id(1) == l1);                                \
    }                                                                                                      \
    T OVERLOADABLE work_group_broadcast(T x, size_t l0, size_t l1, size_t l2)                              \
    {                                                                                                      \
        return give_##T(x, get_local_id(0) == l0 && get_local_id(1) == l1 && get_local_id(2) == l2);       \
    }
BROADCAST(int)
BROADCAST(uint)
BROADCAST(long)
BROADCAST(ulong)
BROADCAST(float)
BROADCAST(double)
