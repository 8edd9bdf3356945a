/*
 * Residency: which memory objects have a place in a member's memory, as planned.
 *
 * A member's memory is finite. When a plan needs room, the objects that were used longest ago are evicted: what only
 * that member has is moved to the host, then an operation of the kind EVICT frees the memory. That operation claims the
 * whole copy, so it runs when nobody uses the copy. A member's evictions come one after the other, and an object that
 * becomes resident comes after the last of them, which leaves its use on the object's tiles. All edges lead backwards,
 * so nothing can block.
 *
 * What a plan reckons with may be wrong, as others use the member too; make_room.h has what is done then.
 */
#ifndef TSL_GRAPH_RESIDENCY_H
#define TSL_GRAPH_RESIDENCY_H

#include <CL/cl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct tsl_command;
struct tsl_data;
struct tsl_mem;
struct tsl_op;
struct tsl_port;
struct tsl_slices;

/*
 * A memory object on one member, or spread over several (spread.h), from two views: `resident` is the schedule's, ahead
 * of what happens; `mem` is what there is now. The thread that drains the port makes mem while an operation uses it; an
 * eviction takes it away when none does; the object's end frees it.
 */
struct tsl_residence {
    TAILQ_ENTRY(tsl_residence) link; /* in the port's list while resident, coldest first */
    struct tsl_data *data;
    struct tsl_mem *mem;
    uint64_t held_size; /* of mem, in the member's books */
    bool resident;
    atomic_bool changed;    /* the object had another memory here before: arguments bound then are others now */
    uint64_t pin;           /* the id of the last command that needs it */
    unsigned n_evictions;   /* planned so far */
    unsigned n_void;        /* so many of these don't take place: what they should have saved is still needed here */
    unsigned n_freeing;     /* parts of the object that other threads are freeing: they go before mem */
    struct tsl_mem *orphan; /* evicted meanwhile: the thread that frees the last part frees this too */
};

TAILQ_HEAD(tsl_residence_list, tsl_residence);

/* The command needs the data in that space, which isn't the host's: it stays resident, or becomes so. */
void tsl_residency_ensure(struct tsl_command *command, struct tsl_data *data, unsigned space);
/* The command will need the data on that member: none of its other arguments evicts it. */
void tsl_residency_pin(struct tsl_command *command, struct tsl_data *data, struct tsl_port *port);
/* The same for all arguments of a kernel. */
void tsl_residency_pin_args(struct tsl_command *command, struct tsl_port *port);
/* The command needs the port's arena for these slices: it stays, or comes (arena.h), anew where its areas are too
 * small, or larger than is good now. slices->area_size becomes that of the areas. */
void tsl_residency_ensure_arena(struct tsl_command *command, struct tsl_port *port, struct tsl_slices *slices);
/* Plans to evict the object's copy in that space, which isn't the host's, for a command that is being planned; nothing
 * if that isn't resident. */
cl_int tsl_residency_evict(struct tsl_command *command, struct tsl_data *data, unsigned space);
/* The object is resident, as planned; is so no longer. Nothing where that is so already. The port is the member's, of a
 * spread object its home's. */
void tsl_residency_begin(struct tsl_residence *residence, struct tsl_port *port);
void tsl_residency_end(struct tsl_residence *residence, struct tsl_port *port);
/* The end of the data: it is resident nowhere. */
void tsl_residency_end_all(struct tsl_data *data);
/* A move failed, and some bytes are in that space alone, which isn't the host's: the evictions that are planned don't
 * take place. */
void tsl_residency_stay(struct tsl_data *data, unsigned space);

#endif
