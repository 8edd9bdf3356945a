/*
 * Loops that end by their own atomic exchange, and so wait for nobody: sums of floating-point numbers, pushes onto
 * lists.
 *
 *   do { old = *p; new = old + x; } while (atomic_cmpxchg(p, old, new) != old);
 *
 * An iteration fails because somebody else changed *p behind the load. If all others stood still the next one would
 * find what it expects and be the last one. A lock isn't so: what its loop expects (that the lock is free) isn't what
 * was loaded, or its loop goes on without an exchange.
 *
 * Another form is `while ((x = atomic_xchg(p, atomic_xchg(p, 0) + x)) != 0);`.
 */
#include "compiler/analysis/accesses.hpp"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/PatternMatch.h>

namespace kc
{

namespace
{

using namespace llvm::PatternMatch;

/* The same bits. */
llvm::Value *bits_behind(llvm::Value *value)
{
    while (llvm::isa<llvm::BitCastInst>(value) || llvm::isa<llvm::FreezeInst>(value))
        value = llvm::cast<llvm::Instruction>(value)->getOperand(0);
    return value;
}

bool is_part(llvm::Value *value, const llvm::AtomicCmpXchgInst &exchange, unsigned part)
{
    auto *extract = llvm::dyn_cast<llvm::ExtractValueInst>(bits_behind(value));

    return extract && extract->getAggregateOperand() == &exchange && extract->getIndices()[0] == part;
}

/* Does the condition say that the exchange was made? Or, `made` false, that it wasn't? Nothing else decides. */
bool tells(llvm::Value *condition, const llvm::AtomicCmpXchgInst &exchange, bool made)
{
    auto *test = llvm::dyn_cast<llvm::ICmpInst>(condition);
    llvm::Value *inner;

    if (match(condition, m_Not(m_Value(inner))))
        return tells(inner, exchange, !made);
    if (test && test->isEquality() && (test->getPredicate() == llvm::CmpInst::ICMP_EQ) == made) {
        llvm::Value *a = bits_behind(test->getOperand(0)), *b = bits_behind(test->getOperand(1));
        llvm::Value *expected = bits_behind(const_cast<llvm::Value *>(exchange.getCompareOperand()));

        return (a == expected && is_part(b, exchange, 0)) || (b == expected && is_part(a, exchange, 0));
    }
    return made && is_part(condition, exchange, 1);
}

/* Does the condition, if it is `holds`, say that the exchange failed? Others may decide, too. */
bool implies_failure(llvm::Value *condition, bool holds, const llvm::AtomicCmpXchgInst &exchange)
{
    llvm::Value *a, *b;

    if (match(condition, m_Not(m_Value(a))))
        return implies_failure(a, !holds, exchange);
    if (holds ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
              : match(condition, m_LogicalOr(m_Value(a), m_Value(b))))
        return implies_failure(a, holds, exchange) || implies_failure(b, holds, exchange);
    return tells(condition, exchange, !holds);
}

/* Does the condition, if it is `holds`, say that others came between the two exchanges: what the later one gives isn't
 * the constant that the earlier one has left? */
bool implies_between(llvm::Value *condition, bool holds, llvm::AtomicRMWInst &later, llvm::Constant &left)
{
    auto *test = llvm::dyn_cast<llvm::CmpInst>(condition);
    const llvm::DataLayout &layout = later.getModule()->getDataLayout();

    if (!test)
        return false;
    auto *with = llvm::dyn_cast<llvm::Constant>(test->getOperand(1));
    if (!with || bits_behind(test->getOperand(0)) != &later)
        return false;
    llvm::Constant *same = llvm::ConstantFoldCastOperand(llvm::Instruction::BitCast, &left, with->getType(), layout);
    llvm::Constant *said =
        same ? llvm::ConstantFoldCompareInstOperands(test->getPredicate(), same, with, layout) : nullptr;
    return said && (holds ? said->isZeroValue() : said->isOneValue());
}

bool touches_or_decides(const llvm::Instruction &at)
{
    return at.mayReadOrWriteMemory() || at.isTerminator() || at.mayHaveSideEffects();
}

bool is_empty(const llvm::BasicBlock &block)
{
    return block.getFirstNonPHIOrDbg() == block.getTerminator();
}

/* Where control gets to through blocks that do nothing. */
llvm::BasicBlock *behind_empty(llvm::BasicBlock *block)
{
    for (unsigned i = 0; i < 8 && is_empty(*block) && block->getSingleSuccessor(); i++)
        block = block->getSingleSuccessor();
    return block;
}

/* What phis of a block are, of which the way into it decides. */
using Decided = llvm::SmallDenseMap<llvm::Value *, llvm::ConstantInt *, 8>;

void decide(llvm::BasicBlock *from, llvm::BasicBlock *to, Decided &decided)
{
    Decided now;

    for (llvm::PHINode &phi : to->phis()) {
        llvm::Value *value = phi.getIncomingValueForBlock(from);
        auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);

        now[&phi] = number ? number : decided.lookup(value);
    }
    for (auto &one : now)
        decided[one.first] = one.second;
}

/* Where control goes behind the block; null: not known. */
llvm::BasicBlock *next_of(llvm::BasicBlock *block, const Decided &decided)
{
    auto *choice = llvm::dyn_cast<llvm::SwitchInst>(block->getTerminator());
    auto *number = choice ? decided.lookup(choice->getCondition()) : nullptr;

    return number ? choice->findCaseValue(number)->getCaseSuccessor() : block->getSingleSuccessor();
}

/* Does control leave the loop on that way: at once, or by switches that the way decides about? */
bool leaves(llvm::BasicBlock *from, llvm::BasicBlock *to, const llvm::Loop &loop)
{
    Decided decided;

    for (unsigned i = 0; i < 8 && to && loop.contains(to) && to != loop.getHeader(); i++) {
        decide(from, to, decided);
        from = to;
        to = next_of(to, decided);
    }
    return to && !loop.contains(to);
}

/* Do values depend on the way on which control comes there? */
bool has_choices(llvm::BasicBlock &block)
{
    return llvm::any_of(block.phis(), [](llvm::PHINode &phi) { return !phi.hasConstantValue(); });
}

} // namespace

