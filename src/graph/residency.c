/* Members' memory: who has a place there, and who gives it up for another. internal.h has the rules. */
#include "graph/residency.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "driver/driver.h"
#include "driver/image.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/edge.h"
#include "graph/evict.h"
#include "graph/graphs.h"
#include "graph/lane.h"
#include "graph/make_room.h"
#include "graph/member_memory.h"
#include "graph/memory_order.h"
#include "graph/move.h"
#include "graph/move_failed.h"
#include "graph/op.h"
#include "graph/progress.h"
#include "graph/queue.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/submit.h"
#include "graph/valid.h"
#include "graph/wait.h"
#include "graph/work.h"
#include "handle/object.h"
#include "program/program.h"
#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

/* ---- Books ------------------------------------------------------------------------------------------------------ */

/* After so long a limit that was found is doubted: who else took the memory may be gone. */
#define DOUBT_NS UINT64_C(5000000000)

static void add(atomic_uint_fast64_t *number, uint64_t size)
{
    atomic_fetch_add_explicit(number, size, memory_order_relaxed);
}

static void take(atomic_uint_fast64_t *number, uint64_t size)
{
    atomic_fetch_sub_explicit(number, size, memory_order_relaxed);
}

static uint64_t nominal_size(const struct tsl_member *member)
{
    return member->caps.memory_size ? member->caps.memory_size : UINT64_MAX;
}

/* What a plan may reckon with. */
static uint64_t room_size(struct tsl_member *member)
{
    uint64_t found = atomic_load_explicit(&member->books.found_size, memory_order_relaxed);
    if (!found)
        return nominal_size(member);
    if (tsl_clock_ns() - atomic_load_explicit(&member->books.found_ns, memory_order_relaxed) < DOUBT_NS)
        return found;
    atomic_store_explicit(&member->books.found_size, 0, memory_order_relaxed);
    return nominal_size(member);
}

static void learn(struct tsl_port *port)
{
    struct tsl_member_books *books = &port->member->books;
    uint64_t held = atomic_load_explicit(&books->held_size, memory_order_relaxed);
    if (held <= port->fresh_size)
        return;
    atomic_store_explicit(&books->found_ns, tsl_clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&books->found_size, held - port->fresh_size, memory_order_relaxed);
    tsl_log(TSL_LOG_IN_TILE, TSL_LOG_INFO, "%s has no memory for more than %llu bytes of buffers", port->name,
            (unsigned long long)(held - port->fresh_size));
}

/* Shared virtual memory was there before. */
static bool is_shared(const struct tsl_seat *seat)
{
    const struct tsl_svm *svm = seat->data->svm;
    return svm && (svm->members >> (seat - seat->data->seats) & 1);
}

cl_int tsl_room_alloc(struct tsl_port *port, struct tsl_data *data)
{
    struct tsl_member *member = port->member;
    struct tsl_seat *seat = &data->seats[port->index];
    bool own = tsl_space_of(port, data) != TSL_SPACE_HOST;
    void *host = own ? NULL : data->host;
    cl_int error = data->image ? member->driver->image_alloc(member, data->image, data->flags, host, &seat->mem)
                               : member->driver->mem_alloc(member, data->size, data->flags, host, &seat->mem);
    if (error) /* In what an enqueue may say of it. */
        return error == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error;
    if (!is_shared(seat))
        add(&member->books.held_size, data->size);
    if (own)
        port->fresh_size += data->size;
    return CL_SUCCESS;
}

void tsl_room_free(const struct tsl_seat *seat, struct tsl_mem *mem)
{
    struct tsl_member *member = mem->member;
    uint64_t size = is_shared(seat) ? 0 : mem->size;
    member->driver->mem_free(mem);
    take(&member->books.held_size, size);
}

/* ---- Who could hold it ------------------------------------------------------------------------------------------ */

struct need {
    uint64_t total, largest;
};

static bool holds(const struct tsl_member *member, const struct need *need)
{
    if (member->caps.max_alloc_size && need->largest > member->caps.max_alloc_size)
        return false;
    return member->caps.zero_copy || need->total <= nominal_size(member);
}

static const struct tsl_data *data_of_arg(const struct tsl_args *args, cl_uint i)
{
    return args->args[i].buffer ? tsl_data_of(args->args[i].buffer) : NULL;
}

