/*
 * Stores that the vectoriser left lane by lane, as processors without AVX-512 can't scatter.
 */
#ifndef KC_WORKGROUP_ANALYSIS_LANE_STORES_H
#define KC_WORKGROUP_ANALYSIS_LANE_STORES_H

#include "compiler/workgroup/ir.h"

/* All elements of a vector into elements of one array, one store after the other. */
struct kc_lane_stores {
    LLVMValueRef vector, first, last; /* nothing is between the stores */
    LLVMValueRef address;             /* lane 0's, whose last index is to be replaced for another element's */
    LLVMValueRef index;               /* of all lanes: a vector, made before the first store */
};

/* Do such stores begin here, and are their indices seen as one vector? */
bool kc_find_lane_stores(struct kc_wg *wg, LLVMValueRef i, struct kc_lane_stores *stores);

#endif