/* Do both lead to the same bytes? */
bool Accesses::is_same_place(llvm::Value *a, llvm::Value *b)
{
    a = a->stripPointerCasts();
    b = b->stripPointerCasts();
    return a == b || (a->getType() == b->getType() && evolution.getSCEV(a) == evolution.getSCEV(b));
}

/* Is the value what was in the exchange's place, loaded by this loop? */
bool Accesses::is_loaded_for(llvm::Value *value, llvm::AtomicCmpXchgInst &exchange, llvm::Loop &loop)
{
    auto *load = llvm::dyn_cast<llvm::LoadInst>(bits_behind(value));

    return load && loops.getLoopFor(load->getParent()) == &loop &&
           layout.getTypeStoreSize(load->getType()) ==
               layout.getTypeStoreSize(exchange.getCompareOperand()->getType()) &&
           is_same_place(load->getPointerOperand(), exchange.getPointerOperand());
}

/* The value with which the next iteration begins, if the exchange failed: is it what was found in its place? */
bool Accesses::is_found_by(llvm::Value *value, llvm::AtomicCmpXchgInst &exchange, llvm::Loop &loop)
{
    value = bits_behind(value);
    if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(value)) {
        if (tells(choice->getCondition(), exchange, true))
            return is_found_by(choice->getFalseValue(), exchange, loop);
        return tells(choice->getCondition(), exchange, false) && is_found_by(choice->getTrueValue(), exchange, loop);
    }
    return value == &exchange || is_part(value, exchange, 0) || is_loaded_for(value, exchange, loop);
}

/* Does each iteration expect what it, or the one before, has found there? */
bool Accesses::expects_what_is_there(llvm::AtomicCmpXchgInst &exchange, llvm::Loop &loop)
{
    llvm::Value *expected = bits_behind(exchange.getCompareOperand());
    llvm::Value *place = exchange.getPointerOperand()->stripPointerCasts();
    auto *extract = llvm::dyn_cast<llvm::ExtractValueInst>(expected);
    auto *phi =
        llvm::dyn_cast<llvm::PHINode>(extract && !extract->getIndices()[0] ? extract->getAggregateOperand() : expected);

    if (is_loaded_for(expected, exchange, loop))
        return true;
    if (!phi || phi->getParent() != loop.getHeader() || !evolution.isLoopInvariant(evolution.getSCEV(place), &loop))
        return false;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
        if (loop.contains(phi->getIncomingBlock(i)) && !is_found_by(phi->getIncomingValue(i), exchange, loop))
            return false;
    return true;
}