static bool named_before(const struct tsl_args *args, cl_uint i)
{
    for (cl_uint j = 0; j < i; j++)
        if (data_of_arg(args, j) == data_of_arg(args, i))
            return true;
    return false;
}

/* On this member; exact: what is named twice counts once. */
static struct need need_of(const struct tsl_args *args, unsigned member, bool exact)
{
    struct need need = {0, 0};
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_data *data = data_of_arg(args, i);
        if (!data || is_shared(&data->seats[member]) || (exact && named_before(args, i)))
            continue;
        need.total += data->size;
        if (data->size > need.largest)
            need.largest = data->size;
    }
    return need;
}

static unsigned holders(const struct tsl_graph *graph, unsigned members, const struct tsl_args *args, bool exact)
{
    unsigned can = members;
    for (unsigned i = 0; i < graph->n_ports; i++) {
        struct need need = need_of(args, i, exact);
        if ((members & (1u << i)) && !holds(graph->ports[i].member, &need))
            can &= ~(1u << i);
    }
    return can;
}

unsigned tsl_room_members(struct tsl_graph *graph, unsigned members, const struct tsl_args *args)
{
    unsigned can = holders(graph, members, args, false);
    if (can == members)
        return can;
    can = holders(graph, members, args, true);
    if (!can) {
        struct need need = need_of(args, (unsigned)__builtin_ctz(members), true);
        tsl_log(TSL_LOG_IN_TILE, TSL_LOG_ERROR,
                "no member that can run this kernel has %llu bytes of memory for its buffers (the largest has %llu): "
                "use smaller ones, or cut the work up",
                (unsigned long long)need.total, (unsigned long long)need.largest);
    }
    return can;
}

bool tsl_room_for_two(const struct tsl_port *port, const struct tsl_data *a, const struct tsl_data *b)
{
    struct need need = {.total = a->size, .largest = a->size > b->size ? a->size : b->size};
    if (a != b)
        need.total += b->size;
    if (!(a->members & b->members & (1u << port->index)) || tsl_space_of(port, a) != tsl_space_of(port, b))
        return false;
    return holds(port->member, &need);
}

/* ---- Places, as planned ----------------------------------------------------------------------------------------- */

static void sit(struct tsl_seat *seat, struct tsl_port *port)
{
    if (seat->seated)
        return;
    seat->seated = true;
    TAILQ_INSERT_TAIL(&port->seats, seat, link);
    add(&port->member->books.planned_size, seat->data->size);
}

static void rise(struct tsl_seat *seat, struct tsl_port *port)
{
    if (!seat->seated)
        return;
    seat->seated = false;
    TAILQ_REMOVE(&port->seats, seat, link);
    take(&port->member->books.planned_size, seat->data->size);
}

static void warm(struct tsl_seat *seat, struct tsl_port *port)
{
    if (!TAILQ_NEXT(seat, link))
        return;
    TAILQ_REMOVE(&port->seats, seat, link);
    TAILQ_INSERT_TAIL(&port->seats, seat, link);
}

void tsl_unseat_all(struct tsl_data *data)
{
    struct tsl_graph *graph = data->context->graph;
    for (unsigned i = 0; i < graph->n_ports; i++)
        rise(&data->seats[i], &graph->ports[i]);
}

void tsl_pin(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port)
{
    data->seats[port->index].pin = command->id;
}

void tsl_pin_args(struct tsl_command *command, struct tsl_port *port)
{
    for (cl_uint i = 0; i < command->args->n_all; i++)
        if (command->args->args[i].buffer)
            tsl_pin(command, tsl_data_of(command->args->args[i].buffer), port);
}

/* ---- Planned evictions ------------------------------------------------------------------------------------------ */

static cl_int spill_all(struct tsl_command *command, struct tsl_data *data, unsigned space)
{
    uint64_t begin = 0, end;
    cl_int error = CL_SUCCESS;
    for (; !error && tsl_only_there(data, space, &begin, &end); begin = end)
        error = tsl_spill(command, data, begin, end, space);
    return error;
}

