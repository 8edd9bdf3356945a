#include "vendor/internal.h"

#include <stdlib.h>

/* Has the fence failed already, as far as it matters? Most vendors are told to wait for it, and fail the command
 * themselves; some would never complete it. */
static bool has_failed(const struct tsl_vendor_member *member, struct tsl_vendor_fence *fence)
{
    if (!fence->event)
        return fence->status < 0;
    return member->device->quirks.failed_wait_hangs && tsl_vendor_fence_status(&fence->base) < 0;
}

/* Unflushed work need never start, so what waits for it in another lane sends it first. */
static cl_int send_awaited(const struct tsl_vendor_submit *s, const struct tsl_vendor_fence *fence)
{
    if (!fence->lane || fence->lane == s->lane)
        return CL_SUCCESS;
    return tsl_vendor_lane_flush(fence->lane);
}

static cl_int add_waits(struct tsl_vendor_submit *s, const struct tsl_waits *waits)
{
    cl_event *events = s->few;
    cl_int error = CL_SUCCESS;

    if (waits->n > TSL_VENDOR_FEW_WAITS)
        events = s->many = malloc(waits->n * sizeof(*events));
    if (!events)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < waits->n && !error; i++) {
        struct tsl_vendor_fence *fence;

        if (!tsl_vendor_can_wait(s->lane->base.member, waits->fences[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
        fence = tsl_vendor_fence(waits->fences[i]);
        if (has_failed(s->member, fence))
            s->refused = true;
        if (fence->event) {
            events[s->n++] = fence->event;
            error = send_awaited(s, fence);
        }
    }
    s->events = s->n ? events : NULL;
    return error;
}

static cl_int want_fence(struct tsl_vendor_submit *s)
{
    s->fence = tsl_vendor_fence_new(s->member, s->lane);
    s->event_out = &s->event;
    return s->fence ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int tsl_vendor_begin(struct tsl_vendor_submit *s, struct tsl_lane *lane, const struct tsl_waits *waits,
                        struct tsl_fence **fence)
{
    cl_int error = CL_SUCCESS;

    s->lane = tsl_vendor_lane(lane);
    s->member = tsl_vendor_member(lane->member);
    s->queue = s->lane->queue;
    s->n = 0;
    s->events = NULL;
    s->event = NULL;
    s->event_out = NULL;
    s->refused = false;
    s->fence = NULL;
    s->many = NULL;
    tsl_vendor_collect(s->member);
    if (fence)
        error = want_fence(s);
    if (error)
        return error;
    if (waits && waits->n)
        error = add_waits(s, waits);
    if (error)
        goto no_waits;
    tsl_vendor_enter(s->member->device);
    if (s->fence && s->lane->profile)
        s->fence->before_ns = tsl_clock_ns();
    return CL_SUCCESS;

no_waits:
    free(s->many);
    if (s->fence)
        tsl_fence_unref(&s->fence->base);
    return error;
}

/* On a synchronous device the work is over when the submission is. */
static cl_int finish_now(struct tsl_vendor_submit *s)
{
    cl_int error = tsl_vendor_lane_drain(s->lane);

    if (s->fence)
        tsl_vendor_fence_settle(s->fence);
    else if (error)
        return error;
    return CL_SUCCESS;
}

static cl_int take_event(struct tsl_vendor_submit *s)
{
    if (s->refused) {
        if (s->fence)
            s->fence->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        return CL_SUCCESS;
    }
    if (s->fence) {
        s->fence->event = s->event;
        s->fence->after_ns = s->lane->profile ? tsl_clock_ns() : 0;
    }
    if (s->member->device->quirks.synchronous)
        return finish_now(s);
    atomic_fetch_add_explicit(&s->lane->n_submitted, 1, memory_order_release);
    return CL_SUCCESS;
}

/* Some vendors refuse the enqueue itself when an event of the list has failed already. */
static bool is_for_failed_wait(const struct tsl_vendor_submit *s)
{
    for (cl_uint i = 0; i < s->n; i++)
        if (tsl_vendor_event_status(s->member->cl, s->events[i]) < 0)
            return true;
    return false;
}

cl_int tsl_vendor_end(struct tsl_vendor_submit *s, cl_int error, struct tsl_fence **fence)
{
    if (error && is_for_failed_wait(s)) {
        s->refused = true;
        error = CL_SUCCESS;
    }
    if (!error)
        error = take_event(s);
    tsl_vendor_leave(s->member->device);
    free(s->many);
    if (error && s->fence)
        tsl_fence_unref(&s->fence->base);
    else if (!error && fence)
        *fence = &s->fence->base;
    return error;
}

/* OpenCL 1.1 has no marker with a wait list: first everything after it in the queue is made to wait. */
static cl_int mark_11(struct tsl_vendor_submit *s)
{
    const struct tsl_vendor_cl *cl = s->member->cl;
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

cl_int tsl_vendor_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_vendor_submit s;
    cl_int error = tsl_vendor_begin(&s, lane, waits, fence);

    if (error)
        return error;
    if (!s.refused && s.member->cl->clEnqueueMarkerWithWaitList)
        error = s.member->cl->clEnqueueMarkerWithWaitList(s.queue, s.n, s.events, s.event_out);
    else if (!s.refused)
        error = mark_11(&s);
    return tsl_vendor_end(&s, error, fence);
}
