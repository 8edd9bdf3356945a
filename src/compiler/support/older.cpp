#include "compiler/support/older.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <string>

LLVMErrorRef kc_run_named_passes(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                                 LLVMPassBuilderOptionsRef options)
{
    static const struct {
        int until; /* the first LLVM with the newer name */
        std::string newer, older;
    } words[] = {{18, "<no-verify-fixpoint>", ""}, {19, "lower-switch", "lowerswitch"}};
    std::string text(passes);

    for (const auto &word : words)
        for (size_t at; LLVM_VERSION_MAJOR < word.until && (at = text.find(word.newer)) != std::string::npos;)
            text.replace(at, word.newer.size(), word.older);
    return LLVMRunPasses(module, text.c_str(), machine, options);
}

bool kc_is_of_one_thread(LLVMValueRef fence)
{
    return llvm::unwrap<llvm::FenceInst>(fence)->getSyncScopeID() == llvm::SyncScope::SingleThread;
}

void kc_set_ordering(LLVMValueRef at, LLVMAtomicOrdering order)
{
    if (auto *operation = llvm::dyn_cast<llvm::AtomicRMWInst>(llvm::unwrap(at)))
        operation->setOrdering(static_cast<llvm::AtomicOrdering>(order)); /* the numbers are the same */
    else
        LLVMSetOrdering(at, order);
}

#if LLVM_VERSION_MAJOR < 18

static void widen(llvm::Instruction &at)
{
    llvm::IRBuilder<> b(&at);
    llvm::Value *wide = b.CreateFPToSI(at.getOperand(0), at.getType()->getWithNewBitWidth(32));

    at.replaceAllUsesWith(b.CreateTrunc(wide, at.getType()));
    at.eraseFromParent();
}

void kc_widen_conversions(LLVMModuleRef module)
{
    for (llvm::Function &function : *llvm::unwrap(module))
        for (llvm::Instruction &at : llvm::make_early_inc_range(llvm::instructions(function)))
            if ((llvm::isa<llvm::FPToUIInst>(at) || llvm::isa<llvm::FPToSIInst>(at)) &&
                at.getType()->getScalarSizeInBits() < 32)
                widen(at);
}

#else

void kc_widen_conversions(LLVMModuleRef)
{
}

#endif

#if LLVM_VERSION_MAJOR < 17

void LLVMSetNUW(LLVMValueRef instruction, LLVMBool has)
{
    llvm::cast<llvm::Instruction>(llvm::unwrap(instruction))->setHasNoUnsignedWrap(has);
}

void LLVMSetNSW(LLVMValueRef instruction, LLVMBool has)
{
    llvm::cast<llvm::Instruction>(llvm::unwrap(instruction))->setHasNoSignedWrap(has);
}

LLVMBool LLVMGetNUW(LLVMValueRef instruction)
{
    return llvm::cast<llvm::Instruction>(llvm::unwrap(instruction))->hasNoUnsignedWrap();
}

LLVMBool LLVMGetNSW(LLVMValueRef instruction)
{
    return llvm::cast<llvm::Instruction>(llvm::unwrap(instruction))->hasNoSignedWrap();
}

#endif
