/*
 * Stores that the vectoriser left lane by lane, as processors without AVX-512 can't scatter.
 */
#ifndef KC_WORKGROUP_ANALYSIS_LANE_STORES_H
#define KC_WORKGROUP_ANALYSIS_LANE_STORES_H

#include "compiler/workgroup/ir.h"

/* Stores of all elements of a vector to elements of one array, one after the other. */
struct kc_lane_stores {
    LLVMValueRef vector, first, last; /* no other instruction is between the stores */
    LLVMValueRef address;             /* lane 0's; replacing its last index gives another element's */
    LLVMValueRef index;               /* of all lanes: a vector, computed before the first store */
};

/* Do such stores begin here, with indices that can be seen as one vector? */
bool kc_find_lane_stores(struct kc_wg *wg, LLVMValueRef i, struct kc_lane_stores *stores);

#endif
