/*
 * Pinning of the application's own memory (CL_MEM_USE_HOST_PTR) where it lies, as a member's driver likes it best
 * (host_register). Pinning costs as much as some transfers gain by it, so a driver says after how many it pays
 * (caps.register_after). A thread of its own pins, so that no command waits for that.
 *
 * When the application gives up its last reference to the buffer it may take the memory away, at once or when commands
 * have ended. So the memory is unpinned right there, whatever commands are still to come: these find it not pinned.
 */
#include "graph/pinning.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/worker.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/op.h"
#include "graph/state.h"
#include "handle/object.h"
#include "tile/tile.h"

static struct tsl_worker pinning_worker = TSL_VENDORS_WORKER("tesela-pin");

static bool may_pin(const struct tsl_member *member, const struct tsl_data *data)
{
    return member->caps.register_from && data->size >= member->caps.register_from && !tsl_member_is_lost(member) &&
           tsl_member_is_ready(member);
}

/* Pins the memory, by the first member that will; NULL: none does. Without the lock. */
static struct tsl_mem *pin(struct tsl_data *data)
{
    const struct tsl_context *context = data->context;
    for (unsigned i = 0; i < context->n_members; i++) {
        struct tsl_member *member = context->members[i];
        struct tsl_mem *mem;
        if (may_pin(member, data) && member->driver->host_register(member, data->host, data->size, &mem) == CL_SUCCESS)
            return mem;
    }
    return NULL;
}

static void run(struct tsl_job *job)
{
    struct tsl_data *data = (struct tsl_data *)((char *)job - offsetof(struct tsl_data, pinning_job));
    struct tsl_graph *graph = data->context->graph;
    tsl_lock_take(&graph->lock);
    bool wanted = data->pinning == TSL_PINNING_POSTED;
    if (wanted)
        data->pinning = TSL_PINNING_RUNNING;
    tsl_lock_give(&graph->lock);
    struct tsl_mem *mem = wanted ? pin(data) : NULL;
    tsl_lock_take(&graph->lock);
    data->registered = mem;
    data->pinning = TSL_PINNING_OVER;
    tsl_graph_changed(graph);
    tsl_lock_give(&graph->lock);
    tsl_object_unref(data->owner);
}

/* The object whose lent memory is an end of the copy; NULL: none. */
static struct tsl_data *user_memory(const struct tsl_op *op)
{
    const struct tsl_side *side = op->dst.data && op->dst.space == TSL_SPACE_HOST ? &op->dst : &op->src;
    bool is =
        side->data && side->space == TSL_SPACE_HOST && side->data->host && !side->data->host_owned && !side->data->svm;
    return is ? side->data : NULL;
}

void tsl_pinning_count(const struct tsl_op *op)
{
    const struct tsl_member_caps *caps = &op->port->member->caps;
    struct tsl_data *data = op->kind == TSL_OP_COPY && caps->register_from ? user_memory(op) : NULL;
    if (!data || data->size < caps->register_from || data->pinning != TSL_PINNING_NOT)
        return;
    data->traffic += tsl_op_bytes(op);
    if (data->traffic / caps->register_after < data->size)
        return;
    data->pinning = TSL_PINNING_POSTED;
    data->pinning_job.run = run;
    tsl_object_ref(data->owner);
    if (!tsl_worker_post(&pinning_worker, &data->pinning_job)) {
        data->pinning = TSL_PINNING_OVER;
        tsl_object_unref(data->owner); /* The command has another reference. */
    }
}

void tsl_data_unregister(struct tsl_data *data)
{
    struct tsl_graph *graph = data->context->graph;
    if (tsl_forked())
        return;
    tsl_lock_take(&graph->lock);
    while (data->pinning == TSL_PINNING_RUNNING)
        tsl_graph_wait(graph);
    data->pinning = TSL_PINNING_OVER;
    struct tsl_mem *mem = data->registered;
    data->registered = NULL;
    tsl_lock_give(&graph->lock);
    if (mem)
        mem->member->driver->mem_free(mem);
}
