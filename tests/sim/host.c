/* What the host does beside its commands: it waits, asks, maps, sets user events, is called back, has other threads. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What the host learns ---- */

void sim_laters_collect(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_laters; i++)
        if (sim->laters[i].state != SIM_LATER_WAITS)
            sim->nodes[sim->laters[i].node].unset = false;
}

/* Memory that is spread over members loses the parts of those that are lost: others' work on it fails, too. */
static bool may_lose_parts(const struct sim_world *world)
{
    return world->lost && world->spreads;
}

/* May the command end with that status, seen what was ordered to fail? */
static bool explained(const struct sim *sim, const struct sim_node *node, cl_int status)
{
    const struct sim_world *world = sim->world;
    unsigned n = world->n_failing;
    bool tiny = sim->options.tiny_memory && node->refused && !node->blocking; /* No member has windows of the launch. */

    if (status == CL_DEVICE_NOT_AVAILABLE && world->lost)
        return true;
    if (status == CL_OUT_OF_RESOURCES && may_lose_parts(world))
        return true;
    /* No kernel could be made where the image can be. */
    if (status == CL_IMAGE_FORMAT_NOT_SUPPORTED && (world->lost || sim->options.out_of_memory))
        return true;
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE && (world->tight || tiny))
        return true;
    if ((status == CL_OUT_OF_HOST_MEMORY || status == CL_MAP_FAILURE) && sim->options.out_of_memory)
        return true;
    if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        return n > 0 || world->lost || world->tight || sim->options.out_of_memory;
    return status < -1000 && status >= -1000 - (cl_int)n;
}

void sim_note_status(struct sim *sim, struct sim_node *node, cl_int status)
{
    if (status < 0 && node->status != status)
        sim_tell(sim, "%u has failed: %d", sim_index(sim, node), status);
    node->status = status < 0 ? status : CL_COMPLETE;
    if (status < 0 && !explained(sim, node, status))
        sim_fail(sim, "node %u failed with %d, which nobody ordered", sim_index(sim, node), status);
}

/* The event's status, which never goes back. */
cl_int sim_ask(struct sim *sim, struct sim_node *node)
{
    cl_int status = CL_QUEUED;
    cl_int error =
        sim->cl->clGetEventInfo(node->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);

    if (error)
        sim_fail(sim, "the status of node %u can't be had: error %d", sim_index(sim, node), error);
    if (status > node->seen_status || (node->seen_status <= CL_COMPLETE && status != node->seen_status))
        sim_fail(sim, "node %u had the status %d, and then %d", sim_index(sim, node), node->seen_status, status);
    node->seen_status = status;
    return status;
}

/* Does the end of the command say that all before it is complete? Who failed never ran, and had nothing to wait for any
 * more. Only where a member is lost does the core make use of that: what waits for a share that failed with its member
 * fails at once, and the share may be done again, which takes longer. */
static bool ends_last(struct sim *sim, struct sim_node *node)
{
    if (!sim->world->lost || node->queue < 0)
        return true;
    if (node->event)
        return sim_ask(sim, node) == CL_COMPLETE;
    return node->status == CL_COMPLETE && !node->told;
}

static void learn_set(struct sim *sim, const struct sim_set *set)
{
    sim_laters_collect(sim);
    sim_order_settle(sim);
    sim_set_join(&sim->known, set);
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim_set_has(set, i) && ends_last(sim, &sim->nodes[i]))
            sim_set_join(&sim->known, &sim->nodes[i].before);
}

void sim_learn(struct sim *sim, unsigned i)
{
    struct sim_set set = {{0}};

    sim_set_add(&set, i);
    learn_set(sim, &set);
}

/* ---- Waits ---- */

