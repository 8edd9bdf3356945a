#include "compiler/middle/private_arrays.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace
{

/* Instructions of the unrolled loop, at most. LLVM's own limit is 150 to 300 of its units. */
constexpr uint64_t most_instructions = 1024;

class Marking
{
  public:
    explicit Marking(llvm::Function &kernel)
        : library_info(llvm::Triple(kernel.getParent()->getTargetTriple())), library(library_info, &kernel),
          assumptions(kernel), dominators(kernel), loops(dominators),
          evolution(kernel, library, assumptions, dominators, loops)
    {
    }

    void all()
    {
        for (llvm::Loop *loop : loops)
            mark(*loop);
    }

  private:
    llvm::TargetLibraryInfoImpl library_info;
    llvm::TargetLibraryInfo library;
    llvm::AssumptionCache assumptions;
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::ScalarEvolution evolution;

    static bool is_told(const llvm::Loop &loop)
    {
        static const char *const words[] = {"llvm.loop.unroll.disable", "llvm.loop.unroll.count",
                                            "llvm.loop.unroll.full", "llvm.loop.unroll.enable"};

        for (const char *word : words)
            if (llvm::findOptionMDForLoop(&loop, word))
                return true;
        return false;
    }

    /* Is the pointer that of a variable that is an array, by an index that changes in the loop? */
    static bool walks(const llvm::Loop &loop, const llvm::Value *pointer)
    {
        auto *variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));

        return variable && variable->isStaticAlloca() && variable->getAllocatedType()->isArrayTy() &&
               !loop.isLoopInvariant(pointer);
    }

    static bool walks(const llvm::Loop &loop)
    {
        for (const llvm::BasicBlock *block : loop.blocks())
            for (const llvm::Instruction &at : *block)
                if (const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&at))
                    if (walks(loop, pointer))
                        return true;
        return false;
    }

    /* Instructions that the loop has when it and all inside it are unrolled; too many where that can't be. Marks the
     * loops inside. */
    uint64_t mark(llvm::Loop &loop)
    {
        uint64_t n = 0, iterations = evolution.getSmallConstantTripCount(&loop);

        for (llvm::BasicBlock *block : loop.blocks())
            n += loops.getLoopFor(block) == &loop ? block->size() : 0;
        for (llvm::Loop *inner : loop)
            n += std::min(mark(*inner), most_instructions + 1);
        n = iterations ? n * iterations : most_instructions + 1;
        if (n <= most_instructions && !is_told(loop) && walks(loop))
            llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
        return n;
    }
};

} // namespace

void kc_mark_private_arrays(LLVMModuleRef module)
{
    for (llvm::Function &f : *llvm::unwrap(module))
        if (!f.isDeclaration())
            Marking(f).all();
}
