/*
 * Spread objects: buffers whose memory lies on several members of a domain (driver/member.h), in one range of addresses
 * that kernels of all of them use. To the graph the range is one copy, in a space of its own (TSL_SPACE_SPREAD): these
 * members have one space for the object, as members that work on the host's memory have the host's. So several shares
 * of a launch can write to it at the same time, wherever they write (cut.h), and what one wrote is there for the next.
 *
 * An object becomes spread once, with the first launch that is cut for this reason, or the first command for which no
 * member has room (spread_room.h), and stays so. It moves there as any
 * bytes move: from the members' own copies, or from the host. A launch that was planned before works on its member's
 * own copy still (`since`). The own copies go with a later launch, when none of their bytes would be needed again,
 * whatever fails; or for want of room.
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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_data;
struct tsl_mem;
struct tsl_port;

struct tsl_spread {
    tsl_members members;                      /* of the context, over which it lies */
    unsigned home;                            /* one of them */
    uint64_t since;                           /* operations with a higher number bind this memory */
    size_t sizes[TSL_MAX_MEMBERS];            /* bytes of each one's part */
    struct tsl_residence residence;           /* of this copy, in the list of home's port; its mem is home's */
    struct tsl_lock lock;                     /* leaf but for the driver; guards mems */
    struct tsl_mem *mems[TSL_MAX_MEMBERS];    /* by member; all or none */
    struct tsl_mem *orphans[TSL_MAX_MEMBERS]; /* as residence.orphan; under the graph's lock */
};

/* The object's memory for work of `of`'s member, made for all its members if there is none; a member that has no room
 * for its part is noted in port->lacking. By the thread that drains the port, without the graph's lock. */
cl_int tsl_spread_mem(struct tsl_data *data, struct tsl_port *port, const struct tsl_port *of, struct tsl_mem **mem);
/* The member whose part the byte is in; *end: where that part ends. */
unsigned tsl_spread_part(const struct tsl_spread *spread, uint64_t offset, uint64_t *end);
/* Takes the memory out, by member; false: there is none. */
bool tsl_spread_take(struct tsl_data *data, struct tsl_mem *mems[TSL_MAX_MEMBERS]);
/* Frees what was taken out. Not under the graph's lock. */
void tsl_spread_free(struct tsl_data *data, struct tsl_mem *mems[TSL_MAX_MEMBERS]);
/* The end of the object, whose memory is gone; NULL allowed. */
void tsl_spread_destroy(struct tsl_spread *spread);

#endif
