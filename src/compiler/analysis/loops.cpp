/*
 * How often loops run. LLVM knows it of most. Where the step is no constant (for (i = gid; i < n; i += gsize)) LLVM
 * says nothing, as it might wrap; then, and where the start depends on the work-item, a loop is told by how often it
 * runs for the lowest start, and by its own condition, which is looked at with the numbers of the launch, where
 * wrapping is seen.
 */
#include "compiler/analysis/accesses.hpp"

#include <llvm/IR/PatternMatch.h>

namespace kc
{

uint32_t Accesses::counter(llvm::Loop *loop)
{
    uint32_t index = loop_of(loop).index;

    return index == no_node ? no_node : nodes.leaf(TSL_NODE_COUNTER, 64, index);
}

/* One more than the way back is taken, in 64 bits. x - 1 ways back are x iterations, where x isn't 0. Where 64 bits
 * have no room for one more, the way back is taken nearly for ever. Is it taken so where x is 0 alone, that is told; a
 * distance that may be negative gives no count: no_node. Of several ends the others serve then, and the count isn't
 * complete. */
uint32_t Accesses::count_of(llvm::Loop &loop, const llvm::SCEV *taken, bool &complete)
{
    const llvm::SCEV *more = evolution.getAddExpr(taken, evolution.getOne(taken->getType()));
    bool wraps =
        !evolution.isKnownNonZero(more) &&
        !evolution.isLoopEntryGuardedByCond(&loop, llvm::CmpInst::ICMP_NE, more, evolution.getZero(more->getType()));

    if (!wraps)
        return nodes.zext(clean(more, false), 64);
    if (evolution.getTypeSizeInBits(taken->getType()) < 64)
        return nodes.plus(nodes.zext(clean(taken, false), 64), 1);
    if (evolution.isKnownNonNegative(more)) {
        uint32_t count = clean(more, false), zero = nodes.constant(64, 0);

        return nodes.select(nodes.binary(TSL_NODE_NE, count, zero), count, nodes.constant(64, INT64_MAX));
    }
    if (!llvm::isa<llvm::SCEVUMinExpr, llvm::SCEVSequentialUMinExpr>(taken)) {
        complete = false;
        return no_node;
    }
    uint32_t least = no_node;
    for (const llvm::SCEV *end : llvm::cast<llvm::SCEVNAryExpr>(taken)->operands()) {
        uint32_t count = count_of(loop, end, complete);
        if (count != no_node)
            least = least == no_node ? count : nodes.binary(TSL_NODE_UMIN, least, count);
    }
    return least;
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
    result.exact = exact;
    result.count = count_of(loop, taken, result.exact);
    if (result.count != no_node && !nodes.has_unknown(result.count))
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

namespace
{

/* From one iteration that there is to the next. */
bool wraps_never(const llvm::SCEVAddRecExpr &numbers, const Condition &condition)
{
    return llvm::CmpInst::isSigned(condition.predicate) ? numbers.hasNoSignedWrap() : numbers.hasNoUnsignedWrap();
}

} // namespace

/* What the tested number is at first, what it is a step before, and the step. */
bool Accesses::counted_of(llvm::Loop &loop, llvm::Value *tested, Condition &result)
{
    auto *next = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(tested));

    if (!next)
        return condition_by_steps(loop, tested, result);
    if (next->getLoop() != &loop || !next->isAffine())
        return false;
    result.first = evolution.getMinusSCEV(next->getStart(), next->getStepRecurrence(evolution));
    result.start = of(result.first);
    result.next = of(next->getStart());
    result.step = of(next->getStepRecurrence(evolution));
    result.never_wraps =
        wraps_never(*next, result) &&
        wraps_never(*llvm::cast<llvm::SCEVAddRecExpr>(evolution.getAddRecExpr(
                        result.first, next->getStepRecurrence(evolution), &loop, llvm::SCEV::FlagAnyWrap)),
                    result);
    return true;
}

/* One by one up or down until it is the bound: how far it is from the start counts instead. */
void Accesses::count_until(Condition &result)
{
    bool rises = nodes.is_constant(result.step, 1);
    unsigned bits = nodes.bits(result.step);
    uint32_t zero = nodes.constant(bits, 0);

    if (result.predicate != llvm::CmpInst::ICMP_NE || (!rises && !nodes.is_constant(result.step, -1)))
        return;
    result.bound = rises ? nodes.binary(TSL_NODE_SUB, result.bound, result.start)
                         : nodes.binary(TSL_NODE_SUB, result.start, result.bound);
    result.start = zero;
    result.next = result.step = nodes.constant(bits, 1);
    result.never_wraps = true;
    result.predicate = llvm::CmpInst::ICMP_ULT;
    result.ends = nodes.binary(TSL_NODE_NE, result.bound, zero);
}

/* What a comparison that is made in each iteration says of the next one, which there is only if it comes out as
 * `holds`. False: nothing that counts. */
bool Accesses::condition_of(llvm::Loop &loop, llvm::ICmpInst &test, bool holds, Condition &result)
{
    llvm::Type *type = test.getOperand(0)->getType();
    unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
    unsigned counted;

    if (bits < 8 || legal_bits(bits) != bits)
        return false;
    result.predicate = holds ? test.getPredicate() : test.getInversePredicate();
    counted = evolution.isLoopInvariant(evolution.getSCEV(test.getOperand(0)), &loop);
    if (counted)
        result.predicate = llvm::CmpInst::getSwappedPredicate(result.predicate);
    result.last = evolution.getSCEV(test.getOperand(1 - counted));
    if (!evolution.isLoopInvariant(result.last, &loop))
        return false;
    result.bound = of(test.getOperand(1 - counted));
    result.ends = nodes.constant(1, 1);
    result.at_first = result.predicate;
    if (!counted_of(loop, test.getOperand(counted), result))
        return false;
    count_until(result);
    return true;
}

/* Takes `a && b` apart. False: something that doesn't count decides, too. */
bool Accesses::conditions_in(llvm::Loop &loop, llvm::Value *test, bool holds, Conditions &result)
{
    namespace match = llvm::PatternMatch;
    llvm::Value *a, *b;

    if (match::match(test, match::m_Not(match::m_Value(a))))
        return conditions_in(loop, a, !holds, result);
    if (holds ? match::match(test, match::m_LogicalAnd(match::m_Value(a), match::m_Value(b)))
              : match::match(test, match::m_LogicalOr(match::m_Value(a), match::m_Value(b)))) {
        bool all = conditions_in(loop, a, holds, result);

        return conditions_in(loop, b, holds, result) && all;
    }
    auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(test);
    Condition one;

    if (!comparison || result.size() == most_conditions || !condition_of(loop, *comparison, holds, one))
        return false;
    result.push_back(one);
    return true;
}

/* Of all exits that each iteration comes by. False: the loop may end otherwise. */
bool Accesses::conditions_of(llvm::Loop &loop, Conditions &result)
{
    llvm::SmallVector<llvm::BasicBlock *, 4> exiting;
    llvm::BasicBlock *latch = loop.getLoopLatch();
    bool all = latch != nullptr;

    loop.getExitingBlocks(exiting);
    for (llvm::BasicBlock *block : exiting) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());

