/*
 * Divisions of whole numbers, for which processors have no vector form: they are made of divisions of floats or
 * doubles, with the same results.
 */
#ifndef KC_WORKGROUP_TRANSFORM_DIVISIONS_H
#define KC_WORKGROUP_TRANSFORM_DIVISIONS_H

#include "compiler/workgroup/analysis/uniform.h"

/* Of those that differ between lanes: none, those of up to 32 bits, or those of 64, too. */
enum kc_divided { KC_DIVIDED_NONE, KC_DIVIDED_SHORT, KC_DIVIDED_ALL };

/* Replaces these quotients and remainders, and in any case those that lanes have in common where not all of them come.
 * Divisors aren't zero, and quotients fit (shape.c). strip: of the level KC_STRIP; it doesn't know the new
 * instructions. True: there were any. */
bool kc_divide_by_floats(struct kc_wg *wg, const struct kc_uniform *strip, enum kc_divided which);

#endif
