/* Work as requests, but for copies. */
#include "driver/combine.h"
#include "remote/svm.h"
#include "remote/work.h"

#include <stdlib.h>
#include <string.h>

static void note_before(struct remote_work *work, const struct remote_fence *before)
{
    bool ended = remote_fence_has_ended(before);

    work->held = work->held || (before->held && !ended);
    work->reads = work->reads || (before->reads && !ended);
}

/* Fences that ended well need no mention. Other lanes' work is flushed with this one's. request.waits is the work's
 * (heap). */
static cl_int take_waits_locked(struct remote_work *work, const struct tsl_waits *waits)
{
    unsigned n = waits ? waits->n : 0;

    work->request.waits = n ? malloc(n * sizeof(uint64_t)) : NULL;
    if (n && !work->request.waits)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < n; i++) {
        struct remote_fence *fence = remote_fence_of(waits->fences[i]);

        if (atomic_load(&fence->status) == CL_COMPLETE)
            continue;
        work->request.waits[work->request.n_waits++] = fence->id;
        note_before(work, fence);
    }
    if (work->lane->last_held)
        note_before(work, work->lane->last_held);
    return CL_SUCCESS;
}

cl_int remote_work_begin_locked(struct remote_work *work, struct tsl_lane *lane, enum tsl_remote_request_kind kind,
                                const struct tsl_waits *waits)
{
    struct remote_member *member = remote_member_of(lane->member);

    *work = (struct remote_work){.lane = (struct remote_lane *)lane, .node = member->node};
    work->request.kind = kind;
    work->request.lane = work->lane->id;
    for (unsigned i = 0; waits && i < waits->n; i++)
        if (!remote_can_wait(lane->member, waits->fences[i]))
            return CL_INVALID_EVENT_WAIT_LIST;
    if (tsl_member_is_lost(lane->member) || work->node->lost)
        return CL_DEVICE_NOT_AVAILABLE;
    return take_waits_locked(work, waits);
}

/* So that a loss ends it in its turn. Without memory it ends early, with an error all the same. */
static void keep_waits(struct remote_fence *fence, const struct tsl_waits *waits)
{
    for (unsigned i = 0; waits && i < waits->n; i++) {
        struct remote_fence *wait = remote_fence_of(waits->fences[i]);

        if (!remote_fence_has_ended(wait) && TSL_SMALL_PUSH(&fence->waits, wait))
            tsl_fence_ref(&wait->base);
    }
}

cl_int remote_work_name_locked(struct remote_work *work, bool wanted, const struct tsl_waits *waits)
{
    struct tsl_remote_request *r = &work->request;

    work->held = work->held || r->kind == TSL_REMOTE_READ;
    if (!wanted && !work->held) {
        r->id = remote_new_id_locked(work->node->connection);
        return CL_SUCCESS;
    }
    work->fence = remote_fence_create_locked(work->lane);
    if (!work->fence)
        return CL_OUT_OF_HOST_MEMORY;
    work->fence->held = work->held;
    work->fence->reads = work->reads || r->kind == TSL_REMOTE_READ;
    keep_waits(work->fence, waits);
    r->id = work->fence->id;
    r->named = r->tell = true;
    return CL_SUCCESS;
}

void remote_work_put_locked(struct remote_work *work)
{
    if (!work->lane->unflushed)
        LIST_INSERT_HEAD(&work->node->unflushed, work->lane, link);
    work->lane->unflushed = work->node->connection->unflushed = true;
    remote_say_locked(work->node, &work->request);
    if (work->kernel)
        work->kernel->serial = work->serial;
}

struct remote_fence *remote_work_hold_locked(struct remote_work *work)
{
    struct remote_fence *old = NULL;

    if (work->held && work->fence) {
        old = work->lane->last_held;
        tsl_fence_ref(&work->fence->base);
        work->lane->last_held = work->fence;
    }
    return old;
}

cl_int remote_work_say_unlock(struct remote_work *work, cl_int error, const struct tsl_waits *waits,
                              struct tsl_fence **fence)
{
    struct remote_connection *c = work->node->connection;
    struct remote_fence *old = NULL;

    if (!error)
        error = remote_work_name_locked(work, fence != NULL, waits);
    if (!error) {
        remote_work_put_locked(work);
        old = remote_work_hold_locked(work);
    }
    remote_unlock(c);
    free(work->request.waits);
    remote_fence_drop(old);
    if (error || !fence)
        remote_fence_drop(work->fence);
    else
        *fence = &work->fence->base;
    return error;
}

