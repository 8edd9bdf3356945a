#include "compiler/ptx/carried_indices.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace
{

/* Each of a loop's indices has a register, or two. */
constexpr size_t most_indices = 12;

/* So many products, one behind the other, take longer than an addition and what a register costs. */
constexpr unsigned least_products = 2;

/* Sums and products that an index is made of, one behind the other: longer ones aren't followed, as what they share
 * would be followed each time. */
constexpr unsigned most_steps = 8;

/* An instruction that computes an index, and what it is at the loop's begin. */
struct Index {
    llvm::Instruction *at;
    const llvm::SCEV *start;
};

class Carrying
{
  public:
    explicit Carrying(llvm::Function &kernel)
        : library_info(llvm::Triple(kernel.getParent()->getTargetTriple())), library(library_info, &kernel),
          assumptions(kernel), dominators(kernel), loops(dominators),
          evolution(kernel, library, assumptions, dominators, loops),
          expander(evolution, kernel.getParent()->getDataLayout(), "carried")
    {
        expander.disableCanonicalMode();
    }

    void all()
    {
        for (llvm::Loop *loop : loops.getLoopsInPreorder())
            if (loop->getLoopLatch())
                carry(*loop);
    }

  private:
    /* Indices that go on by the same step, of one type. */
    using Steps = llvm::MapVector<const llvm::SCEV *, llvm::SmallVector<Index, 8>>;

    llvm::TargetLibraryInfoImpl library_info;
    llvm::TargetLibraryInfo library;
    llvm::AssumptionCache assumptions;
    llvm::DominatorTree dominators;
    llvm::LoopInfo loops;
    llvm::ScalarEvolution evolution;
    llvm::SCEVExpander expander;

    static bool is_arithmetic(const llvm::Value *value)
    {
        auto *at = llvm::dyn_cast<llvm::BinaryOperator>(value);

        return at && (at->getOpcode() == llvm::Instruction::Add || at->getOpcode() == llvm::Instruction::Sub ||
                      at->getOpcode() == llvm::Instruction::Mul);
    }

    /* Products by numbers that are known only when the kernel runs, one behind the other, of what changes in the loop.
     */
    static unsigned products(const llvm::Loop &loop, const llvm::Value *value, unsigned steps = most_steps)
    {
        auto *at = llvm::dyn_cast<llvm::Instruction>(value);
        unsigned most = 0;

        if (!at || !steps || !loop.contains(at) || !is_arithmetic(at))
            return 0;
        for (const llvm::Value *operand : at->operands())
            most = std::max(most, products(loop, operand, steps - 1));
        bool constant = llvm::isa<llvm::Constant>(at->getOperand(1)) || llvm::isa<llvm::Constant>(at->getOperand(0));
        bool changes = !loop.isLoopInvariant(at->getOperand(0)) || !loop.isLoopInvariant(at->getOperand(1));
        return most + (at->getOpcode() == llvm::Instruction::Mul && changes && !constant);
    }

    /* Is it of use for itself, and not only for a longer sum? */
    static bool is_whole(const llvm::Loop &loop, const llvm::Instruction &at)
    {
        for (const llvm::User *user : at.users())
            if (!is_arithmetic(user) || !loop.contains(llvm::cast<llvm::Instruction>(user)))
                return true;
        return false;
    }

    /* Else it would become a counter of a loop around this one. */
    bool is_plain(const llvm::SCEV *expression)
    {
        return !llvm::SCEVExprContains(expression, [](const llvm::SCEV *part) {
            return llvm::isa<llvm::SCEVAddRecExpr>(part);
        }) && expander.isSafeToExpand(expression);
    }

    /* The index that the instruction computes, if it should be carried. */
    const llvm::SCEVAddRecExpr *index_of(const llvm::Loop &loop, llvm::Instruction &at)
    {
        if (!at.getType()->isIntegerTy(32) && !at.getType()->isIntegerTy(64))
            return nullptr;
        if (!is_arithmetic(&at) || !is_whole(loop, at) || products(loop, &at) < least_products)
            return nullptr;
        auto *index = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(&at));
        if (!index || index->getLoop() != &loop || !index->isAffine())
            return nullptr;
        const llvm::SCEV *step = index->getStepRecurrence(evolution);
        bool carries = !llvm::isa<llvm::SCEVConstant>(step) && is_plain(step) && is_plain(index->getStart());
        return carries ? index : nullptr;
    }

    Steps find(const llvm::Loop &loop)
    {
        Steps found;
        size_t n = 0;

        for (llvm::BasicBlock *block : loop.blocks())
            if (loops.getLoopFor(block) == &loop)
                for (llvm::Instruction &at : *block)
                    if (auto *index = n < most_indices ? index_of(loop, at) : nullptr) {
                        found[index->getStepRecurrence(evolution)].push_back({&at, index->getStart()});
                        n++;
                    }
        return found;
    }

    /* The least one, as far as that is known: an address may have a constant added, but not subtracted. */
    const llvm::SCEV *first(const llvm::SmallVector<Index, 8> &indices)
    {
        const llvm::SCEV *least = indices.front().start;

        for (const Index &index : indices) {
            auto *distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(index.start, least));
            if (distance && distance->getAPInt().isNegative())
                least = index.start;
        }
        return least;
    }

    llvm::Value *expand(const llvm::Loop &loop, const llvm::SCEV *expression)
    {
        return expander.expandCodeFor(expression, expression->getType(), loop.getLoopPreheader()->getTerminator());
    }

    /* The index that is carried: it begins at start. */
    llvm::PHINode *make(const llvm::Loop &loop, const llvm::SCEV *step, const llvm::SCEV *start)
    {
        llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
        llvm::Value *begin = expand(loop, start), *by = expand(loop, step);
        llvm::IRBuilder<> builder(header, header->begin());
        llvm::PHINode *index = builder.CreatePHI(begin->getType(), 2);

        builder.SetInsertPoint(latch->getTerminator());
        index->addIncoming(begin, loop.getLoopPreheader());
        index->addIncoming(builder.CreateAdd(index, by), latch);
        return index;
    }

    void replace(const llvm::Loop &loop, llvm::PHINode *carried, const llvm::SCEV *start, const Index &index)
    {
        const llvm::SCEV *distance = evolution.getMinusSCEV(index.start, start);
        llvm::Value *value = carried;

        if (!distance->isZero())
            value = llvm::IRBuilder<>(index.at).CreateAdd(carried, expand(loop, distance));
        index.at->replaceAllUsesWith(value);
    }

    void carry(llvm::Loop &loop)
    {
        Steps found = find(loop);
        llvm::SmallVector<llvm::WeakTrackingVH, 16> dead;

        if (found.empty())
            return;
        if (!loop.getLoopPreheader() && !llvm::InsertPreheaderForLoop(&loop, &dominators, &loops, nullptr, false))
            return;
        for (const auto &[step, indices] : found) {
            const llvm::SCEV *start = first(indices);
            llvm::PHINode *carried = make(loop, step, start);

            for (const Index &index : indices) {
                replace(loop, carried, start, index);
                dead.push_back(index.at);
            }
        }
        expander.clear(); /* What it has made may be dead. */
        for (llvm::WeakTrackingVH &at : dead)
            if (at)
                llvm::RecursivelyDeleteTriviallyDeadInstructions(at);
    }
};

} // namespace

void kc_carry_indices(LLVMModuleRef module)
{
    for (llvm::Function &f : *llvm::unwrap(module))
        if (!f.isDeclaration())
            Carrying(f).all();
}
