/* Fences and gates, as the program sees them. */
#include "base/pause.h"
#include "remote/internal.h"

#include <stdlib.h>
#include <unistd.h>

struct remote_fence *remote_fence_of(const struct tsl_fence *fence)
{
    return (struct remote_fence *)fence;
}

static struct remote_fence *create_locked(struct remote_member *member)
{
    struct remote_fence *fence = calloc(1, sizeof(*fence));
    struct remote_connection *c = member->node->connection;

    if (!fence)
        return NULL;
    fence->base.driver = &tsl_remote_driver;
    fence->base.member = &member->base;
    atomic_init(&fence->base.refs, 1);
    atomic_init(&fence->status, CL_SUBMITTED);
    fence->id = remote_new_id_locked(c);
    fence->node = member->node;
    return fence;
}

struct remote_fence *remote_fence_create_locked(struct remote_lane *lane)
{
    struct remote_fence *fence = create_locked(remote_member_of(lane->base.member));

    if (!fence)
        return NULL;
    struct remote_connection *c = fence->node->connection;
    fence->lane_id = lane->id;
    fence->profile = lane->profile;
    fence->sent_ns = tsl_clock_ns();
    fence->on_way = true;
    tsl_fence_ref(&fence->base);
    HASH_ADD(hh, c->by_id, id, sizeof(fence->id), fence);
    TAILQ_INSERT_TAIL(&c->fences, fence, link);
    return fence;
}

void remote_end_locked(struct remote_fence *fence, cl_int status)
{
    struct remote_connection *c = fence->node->connection;

    if (fence->on_way) {
        HASH_DELETE(hh, c->by_id, fence);
        TAILQ_REMOVE(&c->fences, fence, link);
        fence->on_way = false;
    }
    if (status < 0 && fence->launch && atomic_load(&fence->launch->status) < 0)
        status = atomic_load(&fence->launch->status);
    /* Release: the times, and bytes that a READ brought, are there. */
    atomic_store_explicit(&fence->status, status, memory_order_release);
    pthread_cond_broadcast(&c->changed);
}

/* It has ended, so nobody adds to the lists any more. */
void remote_tell(struct remote_fence *fence)
{
    cl_int status = atomic_load(&fence->status);

    for (unsigned i = 0; i < fence->notes.n; i++)
        TSL_SMALL_AT(&fence->notes, i)->fn(TSL_SMALL_AT(&fence->notes, i)->arg, status);
    for (unsigned i = 0; i < fence->waits.n; i++)
        tsl_fence_unref(&(*TSL_SMALL_AT(&fence->waits, i))->base);
    TSL_SMALL_FINISH(&fence->notes);
    TSL_SMALL_FINISH(&fence->waits);
    tsl_fence_unref(&fence->base);
}

bool remote_waits_have_ended(struct remote_fence *fence)
{
    for (unsigned i = 0; i < fence->waits.n; i++)
        if (atomic_load(&(*TSL_SMALL_AT(&fence->waits, i))->status) > CL_COMPLETE)
            return false;
    return true;
}

/* The first that a node has told and that can end; NULL: none. What is behind another in a node's list ends after it.
 */
static struct remote_fence *take_told_locked(struct remote_connection *c)
{
    for (unsigned i = 0; c->n_told && i < c->n_nodes; i++) {
        struct remote_fence *fence = TAILQ_FIRST(&c->nodes[i].told);

        if (!fence || !remote_waits_have_ended(fence))
            continue;
        TAILQ_REMOVE(&c->nodes[i].told, fence, told_link);
        c->n_told--;
        remote_end_locked(fence, fence->told_status);
        return fence;
    }
    return NULL;
}

void remote_end_told(struct remote_connection *c)
{
    struct remote_fence *fence;

    do {
        remote_lock(c);
        fence = take_told_locked(c);
        remote_unlock(c);
        if (fence)
            remote_tell(fence);
    } while (fence);
}

cl_int remote_fence_status(struct tsl_fence *fence)
{
    return atomic_load_explicit(&remote_fence_of(fence)->status, memory_order_acquire);
}

/* A command's way there and back takes some 25 us, of which a fifth goes by until a thread that sleeps has woken. */
#define LOOK_NS 50000

/* Looks for the end for a while; not where few processors have all of it to do. */
static cl_int look_for_end(const struct remote_fence *fence)
{
    static atomic_long processors;
    uint64_t begin = tsl_clock_ns();
    cl_int status;

    if (!atomic_load_explicit(&processors, memory_order_relaxed))
        atomic_store_explicit(&processors, sysconf(_SC_NPROCESSORS_ONLN), memory_order_relaxed);
    do {
        for (unsigned i = 0; i < 8; i++)
            tsl_pause();
        status = atomic_load_explicit(&fence->status, memory_order_acquire);
    } while (status > CL_COMPLETE && atomic_load_explicit(&processors, memory_order_relaxed) >= 8 &&
             tsl_clock_ns() - begin < LOOK_NS);
    return status;
}

cl_int remote_fence_wait(struct tsl_fence *fence)
{
    struct remote_fence *f = remote_fence_of(fence);
    struct remote_connection *c = f->node->connection;
    cl_int status = remote_fence_status(fence);

    if (status <= CL_COMPLETE)
        return status;
    remote_lock(c);
    remote_flush_all_locked(c);
    remote_unlock(c);
    status = look_for_end(f);
    if (status <= CL_COMPLETE)
        return status;
    remote_lock(c);
    while ((status = atomic_load(&f->status)) > CL_COMPLETE)
        pthread_cond_wait(&c->changed, &c->lock);
    remote_unlock(c);
    return status;
}

