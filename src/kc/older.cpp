#include "kc/older.h"

#if LLVM_VERSION_MAJOR < 17

#include <llvm/IR/Instruction.h>

void LLVMSetNUW(LLVMValueRef instruction, LLVMBool has)
{
    llvm::cast<llvm::Instruction>(llvm::unwrap(instruction))->setHasNoUnsignedWrap(has);
}

void LLVMSetNSW(LLVMValueRef instruction, LLVMBool has)
{
    llvm::cast<llvm::Instruction>(llvm::unwrap(instruction))->setHasNoSignedWrap(has);
}

#endif