static cl_int plan_eviction(struct tsl_op *op)
{
    struct tsl_data *data = op->victim->data;
    unsigned space = tsl_space_of(op->port, data);
    cl_int error = spill_all(op->command, data, space);
    if (!error)
        error = tsl_claim_place(op, data, space);
    if (!error)
        tsl_leave_space(op, data, space);
    return error;
}

/* The last eviction of the port that is planned and not done; NULL: none. */
static struct tsl_op *last_eviction(struct tsl_port *port)
{
    if (port->evicting && port->evicting->user.done) {
        tsl_op_unref(port->evicting);
        port->evicting = NULL;
    }
    return port->evicting;
}

/* One comes after the other: who waits for the last has all the room that was made. */
static void chain(struct tsl_op *op)
{
    struct tsl_port *port = op->port;
    struct tsl_op *last = last_eviction(port);
    if (last)
        tsl_op_depend(op, last, false);
    tsl_op_unref(last);
    op->user.refs++;
    port->evicting = op;
}

/* False: it couldn't be planned. What is planned of it does no harm. */
static bool evict(struct tsl_command *command, struct tsl_seat *victim, struct tsl_port *port)
{
    struct tsl_op *op = tsl_op_create(command, port, NULL, TSL_OP_ROOM);
    if (!op)
        return false;
    op->aside = true;
    if (!tsl_dependences_add(&command->frontier, op, false)) /* What the command itself does need not come after it. */
        tsl_starve(command);
    bool lives = tsl_object_try_ref(victim->data->owner);
    if (lives) {
        op->victim = victim;
        op->eviction = victim->n_evictions++;
        op->poison = plan_eviction(op);
    }
    bool planned = lives && !op->poison;
    if (planned) {
        rise(victim, port);
        chain(op);
    }
    tsl_op_go(op);
    tsl_op_unref(op);
    return planned;
}

static bool full(const struct tsl_port *port, uint64_t size)
{
    struct tsl_member *member = port->member;
    uint64_t planned = atomic_load_explicit(&member->books.planned_size, memory_order_relaxed);
    if (planned + size <= nominal_size(member) &&
        !atomic_load_explicit(&member->books.found_size, memory_order_relaxed))
        return false;
    return planned + size > room_size(member);
}

void tsl_seat(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port)
{
    struct tsl_seat *seat = &data->seats[port->index], *victim = TAILQ_FIRST(&port->seats), *next;
    seat->pin = command->id;
    if (seat->seated) {
        warm(seat, port);
        return;
    }
    for (; victim && full(port, data->size); victim = next) {
        next = TAILQ_NEXT(victim, link);
        if (victim->pin != command->id)
            evict(command, victim, port);
    }
    sit(seat, port);
    if (last_eviction(port))
        tsl_follow_place(port->evicting, data, tsl_space_of(port, data));
}

void tsl_stay_seated(struct tsl_data *data, struct tsl_port *port)
{
    struct tsl_seat *seat = &data->seats[port->index];
    seat->n_void = seat->n_evictions;
    sit(seat, port);
}

/* ---- Freeing ---------------------------------------------------------------------------------------------------- */

#define FEW_SUBS 32

static unsigned take_subs(struct tsl_data *data, unsigned index, struct tsl_mem **mems)
{
    struct tsl_sub_mems *subs;
    unsigned n = 0;
    LIST_FOREACH(subs, &data->sub_mems, link)
    if (subs->mems[index] && n < FEW_SUBS) {
        mems[n++] = subs->mems[index];
        subs->mems[index] = NULL;
    }
    return n;
}

/* Nobody uses it, and whoever will comes after. The lock is given meanwhile. */
static void empty(struct tsl_seat *seat, struct tsl_port *port)
{
    struct tsl_graph *graph = port->graph;
    struct tsl_mem *mems[FEW_SUBS], *mem;
    unsigned n;
    while ((n = take_subs(seat->data, port->index, mems)) > 0) {
        tsl_graph_open(graph);
        for (unsigned i = 0; i < n; i++)
            mems[i]->member->driver->mem_free(mems[i]);
        tsl_graph_close(graph);
    }
    mem = seat->mem;
    seat->mem = NULL;
    seat->changed = true;
    if (mem && seat->n_freeing > 0 && !seat->orphan) {
        seat->orphan = mem;
        port->n_leaving++;
    } else if (mem) {
        tsl_graph_open(graph);
        tsl_room_free(seat, mem);
        tsl_graph_close(graph);
    }
}

