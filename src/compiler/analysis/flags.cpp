/*
 * What a kernel does besides: fences, and loops that wait for what others write.
 */
#include "compiler/analysis/accesses.hpp"

extern "C" {
#include "compiler/builtins/builtins.h"
}

namespace kc
{

namespace
{

/* A work-group's barrier is no fence, nor is what orders something for its own work-group alone; atomic operations with
 * an order are. */
bool is_fence(const llvm::Instruction &at)
{
    auto strong = [](llvm::AtomicOrdering order) { return llvm::isStrongerThanMonotonic(order); };

    if (at.hasMetadata(KC_NARROW))
        return false;
    if (auto *fence = llvm::dyn_cast<llvm::FenceInst>(&at))
        return fence->getSyncScopeID() != llvm::SyncScope::SingleThread;
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&at))
        return strong(load->getOrdering()) && load->getPointerAddressSpace() != 3;
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&at))
        return strong(store->getOrdering()) && store->getPointerAddressSpace() != 3;
    if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&at))
        return strong(atomic->getOrdering()) && atomic->getPointerAddressSpace() != 3;
    if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at))
        return strong(exchange->getSuccessOrdering()) && exchange->getPointerAddressSpace() != 3;
    return false;
}

/* May control leave the loop from there? A switch of an inlined function has a default that is never taken. */
bool may_end(const llvm::BasicBlock &block, const llvm::Loop &loop)
{
    for (const llvm::BasicBlock *next : llvm::successors(&block))
        if (!loop.contains(next) && !llvm::isa<llvm::UnreachableInst>(next->getFirstNonPHIOrDbgOrLifetime()))
            return true;
    return false;
}

} // namespace

/* Where a load's address is; none: not in an argument's memory. */
std::vector<Place> Accesses::places_of(llvm::LoadInst &load)
{
    Place start = {nullptr, nodes.constant(64, 0), {}, ""};
    std::vector<Place> found;
    Visited visited;

    scope = loops.getLoopFor(load.getParent());
    places(load.getPointerOperand(), start, found, visited);
    return found;
}

/* May another work-group change what the instruction gives, while the loop runs? */
bool Accesses::may_change(llvm::Instruction &at, llvm::Loop &loop)
{
    auto *load = llvm::dyn_cast<llvm::LoadInst>(&at);
    auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&at);

    if (atomic || llvm::isa<llvm::AtomicCmpXchgInst>(at))
        return at.getOperand(0)->getType()->getPointerAddressSpace() != 3 &&
               !(atomic && counts_to_its_end(*atomic, loop));
    if (!load || load->getPointerAddressSpace() == 3)
        return false;
    std::vector<Place> found = places_of(*load);
    if (found.empty())
        return false;
    if (load->isVolatile() || load->isAtomic())
        return true;
    for (const Place &place : found)
        if (!place.root || written.count(place.root))
            return looks_again(*load, loop);
    return false;
}

/* Is what it gives in global memory that nobody writes? */
bool Accesses::is_unwritten(llvm::LoadInst &load)
{
    if (load.getPointerAddressSpace() == 3 || load.isVolatile() || load.isAtomic())
        return false;
    std::vector<Place> found = places_of(load);
    for (const Place &place : found)
        if (!place.root || written.count(place.root))
            return false;
    return !found.empty();
}

/* May what it gives be what others told some work-item or part of the kernel: in local or private memory? */
bool Accesses::is_told(llvm::LoadInst &load)
{
    if (load.getPointerAddressSpace() == 3)
        return true;
    return places_of(load).empty();
}

/* Is it the same whichever way control took: one place in memory, loaded again behind what might have changed it? */
bool Accesses::is_one_load(llvm::PHINode &phi)
{
    llvm::SmallVector<llvm::Value *, 8> todo = {&phi};
    llvm::SmallPtrSet<llvm::Value *, 8> seen;
    llvm::LoadInst *first = nullptr;

    while (!todo.empty()) {
        llvm::Value *at = todo.pop_back_val();
        auto *load = llvm::dyn_cast<llvm::LoadInst>(at);
        auto *more = llvm::dyn_cast<llvm::PHINode>(at);

        if (!seen.insert(at).second)
            continue;
        if (more)
            todo.append(more->value_op_begin(), more->value_op_end());
        else if (!load ||
                 (first && (load->getType() != first->getType() || evolution.getSCEV(load->getPointerOperand()) !=
                                                                       evolution.getSCEV(first->getPointerOperand()))))
            return false;
        else
            first = load;
    }
    return first && is_unwritten(*first);
}

