/*
 * What the files share that write a strip's regions: strip.c and few.c.
 */
#ifndef KC_WORKGROUP_TRANSFORM_STRIP_H
#define KC_WORKGROUP_TRANSFORM_STRIP_H

#include "compiler/workgroup/emit.h"

/* The place of a slot's values, an element for each lane, or one if the slot is uniform. */
LLVMValueRef kc_held(struct kc_strip *strip, unsigned slot);

/* At the start of a region a lane copies its values to variables of its own, and at the end it writes back what it
 * changed. */
void kc_begin_work(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane);
void kc_end_work(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane);

/* few.c: the lanes that wait at a bound, as bits of an i32. */
LLVMValueRef kc_waiting(struct kc_strip *strip, int bound);
LLVMValueRef kc_are_few(struct kc_strip *strip, LLVMValueRef waiting);

/* The lanes that wait at the region's bound run it, one after the other. Each then waits at another bound. */
void kc_run_one_by_one(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef waiting);

#endif
