/*
 * The second rule of the rung `exact`: shares that write the same bytes may run at the same time if the later one
 * surely writes all of these. Each share works on a copy of its own, and of what two have written the later share's
 * bytes stay. So the memory is what it would be if the shares had run one after the other.
 *
 * By OpenCL two work-groups that store to one place race, and either value is right. On one device the later group's
 * stays, as a rule, and programs count on it without knowing: launches are rounded up to whole groups, and the surplus
 * work-items of a row write into the next row; or each group leaves its result where another group has stored before.
 * Later is the group with the higher number, the first dimension counting fastest. So shares must have the order of
 * groups: a launch is cut along the last dimension that has several.
 *
 * What a share may write without doing so surely no earlier one may write: nobody could tell whose bytes are new.
 * Launches with atomic operations on memory that outlives them, and images, are not for this rule.
 *
 * Pure: no locks, no OpenCL calls.
 */
#ifndef TSL_FOOTPRINT_CUT_LATER_H
#define TSL_FOOTPRINT_CUT_LATER_H

#include "footprint/cut.h"

/* Are shares along the dimension in the order of the window's groups? */
bool tsl_cut_later_has_order(const struct tsl_window *window, unsigned dimension);

/*
 * May these n shares, which are in the order of groups, run at the same time? Arguments as tsl_cut_shares has them.
 * True also where nothing that they write meets. Doesn't look at what tsl_cut_kernel says.
 */
bool tsl_cut_later_wins(const struct tsl_footprint *footprint, unsigned n,
                        const struct tsl_argument_touch *const *shares, const struct tsl_cut_memory *memories);

/*
 * The dimension along which the window may be cut by this rule, as its two halves may; 3: none. For windows that
 * tsl_cut_dimension refuses: a cut whose shares write different bytes is better, as more may be done with that.
 */
unsigned tsl_cut_later_dimension(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                 const struct tsl_argument_value *values, const struct tsl_cut_memory *memories);

#endif
