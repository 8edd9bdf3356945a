/*
 * How often loops run. LLVM knows it of most. Where the step is no constant (for (i = gid; i < n; i += gsize)) LLVM
 * says nothing, as it might wrap; then, and where the start depends on the work-item, a loop is told by how often it
 * runs for the lowest start, and by its own condition, which is looked at with the numbers of the launch, where
 * wrapping is seen.
 */
#include "compiler/analysis/accesses.hpp"

namespace kc
{

uint32_t Accesses::counter(llvm::Loop *loop)
{
    uint32_t index = loop_of(loop).index;

    return index == no_node ? no_node : nodes.leaf(TSL_NODE_COUNTER, 64, index);
}

/* One more than the way back is taken, in 64 bits. x - 1 ways back are x iterations, where x isn't 0. */
uint32_t Accesses::count_of(llvm::Loop &loop, const llvm::SCEV *taken)
{
    const llvm::SCEV *more = evolution.getAddExpr(taken, evolution.getOne(taken->getType()));
    bool wraps =
        !evolution.isKnownNonZero(more) &&
        !evolution.isLoopEntryGuardedByCond(&loop, llvm::CmpInst::ICMP_NE, more, evolution.getZero(more->getType()));
    uint32_t node = clean(wraps ? taken : more, false);

    node = nodes.zext(node, 64);
    return wraps ? nodes.plus(node, 1) : node;
}

bool Accesses::count_by_evolution(llvm::Loop &loop, LoopFacts &result)
{
    const llvm::SCEV *taken = evolution.getBackedgeTakenCount(&loop);
    bool exact = !llvm::isa<llvm::SCEVCouldNotCompute>(taken);

    if (!exact)
        taken = evolution.getSymbolicMaxBackedgeTakenCount(&loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(taken))
        taken = evolution.getConstantMaxBackedgeTakenCount(&loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(taken) || evolution.getTypeSizeInBits(taken->getType()) > 64)
        return false;
    result.count = count_of(loop, taken);
    result.exact = exact;
    if (!nodes.has_unknown(result.count))
        return true;
    result.count = no_node;
    result.exact = false;
    return false;
}

bool Accesses::is_size(uint32_t node)
{
    const tsl_node n = nodes[node];

    switch (n.op) {
    case TSL_NODE_GLOBAL_SIZE:
    case TSL_NODE_LOCAL_SIZE:
    case TSL_NODE_GROUP_SIZE:
    case TSL_NODE_NUM_GROUPS:
        return true;
    case TSL_NODE_CONSTANT:
        return n.value >= 0;
    case TSL_NODE_ZEXT:
    case TSL_NODE_SEXT:
    case TSL_NODE_TRUNC:
        return is_size(n.a);
    case TSL_NODE_MUL:
    case TSL_NODE_ADD:
        return is_size(n.a) && is_size(n.b);
    default:
        return false;
    }
}

/* The expression for the first work-item, and the first iterations of loops, where it grows with all of them. no_node:
 * that isn't seen. */
uint32_t Accesses::lowest(uint32_t node, unsigned steps)
{
    const tsl_node n = nodes[node];
    uint32_t a, b;

    if (!nodes.has_ids(node) && !nodes.counters(node))
        return nodes.has_unknown(node) ? no_node : node;
    if (steps > 32)
        return no_node;
    switch (n.op) {
    case TSL_NODE_GLOBAL_ID:
        return nodes.leaf(TSL_NODE_GLOBAL_OFFSET, 64, n.a);
    case TSL_NODE_LOCAL_ID:
    case TSL_NODE_GROUP_ID:
    case TSL_NODE_COUNTER:
        return nodes.constant(64, 0);
    case TSL_NODE_ZEXT:
    case TSL_NODE_SEXT:
    case TSL_NODE_TRUNC:
        a = lowest(n.a, steps + 1);
        if (a == no_node)
            return a;
        return n.op == TSL_NODE_ZEXT   ? nodes.zext(a, n.bits)
               : n.op == TSL_NODE_SEXT ? nodes.sext(a, n.bits)
                                       : nodes.trunc(a, n.bits);
    case TSL_NODE_ADD:
        a = lowest(n.a, steps + 1);
        b = a == no_node ? a : lowest(n.b, steps + 1);
        return b == no_node ? b : nodes.binary(TSL_NODE_ADD, a, b);
    case TSL_NODE_SUB:
        a = nodes.has_ids(n.b) || nodes.counters(n.b) || nodes.has_unknown(n.b) ? no_node : lowest(n.a, steps + 1);
        return a == no_node ? a : nodes.binary(TSL_NODE_SUB, a, n.b);
    case TSL_NODE_MUL: {
        uint32_t size = is_size(n.b) ? n.b : n.a;

        if (!is_size(size))
            return no_node;
        a = lowest(size == n.b ? n.a : n.b, steps + 1);
        return a == no_node ? a : nodes.binary(TSL_NODE_MUL, a, size);
    }
    default:
        return no_node;
    }
}

bool Accesses::condition_of(llvm::Loop &loop, Condition &result)
{
    llvm::BasicBlock *latch = loop.getLoopLatch();
    auto *branch =
        latch && loop.isLoopExiting(latch) ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
    auto *test = branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
    unsigned bits = test && test->getOperand(0)->getType()->isIntegerTy()
                        ? test->getOperand(0)->getType()->getIntegerBitWidth()
                        : 0;
    unsigned counted;

    if (bits < 8 || legal_bits(bits) != bits)
        return false;
    result.predicate = branch->getSuccessor(0) == loop.getHeader() ? test->getPredicate() : test->getInversePredicate();
    counted = evolution.isLoopInvariant(evolution.getSCEV(test->getOperand(0)), &loop);
    if (counted)
        result.predicate = llvm::CmpInst::getSwappedPredicate(result.predicate);
    result.last = evolution.getSCEV(test->getOperand(1 - counted));
    if (!evolution.isLoopInvariant(result.last, &loop))
        return false;
    result.bound = of(test->getOperand(1 - counted));
    auto *next = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(test->getOperand(counted)));