/* Whose wait list names a failed command fails (OpenCL 3.0, 5.11): so the wait's own result is known, too. */
static void wait_for_events(struct sim *sim, const unsigned *list, unsigned n)
{
    struct sim_set set = {{0}};
    cl_event events[4] = {NULL};
    bool failed = false;
    cl_int error;

    for (unsigned i = 0; i < n; i++)
        events[i] = sim->nodes[list[i]].event;
    error = sim->cl->clWaitForEvents(n, events);
    for (unsigned i = 0; i < n; i++) {
        struct sim_node *node = &sim->nodes[list[i]];
        cl_int status = sim_ask(sim, node);

        sim_tell(sim, "wait for %u: %d", list[i], status);
        if (status > CL_COMPLETE)
            sim_fail(sim, "node %u was waited for (%d), but its status is %d", list[i], error, status);
        failed |= status < 0;
        sim_note_status(sim, node, status);
        sim_set_add(&set, list[i]);
    }
    if (error && error != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        sim_went_well(sim, error, "clWaitForEvents");
    else if (failed != (error != CL_SUCCESS))
        sim_fail(sim, "clWaitForEvents gave %d", error);
    learn_set(sim, &set);
}

/* What failed and has no event is told once, by the queue's next call that waits. Who is told of nothing knows that all
 * went well. (Work that fails without a fence may be told by nobody: a driver need not know. Of what is ordered to fail
 * only work on what a lost member had is like that.) */
void sim_hear(struct sim *sim, unsigned queue, unsigned n, cl_int error)
{
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        struct sim_node *node = &sim->nodes[i];

        if (!node->silent || node->refused || node->sure || node->told || !sim_set_has(&sim->all_of_queue[queue], i))
            continue;
        node->told = error;
        if (error || i >= n)
            continue;
        node->sure = node->ended;
        if (!node->ran && !may_lose_parts(sim->world))
            sim_fail(sim, "node %u never ran, which nobody has told", i);
    }
}

static void finish(struct sim *sim, unsigned queue)
{
    unsigned n = sim->n_nodes; /* Callbacks may add others meanwhile. */
    cl_int error = sim->cl->clFinish(sim->queues[queue]);

    if (error)
        sim_tell(sim, "told of %d", error);
    if (error && !sim_may_fail(sim))
        sim_went_well(sim, error, "clFinish");
    sim_hear(sim, queue, n, error);
}

void sim_wait_for_node(struct sim *sim, unsigned i)
{
    struct sim_node *node = &sim->nodes[i];

    if (node->refused)
        return;
    if (node->event) {
        wait_for_events(sim, &i, 1);
        return;
    }
    sim_tell(sim, "finish queue %d for %u", node->queue, i);
    finish(sim, (unsigned)node->queue);
    sim_learn(sim, i);
}

/* The queue's commands, if nothing of it is behind a user event. */
void sim_finish_queue(struct sim *sim, unsigned queue)
{
    struct sim_set set = sim->all_of_queue[queue];

    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim_set_has(&set, i) && sim_order_blocked(sim, &sim->nodes[i]))
            return;
    sim_tell(sim, "finish queue %u", queue);
    finish(sim, queue);
    learn_set(sim, &set);
    sim_set_join(&sim->known, &set);
}

static void wait_for_some(struct sim *sim)
{
    unsigned list[4], n = 0;

    for (unsigned tries = 0; tries < 6 && n < 3; tries++) {
        int i = sim_some_node(sim);

        if (i >= 0 && sim->nodes[i].queue >= 0 && sim->nodes[i].event && !sim_order_blocked(sim, &sim->nodes[i]))
            list[n++] = (unsigned)i;
        if (n && sim_pick(sim, 4))
            break;
    }
    if (n)
        wait_for_events(sim, list, n);
}

/* A command that runs or has run has behind it all that comes before it, in its queue and by its wait list. */
static void ask_before(struct sim *sim, const struct sim_node *node)
{
    for (unsigned i = 0; i < sim->n_nodes && !sim->failure; i++) {
        struct sim_node *before = &sim->nodes[i];

        if (before->event && sim_set_has(&node->before, i) && !sim_set_has(&sim->known, i) &&
            sim_ask(sim, before) > CL_COMPLETE)
            sim_fail(sim, "node %u has the status %d, but node %u before it isn't complete", sim_index(sim, node),
                     node->seen_status, i);
    }
}