/* May the instruction write where the exchange does? */
bool Accesses::may_disturb(llvm::Instruction &at, llvm::ArrayRef<llvm::Value *> roots)
{
    Place start = {nullptr, nodes.constant(64, 0), {}, ""};
    std::vector<Place> found;
    Visited visited;
    auto *call = llvm::dyn_cast<llvm::CallInst>(&at);

    if (!at.mayWriteToMemory() || llvm::isa<llvm::LoadInst>(at) || llvm::isa<llvm::FenceInst>(at))
        return false;
    if (call)
        return !call->onlyReadsMemory() && !call->onlyAccessesInaccessibleMemory() && !at.isLifetimeStartOrEnd();
    scope = loops.getLoopFor(at.getParent());
    places(at.getOperand(llvm::isa<llvm::StoreInst>(at) ? 1 : 0), start, found, visited);
    return llvm::any_of(found,
                        [&](const Place &place) { return !place.root || llvm::is_contained(roots, place.root); });
}

/* Does nothing else in the loop write there? */
bool Accesses::is_undisturbed(llvm::Loop &loop, llvm::ArrayRef<llvm::Instruction *> exchanges)
{
    Place start = {nullptr, nodes.constant(64, 0), {}, ""};
    std::vector<Place> found;
    llvm::SmallVector<llvm::Value *, 8> roots;
    Visited visited;

    scope = &loop;
    places(exchanges.front()->getOperand(0), start, found, visited);
    for (const Place &place : found)
        roots.push_back(place.root);
    if (roots.empty() || llvm::is_contained(roots, nullptr))
        return false;
    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block)
            if (!llvm::is_contained(exchanges, &at) && may_disturb(at, roots))
                return false;
    return true;
}

/* Does the block's branch go on in the loop only as `goes_on` says of the condition? */
bool Accesses::ends_there(llvm::BasicBlock *block, llvm::Loop &loop, GoesOn goes_on)
{
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

    if (!branch || !branch->isConditional())
        return false;
    bool ends = leaves(block, branch->getSuccessor(0), loop);
    return ends != leaves(block, branch->getSuccessor(1), loop) && goes_on(branch->getCondition(), !ends);
}

/* So a branch that each iteration takes. */
bool Accesses::ends_unless(llvm::Loop &loop, GoesOn goes_on)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> latches;

    loop.getLoopLatches(latches);
    return llvm::any_of(loop.blocks(), [&](llvm::BasicBlock *block) {
        return llvm::all_of(latches, [&](llvm::BasicBlock *latch) { return dominators.dominates(block, latch); }) &&
               ends_there(block, loop, goes_on);
    });
}

/* With a comparison, of what the loop has found there. */
bool Accesses::ends_by_comparison(llvm::Loop &loop, llvm::AtomicCmpXchgInst &exchange)
{
    return expects_what_is_there(exchange, loop) && is_undisturbed(loop, {&exchange}) &&
           ends_unless(loop,
                       [&](llvm::Value *condition, bool holds) { return implies_failure(condition, holds, exchange); });
}

/* By what another exchange has left there: a constant, which the later one then finds. */
bool Accesses::ends_by_two(llvm::Loop &loop, llvm::AtomicRMWInst &earlier, llvm::AtomicRMWInst &later)
{
    auto *left = llvm::dyn_cast<llvm::Constant>(bits_behind(earlier.getValOperand()));

    return left && &earlier != &later && earlier.getOperation() == llvm::AtomicRMWInst::Xchg &&
           later.getOperation() == llvm::AtomicRMWInst::Xchg && dominators.dominates(&earlier, &later) &&
           left->getType() == later.getType() &&
           is_same_place(earlier.getPointerOperand(), later.getPointerOperand()) &&
           is_undisturbed(loop, {&later, &earlier}) && ends_unless(loop, [&](llvm::Value *condition, bool holds) {
               return implies_between(condition, holds, later, *left);
           });
}

