/*
 * What the files share that write a strip's regions: strip.c, few.c and forget.c.
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

/* forget.c: may lanes that wait elsewhere while the region runs have a value in the slot? */
bool kc_is_kept_elsewhere(const struct kc_strip *strip, const struct kc_region *region, unsigned slot);
/* What the strip before left, and what the round before left at a region where a loop's rounds start, is of no use. */
void kc_forget_all(struct kc_strip *strip);
void kc_forget_round(struct kc_strip *strip, const struct kc_region *region);

/* few.c: the lanes that wait at a bound, as bits of an i32. */
LLVMValueRef kc_waiting(struct kc_strip *strip, int bound);
LLVMValueRef kc_are_few(struct kc_strip *strip, LLVMValueRef waiting);

/* The lanes that wait at the region's bound run it, one after the other. Each then waits at another bound. */
void kc_run_one_by_one(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef waiting);

#endif
