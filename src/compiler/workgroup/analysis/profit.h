/*
 * Is a kernel better run one work-item after the other? So it is where a vector of them does no better than they would
 * by themselves: in loops that they leave at different times, which do little but gather from all over the memory (a
 * sparse matrix), and around calls, which no vector has. And are two vectors better than one? So it is where each
 * result waits for the one before (Black-Scholes' formula): the second works meanwhile.
 */
#ifndef KC_WORKGROUP_ANALYSIS_PROFIT_H
#define KC_WORKGROUP_ANALYSIS_PROFIT_H

#include "compiler/workgroup/analysis/slots.h"

/* strip: of the level KC_STRIP. */
bool kc_is_scalar(const struct kc_wg *wg, const struct kc_uniform *strip);
/* Blocks from which work-items go round a loop that they leave at different times. The caller's. */
struct kc_bits kc_uneven_ends(const struct kc_wg *wg, const struct kc_uniform *strip);
/* Is it a long way straight through arithmetic? */
bool kc_is_chain(const struct kc_wg *wg, const struct kc_slots *slots);
/* Do neighbouring work-items load or store neighbouring elements? */
bool kc_is_consecutive(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access);

#endif
