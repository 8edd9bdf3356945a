/* The graph's side of a command queue: its commands, their order, its lanes. Under the graph's lock. */
#ifndef TSL_GRAPH_QUEUE_H
#define TSL_GRAPH_QUEUE_H

#include "graph/command.h"
#include "graph/dependences.h"
#include "place/place.h"

struct tsl_graph_queue {
    LIST_ENTRY(tsl_graph_queue) link; /* in queues, then in dead_queues */
    struct tsl_graph *graph;
    struct tsl_queue *handle; /* the application's queue; valid while a command is not reported */
    unsigned refs; /* the application's queue's, and one for each thread that uses a lane without the lock: when the
                      last command is reported meanwhile, the application's queue may go */
    unsigned id;   /* in order of making, from 1 */
    bool in_order, profile;
    bool sync;   /* an enqueue returns when its command is complete: TESELA_ORDER=sync, or the queue's own policy */
    bool serial; /* commands do not overlap: they are sync, or a profiling queue's times would show it */
    enum tsl_place_by place_by;       /* where its kernels go */
    struct tsl_command_list commands; /* not reported, oldest first */
    struct tsl_command *unscheduled;  /* in-order: the first held command (all after it are held too); else NULL */
    unsigned n_behind;                /* enqueued behind unscheduled */
    struct tsl_command *chain;   /* in-order: unscheduled, which waits for launches to be chained with; else NULL */
    unsigned n_in_chain, n_seen; /* then: so many are there, with it; and were at the last look for more */
    unsigned n_together; /* ... so many were chained last, of launches that may also go whole (either_way.h); 0: none */
    struct tsl_command *barrier;      /* out-of-order: the last barrier, while not complete (owned reference) */
    tsl_dependences frontier;         /* in-order: of the last scheduled command */
    tsl_dependences task;             /* in-order: the last host task, and what waited for others */
    tsl_dependences touching;         /* in-order: what may touch the application's memory since (schedule.c) */
    unsigned n_abreast, next_abreast; /* lanes for each member, of each kind; a count for the choice (abreast.h) */
    unsigned n_lanes;                 /* of lanes, and of timed_lanes: n_abreast for each member */
    struct tsl_graph_lane *lanes;     /* by member, first the first of each */
    int pinned; /* the one member that a sub-device's queue is for: what the queue moves goes there; -1: none */
    struct tsl_graph_lane *timed_lanes; /* by member: lanes that profile, for commands that do, and launches whose time
                                       the placer is to learn */
    cl_int pending_error; /* of the first command without event that failed: the next blocking read, write or map, or
                             clFinish, tells it */
};

/* The last reference makes it a dead queue, which is freed without the lock. */
static inline void tsl_graph_queue_unref(struct tsl_graph_queue *queue)
{
    if (--queue->refs == 0)
        LIST_INSERT_HEAD(&queue->graph->dead_queues, queue, link);
}

#endif