cl_int remote_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct remote_work work;

    remote_lock(remote_lane_connection(lane));
    return remote_work_say_unlock(&work, remote_work_begin_locked(&work, lane, TSL_REMOTE_MARK, waits), waits, fence);
}

cl_int remote_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    struct remote_work work;
    cl_int error;

    if (!fill->dst.mem || fill->dst.mem->member != lane->member)
        return CL_INVALID_MEM_OBJECT;
    remote_lock(remote_lane_connection(lane));
    error = remote_work_begin_locked(&work, lane, TSL_REMOTE_FILL, waits);
    remote_work_set_place(&work.request.dst, &fill->dst);
    for (unsigned d = 0; d < 3; d++)
        work.request.region[d] = fill->region[d];
    work.request.data = fill->pattern;
    work.request.data_size = fill->pattern_size;
    return remote_work_say_unlock(&work, error, waits, fence);
}

static void set_side(struct tsl_remote_place *to, const struct tsl_combine_side *from)
{
    *to = (struct tsl_remote_place){.mem = from->mem ? remote_mem_of(from->mem)->id : 0, .offset = from->offset};
}

cl_int remote_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                      struct tsl_fence **fence)
{
    struct remote_work work;
    cl_int error;

    if (!tsl_combine_is_of(combine, lane->member))
        return CL_INVALID_MEM_OBJECT;
    remote_lock(remote_lane_connection(lane));
    error = remote_work_begin_locked(&work, lane, TSL_REMOTE_COMBINE, waits);
    set_side(&work.request.dst, &combine->dst);
    set_side(&work.request.src, &combine->a);
    set_side(&work.request.other, &combine->b);
    set_side(&work.request.before, &combine->before);
    work.request.size = combine->size;
    work.request.width = combine->width;
    work.request.how = combine->how;
    return remote_work_say_unlock(&work, error, waits, fence);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void set_arg(struct tsl_remote_arg *to, const struct tsl_bound_arg *from)
{
    bool has_value = from->kind == TSL_ARG_VALUE || from->kind == TSL_ARG_SAMPLER || from->kind == TSL_ARG_SVM;

    *to = (struct tsl_remote_arg){.kind = from->kind, .size = from->size, .has_part = from->part != NULL};
    if (has_value)
        to->value = from->value;
    if (from->kind == TSL_ARG_SAMPLER)
        to->size = sizeof(struct tsl_sampler_desc);
    if (from->kind == TSL_ARG_SVM)
        to->size = sizeof(uintptr_t);
    if (from->kind == TSL_ARG_MEM)
        to->mem = from->mem ? remote_mem_of(from->mem)->id : 0;
    if (from->part)
        to->part = *from->part;
}

/* The node has them already if it was given them last. */
static cl_int set_args_locked(struct remote_work *work, const struct tsl_launch *launch)
{
    struct remote_kernel *kernel = (struct remote_kernel *)launch->kernel;
    const struct tsl_bound_args *args = launch->args;
    struct tsl_remote_request *r = &work->request;

    r->of = kernel->id;
    r->window = *launch->window;
    if (kernel->serial == args->serial)
        return CL_SUCCESS;
    r->args = args->n ? calloc(args->n, sizeof(*r->args)) : NULL;
    r->svm = args->n_svm ? calloc(args->n_svm, sizeof(*r->svm)) : NULL;
    if ((args->n && !r->args) || (args->n_svm && !r->svm))
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < args->n_svm; i++)
        r->svm[i] = (struct tsl_remote_bound_svm){remote_svm_mirror(&args->svm[i], work->lane->base.member)->id,
                                                  args->svm[i].unnamed};
    r->n_svm = args->n_svm;
    for (cl_uint i = 0; i < args->n; i++)
        set_arg(&r->args[i], &args->args[i]);
    r->n_args = args->n;
    r->has_args = true;
    work->kernel = kernel;
    work->serial = args->serial;
    return CL_SUCCESS;
}

cl_int remote_launch_alone(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                           struct tsl_fence **fence)
{
    struct remote_work work;
    cl_int error;

    remote_lock(remote_lane_connection(lane));
    error = remote_work_begin_locked(&work, lane, TSL_REMOTE_LAUNCH, waits);
    if (!error)
        error = set_args_locked(&work, launch);
    error = remote_work_say_unlock(&work, error, waits, fence);
    free(work.request.args);
    free(work.request.svm);
    return error;
}

cl_int remote_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    for (cl_uint i = 0; i < launch->args->n; i++)
        if (launch->args->args[i].kind == TSL_ARG_UNSET)
            return CL_INVALID_KERNEL_ARGS;
    return (launch->args->n_svm ? remote_svm_launch : remote_launch_alone)(lane, launch, waits, fence);
}
