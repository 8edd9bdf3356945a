/*
 * What expressions begin with: arguments, structures by value, sizes of images; and elements of vectors.
 */
#include "compiler/analysis/accesses.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

namespace kc
{

uint32_t Accesses::of_argument(llvm::Argument &argument, uint64_t offset, unsigned bits)
{
    const tsl_arg_fact &fact = facts.args[argument.getArgNo()];

    if (fact.kind != TSL_FACT_VALUE || !bits || offset + (bits + 7) / 8 > fact.size)
        return not_known(&argument, "it is made of an argument that is no number");
    return nodes.leaf(TSL_NODE_SCALAR, bits, argument.getArgNo(), (uint32_t)offset);
}

/* Is a structure by value only read, through addresses that are plain? */
bool Accesses::is_untouched(llvm::Value *pointer, unsigned steps)
{
    for (llvm::User *user : pointer->users()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(user);
        auto *call = llvm::dyn_cast<llvm::MemTransferInst>(user);
        bool passes = llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user);

        if (!at || (!passes && !llvm::isa<llvm::LoadInst>(at) &&
                    !(call && call->getRawSource() == pointer && call->getRawDest() != pointer)))
            return false;
        if (passes && (steps > 8 || !is_untouched(at, steps + 1)))
            return false;
    }
    return true;
}

namespace
{

/* The elements of a table of constants that the pointer leads into, and by which index; null: it does not. */
llvm::Constant *table_of(llvm::Value *pointer, llvm::Value *&index)
{
    auto *place = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
    auto *table =
        place ? llvm::dyn_cast<llvm::GlobalVariable>(place->getPointerOperand()->stripPointerCasts()) : nullptr;

    if (!table || !table->isConstant() || !table->hasDefinitiveInitializer())
        return nullptr;
    auto *type = llvm::dyn_cast<llvm::ArrayType>(table->getValueType());
    auto *first = llvm::dyn_cast<llvm::ConstantInt>(place->getOperand(1));
    bool whole = place->getNumIndices() == 2 && place->getSourceElementType() == type && first && first->isZero();
    bool single = type && place->getNumIndices() == 1 && place->getSourceElementType() == type->getElementType();

    if (!type || (!whole && !single))
        return nullptr;
    index = place->getOperand(place->getNumOperands() - 1);
    return table->getInitializer();
}

} // namespace

/* One of few constants, by an index; behind the table's end any of them. no_node: it is none. */
uint32_t Accesses::of_table(llvm::LoadInst &at, unsigned bits)
{
    llvm::Value *index = nullptr;
    llvm::Constant *table = table_of(at.getPointerOperand(), index);
    auto *type = table ? llvm::dyn_cast<llvm::ArrayType>(table->getType()) : nullptr;
    uint32_t by, node = no_node;

    if (!type || at.isVolatile() || !bits || at.getType() != type->getElementType() || type->getNumElements() > 32)
        return no_node;
    by = of(index);
    if (nodes.has_unknown(by) || (type->getNumElements() > 8 && (nodes.has_ids(by) || nodes.counters(by))))
        return no_node;
    for (auto i = (unsigned)type->getNumElements(); i-- > 0;) {
        auto *element = llvm::dyn_cast_or_null<llvm::ConstantInt>(table->getAggregateElement(i));
        uint32_t value = element ? nodes.constant(bits, element->getSExtValue()) : no_node;

        if (!element)
            return no_node;
        node = node == no_node
                   ? value
                   : nodes.select(nodes.binary(TSL_NODE_EQ, by, nodes.constant(nodes.bits(by), i)), value, node);
    }
    return node;
}

uint32_t Accesses::of_load(llvm::LoadInst &at)
{
    uint32_t node = of_table(at, bits_of(at.getType()));

    return node == no_node ? of_loaded(at, 0, bits_of(at.getType())) : node;
}