static void touch_memory(struct sim_node *node, unsigned char *base, const struct sim_access *access)
{
    /* A move may write the bytes that are there already into memory mapped for reading. */
    if (node->map < 0 || access->write)
        sim_world_host_access(base + access->offset, access->size, access->write);
    if (access->write) {
        sim_set_bytes(base + access->offset, access->size, node->value);
        return;
    }
    node->seen = malloc(access->size);
    if (!node->seen)
        abort();
    memcpy(node->seen, base + access->offset, access->size);
}

static void touch(struct sim *sim, struct sim_node *node, unsigned char *base, const struct sim_access *access)
{
    struct sim_access its = *access;

    touch_memory(node, base, &its);
    sim_tell_node(sim, node, node->map >= 0 ? " mapped" : "");
    sim_set_add(&sim->known, sim->n_nodes);
    sim->n_nodes++;
    sim_order_settle(sim);
}

/* Who is told that a read is complete looks at what it brought. */
static void look_at(struct sim *sim, const struct sim_node *read)
{
    struct sim_node *node;
    struct sim_handle row = sim_arena;

    if (read->kind != SIM_READ || read->status != CL_COMPLETE || sim->n_nodes >= SIM_MAX_NODES - 8)
        return;
    node = sim_new_node(sim, SIM_PEEK, -1);
    node->map = -1;
    row.offset = sim_row(&read->dst, sim_pick(sim, (unsigned)sim_n_rows(&read->dst)));
    row.size = read->dst.size;
    node->src = sim_some_of(sim, &row, row.size, false);
    if (sim_order_fits(sim, node, false))
        touch(sim, node, sim->arena, &node->src);
}

/* One that isn't known to be complete, where that can be had; -1: none. */
static int some_to_ask(struct sim *sim)
{
    int i = sim_some_node(sim);

    for (unsigned tries = 0; tries < 6; tries++) {
        if (i >= 0 && sim->nodes[i].event && sim->nodes[i].queue >= 0 && !sim_set_has(&sim->known, (unsigned)i))
            break;
        i = sim_some_node(sim);
    }
    return i;
}

static void ask_status(struct sim *sim)
{
    int later = some_to_ask(sim);
    struct sim_node *node;
    cl_int status;

    if (later < 0 || !sim->nodes[later].event || sim->nodes[later].queue < 0)
        return;
    node = &sim->nodes[later];
    status = sim_ask(sim, node);
    sim_tell(sim, "status of %d: %d", later, status);
    if (status >= 0 && status <= CL_RUNNING)
        ask_before(sim, node);
    if (status <= CL_RUNNING && status >= 0 && sim_order_held(sim, node))
        sim_fail(sim, "node %d has the status %d, but depends on a user event that isn't set", later, status);
    if (status <= CL_COMPLETE) {
        sim_note_status(sim, node, status);
        if (status == CL_COMPLETE) {
            sim_learn(sim, (unsigned)later);
            look_at(sim, node);
        }
    }
}

static void flush_some(struct sim *sim)
{
    unsigned queue = sim_pick(sim, sim->n_queues);
    cl_int error;

    sim_tell(sim, "flush queue %u", queue);
    error = sim->cl->clFlush(sim->queues[queue]);
    if (error && !sim_may_fail(sim))
        sim_went_well(sim, error, "clFlush");
}

/* ---- User events ---- */

static void user_event(struct sim *sim)
{
    struct sim_node *node;
    cl_int error;
    cl_event event = sim->cl->clCreateUserEvent(sim->context, &error);

    if (!sim_went_well(sim, error, "clCreateUserEvent"))
        return;
    node = sim_new_node(sim, SIM_USER, -1);
    node->event = event;
    node->unset = true;
    node->base = (struct sim_set){{0}};
    node->seen_status = CL_SUBMITTED;
    sim_tell(sim, "%u: user event", sim->n_nodes);
    sim->n_nodes++;
}

