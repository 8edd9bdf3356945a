/* Evictions at once, for a driver that has no memory. */
#include "graph/evict_now.h"

#include "driver/driver.h"
#include "driver/image.h"
#include "graph/command.h"
#include "graph/complete.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/evict.h"
#include "graph/evict_run.h"
#include "graph/lane.h"
#include "graph/member_memory.h"
#include "graph/move.h"
#include "graph/move_failed.h"
#include "graph/op.h"
#include "graph/residency.h"
#include "graph/space.h"
#include "graph/state.h"
#include "graph/valid.h"
#include "handle/object.h"
#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

/* An eviction that this thread does itself, of an object that no operation uses. Its operation is in no port; a command
 * that needs the object meanwhile gets an edge from the operation. */
struct eviction {
    struct tsl_port *port; /* of the evicted object */
    struct tsl_residence *residence;
    struct tsl_command *command;
    struct tsl_op *op;
    unsigned n; /* ranges to be saved on the host */
    struct tsl_range *ranges;
};

static bool idle(const struct tsl_residence *residence)
{
    struct tsl_data *data = residence->data;
    unsigned space = tsl_space_of_residence(residence);
    uint64_t begin = 0, end;
    if (!tsl_evict_is_idle(data, space) || !residence->mem)
        return false;
    for (; tsl_valid_only_in(data, space, &begin, &end); begin = end)
        if (!tsl_data_host(data) || !tsl_evict_host_is_idle(data, begin, end))
            return false;
    return true;
}

static unsigned space_of(const struct eviction *e)
{
    return tsl_space_of_residence(e->residence);
}

static bool list_ranges(struct eviction *e)
{
    uint64_t begin = 0, end;
    unsigned n = 0;
    for (; tsl_valid_only_in(e->residence->data, space_of(e), &begin, &end); begin = end)
        n++;
    e->ranges = n ? malloc(n * sizeof(*e->ranges)) : NULL;
    if (n && !e->ranges)
        return false;
    for (begin = 0; e->n < n && tsl_valid_only_in(e->residence->data, space_of(e), &begin, &end); begin = end)
        e->ranges[e->n++] = (struct tsl_range){begin, end};
    return true;
}

/* The lock is held. Afterwards the object's copy belongs to the operation alone. */
static bool begin_eviction(struct eviction *e)
{
    struct tsl_data *data = e->residence->data;
    cl_int error = tsl_evict_claim(e->op, data, space_of(e));
    for (unsigned i = 0; i < e->n && !error; i++)
        error = tsl_evict_claim_host(e->op, data, e->ranges[i].begin, e->ranges[i].end);
    if (error)
        return false;
    bool leaves = tsl_residence_is_spread(e->residence);
    tsl_evict_leave(e->op, data, space_of(e));
    tsl_residency_end(e->residence, e->port);
    if (leaves) /* Nothing else uses the memory. */
        tsl_spread_leave(data);
    return true;
}

static cl_int save_box(const struct tsl_image_box *box, struct tsl_residence *residence, struct tsl_lane *lane)
{
    const struct tsl_driver *driver = lane->member->driver;
    struct tsl_place place = tsl_move_place(residence->data, box);
    struct tsl_copy copy = {.dst = place, .src = place};
    memcpy(copy.region, box->region, sizeof(copy.region));
    copy.dst.host = residence->data->host;
    copy.src.mem = residence->mem;
    struct tsl_fence *fence = NULL;
    cl_int status = driver->copy(lane, &copy, NULL, &fence);
    if (status)
        return status;
    status = driver->flush(lane) ? driver->finish(lane) : CL_SUCCESS;
    status = status < 0 ? status : driver->fence_wait(fence);
    tsl_fence_unref(fence);
    return status < 0 ? status : CL_SUCCESS;
}

static cl_int save(const struct tsl_range *range, struct tsl_residence *residence, struct tsl_lane *lane)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_move_boxes(residence->data, range->begin, range->end, boxes);
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < n && !error; i++)
        error = save_box(&boxes[i], residence, lane);
    return error;
}