/* So many bits of what is loaded, `skipped` bytes behind its beginning. */
uint32_t Accesses::of_loaded(llvm::LoadInst &at, unsigned skipped, unsigned bits)
{
    int64_t offset = 0;
    llvm::Value *base = llvm::GetPointerBaseWithConstantOffset(at.getPointerOperand(), offset, layout);
    auto *argument = llvm::dyn_cast<llvm::Argument>(base);
    const char *why = at.getPointerAddressSpace() == 3 ? "it is loaded from local memory" : "it is loaded from memory";

    offset += skipped;

    if (argument && argument->hasByValAttr()) {
        auto known = untouched.find(argument);

        if (known == untouched.end())
            known = untouched.try_emplace(argument, is_untouched(argument, 0)).first;
        if (known->second && offset >= 0 && !at.isVolatile())
            return of_argument(*argument, (uint64_t)offset, bits);
    }
    if (argument && facts.args[argument->getArgNo()].kind == TSL_FACT_IMAGE && bits == 32 && offset >= 8 && offset < 24)
        return nodes.leaf(TSL_NODE_SCALAR, 32, argument->getArgNo(), (uint32_t)offset);
    return bits ? nodes.unknown(bits, with_line(why, at)) : not_known(&at, why);
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

/* Of a vector that is computed as its elements are. */
uint32_t Accesses::of_lane(llvm::Instruction &at, unsigned i)
{
    auto *call = llvm::dyn_cast<llvm::CallInst>(&at);
    auto *cast = llvm::dyn_cast<llvm::CastInst>(&at);
    unsigned bits = bits_of(at.getType()->getScalarType());
    uint32_t a = of_element(at.getOperand(0), i), b;

    if (cast && bits_of(cast->getSrcTy()->getScalarType()))
        return cast->getOpcode() == llvm::Instruction::ZExt    ? nodes.zext(a, bits)
               : cast->getOpcode() == llvm::Instruction::SExt  ? nodes.sext(a, bits)
               : cast->getOpcode() == llvm::Instruction::Trunc ? nodes.trunc(a, bits)
                                                               : no_node;
    if (call && is_extreme(*call))
        return of_intrinsic(*call, a, of_element(at.getOperand(call->arg_size() > 1 ? 1 : 0), i));
    if (!llvm::isa<llvm::BinaryOperator>(at))
        return llvm::isa<llvm::FreezeInst>(at) ? a : no_node;
    b = of_element(at.getOperand(1), i);
    if (at.getOpcode() == llvm::Instruction::Shl && nodes.is_constant(b) && (uint64_t)nodes[b].value < bits)
        return nodes.times(a, (int64_t)(UINT64_C(1) << nodes[b].value));
    return operate(at.getOpcode(), a, b);
}

/* Goes on to the vector that the element is taken from. False: it isn't. */
bool Accesses::from_other(llvm::Value *&vector, unsigned &i)
{
    if (auto *inserted = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
        auto *index = llvm::dyn_cast<llvm::ConstantInt>(inserted->getOperand(2));

        if (!index || index->getZExtValue() == i)
            return false;
        vector = inserted->getOperand(0);
        return true;
    }
    if (auto *shuffled = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
        int from = shuffled->getMaskValue(i);
        auto n = (int)llvm::cast<llvm::FixedVectorType>(shuffled->getOperand(0)->getType())->getNumElements();

        if (from < 0)
            return false;
        vector = shuffled->getOperand(from < n ? 0 : 1);
        i = (unsigned)(from < n ? from : from - n);
        return true;
    }
    return false;
}

/* Each element is looked at once: a hash of vectors uses each step's result several times. */
uint32_t Accesses::of_element(llvm::Value *vector, unsigned i)
{
    auto key = std::make_pair(std::make_pair(vector, scope), i);
    auto known = elements.find(key);
    uint32_t node;

    if (known != elements.end())
        return known->second;
    node = find_element(vector, i);
    elements[key] = node;
    return node;
}

/* An element of a vector argument, of one in a structure, or of one that was made of elements. */
uint32_t Accesses::find_element(llvm::Value *vector, unsigned i)
{
    auto *type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
    unsigned bits = type ? bits_of(type->getElementType()) : 0;
    uint32_t node = no_node;

    for (unsigned steps = 0; bits && steps < 32 && node == no_node; steps++) {
        if (auto *constant = llvm::dyn_cast<llvm::Constant>(vector)) {
            llvm::Constant *element = constant->getAggregateElement(i);

            return element ? of(element) : nodes.unknown(bits, "it is undefined");
        }
        if (auto *argument = llvm::dyn_cast<llvm::Argument>(vector))
            return of_argument(*argument, i * (bits / 8), bits);
        if (auto *inserted = llvm::dyn_cast<llvm::InsertElementInst>(vector))
            if (auto *index = llvm::dyn_cast<llvm::ConstantInt>(inserted->getOperand(2)))
                if (index->getZExtValue() == i)
                    return of(inserted->getOperand(1));
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(vector))
            return of_loaded(*load, i * (bits / 8), bits);
        if (from_other(vector, i))
            continue;
        if (!llvm::isa<llvm::Instruction>(vector) || depth > 100)
            break;
        depth++;
        node = of_lane(*llvm::cast<llvm::Instruction>(vector), i);
        depth--;
        break;
    }
    return node == no_node ? nodes.unknown(bits ? bits : 64, "it is an element of a vector that isn't followed") : node;
}

} // namespace kc
