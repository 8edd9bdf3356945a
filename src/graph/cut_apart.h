/*
 * Which memory keeps the shares of a launch from being exact: what is left is cut exactly, and this memory otherwise,
 * by the rungs `domain`, `merge` and `reduce`. As little as possible: it is found one by one, as each verdict names
 * one. Under the graph's lock.
 */
#ifndef TSL_GRAPH_CUT_APART_H
#define TSL_GRAPH_CUT_APART_H

#include "graph/cut_inside.h"

/* The launch without the memory that was taken out: the memories of that have no root. */
struct tsl_cut_apart {
    struct tsl_cut *cut;
    struct tsl_cut_memory memories[TSL_FOOTING_MAX_ARGUMENTS];
    uint64_t taken; /* bits: arguments whose memory was */
};

/* Nothing is taken out but the memory of these arguments (bits). */
void tsl_cut_apart_begin(struct tsl_cut_apart *apart, struct tsl_cut *cut, uint64_t arguments);
/* All that is written, needed or not, but images. */
void tsl_cut_apart_take_all(struct tsl_cut_apart *apart);
/* Sets the dimension of the cut. False: the verdict tells what can't be helped. */
bool tsl_cut_apart_dimension(struct tsl_cut_apart *apart);
/* The windows are made: evaluates them, and takes out what else shares have in common. */
bool tsl_cut_apart_shares(struct tsl_cut_apart *apart);

#endif
