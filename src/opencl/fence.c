/* Fences: events of the vendor. */
#include "opencl/fence.h"
#include "opencl/lane.h"
#include "opencl/member.h"
#include "opencl/operations.h"

#include <stdlib.h>
#include <unistd.h>

#define CALLBACK_PATIENCE_MS 1000

/* A function to be called when a fence is complete. It lives until the vendor has made the call that it owes, since a
 * callback can't be taken back. Some vendors never call for work that failed; what is left then is freed at close. */
struct tsl_opencl_notice {
    struct tsl_opencl_member *member;
    struct tsl_opencl_fence *fence; /* a reference until told */
    tsl_notify_fn *fn;
    void *arg;
    /* Guarded by notices_lock: */
    bool told;
    bool abandoned;                       /* told by us: the vendor's call may never come */
    unsigned refs;                        /* the vendor's, and one for each function below that uses it */
    unsigned searched;                    /* number of the last search for failures that saw it */
    struct tsl_opencl_notice *next, **at; /* in member->notices */
};

atomic_uint tsl_opencl_given;

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static struct tsl_opencl_fence *take_from_pool(struct tsl_opencl_member *member)
{
    struct tsl_opencl_fence *fence;

    pthread_mutex_lock(&member->pool_lock);
    fence = member->pool;
    if (fence)
        member->pool = fence->next;
    pthread_mutex_unlock(&member->pool_lock);
    return fence ? fence : malloc(sizeof(*fence));
}

struct tsl_opencl_fence *tsl_opencl_fence_new(struct tsl_opencl_member *member, struct tsl_opencl_lane *lane)
{
    struct tsl_opencl_fence *fence = take_from_pool(member);

    if (!fence)
        return NULL;
    *fence = (struct tsl_opencl_fence){.base = {.driver = &tsl_opencl_driver, .member = &member->base}, .lane = lane};
    atomic_init(&fence->base.refs, 1);
    if (lane) /* Relaxed: the caller has a reference. */
        atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
    return fence;
}

static void release_event(struct tsl_opencl_member *member, cl_event event)
{
    tsl_opencl_enter(member->device);
    member->cl->clReleaseEvent(event);
    tsl_opencl_leave(member->device);
}

void tsl_opencl_fence_free(struct tsl_fence *fence)
{
    struct tsl_opencl_fence *f = tsl_opencl_fence(fence);
    struct tsl_opencl_member *member = tsl_opencl_member(fence->member);

    /* A gate that was not opened would hold what waits for it for ever. */
    if (f->is_gate && !atomic_load(&f->opened)) {
        atomic_store(&fence->refs, 1);
        tsl_opencl_gate_open(fence, CL_OUT_OF_RESOURCES);
        tsl_fence_unref(fence);
        return;
    }
    if (f->event)
        release_event(member, f->event);
    if (f->ran)
        release_event(member, f->ran);
    if (f->lane)
        tsl_opencl_lane_unref(f->lane);
    pthread_mutex_lock(&member->pool_lock);
    f->next = member->pool;
    member->pool = f;
    pthread_mutex_unlock(&member->pool_lock);
}

bool tsl_opencl_can_wait(struct tsl_member *member, const struct tsl_fence *fence)
{
    return fence->member == member;
}

/* ---- Status and times -------------------------------------------------------------------------------------------- */

cl_int tsl_opencl_event_status(const struct tsl_opencl_cl *cl, cl_event event)
{
    cl_int status = CL_QUEUED, error = CL_OUT_OF_RESOURCES;

    /* A call that fails says nothing of the work, which may still be on its way. If it fails again, nothing more will
     * ever be heard. */
    for (int i = 0; i < 2 && error; i++)
        error = cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
    return error ? error : status;
}

/* How the fence ends if its event ends so. */
static cl_int end_of(const struct tsl_opencl_fence *f, cl_int status)
{
    if (f->ran && status == CL_COMPLETE) {
        status = tsl_opencl_event_status(tsl_opencl_member(f->base.member)->cl, f->ran);
        if (status > 0) /* The command behind it is complete. */
            status = CL_COMPLETE;
    }
    if (f->doomed && status == CL_COMPLETE)
        status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return f->is_gate ? status : tsl_opencl_error(tsl_opencl_member(f->base.member), status);
}

cl_int tsl_opencl_fence_status(struct tsl_fence *fence)
{
    struct tsl_opencl_fence *f = tsl_opencl_fence(fence);

    cl_int status = f->event ? tsl_opencl_event_status(tsl_opencl_member(fence->member)->cl, f->event) : f->status;
    tsl_opencl_take();
    return end_of(f, status);
}

