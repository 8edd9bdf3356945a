#include "kc/older.h"

#include <string>

LLVMErrorRef kc_run_named_passes(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                                 LLVMPassBuilderOptionsRef options)
{
    static const char newer[] = "<no-verify-fixpoint>";
    std::string words(passes);

#if LLVM_VERSION_MAJOR < 18
    for (size_t at; (at = words.find(newer)) != std::string::npos;)
        words.erase(at, sizeof(newer) - 1);
#else
    (void)newer;
#endif
    return LLVMRunPasses(module, words.c_str(), machine, options);
}

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
