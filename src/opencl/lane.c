/* Lanes: in-order queues of the vendor. */
#include "opencl/lane.h"
#include "opencl/fence.h"
#include "opencl/gate.h"
#include "opencl/member.h"
#include "opencl/operations.h"

#include <stdlib.h>

#define CLOCK_SIGHTINGS 8

/* The more often the device's clock was seen, the closer the bounds on it; without this the first commands would pay
 * for what the others learn. Once for a member, with the first lane that asks for times. */
static void see_clock(struct tsl_opencl_member *member, struct tsl_lane *lane)
{
    if (atomic_exchange(&member->clock_seen, true))
        return;
    for (int i = 0; i < CLOCK_SIGHTINGS; i++) {
        struct tsl_fence *fence;
        struct tsl_times times;

        if (tsl_opencl_mark(lane, NULL, &fence))
            return;
        tsl_opencl_fence_wait(fence);
        tsl_opencl_fence_times(fence, &times);
        tsl_fence_unref(fence);
    }
}

cl_int tsl_opencl_lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);
    struct tsl_opencl_lane *l;
    cl_int error;

    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    l = calloc(1, sizeof(*l));
    if (!l)
        return CL_OUT_OF_HOST_MEMORY;
    bool profile = use & TSL_LANE_PROFILES && member->caps.profiles;
    tsl_opencl_collect(m);
    tsl_opencl_enter(m->device);
    l->queue = m->cl->clCreateCommandQueue(m->context, m->device->id, profile ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
    tsl_opencl_leave(m->device);
    if (!l->queue) {
        free(l);
        return tsl_opencl_error(m, error ? error : CL_OUT_OF_RESOURCES);
    }
    l->base.member = member;
    l->profile = profile;
    atomic_init(&l->refs, 1);
    if (profile)
        see_clock(m, &l->base);
    *lane = &l->base;
    return CL_SUCCESS;
}

void tsl_opencl_lane_unref(struct tsl_opencl_lane *lane)
{
    struct tsl_opencl_member *member;

    /* As in tsl_fence_unref(). */
    if (atomic_fetch_sub_explicit(&lane->refs, 1, memory_order_acq_rel) != 1)
        return;
    member = tsl_opencl_member(lane->base.member);
    tsl_opencl_release(member, TSL_OPENCL_QUEUE, lane->queue);
    free(lane);
}

/* The first n are flushed. Of two flushes the later one may be over first. */
static void sent(struct tsl_opencl_lane *lane, unsigned n)
{
    unsigned known = atomic_load_explicit(&lane->n_sent, memory_order_relaxed);

    while ((int)(n - known) > 0 &&
           !atomic_compare_exchange_weak_explicit(&lane->n_sent, &known, n, memory_order_release, memory_order_relaxed))
        continue;
}

/* While another thread's flush is under way this one flushes, too: the other may fail. */
cl_int tsl_opencl_lane_flush(struct tsl_opencl_lane *lane)
{
    struct tsl_opencl_member *member = tsl_opencl_member(lane->base.member);
    unsigned n = atomic_load_explicit(&lane->n_submitted, memory_order_acquire);
    cl_int error;

    if ((int)(n - atomic_load_explicit(&lane->n_sent, memory_order_acquire)) <= 0)
        return CL_SUCCESS;
    if (member->device->quirks.synchronous)
        return CL_SUCCESS; /* Each submission was finished before it returned. */
    tsl_opencl_enter(member->device);
    error = member->cl->clFlush(lane->queue);
    tsl_opencl_leave(member->device);
    if (!error)
        sent(lane, n);
    return tsl_opencl_error(member, error);
}

/* Fences keep the queue; what was submitted must not depend on when the last of them goes. */
void tsl_opencl_lane_free(struct tsl_lane *lane)
{
    struct tsl_opencl_lane *l = tsl_opencl_lane(lane);

    tsl_opencl_lane_flush(l);
    tsl_opencl_lane_unref(l);
}

cl_int tsl_opencl_flush(struct tsl_lane *lane)
{
    tsl_opencl_collect(tsl_opencl_member(lane->member));
    return tsl_opencl_lane_flush(tsl_opencl_lane(lane));
}

/* Waits for the event of a last command. */
static cl_int wait_for_marker(const struct tsl_opencl_cl *cl, cl_command_queue queue)
{
    cl_event event;
    cl_int error = cl->clEnqueueMarkerWithWaitList(queue, 0, NULL, &event);

    if (error)
        return error;
    error = cl->clFlush(queue);
    if (!error)
        error = cl->clWaitForEvents(1, &event);
    cl->clReleaseEvent(event);
    return error;
}

static cl_int drain(const struct tsl_opencl_member *member, cl_command_queue queue)
{
    return member->device->quirks.finish_forgets ? wait_for_marker(member->cl, queue) : member->cl->clFinish(queue);
}

cl_int tsl_opencl_lane_drain(struct tsl_opencl_lane *lane)
{
    struct tsl_opencl_member *member = tsl_opencl_member(lane->base.member);
    cl_int error = drain(member, lane->queue);

    /* A call that fails says nothing of the work, whose memory will soon be another's. */
    if (error)
        drain(member, lane->queue);
    tsl_opencl_take();
    return error;
}

cl_int tsl_opencl_finish(struct tsl_lane *lane)
{
    struct tsl_opencl_member *member = tsl_opencl_member(lane->member);
    struct tsl_opencl_lane *l = tsl_opencl_lane(lane);
    unsigned n;
    cl_int error;

    if (member->device->quirks.synchronous) {
        /* Each submission was finished before it returned. */
        tsl_opencl_collect(member);
        return tsl_member_is_lost(lane->member) ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
    }
    n = atomic_load_explicit(&l->n_submitted, memory_order_acquire);
    error = tsl_opencl_lane_drain(l);
    if (!error)
        sent(l, n);
    tsl_opencl_notice_failures(member);
    tsl_opencl_collect(member);
    tsl_opencl_error(member, error);
    return tsl_member_is_lost(lane->member) ? CL_DEVICE_NOT_AVAILABLE : error;
}
