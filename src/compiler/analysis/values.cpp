/*
 * Instructions become expressions just as they compute: nothing is taken from flags (nsw, nuw), and nothing is
 * rearranged, so that whoever evaluates an expression sees each intermediate value.
 */
#include "compiler/analysis/accesses.hpp"

#include "compiler/workgroup/calls.h"

#include <llvm/IR/Constants.h>

namespace kc
{

namespace
{

constexpr unsigned deepest_value = 400;

} // namespace

unsigned bits_of(llvm::Type *type)
{
    unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;

    return legal_bits(bits) == bits ? bits : 0;
}

bool is_extreme(const llvm::CallInst &at)
{
    switch (at.getIntrinsicID()) {
    case llvm::Intrinsic::umin:
    case llvm::Intrinsic::umax:
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::smax:
    case llvm::Intrinsic::abs:
    case llvm::Intrinsic::usub_sat:
    case llvm::Intrinsic::uadd_sat:
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
        return true;
    default:
        return false;
    }
}

uint32_t line_of(const llvm::Instruction &at)
{
    const llvm::DebugLoc &place = at.getDebugLoc();

    return place ? place.getLine() : 0;
}

std::string with_line(const char *why, const llvm::Instruction &at)
{
    uint32_t line = line_of(at);

    return std::string(why) + (line ? " (line " + std::to_string(line) + ")" : "");
}

uint32_t Accesses::not_known(llvm::Value *value, const char *why)
{
    llvm::Type *type = value->getType();
    unsigned bits = type->isIntegerTy() ? legal_bits(type->getIntegerBitWidth()) : 64;
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);

    return nodes.unknown(bits ? bits : 64, at ? with_line(why, *at) : why);
}

uint32_t Accesses::of(llvm::Value *value)
{
    auto key = std::make_pair(value, scope);
    auto known = values.find(key);
    uint32_t node;

    if (known != values.end())
        return known->second;
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(value))
        return bits_of(value->getType()) ? nodes.constant(bits_of(value->getType()), number->getSExtValue())
                                         : from_evolution(value);
    if (auto *argument = llvm::dyn_cast<llvm::Argument>(value))
        return of_argument(*argument, 0, bits_of(value->getType()));
    auto *at = llvm::dyn_cast<llvm::Instruction>(value);
    if (!at || !value->getType()->isIntegerTy())
        return not_known(value, "it is made of no integers");
    if (depth > deepest_value)
        return not_known(value, "it takes too many steps to compute");
    values[key] = not_known(value, "it depends on itself"); /* until it is known */
    depth++;
    node = bits_of(value->getType()) ? of_instruction(*at) : from_evolution(value);
    depth--;
    values[key] = node;
    return node;
}

uint32_t Accesses::of_instruction(llvm::Instruction &at)
{
    if (auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&at))
        return of_binary(*binary);
    if (auto *cast = llvm::dyn_cast<llvm::CastInst>(&at))
        return of_cast(*cast);
    if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&at))
        return of_comparison(*comparison);
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&at))
        return of_phi(*phi);
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&at))
        return of_call(*call);
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&at))
        return of_load(*load);
    if (llvm::isa<llvm::FreezeInst>(at))
        return of(at.getOperand(0));
    if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(&at)) {
        uint32_t condition = of(choice->getCondition()), a = of(choice->getTrueValue());

        return nodes.select(condition, a, of(choice->getFalseValue()));
    }
    if (auto *element = llvm::dyn_cast<llvm::ExtractElementInst>(&at))
        if (auto *index = llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand()))
            return of_element(element->getVectorOperand(), (unsigned)index->getZExtValue());
    if (llvm::isa<llvm::FCmpInst>(at))
        return not_known(&at, "it depends on floating-point numbers");
    if (llvm::isa<llvm::AtomicRMWInst>(at) || llvm::isa<llvm::AtomicCmpXchgInst>(at))
        return not_known(&at, "it is the result of an atomic operation");
    return not_known(&at, "it is computed in a way that isn't followed");
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* no_node: it is none of these. */
uint32_t Accesses::operate(unsigned opcode, uint32_t a, uint32_t b)
{
    static const struct {
        unsigned code;
        tsl_node_op op;
    } operations[] = {{llvm::Instruction::Add, TSL_NODE_ADD},   {llvm::Instruction::Sub, TSL_NODE_SUB},
                      {llvm::Instruction::Mul, TSL_NODE_MUL},   {llvm::Instruction::Shl, TSL_NODE_SHL},
                      {llvm::Instruction::LShr, TSL_NODE_LSHR}, {llvm::Instruction::And, TSL_NODE_AND},
                      {llvm::Instruction::Or, TSL_NODE_OR},     {llvm::Instruction::Xor, TSL_NODE_XOR},
                      {llvm::Instruction::UDiv, TSL_NODE_UDIV}, {llvm::Instruction::SDiv, TSL_NODE_SDIV},
                      {llvm::Instruction::URem, TSL_NODE_UREM}, {llvm::Instruction::SRem, TSL_NODE_SREM},
                      {llvm::Instruction::AShr, TSL_NODE_ASHR}};

    for (const auto &one : operations)
        if (one.code == opcode)
            return nodes.binary(one.op, a, b);
    return no_node;
}