static void meet_obligations(struct sim *sim, const struct sim_node *node)
{
    for (unsigned k = 0; k < sim->n_nodes; k++)
        if (sim_set_has(&node->oblige, k) && !sim_set_has(&sim->known, k))
            sim_wait_for_node(sim, k);
}

static cl_int status_to_set(struct sim *sim)
{
    if (sim->options.failures && sim_once_in(sim, 6))
        return -1000 - (cl_int)++sim->world->n_failing;
    return CL_COMPLETE;
}

void sim_set_user_event(struct sim *sim, unsigned i)
{
    struct sim_node *node = &sim->nodes[i];
    cl_int status = status_to_set(sim), error;

    meet_obligations(sim, node);
    sim_tell(sim, "set %u: %d", i, status);
    node->status = status;
    node->unset = false;
    node->base = sim->known;
    sim_set_add(&sim->known, i);
    error = sim->cl->clSetUserEventStatus(node->event, status);
    sim_went_well(sim, error, "clSetUserEventStatus");
    sim_order_settle(sim);
}

static int some_unset(struct sim *sim)
{
    int first = sim_some_node(sim);

    for (unsigned k = 0; first >= 0 && k < sim->n_nodes; k++) {
        unsigned i = ((unsigned)first + k) % sim->n_nodes;

        if (sim->nodes[i].unset && !sim->nodes[i].later)
            return (int)i;
    }
    return -1;
}

static void set_some_user_event(struct sim *sim)
{
    int i = some_unset(sim);

    if (i >= 0)
        sim_set_user_event(sim, (unsigned)i);
}

/* ---- User events that another thread sets ---- */

static void set_later(struct sim_later *later)
{
    const struct tsl_dispatch *cl = later->sim->cl;

    later->state = SIM_LATER_SETS; /* Before: who has waited for it must find it so. */
    if (cl->clSetUserEventStatus(later->event, later->status) && !later->sim->options.out_of_memory)
        abort();
    cl->clReleaseEvent(later->event);
    later->state = SIM_LATER_DONE;
}

static void *later_thread(void *arg)
{
    struct sim_later *later = arg;

    nanosleep(&(struct timespec){.tv_nsec = 1000L * later->delay_us}, NULL);
    set_later(later);
    return NULL;
}

/* What the other thread knows is what the host knew when it told it. */
static void let_another_set(struct sim *sim)
{
    int i = some_unset(sim);
    struct sim_later *later = &sim->laters[sim->n_laters];
    struct sim_node *node = &sim->nodes[i < 0 ? 0 : i];

    if (i < 0 || sim->n_laters == SIM_MAX_LATERS)
        return;
    meet_obligations(sim, node);
    node->later = true;
    node->status = status_to_set(sim);
    node->base = sim->known;
    sim_tell(sim, "%d will be set to %d by another thread", i, node->status);
    sim->cl->clRetainEvent(node->event);
    *later = (struct sim_later){
        .sim = sim, .node = (unsigned)i, .event = node->event, .status = node->status, .delay_us = sim_pick(sim, 400)};
    sim->n_laters++;
    sim_order_settle(sim);
    if (sim_world_has_threads() && pthread_create(&later->thread, NULL, later_thread, later))
        abort();
}

bool sim_later_run(struct sim *sim, unsigned chance)
{
    for (unsigned k = 0; k < sim->n_laters; k++) {
        struct sim_later *later = &sim->laters[(chance + k) % sim->n_laters];

        if (later->state != SIM_LATER_WAITS)
            continue;
        set_later(later);
        return true;
    }
    return false;
}

