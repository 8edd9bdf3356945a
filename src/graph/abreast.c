/* Which lane of an out-of-order queue a launch goes to. */
#include "graph/abreast.h"

#include "base/small_vector.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"
#include "graph/command.h"
#include "graph/data.h"
#include "graph/footing.h"
#include "graph/graph.h"
#include "graph/port.h"
#include "graph/queue.h"
#include "program/arguments.h"
#include "program/program.h"

#define MOST_ARGUMENTS 32u /* launches of more keep to the queue's first lane */
#define LOOKED_AT      8u  /* commands enqueued last */
#define LANES          8u

static unsigned access_of(const struct tsl_command *c, cl_uint i)
{
    const struct tsl_kernel_part *part = &c->kernel->parts[c->share.placement.member];
    return tsl_footing_access(&part->facts, i, c->args->args[i].buffer);
}

/* Is argument i of the one an object of the other, too, and does one of them write it? */
static bool meets_at(const struct tsl_command *a, cl_uint i, const struct tsl_command *b)
{
    const struct tsl_buffer *object = a->args->args[i].buffer;
    for (cl_uint k = 0; k < b->args->n_all; k++) {
        const struct tsl_buffer *other = b->args->args[k].buffer;
        if (other && tsl_data_of(other) == tsl_data_of(object) && (access_of(a, i) | access_of(b, k)) & TSL_MAY_WRITE)
            return true;
    }
    return false;
}

static bool meet(const struct tsl_command *a, const struct tsl_command *b)
{
    for (cl_uint i = 0; i < a->args->n_all; i++)
        if (a->args->args[i].buffer && meets_at(a, i, b))
            return true;
    return false;
}

/* Is it a launch of that queue that has a lane, and isn't over? */
static bool has_lane(const struct tsl_command *c, const struct tsl_graph_queue *queue)
{
    return c->queue == queue && c->state == TSL_SCHEDULED && c->kernel && c->abreast > 0;
}

/* The lane of a launch that comes before c; 0: it needs none of those looked at. */
static uint8_t lane_of_need(const struct tsl_command *c)
{
    const struct tsl_command *before;
    unsigned n = 0;
    for (unsigned i = c->waits.n; i-- > 0;) {
        before = *TSL_SMALL_AT(&c->waits, i);
        if (has_lane(before, c->queue))
            return before->abreast;
    }
    TAILQ_FOREACH_REVERSE(before, &c->queue->commands, tsl_command_list, link)
    {
        if (before != c && has_lane(before, c->queue) && before->args->n_all <= MOST_ARGUMENTS && meet(c, before))
            return before->abreast;
        if (++n == LOOKED_AT)
            break;
    }
    return 0;
}

static uint8_t choose(struct tsl_command *c)
{
    struct tsl_graph_queue *queue = c->queue;
    if (queue->n_abreast == 1 || c->in_order || c->serial || c->args->n_all > MOST_ARGUMENTS)
        return 1;
    uint8_t lane = lane_of_need(c);
    return lane ? lane : (uint8_t)(1 + queue->next_abreast++ % queue->n_abreast);
}

unsigned tsl_abreast_lanes(const struct tsl_graph *graph)
{
    for (unsigned i = 0; i < graph->n_ports; i++)
        if (graph->ports[i].member->caps.lanes_abreast)
            return LANES;
    return 1;
}

unsigned tsl_abreast_lane(struct tsl_command *launch, const struct tsl_port *port)
{
    if (!port->member->caps.lanes_abreast)
        return port->index;
    if (!launch->abreast)
        launch->abreast = choose(launch);
    return (launch->abreast - 1u) * launch->graph->n_ports + port->index;
}
