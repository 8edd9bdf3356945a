#include "opencl/submit.h"
#include "opencl/fence.h"
#include "opencl/gate.h"
#include "opencl/lane.h"
#include "opencl/member.h"
#include "opencl/operations.h"

#include <stdlib.h>

/* Some vendors would never complete what waits for an event that has failed; most fail it themselves. */
static bool hangs_others(const struct tsl_opencl_member *member, const struct tsl_opencl_fence *fence)
{
    return member->device->quirks.failed_wait_hangs && tsl_opencl_event_status(member->cl, fence->event) < 0;
}

/* Unflushed work need never start, so what waits for it in another lane sends it first. */
static cl_int send_awaited(const struct tsl_opencl_submit *s, const struct tsl_opencl_fence *fence)
{
    if (!fence->lane || fence->lane == s->lane)
        return CL_SUCCESS;
    return tsl_opencl_lane_flush(fence->lane);
}

static cl_int add_waits(struct tsl_opencl_submit *s, const struct tsl_waits *waits)
{
    cl_event *events = s->few;
    cl_int error = CL_SUCCESS;

    /* A launch with coarse-grained memory has two: one tells of its end, one how that was. */
    if (2 * waits->n > TSL_OPENCL_SMALL_WAITS)
        events = s->many = malloc(2 * waits->n * sizeof(*events));
    if (!events)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < waits->n && !error; i++) {
        struct tsl_opencl_fence *fence;
        bool hangs;

        if (!tsl_opencl_can_wait(s->lane->base.member, waits->fences[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
        fence = tsl_opencl_fence(waits->fences[i]);
        hangs = fence->event && hangs_others(s->member, fence);
        if (fence->ran && tsl_opencl_event_status(s->member->cl, fence->ran) < 0)
            s->refused = true;
        else if (fence->ran)
            events[s->n++] = fence->ran;
        if (fence->doomed || hangs || (!fence->event && fence->status < 0))
            s->refused = true;
        if (fence->event && !hangs) {
            events[s->n++] = fence->event;
            error = send_awaited(s, fence);
        }
    }
    s->events = s->n ? events : NULL;
    return error;
}

static cl_int want_fence(struct tsl_opencl_submit *s)
{
    s->fence = tsl_opencl_fence_new(s->member, s->lane);
    s->event_out = &s->event;
    return s->fence ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int tsl_opencl_begin(struct tsl_opencl_submit *s, struct tsl_lane *lane, const struct tsl_waits *waits,
                        struct tsl_fence **fence)
{
    cl_int error = CL_SUCCESS;

    s->lane = tsl_opencl_lane(lane);
    s->member = tsl_opencl_member(lane->member);
    s->queue = s->lane->queue;
    s->n = 0;
    s->events = NULL;
    s->event = NULL;
    s->event_out = NULL;
    s->refused = false;
    s->fence = NULL;
    s->many = NULL;
    if (tsl_member_is_lost(lane->member))
        return CL_DEVICE_NOT_AVAILABLE;
    tsl_opencl_collect(s->member);
    if (fence)
        error = want_fence(s);
    if (error)
        return error;
    if (waits && waits->n)
        error = add_waits(s, waits);
    if (error)
        goto no_waits;
    tsl_opencl_enter(s->member->device);
    if (s->fence && s->lane->profile)
        s->fence->before_ns = tsl_clock_ns();
    return CL_SUCCESS;

no_waits:
    free(s->many);
    if (s->fence)
        tsl_fence_unref(&s->fence->base);
    return tsl_opencl_error(s->member, error);
}

/* On a synchronous device the work is over when the submission is. */
static cl_int finish_now(struct tsl_opencl_submit *s)
{
    cl_int error = tsl_opencl_lane_drain(s->lane);

    if (s->fence)
        tsl_opencl_fence_settle(s->fence);
    else if (error)
        return error;
    return CL_SUCCESS;
}

static cl_int take_event(struct tsl_opencl_submit *s)
{
    if (s->fence) {
        s->fence->event = s->event;
        s->fence->doomed = s->refused;
        s->fence->after_ns = s->lane->profile ? tsl_clock_ns() : 0;
    }
    if (s->member->device->quirks.synchronous)
        return finish_now(s);
    atomic_fetch_add_explicit(&s->lane->n_submitted, 1, memory_order_release);
    return CL_SUCCESS;
}

/* Some vendors refuse the enqueue itself when an event of the list has failed already. True if so; the list is then of
 * the others. */
static bool drop_failed(struct tsl_opencl_submit *s)
{
    cl_event *events = s->many ? s->many : s->few;
    cl_uint n = 0;

    for (cl_uint i = 0; i < s->n; i++)
        if (tsl_opencl_event_status(s->member->cl, s->events[i]) >= 0)
            events[n++] = s->events[i];
    if (n == s->n)
        return false;
    s->n = n;
    s->events = n ? events : NULL;
    return true;
}

/* OpenCL 1.1 has no marker with a wait list: first everything after it in the queue is made to wait. */
static cl_int mark_11(struct tsl_opencl_submit *s)
{
    const struct tsl_opencl_cl *cl = s->member->cl;
    cl_event event = NULL;
    cl_int error = CL_SUCCESS;

    if (s->n)
        error = cl->clEnqueueWaitForEvents(s->queue, s->n, s->events);
    if (!error)
        error = cl->clEnqueueMarker(s->queue, s->event_out ? s->event_out : &event);
    if (!error && event)
        cl->clReleaseEvent(event);
    return error;
}

static cl_int mark(struct tsl_opencl_submit *s)
{
    return s->member->cl->clEnqueueMarkerWithWaitList
               ? s->member->cl->clEnqueueMarkerWithWaitList(s->queue, s->n, s->events, s->event_out)
               : mark_11(s);
}

/* The work isn't done, but later work counts on all that it came after. */
static cl_int mark_in_place(struct tsl_opencl_submit *s)
{
    return s->fence || s->n ? mark(s) : CL_SUCCESS;
}

cl_int tsl_opencl_end(struct tsl_opencl_submit *s, cl_int error, struct tsl_fence **fence)
{
    if (error && drop_failed(s)) {
        s->refused = true;
        error = CL_SUCCESS;
    }
    if (!error && s->refused)
        error = mark_in_place(s);
    if (!error)
        error = take_event(s);
    tsl_opencl_leave(s->member->device);
    free(s->many);
    if (error && s->fence)
        tsl_fence_unref(&s->fence->base);
    else if (!error && fence)
        *fence = &s->fence->base;
    return tsl_opencl_error(s->member, error);
}

cl_int tsl_opencl_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_opencl_submit s;
    cl_int error = tsl_opencl_begin(&s, lane, waits, fence);

    if (error)
        return error;
    if (!s.refused)
        error = mark(&s);
    return tsl_opencl_end(&s, error, fence);
}