void sim_laters_finish(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_laters; i++)
        if (sim_world_has_threads())
            pthread_join(sim->laters[i].thread, NULL);
    while (!sim_world_has_threads() && sim_later_run(sim, 0))
        continue;
    sim_laters_collect(sim);
    for (unsigned i = 0; i < sim->n_laters; i++)
        sim_set_add(&sim->known, sim->laters[i].node);
    sim->n_laters = 0;
}

/* ---- Maps, and what the host does to memory ---- */

/* A map that failed gave the application nothing. */
void sim_check_map(struct sim *sim, struct sim_node *node)
{
    if (node->event)
        sim_note_status(sim, node, sim_ask(sim, node));
    node->mapped = node->status == CL_COMPLETE;
}

/* A mapping that the host knows to be there; -1: none. */
static int some_mapping(struct sim *sim)
{
    int first = sim_some_node(sim);

    for (int i = first; i >= 0 && i > first - 30; i--) {
        if (sim->nodes[i].kind != SIM_MAP || !sim->nodes[i].mapped || !sim_set_has(&sim->known, (unsigned)i))
            continue;
        sim_check_map(sim, &sim->nodes[i]);
        if (sim->nodes[i].mapped)
            return i;
    }
    return -1;
}

static void touch_host(struct sim *sim, bool write)
{
    int map = some_mapping(sim);
    struct sim_node *node = sim_new_node(sim, write ? SIM_POKE : SIM_PEEK, -1);
    struct sim_handle range = sim_arena;
    unsigned char *base = sim->arena;
    struct sim_access access;

    node->map = map;
    if (map >= 0) {
        const struct sim_node *mapping = &sim->nodes[map];
        const struct sim_access *mapped = mapping->dst.size ? &mapping->dst : &mapping->src;

        if (write && !mapping->dst.size)
            return;
        range = (struct sim_handle){NULL, mapped->area, sim_row(mapped, sim_pick(sim, (unsigned)sim_n_rows(mapped))),
                                    mapped->size, NULL};
        base = mapping->ptr - mapped->offset;
    }
    node->value = (unsigned char)sim_random(sim);
    access = sim_some_of(sim, &range, range.size, write);
    *(write ? &node->dst : &node->src) = access;
    if (!sim_order_fits(sim, node, false))
        return;
    touch(sim, node, base, &access);
}

static void unmap_some(struct sim *sim)
{
    int map = some_mapping(sim);

    if (map >= 0)
        sim_unmap(sim, (unsigned)map);
}

/* ---- Callbacks ---- */

/* A command from inside a callback: it comes after the one that was told of. */
static void go_on(struct sim_callback *callback)
{
    struct sim *sim = callback->sim;
    struct sim_set base = sim->known;
    uint64_t random = sim->random;
    unsigned step = sim->step;

    sim_chance(sim, 4, callback->number);
    sim->step = sim->nodes[callback->node].step;
    sim_set_join(&base, &sim->nodes[callback->node].before);
    sim_set_add(&base, callback->node);
    sim_tell(sim, "# callback of %u goes on", callback->node);
    sim_random_command(sim, &base, false);
    sim->random = random;
    sim->step = step;
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *arg)
{
    struct sim_callback *callback = arg;
    struct sim *sim = callback->sim;

    (void)event;
    callback->told = status;
    callback->n_called++;
    if (callback->enqueues && status == CL_COMPLETE) {
        pthread_mutex_lock(&sim->lock);
        if (!sim->closing && !sim->failure && sim->n_nodes < SIM_MAX_NODES - 48)
            go_on(callback);
        pthread_mutex_unlock(&sim->lock);
    }
    callback->n_left++; /* From here on the program may be gone. */
}

