/*
 * Which values are the same for several work-items, and which blocks they all pass together.
 *
 * "Together" is meant in the order in which the emitted code runs regions (region.h): of a loop's blocks the header
 * comes last, so that all work-items of a strip that are still in a loop are in the same iteration. So a loop counter
 * stays uniform, for the work-items that are in the loop, although others have left it.
 *
 * So does a value whose ways parted at uniform branches, as the bounds of a loop behind an early return.
 *
 * A load from a uniform address is uniform: work-items that read different values there race with a writer, which is
 * undefined (OpenCL C 3.0, 6.15.12). Volatile and atomic loads are varying.
 */
#ifndef KC_WORKGROUP_ANALYSIS_UNIFORM_H
#define KC_WORKGROUP_ANALYSIS_UNIFORM_H

#include "compiler/workgroup/ir.h"

enum kc_level {
    KC_STRIP, /* work-items that differ in dimension 0 */
    KC_GROUP, /* all work-items of a work-group */
    KC_LOOKS, /* the same work-item at different times: what it sees of others' work in loops (waits.h) */
};

struct kc_uniform {
    enum kc_level level;
    struct kc_map varying; /* instructions that may differ */
    /* Phis in divergent blocks that are the same for the work-items that come there, but that the strip can't compute
     * by itself: no loop counters. */
    struct kc_map uncounted;
    bool *divergent_block;  /* by block: perhaps not all work-items reach it */
    bool *divergent_branch; /* by block: its terminator may send work-items different ways */
    bool *joined;           /* by block: work-items may arrive from different ways */
};

void kc_uniform_create(struct kc_uniform *uniform, const struct kc_wg *wg, enum kc_level level);
void kc_uniform_finish(struct kc_uniform *uniform);

static inline bool kc_varies(const struct kc_uniform *uniform, LLVMValueRef value)
{
    return kc_map_get(&uniform->varying, value) != 0;
}

/* Integer and address arithmetic that can be moved anywhere its operands are known: no memory, no traps. */
bool kc_is_arithmetic(LLVMValueRef instruction);

#endif