cl_int remote_fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    struct remote_fence *f = remote_fence_of(fence);
    struct remote_note note = {fn, arg};
    bool noted = true;
    cl_int status;

    remote_lock(f->node->connection);
    status = atomic_load(&f->status);
    if (status > CL_COMPLETE)
        noted = TSL_SMALL_PUSH(&f->notes, note);
    remote_unlock(f->node->connection);
    if (status <= CL_COMPLETE)
        fn(arg, status);
    return noted ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int remote_fence_times(struct tsl_fence *fence, struct tsl_times *times)
{
    struct remote_fence *f = remote_fence_of(fence);

    if (f->launch && remote_fence_status(fence) == CL_COMPLETE)
        return remote_fence_times(&f->launch->base, times);
    if (!f->profile || remote_fence_status(fence) > CL_COMPLETE || !f->has_times)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    *times = f->times;
    if (f->first && f->first->has_times && f->first->times.start_ns < times->start_ns)
        times->start_ns = f->first->times.start_ns;
    return CL_SUCCESS;
}

void remote_fence_free(struct tsl_fence *fence)
{
    struct remote_fence *f = remote_fence_of(fence);
    struct remote_connection *c = f->node->connection;

    remote_lock(c);
    if (!f->node->lost)
        remote_say_locked(f->node, &(struct tsl_remote_request){.kind = TSL_REMOTE_FENCE_FREE, .id = f->id});
    remote_unlock(c);
    if (f->launch)
        tsl_fence_unref(&f->launch->base);
    if (f->first)
        tsl_fence_unref(&f->first->base);
    if (f->opener)
        tsl_fence_unref(&f->opener->base);
    free(f);
}

/* What another node's work is to wait for goes by way of the core. */
bool remote_can_wait(struct tsl_member *member, const struct tsl_fence *fence)
{
    return fence->driver == &tsl_remote_driver && remote_fence_of(fence)->node == remote_member_of(member)->node;
}

cl_int remote_gate_create(struct tsl_member *member, struct tsl_fence **gate)
{
    struct remote_member *m = remote_member_of(member);
    struct remote_fence *fence;

    remote_lock(m->node->connection);
    fence = create_locked(m);
    if (fence) {
        fence->is_gate = fence->held = true;
        tsl_fence_ref(&fence->base);
        remote_say_locked(
            m->node, &(struct tsl_remote_request){.kind = TSL_REMOTE_GATE, .id = fence->id, .member = m->path->index});
    }
    remote_unlock(m->node->connection);
    if (!fence)
        return CL_OUT_OF_HOST_MEMORY;
    *gate = &fence->base;
    return CL_SUCCESS;
}

/* Work behind a READ is left to the program, which has the bytes when it hears of the end. */
void remote_gate_by(struct tsl_fence *gate, struct tsl_fence *opener)
{
    struct remote_fence *g = remote_fence_of(gate), *by = remote_fence_of(opener);
    struct remote_connection *c = g->node->connection;

    if (opener->driver != &tsl_remote_driver || by->is_gate || by->node == g->node)
        return;
    remote_lock(c);
    if (!by->reads && !by->node->lost && !g->node->lost && atomic_load(&by->status) > CL_COMPLETE) {
        g->opener = by;
        tsl_fence_ref(opener);
        remote_say_locked(by->node, &(struct tsl_remote_request){
                                        .kind = TSL_REMOTE_OPENS, .id = by->id, .of = g->id, .param = g->node->index});
        remote_say_locked(g->node,
                          &(struct tsl_remote_request){
                              .kind = TSL_REMOTE_OPENED_BY, .id = g->id, .of = by->id, .param = by->node->index});
        by->node->urgent = c->unflushed = true;
    }
    remote_unlock(c);
}

/* Where the other node opens it, too, the program's word can wait for the next frame. */
static bool can_wait_for_others(const struct remote_fence *gate, cl_int status)
{
    return gate->opener && !gate->opener->node->lost && atomic_load(&gate->opener->status) == CL_COMPLETE &&
           status == CL_COMPLETE;
}

cl_int remote_gate_open(struct tsl_fence *gate, cl_int status)
{
    struct remote_fence *f = remote_fence_of(gate);
    struct remote_connection *c = f->node->connection;
    bool lost;

    if (!f->is_gate || status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    remote_lock(c);
    if (atomic_load(&f->status) <= CL_COMPLETE) {
        remote_unlock(c);
        return CL_INVALID_OPERATION;
    }
    lost = f->node->lost;
    if (!lost) {
        remote_say_locked(f->node,
                          &(struct tsl_remote_request){.kind = TSL_REMOTE_OPEN, .id = f->id, .status = status});
        if (can_wait_for_others(f, status)) /* Should the other node have had no memory, the next flush sends it. */
            f->node->urgent = c->unflushed = true;
        else
            remote_send_soon_locked(f->node);
    }
    remote_end_locked(f, status);
    remote_unlock(c);
    remote_tell(f);
    remote_end_told(c);
    if (lost) {
        remote_lock(c);
        remote_end_lost_unlock(c);
    }
    return CL_SUCCESS;
}
