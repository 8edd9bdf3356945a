/*
 * Loops that few work-items of a strip may come to: those in a branch that not all take. A strip would run such a loop
 * as a whole for one of its lanes. Where few lanes come they run it one after the other instead, from the block before
 * the loop to its exits; which way it is, is decided at run time (transform/few.c).
 */
#ifndef KC_WORKGROUP_ANALYSIS_RARE_LOOPS_H
#define KC_WORKGROUP_ANALYSIS_RARE_LOOPS_H

#include "compiler/workgroup/analysis/uniform.h"

/* So many lanes at most are few; 0: the strip is too short for that. */
static inline unsigned kc_few(unsigned lanes)
{
    return lanes / 8;
}

/* Finds these loops, and gives each a block of its own before it. True: that changed wg->flow. */
bool kc_part_rare_loops(struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes);

/* The loop before which the block stands; KC_NONE: none of these. */
int kc_rare_loop_behind(const struct kc_wg *wg, int block);

/* Is it one of these, or inside one? */
bool kc_is_rare_loop(const struct kc_wg *wg, int loop);

#endif
