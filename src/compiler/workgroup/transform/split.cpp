#include "compiler/workgroup/transform/split.h"

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>

LLVMBasicBlockRef kc_split_before(LLVMValueRef instruction)
{
    auto *at = llvm::cast<llvm::Instruction>(llvm::unwrap(instruction));

    return llvm::wrap(at->getParent()->splitBasicBlock(at->getIterator()));
}
