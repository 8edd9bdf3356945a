/*
 * Metadata for LLVM's passes.
 */
#ifndef KC_WORKGROUP_TRANSFORM_METADATA_H
#define KC_WORKGROUP_TRANSFORM_METADATA_H

#include "compiler/workgroup/ir.h"

/* A group of memory accesses that loops may reorder across iterations. */
LLVMMetadataRef kc_access_group(struct kc_wg *wg);
void kc_mark_parallel(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef group);

/* Marks the back edge of a loop of n iterations: accesses of the group are parallel, and the loop is to become one
 * vector iteration. It must not be unrolled before. */
void kc_mark_lane_loop(struct kc_wg *wg, LLVMValueRef branch, LLVMMetadataRef group, unsigned lanes, unsigned strips);

/* Marks the back edge of a loop that work-items leave after different numbers of iterations. It isn't to be unrolled:
 * the start of the remainder would be another unpredictable branch. */
void kc_mark_uneven_loop(struct kc_wg *wg, LLVMValueRef branch);

/* Marks the back edge of a loop that stays as it is: it contains others or runs a few times, so that copies of its body
 * would cost more in the code generator than they save. */
void kc_mark_plain_loop(struct kc_wg *wg, LLVMValueRef branch);

/* A scope of memory accesses: accesses marked as outside touch no memory of those marked as inside. */
LLVMMetadataRef kc_alias_scope(struct kc_wg *wg);
LLVMValueRef kc_mark_inside(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef scope);
void kc_mark_outside(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef scope);

/* Marks a call of llvm.lifetime.start: the variable's value is of no use from here on, and it becomes a new one. */
void kc_mark_forgotten(struct kc_wg *wg, LLVMValueRef call);

/* Removes an instruction's metadata on alias scopes and on its loop: they are true for one work-item's loop alone. */
void kc_forget_scopes(struct kc_wg *wg, LLVMValueRef instruction);

#endif
