/*
 * Kernels that are one loop, `for (i = get_global_id(0); i < n; i += get_global_size(0))`, each of whose iterations has
 * elements of its own: a launch of n work-items does what one of fewer does (footprint/format.h, `stride`).
 *
 * That holds where ids and sizes of the launch decide nothing but where i begins and how it goes on, and where an
 * iteration sees nothing of another one: no variable lives from one to the next, and memory that the loop writes is
 * read and written at x + c * i + d alone, less than c bytes from the first to behind the last. Whether two arguments
 * are one memory is seen at the launch.
 */
#include "compiler/analysis/accesses.hpp"

#include "compiler/workgroup/calls.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace kc
{

namespace
{

bool asks(const llvm::Instruction &at)
{
    enum kc_call call = kc_call_of(llvm::wrap(const_cast<llvm::Instruction *>(&at)));

    return call >= KC_CALL_LOCAL_ID && call <= KC_CALL_PLACES;
}

bool does_nothing(const llvm::Instruction &at)
{
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&at);

    return (call && call->isAssumeLikeIntrinsic()) ||
           kc_call_of(llvm::wrap(const_cast<llvm::Instruction *>(&at))) == KC_CALL_NOTHING;
}

/* A call whose result depends on its arguments alone, as far as ids go. */
bool is_blind(const llvm::CallInst &call)
{
    const llvm::Function *callee = call.getCalledFunction();

    if (!callee || callee->isDeclaration())
        return callee && !call.isConvergent();
    for (const llvm::BasicBlock &block : *callee)
        for (const llvm::Instruction &at : block)
            if (auto *inner = llvm::dyn_cast<llvm::CallInst>(&at); inner && !llvm::isa<llvm::IntrinsicInst>(inner))
                return false;
    return true;
}

/* The number without what changes no number of 31 bits: extensions, cuts, and the shifts and masks that stand for
 * them. */
llvm::Value *plain(llvm::Value *value)
{
    namespace match = llvm::PatternMatch;
    const llvm::APInt *left, *right;
    llvm::Value *inner;

    for (;; value = inner) {
        unsigned bits = value->getType()->isIntegerTy() ? value->getType()->getIntegerBitWidth() : 0;

        if (bits < 32)
            return value;
        if (match::match(value, match::m_ZExtOrSExt(match::m_Value(inner))) ||
            match::match(value, match::m_Trunc(match::m_Value(inner))))
            continue;
        if (match::match(value, match::m_Shr(match::m_Shl(match::m_Value(inner), match::m_APInt(left)),
                                             match::m_APInt(right))) &&
            *left == *right && left->ule(bits - 32))
            continue;
        if (!match::match(value, match::m_And(match::m_Value(inner), match::m_APInt(left))) || !left->isMask() ||
            left->countr_one() < 31)
            return value;
    }
}

/* c * i + d, and what other numbers add, from where an argument points. */
struct Element {
    const llvm::Argument *root = nullptr;
    bool counts = false; /* i is in it, once; the other numbers don't change in the loop */
    uint64_t scale = 0;
    int64_t offset = 0;
    std::vector<std::pair<llvm::Value *, int64_t>> others;
};

Element element_of(llvm::Value *pointer, const llvm::DataLayout &layout, const llvm::Loop &loop,
                   llvm::function_ref<bool(llvm::Value *)> is_number)
{
    unsigned bits = layout.getIndexTypeSizeInBits(pointer->getType());
    llvm::MapVector<llvm::Value *, llvm::APInt> variable;
    llvm::APInt constant(bits, 0);
    Element element;
    bool known = true;

    for (; auto *step = llvm::dyn_cast<llvm::GEPOperator>(pointer); pointer = step->getPointerOperand())
        known = known && step->collectOffset(layout, bits, variable, constant);
    element.root = llvm::dyn_cast<llvm::Argument>(pointer);
    element.offset = constant.getSExtValue();
    for (const auto &[value, scale] : variable) {
        if (!is_number(plain(value))) {
            known = known && loop.isLoopInvariant(value);
            element.others.emplace_back(value, scale.getSExtValue());
            continue;
        }
        known = known && !element.counts && scale.isStrictlyPositive();
        element.counts = true;
        element.scale = scale.getZExtValue();
    }
    llvm::sort(element.others);
    element.counts = element.counts && known;
    return element;
}

/* What is read and written of one argument's elements. */
struct Elements {
    uint64_t scale = 0;
    int64_t first = 0, end = 0;
    std::vector<std::pair<llvm::Value *, int64_t>> others;
    bool apart = true;

    void add(const Element &one, uint64_t size)
    {
        auto behind = one.offset + (int64_t)size;

        first = scale ? std::min(first, one.offset) : one.offset;
        end = scale ? std::max(end, behind) : behind;
        others = scale ? others : one.others;
        apart = apart && one.counts && (!scale || scale == one.scale) && others == one.others &&
                (uint64_t)(end - first) <= one.scale;
        scale = one.scale;
    }
};

/* The one loop of a kernel. */
class Stride
{
  public:
    Stride(llvm::Function &kernel, llvm::Loop &around, const llvm::DataLayout &data)
        : function(kernel), loop(around), layout(data)
    {
    }

    /* The loop's own shape: it is left at its end alone, and one number goes on, which may be there as several. */
    bool has_shape()
    {
        latch = loop.getLoopLatch();
        before = loop.getLoopPredecessor();
        if (!latch || !before || loop.getExitingBlock() != latch)
            return false;
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
        test = branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
        for (llvm::PHINode &phi : loop.getHeader()->phis())
            numbers.insert(&phi);
        for (llvm::PHINode *phi : numbers)
            if (!goes_on(plain(phi->getIncomingValueForBlock(latch))))
                return false;
        return test && test->hasOneUse() && !numbers.empty() && stay(nexts);
    }

    /* Goes on while `counted predicate bound`, as the branch at the loop's end has it. False: by something else. */
    bool condition(llvm::CmpInst::Predicate &predicate, llvm::Value *&bound) const
    {
        bool second = nexts.count(plain(test->getOperand(1)));
        auto *branch = llvm::cast<llvm::BranchInst>(latch->getTerminator());

        predicate = loop.contains(branch->getSuccessor(0)) ? test->getPredicate() : test->getInversePredicate();
        predicate = second ? llvm::CmpInst::getSwappedPredicate(predicate) : predicate;
        bound = test->getOperand(1 - second);
        return nexts.count(plain(test->getOperand(second))) && loop.isLoopInvariant(bound) &&
               (predicate == llvm::CmpInst::ICMP_SLT || predicate == llvm::CmpInst::ICMP_ULT);
    }

    /* Nothing has an effect but the loop's stores, and what its iterations do is seen by no other one. */
    bool is_apart()
    {
        for (llvm::BasicBlock &block : function)
            for (llvm::Instruction &at : block)
                if (!suits(at))
                    return false;
        return llvm::all_of(elements, [&](const auto &one) { return !written.count(one.first) || one.second.apart; });
    }

    /* Arguments of which each round has elements of its own, as bits. */
    uint64_t own_elements() const
    {
        uint64_t bits = 0;

        for (const auto &[argument, one] : elements)
            bits |= one.apart && argument->getArgNo() < 64 ? UINT64_C(1) << argument->getArgNo() : 0;
        return bits;
    }

    /* Ids and sizes decide where i begins and how it goes on, and nothing else; the first comparison is the caller's to
     * look at. */
    bool follows_ids(llvm::SmallVectorImpl<llvm::ICmpInst *> &comparisons)
    {
        llvm::SmallVector<llvm::Instruction *, 16> left;
        llvm::SmallPtrSet<llvm::Instruction *, 16> seen;

        for (llvm::BasicBlock &block : function)
            for (llvm::Instruction &at : block)
                if (asks(at))
                    left.push_back(&at);
        while (!left.empty()) {
            llvm::Instruction *at = left.pop_back_val();
            for (llvm::User *user : at->users())
                if (!follow(*llvm::cast<llvm::Instruction>(user), left, seen, comparisons))
                    return false;
        }
        return true;
    }

    llvm::BasicBlock *before = nullptr;
    llvm::SmallSetVector<llvm::PHINode *, 2> numbers;
    llvm::SmallSetVector<llvm::Value *, 2> steps; /* what is added to them */

  private:
    llvm::Function &function;
    llvm::Loop &loop;
    const llvm::DataLayout &layout;
    llvm::BasicBlock *latch = nullptr;
    llvm::ICmpInst *test = nullptr;
    llvm::SmallPtrSet<llvm::Value *, 2> nexts; /* the sums */
    llvm::DenseMap<const llvm::Argument *, Elements> elements;
    llvm::SmallPtrSet<const llvm::Argument *, 8> written;

    bool is_number(llvm::Value *value) const
    {
        auto *phi = llvm::dyn_cast<llvm::PHINode>(value);

        return phi && numbers.contains(phi);
    }

    bool goes_on(llvm::Value *next)
    {
        auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(next);

        if (!sum || sum->getOpcode() != llvm::Instruction::Add)
            return false;
        bool second = is_number(plain(sum->getOperand(1)));
        llvm::Value *step = plain(sum->getOperand(1 - second));
        nexts.insert(sum);
        steps.insert(step);
        auto *computed = llvm::dyn_cast<llvm::Instruction>(step);
        return is_number(plain(sum->getOperand(second))) && (!computed || loop.hasLoopInvariantOperands(computed));
    }

    /* Nothing uses the sums but the next iteration and the test. */
    bool stay(llvm::SmallPtrSet<llvm::Value *, 2> of)
    {
        llvm::SmallVector<llvm::Value *, 4> left(of.begin(), of.end());

        while (!left.empty())
            for (llvm::User *user : left.pop_back_val()->users()) {
                if (user == test || is_number(user))
                    continue;
                if (!llvm::isa<llvm::CastInst, llvm::BinaryOperator>(user) ||
                    (!nexts.count(plain(user)) &&
                     !llvm::all_of(user->users(), [&](llvm::User *next) { return nexts.count(plain(next)); })))
                    return false;
                left.push_back(user);
            }
        return true;
    }

    bool stays_inside(const llvm::Instruction &at) const
    {
        return !loop.contains(&at) || llvm::all_of(at.users(), [&](const llvm::User *user) {
            return loop.contains(llvm::cast<llvm::Instruction>(user));
        });
    }

    bool note(llvm::Value *pointer, llvm::Type *type, bool stores)
    {
        Element one = element_of(pointer, layout, loop, [&](llvm::Value *value) { return is_number(value); });

        if (!one.root) {
            auto *constant = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(pointer));
            return !stores && constant && constant->isConstant();
        }
        elements[one.root].add(one, layout.getTypeStoreSize(type).getFixedValue());
        if (stores)
            written.insert(one.root);
        return true;
    }

    bool suits(llvm::Instruction &at)
    {
        if (asks(at) || does_nothing(at))
            return true;
        if (llvm::isa<llvm::AllocaInst>(at) || !stays_inside(at))
            return false;
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&at))
            return load->isSimple() && note(load->getPointerOperand(), load->getType(), false);
        if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&at))
            return store->isSimple() && loop.contains(store) &&
                   note(store->getPointerOperand(), store->getValueOperand()->getType(), true);
        auto *call = llvm::dyn_cast<llvm::CallInst>(&at);
        return !at.mayReadOrWriteMemory() && !at.mayThrow() && (!call || is_blind(*call));
    }

    bool follow(llvm::Instruction &user, llvm::SmallVectorImpl<llvm::Instruction *> &left,
                llvm::SmallPtrSetImpl<llvm::Instruction *> &seen,
                llvm::SmallVectorImpl<llvm::ICmpInst *> &comparisons) const
    {
        if (is_number(&user) || nexts.count(&user) || !seen.insert(&user).second)
            return true;
        if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&user))
            return comparisons.push_back(comparison), !loop.contains(comparison);
        if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::FreezeInst>(user) ||
            (loop.contains(&user) && !loop.hasLoopInvariantOperands(&user) && !loop.isLoopInvariant(plain(&user))))
            return false;
        return left.push_back(&user), true;
    }
};