/* The exchanges by which the loop ends as soon as nobody comes between; none: it isn't so. */
Accesses::Exchanges Accesses::exchanges_of(llvm::Loop &loop)
{
    llvm::SmallVector<llvm::AtomicRMWInst *, 4> others;

    for (llvm::BasicBlock *block : loop.blocks()) {
        if (loops.getLoopFor(block) != &loop)
            continue;
        for (llvm::Instruction &at : *block) {
            auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at);

            if (exchange && ends_by_comparison(loop, *exchange))
                return {exchange};
            if (auto *other = llvm::dyn_cast<llvm::AtomicRMWInst>(&at); other && others.size() < 4)
                others.push_back(other);
        }
    }
    for (llvm::AtomicRMWInst *earlier : others)
        for (llvm::AtomicRMWInst *later : others)
            if (ends_by_two(loop, *earlier, *later))
                return {later, earlier};
    return {};
}

/* ---- What becomes of the values --------------------------------------------------------------------------------- */

/* What tells the loop what to expect, also before its first iteration; there may be a first exchange there. */
void Accesses::add_sources(llvm::Loop &loop, Exchanges &exchanges)
{
    llvm::Value *place = exchanges.front()->getOperand(0);
    llvm::BasicBlock *before = loop.getLoopPredecessor();
    auto add = [&](llvm::BasicBlock &block) {
        for (llvm::Instruction &at : block)
            if ((llvm::isa<llvm::LoadInst>(at) || llvm::isa<llvm::AtomicCmpXchgInst>(at)) &&
                !llvm::is_contained(exchanges, &at) && is_same_place(at.getOperand(0), place))
                exchanges.push_back(&at);
    };

    for (llvm::BasicBlock *block : loop.blocks())
        add(*block);
    for (; before; before = is_empty(*before) ? before->getSinglePredecessor() : nullptr)
        add(*before);
}

/* Does the branch decide about the loop alone: whether it goes on, or begins? */
bool Accesses::decides_about(llvm::Instruction &at, llvm::Loop &loop)
{
    auto *branch = llvm::dyn_cast<llvm::BranchInst>(&at);

    if (!branch || !branch->isConditional())
        return false;
    if (loop.contains(branch))
        return loop.isLoopExiting(branch->getParent());
    llvm::BasicBlock *a = behind_empty(branch->getSuccessor(0)), *b = behind_empty(branch->getSuccessor(1));
    llvm::BasicBlock *behind = behind_empty(loop.getUniqueExitBlock());
    return (a == loop.getHeader() && b == behind) || (b == loop.getHeader() && a == behind);
}

/* Do their values serve for nothing but the exchange and the loop's end, so that no work-item learns of another? */
bool Accesses::stay_inside(llvm::Loop &loop, llvm::ArrayRef<llvm::Instruction *> sources)
{
    llvm::SmallVector<llvm::Value *, 16> todo(sources.begin(), sources.end());
    llvm::SmallPtrSet<llvm::Value *, 32> seen;
    llvm::BasicBlock *exit = loop.getUniqueExitBlock();

    if (!exit || has_choices(*exit) || has_choices(*behind_empty(exit)))
        return false;
    while (!todo.empty()) {
        llvm::Value *value = todo.pop_back_val();

        if (!seen.insert(value).second)
            continue;
        for (llvm::User *user : value->users()) {
            auto *at = llvm::cast<llvm::Instruction>(user);

            if (llvm::is_contained(sources, at) ? at->getOperand(0) == value
                                                : touches_or_decides(*at) && !decides_about(*at, loop))
                return false;
            todo.push_back(at);
        }
    }
    return true;
}

/* Finds such loops, and what of them nobody else learns of. */
void Accesses::find_exchanges()
{
    for (llvm::Loop *loop : loops.getLoopsInPreorder()) {
        Exchanges exchanges = exchanges_of(*loop);

        if (exchanges.empty())
            continue;
        exchanging.insert(loop);
        add_sources(*loop, exchanges);
        if (stay_inside(*loop, exchanges))
            quiet.insert(exchanges.begin(), exchanges.end());
    }
}

} // namespace kc