        all = latch && branch && dominators.dominates(block, latch) &&
              conditions_in(loop, branch->getCondition(), loop.contains(branch->getSuccessor(0)), result) && all;
    }
    return all;
}

/* As the comparison takes it. */
uint32_t Accesses::wide(const Condition &condition, uint32_t node)
{
    return llvm::CmpInst::isSigned(condition.predicate) ? nodes.sext(node, 64) : nodes.zext(node, 64);
}

/* Is the iteration of this counter one of those that there are? The first one is, whatever the condition says. */
uint32_t Accesses::running(uint32_t index, const Condition &condition)
{
    uint32_t never = nodes.opposite(condition.ends), n = nodes.leaf(TSL_NODE_COUNTER, 64, index), there;

    if (condition.narrow) {
        there = nodes.binary(TSL_NODE_MUL, nodes.trunc(n, nodes.bits(condition.step)), condition.step);
        return compare(condition.predicate, nodes.binary(TSL_NODE_ADD, there, condition.start), condition.bound);
    }
    there = nodes.binary(TSL_NODE_MUL, condition.from_first ? n : nodes.plus(n, -1), nodes.sext(condition.step, 64));
    there = nodes.binary(TSL_NODE_ADD, there, wide(condition, condition.from_first ? condition.start : condition.next));
    there = compare(condition.predicate, there, wide(condition, condition.bound));
    if (!condition.from_first)
        there = nodes.binary(TSL_NODE_OR, there, nodes.binary(TSL_NODE_EQ, n, nodes.constant(64, 0)));
    return nodes.binary(TSL_NODE_OR, never, there);
}