/* Does the loop hear of anything that others may change, and can it hand that on in memory? */
bool Accesses::hears(llvm::Loop &loop)
{
    bool stores = false, hears = false;

    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block) {
            stores |= at.mayWriteToMemory();
            hears = hears || may_change(at, loop);
        }
    return stores && hears;
}

/* Is it the only end of a loop within this one? Then it decides how often that one runs, and so about what that one
 * computes, but not which way control goes next. */
bool Accesses::is_only_way_out(llvm::BasicBlock *block, llvm::Loop &loop)
{
    for (llvm::Loop *inner = loops.getLoopFor(block); inner != &loop; inner = inner->getParentLoop())
        if (inner->getExitingBlock() == block && inner->getExitBlock())
            return true;
    return false;
}

/* What decides where control goes behind the block; null: nothing. */
static llvm::Value *end_of(llvm::BasicBlock *block)
{
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    auto *choice = llvm::dyn_cast<llvm::SwitchInst>(block->getTerminator());

    return choice ? choice->getCondition() : branch && branch->isConditional() ? branch->getCondition() : nullptr;
}

/* All that decides which way control goes in the loop. */
void Accesses::add_conditions(llvm::Loop &loop, llvm::SmallVectorImpl<llvm::Value *> &to)
{
    for (llvm::BasicBlock *block : loop.blocks())
        if (!is_only_way_out(block, loop))
            to.push_back(end_of(block));
}

/* What decides about the loop's ends. Does control come to each of them in each iteration? A counter's end, to which it
 * does, is enough. */
bool Accesses::add_ends(llvm::Loop &loop, llvm::SmallVectorImpl<llvm::Value *> &to)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> exiting, latches;
    bool always = true;

    loop.getExitingBlocks(exiting);
    loop.getLoopLatches(latches);
    for (llvm::BasicBlock *block : exiting) {
        if (!may_end(*block, loop))
            continue;
        to.push_back(end_of(block));
        always = always &&
                 llvm::all_of(latches, [&](llvm::BasicBlock *latch) { return dominators.dominates(block, latch); });
    }
    return always || is_counted(loop);
}

/* What decides about a loop's end is followed within the loop: values, conditions that choose among them, and those
 * that say how often a loop within this one computes them anew. */
bool Accesses::waits(llvm::Loop &loop)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> exiting;
    llvm::SmallVector<llvm::Value *, 16> todo;
    llvm::SmallPtrSet<llvm::Value *, 32> seen;
    llvm::SmallPtrSet<llvm::Loop *, 8> counted;
    bool all;

    if (exchanging.count(&loop))
        return false;
    all = !add_ends(loop, todo);
    if (all)
        add_conditions(loop, todo);
    while (!todo.empty()) {
        auto *at = llvm::dyn_cast_or_null<llvm::Instruction>(todo.pop_back_val());
        auto *phi = llvm::dyn_cast_or_null<llvm::PHINode>(at);

        if (!at || !loop.contains(at) || !seen.insert(at).second)
            continue;
        if (may_change(*at, loop))
            return true;
        for (llvm::Loop *inner = loops.getLoopFor(at->getParent()); inner != &loop; inner = inner->getParentLoop())
            if (counted.insert(inner).second) {
                exiting.clear();
                inner->getExitingBlocks(exiting);
                for (llvm::BasicBlock *block : exiting)
                    todo.push_back(end_of(block));
            }
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(at); load && is_told(*load) && hears(loop))
            return true;
        if (phi && !all && phi->getParent() != loop.getHeader() && !is_one_load(*phi)) {
            all = true;
            add_conditions(loop, todo);
        }
        todo.append(at->value_op_begin(), at->value_op_end());
    }
    return false;
}

void Accesses::find_flags()
{
    flags |= (facts.prints ? TSL_FOOTPRINT_PRINTS : 0) | (facts.opaque ? TSL_FOOTPRINT_PROGRAM : 0);
    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &at : block)
            if (is_fence(at))
                flags |= TSL_FOOTPRINT_FENCES;
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
        if (waits(*loop)) {
            flags |= TSL_FOOTPRINT_SPINS;
            return;
        }
}

} // namespace kc