void tsl_room_run(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_seat *seat = op->victim;
    op->user.refs++;
    if (seat && !op->poison && op->eviction >= seat->n_void)
        empty(seat, op->port);
    tsl_op_finish(op, CL_COMPLETE);
    tsl_op_unref(op);
    if (!seat)
        return;
    tsl_graph_open(graph);
    tsl_object_unref(seat->data->owner);
    tsl_graph_close(graph);
}

/* ---- Evictions at once: the driver has no memory ---------------------------------------------------------------- */

/* An eviction that this thread does itself, of an object that no operation uses. Who plans to use it meanwhile waits
 * for the operation, which never was in a port. */
struct eviction {
    struct tsl_port *port; /* the victim's */
    struct tsl_seat *seat;
    struct tsl_command *command;
    struct tsl_op *op;
    unsigned n; /* ranges to be saved on the host */
    struct tsl_range *ranges;
};

static bool idle(const struct tsl_seat *seat, unsigned space)
{
    struct tsl_data *data = seat->data;
    uint64_t begin = 0, end;
    if (!tsl_space_idle(data, space) || !seat->mem)
        return false;
    for (; tsl_only_there(data, space, &begin, &end); begin = end)
        if (!tsl_data_host(data) || !tsl_host_idle(data, begin, end))
            return false;
    return true;
}

static unsigned space_of(const struct eviction *e)
{
    return tsl_space_of(e->port, e->seat->data);
}

static bool list_ranges(struct eviction *e)
{
    uint64_t begin = 0, end;
    unsigned n = 0;
    for (; tsl_only_there(e->seat->data, space_of(e), &begin, &end); begin = end)
        n++;
    e->ranges = n ? malloc(n * sizeof(*e->ranges)) : NULL;
    if (n && !e->ranges)
        return false;
    for (begin = 0; e->n < n && tsl_only_there(e->seat->data, space_of(e), &begin, &end); begin = end)
        e->ranges[e->n++] = (struct tsl_range){begin, end};
    return true;
}

/* The lock is held. Afterwards the object is the operation's alone. */
static bool begin_eviction(struct eviction *e)
{
    struct tsl_data *data = e->seat->data;
    cl_int error = tsl_claim_place(e->op, data, space_of(e));
    for (unsigned i = 0; i < e->n && !error; i++)
        error = tsl_claim_spill(e->op, data, e->ranges[i].begin, e->ranges[i].end);
    if (error)
        return false;
    tsl_leave_space(e->op, data, space_of(e));
    rise(e->seat, e->port);
    return true;
}

static cl_int save_box(const struct tsl_image_box *box, struct tsl_seat *seat, struct tsl_lane *lane)
{
    const struct tsl_driver *driver = lane->member->driver;
    struct tsl_place place = tsl_place_of(seat->data, box);
    struct tsl_copy copy = {.dst = place, .src = place};
    memcpy(copy.region, box->region, sizeof(copy.region));
    copy.dst.host = seat->data->host;
    copy.src.mem = seat->mem;
    struct tsl_fence *fence = NULL;
    cl_int status = driver->copy(lane, &copy, NULL, &fence);
    if (status)
        return status;
    status = driver->flush(lane) ? driver->finish(lane) : CL_SUCCESS;
    status = status < 0 ? status : driver->fence_wait(fence);
    tsl_fence_unref(fence);
    return status < 0 ? status : CL_SUCCESS;
}

static cl_int save(const struct tsl_range *range, struct tsl_seat *seat, struct tsl_lane *lane)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_boxes_of(seat->data, range->begin, range->end, boxes);
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < n && !error; i++)
        error = save_box(&boxes[i], seat, lane);
    return error;
}

/* Without the lock, by the lane of the port that lacks room: that is this thread's. */
static cl_int save_all(const struct eviction *e, struct tsl_port *port)
{
    struct tsl_lane *lane;
    cl_int error = e->n ? tsl_track_lane(&port->down, &lane) : CL_SUCCESS;
    for (unsigned i = 0; i < e->n && !error; i++)
        error = save(&e->ranges[i], e->seat, lane);
    return error;
}

