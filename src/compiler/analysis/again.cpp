/*
 * What a loop looks at again in a later iteration, so that it may be waiting for a change. A place that goes on by a
 * step in each iteration isn't looked at again: the loop ends where memory does. Nor is a loop a wait that counts
 * something up itself and ends where that gets to a bound, as work-items do that take their work one by one:
 *
 *   while ((i = atomic_inc(next)) < n) ...
 */
#include "compiler/analysis/accesses.hpp"

#include "compiler/workgroup/calls.h"

#include <llvm/IR/PatternMatch.h>

namespace kc
{

namespace
{

using namespace llvm::PatternMatch;

Course opposite(Course course)
{
    return course == Course::up ? Course::down : course == Course::down ? Course::up : course;
}

/* Of a sum. */
Course both(Course a, Course b)
{
    return a == b || b == Course::fixed ? a : a == Course::fixed ? b : Course::any;
}

/* A size of the launch is more than 0. */
bool is_launch_size(const llvm::SCEV *expression)
{
    auto *value = llvm::dyn_cast<llvm::SCEVUnknown>(expression);
    auto *call = value ? llvm::dyn_cast<llvm::CallInst>(value->getValue()) : nullptr;
    kc_call what = call ? kc_call_of(llvm::wrap(call)) : KC_CALL_OTHER;

    return what == KC_CALL_LOCAL_SIZE || what == KC_CALL_GLOBAL_SIZE || what == KC_CALL_NUM_GROUPS;
}

/* Is a constant added that counts upwards? */
bool counts_up(const llvm::Instruction &at)
{
    auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&at);
    auto *number = atomic ? llvm::dyn_cast<llvm::ConstantInt>(atomic->getValOperand()) : nullptr;

    if (!number || number->isZero())
        return false;
    return atomic->getOperation() == llvm::AtomicRMWInst::Add   ? !number->isNegative()
           : atomic->getOperation() == llvm::AtomicRMWInst::Sub ? number->isNegative()
                                                                : false;
}

} // namespace

/* Is it computed anew in each iteration, to the same? */
bool Accesses::is_fixed(llvm::Value *value, llvm::Loop &loop)
{
    llvm::SmallVector<llvm::Value *, 8> todo = {value};
    llvm::SmallPtrSet<llvm::Value *, 16> seen;

    while (!todo.empty()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(todo.pop_back_val());
        auto *load = llvm::dyn_cast_or_null<llvm::LoadInst>(at);

        if (!at || !loop.contains(at) || !seen.insert(at).second)
            continue;
        if (llvm::isa<llvm::PHINode>(at) || (load ? !is_unwritten(*load) : at->mayReadOrWriteMemory()))
            return false;
        todo.append(at->value_op_begin(), at->value_op_end());
    }
    return true;
}

Course Accesses::course_of_step(const llvm::SCEV *step)
{
    auto *product = llvm::dyn_cast<llvm::SCEVMulExpr>(step);
    bool up = evolution.isKnownPositive(step) || is_launch_size(step) ||
              (product && product->getNumOperands() == 2 && evolution.isKnownPositive(product->getOperand(0)) &&
               is_launch_size(product->getOperand(1)));

    return up ? Course::up : evolution.isKnownNegative(step) ? Course::down : Course::any;
}

/* What a loop within this one counts begins anew in each iteration. */
Course Accesses::course_of_recurrence(const llvm::SCEVAddRecExpr &recurrence, llvm::Loop &loop)
{
    const llvm::SCEV *step = recurrence.getStepRecurrence(evolution);
    Course start = course_of(recurrence.getStart(), loop);

    if (!recurrence.isAffine() || course_of(step, loop) != Course::fixed)
        return Course::any;
    if (recurrence.getLoop() != &loop && start == Course::fixed)
        return Course::fixed;
    return both(start, course_of_step(step));
}

Course Accesses::course_of_product(const llvm::SCEVNAryExpr &product, llvm::Loop &loop)
{
    Course result = Course::fixed, one;
    bool minus = false, known = true;

    for (const llvm::SCEV *factor : product.operands()) {
        one = course_of(factor, loop);
        if (one != Course::fixed && result != Course::fixed)
            return Course::any;
        result = one == Course::fixed ? result : one;
        minus ^= one == Course::fixed && evolution.isKnownNegative(factor);
        known &= one != Course::fixed || course_of_step(factor) != Course::any;
    }
    return result != Course::fixed && !known ? Course::any : minus ? opposite(result) : result;
}

