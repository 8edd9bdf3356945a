/*
 * Chains: launches one behind another in an in-order queue whose buffers no member holds. Each by itself would move all
 * its bytes to the member and back (out_of_core.h). Chained they run in time tiles (time_tiles.h): a window of each
 * launch in one area, then the next tile, so that bytes move once for all of them. What the next tile needs of this
 * one's area is copied there, and goes home from there; the rest goes home while the next tile is worked on.
 *
 * *Which*: launches of one queue with nothing between them, of which none waits for an event but those of others of the
 * chain, or of commands that were scheduled before. Profiling queues, whose commands must not overlap, have none;
 * nor have contexts that check cuts. A chain runs on one member. Launches too many for one run in several, and members
 * of about the same speed take turns with these: the next one's tiles begin where the first ones of the last are home.
 *
 * *Whether*: by what is thought of moves and work (time_tiles.h), and then by what chains took (chain_pays.h).
 *
 * *When*: the first such launch stays held until something else comes behind it, a thread waits, many are there, or
 * nothing was enqueued for a while (chain_patience.c). So a launch that has to wait anyway for hundreds of megabytes to
 * move waits some milliseconds.
 *
 * *Ends*: a launch of a chain is complete when the last tile's bytes are home, as until then what it wrote may be
 * nowhere but in an area. All are reported in order. If anything of a chain fails, all that comes after it does, and
 * each launch fails, unless it had ended.
 *
 * Under the graph's lock. The structure lives while its commands are being scheduled.
 */
#ifndef TSL_GRAPH_CHAIN_H
#define TSL_GRAPH_CHAIN_H

#include "graph/time_tiles.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_command;
struct tsl_data;
struct tsl_graph_queue;
struct tsl_slices;

/* Launches of a chain, at most: more wait no longer. */
#define TSL_CHAIN_MOST 256u

struct tsl_chain_link {
    struct tsl_command *command;
    struct tsl_out_of_core_cut *cut; /* owned */
    double run_ns;                   /* how long it takes, whole; 0: not known */
    unsigned n_windows;              /* of the tiles until now: so many of its command's shares are made */
};

struct tsl_chain {
    unsigned n, n_objects, member;
    struct tsl_chain_link *links;
    struct tsl_data **objects; /* that the launches are given */
    bool *sliced;              /* by object */
    size_t area_size;          /* the least that a launch has */
    uint64_t *groups;          /* by launch, for the tiles; owned */
    unsigned *windows;         /* ... and how many windows it has by itself; owned */
    struct tsl_time_tiles_ask ask;
    struct tsl_time_tiles *tiles; /* owned */
};

/* What each window is reckoned to cost beside its work, on a device of today. Tests change it. */
extern double tsl_chain_window_ns;

/* Is the command held a little longer, so that others may be chained with it? The first of its queue that isn't
 * scheduled is asked. */
bool tsl_chain_waits(const struct tsl_command *first);
/* May this one, which has just come to the queue behind others of a chain that waits, be chained with them? */
bool tsl_chain_takes(const struct tsl_command *command);
/* Of the launch, which is about to be scheduled, and those behind it. NULL: the launch runs by itself. */
struct tsl_chain *tsl_chain_make(struct tsl_command *first);
/* The commands, of which nothing was made yet, are as before, and run by themselves. */
void tsl_chain_cancel(struct tsl_chain *chain);
/* Makes and places the next tile's windows. *slices: what the tile has in its area, as long as its shares stay; NULL:
 * there are no more tiles. */
cl_int tsl_chain_next(struct tsl_chain *chain, struct tsl_slices **slices);
/* Has the launch a window in that tile? It is its command's last share. */
bool tsl_chain_has_window(const struct tsl_chain *chain, unsigned launch);
void tsl_chain_destroy(struct tsl_chain *chain);

#endif
