/*
 * Operations: each is one submission to one driver (a copy, fill, launch, host task or mark), or, without a driver, an
 * eviction or a join. A command has none, one or several of them.
 *
 * planned → ready → submitted → done. An edge from operation P to operation D says that D comes after P. It always
 * leads from an operation that was scheduled earlier to one that was scheduled later, so there are no cycles. An edge
 * is met, by its kind:
 * - TSL_EDGE_LANE: when P is ready. The same lane, or the same synchronous port, keeps the order.
 * - TSL_EDGE_NATIVE: when P is ready. Same member, other lane: D is submitted after P, and the driver waits for P's
 * fence.
 * - TSL_EDGE_GATE: when P is submitted. Other member: D waits for a gate that P's completion opens.
 * - TSL_EDGE_DONE: when P is done. The host waits.
 *
 * A strict edge carries failure: if P fails, D fails without running.
 *
 * op.c makes, counts and watches operations; edge.c adds edges, progress.c and complete.c take operations from state to
 * state. All under the graph's lock.
 */
#ifndef TSL_GRAPH_OP_H
#define TSL_GRAPH_OP_H

#include "base/small_vector.h"
#include "driver/work.h"
#include "graph/copies.h"
#include "place/place.h"
#include "tile/tile.h"

#include <CL/cl.h>
#include <sys/queue.h>

struct tsl_check;
struct tsl_command;
struct tsl_data;
struct tsl_extents;
struct tsl_fence;
struct tsl_op;
struct tsl_port;
struct tsl_residence;
struct tsl_slice;
struct tsl_graph_lane;

/* CHECK: compares copies (coherence.h). EVICT: takes a memory object out of a member's memory (residency.h). JOIN:
 * stands for many (join.h). */
enum tsl_op_kind {
    TSL_OP_COPY,
    TSL_OP_FILL,
    TSL_OP_COMBINE,
    TSL_OP_LAUNCH,
    TSL_OP_NATIVE,
    TSL_OP_MARK,
    TSL_OP_CHECK,
    TSL_OP_EVICT,
    TSL_OP_JOIN
};
enum tsl_op_state { TSL_OP_PLANNED, TSL_OP_READY, TSL_OP_SUBMITTED, TSL_OP_DONE };
enum tsl_edge_kind { TSL_EDGE_LANE, TSL_EDGE_NATIVE, TSL_EDGE_GATE, TSL_EDGE_DONE };

struct tsl_edge {
    struct tsl_op *to;              /* owned reference; NULL: the edge leads to a command */
    struct tsl_command *to_command; /* owned reference */
    uint8_t kind;
    bool unmet; /* counted in to->n_unmet (or to_command->n_undone) */
    bool strict;
};

/* A side of a copy or fill, before memory is bound: an object's copy, or the application's memory. */
struct tsl_side {
    struct tsl_data *data; /* NULL: the application's memory, at host */
    unsigned space;
    char *host;
    size_t offset, row_pitch, slice_pitch;
};

/* Two or more ranges of one object's bytes, in ascending order, that don't meet. The driver
 * gathers them, or each is a submission of its own, which waits for the one before. */
struct tsl_pieces {
    unsigned n;
    struct tsl_fence **fences; /* of each piece but the last, whose fence is the operation's; owned, NULL until
                                  submitted; the array lies behind the list */
    struct tsl_range_of_bytes list[];
};

/* What an operation of a joint (joints.h) has beside its sides. */
struct tsl_op_joint {
    struct tsl_side b, before; /* COMBINE: as struct tsl_combine has them; a is src. before.data NULL: none */
    enum tsl_combine_how how;  /* COMBINE */
    unsigned width;            /* bytes of an element */
    uint64_t pattern;          /* FILL: an element */
};