/* The largest number of which what is counted is one, in 64 bits; or its negative, if it falls. */
uint32_t Accesses::largest(const Condition &condition)
{
    bool is_signed = llvm::CmpInst::isSigned(condition.predicate);
    unsigned bits = nodes.bits(condition.step);
    uint64_t beyond = bits == 64 && !is_signed ? 0 : UINT64_C(1) << (bits - is_signed);

    if (condition.falls())
        beyond = is_signed ? beyond + 1 : 1;
    return nodes.constant(64, (int64_t)(beyond - 1));
}

uint32_t Accesses::at_most(const Condition &condition, uint32_t a, uint32_t b)
{
    bool is_signed = llvm::CmpInst::isSigned(condition.predicate) || condition.falls();

    return nodes.binary(is_signed ? TSL_NODE_SLE : TSL_NODE_ULE, a, b);
}

/* Do ids that are cut to fewer bits grow all the same? no_node: it isn't that simple. */
uint32_t Accesses::ids_fit(const Condition &condition, uint32_t start)
{
    unsigned bits = nodes.bits(start);
    tsl_node node = nodes[start];
    uint32_t most;

    while (node.op == TSL_NODE_ZEXT || node.op == TSL_NODE_SEXT || node.op == TSL_NODE_TRUNC) {
        bits = nodes.bits(node.a) < bits ? nodes.bits(node.a) : bits;
        node = nodes[node.a];
    }
    if (node.op == TSL_NODE_GLOBAL_ID)
        most = nodes.binary(TSL_NODE_ADD, nodes.leaf(TSL_NODE_GLOBAL_OFFSET, 64, node.a),
                            nodes.leaf(TSL_NODE_GLOBAL_SIZE, 64, node.a));
    else if (node.op == TSL_NODE_GROUP_ID)
        most = nodes.leaf(TSL_NODE_NUM_GROUPS, 64, node.a);
    else if (node.op == TSL_NODE_LOCAL_ID)
        most = nodes.constant(64, 0); /* no group is that large */
    else
        return no_node;
    bits = bits < nodes.bits(condition.step) ? bits : nodes.bits(condition.step);
    return bits < 32 ? no_node : at_most(condition, most, nodes.constant(64, INT64_C(1) << 31));
}

/* What the first work-items begin with, in 64 bits; of numbers that fall, what each does. Where starts wrap, the first
 * one isn't the lowest: then the condition doesn't end the loop. */
uint32_t Accesses::lowest_start(Condition &condition)
{
    uint32_t start = condition.from_first ? condition.start : condition.next, low, grows;

    low = condition.falls() ? no_node : lowest(start, 0);
    if (low == no_node || low == start)
        return wide(condition, start);
    grows = ids_fit(condition, start);
    if (grows == no_node)
        grows = at_most(condition, wide(condition, low), wide(condition, start));
    condition.ends = nodes.binary(TSL_NODE_AND, condition.ends, grows);
    return wide(condition, low);
}

/* (bound - lowest start + step - 1) / step iterations. Where the first one isn't asked for, it and as many as follow.
 * What falls is counted by its negative. Says when the condition ends the loop. */