    if (!next)
        return condition_by_steps(loop, test->getOperand(counted), result);
    if (next->getLoop() != &loop || !next->isAffine())
        return false;
    result.first = evolution.getMinusSCEV(next->getStart(), next->getStepRecurrence(evolution));
    result.start = of(result.first);
    result.step = of(next->getStepRecurrence(evolution));
    result.never_wraps =
        llvm::CmpInst::isSigned(result.predicate) ? next->hasNoSignedWrap() : next->hasNoUnsignedWrap();
    return true;
}

/* Is the iteration of this counter one of those that there are? The first one is, whatever the condition says. */
uint32_t Accesses::running(uint32_t index, const Condition &condition)
{
    uint32_t n = nodes.leaf(TSL_NODE_COUNTER, 64, index);
    uint32_t there = nodes.binary(TSL_NODE_MUL, nodes.trunc(n, nodes.bits(condition.step)), condition.step);

    there = compare(condition.predicate, nodes.binary(TSL_NODE_ADD, there, condition.start), condition.bound);
    if (condition.from_first)
        return there;
    return nodes.binary(TSL_NODE_OR, there, nodes.binary(TSL_NODE_EQ, n, nodes.constant(64, 0)));
}

/* Doesn't what is counted wrap before it comes to the bound, of which nothing is beyond? bound, step: in 64 bits. */
uint32_t Accesses::ends(const Condition &condition, uint32_t bound, uint32_t step)
{
    bool is_signed = llvm::CmpInst::isSigned(condition.predicate);
    unsigned bits = nodes.bits(condition.step);
    uint64_t beyond = bits == 64 && !is_signed ? 0 : UINT64_C(1) << (bits - is_signed);

    if (condition.never_wraps)
        return nodes.constant(1, 1);
    return nodes.binary(is_signed ? TSL_NODE_SLE : TSL_NODE_ULE, bound,
                        nodes.binary(TSL_NODE_SUB, nodes.constant(64, (int64_t)(beyond - 1)), nodes.plus(step, -1)));
}

