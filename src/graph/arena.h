/*
 * Arenas: memory of a member for launches whose buffers it can't hold (out_of_core.h). An arena has a few areas. A
 * window of such a launch uses one: slices of the buffers go there from the host's copies, its kernel works on them,
 * and what it wrote goes back. The next window uses the next area, so that its bytes move meanwhile.
 *
 * An arena is no copy of anything: the directory knows nothing of what lies there. Like a memory object it is resident
 * as planned (residency.h), from its first use until the member's memory is needed for other things, and what there is
 * now, made by the thread that drains the port.
 *
 * Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_ARENA_H
#define TSL_GRAPH_ARENA_H

#include "graph/dependences.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_command;
struct tsl_data;
struct tsl_mem;
struct tsl_member;
struct tsl_op;
struct tsl_port;

/* One window's bytes arrive, one's kernel runs, one's results leave. */
#define TSL_ARENA_AREAS 3u

struct tsl_area {
    struct tsl_mem *mem;   /* by the thread that drains the port, while an operation uses it; NULL: none now */
    size_t size;           /* its bytes */
    tsl_dependences users; /* the end of the window that had it last (tsl_window_end), or what frees it */
};

struct tsl_arena {
    bool resident; /* as planned */
    bool small;    /* a launch that needs much whole was there: areas are small from then on */
    size_t area_size;
    unsigned next;     /* the area for the next window */
    uint64_t pin;      /* the id of the last command that needs it */
    unsigned held;     /* chains that are being planned, which need it whatever their commands are */
    uint64_t chain_id; /* the id of the first command of the last chain that was given to the member; 0: none was */
    struct tsl_area areas[TSL_ARENA_AREAS];
};

/* A range of an object's bytes that lies in an area. */
struct tsl_slice {
    struct tsl_area *area;
    struct tsl_data *data;
    uint64_t begin, end;
    size_t at;        /* where byte `begin` lies in the area */
    size_t area_size; /* of the areas when the window was planned */
};

/* What one window has in its area, or the windows of several launches that use one area one after another (chain.h). */
struct tsl_slices {
    unsigned refs;         /* shares' */
    size_t area_size;      /* in which they fit */
    struct tsl_area *area; /* NULL until it is planned */
    unsigned n;
    struct tsl_slice list[];
};

/* Bytes of an area on that member, whether an arena is there or not; 0: it has none, as it takes no parts of memory.
 * Small areas have half of the others': they leave room for what launches need whole. */
size_t tsl_arena_large_size(const struct tsl_port *port);
size_t tsl_arena_small_size(const struct tsl_port *port);
/* Room for so many slices, with one reference; NULL: no memory. */
struct tsl_slices *tsl_slices_create(unsigned n);
void tsl_slices_unref(struct tsl_slices *slices); /* NULL allowed */
/* The slice of the object; NULL: none, also where slices is NULL. */
const struct tsl_slice *tsl_slice_of(const struct tsl_slices *slices, const struct tsl_data *data);
/* The memory of the slice's area, made if there is none. By the thread that drains the port, without the lock. */
cl_int tsl_area_mem(struct tsl_port *port, const struct tsl_slice *slice, struct tsl_mem **mem);
/* Takes an area for the window: its operations come after those of the window that had it before. */
void tsl_arena_take(struct tsl_port *port, struct tsl_slices *slices);
/* The operation uses the slices' area: it comes after those of the windows before. */
void tsl_area_follow(struct tsl_op *op, const struct tsl_area *area);
/* From now on the area is used by this operation alone, and by those of tsl_area_add. */
void tsl_area_set(struct tsl_area *area, struct tsl_op *op);
void tsl_area_add(struct tsl_area *area, struct tsl_op *op);
/* The operation, an eviction, comes after all that uses the arena, which is not resident any more. */
void tsl_arena_leave(struct tsl_op *op);
/* Does an unfinished operation use it? */
bool tsl_arena_is_used(const struct tsl_port *port);
/* Has it memory, and does no unfinished operation use it? */
bool tsl_arena_is_idle(const struct tsl_port *port);
/* Frees the memory, which nothing uses; the lock is given meanwhile. */
void tsl_arena_free(struct tsl_port *port);
/* The end of the port: frees the memory, without the lock; drops what it knows, with the lock. */
void tsl_arena_finish(struct tsl_port *port);
void tsl_arena_forget(struct tsl_port *port);

#endif
