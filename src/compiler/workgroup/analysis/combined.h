/*
 * Atomic operations that a strip makes at once: without an order, at an address that is the same for the whole group,
 * and nobody wants the result (atomic_inc(counter), atomic_max(&largest, x)). Lanes' operands are added up, which
 * vectors do well, and one operation makes the sum's.
 */
#ifndef KC_WORKGROUP_ANALYSIS_COMBINED_H
#define KC_WORKGROUP_ANALYSIS_COMBINED_H

#include "compiler/workgroup/ir.h"

/* An atomic operation of a whole number, without an order, whose result nobody wants? */
bool kc_is_unread_atomic(LLVMValueRef instruction);

/* Marks those that strips may make at once. Before wg->flow is made, which it uses meanwhile. */
void kc_mark_combined(struct kc_wg *wg);

/* Is the instruction marked? */
bool kc_is_combined(LLVMValueRef instruction);

/* The marked instruction that is alone at the beginning of a block (serial.h sees to that); NULL: there is none. */
LLVMValueRef kc_find_combined(LLVMBasicBlockRef block);

/* What changes nothing for the operation (NULL: its operands can't be joined), and what joins two operands of it. */
LLVMValueRef kc_neutral(LLVMValueRef combined);
LLVMValueRef kc_combine(LLVMBuilderRef b, LLVMValueRef combined, LLVMValueRef sum, LLVMValueRef operand);

#endif