uint32_t without_casts(const Nodes &nodes, uint32_t node)
{
    while (nodes[node].op >= TSL_NODE_ZEXT && nodes[node].op <= TSL_NODE_TRUNC)
        node = nodes[node].a;
    return node;
}

bool is_leaf(const Nodes &nodes, uint32_t node, tsl_node_op op)
{
    node = without_casts(nodes, node);
    return nodes[node].op == op && nodes[node].a == 0;
}

bool is_size_of_group(const Nodes &nodes, uint32_t node)
{
    return is_leaf(nodes, node, TSL_NODE_LOCAL_SIZE) || is_leaf(nodes, node, TSL_NODE_GROUP_SIZE);
}

bool is_product(const Nodes &nodes, uint32_t node, tsl_node_op op)
{
    const tsl_node n = nodes[node = without_casts(nodes, node)];

    return n.op == TSL_NODE_MUL && ((is_leaf(nodes, n.a, op) && is_size_of_group(nodes, n.b)) ||
                                    (is_leaf(nodes, n.b, op) && is_size_of_group(nodes, n.a)));
}

/* get_global_id(0), of launches without an offset. */
bool is_id(const Nodes &nodes, uint32_t node)
{
    const tsl_node n = nodes[node = without_casts(nodes, node)];

    return is_leaf(nodes, node, TSL_NODE_GLOBAL_ID) ||
           (n.op == TSL_NODE_ADD &&
            ((is_product(nodes, n.a, TSL_NODE_GROUP_ID) && is_leaf(nodes, n.b, TSL_NODE_LOCAL_ID)) ||
             (is_product(nodes, n.b, TSL_NODE_GROUP_ID) && is_leaf(nodes, n.a, TSL_NODE_LOCAL_ID))));
}

