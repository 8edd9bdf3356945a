#include "compiler/ptx/joined_addresses.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace
{

using address = llvm::GetElementPtrInst;
using addresses = llvm::SmallVector<address *, 4>;

/* A pointer that is computed; a parameter needs no register. */
bool takes_register(const llvm::Value &pointer)
{
    const auto *made = llvm::dyn_cast<llvm::Instruction>(&pointer);

    return made && !(llvm::isa<llvm::CastInst>(made) && llvm::isa<llvm::Argument>(made->getOperand(0)));
}

/* The same of all, but for what is said of overflows. */
class group
{
  public:
    explicit group(address *first) : all{first}
    {
    }

    bool take(address *other)
    {
        if (!all[0]->isSameOperationAs(other, llvm::Instruction::CompareIgnoringAlignment) ||
            !std::equal(all[0]->op_begin(), all[0]->op_end(), other->op_begin()))
            return false;
        all.push_back(other);
        return true;
    }

    /* Before the ways part; what it is computed of lives no longer then. */
    void join(llvm::DominatorTree &tree)
    {
        llvm::BasicBlock *block = all[0]->getParent();

        for (address *other : all)
            block = tree.findNearestCommonDominator(block, other->getParent());
        if (all.size() < 2 || !block || is_in(*block) || !is_alone() || !is_known_in(tree, *block))
            return;
        all[0]->moveBefore(block->getTerminator());
        for (address *other : llvm::drop_begin(all)) {
            all[0]->andIRFlags(other);
            other->replaceAllUsesWith(all[0]);
            other->eraseFromParent();
        }
    }

  private:
    addresses all;

    /* Is one there already? What uses it may come before the block's end. */
    bool is_in(const llvm::BasicBlock &block) const
    {
        return llvm::any_of(all, [&](const address *one) { return one->getParent() == &block; });
    }

    /* Does nothing else need the pointer? */
    bool is_alone() const
    {
        const llvm::Value *pointer = all[0]->getPointerOperand();

        return takes_register(*pointer) &&
               llvm::all_of(pointer->users(), [&](const llvm::User *user) { return llvm::is_contained(all, user); });
    }

    bool is_known_in(const llvm::DominatorTree &tree, const llvm::BasicBlock &block) const
    {
        return llvm::all_of(all[0]->operands(), [&](const llvm::Use &use) {
            const auto *made = llvm::dyn_cast<llvm::Instruction>(use.get());
            return !made || tree.dominates(made, block.getTerminator());
        });
    }
};

void join(llvm::Function &function)
{
    llvm::MapVector<llvm::Value *, llvm::SmallVector<group, 2>> by_pointer;

    for (llvm::Instruction &at : llvm::instructions(function))
        if (auto *one = llvm::dyn_cast<address>(&at); one && !one->hasAllConstantIndices()) {
            auto &groups = by_pointer[one->getPointerOperand()];
            if (llvm::none_of(groups, [one](group &g) { return g.take(one); }))
                groups.emplace_back(one);
        }
    llvm::DominatorTree tree(function);
    for (auto &entry : by_pointer)
        for (group &g : entry.second)
            g.join(tree);
}

} // namespace

void kc_join_addresses(LLVMModuleRef ref)
{
    for (llvm::Function &function : *llvm::unwrap(ref))
        if (!function.isDeclaration())
            join(function);
}