uint32_t Accesses::most(Condition &condition)
{
    bool falls = condition.falls();
    auto upwards = [&](uint32_t node) {
        return falls ? nodes.binary(TSL_NODE_SUB, nodes.constant(64, 0), node) : node;
    };
    uint32_t low = upwards(lowest_start(condition)), step = upwards(nodes.sext(condition.step, 64)),
             bound = upwards(wide(condition, condition.bound)), last = largest(condition), span, beyond;
    uint32_t unknown = nodes.unknown(64, "a loop goes the other way, or its numbers wrap");

    if (llvm::CmpInst::isNonStrictPredicate(condition.predicate))
        bound = nodes.plus(bound, 1);
    bound = nodes.binary(llvm::CmpInst::isSigned(condition.predicate) || falls ? TSL_NODE_SMAX : TSL_NODE_UMAX, bound,
                         nodes.plus(low, condition.from_first));
    condition.ends =
        nodes.binary(TSL_NODE_AND, condition.ends, nodes.binary(TSL_NODE_SLT, nodes.constant(64, 0), step));
    if (!condition.never_wraps)
        condition.ends =
            nodes.binary(TSL_NODE_AND, condition.ends,
                         at_most(condition, bound, nodes.binary(TSL_NODE_SUB, last, nodes.plus(step, -1))));
    span = nodes.plus(nodes.binary(TSL_NODE_ADD, nodes.binary(TSL_NODE_SUB, bound, low), step), -1);
    span = nodes.plus(nodes.binary(TSL_NODE_UDIV, span, step), !condition.from_first);
    condition.narrow = condition.from_first && !falls && !nodes.is_true(condition.ends);
    if (condition.narrow && nodes.bits(condition.step) < 64) {
        /* Iterations that others have, but this work-item hasn't, may wrap. */
        beyond = nodes.binary(TSL_NODE_ADD, bound, nodes.binary(TSL_NODE_SUB, bound, low));
        span = nodes.select(at_most(condition, nodes.binary(TSL_NODE_ADD, beyond, step), last), span,
                            nodes.binary(TSL_NODE_UMIN, span, unknown));
    }
    return nodes.select(condition.ends, span, unknown);
}

/* Upwards or downwards to a bound. */
bool Accesses::count_by_condition(llvm::Loop &loop, Condition &condition, LoopFacts &result)
{
    uint32_t count, goes_on;

    if (!llvm::CmpInst::isRelational(condition.predicate) || nodes.has_unknown(condition.start) ||
        nodes.has_unknown(condition.step) || nodes.has_unknown(condition.bound) ||
        (condition.falls() && nodes.bits(condition.step) == 64))
        return false;
    condition.from_first = condition.first && evolution.isLoopEntryGuardedByCond(&loop, condition.at_first,
                                                                                 condition.first, condition.last);
    count = most(condition);
    if (nodes[count].op == TSL_NODE_UNKNOWN)
        return false;
    goes_on = running(result.index, condition);
    result.count = result.count == no_node ? count : nodes.binary(TSL_NODE_UMIN, result.count, count);
    result.running = result.running == no_node ? goes_on : nodes.binary(TSL_NODE_AND, result.running, goes_on);
    return true;
}

bool Accesses::count_by_conditions(llvm::Loop &loop, Conditions &conditions, LoopFacts &result)
{
    for (Condition &condition : conditions)
        result.exact &= count_by_condition(loop, condition, result);
    return result.count != no_node;
}

void Accesses::count(llvm::Loop &loop, LoopFacts &result)
{
    bool known = count_by_evolution(loop, result);
    Conditions conditions;

    if (known && result.exact && !nodes.has_ids(result.count))
        return;
    LoopFacts other = {result.index, no_node, conditions_of(loop, conditions), no_node};

    /* One by one the count itself says as much. */
    if (known && llvm::all_of(conditions, [&](const Condition &one) { return nodes.is_constant(one.step, 1); }))
        return;
    if (!count_by_conditions(loop, conditions, other) || (result.exact && !other.exact))
        return;
    if (known && !other.exact && !nodes.has_ids(result.count))
        other.count = nodes.binary(TSL_NODE_UMIN, other.count, result.count);
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
