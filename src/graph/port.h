/*
 * Ports: a context's access to one member, or to the host. A port is drained by one thread at a time, which gives the
 * graph's lock for each submission (submit.h).
 */
#ifndef TSL_GRAPH_PORT_H
#define TSL_GRAPH_PORT_H

#include "base/worker.h"
#include "graph/arena.h"
#include "graph/lane.h"
#include "graph/residency.h"

#include <limits.h>

struct tsl_graph;
struct tsl_member;

#define TSL_HOST_INDEX UINT_MAX

struct tsl_port {
    struct tsl_graph *graph;
    struct tsl_member *member;
    unsigned space;
    const char *name; /* the member's path id, or "host" */
    unsigned index;   /* of the member in the context; TSL_HOST_INDEX: the host */
    bool has_sender;  /* senders.h */
    bool sync;        /* submissions complete before they return */
    bool beside;      /* its operations run side by side, each in a thread of its own: the port of host tasks */
    bool draining;    /* a thread submits */
    bool ahead;       /* that thread submits what is behind an operation that can't be submitted now */
    bool listed;      /* in graph->ports_ready */
    bool posted;      /* its worker's job holds a reference to the context */
    unsigned n_pending;
    uint64_t order;              /* synchronous: of all operations that became ready here */
    struct tsl_op_list launches; /* what the placer placed here and is not done, oldest first (owned references) */
    uint64_t ended_ns;           /* when the end of a launch was noticed last */
    uint64_t abreast_end_ns;     /* on the device, of the launches of out-of-order queues that have ended there */
    struct tsl_op_queue ready;
    struct tsl_residence_list residents; /* objects that are resident in the member's memory, coldest first */
    struct tsl_arena arena;              /* for launches whose buffers the member can't hold */
    unsigned n_leaving;                  /* memories that a thread is about to free: evictions at once, orphans */
    struct tsl_op *evicting;             /* the last eviction that was planned, while not done (owned reference) */
    uint64_t reported;                   /* errors, a bit each, that were logged once */
    struct tsl_port
        *lacking;      /* whose member had no memory for this port's last submission: another, of spread memory */
    size_t fresh_size; /* allocated since a submission succeeded: the device may not have it really yet */
    struct tsl_graph_lane up, down;             /* moves to and from the member */
    struct tsl_graph_lane timed_up, timed_down; /* lanes that profile, for moves whose time the placer is to learn */
    /* What was submitted is flushed by this one, when all that was ready is submitted; a reference; NULL: nothing. */
    struct tsl_graph_lane *unsent;
    STAILQ_ENTRY(tsl_port) unsent_link;
    struct tsl_worker *worker; /* of synchronous ports, and of those with a sender; else NULL */
    struct tsl_job job;
    STAILQ_ENTRY(tsl_port) link;
};

static inline bool tsl_port_is_host(const struct tsl_port *port)
{
    return port->index == TSL_HOST_INDEX;
}

/* The lane of an operation; on synchronous ports any will do. */
static inline struct tsl_graph_lane *tsl_op_lane(struct tsl_op *op)
{
    return op->lane ? op->lane : &op->port->up;
}

void tsl_port_init(struct tsl_port *port, struct tsl_graph *graph, struct tsl_member *member, unsigned index);
void tsl_port_finish(struct tsl_port *port);
/* Has a thread of ours run the operation, which is ready on a port that runs its operations side by side. False: none
 * can be had. Under the graph's lock. */
bool tsl_port_post_task(struct tsl_op *op);

#endif
