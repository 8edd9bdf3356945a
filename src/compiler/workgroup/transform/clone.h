/*
 * Copies of instructions and whole functions: LLVM's C interface has none for functions.
 */
#ifndef KC_WORKGROUP_TRANSFORM_CLONE_H
#define KC_WORKGROUP_TRANSFORM_CLONE_H

#include "compiler/workgroup/ir.h"

/* A function of its own in the same module: internal, with the same body, attributes and parameters. */
LLVMValueRef kc_clone_function(struct kc_wg *wg, LLVMValueRef function, const char *name);

/* What an operand of a copied instruction is to be. */
typedef LLVMValueRef kc_operand_fn(void *arg, LLVMValueRef operand);

/* A copy of an instruction that is no phi, at the builder's position, with each operand as fn says. */
LLVMValueRef kc_clone_instruction(struct kc_wg *wg, LLVMValueRef instruction, kc_operand_fn *fn, void *arg);

#endif