/* A number whose lowest `up` bits are 0, without these: of so many bits as are left. no_node: it is none. */
uint32_t Accesses::of_raised(llvm::Value *value, unsigned up)
{
    unsigned bits = value->getType()->getIntegerBitWidth();
    auto *at = llvm::dyn_cast<llvm::BinaryOperator>(value);
    auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);
    uint32_t a, b;

    if (number)
        return number->getValue().countTrailingZeros() < up
                   ? no_node
                   : nodes.constant(bits - up, number->getValue().ashr(up).getSExtValue());
    if (!at)
        return no_node;
    if (at->getOpcode() == llvm::Instruction::Shl) {
        auto *left = llvm::dyn_cast<llvm::ConstantInt>(at->getOperand(1));

        if (!left || left->getValue().ult(up) || left->getValue().uge(bits))
            return no_node;
        a = lower_bits(at->getOperand(0), bits - up);
        return nodes.times(a, (int64_t)(UINT64_C(1) << (left->getZExtValue() - up)));
    }
    if (at->getOpcode() != llvm::Instruction::Add && at->getOpcode() != llvm::Instruction::Sub &&
        at->getOpcode() != llvm::Instruction::Xor && at->getOpcode() != llvm::Instruction::Or &&
        at->getOpcode() != llvm::Instruction::And)
        return no_node;
    a = of_raised(at->getOperand(0), up);
    b = a == no_node ? a : of_raised(at->getOperand(1), up);
    return b == no_node ? b : operate(at->getOpcode(), a, b);
}

/* To the left and back again: the lower bits, as a signed number. */
uint32_t Accesses::of_shift(llvm::BinaryOperator &at)
{
    auto *back = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand(1));
    unsigned bits = at.getType()->getIntegerBitWidth();

    for (unsigned left = bits / 2; back && left >= 8 && back->getValue().ult(bits); left /= 2) {
        auto up = bits - left, down = (unsigned)back->getZExtValue();
        uint32_t node = of_raised(at.getOperand(0), up);

        if (node == no_node)
            continue;
        node = nodes.sext(node, bits);
        return down <= up ? nodes.times(node, (int64_t)(UINT64_C(1) << (up - down)))
                          : nodes.binary(TSL_NODE_ASHR, node, nodes.constant(bits, (int64_t)(down - up)));
    }
    return nodes.binary(TSL_NODE_ASHR, of(at.getOperand(0)), of(at.getOperand(1)));
}

/* Shifts by a constant are what they mean. Of bits that are put together LLVM knows whether they are a sum. */
uint32_t Accesses::of_binary(llvm::BinaryOperator &at)
{
    unsigned bits = nodes.bits(of(at.getOperand(0)));
    auto *number = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand(1));
    uint64_t shift = number ? number->getZExtValue() : bits;
    const llvm::SCEV *known;
    uint32_t a = of(at.getOperand(0)), b = of(at.getOperand(1));

    switch (at.getOpcode()) {
    case llvm::Instruction::Shl:
        return shift < bits ? nodes.times(a, (int64_t)(UINT64_C(1) << shift)) : nodes.binary(TSL_NODE_SHL, a, b);
    case llvm::Instruction::LShr:
        return shift < bits - 1 ? nodes.binary(TSL_NODE_UDIV, a, nodes.constant(bits, (int64_t)(UINT64_C(1) << shift)))
                                : nodes.binary(TSL_NODE_LSHR, a, b);
    case llvm::Instruction::AShr:
        return of_shift(at);
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
        known = bits > 1 ? evolution.getSCEV(&at) : nullptr;
        if (known && !llvm::isa<llvm::SCEVUnknown>(known))
            return of(known);
        break;
    default:
        break;
    }
    return operate(at.getOpcode(), a, b);
}

