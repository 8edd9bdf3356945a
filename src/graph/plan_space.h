/* In which space, and by which port, a transfer is done. */
#ifndef TSL_GRAPH_PLAN_SPACE_H
#define TSL_GRAPH_PLAN_SPACE_H

#include "base/sets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_box_copy;
struct tsl_command;
struct tsl_data;
struct tsl_graph;
struct tsl_port;

/* The port that works on the data's copy in a space. A member that works on the host's copy itself also does transfers
 * there, so that its lanes keep the order; but not if it computes inside the call: the host can do that too. */
struct tsl_port *tsl_plan_port(struct tsl_command *c, unsigned space, const struct tsl_data *data);
/* The space that lacks the fewest bytes of what the box takes in its dst (boxes.h): of several such the last user's,
 * else the host's. With one member that's the member's, unless the object is too
 * large to be there. */
unsigned tsl_plan_richest_space(struct tsl_graph *graph, struct tsl_data *data, const struct tsl_box_copy *box);
/* The space to read a tile from: the host's copy if it is current, else where the object was used last, else any. */
unsigned tsl_plan_read_space(struct tsl_graph *graph, const struct tsl_data *data, tsl_spaces valid);
/* Where a write goes while the reader's place is unknown: to the member whose kernel used the object last; of an object
 * that no kernel has used to the member that is much faster than all others, if there is one. Else to the host: if
 * there are several such members, or if the last kernel was cut and plan_write_parts.h has found no places. A
 * sub-device's queue says what the place is. */
unsigned tsl_plan_write_space(const struct tsl_command *c, const struct tsl_data *data);
/* The members, near to each other, of which one or all may read what is written; none: it is better in one space, as
 * where cuts gained nothing in earlier runs of the program. */
tsl_members tsl_plan_write_peers(const struct tsl_command *c, const struct tsl_data *data);
/* Is that known of objects that no kernel has used? */
bool tsl_plan_knows_place(struct tsl_graph *graph);
/* Where a copy to dst or (data and dst are one) a fill is done: the space that lacks the fewest bytes of its source, or
 * where a sub-device's queue wants it. */
unsigned tsl_plan_work_space(const struct tsl_command *c, struct tsl_data *data, const struct tsl_box_copy *box,
                             const struct tsl_data *dst);
/* A space that could hold both objects (which may be one): this, or else the host's. */
unsigned tsl_plan_with_room(struct tsl_graph *graph, unsigned space, const struct tsl_data *a,
                            const struct tsl_data *b);
/* Where the member that has a's copy in that space works on b; the host's space stays what it is. */
unsigned tsl_plan_space_beside(struct tsl_graph *graph, unsigned space, const struct tsl_data *a,
                               const struct tsl_data *b);
/* Is a transfer between the application's memory and a member's copy slow, where one of the host's copy, whose begin is
 * aligned, wouldn't be? */
bool tsl_plan_better_by_host(const struct tsl_command *c, unsigned space, const struct tsl_data *data, uint64_t offset,
                             const char *host);
/* Does the application name the host's copy itself, as it may with CL_MEM_USE_HOST_PTR (OpenCL 3.0, 5.2.2)? Then the
 * bytes need only be right there. */
bool tsl_plan_names_host_copy(const struct tsl_command *c, const struct tsl_data *data, size_t offset,
                              size_t host_offset);

#endif
