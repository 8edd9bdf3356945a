/*
 * Parts of a kernel that lanes run one after the other, each part a region of its own (region.h), so that the rest of
 * the kernel keeps its vectors: instructions without a vector form (atomic operations, calls), and loops in which
 * vectors don't pay.
 */
#ifndef KC_WORKGROUP_ANALYSIS_SERIAL_H
#define KC_WORKGROUP_ANALYSIS_SERIAL_H

#include "compiler/workgroup/analysis/uniform.h"

/* Has the instruction no vector form? */
bool kc_is_serial(LLVMValueRef instruction);

/* Blocks with such instructions are split around them, if there is enough else, and around each that is combined.
 * Before wg->flow is made. */
void kc_split_serial(struct kc_wg *wg);

/* Was the block split off for such instructions? */
bool kc_is_serial_block(const struct kc_wg *wg, LLVMBasicBlockRef block);

/* Makes the loop one region: `wg` remembers that, and the loop gets a block of its own before it. Changes wg->flow. */
void kc_make_loop_serial(struct kc_wg *wg, int loop);

/* Is the loop one of these, or inside one? loop: KC_NONE is none. */
bool kc_is_serial_loop(const struct kc_wg *wg, int loop);

#endif
