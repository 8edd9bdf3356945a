/*
 * Splits blocks, which LLVM's C interface can't do. With its means the successors' phi nodes would have to be replaced,
 * and pointers to the old ones would dangle (a block may be its own successor).
 */
#ifndef KC_WORKGROUP_TRANSFORM_SPLIT_H
#define KC_WORKGROUP_TRANSFORM_SPLIT_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Splits the block before an instruction that isn't a phi: the rest moves to a new block behind it, to which the first
 * one branches, and which is returned. Values stay the same; phi nodes in successors are updated. */
LLVMBasicBlockRef kc_split_before(LLVMValueRef instruction);

#ifdef __cplusplus
}
#endif

#endif
