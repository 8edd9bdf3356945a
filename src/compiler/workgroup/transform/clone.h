/*
 * Copies of instructions and whole functions; LLVM's C interface can't copy functions.
 */
#ifndef KC_WORKGROUP_TRANSFORM_CLONE_H
#define KC_WORKGROUP_TRANSFORM_CLONE_H

#include "compiler/workgroup/ir.h"

/* A copy of the function in the same module: internal, with the same body, attributes and parameters. */
LLVMValueRef kc_clone_function(struct kc_wg *wg, LLVMValueRef function, const char *name);

/* The operand of a copied instruction that replaces `operand`. */
typedef LLVMValueRef kc_operand_fn(void *arg, LLVMValueRef operand);

/* A copy of an instruction that isn't a phi, at the builder's position, with operands replaced by fn. */
LLVMValueRef kc_clone_instruction(struct kc_wg *wg, LLVMValueRef instruction, kc_operand_fn *fn, void *arg);

#endif
