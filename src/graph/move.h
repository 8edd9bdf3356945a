/* Moves: copies of an object's bytes from one space to another. Under the graph's lock. */
#ifndef TSL_GRAPH_MOVE_H
#define TSL_GRAPH_MOVE_H

#include "base/sets.h"
#include "driver/driver.h"
#include "driver/image.h"
#include "graph/copies.h"

struct tsl_command;
struct tsl_graph;
struct tsl_op;
struct tsl_tile;

/* Bytes of one object that are to go from one space to another. */
struct tsl_move {
    struct tsl_data *data;
    uint64_t begin, end;
    unsigned from, to;
    bool is_side; /* the move makes room for the command: its fate isn't the command's */
};

/* The space from which a fetch takes a tile that is valid somewhere, and whether that takes one move (else two: by way
 * of the host). Of several members it is the one whose copy was there first. What others are still fetching would be
 * waited for, and where all need what each has, all of it would go by the links of one. */
unsigned tsl_move_source(struct tsl_graph *graph, const struct tsl_data *data, const struct tsl_tile *tile,
                         unsigned to);
bool tsl_move_is_direct(struct tsl_graph *graph, const struct tsl_data *data, unsigned from, unsigned to);

/* What copies of [begin, end) between two spaces there are: one, or, where there is padding, some boxes; in ascending
 * order. */
unsigned tsl_move_boxes(const struct tsl_data *data, uint64_t begin, uint64_t end,
                        struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES]);

/* Where such a box lies in any copy; memory and host address are left open. */
static inline struct tsl_place tsl_move_place(const struct tsl_data *data, const struct tsl_image_box *box)
{
    const struct tsl_image_desc *image = data->image;
    return (struct tsl_place){.offset = box->offset,
                              .row_pitch = image ? tsl_image_row_step(image) : 0,
                              .slice_pitch = image ? image->slice_pitch : 0};
}

/* A move operation of the command, without edges: a range, or (of images with padding) a box. */
struct tsl_op *tsl_move_op(struct tsl_command *command, const struct tsl_move *move, const struct tsl_image_box *box);
/* Plans the move: its operations, with their claims. */
cl_int tsl_move_plan(struct tsl_command *command, const struct tsl_move *move);
/* From so many spaces at once pieces are gathered, as rows often come by turns from both neighbours. */
#define TSL_MOVE_SOURCES 4u

/* Plans the move of these ranges of [begin, end), from its first to its last byte, as one operation: one submission
 * for many rows. Of an object without padding; n > 0. */
cl_int tsl_move_plan_pieces(struct tsl_command *command, const struct tsl_move *move, const struct tsl_range *list,
                            unsigned n);
/* Plans to save bytes that only that space has on the host, as side operations of the command. */
cl_int tsl_move_spill(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space);

#endif
