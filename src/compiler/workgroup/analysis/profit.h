/*
 * Heuristics. Does a kernel run better one work-item after the other? It does where a vector of work-items isn't
 * faster: in loops that they leave at different times and that do little but gather from all over memory (a sparse
 * matrix), and around calls, which have no vector form, if there is little else. Are two vectors better than one? They
 * are where each result waits for the one before (Black-Scholes' formula, a sum): the second vector works meanwhile.
 * One rule that is none: work-items that wait for each other run one after the other (waits.h).
 */
#ifndef KC_WORKGROUP_ANALYSIS_PROFIT_H
#define KC_WORKGROUP_ANALYSIS_PROFIT_H

#include "compiler/workgroup/analysis/region.h"

/* strip: of the level KC_STRIP. */
bool kc_is_scalar(const struct kc_wg *wg, const struct kc_uniform *strip);
/* Would vectors of so many lanes be so much code that its build takes too long? Accesses of bytes and shorts all over
 * memory count for each lane. */
bool kc_is_large(const struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes);
/* Loops in which vectors don't pay are run lane by lane (serial.h). False: there is nothing else, so that all of the
 * kernel had better run item by item. True if wg->flow, and so everything that was found out, may have changed. */
bool kc_part_serial_loops(struct kc_wg *wg, const struct kc_uniform *strip);
/* The back edges' blocks of loops that work-items leave at different times. The caller frees. */
struct kc_bits kc_uneven_ends(const struct kc_wg *wg, const struct kc_uniform *strip);
/* Is the kernel a long chain of arithmetic without branches, or are there loops of it that all lanes run together?
 * carried: so many values may live from one round to the next. */
bool kc_is_chain(const struct kc_wg *wg, const struct kc_slots *slots, const struct kc_plan *wide, unsigned carried);
/* Do neighbouring work-items load or store neighbouring elements? */
bool kc_is_consecutive(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access);

/* The lines of the caches that a strip's load or store touches, at most: one for each lane if that can't be seen. */
unsigned kc_count_lines(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access, unsigned lanes);

/* How many of these may belong in one set of the nearest cache: as many as there are lines, where lanes' distance can't
 * be seen. */
unsigned kc_count_ways(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access, unsigned lanes);

#endif