/* Where does a number go from one iteration of the loop to the next? Of 32 bits and more nobody waits for the wrap. */
Course Accesses::course_of(const llvm::SCEV *at, llvm::Loop &loop)
{
    auto *sum = llvm::dyn_cast<llvm::SCEVNAryExpr>(at);
    Course result = Course::fixed;

    if (evolution.isLoopInvariant(at, &loop))
        return Course::fixed;
    switch (at->getSCEVType()) {
    case llvm::scUnknown:
        return is_fixed(llvm::cast<llvm::SCEVUnknown>(at)->getValue(), loop) ? Course::fixed : Course::any;
    case llvm::scAddRecExpr:
        return course_of_recurrence(*llvm::cast<llvm::SCEVAddRecExpr>(at), loop);
    case llvm::scTruncate:
    case llvm::scZeroExtend:
    case llvm::scSignExtend:
    case llvm::scPtrToInt: {
        const llvm::SCEV *operand = llvm::cast<llvm::SCEVCastExpr>(at)->getOperand();

        result = course_of(operand, loop);
        return result == Course::fixed || (evolution.getTypeSizeInBits(operand->getType()) >= 32 &&
                                           evolution.getTypeSizeInBits(at->getType()) >= 32)
                   ? result
                   : Course::any;
    }
    case llvm::scMulExpr:
        return course_of_product(*sum, loop);
    case llvm::scUDivExpr: {
        auto *division = llvm::cast<llvm::SCEVUDivExpr>(at);

        return course_of(division->getRHS(), loop) == Course::fixed ? course_of(division->getLHS(), loop) : Course::any;
    }
    default:
        break;
    }
    if (!sum)
        return Course::any;
    for (const llvm::SCEV *operand : sum->operands())
        result = both(result, course_of(operand, loop));
    return at->getSCEVType() == llvm::scAddExpr || result == Course::fixed ? result : Course::any;
}

/* Does a counter end the loop, if nothing else does? */
bool Accesses::is_counted(llvm::Loop &loop)
{
    const llvm::SCEV *most = evolution.getBackedgeTakenCount(&loop, llvm::ScalarEvolution::SymbolicMaximum);
    uint32_t count = llvm::isa<llvm::SCEVCouldNotCompute>(most) ? loop_of(&loop).count : 0;

    return count != no_node && (count == 0 || nodes[count].op != TSL_NODE_UNKNOWN);
}

/* May the loop look once more at what it loads there? */
bool Accesses::looks_again(llvm::LoadInst &load, llvm::Loop &loop)
{
    Course course = course_of(evolution.getSCEV(load.getPointerOperand()), loop);

    return course == Course::fixed || (course == Course::any && !is_counted(loop));
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

/* The atomic additions of the loop to the place of one. */
Accesses::Exchanges Accesses::additions_like(llvm::AtomicRMWInst &one, llvm::Loop &loop)
{
    Exchanges result;

    for (llvm::BasicBlock *block : loop.blocks())
        for (llvm::Instruction &at : *block)
            if (counts_up(at) && is_same_place(at.getOperand(0), one.getPointerOperand()))
                result.push_back(&at);
    return result;
}

/* Is it, behind the first iteration, what the last addition gave? */
bool Accesses::is_counted_by(llvm::Value *value, llvm::ArrayRef<llvm::Instruction *> additions, llvm::Loop &loop)
{
    llvm::SmallVector<llvm::Value *, 8> todo = {value};
    llvm::SmallPtrSet<llvm::Value *, 8> seen;
    bool found = false;

    while (!todo.empty()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(todo.pop_back_val());
        auto *phi = llvm::dyn_cast_or_null<llvm::PHINode>(at);

        if (!at || !loop.contains(at))
            return false;
        if (!seen.insert(at).second)
            continue;
        if (llvm::is_contained(additions, at))
            found = true;
        else if (phi) {
            for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
                if (loop.contains(phi->getIncomingBlock(i)))
                    todo.push_back(phi->getIncomingValue(i));
        } else if (llvm::isa<llvm::ZExtInst>(at) || llvm::isa<llvm::SExtInst>(at) || llvm::isa<llvm::FreezeInst>(at) ||
                   match(at, m_Add(m_Value(), m_ConstantInt())))
            todo.push_back(at->getOperand(0));
        else
            return false;
    }
    return found;
}

/* Does the condition, if it is `holds`, say that the counter is below a bound? Others may decide, too. */
bool Accesses::implies_below(llvm::Value *condition, bool holds, llvm::ArrayRef<llvm::Instruction *> additions,
                             llvm::Loop &loop)
{
    auto *test = llvm::dyn_cast<llvm::ICmpInst>(condition);
    llvm::Value *a, *b;

    if (match(condition, m_Not(m_Value(a))))
        return implies_below(a, !holds, additions, loop);
    if (holds ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
              : match(condition, m_LogicalOr(m_Value(a), m_Value(b))))
        return implies_below(a, holds, additions, loop) || implies_below(b, holds, additions, loop);
    if (!test || !test->isRelational())
        return false;
    llvm::CmpInst::Predicate predicate = holds ? test->getPredicate() : test->getInversePredicate();
    bool below = llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);

    a = test->getOperand(below ? 0 : 1);
    b = test->getOperand(below ? 1 : 0);
    return is_counted_by(a, additions, loop) && is_fixed(b, loop);
}

/* Does the loop end where what it counts itself gets to a bound, whatever others add? Each iteration looks, or the
 * block that counts does. */
bool Accesses::counts_to_its_end(llvm::AtomicRMWInst &at, llvm::Loop &loop)
{
    Exchanges additions;

    if (!counts_up(at) || course_of(evolution.getSCEV(at.getPointerOperand()), loop) != Course::fixed)
        return false;
    additions = additions_like(at, loop);
    if (!is_undisturbed(loop, additions))
        return false;
    return ends_there(
               at.getParent(), loop,
               [&](llvm::Value *condition, bool holds) { return implies_below(condition, holds, {&at}, loop); }) ||
           ends_unless(loop, [&](llvm::Value *condition, bool holds) {
               return implies_below(condition, holds, additions, loop);
           });
}

} // namespace kc
