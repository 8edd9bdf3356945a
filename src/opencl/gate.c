/*
 * Gates: user events of the vendor, and what they forbid.
 *
 * While a command waits for a user event that isn't set, releasing any object of the vendor's except events is
 * undefined (OpenCL 3.0, clSetUserEventStatus), so releases wait in a list of the member. Who opens the last gate may
 * be a vendor's callback, and may not release them; a thread of ours does.
 */
#include "opencl/gate.h"
#include "opencl/fence.h"
#include "opencl/member.h"
#include "opencl/operations.h"
#include "opencl/svm.h"

#include "base/log.h"

#include <stddef.h>
#include <stdlib.h>

struct tsl_opencl_garbage {
    enum tsl_opencl_kind kind;
    void *object;
    struct tsl_opencl_garbage *next;
};

/* ---- Releases ---------------------------------------------------------------------------------------------------- */

/* Is now a bad time? Besides gates, a device that takes one call at a time may be at work in another thread for long,
 * and a release must not wait for it. False: the caller has entered the device, and leaves it. */
static bool must_wait_locked(struct tsl_opencl_member *member)
{
    if (atomic_load(&member->n_gates))
        return true;
    return member->device->quirks.synchronous && pthread_mutex_trylock(&member->device->lock);
}

static void release(struct tsl_opencl_member *member, enum tsl_opencl_kind kind, void *object)
{
    const struct tsl_opencl_cl *cl = member->cl;

    switch (kind) {
    case TSL_OPENCL_QUEUE:
        cl->clReleaseCommandQueue(object);
        break;
    case TSL_OPENCL_MEM:
        cl->clReleaseMemObject(object);
        break;
    case TSL_OPENCL_SVM:
        tsl_opencl_svm_free(object);
        break;
    case TSL_OPENCL_PROGRAM:
        cl->clReleaseProgram(object);
        break;
    case TSL_OPENCL_KERNEL:
        cl->clReleaseKernel(object);
        break;
    }
}

static void keep_locked(struct tsl_opencl_member *member, enum tsl_opencl_kind kind, void *object)
{
    struct tsl_opencl_garbage *garbage = malloc(sizeof(*garbage));

    if (!garbage) {
        /* Better lost than released at a time when that is undefined. */
        tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_ERROR, "memory ran out: an object of %s is never released",
                member->base.path->id);
        return;
    }
    *garbage = (struct tsl_opencl_garbage){.kind = kind, .object = object, .next = member->garbage};
    member->garbage = garbage;
    atomic_store(&member->has_garbage, true);
}

/* The caller has entered the device. */
static void release_all_locked(struct tsl_opencl_member *member)
{
    while (member->garbage) {
        struct tsl_opencl_garbage *garbage = member->garbage;

        member->garbage = garbage->next;
        release(member, garbage->kind, garbage->object);
        free(garbage);
    }
    atomic_store(&member->has_garbage, false);
}

static struct tsl_worker collector = TSL_VENDORS_WORKER("tesela-collect");

/* Waits for the device, which the thread has time for. Gates that came meanwhile post anew when they open. */
static void collect(struct tsl_job *job)
{
    struct tsl_opencl_member *member =
        (struct tsl_opencl_member *)((char *)job - offsetof(struct tsl_opencl_member, collecting));

    tsl_opencl_enter(member->device);
    pthread_mutex_lock(&member->gates_lock);
    if (!atomic_load(&member->n_gates))
        release_all_locked(member);
    pthread_mutex_unlock(&member->gates_lock);
    tsl_opencl_leave(member->device);
}

void tsl_opencl_collect_init(struct tsl_opencl_member *member)
{
    member->collecting.run = collect;
}

/* Without that thread the member's next call releases it. */
static void post_collect(struct tsl_opencl_member *member)
{
    if (member->device->quirks.no_late_calls || !atomic_load(&member->has_garbage) || atomic_load(&member->n_gates))
        return;
    tsl_worker_post(&collector, &member->collecting);
}

void tsl_opencl_release(struct tsl_opencl_member *member, enum tsl_opencl_kind kind, void *object)
{
    bool wait;

    pthread_mutex_lock(&member->gates_lock);
    wait = member->device->quirks.no_late_calls || must_wait_locked(member);
    if (wait) {
        keep_locked(member, kind, object);
    } else {
        release(member, kind, object);
        tsl_opencl_leave(member->device);
    }
    pthread_mutex_unlock(&member->gates_lock);
    if (wait)
        post_collect(member);
}

void tsl_opencl_collect(struct tsl_opencl_member *member)
{
    if (!atomic_load_explicit(&member->has_garbage, memory_order_relaxed))
        return;
    pthread_mutex_lock(&member->gates_lock);
    if (!must_wait_locked(member)) {
        release_all_locked(member);
        tsl_opencl_leave(member->device);
    }
    pthread_mutex_unlock(&member->gates_lock);
}

void tsl_opencl_collect_last(struct tsl_opencl_member *member)
{
    tsl_worker_wait(&collector);
    tsl_opencl_collect(member);
}

/* ---- Gates ------------------------------------------------------------------------------------------------------- */

/* Under the lock, so that a release that found none is over before there is one. */
static void count_gate(struct tsl_opencl_member *member, int change)
{
    pthread_mutex_lock(&member->gates_lock);
    atomic_fetch_add(&member->n_gates, (unsigned)change);
    pthread_mutex_unlock(&member->gates_lock);
}

cl_int tsl_opencl_gate_create(struct tsl_member *member, struct tsl_fence **gate)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);
    struct tsl_opencl_fence *f;
    cl_int error;

    if (!member->caps.gates)
        return CL_INVALID_OPERATION;
    f = tsl_opencl_fence_new(m, NULL);
    if (!f)
        return CL_OUT_OF_HOST_MEMORY;
    f->is_gate = true;
    count_gate(m, 1);
    f->event = m->cl->clCreateUserEvent(m->context, &error);
    if (!f->event) {
        count_gate(m, -1);
        atomic_store(&f->opened, true);
        tsl_fence_unref(&f->base);
        return tsl_opencl_error(m, error ? error : CL_OUT_OF_RESOURCES);
    }
    *gate = &f->base;
    return CL_SUCCESS;
}

static cl_int set(struct tsl_opencl_member *member, struct tsl_opencl_fence *gate, cl_int status)
{
    cl_int error = CL_OUT_OF_RESOURCES;

    /* What waits for it would wait for ever, so it is worth a second try. */
    for (int i = 0; i < 2 && error; i++)
        error = member->cl->clSetUserEventStatus(gate->event, status);
    if (error)
        tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_ERROR, "%s: a user event could not be set (error %d)", member->base.path->id,
                error);
    count_gate(member, -1);
    post_collect(member);
    return error;
}

cl_int tsl_opencl_gate_open(struct tsl_fence *gate, cl_int status)
{
    struct tsl_opencl_fence *f = tsl_opencl_fence(gate);
    struct tsl_opencl_member *member = tsl_opencl_member(gate->member);
    cl_int error;

    if (!f->is_gate || status > 0)
        return CL_INVALID_VALUE;
    if (atomic_exchange(&f->opened, true))
        return CL_INVALID_OPERATION;
    error = set(member, f, status);
    if (status < 0)
        tsl_opencl_notice_failures(member);
    return tsl_opencl_error(member, error);
}