/* The lock is held, and given meanwhile. */
static void end_eviction(struct eviction *e, cl_int error)
{
    struct tsl_op *op = e->op;
    if (!error) {
        empty(e->seat, e->port);
    } else {
        for (unsigned i = 0; i < e->n; i++)
            tsl_not_moved(op, e->seat->data, e->ranges[i].begin, e->ranges[i].end, TSL_SPACE_HOST, space_of(e));
        sit(e->seat, e->port);
    }
    tsl_op_finish(op, error ? error : CL_COMPLETE);
}

/* An operation that is in no port, of a command that is in no stream. */
static bool make_op(struct eviction *e)
{
    e->command = tsl_command_create(e->port->graph, NULL, CL_COMMAND_USER);
    if (!e->command)
        return false;
    e->command->n_undone = 1; /* It is never complete: it only is the operation's. */
    e->op = tsl_op_create(e->command, e->port, NULL, TSL_OP_ROOM);
    if (!e->op)
        return false;
    e->op->aside = true;
    e->op->user.refs++; /* As if it were ready. */
    e->port->n_pending++;
    e->port->graph->n_under_way++;
    return true;
}

/* The lock is held, and given meanwhile. */
static bool evict_now(struct eviction *e, struct tsl_port *port)
{
    struct tsl_graph *graph = e->port->graph;
    bool done = false;
    if (make_op(e)) {
        bool begun = list_ranges(e) && begin_eviction(e);
        cl_int error = CL_OUT_OF_HOST_MEMORY;
        if (begun) {
            e->port->n_leaving++;
            tsl_graph_open(graph);
            error = save_all(e, port);
            tsl_graph_close(graph);
            end_eviction(e, error);
            e->port->n_leaving--;
            tsl_graph_changed(graph);
        } else {
            tsl_op_finish(e->op, error);
        }
        done = begun && !error;
        tsl_op_unref(e->op);
    }
    if (e->command)
        tsl_command_unref(e->command);
    free(e->ranges);
    return done;
}

static bool evict_seat(struct tsl_seat *seat, struct tsl_port *its, struct tsl_port *port)
{
    struct eviction e = {.port = its, .seat = seat};
    struct tsl_object *owner = seat->data->owner;
    if (!tsl_object_try_ref(owner))
        return false;
    bool done = evict_now(&e, port);
    tsl_graph_open(its->graph);
    tsl_object_unref(owner);
    tsl_graph_close(its->graph);
    return done;
}

/* The coldest object that nobody uses, of a graph that has the member, goes. Its lock is held, and given meanwhile. */
static bool evict_idle(struct tsl_graph *graph, struct tsl_port *port)
{
    for (unsigned i = 0; i < graph->n_ports; i++) {
        struct tsl_port *its = &graph->ports[i];
        struct tsl_seat *seat;
        if (its->member != port->member)
            continue;
        TAILQ_FOREACH(seat, &its->seats, link)
        if (idle(seat, tsl_space_of(its, seat->data)))
            return evict_seat(seat, its, port);
    }
    return false;
}

/* ---- Other contexts --------------------------------------------------------------------------------------------- */

static struct tsl_lock graphs_lock = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static LIST_HEAD(, tsl_graph) graphs = LIST_HEAD_INITIALIZER(graphs);

void tsl_room_add_graph(struct tsl_graph *graph)
{
    tsl_lock_take(&graphs_lock);
    LIST_INSERT_HEAD(&graphs, graph, link);
    tsl_lock_give(&graphs_lock);
}

void tsl_room_remove_graph(struct tsl_graph *graph)
{
    tsl_lock_take(&graphs_lock);
    LIST_REMOVE(graph, link);
    tsl_lock_give(&graphs_lock);
}

struct tsl_graph *tsl_next_graph(struct tsl_graph *graph)
{
    tsl_lock_take(&graphs_lock);
    graph = graph ? LIST_NEXT(graph, link) : LIST_FIRST(&graphs);
    while (graph && !tsl_object_try_ref(&graph->context->object))
        graph = LIST_NEXT(graph, link);
    tsl_lock_give(&graphs_lock);
    return graph;
}

