/* The fake driver's fences and gates. The host "observes" a piece of work when it is told that it is complete. */
#include "driver/fake/internal.h"

#include <time.h>

struct fake_fence *tsl_fake_fence_new_locked(struct fake_op *op, struct tsl_member *member)
{
    struct fake_fence *fence = tsl_fake_new_locked(sizeof *fence);

    *fence = (struct fake_fence){.base = {.driver = &tsl_fake_driver, .member = member, .refs = 1}, .op = op};
    if (op) {
        tsl_fake.live.fences++;
        fake_member(member)->counts.fences++;
        fence->next_fence = tsl_fake.fences;
        tsl_fake.fences = fence;
    } else {
        tsl_fake.live.gates++;
        fence->next_gate = tsl_fake.gates;
        tsl_fake.gates = fence;
    }
    return fence;
}

static bool early(const struct fake_op *op)
{
    return op && op->early && op->id <= op->lane->flushed;
}

bool tsl_fake_fence_complete_locked(const struct fake_fence *fence)
{
    if (early(fence->op))
        return true;
    return fence->op ? fence->op->state == FAKE_DONE : fence->opened;
}

cl_int tsl_fake_fence_status_locked(const struct fake_fence *fence)
{
    const struct fake_op *op = fence->op;

    if (!op)
        return fence->opened ? fence->status : CL_SUBMITTED;
    if (early(op) && op->state != FAKE_DONE)
        return CL_COMPLETE;
    if (op->state == FAKE_DONE)
        return op->status;
    if (op->state == FAKE_RUNNING)
        return CL_RUNNING;
    return op->id <= op->lane->flushed ? CL_SUBMITTED : CL_QUEUED;
}

/* Moves the fence's notifications to those that are due. */
void tsl_fake_fence_done_locked(struct fake_fence *fence)
{
    struct fake_notify **end = &tsl_fake.due;

    while (*end)
        end = &(*end)->next;
    *end = fence->notify;
    fence->notify = NULL;
}

static void observe_locked(struct fake_fence *fence)
{
    if (fence->op)
        tsl_fake_observe_locked(fence->op);
}

static bool alive_locked(const struct fake_fence *fence, const char *operation)
{
    if (fence->freed)
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s: the fence of %s was freed", operation,
                                fence->op ? tsl_fake_op_name(fence->op) : "a gate");
    return !fence->freed;
}

static cl_int enter_locked(struct tsl_fence *base, enum tsl_fake_call call, const char *operation)
{
    cl_int rc = tsl_fake_enter_locked(fake_member(base->member), call, operation);

    if (rc)
        return rc;
    if (alive_locked((struct fake_fence *)base, operation))
        return CL_SUCCESS;
    tsl_fake_leave_locked();
    return CL_INVALID_EVENT;
}

/* gate_open and fence_free are the calls that notifications may make. */
static void enter_from_notify_locked(const char *operation)
{
    if (tsl_fake.setup.on_call)
        tsl_fake.setup.on_call(tsl_fake.setup.on_call_arg, operation);
    pthread_mutex_lock(&tsl_fake.lock);
}

/* Does a member that tells late keep the end to itself for now? */
static bool keeps_back_locked(struct fake_fence *fence)
{
    if (!fence->op || !fake_member(fence->base.member)->is.tells_late || fence->told)
        return false;
    fence->told = tsl_fake_random_locked() % 8 == 0;
    return !fence->told;
}

cl_int tsl_fake_fence_status(struct tsl_fence *base)
{
    struct fake_fence *fence = (struct fake_fence *)base;
    cl_int status = enter_locked(base, TSL_FAKE_N_CALLS, "fence_status");

    if (status)
        return status;
    status = tsl_fake_fence_status_locked(fence);
    if (status <= CL_COMPLETE && keeps_back_locked(fence))
        status = CL_RUNNING;
    if (status <= CL_COMPLETE)
        observe_locked(fence);
    tsl_fake_leave_locked();
    return status;
}

static bool complete(void *arg)
{
    return tsl_fake_fence_complete_locked(arg);
}

/* With threads, another one's flush may be on its way. */
static bool flushed_soon_locked(const struct fake_op *op)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    while (op->id > op->lane->flushed && tsl_fake.setup.threads)
        if (pthread_cond_timedwait(&tsl_fake.changed, &tsl_fake.lock, &until))
            break;
    return op->id <= op->lane->flushed;
}

cl_int tsl_fake_fence_wait(struct tsl_fence *base)
{
    struct fake_fence *fence = (struct fake_fence *)base;
    struct fake_op *op = fence->op;
    cl_int status = enter_locked(base, TSL_FAKE_N_CALLS, "fence_wait");

    if (status)
        return status;
    fake_member(base->member)->counts.waits++;
    if (op && !flushed_soon_locked(op)) {
        if (!tsl_fake_lost_locked(fake_member(base->member))) /* Else whatever is asked of it is refused. */
            tsl_fake_violate_locked(TSL_FAKE_UNFLUSHED, "fence_wait for %s, which nobody flushed",
                                    tsl_fake_op_name(op));
        op->lane->flushed = op->id;
        pthread_cond_broadcast(&tsl_fake.changed);
    }
    if (tsl_fake_block_locked(complete, fence, "fence_wait")) {
        status = tsl_fake_fence_status_locked(fence);
        observe_locked(fence);
    } else {
        status = CL_OUT_OF_RESOURCES;
    }
    tsl_fake_leave_locked();
    return status;
}

