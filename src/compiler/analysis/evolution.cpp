/*
 * What loops compute, by LLVM's ScalarEvolution. Its expressions have any number of bits; nodes have the next width of
 * the format, and of a narrower number the lower bits count until something looks at the others (clean).
 */
#include "compiler/analysis/accesses.hpp"

namespace kc
{

namespace
{

const char not_linear[] = "it changes from one iteration of a loop to the next, not by a fixed step";

/* How many numbers are added; of 0 none. */
unsigned terms(const llvm::SCEV &sum)
{
    auto *several = llvm::dyn_cast<llvm::SCEVAddExpr>(&sum);

    return several ? several->getNumOperands() : !sum.isZero();
}

} // namespace

/* The whole node means the number. */
uint32_t Accesses::clean(const llvm::SCEV *expression, bool is_signed)
{
    auto bits = (unsigned)evolution.getTypeSizeInBits(expression->getType());
    uint32_t node = of(expression);
    unsigned whole = nodes.bits(node);
    int64_t half = bits < 64 ? INT64_C(1) << (bits - 1) : 0;

    if (bits == whole)
        return node;
    if (is_signed)
        node = nodes.plus(node, half);
    node = nodes.binary(TSL_NODE_UREM, node, nodes.constant(whole, 2 * half));
    return is_signed ? nodes.plus(node, -half) : node;
}

/* A sampler is a number in a pointer's place. */
uint32_t Accesses::of_pointer(const llvm::SCEV *pointer, unsigned bits)
{
    auto *value = llvm::dyn_cast<llvm::SCEVUnknown>(pointer);
    auto *argument = value ? llvm::dyn_cast<llvm::Argument>(value->getValue()) : nullptr;

    if (argument && bits == 64 && facts.args[argument->getArgNo()].kind == TSL_FACT_SAMPLER)
        return nodes.leaf(TSL_NODE_SCALAR, 64, argument->getArgNo());
    return nodes.unknown(bits, "a pointer is taken for a number");
}

uint32_t Accesses::of_cut(const llvm::SCEVCastExpr &cut, unsigned bits)
{
    auto *value = llvm::dyn_cast<llvm::SCEVUnknown>(cut.getOperand());

    return value ? lower_bits(value->getValue(), bits) : nodes.trunc(of(cut.getOperand()), bits);
}

/* Of a number's lower bits, which are a remainder. */
uint32_t Accesses::of_extension(const llvm::SCEV *operand, unsigned bits)
{
    auto narrow = (unsigned)evolution.getTypeSizeInBits(operand->getType());
    auto *cut = llvm::dyn_cast<llvm::SCEVTruncateExpr>(operand);
    uint32_t node;

    if (!cut || narrow == legal_bits(narrow) || narrow > 62)
        return nodes.zext(clean(operand, false), bits);
    node = of(cut->getOperand());
    node = nodes.binary(TSL_NODE_UREM, node, nodes.constant(nodes.bits(node), INT64_C(1) << narrow));
    return nodes.bits(node) < bits ? nodes.zext(node, bits) : nodes.trunc(node, bits);
}

uint32_t Accesses::of(const llvm::SCEV *expression)
{
    auto key = std::make_pair(expression, scope);
    auto known = expressions.find(key);
    unsigned bits = expression->getType()->isIntegerTy() ? legal_bits(expression->getType()->getIntegerBitWidth()) : 0;
    uint32_t node;

    if (known != expressions.end())
        return known->second;
    if (!bits || depth > 400)
        return nodes.unknown(bits ? bits : 64, "its numbers are too wide, or it takes too many steps to compute");
    depth++;
    switch (expression->getSCEVType()) {
    case llvm::scConstant:
        node = nodes.constant(bits, llvm::cast<llvm::SCEVConstant>(expression)->getAPInt().getSExtValue());
        break;
    case llvm::scTruncate:
        node = of_cut(*llvm::cast<llvm::SCEVCastExpr>(expression), bits);
        break;
    case llvm::scZeroExtend:
        node = of_extension(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand(), bits);
        break;
    case llvm::scSignExtend:
        node = nodes.sext(clean(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand(), true), bits);
        break;
    case llvm::scAddExpr:
    case llvm::scMulExpr:
        node = of_sum(*llvm::cast<llvm::SCEVNAryExpr>(expression), bits);
        break;
    case llvm::scUDivExpr: {
        auto *division = llvm::cast<llvm::SCEVUDivExpr>(expression);
        uint32_t a = clean(division->getLHS(), false);

        node = nodes.binary(TSL_NODE_UDIV, a, clean(division->getRHS(), false));
        break;
    }
    case llvm::scAddRecExpr:
        node = of_recurrence(*llvm::cast<llvm::SCEVAddRecExpr>(expression), bits);
        break;
    case llvm::scUMaxExpr:
    case llvm::scSMaxExpr:
    case llvm::scUMinExpr:
    case llvm::scSMinExpr:
    case llvm::scSequentialUMinExpr:
        node = of_extreme(*llvm::cast<llvm::SCEVNAryExpr>(expression), bits);
        break;
    case llvm::scUnknown:
        node = of(llvm::cast<llvm::SCEVUnknown>(expression)->getValue());
        break;
    case llvm::scPtrToInt:
        node = of_pointer(llvm::cast<llvm::SCEVCastExpr>(expression)->getOperand(), bits);
        break;
    default:
        node = nodes.unknown(bits, "it is computed in a way that isn't followed");
    }
    depth--;
    expressions[key] = node;
    return node;
}

/* Of -b * (a / b) the quotient, or nullptr. */
const llvm::SCEVUDivExpr *Accesses::subtracted_quotient(const llvm::SCEV *operand)
{
    auto *product = llvm::dyn_cast<llvm::SCEVMulExpr>(operand);

    for (unsigned i = 0; product && i < product->getNumOperands(); i++) {
        auto *division = llvm::dyn_cast<llvm::SCEVUDivExpr>(product->getOperand(i));

        if (division && product == evolution.getMulExpr(evolution.getNegativeSCEV(division->getRHS()), division))
            return division;
    }
    return nullptr;
}

/* a + -b * (a / b), as remainders are written, and what is added to it; a may be a sum itself. no_node: it is none. */
uint32_t Accesses::of_remainder(const llvm::SCEVNAryExpr &sum, unsigned bits)
{
    if (sum.getSCEVType() != llvm::scAddExpr || bits != evolution.getTypeSizeInBits(sum.getType()))
        return no_node;
    for (const llvm::SCEV *operand : sum.operands()) {
        const llvm::SCEVUDivExpr *division = subtracted_quotient(operand);
        const llvm::SCEV *whole, *added;

        if (!division)
            continue;
        whole = division->getLHS();
        added = evolution.getMinusSCEV(evolution.getMinusSCEV(&sum, operand), whole);
        if (terms(*added) + 1 >= sum.getNumOperands())
            continue;
        uint32_t remainder = of(whole);

        remainder = nodes.binary(TSL_NODE_UREM, remainder, of(division->getRHS()));
        return nodes.binary(TSL_NODE_ADD, remainder, of(added));
    }
    return no_node;
}

/* Sums and products. What is subtracted is written so. */
uint32_t Accesses::of_sum(const llvm::SCEVNAryExpr &sum, unsigned bits)
{
    bool product = sum.getSCEVType() == llvm::scMulExpr;
    uint32_t node = of_remainder(sum, bits);

    if (node != no_node)
        return node;
    node = nodes.constant(bits, product);
    for (const llvm::SCEV *operand : sum.operands()) {
        auto *factors = llvm::dyn_cast<llvm::SCEVMulExpr>(operand);
        bool minus = !product && factors && factors->getOperand(0)->isAllOnesValue();

        if (minus)
            node = nodes.binary(TSL_NODE_SUB, node, of(evolution.getNegativeSCEV(operand)));
        else
            node = nodes.binary(product ? TSL_NODE_MUL : TSL_NODE_ADD, node, of(operand));
    }
    return node;
}

uint32_t Accesses::of_extreme(const llvm::SCEVNAryExpr &extreme, unsigned bits)
{
    unsigned type = extreme.getSCEVType();
    bool is_signed = type == llvm::scSMaxExpr || type == llvm::scSMinExpr;
    tsl_node_op op = type == llvm::scUMaxExpr   ? TSL_NODE_UMAX
                     : type == llvm::scSMaxExpr ? TSL_NODE_SMAX
                     : type == llvm::scSMinExpr ? TSL_NODE_SMIN
                                                : TSL_NODE_UMIN;
    uint32_t node = no_node;

    for (const llvm::SCEV *operand : extreme.operands()) {
        uint32_t one = clean(operand, is_signed);

        node = node == no_node ? one : nodes.binary(op, node, one);
    }
    return nodes.bits(node) == bits ? node : nodes.unknown(bits, not_linear);
}

/* start + step * counter, which wraps as the number does. */
uint32_t Accesses::of_recurrence(const llvm::SCEVAddRecExpr &recurrence, unsigned bits)
{
    auto *loop = const_cast<llvm::Loop *>(recurrence.getLoop());
    uint32_t step, start, n;

    if (!recurrence.isAffine())
        return nodes.unknown(bits, not_linear);
    n = scope && loop->contains(scope) ? counter(loop) : no_node;
    if (n == no_node)
        return nodes.unknown(bits, "it is computed by a loop");
    start = of(recurrence.getStart());
    step = of(recurrence.getStepRecurrence(evolution));
    return nodes.binary(TSL_NODE_ADD, nodes.binary(TSL_NODE_MUL, nodes.trunc(n, bits), step), start);
}

/* A value by what LLVM knows of it, where it isn't one of the format's own. */
uint32_t Accesses::from_evolution(llvm::Value *value)
{
    const llvm::SCEV *expression = evolution.getSCEV(value);

    if (llvm::isa<llvm::SCEVUnknown>(expression))
        return not_known(value, "it is computed in a way that isn't followed");
    return of(expression);
}

/* ---- Where values meet ------------------------------------------------------------------------------------------- */

uint32_t Accesses::of_carried(llvm::PHINode &phi, llvm::Loop &loop)
{
    const llvm::SCEV *known =
        scope && loop.contains(scope) ? evolution.getSCEV(&phi) : evolution.getSCEVAtScope(&phi, scope);

    if (llvm::isa<llvm::SCEVUnknown>(known) || llvm::isa<llvm::SCEVCouldNotCompute>(known)) {
        uint32_t node = bits_of(phi.getType()) ? by_steps(phi, bits_of(phi.getType())) : no_node;

        return node == no_node ? not_known(&phi, not_linear) : node;
    }
    return of(known);
}

namespace
{

/* Does it but decide where control goes? That is undefined where the value is. */
bool is_condition(const llvm::PHINode &phi)
{
    return phi.getType()->isIntegerTy(1) &&
           llvm::all_of(phi.users(), [](const llvm::User *user) { return llvm::isa<llvm::BranchInst>(user); });
}

} // namespace

/* The last of the values, or one of those before where its way was taken. */
uint32_t Accesses::of_merged(llvm::PHINode &phi)
{
    unsigned n = phi.getNumIncomingValues();
    bool decides = is_condition(phi);
    uint32_t node = no_node;

    if (n == 1)
        return of(phi.getIncomingValue(0));
    if (n > 8)
        return not_known(&phi, "it has too many values to choose from");
    for (unsigned i = n; i-- > 0;) {
        if (decides && llvm::isa<llvm::UndefValue>(phi.getIncomingValue(i)))
            continue;
        uint32_t value = of(phi.getIncomingValue(i)), way;

        if (node == no_node)
            node = value;
        if (value == node)
            continue;
        way = edge(phi.getIncomingBlock(i), phi.getParent());
        if (way == no_node)
            return not_known(&phi, "it depends on conditions that aren't followed");
        node = nodes.select(way, value, node);
    }
    return node == no_node ? not_known(&phi, "it has no value") : node;
}

uint32_t Accesses::of_phi(llvm::PHINode &phi)
{
    llvm::Loop *loop = loops.getLoopFor(phi.getParent());

    return loop && loop->getHeader() == phi.getParent() ? of_carried(phi, *loop) : of_merged(phi);
}

} // namespace kc
