/*
 * Along which dimension strips run: the one in which the kernel's accesses are consecutive. That is dimension 0 mostly;
 * where it is dimension 1 (columns of a matrix, a transpose), the kernel is turned: its ids of both change places, and
 * all steps after that see strips along dimension 0.
 */
#ifndef KC_WORKGROUP_ANALYSIS_DIRECTION_H
#define KC_WORKGROUP_ANALYSIS_DIRECTION_H

#include "compiler/workgroup/ir.h"

struct kc_direction {
    bool turns; /* strips along dimension 1 are better */
    bool mixed; /* some accesses are consecutive in one dimension, some in the other: tiles keep caches' lines in use */
    bool again; /* rows of work-items, along dimension 0, load the same again, each in a loop (a matrix product) */
};

/* Of the shaped kernel, which stays the same. */
struct kc_direction kc_find_direction(struct kc_wg *wg, unsigned lanes);

/* Dimensions 0 and 1 change places in wg->function. */
void kc_turn(struct kc_wg *wg);

#endif
