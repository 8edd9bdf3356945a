/*
 * Indices that the source computes in int. Signed sums don't wrap, so they may be computed in 64 bits. Otherwise the
 * vectoriser, which doesn't know whether lanes outside a mask would make them wrap, tests for that before each strip
 * and duplicates the code.
 */
#ifndef KC_WORKGROUP_TRANSFORM_WIDEN_H
#define KC_WORKGROUP_TRANSFORM_WIDEN_H

#include "compiler/workgroup/analysis/uniform.h"

/* Widens the indices of consecutive loads and stores. strip: of the level KC_STRIP; it doesn't know the new
 * instructions. */
void kc_widen_indices(struct kc_wg *wg, const struct kc_uniform *strip);

#endif