/* (bound - lowest start + step - 1) / step iterations. Where the first one isn't asked for, it and as many as follow.
 */
uint32_t Accesses::most(const Condition &condition)
{
    bool is_signed = llvm::CmpInst::isSigned(condition.predicate);
    uint32_t low = condition.start, lower, bound, step, span;
    auto wide = [&](uint32_t node) { return is_signed ? nodes.sext(node, 64) : nodes.zext(node, 64); };

    if (!condition.from_first)
        low = nodes.binary(TSL_NODE_ADD, low, condition.step);
    lower = lowest(low, 0);
    low = wide(lower == no_node ? low : lower);
    step = nodes.sext(condition.step, 64);
    bound = wide(condition.bound);
    if (llvm::CmpInst::isNonStrictPredicate(condition.predicate))
        bound = nodes.plus(bound, 1);
    bound = nodes.binary(is_signed ? TSL_NODE_SMAX : TSL_NODE_UMAX, bound, nodes.plus(low, condition.from_first));
    span = nodes.plus(nodes.binary(TSL_NODE_ADD, nodes.binary(TSL_NODE_SUB, bound, low), step), -1);
    span = nodes.plus(nodes.binary(TSL_NODE_UDIV, span, step), !condition.from_first);
    return nodes.select(nodes.binary(TSL_NODE_AND, nodes.binary(TSL_NODE_SLT, nodes.constant(64, 0), step),
                                     ends(condition, bound, step)),
                        span, nodes.unknown(64, "a loop goes backwards, or its numbers wrap"));
}

/* Upwards to a bound. */
bool Accesses::count_by_condition(llvm::Loop &loop, LoopFacts &result)
{
    Condition condition;

    if (!condition_of(loop, condition) || !llvm::CmpInst::isRelational(condition.predicate) ||
        nodes.has_unknown(condition.start) || nodes.has_unknown(condition.step) || nodes.has_unknown(condition.bound))
        return false;
    if (!llvm::ICmpInst::isLT(condition.predicate) && !llvm::ICmpInst::isLE(condition.predicate))
        return false;
    condition.from_first =
        evolution.isLoopEntryGuardedByCond(&loop, condition.predicate, condition.first, condition.last);
    result.count = most(condition);
    if (nodes[result.count].op == TSL_NODE_UNKNOWN)
        return false;
    result.running = running(result.index, condition);
    result.exact = loop.getExitingBlock() != nullptr; /* nor does it end otherwise */
    return true;
}

void Accesses::count(llvm::Loop &loop, LoopFacts &result)
{
    bool known = count_by_evolution(loop, result);

    if (known && !nodes.has_ids(result.count))
        return;
    LoopFacts other = {result.index, no_node, false, no_node};
    Condition condition;

    /* One by one the count itself says as much. */
    if (known && (!condition_of(loop, condition) || nodes.is_constant(condition.step, 1)))
        return;
    if (count_by_condition(loop, other) && (other.exact || !result.exact))
        result = other;
}

LoopFacts Accesses::loop_of(llvm::Loop *loop)
{
    auto known = loop_facts.find(loop);
    llvm::Loop *before = scope;
    LoopFacts result = {no_node, no_node, false, no_node};

    if (known != loop_facts.end())
        return known->second;
    if (more_loops.size() < most_loops) {
        result.index = (uint32_t)more_loops.size();
        more_loops.push_back(result);
        loop_facts[loop] = result; /* its count doesn't depend on its counter */
        scope = loop->getParentLoop();
        count(*loop, result);
        scope = before;
        more_loops[result.index] = result;
    }
    return loop_facts[loop] = result;
}

} // namespace kc
