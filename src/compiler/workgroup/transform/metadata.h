/*
 * What LLVM is told by metadata.
 */
#ifndef KC_WORKGROUP_TRANSFORM_METADATA_H
#define KC_WORKGROUP_TRANSFORM_METADATA_H

#include "compiler/workgroup/ir.h"

/* A group of memory accesses that loops may do in any order of iterations. */
LLVMMetadataRef kc_access_group(struct kc_wg *wg);
void kc_mark_parallel(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef group);

/* The back edge of a loop of n iterations: accesses of the group are parallel, and it is to become one vector
 * iteration. It must not be unrolled before. */
void kc_mark_lane_loop(struct kc_wg *wg, LLVMValueRef branch, LLVMMetadataRef group, unsigned lanes, unsigned strips);

/* The back edge of a loop that no two work-items leave after as many iterations. It isn't to be unrolled: where the
 * rest of it begins would be one more branch that nobody foretells. */
void kc_mark_uneven_loop(struct kc_wg *wg, LLVMValueRef branch);

/* The back edge of a loop that stays as it is: it is around others or runs a few times, so copies of its body would
 * cost more in the code generator than they save. */
void kc_mark_plain_loop(struct kc_wg *wg, LLVMValueRef branch);

/* A scope of memory accesses: what is marked as outside touches no memory that what is marked as inside does. */
LLVMMetadataRef kc_alias_scope(struct kc_wg *wg);
LLVMValueRef kc_mark_inside(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef scope);
void kc_mark_outside(struct kc_wg *wg, LLVMValueRef access, LLVMMetadataRef scope);

/* Forgets what an instruction says of scopes without aliases, and of its loop: true for one work-item's loop alone. */
void kc_forget_scopes(struct kc_wg *wg, LLVMValueRef instruction);

#endif
