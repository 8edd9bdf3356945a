/*
 * Atomic operations that mostly change nothing (the largest of many numbers, a bit that is set already).
 */
#ifndef KC_WORKGROUP_TRANSFORM_READ_FIRST_H
#define KC_WORKGROUP_TRANSFORM_READ_FIRST_H

#include "compiler/workgroup/ir.h"

/* min, max, and, or without order whose result nobody wants: memory is read first, by a plain load, for which lanes
 * have vectors, and the operation is left out where it would change nothing. Before wg->flow is made. */
void kc_read_first(struct kc_wg *wg);

#endif