cl_int tsl_opencl_fence_wait(struct tsl_fence *fence)
{
    struct tsl_opencl_fence *f = tsl_opencl_fence(fence);
    struct tsl_opencl_member *member = tsl_opencl_member(fence->member);
    cl_int status = CL_QUEUED, error = CL_SUCCESS;

    if (f->lane)
        error = tsl_opencl_lane_flush(f->lane);
    /* A wait that fails says nothing of the work, which may still be going on. */
    for (int i = 0; i < 2 && status > 0; i++) {
        if (!error && f->event)
            error = member->cl->clWaitForEvents(1, &f->event);
        status = tsl_opencl_fence_status(fence);
        if (status > 0 && i == 0)
            error = CL_SUCCESS;
    }
    /* The event's own error says more than the error of an event that it waited for. */
    return status > 0 && error ? tsl_opencl_error(member, error) : status;
}

/* The vendor's four times of the event; false if it has none. */
static bool vendor_times(const struct tsl_opencl_cl *cl, cl_event event, cl_ulong *queued, struct tsl_times *times)
{
    cl_ulong start, end;

    if (cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof(*queued), queued, NULL) ||
        cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL) ||
        cl->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL))
        return false;
    times->start_ns = start;
    times->end_ns = end < start ? start : end;
    return true;
}

/* QUEUED was read from the device's clock while the enqueuing call ran: that pins the device's clock to ours. */
static bool read_times(const struct tsl_opencl_fence *f, struct tsl_times *times)
{
    struct tsl_opencl_member *member = tsl_opencl_member(f->base.member);
    cl_ulong queued;

    if (!vendor_times(member->cl, f->ran ? f->ran : f->event, &queued, times))
        return false;
    if (queued)
        tsl_clock_map_feed(&member->clock, queued, f->before_ns, f->after_ns);
    tsl_clock_map_span(&member->clock, &times->start_ns, &times->end_ns);
    return true;
}

void tsl_opencl_fence_settle(struct tsl_opencl_fence *f)
{
    struct tsl_opencl_member *member = tsl_opencl_member(f->base.member);

    f->status = tsl_opencl_event_status(member->cl, f->event);
    if (f->status > 0)
        f->status = CL_OUT_OF_RESOURCES; /* clFinish failed, and nothing will ever move it. */
    f->status = end_of(f, f->status);
    if (f->lane->profile)
        f->times_known = read_times(f, &f->times);
    member->cl->clReleaseEvent(f->event);
    f->event = NULL;
    if (f->ran)
        member->cl->clReleaseEvent(f->ran);
    f->ran = NULL;
}

cl_int tsl_opencl_fence_times(struct tsl_fence *fence, struct tsl_times *times)
{
    struct tsl_opencl_fence *f = tsl_opencl_fence(fence);

    if (!f->lane || !f->lane->profile)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    /* Nothing is kept: fences have no lock, and several may ask. */
    if (f->event && tsl_opencl_fence_status(fence) == CL_COMPLETE)
        return read_times(f, times) ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE;
    if (!f->times_known)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    *times = f->times;
    return CL_SUCCESS;
}

/* ---- Notices ----------------------------------------------------------------------------------------------------- */

/* Gives back some of the caller's references. */
static void unref_notice(struct tsl_opencl_notice *notice, unsigned n_refs)
{
    struct tsl_opencl_member *member = notice->member;
    bool last;

    pthread_mutex_lock(&member->notices_lock);
    notice->refs -= n_refs;
    last = notice->refs == 0;
    if (last) {
        *notice->at = notice->next;
        if (notice->next)
            notice->next->at = notice->at;
    }
    pthread_mutex_unlock(&member->notices_lock);
    if (last)
        free(notice);
}

/* True for the one caller that is to tell. The fence's reference is then the caller's. */
static bool claim(struct tsl_opencl_notice *notice)
{
    bool first;

    pthread_mutex_lock(&notice->member->notices_lock);
    first = !notice->told;
    notice->told = true;
    pthread_mutex_unlock(&notice->member->notices_lock);
    return first;
}

static void abandon(struct tsl_opencl_notice *notice)
{
    pthread_mutex_lock(&notice->member->notices_lock);
    notice->abandoned = true;
    pthread_mutex_unlock(&notice->member->notices_lock);
}

static void tell(struct tsl_opencl_notice *notice, cl_int status)
{
    if (!claim(notice))
        return;
    notice->fn(notice->arg, end_of(notice->fence, status));
    tsl_fence_unref(&notice->fence->base);
}

