/* How a request of work is made: begun, named and said under the connection's lock. */
#ifndef TSL_REMOTE_WORK_H
#define TSL_REMOTE_WORK_H

#include "remote/internal.h"

/* What all kinds of work have in common while a request of it is made. */
struct remote_work {
    struct remote_lane *lane;
    struct remote_node *node;
    struct tsl_remote_request request;
    bool held, reads;             /* struct remote_fence */
    struct remote_fence *fence;   /* NULL: nobody asks */
    struct remote_kernel *kernel; /* whose arguments of that serial it says; NULL: of none */
    uint64_t serial;
};

/* Checks the lane and what is waited for. An error leaves request.waits to be freed all the same. */
cl_int remote_work_begin_locked(struct remote_work *work, struct tsl_lane *lane, enum tsl_remote_request_kind kind,
                                const struct tsl_waits *waits);
/* Gives it a number and, where it is wanted or needed, a fence, whose creator's reference is work->fence. */
cl_int remote_work_name_locked(struct remote_work *work, bool wanted, const struct tsl_waits *waits);
/* Says it. */
void remote_work_put_locked(struct remote_work *work);
/* Drops what is behind the lane's last held work; the caller drops the reference that is returned, without the lock. */
struct remote_fence *remote_work_hold_locked(struct remote_work *work);
/* Names it, unless there is an error already, says it, and unlocks. fence as the contract has it. */
cl_int remote_work_say_unlock(struct remote_work *work, cl_int error, const struct tsl_waits *waits,
                              struct tsl_fence **fence);

static inline bool remote_fence_has_ended(const struct remote_fence *fence)
{
    return atomic_load(&fence->status) <= CL_COMPLETE;
}

static inline void remote_fence_drop(struct remote_fence *fence)
{
    if (fence)
        tsl_fence_unref(&fence->base);
}

static inline struct remote_connection *remote_lane_connection(const struct tsl_lane *lane)
{
    return remote_member_of(lane->member)->node->connection;
}

static inline void remote_work_set_place(struct tsl_remote_place *to, const struct tsl_place *from)
{
    *to = (struct tsl_remote_place){remote_mem_of(from->mem)->id, from->offset, from->row_pitch, from->slice_pitch};
}

#endif