bool is_span(const Nodes &nodes, uint32_t node)
{
    return is_leaf(nodes, node, TSL_NODE_GLOBAL_SIZE) || is_product(nodes, node, TSL_NODE_NUM_GROUPS);
}

} // namespace

/* Is it the loop's own condition, asked of the first number, without which the loop isn't entered? */
bool Accesses::is_entry(llvm::ICmpInst &comparison, const llvm::BasicBlock *before, llvm::CmpInst::Predicate asked,
                        uint32_t bound)
{
    auto *branch = comparison.hasOneUse() ? llvm::dyn_cast<llvm::BranchInst>(*comparison.user_begin()) : nullptr;
    llvm::CmpInst::Predicate predicate = comparison.getPredicate();

    if (!branch || branch->getSuccessor(0) == branch->getSuccessor(1))
        return false;
    const llvm::BasicBlock *block = branch->getParent(), *header = loops.getTopLevelLoops()[0]->getHeader();
    const llvm::BasicBlock *in = before == block ? header : before;
    if ((in != header && in->getSinglePredecessor() != block) ||
        (branch->getSuccessor(0) != in && branch->getSuccessor(1) != in))
        return false;
    if (branch->getSuccessor(0) != in)
        predicate = llvm::CmpInst::getInversePredicate(predicate);
    uint32_t a = of(comparison.getOperand(0)), b = of(comparison.getOperand(1));
    if (a == bound) {
        std::swap(a, b);
        predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    return predicate == asked && is_id(nodes, a) && b == bound;
}

void Accesses::find_stride()
{
    llvm::SmallVector<llvm::ICmpInst *, 2> comparisons;
    llvm::CmpInst::Predicate predicate;
    llvm::Value *last;

    if (flags || loops.getTopLevelLoops().size() != 1)
        return;
    Stride found(function, *loops.getTopLevelLoops()[0], layout);
    if (!found.has_shape() || !found.condition(predicate, last) || !found.is_apart() ||
        !found.follows_ids(comparisons) || comparisons.empty())
        return;
    scope = nullptr;
    uint32_t bound = of(last);
    bool suits = !nodes.has_ids(bound) && !nodes.has_unknown(bound) && !nodes.counters(bound);
    for (llvm::PHINode *number : found.numbers)
        suits = suits && is_id(nodes, of(number->getIncomingValueForBlock(found.before)));
    scope = loops.getTopLevelLoops()[0];
    for (llvm::Value *step : found.steps)
        suits = suits && is_span(nodes, of(step));
    scope = nullptr;
    for (llvm::ICmpInst *comparison : comparisons)
        suits = suits && is_entry(*comparison, found.before, predicate, bound);
    if (!suits)
        return;
    stride = llvm::CmpInst::isSigned(predicate) ? nodes.sext(bound, 64) : nodes.zext(bound, 64);
    stride_elements = found.own_elements();
}

} // namespace kc