static cl_int notify_locked(struct fake_fence *fence, tsl_notify_fn *fn, void *arg, bool *now)
{
    struct fake_notify *notify, **end = &fence->notify;

    *now = tsl_fake_fence_complete_locked(fence);
    if (*now) {
        observe_locked(fence);
        return tsl_fake_fence_status_locked(fence);
    }
    notify = tsl_fake_new_locked(sizeof *notify);
    *notify = (struct fake_notify){.fence = fence, .fn = fn, .arg = arg};
    while (*end)
        end = &(*end)->next;
    *end = notify;
    return CL_SUCCESS;
}

cl_int tsl_fake_fence_notify(struct tsl_fence *base, tsl_notify_fn *fn, void *arg)
{
    cl_int status = enter_locked(base, TSL_FAKE_NOTIFY, "fence_notify");
    bool now;

    if (status)
        return status;
    status = notify_locked((struct fake_fence *)base, fn, arg, &now);
    tsl_fake_leave_locked();
    if (now) {
        tsl_fake_in_notify(1);
        fn(arg, status);
        tsl_fake_in_notify(-1);
    }
    return CL_SUCCESS;
}

cl_int tsl_fake_fence_times(struct tsl_fence *base, struct tsl_times *times)
{
    const struct fake_fence *fence = (const struct fake_fence *)base;
    cl_int rc = enter_locked(base, TSL_FAKE_N_CALLS, "fence_times");

    if (rc)
        return rc;
    if (!fence->op || !fence->op->lane->profile || fence->op->state != FAKE_DONE || fence->op->status != CL_COMPLETE)
        rc = CL_PROFILING_INFO_NOT_AVAILABLE;
    else
        *times = (struct tsl_times){.start_ns = fence->op->start_ns, .end_ns = fence->op->end_ns};
    tsl_fake_leave_locked();
    return rc;
}

void tsl_fake_fence_free(struct tsl_fence *base)
{
    struct fake_fence *fence = (struct fake_fence *)base;

    enter_from_notify_locked("fence_free");
    if (!alive_locked(fence, "fence_free")) {
        pthread_mutex_unlock(&tsl_fake.lock);
        return;
    }
    if (fence->op) {
        tsl_fake.live.fences--;
    } else {
        tsl_fake.live.gates--;
        if (!fence->opened)
            tsl_fake_violate_locked(TSL_FAKE_GATE_UNOPENED, "a gate of fake:%u was freed before it was opened",
                                    fake_member(base->member)->number);
    }
    fence->freed = true;
    tsl_fake_leave_locked();
}

bool tsl_fake_can_wait(struct tsl_member *base, const struct tsl_fence *fence)
{
    const struct fake_member *member = fake_member(base), *other;

    if (fence->driver != &tsl_fake_driver)
        return false;
    other = fake_member(fence->member);
    return member == other || (member->is.context && member->is.context == other->is.context);
}

/* ---- Gates ---- */

cl_int tsl_fake_gate_create(struct tsl_member *base, struct tsl_fence **gate)
{
    struct fake_member *member = fake_member(base);
    cl_int rc = tsl_fake_enter_locked(member, TSL_FAKE_GATE, "gate_create");

    if (rc)
        return rc;
    if (!member->is.gates) {
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "gate_create on fake:%u, which has none", member->number);
        rc = CL_INVALID_OPERATION;
    } else {
        *gate = &tsl_fake_fence_new_locked(NULL, base)->base;
    }
    tsl_fake_leave_locked();
    return rc;
}

cl_int tsl_fake_gate_open(struct tsl_fence *base, cl_int status)
{
    struct fake_fence *gate = (struct fake_fence *)base;
    cl_int rc = CL_SUCCESS;

    enter_from_notify_locked("gate_open");
    if (!alive_locked(gate, "gate_open")) {
        rc = CL_INVALID_EVENT;
    } else if (gate->op || gate->opened || status > CL_COMPLETE) {
        tsl_fake_violate_locked(TSL_FAKE_GATE_TWICE, "gate_open %s",
                                gate->op       ? "of a fence that is no gate"
                                : gate->opened ? "a second time"
                                               : "with a status that is no end");
        rc = CL_INVALID_OPERATION;
    } else {
        gate->opened = true;
        gate->status = status;
        gate->epoch = tsl_fake.epoch;
        gate->end_ns = tsl_fake_now_locked();
        tsl_fake_fence_done_locked(gate);
        pthread_cond_broadcast(&tsl_fake.changed);
    }
    pthread_mutex_unlock(&tsl_fake.lock);
    return rc;
}
