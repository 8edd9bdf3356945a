/* Touching a range of a copy: edges from the uses that conflict there, and the new use. Under the graph's lock. */
#ifndef TSL_GRAPH_TOUCH_H
#define TSL_GRAPH_TOUCH_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

struct tsl_command;
struct tsl_data;
struct tsl_extent;
struct tsl_graph;
struct tsl_op;
struct tsl_tile;
struct tsl_tiles;
struct tsl_use;

/* Whatever touches a range: an operation, or a command that has none for it and leaves no use. */
struct tsl_toucher {
    struct tsl_op *op;
    struct tsl_command *command;
};

/* The place of host memory in the host map. */
static inline uint64_t tsl_host_address(const void *host)
{
    return (uint64_t)(uintptr_t)host;
}

/* So many uses of parts (extent.h) stand side by side on a tile; the next touch counts as one of all that it claims.
 * Tests change it. */
extern unsigned tsl_touch_parts;
/* An object has so many tiles; parts of it cut no more of them. Tests change it. */
extern unsigned tsl_touch_tiles;

/* Touches [begin, end) of a map. may: TSL_MAY_… bits. */
cl_int tsl_touch(struct tsl_tiles *tiles, const struct tsl_toucher *t, uint64_t begin, uint64_t end, unsigned space,
                 unsigned may);
/* Touches [begin, end) of an object's copy: the host's lies in the host map, by its addresses; a member's in the
 * directory. */
cl_int tsl_touch_copy(struct tsl_graph *graph, const struct tsl_toucher *t, struct tsl_data *data, uint64_t begin,
                      uint64_t end, unsigned space, unsigned may);
/* May the extent conflict with what that use, of a member's copy, is about on the tile? */
bool tsl_touch_meets(const struct tsl_extent *extent, const struct tsl_data *data, const struct tsl_use *use,
                     const struct tsl_tile *tile);
/* The edges alone: from the uses of a tile that are in that space, and of which one of the two writes. A reader fails
 * with its writer. */
void tsl_touch_conflicts(const struct tsl_toucher *t, struct tsl_tile *tile, unsigned space, unsigned may);

#endif
