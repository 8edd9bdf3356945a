/*
 * Spread objects: buffers whose memory lies on several members of a domain (driver/member.h), in one range of addresses
 * that kernels of all of them use. To the graph the range is one copy: these members have one space for the object, the
 * home member's, as members that work on the host's memory have the host's. So several shares of a launch can write to
 * it at the same time, wherever they write (cut.h), and what one wrote is there for the next.
 *
 * An object becomes spread once, with the first launch that is cut for this reason, and stays so. It moves there as any
 * bytes move: from the members' own copies, which go then, or from the host.
 *
 * Under the graph's lock, but for tsl_spread_mem.
 */
#ifndef TSL_GRAPH_SPREAD_H
#define TSL_GRAPH_SPREAD_H

#include "base/lock.h"
#include "base/sets.h"
#include "driver/member.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

struct tsl_command;
struct tsl_data;
struct tsl_graph;
struct tsl_mem;
struct tsl_port;

struct tsl_spread {
    tsl_members members;                   /* of the context, over which it lies */
    unsigned home;                         /* the one whose space it is */
    size_t sizes[TSL_MAX_MEMBERS];         /* bytes of each one's part */
    struct tsl_lock lock;                  /* leaf but for the driver; guards mems */
    struct tsl_mem *mems[TSL_MAX_MEMBERS]; /* by member; all or none. home's is its residence's, too */
};

/* Are these members, two or more, of one domain? */
bool tsl_spread_domain(const struct tsl_graph *graph, tsl_members members);
/* May the object be spread over these members now, or is it already? Not if it is an image, shared virtual memory or
 * has parts with memory of their own, if operations that use its copies there are still to be submitted, or if there is
 * no room. */
bool tsl_spread_may(struct tsl_graph *graph, struct tsl_data *data, tsl_members members);
/* Spreads it, if it isn't, for a command that is being planned, which may touch all of it. */
cl_int tsl_spread_make(struct tsl_command *command, struct tsl_data *data, tsl_members members);

/* The port whose residence stands for the object on this port: home's, or the port itself. */
struct tsl_port *tsl_spread_port(const struct tsl_data *data, struct tsl_port *port);
/* Bytes that the object takes, or would take, in that member's memory. */
size_t tsl_spread_size(const struct tsl_data *data, unsigned member);

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
