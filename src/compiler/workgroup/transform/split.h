/*
 * Blocks in two, for which LLVM's C interface has no function; what it has would make the phi nodes of successors anew,
 * so that whoever holds one (a block may follow itself) would hold nothing.
 */
#ifndef KC_WORKGROUP_TRANSFORM_SPLIT_H
#define KC_WORKGROUP_TRANSFORM_SPLIT_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Splits the block before an instruction that is no phi: what follows moves to a new block behind it, to which it
 * branches, and which is returned. Values stay the same, and phi nodes in successors are told. */
LLVMBasicBlockRef kc_split_before(LLVMValueRef instruction);

#ifdef __cplusplus
}
#endif

#endif