static void CL_CALLBACK completed(cl_event event, cl_int status, void *data)
{
    struct tsl_opencl_notice *notice = data;

    tsl_opencl_take();
    /* The event is asked only where it must be: some vendors hold its lock during the callback. */
    if (status == CL_COMPLETE && notice->member->device->quirks.lying_callbacks)
        status = tsl_opencl_event_status(notice->member->cl, event);
    tell(notice, status > 0 ? CL_COMPLETE : status);
    unref_notice(notice, 1);
}

/* With two references: the vendor's and the caller's. */
static struct tsl_opencl_notice *add_notice(struct tsl_opencl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct tsl_opencl_member *member = tsl_opencl_member(fence->base.member);
    struct tsl_opencl_notice *notice = malloc(sizeof(*notice));

    if (!notice)
        return NULL;
    *notice = (struct tsl_opencl_notice){.member = member, .fence = fence, .fn = fn, .arg = arg, .refs = 2};
    tsl_fence_ref(&fence->base);
    pthread_mutex_lock(&member->notices_lock);
    notice->next = member->notices;
    notice->at = &member->notices;
    if (notice->next)
        notice->next->at = &notice->next;
    member->notices = notice;
    pthread_mutex_unlock(&member->notices_lock);
    return notice;
}

/* The vendor took no callback: both references are given back. If another thread has found the failure and told it
 * meanwhile, all is well nevertheless. */
static cl_int take_back(struct tsl_opencl_notice *notice, cl_int error)
{
    struct tsl_opencl_member *member = notice->member;

    if (claim(notice))
        tsl_fence_unref(&notice->fence->base);
    else
        error = CL_SUCCESS;
    unref_notice(notice, 2);
    return tsl_opencl_error(member, error);
}

cl_int tsl_opencl_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct tsl_opencl_fence *f = tsl_opencl_fence(fence);
    struct tsl_opencl_notice *notice;
    cl_int error, status = tsl_opencl_fence_status(fence);

    if (status <= 0) {
        fn(arg, status);
        return CL_SUCCESS;
    }
    notice = add_notice(f, fn, arg);
    if (!notice)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_opencl_give();
    error = notice->member->cl->clSetEventCallback(f->event, CL_COMPLETE, completed, notice);
    if (error)
        return take_back(notice, error);
    if (notice->member->device->quirks.silent_failures) {
        /* The work may have failed before the vendor knew of the callback, and after the last search. */
        status = tsl_opencl_fence_status(fence);
        if (status < 0) {
            abandon(notice);
            tell(notice, status);
        }
    }
    unref_notice(notice, 1);
    return CL_SUCCESS;
}

/* The next notice that was not told and that this search hasn't seen. It comes with a reference, and one to its fence.
 */
static struct tsl_opencl_notice *next_untold(struct tsl_opencl_member *member, unsigned search)
{
    struct tsl_opencl_notice *notice;

    pthread_mutex_lock(&member->notices_lock);
    for (notice = member->notices; notice && (notice->told || notice->searched >= search); notice = notice->next)
        ;
    if (notice) {
        notice->searched = search;
        notice->refs++;
        tsl_fence_ref(&notice->fence->base);
    }
    pthread_mutex_unlock(&member->notices_lock);
    return notice;
}

void tsl_opencl_notice_failures(struct tsl_opencl_member *member)
{
    struct tsl_opencl_notice *notice;
    unsigned search;

    if (!member->device->quirks.silent_failures)
        return;
    pthread_mutex_lock(&member->notices_lock);
    search = ++member->n_searches;
    pthread_mutex_unlock(&member->notices_lock);
    while ((notice = next_untold(member, search))) {
        struct tsl_fence *fence = &notice->fence->base;
        cl_int status = tsl_opencl_fence_status(fence);

        if (status < 0) {
            abandon(notice);
            tell(notice, status);
        }
        tsl_fence_unref(fence);
        unref_notice(notice, 1);
    }
}

static bool is_in_callback(struct tsl_opencl_member *member)
{
    bool found = false;

    pthread_mutex_lock(&member->notices_lock);
    for (struct tsl_opencl_notice *notice = member->notices; notice && !found; notice = notice->next)
        found = !notice->abandoned;
    pthread_mutex_unlock(&member->notices_lock);
    return found;
}

void tsl_opencl_fences_finish(struct tsl_opencl_member *member)
{
    /* All work is complete, but a thread of the vendor may still be on its way out of the callback. */
    for (int i = 0; i < CALLBACK_PATIENCE_MS && is_in_callback(member); i++)
        usleep(1000);
    while (member->notices) {
        struct tsl_opencl_notice *notice = member->notices;

        member->notices = notice->next;
        free(notice);
    }
    while (member->pool) {
        struct tsl_opencl_fence *fence = member->pool;

        member->pool = fence->next;
        free(fence);
    }
}
