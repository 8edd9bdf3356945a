/*
 * Scratch objects: buffers of our own, for bytes that only the plan of one command needs on one member. They are memory
 * objects as the application's are: resident, evicted, in the members' books. What is given back is used by the next
 * plan, as claims order the two; with the graph's last queue all go. Under the graph's lock.
 */
#ifndef TSL_GRAPH_SCRATCH_H
#define TSL_GRAPH_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct tsl_buffer;
struct tsl_graph;

struct tsl_scratch {
    TAILQ_ENTRY(tsl_scratch) link; /* in the graph's list, used longest ago first, or in that of dead ones */
    struct tsl_buffer *buffer;     /* the application's reference is ours */
    unsigned member;               /* where it was used */
    bool taken;                    /* by the command that is being planned */
};

TAILQ_HEAD(tsl_scratch_list, tsl_scratch);

/* A buffer of that size for that member, of undefined contents, and an internal reference to it; NULL without memory.
 * It is the plan's until tsl_scratch_give_all, and its operations' afterwards. */
struct tsl_buffer *tsl_scratch_take(struct tsl_graph *graph, size_t size, unsigned member);
/* The plan is made. */
void tsl_scratch_give_all(struct tsl_graph *graph);
/* Bytes of free ones that have a place in the member's memory. */
uint64_t tsl_scratch_size(const struct tsl_graph *graph, unsigned member);
/* All go: nobody plans any more. */
void tsl_scratch_drop_all(struct tsl_graph *graph);
/* Releases those that go; the lock is given meanwhile. */
void tsl_scratch_bury(struct tsl_graph *graph);

#endif