static cl_int save_by(const struct eviction *e, struct tsl_lane *lane)
{
    cl_int error = CL_SUCCESS;
    for (unsigned i = 0; i < e->n && !error; i++)
        error = save(&e->ranges[i], e->residence, lane);
    return error;
}

/* Without the lock, by a lane of the port, which this thread drains; what isn't in its member's memory by one of its
 * own.
 */
static cl_int save_all(const struct eviction *e, struct tsl_port *port)
{
    struct tsl_member *member = e->residence->mem->member;
    struct tsl_lane *lane;
    if (e->n == 0)
        return CL_SUCCESS;
    if (member == port->member) {
        cl_int error = tsl_graph_lane_make(&port->down);
        return error ? error : save_by(e, port->down.driver_lane);
    }
    cl_int error = member->driver->lane_create(member, port->down.use, &lane);
    if (error)
        return error;
    error = save_by(e, lane);
    member->driver->lane_free(lane);
    return error;
}

/* The lock is held, and given meanwhile. */
static void end_eviction(struct eviction *e, cl_int error)
{
    struct tsl_op *op = e->op;
    if (!error) {
        tsl_evict_run_free(e->residence, e->port);
    } else {
        for (unsigned i = 0; i < e->n; i++)
            tsl_move_failed_range(op, e->residence->data, e->ranges[i].begin, e->ranges[i].end, TSL_SPACE_HOST,
                                  space_of(e));
        if (tsl_residence_is_spread(e->residence))
            tsl_spread_return(e->residence->data);
        tsl_residency_begin(e->residence, e->port);
    }
    tsl_op_finish(op, error ? error : CL_COMPLETE);
}

/* Makes an operation that is in no port, of a command that is in no queue. */
static bool make_op(struct eviction *e)
{
    e->command = tsl_command_create(e->port->graph, NULL, CL_COMMAND_USER);
    if (!e->command)
        return false;
    e->command->n_undone = 1; /* The command is never complete: it only serves the operation. */
    e->op = tsl_op_create(e->command, e->port, NULL, TSL_OP_EVICT);
    if (!e->op)
        return false;
    e->op->is_side = true;
    e->op->user.refs++; /* As if the operation were ready. */
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

static bool evict_residence(struct tsl_residence *residence, struct tsl_port *its, struct tsl_port *port)
{
    struct eviction e = {.port = its, .residence = residence};
    struct tsl_object *owner = residence->data->owner;
    if (!tsl_object_try_ref(owner))
        return false;
    bool done = evict_now(&e, port);
    tsl_graph_open(its->graph);
    tsl_object_unref(owner);
    tsl_graph_close(its->graph);
    return done;
}

/* Nothing of it is to be saved. */
static void drop_arena(struct tsl_port *port)
{
    struct tsl_arena *arena = &port->arena;
    if (arena->resident)
        tsl_member_memory_unplan(port->member, TSL_ARENA_AREAS * arena->area_size);
    arena->resident = false;
    tsl_arena_free(port);
}

/* Has the member memory of the copy, which is listed at that port? */
static bool is_on(const struct tsl_residence *residence, const struct tsl_port *its, const struct tsl_member *member)
{
    const struct tsl_graph *graph = its->graph;
    bool on = its->member == member;
    for (unsigned i = 0; i < graph->n_ports && !on && tsl_residence_is_spread(residence); i++)
        on = graph->ports[i].member == member && tsl_space_has_part(residence->data, i);
    return on;
}

bool tsl_evict_now_idle(struct tsl_graph *graph, struct tsl_port *port, const struct tsl_member *member)
{
    for (unsigned i = 0; i < graph->n_ports; i++) {
        struct tsl_port *its = &graph->ports[i];
        struct tsl_residence *residence;
        if (its->member == member && tsl_arena_is_idle(its)) {
            drop_arena(its);
            return true;
        }
        TAILQ_FOREACH(residence, &its->residents, link)
        if (is_on(residence, its, member) && idle(residence))
            return evict_residence(residence, its, port);
    }
    return false;
}
