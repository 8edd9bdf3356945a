/*
 * Spread objects: buffers whose memory lies on several members of a domain (driver/member.h), in one range of addresses
 * that kernels of all of them use. To the graph the range is one copy: these members have one space for the object, the
 * home member's, as members that work on the host's memory have the host's. So several shares of a launch can write to
 * it at the same time, wherever they write (cut.h), and what one wrote is there for the next.
 *
 * An object becomes spread once, with the first launch that is cut for this reason, and stays so. It moves there as any
 * bytes move: from the members' own copies, which go then, or from the host.
 *
 * Here is what a spread object is, and its memory; spread_make.h has how it becomes one.
 */
#ifndef TSL_GRAPH_SPREAD_H
#define TSL_GRAPH_SPREAD_H

#include "base/lock.h"
#include "base/sets.h"
#include "driver/member.h"

#include <CL/cl.h>
#include <stddef.h>

struct tsl_data;
struct tsl_mem;
struct tsl_port;

struct tsl_spread {
    tsl_members members;                   /* of the context, over which it lies */
    unsigned home;                         /* the one whose space it is */
    size_t sizes[TSL_MAX_MEMBERS];         /* bytes of each one's part */
    struct tsl_lock lock;                  /* leaf but for the driver; guards mems */
    struct tsl_mem *mems[TSL_MAX_MEMBERS]; /* by member; all or none. home's is its residence's, too */
};

/* The object's memory for work of that member, made for all its members if there is none. By the threads that drain
 * ports, without the graph's lock. */
cl_int tsl_spread_mem(struct tsl_data *data, struct tsl_port *port, struct tsl_mem **mem);
/* Takes the memory of the next member but home out, as home's goes; NULL: there is none left. */
struct tsl_mem *tsl_spread_take(struct tsl_data *data, unsigned *member);
/* Frees what was taken out. Not under the graph's lock. */
void tsl_spread_free(struct tsl_data *data, unsigned member, struct tsl_mem *mem);
/* The end of the object, whose memory is gone; NULL allowed. */
void tsl_spread_destroy(struct tsl_spread *spread);

#endif