uint32_t Accesses::of_cast(llvm::CastInst &at)
{
    llvm::Type *from = at.getSrcTy();
    unsigned bits = at.getType()->getIntegerBitWidth();

    if (llvm::isa<llvm::PtrToIntInst>(at)) {
        const llvm::SCEV *number = evolution.getSCEV(&at);

        return llvm::isa<llvm::SCEVUnknown>(number) ? not_known(&at, "a pointer is taken for a number") : of(number);
    }
    if (from->isFPOrFPVectorTy())
        return not_known(&at, "it is made of floating-point numbers");
    if (!from->isIntegerTy())
        return not_known(&at, "it is made of a vector's bits");
    if (!bits_of(from))
        return from_evolution(&at);
    switch (at.getOpcode()) {
    case llvm::Instruction::ZExt:
        return nodes.zext(of(at.getOperand(0)), bits);
    case llvm::Instruction::SExt:
        return nodes.sext(of(at.getOperand(0)), bits);
    case llvm::Instruction::Trunc:
        return lower_bits(at.getOperand(0), bits);
    default:
        return of(at.getOperand(0));
    }
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------- */

uint32_t Accesses::compare(llvm::CmpInst::Predicate predicate, uint32_t a, uint32_t b)
{
    switch (predicate) {
    case llvm::CmpInst::ICMP_EQ:
        return nodes.binary(TSL_NODE_EQ, a, b);
    case llvm::CmpInst::ICMP_NE:
        return nodes.binary(TSL_NODE_NE, a, b);
    case llvm::CmpInst::ICMP_ULT:
        return nodes.binary(TSL_NODE_ULT, a, b);
    case llvm::CmpInst::ICMP_ULE:
        return nodes.binary(TSL_NODE_ULE, a, b);
    case llvm::CmpInst::ICMP_UGT:
        return nodes.binary(TSL_NODE_ULT, b, a);
    case llvm::CmpInst::ICMP_UGE:
        return nodes.binary(TSL_NODE_ULE, b, a);
    case llvm::CmpInst::ICMP_SLT:
        return nodes.binary(TSL_NODE_SLT, a, b);
    case llvm::CmpInst::ICMP_SLE:
        return nodes.binary(TSL_NODE_SLE, a, b);
    case llvm::CmpInst::ICMP_SGT:
        return nodes.binary(TSL_NODE_SLT, b, a);
    default:
        return nodes.binary(TSL_NODE_SLE, b, a);
    }
}

/* Else it may be null, or point at memory that is no argument's. */
static bool is_always(const Place &place)
{
    return place.guards.exact && place.guards.all.empty();
}

/* Pointers into one argument compare as what is added to it. */
uint32_t Accesses::of_pointers(llvm::ICmpInst &at)
{
    Place start = {nullptr, nodes.constant(64, 0), {}, ""};
    std::vector<Place> a, b;
    Visited seen_a, seen_b;

    places(at.getOperand(0), start, a, seen_a);
    places(at.getOperand(1), start, b, seen_b);
    if (a.size() != 1 || b.size() != 1 || !a[0].root || a[0].root != b[0].root || a[0].offset == no_node ||
        b[0].offset == no_node || !is_always(a[0]) || !is_always(b[0]))
        return not_known(&at, "pointers are compared");
    return compare(at.isUnsigned() ? at.getSignedPredicate() : at.getPredicate(), a[0].offset, b[0].offset);
}

uint32_t Accesses::of_comparison(llvm::ICmpInst &at)
{
    llvm::Type *type = at.getOperand(0)->getType();

    if (type->isPointerTy())
        return of_pointers(at);
    if (!type->isIntegerTy())
        return not_known(&at, "vectors are compared");
    if (!bits_of(type)) {
        const llvm::SCEV *a = evolution.getSCEV(at.getOperand(0)), *b = evolution.getSCEV(at.getOperand(1));

        if (!legal_bits(type->getIntegerBitWidth()))
            return not_known(&at, "its numbers are too wide");
        return compare(at.getPredicate(), clean(a, at.isSigned()), clean(b, at.isSigned()));
    }
    return compare(at.getPredicate(), of(at.getOperand(0)), of(at.getOperand(1)));
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

uint32_t Accesses::of_query(llvm::CallInst &at)
{
    static const struct {
        tsl_node_op op;
        int64_t beyond; /* of dimensions that aren't there */
    } queries[] = {{TSL_NODE_LOCAL_ID, 0},    {TSL_NODE_GLOBAL_ID, 0},    {TSL_NODE_GROUP_ID, 0},
                   {TSL_NODE_GROUP_SIZE, 1},  {TSL_NODE_LOCAL_SIZE, 1},   {TSL_NODE_NUM_GROUPS, 1},
                   {TSL_NODE_GLOBAL_SIZE, 1}, {TSL_NODE_GLOBAL_OFFSET, 0}};
    const auto &query = queries[kc_call_of(llvm::wrap(&at)) - KC_CALL_LOCAL_ID];
    auto *dimension = llvm::dyn_cast<llvm::ConstantInt>(at.getArgOperand(0));

    if (!dimension)
        return not_known(&at, "the dimension of an id isn't a constant");
    if (dimension->getZExtValue() > 2)
        return nodes.constant(64, query.beyond);
    return nodes.leaf(query.op, 64, (uint32_t)dimension->getZExtValue());
}

/* The upper bits of two numbers, one behind the other, from which `left` bits were shifted out: rotations, if both are
 * one. The parts have no bit in common. */
uint32_t Accesses::of_both(llvm::CallInst &at, uint32_t a, uint32_t b)
{
    auto *number = llvm::dyn_cast<llvm::ConstantInt>(at.getArgOperand(2));
    unsigned bits = nodes.bits(a);

    if (!number)
        return not_known(&at, "numbers are rotated by one that isn't constant");
    auto left = (unsigned)number->getValue().urem(bits);
    left = at.getIntrinsicID() == llvm::Intrinsic::fshr ? bits - left : left;
    if (left % bits == 0)
        return left ? b : a;
    a = nodes.times(a, (int64_t)(UINT64_C(1) << left));
    b = left > 1 ? nodes.binary(TSL_NODE_UDIV, b, nodes.constant(bits, (int64_t)(UINT64_C(1) << (bits - left))))
                 : nodes.binary(TSL_NODE_LSHR, b, nodes.constant(bits, bits - left));
    return nodes.binary(TSL_NODE_ADD, a, b);
}

uint32_t Accesses::of_intrinsic(llvm::CallInst &at, uint32_t a, uint32_t b)
{
    uint32_t zero = nodes.constant(nodes.bits(a), 0);

    switch (at.getIntrinsicID()) {
    case llvm::Intrinsic::umin:
        return nodes.binary(TSL_NODE_UMIN, a, b);
    case llvm::Intrinsic::umax:
        return nodes.binary(TSL_NODE_UMAX, a, b);
    case llvm::Intrinsic::smin:
        return nodes.binary(TSL_NODE_SMIN, a, b);
    case llvm::Intrinsic::smax:
        return nodes.binary(TSL_NODE_SMAX, a, b);
    case llvm::Intrinsic::abs:
        return nodes.select(nodes.binary(TSL_NODE_SLT, a, zero), nodes.binary(TSL_NODE_SUB, zero, a), a);
    case llvm::Intrinsic::usub_sat:
        return nodes.binary(TSL_NODE_SUB, nodes.binary(TSL_NODE_UMAX, a, b), b);
    case llvm::Intrinsic::uadd_sat:
        return nodes.binary(
            TSL_NODE_ADD, a,
            nodes.binary(TSL_NODE_UMIN, b, nodes.binary(TSL_NODE_SUB, nodes.constant(nodes.bits(a), -1), a)));
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
        return of_both(at, a, b);
    default:
        return nodes.unknown(nodes.bits(a), "it is computed by a function that isn't followed");
    }
}

uint32_t Accesses::of_call(llvm::CallInst &at)
{
    kc_call call = kc_call_of(llvm::wrap(&at));

    if (call >= KC_CALL_LOCAL_ID && call <= KC_CALL_GLOBAL_OFFSET)
        return of_query(at);
    if (is_extreme(at) && bits_of(at.getType()))
        return of_intrinsic(at, of(at.getArgOperand(0)), of(at.getArgOperand(at.arg_size() > 1 ? 1 : 0)));
    return not_known(&at, "it is computed by a function that isn't followed");
}

} // namespace kc
