/*
 * Whether all lanes are in a mask, asked of the first and the last lane alone. Where lanes count on ("x < w" of a row
 * of work-items) the lanes between have a condition if both ends have it. That is a few comparisons of numbers, where a
 * mask takes comparisons of vectors, and a way from mask registers.
 */
#ifndef KC_WORKGROUP_CLEANUP_END_LANES_H
#define KC_WORKGROUP_CLEANUP_END_LANES_H

#include "compiler/workgroup/ir.h"

/* An i1, made where wg->builder stands: if true, each lane's bit of the mask is `bit`. It may be false where that
 * holds, but for conditions of usual kinds is not. NULL: the mask has conditions that say nothing by their ends. */
LLVMValueRef kc_all_by_ends(struct kc_wg *wg, LLVMValueRef mask, bool bit);

#endif
