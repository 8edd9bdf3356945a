/*
 * Vectors of the kernel's in memory. Work-items become lanes, and vectors of vectors don't exist: what a work-item
 * computes with vectors the scalarizer pass takes apart, and their loads and stores are taken apart here, before it
 * runs.
 *
 * Where lanes have addresses of their own, a vector goes in pieces of up to eight bytes, as integers of which the
 * elements are parts: neighbours then load and store neighbouring integers, and others gather half as often. Element by
 * element goes what all lanes read at one place (that is broadcast), and a vector of which some elements are written:
 * the others may be another lane's.
 */
#ifndef KC_WORKGROUP_TRANSFORM_VECTORS_H
#define KC_WORKGROUP_TRANSFORM_VECTORS_H

#include "compiler/workgroup/ir.h"

/* In wg->function: those that go element by element, before the scalarizer; then what is left, which passes would make
 * vectors of again. */
void kc_split_elements(struct kc_wg *wg);
void kc_split_pieces(struct kc_wg *wg);

#endif
