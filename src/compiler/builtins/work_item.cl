/*
 * Work-items, barriers and fences. The work-group pass knows nine id functions and barrier(uint)
 * (compiler/workgroup/workgroup.h); all others are made of these here.
 */
#include "common.h"

size_t OVERLOADABLE get_global_linear_id(void)
{
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
           z = get_global_id(2) - get_global_offset(2);

    return (z * get_global_size(1) + y) * get_global_size(0) + x;
}

size_t OVERLOADABLE get_local_linear_id(void)
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

void OVERLOADABLE work_group_barrier(cl_mem_fence_flags flags)
{
    barrier(flags);
}

/* Before it what the group has written is there for all whom the scope names, behind it what these have. */
void OVERLOADABLE work_group_barrier(cl_mem_fence_flags flags, memory_scope scope)
{
    bool wide = flags != CLK_LOCAL_MEM_FENCE && ((int)scope == __OPENCL_MEMORY_SCOPE_DEVICE ||
                                                 (int)scope == __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES);

    if (wide)
        __c11_atomic_thread_fence(__ATOMIC_ACQ_REL);
    barrier(flags);
    if (wide)
        __c11_atomic_thread_fence(__ATOMIC_ACQ_REL);
}

/*
 * Other work-groups run on other threads, so the host's memory ordering is needed; on x86 these fences are no
 * instructions. What is ordered for a work-group alone is ordered for one thread: a processor runs a group by one
 * thread, and for GPUs compiler/ptx/ptx.c makes a fence of the group of it. The device's waits for all writes to global
 * memory.
 */
#define FENCE(narrow, order)                                                 \
    do {                                                                     \
        if (narrow)                                                          \
            __c11_atomic_signal_fence(order);                                \
        else                                                                 \
            __c11_atomic_thread_fence(order);                                \
    } while (0)

/* By the standard these are of the work-group, whatever the flags. But programs wait for other groups by fences of
 * global memory, so those of local memory alone are. */
void OVERLOADABLE mem_fence(cl_mem_fence_flags flags)
{
    FENCE(flags == CLK_LOCAL_MEM_FENCE, __ATOMIC_ACQ_REL);
}

void OVERLOADABLE read_mem_fence(cl_mem_fence_flags flags)
{
    FENCE(flags == CLK_LOCAL_MEM_FENCE, __ATOMIC_ACQUIRE);
}

void OVERLOADABLE write_mem_fence(cl_mem_fence_flags flags)
{
    FENCE(flags == CLK_LOCAL_MEM_FENCE, __ATOMIC_RELEASE);
}

void OVERLOADABLE atomic_work_item_fence(cl_mem_fence_flags flags, memory_order order, memory_scope scope)
{
    bool narrow = flags == CLK_LOCAL_MEM_FENCE || scope == memory_scope_work_group || scope == memory_scope_work_item;

    if (order == memory_order_seq_cst)
        FENCE(narrow, __ATOMIC_SEQ_CST);
    else if (order != memory_order_relaxed)
        FENCE(narrow, __ATOMIC_ACQ_REL);
}

/* Only a hint: no way is known to be faster. libclc has the other types. */
#define PREFETCH(T)                                             \
    void OVERLOADABLE prefetch(const __global T *p, size_t n)   \
    {                                                           \
    }
PREFETCH(char3)
PREFETCH(uchar3)
PREFETCH(short3)
PREFETCH(ushort3)
PREFETCH(int3)
PREFETCH(uint3)
PREFETCH(long3)
PREFETCH(ulong3)
PREFETCH(float3)
PREFETCH(double3)

/* Each work-item copies every n-th element; wait_group_events is a barrier. */
#define COPY(T, TO, FROM)                                                                                            \
    event_t OVERLOADABLE async_work_group_copy(TO T *to, const FROM T *from, size_t n, event_t event)                \
    {                                                                                                                \
        for (size_t i = get_local_linear_id(); i < n; i += get_local_size(0) * get_local_size(1) * get_local_size(2)) \
            to[i] = from[i];                                                                                         \
        return event;                                                                                                \
    }
#define STRIDED(T, TO, FROM, TO_STRIDE, FROM_STRIDE)                                                                 \
    event_t OVERLOADABLE async_work_group_strided_copy(TO T *to, const FROM T *from, size_t n, size_t stride,        \
                                                       event_t event)                                                \
    {                                                                                                                \
        for (size_t i = get_local_linear_id(); i < n; i += get_local_size(0) * get_local_size(1) * get_local_size(2)) \
            to[i * TO_STRIDE] = from[i * FROM_STRIDE];                                                               \
        return event;                                                                                                \
    }
#define COPIES(T)                            \
    COPY(T, __local, __global)               \
    COPY(T, __global, __local)               \
    STRIDED(T, __local, __global, 1, stride) \
    STRIDED(T, __global, __local, stride, 1)
COPIES(char3)
COPIES(uchar3)
COPIES(short3)
COPIES(ushort3)
COPIES(int3)
COPIES(uint3)
COPIES(long3)
COPIES(ulong3)
COPIES(float3)
COPIES(double3)

/* All flags: cheaper than finding out. */
cl_mem_fence_flags OVERLOADABLE get_fence(void *p)
{
    return CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE;
}

cl_mem_fence_flags OVERLOADABLE get_fence(const void *p)
{
    return CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE;
}
