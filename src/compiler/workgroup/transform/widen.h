/*
 * Indices that the source computes in int. Signed sums don't wrap, so they may be made in 64 bits: otherwise the
 * vectoriser, which doesn't know whether lanes outside of a mask would make them wrap, asks before each strip, and
 * writes it once more for that case.
 */
#ifndef KC_WORKGROUP_TRANSFORM_WIDEN_H
#define KC_WORKGROUP_TRANSFORM_WIDEN_H

#include "compiler/workgroup/analysis/uniform.h"

/* Those of loads and stores that are consecutive. strip: of the level KC_STRIP; it doesn't know what is new then. */
void kc_widen_indices(struct kc_wg *wg, const struct kc_uniform *strip);

#endif