static bool evict_elsewhere(struct tsl_port *port)
{
    struct tsl_graph *graph = tsl_next_graph(NULL);
    bool done = false;
    while (graph && !done) {
        struct tsl_graph *this = graph;
        if (graph != port->graph) {
            tsl_lock_take(&graph->lock);
            done = evict_idle(graph, port);
            tsl_graph_post(graph); /* Somebody may have been waiting for the operation. */
            tsl_lock_give(&graph->lock);
        }
        graph = done ? NULL : tsl_next_graph(this);
        tsl_object_unref(&this->context->object);
    }
    return done;
}

/* ---- What other threads are about to free ------------------------------------------------------------------------ */

/* Plans reckon with the room at once, and an object that is being destroyed can't be evicted. */
static bool is_leaving(const struct tsl_port *port)
{
    struct tsl_seat *seat;
    if (port->n_leaving > 0)
        return true;
    TAILQ_FOREACH(seat, &port->seats, link)
    if (tsl_object_dying(seat->data->owner))
        return true;
    return false;
}

/* The graph's lock is held, and given meanwhile. Between the end of an object's last reference and that of its place
 * nothing of the application is called. */
static bool wait_for_leaving(struct tsl_graph *graph, const struct tsl_member *member)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (graph->ports[i].member == member && is_leaving(&graph->ports[i])) {
            tsl_graph_wait(graph);
            return true;
        }
    return false;
}

static bool wait_for_leaving_anywhere(const struct tsl_member *member)
{
    struct tsl_graph *graph =
        tsl_simulation ? NULL : tsl_next_graph(NULL); /* There other threads are below on the stack. */
    bool waited = false;
    while (graph) {
        struct tsl_graph *this = graph;
        if (!waited) {
            tsl_lock_take(&graph->lock);
            waited = wait_for_leaving(graph, member);
            tsl_lock_give(&graph->lock);
        }
        graph = waited ? NULL : tsl_next_graph(this);
        tsl_object_unref(&this->context->object);
    }
    return waited;
}

/* ---- The drainer ------------------------------------------------------------------------------------------------ */

bool tsl_lacks_room(const struct tsl_port *port, cl_int error)
{
    if (port->member && atomic_load_explicit(&port->member->lost, memory_order_relaxed))
        return false;
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || (error == CL_OUT_OF_RESOURCES && port->fresh_size > 0);
}

static struct tsl_op *oldest(struct tsl_port *port)
{
    const struct tsl_track *const tracks[] = {&port->down, &port->timed_down, &port->up, &port->timed_up};
    struct tsl_op *op = NULL;
    struct tsl_stream *stream;
    for (unsigned i = 0; i < 4 && !op; i++)
        op = TAILQ_FIRST(&tracks[i]->flight);
    for (stream = LIST_FIRST(&port->graph->streams); stream && !op; stream = LIST_NEXT(stream, link)) {
        op = TAILQ_FIRST(&stream->tracks[port->index].flight);
        if (!op)
            op = TAILQ_FIRST(&stream->timed_tracks[port->index].flight);
    }
    return op;
}

/* What the member's driver has ends by itself. */
static bool wait_for_one(struct tsl_port *port)
{
    struct tsl_op *op = oldest(port);
    if (!op)
        return false;
    op->user.refs++;
    tsl_op_pull(op);
    tsl_op_unref(op);
    return true;
}

bool tsl_make_room(struct tsl_op *op, bool first)
{
    struct tsl_port *port = op->port;
    struct tsl_graph *graph = port->graph;
    if (first)
        learn(port);
    tsl_lock_take(&graph->lock);
    bool changed = evict_idle(graph, port);
    tsl_lock_give(&graph->lock);
    if (changed || evict_elsewhere(port))
        return true;
    tsl_lock_take(&graph->lock); /* Meanwhile another thread may have noticed an end. */
    changed = evict_idle(graph, port) || wait_for_one(port) || tsl_submit_ahead(op);
    tsl_lock_give(&graph->lock);
    changed = changed || wait_for_leaving_anywhere(port->member);
    if (!changed)
        tsl_log(TSL_LOG_IN_TILE, TSL_LOG_ERROR,
                "%s has no memory left, and nothing there can go back to the host: use fewer or smaller buffers, "
                "or leave the device out (TESELA_MEMBERS)",
                port->name);
    return changed;
}
