/*
 * Stand-ins: scratch objects of one command (scratch.h), and parts of them, which are given to a launch in the place of
 * its arguments' memory. Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_STAND_IN_H
#define TSL_GRAPH_STAND_IN_H

#include <stddef.h>

struct tsl_buffer;
struct tsl_graph;

struct tsl_stand_ins {
    unsigned n_held, n_parts, room_held, room_parts;
    struct tsl_buffer **held;  /* scratch objects, an internal reference to each */
    struct tsl_buffer **parts; /* of such; the application's reference is ours */
};

/* A scratch object of that size for that member, borrowed of the list; NULL without memory. */
struct tsl_buffer *tsl_stand_ins_take(struct tsl_stand_ins *list, struct tsl_graph *graph, size_t size,
                                      unsigned member);
/* What stands in the place of `like`, a buffer or a part of one, where root stands in its root's place. NULL without
 * memory. */
struct tsl_buffer *tsl_stand_ins_for(struct tsl_stand_ins *list, struct tsl_buffer *root,
                                     const struct tsl_buffer *like);
/* Without the lock, once the command is reported. */
void tsl_stand_ins_finish(struct tsl_stand_ins *list);

#endif