static void ask_callback(struct sim *sim)
{
    static const cl_int when[] = {CL_COMPLETE, CL_COMPLETE, CL_COMPLETE, CL_RUNNING, CL_SUBMITTED};
    int i = sim_some_node(sim);
    struct sim_callback *callback = &sim->callbacks[sim->n_callbacks];
    cl_int error;

    if (i < 0 || !sim->nodes[i].event || sim->n_callbacks == SIM_MAX_CALLBACKS)
        return;
    *callback = (struct sim_callback){.sim = sim,
                                      .node = (unsigned)i,
                                      .number = sim->step,
                                      .when = when[sim_pick(sim, 5)],
                                      .enqueues = sim_once_in(sim, 2) && !sim->world->callbacks_wait};
    sim->n_callbacks++;
    sim_tell(sim, "callback of %d at %d", i, callback->when);
    error = sim->cl->clSetEventCallback(sim->nodes[i].event, callback->when, called, callback);
    if (!sim_went_well(sim, error, "clSetEventCallback"))
        sim->n_callbacks--; /* There is no such callback. */
}

/* ---- Lives ---- */

/* The command goes on without its event. */
static void forget_event(struct sim *sim)
{
    int i = sim_some_node(sim);
    struct sim_node *node = &sim->nodes[i < 0 ? 0 : i];

    if (i < 0 || !node->event || node->unset || node->needs_event || node->queue < 0 || sim_may_fail(sim) ||
        node->of != sim->queues[node->queue])
        return;
    sim_tell(sim, "release event %d", i);
    sim->cl->clReleaseEvent(node->event);
    node->event = NULL;
}

static bool has_mapping(const struct sim *sim, unsigned area)
{
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        const struct sim_node *node = &sim->nodes[i];

        if (node->kind == SIM_MAP && node->mapped && (node->dst.size ? node->dst.area : node->src.area) == area)
            return true;
    }
    return false;
}

/* A buffer is let go while commands use it; another comes. */
static void change_buffer(struct sim *sim)
{
    unsigned i = sim_pick(sim, sim->n_buffers);

    if (!sim->buffers[i].alive || has_mapping(sim, i) || sim->n_buffers == SIM_MAX_BUFFERS)
        return;
    if (!sim_buffer_create(sim))
        return;
    sim_tell(sim, "release buffer %c", 'A' + (int)i);
    sim_buffer_release(sim, i);
}

/* A queue is let go with all its commands; another comes. What has no event could never be waited for. */
static void change_queue(struct sim *sim)
{
    unsigned queue = sim_pick(sim, sim->n_queues);
    cl_command_queue old = sim->queues[queue];

    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim_set_has(&sim->all_of_queue[queue], i) && !sim->nodes[i].event && !sim->nodes[i].refused &&
            !sim_set_has(&sim->known, i))
            return;
    if (!sim_queue_create(sim, queue))
        return;
    sim_tell(sim, "release queue %u, which the new one replaces", queue);
    sim->cl->clReleaseCommandQueue(old);
}

/* ---- All ---- */

bool sim_host_step(struct sim *sim, unsigned which)
{
    switch (which) {
    case 0:
        user_event(sim);
        return true;
    case 1:
        set_some_user_event(sim);
        return true;
    case 2:
        let_another_set(sim);
        return true;
    case 3:
        wait_for_some(sim);
        return true;
    case 4:
        for (unsigned n = 1 + sim_pick(sim, 3); n > 0; n--)
            ask_status(sim);
        return true;
    case 5:
    case 6:
        touch_host(sim, which == 5);
        return true;
    case 7:
        unmap_some(sim);
        return true;
    case 8:
        flush_some(sim);
        return true;
    case 9:
        if (sim_once_in(sim, 2))
            sim_finish_queue(sim, sim_pick(sim, sim->n_queues));
        return true;
    case 10:
        ask_callback(sim);
        return true;
    case 11:
        forget_event(sim);
        return true;
    case 12:
        if (sim_once_in(sim, 2))
            change_buffer(sim);
        else
            change_queue(sim);
        return true;
    case 13:
        if (sim->options.failures && sim->world->n_failing < 8) {
            cl_int code = -1000 - (cl_int)++sim->world->n_failing;

            sim_world_inject(sim, code);
            return true;
        }
        return false;
    default:
        return false;
    }
}
