/*
 * Vectors of the kernel in memory. Work-items become lanes, and there are no vectors of vectors: the scalarizer pass
 * splits a work-item's vector operations, and their loads and stores are split here, before it runs.
 *
 * If lanes have different addresses, a vector is accessed in pieces of up to eight bytes, as integers that contain the
 * elements: neighbours then load and store neighbouring integers, and others gather half as often. Single elements are
 * accessed if all lanes read at one place (which is broadcast), and if only some elements of a vector are written: the
 * others may be another lane's.
 */
#ifndef KC_WORKGROUP_TRANSFORM_VECTORS_H
#define KC_WORKGROUP_TRANSFORM_VECTORS_H

#include "compiler/workgroup/ir.h"

/* In wg->function. Elements: the accesses of single elements, before the scalarizer. Pieces: the rest, which passes
 * would otherwise turn into vectors again. */
void kc_split_elements(struct kc_wg *wg);
void kc_split_pieces(struct kc_wg *wg);

/* Is the address made of a local or global id? */
bool kc_address_differs(LLVMValueRef address);

#endif