struct tsl_op {
    struct tsl_user user;        /* first: references, done, lane and place in it */
    STAILQ_ENTRY(tsl_op) ready;  /* in parked, the port's list, then in to_watch, signalled or dead_ops */
    TAILQ_ENTRY(tsl_op) flight;  /* in the lane's list */
    TAILQ_ENTRY(tsl_op) launch;  /* in the port's launches */
    bool listed;                 /* in the port's launches */
    struct tsl_command *command; /* whose work it is; valid until done; NULL: of a join */
    struct tsl_port *port;
    struct tsl_graph_lane *lane; /* NULL on synchronous ports */
    enum tsl_op_kind kind;
    enum tsl_op_state state;
    cl_int status; /* CL_COMPLETE or an error, once done */
    cl_int poison; /* an error: the operation fails without running, as a strict predecessor failed, say */
    unsigned n_unmet;
    unsigned share;      /* of a launch: which of its command's shares */
    bool want_fence;     /* somebody will need its fence */
    bool want_mark;      /* somebody will wait for its end, however it ends */
    bool watched;        /* its completion must be noticed without anybody pulling (notify) */
    bool notified;       /* the driver was asked to notify */
    unsigned n_awaiting; /* threads of the application's that wait for its fence, and do the work that follows */
    bool timed;          /* the placer is to learn how long it takes */
    bool joining;        /* of a joint (joints.h): copies, fills and combines of the placer's concern */
    bool move;           /* transfers a tile because a command needs that: no command of the application's */
    bool is_side;        /* makes room for the command: its fate is not the command's */
    bool has_rollback;   /* its tiles keep what was good before it (undo.h) */
    bool to_all;         /* writes one of several copies, which are all written and stay valid (boxes.h) */
    bool unfenced;       /* was submitted without a fence: one that is made late tells of no failure */
    bool awaited;        /* exit has waited for it */
    bool frees_arena;    /* EVICT: not an object goes, but the port's arena */
    bool spoils;         /* COPY from an area: if it fails under way, what was good on the host is so no longer */
    bool refused;        /* its poison is its driver's refusal */
    bool unfed;          /* a move of its command for it failed as a member is lost (tsl_op_lost_move) */
    bool misfed;         /* another operation that it comes strictly after failed */
    bool unsure;         /* may run though what it strictly comes after has failed */
    struct tsl_fence *fence;
    struct tsl_fence *mark; /* right behind it in its lane, if one is wanted: completes well however it ends; or NULL */
    cl_int signal_status;   /* what the fence told */
    uint64_t submit_ns;
    uint64_t end_estimate_ns; /* of launches: when it will have ended; 0: unknown */
    uint64_t trace_id;
    uint64_t number;           /* among all of the graph's, from 1 */
    uint64_t start_ns, end_ns; /* of synchronous ports, by our clock */
    TSL_SMALL_VECTOR(struct tsl_edge, 2) out;
    /* Operations whose fences are waited for, and those that open gates on this member; all were submitted before, or
     * will be (owned references). */
    TSL_SMALL_VECTOR(struct tsl_op *, 2) natives;
    TSL_SMALL_VECTOR(struct tsl_op *, 1) gates;
    struct tsl_side dst, src;      /* COPY, FILL (dst), COMBINE (src is a) */
    size_t region[3];              /* COPY, FILL, COMBINE */
    struct tsl_pieces *pieces;     /* of a move: what of the region it copies, owned; NULL: all of it */
    struct tsl_op_joint *joint;    /* COMBINE, and of joints FILL; owned, heap; else NULL */
    struct tsl_extents *extents;   /* what it touches where its claims take more (extent.h), owned; NULL: all of them */
    struct tsl_check *check;       /* CHECK: what it compares, owned */
    const struct tsl_slice *slice; /* COPY between an area and the host: of the member (arena.h); its command's */
    const struct tsl_slice *from_slice; /* COPY from an area to another one, where `slice` lies; else NULL */
    struct tsl_residence *victim;       /* EVICT: what is evicted; it has a reference to the data's owner */
    unsigned eviction;                  /* EVICT: its number among the victim's, from 0 */
};

STAILQ_HEAD(tsl_op_queue, tsl_op);
TAILQ_HEAD(tsl_op_list, tsl_op);

/* Which work of a member's on its memory it is. */
static inline enum tsl_work tsl_op_work(const struct tsl_op *op)
{
    return op->kind == TSL_OP_COMBINE ? TSL_WORK_COMBINE : op->kind == TSL_OP_FILL ? TSL_WORK_FILL : TSL_WORK_COPY;
}

/* Bytes from the first to behind the last byte of a box. */
static inline size_t tsl_box_hull(const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    return (region[2] - 1) * slice_pitch + (region[1] - 1) * row_pitch + region[0];
}

/* The same of one side of the operation. */
static inline size_t tsl_side_hull(const struct tsl_op *op, const struct tsl_side *side)
{
    return tsl_box_hull(op->region, side->row_pitch, side->slice_pitch);
}

/* Bytes that a copy or fill writes. */
size_t tsl_op_bytes(const struct tsl_op *op);

/* The fence of the first of several pieces; NULL: there is one submission alone. */
static inline struct tsl_fence *tsl_op_first_fence(const struct tsl_op *op)
{
    return op->pieces ? op->pieces->fences[0] : NULL;
}

/* A new operation of the command, counted in its n_undone, with one unmet count of its own, which tsl_op_go takes away.
 * The caller owns the reference. NULL without memory. */
struct tsl_op *tsl_op_create(struct tsl_command *command, struct tsl_port *port, struct tsl_graph_lane *lane,
                             enum tsl_op_kind kind);
static inline struct tsl_op *tsl_op_ref(struct tsl_op *op)
{
    op->user.refs++;
    return op;
}

void tsl_op_unref(struct tsl_op *op);    /* NULL allowed */
void tsl_op_free(struct tsl_user *user); /* what tsl_user_free does */
/* The operations that it had to wait for are not needed any more: the driver knows. */
void tsl_op_forget_befores(struct tsl_op *op);
/* Its completion must be noticed without anybody waiting for it. */
void tsl_op_watch(struct tsl_op *op);
/* All that a join stands for is done: so is the join, as there is nothing to be done for it. */
void tsl_op_end_join(struct tsl_op *join);

#endif
