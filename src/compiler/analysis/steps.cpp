/*
 * Numbers that go on by a fixed step in their lower bits alone: an int that is added to a size_t and cut again, in the
 * register of 64 bits that LLVM has for it. ScalarEvolution doesn't see through the cut.
 */
#include "compiler/analysis/accesses.hpp"

#include <llvm/IR/PatternMatch.h>

namespace kc
{

namespace
{

/* What an instruction passes on in the lower bits; null: nothing that simple. */
llvm::Value *passed(llvm::Instruction &at, unsigned bits)
{
    namespace match = llvm::PatternMatch;
    unsigned width = at.getType()->getScalarSizeInBits();
    llvm::Value *inside;
    const llvm::APInt *number, *again;

    if (llvm::isa<llvm::TruncInst>(at) || llvm::isa<llvm::SExtInst>(at) || llvm::isa<llvm::ZExtInst>(at))
        return at.getOperand(0)->getType()->getScalarSizeInBits() >= bits ? at.getOperand(0) : nullptr;
    if (match::match(
            &at, match::m_Shr(match::m_Shl(match::m_Value(inside), match::m_APInt(number)), match::m_APInt(again))) &&
        *number == *again && number->ult(width) && width - number->getZExtValue() >= bits)
        return inside;
    if (match::match(&at, match::m_And(match::m_Value(inside), match::m_APInt(number))) &&
        number->countTrailingOnes() >= bits)
        return inside;
    return llvm::isa<llvm::FreezeInst>(at) ? at.getOperand(0) : nullptr;
}

/* Where the lower bits come from. */
llvm::Value *source_of(llvm::Value *value, unsigned bits)
{
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    llvm::Value *inside = at && at->getType()->isIntegerTy() ? passed(*at, bits) : nullptr;

    return inside ? source_of(inside, bits) : value;
}

/* Are two values of one loop always the same in the lower bits? LLVM has a number both cut and whole in registers. */
bool are_same(llvm::PHINode &a, llvm::PHINode &b, unsigned bits)
{
    if (a.getParent() != b.getParent() || !b.getType()->isIntegerTy() || b.getType()->getScalarSizeInBits() < bits)
        return false;
    for (llvm::BasicBlock *from : a.blocks())
        if (source_of(a.getIncomingValueForBlock(from), bits) != source_of(b.getIncomingValueForBlock(from), bits))
            return false;
    return true;
}

} // namespace

/* Is value, in its lower bits, phi plus what doesn't change in the loop? That is added to `sum`. */
bool Accesses::is_further(llvm::Value *value, llvm::PHINode &phi, unsigned bits, uint32_t &sum)
{
    llvm::Loop *loop = loops.getLoopFor(phi.getParent());
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    uint32_t before = sum;

    if (value == &phi || (llvm::isa<llvm::PHINode>(value) && are_same(phi, *llvm::cast<llvm::PHINode>(value), bits)))
        return true;
    if (!at || !loop->contains(at) || !at->getType()->isIntegerTy())
        return false;
    if (llvm::Value *inside = passed(*at, bits))
        return is_further(inside, phi, bits, sum);
    if (at->getOpcode() != llvm::Instruction::Add && at->getOpcode() != llvm::Instruction::Sub)
        return false;
    for (unsigned i = 0; i < (at->getOpcode() == llvm::Instruction::Add ? 2u : 1u); i++) {
        llvm::Value *step = at->getOperand(1 - i);

        sum = before;
        if (evolution.isLoopInvariant(evolution.getSCEV(step), loop) && is_further(at->getOperand(i), phi, bits, sum)) {
            sum = nodes.binary(at->getOpcode() == llvm::Instruction::Add ? TSL_NODE_ADD : TSL_NODE_SUB, sum,
                               lower_bits(step, bits));
            return true;
        }
    }
    return false;
}

/* What the number begins with and is added in each iteration. False: it isn't so. */
bool Accesses::find_steps(llvm::PHINode &phi, unsigned bits, Steps &result)
{
    llvm::Loop *loop = loops.getLoopFor(phi.getParent());
    llvm::BasicBlock *latch = loop && loop->getHeader() == phi.getParent() ? loop->getLoopLatch() : nullptr;

    if (!latch || phi.getNumIncomingValues() != 2 || legal_bits(bits) != bits ||
        phi.getType()->getScalarSizeInBits() < bits)
        return false;
    result.first = phi.getIncomingValue(phi.getIncomingBlock(0) == latch);
    result.step = nodes.constant(bits, 0);
    return is_further(phi.getIncomingValueForBlock(latch), phi, bits, result.step);
}

/* Of a value that a loop carries and LLVM knows nothing of. no_node: it doesn't go on by steps, or not in this scope.
 */
uint32_t Accesses::by_steps(llvm::PHINode &phi, unsigned bits)
{
    llvm::Loop *loop = loops.getLoopFor(phi.getParent());
    Steps steps;
    uint32_t n;

    if (!loop || loop->getHeader() != phi.getParent() || !scope || !loop->contains(scope) ||
        !llvm::isa<llvm::SCEVUnknown>(evolution.getSCEV(&phi)) || !find_steps(phi, bits, steps))
        return no_node;
    n = counter(loop);
    if (n == no_node)
        return no_node;
    n = nodes.binary(TSL_NODE_MUL, nodes.trunc(n, bits), steps.step);
    return nodes.binary(TSL_NODE_ADD, n, lower_bits(steps.first, bits));
}

/* Of a value that is wider, or as wide. */
uint32_t Accesses::lower_bits(llvm::Value *value, unsigned bits)
{
    auto *phi = llvm::dyn_cast<llvm::PHINode>(value);
    uint32_t node = phi ? by_steps(*phi, bits) : no_node;

    return node == no_node ? nodes.trunc(of(value), bits) : node;
}

/* The condition at a loop's end, where what is counted is but the lower bits of something. */
bool Accesses::condition_by_steps(llvm::Loop &loop, llvm::Value *tested, Condition &result)
{
    unsigned bits = tested->getType()->getIntegerBitWidth();

    for (llvm::PHINode &phi : loop.getHeader()->phis()) {
        uint32_t further = nodes.constant(bits, 0);
        Steps steps;

        if (!phi.getType()->isIntegerTy() || !find_steps(phi, bits, steps) || !is_further(tested, phi, bits, further))
            continue;
        result.start = lower_bits(steps.first, bits);
        result.next = nodes.binary(TSL_NODE_ADD, result.start, further);
        if (further == steps.step)
            result.first = evolution.getTruncateOrNoop(evolution.getSCEV(steps.first), tested->getType());
        else
            result.start = nodes.binary(TSL_NODE_SUB, result.next, steps.step);
        result.step = steps.step;
        return true;
    }
    return false;
}

} // namespace kc
