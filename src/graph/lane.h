/*
 * The graph's side of a driver's lanes: what was submitted there and isn't known to be done. A lane's operations run in
 * the order in which they became ready. A port has lanes for moves; a queue has two for each member, of which one
 * profiles, or several pairs (abreast.h).
 *
 * Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_LANE_H
#define TSL_GRAPH_LANE_H

#include "graph/op.h"

struct tsl_graph;
struct tsl_lane;
struct tsl_graph_queue;

struct tsl_graph_lane {
    struct tsl_port *port;
    struct tsl_graph_queue *queue; /* the queue's that has it; NULL: the port has it */
    struct tsl_lane *driver_lane;  /* made by the thread that drains the port, at first use */
    unsigned use;                  /* enum tsl_lane_use */
    unsigned n_dirty, n_sent;      /* how often something was submitted, and how much of that is known to be sent */
    uint64_t order;
    unsigned n_unfenced;       /* submitted since the last fence */
    unsigned n_submitted;      /* ever */
    struct tsl_op_list flight; /* submitted, not known to be done, oldest first */
    /* A driver's lane tells once that work without a fence failed, and not which: it may be any up to failed_upto.
     * Places in user.order. */
    uint64_t given; /* the newest that the driver may have */
    uint64_t failed_upto;
    cl_int failed;
    bool finishing; /* a thread is in the driver's finish: another waits for it, and then knows what it told */
};

void tsl_graph_lane_init(struct tsl_graph_lane *lane, struct tsl_port *port, struct tsl_graph_queue *queue,
                         unsigned use);
/* Frees the driver's lane. Without the lock. */
void tsl_graph_lane_finish(struct tsl_graph_lane *lane);
/* Makes the driver's lane if need be; by the thread that drains the port, without the lock. */
cl_int tsl_graph_lane_make(struct tsl_graph_lane *lane);
/* Around the use of a lane while the lock is given: its queue stays. The operation that led to the lane is not done
 * when ref is called. */
void tsl_graph_lane_ref(struct tsl_graph_lane *lane);
void tsl_graph_lane_unref(struct tsl_graph_lane *lane);
/* Sends what was submitted to the device; false: the driver refused, and none of it need ever begin. The lock is given
 * meanwhile. */
bool tsl_graph_lane_flush(struct tsl_graph_lane *lane);
/* Waits until all that the lane has is done, by the driver's finish, and returns what that told. The lane is
 * referenced, and made. The lock is given meanwhile. */
cl_int tsl_graph_lane_finish_work(struct tsl_graph_lane *lane);
/* Where a flush is refused, or the operation has no fence: waits until all of its lane is done, and returns how the
 * operation ended, as far as the driver tells. Without the lock. */
cl_int tsl_graph_lane_wait(struct tsl_op *op, struct tsl_fence *fence);
/* How the operation ended as far as its lane has told, which is over; the operation has no fence. */
cl_int tsl_graph_lane_status(const struct tsl_op *op);
/* A queue's lanes, n_lanes of one kind; NULL without memory. Destroying takes no lock: operations keep a
 * pointer to their lane until they are done, and all are. NULL allowed. */
struct tsl_graph_lane *tsl_graph_lane_create_all(struct tsl_graph_queue *queue, bool profile);
void tsl_graph_lane_destroy_all(struct tsl_graph_lane *lanes, unsigned n);
/* Waits for an operation that the driver has, in this thread. The lock is given meanwhile. */
cl_int tsl_op_wait(struct tsl_op *op);
/* Why the operation, which its driver has done, failed. status: what its own fence told. Of several pieces the last one
 * knows only that one before it failed. Without the lock. */
cl_int tsl_op_cause(const struct tsl_op *op, cl_int status);

#endif
