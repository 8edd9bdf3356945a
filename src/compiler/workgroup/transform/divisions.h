/*
 * Divisions of whole numbers, for which processors have no vector form: they are made of divisions of floats or
 * doubles, with the same results.
 */
#ifndef KC_WORKGROUP_TRANSFORM_DIVISIONS_H
#define KC_WORKGROUP_TRANSFORM_DIVISIONS_H

#include "compiler/workgroup/analysis/uniform.h"

/* Replaces quotients and remainders that differ between lanes, of up to 32 bits, and of 64 if `longs`. Divisors aren't
 * zero, and quotients fit (shape.c). strip: of the level KC_STRIP; it doesn't know the new instructions. True: there
 * were any. */
bool kc_divide_by_floats(struct kc_wg *wg, const struct kc_uniform *strip, bool longs);

#endif
