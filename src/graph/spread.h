/*
 * Spread objects: buffers whose memory lies on several members of a domain (driver/member.h), in one range of addresses
 * that kernels of all of them use. To the graph the range is one copy, in a space of its own (TSL_SPACE_SPREAD): these
 * members have one space for the object, as members that work on the host's memory have the host's. So several shares
 * of a launch can write to it at the same time, wherever they write (cut.h), and what one wrote is there for the next.
 *
 * An object becomes spread with the first launch that is cut for this reason, or the first command for which no member
 * has room (spread_room.h). It moves there as any bytes move: from the members' own copies, or from the host. A launch
 * that was planned before works on its member's own copy still. The own copies go with a later launch, when none of
 * their bytes would be needed again, whatever fails; or for want of room.
 *
 * An eviction makes it ordinary again: what it has goes home to the host's copy, and later commands find it there, as
 * if it had never been spread. It may become spread again, over the same members. So it goes through these states:
 *
 *   spread   -> leaving   an eviction is planned; operations from before it bind this memory still
 *   leaving  -> gone      the eviction has run: nobody binds this memory
 *   leaving  -> spread    a command needs it spread again; or the way home failed, and the bytes are here alone
 *   gone     -> spread    a command needs it spread again
 *
 * One that came back while its eviction was under way leaves again only when nothing uses it, as operations bind by
 * their numbers, of which one range between others is known. Until then its evictions leave it spread.
 *
 * One of the members is the object's home: its port keeps the residence, frees the memory, and does transfers. Bytes
 * move from the host's copy and to it by the ports of those members whose parts they are, so over all their links.
 *
 * Here is what a spread object is, and its memory; spread_make.h has how it becomes one.
 */
#ifndef TSL_GRAPH_SPREAD_H
#define TSL_GRAPH_SPREAD_H

#include "base/lock.h"
#include "base/sets.h"
#include "driver/member.h"
#include "graph/residency.h"

#include <CL/cl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_data;
struct tsl_graph;
struct tsl_mem;
struct tsl_port;

struct tsl_spread {
    tsl_members members; /* of the context, over which it lies */
    unsigned home;       /* one of them */
    /* Operations with a number above `since` bind this memory, but for those above `left`, up to `back`. What is
     * leaving or gone has UINT64_MAX as `back`, what is gone as `since`, too. Under the graph's lock; read without it.
     */
    atomic_uint_fast64_t since, left, back;
    atomic_bool refused;                      /* a member had no room for its part when memory was asked for last */
    size_t sizes[TSL_MAX_MEMBERS];            /* bytes of each one's part */
    struct tsl_residence residence;           /* of this copy, in the list of home's port; its mem is home's */
    struct tsl_lock lock;                     /* leaf but for the driver; guards mems */
    struct tsl_mem *mems[TSL_MAX_MEMBERS];    /* by member; all or none */
    struct tsl_mem *orphans[TSL_MAX_MEMBERS]; /* as residence.orphan; under the graph's lock */
};

/* Is the object spread, as planned? NULL allowed: it never was. Takes no lock. */
static inline bool tsl_spread_is(const struct tsl_spread *spread)
{
    return spread && atomic_load(&spread->back) != UINT64_MAX;
}

/* Is the object as if it had never been spread: gone, and not just leaving? NULL allowed. Takes no lock. */
static inline bool tsl_spread_is_ordinary(const struct tsl_spread *spread)
{
    return !spread || atomic_load(&spread->since) == UINT64_MAX;
}

/* Does the operation with that number, of that member's, bind this memory? NULL allowed. Takes no lock: the answer for
 * an operation that uses the memory doesn't change. */
bool tsl_spread_binds(const struct tsl_spread *spread, unsigned member, uint64_t number);
/* May it leave with the eviction that is planned next? Under the graph's lock, as the next three. */
bool tsl_spread_may_leave(struct tsl_data *data);
/* Its eviction is planned, and it may leave: what is planned from here on doesn't find it spread. */
void tsl_spread_leave(struct tsl_data *data);
/* It is spread again, as planned; nothing if it is so already. */
void tsl_spread_return(struct tsl_data *data);
/* Its memory was taken out; nothing if it isn't leaving. */
void tsl_spread_gone(struct tsl_data *data);
/* The object's memory for work of `of`'s member, made for all its members if there is none; a member that has no room
 * for its part is noted in port->lacking. By the thread that drains the port, without the graph's lock. */
cl_int tsl_spread_mem(struct tsl_data *data, struct tsl_port *port, const struct tsl_port *of, struct tsl_mem **mem);
/* The member whose part the byte is in; *end: where that part ends. */
unsigned tsl_spread_part(const struct tsl_spread *spread, uint64_t offset, uint64_t *end);
/* Takes the memory out, by member; false: there is none. */
bool tsl_spread_take(struct tsl_data *data, struct tsl_mem *mems[TSL_MAX_MEMBERS]);
/* Frees what was taken out. Not under the graph's lock. */
void tsl_spread_free(struct tsl_data *data, struct tsl_mem *mems[TSL_MAX_MEMBERS]);
/* The end of the object, whose memory was freed; NULL allowed. */
void tsl_spread_destroy(struct tsl_graph *graph, struct tsl_spread *spread);

#endif
