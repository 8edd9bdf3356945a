/*
 * Every instruction that touches memory.
 */
#include "compiler/analysis/accesses.hpp"

#include "compiler/workgroup/calls.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace kc
{

Accesses::Accesses(llvm::Function &kernel, const tsl_kernel_facts &kernel_facts)
    : function(kernel), facts(kernel_facts), layout(kernel.getParent()->getDataLayout()),
      library_info(llvm::Triple(kernel.getParent()->getTargetTriple())), library(library_info, &kernel),
      assumptions(kernel), dominators(kernel), loops(dominators),
      evolution(kernel, library, assumptions, dominators, loops)
{
}

/* ---- One access -------------------------------------------------------------------------------------------------- */

/* The loops on which something of it depends; of the others one iteration is as good as all, and is there. False: they
 * are too many. */
bool Accesses::add_loops(llvm::Instruction &at, Access &access, const Guards &under, bool &exact)
{
    llvm::SmallVector<LoopFacts, 8> around;
    uint64_t counters = 0;

    for (uint32_t node : under.all)
        counters |= nodes.counters(node);
    for (uint32_t node : access.address)
        counters |= node == no_node ? 0 : nodes.counters(node);
    access.guards.append(under.all.begin(), under.all.end());
    for (llvm::Loop *loop = loops.getLoopFor(at.getParent()); loop; loop = loop->getParentLoop()) {
        LoopFacts one = loop_of(loop);

        if (one.index == no_node || !(counters >> one.index & 1))
            continue;
        if (one.count != no_node)
            counters |= nodes.counters(one.count);
        exact &= one.exact;
        if (one.running != no_node && access.guards.size() < TSL_FOOTPRINT_MAX_GUARDS)
            access.guards.push_back(one.running);
        else if (one.running != no_node)
            exact = false;
        if (one.running != no_node)
            counters |= nodes.counters(one.running);
        access.loops.insert(access.loops.begin(), one.index);
    }
    return access.loops.size() <= TSL_FOOTPRINT_MAX_DEPTH;
}

void Accesses::finish(const Touch &touch, Access &access, const Guards &under)
{
    bool exact = under.exact && access.address[0] != no_node;

    for (uint32_t node : access.address)
        exact = exact && (node == no_node || !nodes.has_unknown(node));
    access.kind = touch.kind;
    access.atomic = touch.kind == TSL_ACCESS_ATOMIC ? touch.atomic : 0;
    access.flags |= touch.flags;
    access.line = line_of(*touch.at);
    access.value = touch.value;
    access.narrow = touch.narrow;
    access.block = touch.at->getParent();
    if (!add_loops(*touch.at, access, under, exact)) {
        access.address[0] = access.address[1] = access.address[2] = no_node;
        access.why = "it is in too many loops";
        exact = false;
    }
    if (access.address[0] == no_node) {
        access.loops.clear();
        access.guards.clear();
    } else
        access.why.clear();
    if (exact && touch.kind == TSL_ACCESS_WRITE)
        access.flags |= TSL_ACCESS_SURE;
    list.push_back(access);
}

/* Through a pointer that may be any. */
void Accesses::touch_all(const Touch &touch, const std::string &why)
{
    flags |= TSL_FOOTPRINT_POINTERS;
    for (unsigned i = 0; i < facts.n_args; i++) {
        Access access;

        if (facts.args[i].kind != TSL_FACT_GLOBAL &&
            !(facts.args[i].kind == TSL_FACT_CONSTANT && touch.kind == TSL_ACCESS_READ))
            continue;
        access.argument = i;
        access.width = touch.width;
        access.why = why;
        written.insert(touch.kind == TSL_ACCESS_READ ? nullptr : function.getArg(i));
        finish(touch, access, {});
    }
}

void Accesses::touch_place(const Touch &touch, const Place &place)
{
    auto *argument = llvm::dyn_cast<llvm::Argument>(place.root);
    tsl_fact_kind kind = argument ? facts.args[argument->getArgNo()].kind : TSL_FACT_UNKNOWN;
    Guards under = guards_of(touch.at->getParent());
    Access access;

    if (kind != TSL_FACT_GLOBAL && kind != TSL_FACT_CONSTANT)
        return; /* the program's variables are known as such; what tells of an image is no part of it */
    access.argument = argument->getArgNo();
    access.width = touch.width;
    access.address[0] = touch.anywhere ? no_node : place.offset;
    access.why = touch.anywhere ? "a function that isn't followed has its address" : place.why;
    if (access.address[0] != no_node && nodes.is_loose(access.address[0])) {
        access.why = nodes.why(access.address[0]);
        access.address[0] = no_node;
    }
    if (touch.kind != TSL_ACCESS_READ)
        written.insert(argument);
    access.chosen = !place.guards.exact || !place.guards.all.empty();
    under.exact &= place.guards.exact;
    for (uint32_t guard : place.guards.all)
        require(under, guard);
    finish(touch, access, under);
}

void Accesses::touch(const Touch &touch)
{
    Place start = {nullptr, nodes.constant(64, 0), {}, ""};
    std::vector<Place> found;
    Visited visited;

    scope = loops.getLoopFor(touch.at->getParent());
    places(touch.pointer, start, found, visited);
    for (const Place &place : found)
        if (!place.root) {
            touch_all(touch, place.why);
            return;
        }
    for (const Place &place : found)
        touch_place(touch, place);
    if (!found.empty() && touch.flags & TSL_ACCESS_VOLATILE && touch.kind != TSL_ACCESS_ATOMIC)
        flags |= TSL_FOOTPRINT_WIDE_VOLATILE;
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

namespace
{

tsl_atomic_op operation_of(const llvm::AtomicRMWInst &at)
{
    switch (at.getOperation()) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:
        return TSL_ATOMIC_ADD;
    case llvm::AtomicRMWInst::And:
        return TSL_ATOMIC_AND;
    case llvm::AtomicRMWInst::Or:
        return TSL_ATOMIC_OR;
    case llvm::AtomicRMWInst::Xor:
        return TSL_ATOMIC_XOR;
    case llvm::AtomicRMWInst::Min:
        return TSL_ATOMIC_SMIN;
    case llvm::AtomicRMWInst::Max:
        return TSL_ATOMIC_SMAX;
    case llvm::AtomicRMWInst::UMin:
        return TSL_ATOMIC_UMIN;
    case llvm::AtomicRMWInst::UMax:
        return TSL_ATOMIC_UMAX;
    default:
        return TSL_ATOMIC_OTHER;
    }
}

/* The bytes of a constant that fits into eight; false: it doesn't, or is none. */
bool bytes_of(const llvm::Constant &constant, const llvm::DataLayout &layout, uint64_t &value)
{
    uint64_t size = layout.getTypeStoreSize(constant.getType()).getFixedValue();

    value = 0;
    if (size > 8 || llvm::isa<llvm::UndefValue>(constant))
        return false;
    if (constant.isNullValue())
        return true;
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(&constant))
        return value = number->getZExtValue(), true;
    if (auto *number = llvm::dyn_cast<llvm::ConstantFP>(&constant))
        return value = number->getValueAPF().bitcastToAPInt().getZExtValue(), true;
    if (auto *vector = llvm::dyn_cast<llvm::ConstantDataSequential>(&constant))
        return memcpy(&value, vector->getRawDataValues().data(), size), true;
    return false;
}

bool is_atomic(llvm::AtomicOrdering order)
{
    return order != llvm::AtomicOrdering::NotAtomic;
}

} // namespace

void Accesses::visit(llvm::Instruction &at)
{
    auto size = [&](llvm::Type *type) { return (uint32_t)layout.getTypeStoreSize(type).getFixedValue(); };

    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&at)) {
        Touch one = {&at, load->getPointerOperand(), TSL_ACCESS_READ, size(at.getType())};

        one.flags = load->isVolatile() && !quiet.count(&at) ? TSL_ACCESS_VOLATILE : 0;
        if (is_atomic(load->getOrdering())) {
            one.kind = TSL_ACCESS_ATOMIC;
            one.flags |= quiet.count(&at) ? 0 : TSL_ACCESS_RESULT;
        }
        touch(one);
    } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&at)) {
        llvm::Type *type = store->getValueOperand()->getType();
        auto *constant = llvm::dyn_cast<llvm::Constant>(store->getValueOperand());
        Touch one = {&at, store->getPointerOperand(), TSL_ACCESS_WRITE, size(type)};

        one.flags = store->isVolatile() ? TSL_ACCESS_VOLATILE : 0;
        if (is_atomic(store->getOrdering()))
            one.kind = TSL_ACCESS_ATOMIC;
        else
            /* An element lies at a multiple of its size, which a packed one needn't. */
            one.narrow = (uint32_t)std::min<uint64_t>(size(type->isVectorTy() ? type->getScalarType() : type),
                                                      store->getAlign().value());
        if (one.narrow && constant && bytes_of(*constant, layout, one.value))
            one.flags |= TSL_ACCESS_CONSTANT;
        touch(one);
    } else if (auto *atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&at)) {
        Touch one = {&at, atomic->getPointerOperand(), TSL_ACCESS_ATOMIC, size(atomic->getValOperand()->getType())};

        one.atomic = operation_of(*atomic);
        one.flags = at.use_empty() || quiet.count(&at) ? 0 : TSL_ACCESS_RESULT;
        touch(one);
    } else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&at)) {
        Touch one = {&at, exchange->getPointerOperand(), TSL_ACCESS_ATOMIC,
                     size(exchange->getCompareOperand()->getType())};

        one.flags = at.use_empty() || quiet.count(&at) ? 0 : TSL_ACCESS_RESULT;
        touch(one);
    } else if (auto *call = llvm::dyn_cast<llvm::CallInst>(&at))
        visit_call(*call);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Many bytes at once. Of a number that isn't constant each is an iteration of a loop. */
void Accesses::visit_memory(llvm::CallInst &at)
{
    auto &memory = llvm::cast<llvm::MemIntrinsic>(at);
    auto *length = llvm::dyn_cast<llvm::ConstantInt>(memory.getLength());
    Touch one = {&at, memory.getRawDest(), TSL_ACCESS_WRITE, 1};

    if (length && length->isZero())
        return;
    one.flags = memory.isVolatile() ? TSL_ACCESS_VOLATILE : 0;
    one.narrow = 1;
    if (length && length->getValue().getActiveBits() <= 32)
        one.width = (uint32_t)length->getZExtValue();
    else
        one.anywhere = true;
    touch(one);
    if (auto *transfer = llvm::dyn_cast<llvm::MemTransferInst>(&at)) {
        one.pointer = transfer->getRawSource();
        one.kind = TSL_ACCESS_READ;
        one.narrow = 0;
        touch(one);
    }
}

/* Pixels by their coordinates, where these are known; filtered ones are anywhere. */
void Accesses::visit_image(llvm::CallInst &at, bool stores)
{
    Place start = {nullptr, nodes.constant(64, 0), {}, ""};
    std::vector<Place> found;
    Visited visited;
    Touch one = {&at, at.getArgOperand(0), stores ? TSL_ACCESS_WRITE : TSL_ACCESS_READ, 0, TSL_ACCESS_IMAGE};

    scope = loops.getLoopFor(at.getParent());
    places(at.getArgOperand(0), start, found, visited);
    for (const Place &place : found) {
        auto *argument = llvm::dyn_cast_or_null<llvm::Argument>(place.root);
        Guards under = guards_of(at.getParent());
        Access access;

        if (!argument || facts.args[argument->getArgNo()].kind != TSL_FACT_IMAGE)
            continue;
        access.argument = argument->getArgNo();
        under.exact &= place.guards.exact;
        for (uint32_t guard : place.guards.all)
            require(under, guard);
        access.why = "pixels are read by floating-point coordinates";
        if (at.getArgOperand(1)->getType()->isIntegerTy(32) && at.getArgOperand(2)->getType()->isIntegerTy(32)) {
            const char *type = facts.args[access.argument].type_name;
            unsigned n = strstr(type, "1d") ? 1 : strstr(type, "3d") ? 3 : 2, n_places = 0;

            for (unsigned d = 0; d < 3; d++)
                if (d < n || (d == 2 && strstr(type, "array")))
                    access.address[n_places++] = nodes.sext(of(at.getArgOperand(1 + d)), 64);
        }
        finish(one, access, under);
    }
}

/* What isn't followed may read and write all behind the pointers that it is given. */
void Accesses::visit_unknown(llvm::CallInst &at)
{
    Touch one = {&at, nullptr, TSL_ACCESS_READ, 1};

    if (at.doesNotAccessMemory())
        return;
    one.anywhere = true;
    for (llvm::Value *operand : at.args()) {
        if (!operand->getType()->isPointerTy())
            continue;
        one.pointer = operand;
        one.kind = TSL_ACCESS_READ;
        one.narrow = 0;
        touch(one);
        one.kind = TSL_ACCESS_WRITE;
        one.narrow = 1;
        if (!at.onlyReadsMemory())
            touch(one);
    }
}

void Accesses::visit_call(llvm::CallInst &at)
{
    llvm::Function *callee = at.getCalledFunction();
    auto *loaded = llvm::dyn_cast<llvm::LoadInst>(at.getCalledOperand());

    if (loaded && is_of_launch(loaded->getPointerOperand()))
        return; /* it prints */
    if (kc_call_of(llvm::wrap(&at)) != KC_CALL_OTHER)
        return;
    if (llvm::isa<llvm::MemIntrinsic>(at))
        visit_memory(at);
    else if (callee && callee->getName() == "__tsl_called_image_store")
        visit_image(at, true);
    else if (callee &&
             (callee->getName() == "__tsl_called_image_load" || callee->getName() == "__tsl_called_image_load_again" ||
              callee->getName() == "__tsl_called_image_sample"))
        visit_image(at, false);
    else if (!at.getIntrinsicID() || !at.onlyAccessesInaccessibleMemory())
        if (at.getIntrinsicID() != llvm::Intrinsic::prefetch)
            visit_unknown(at);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Ids and sizes that are asked for within loops go to the kernel's beginning for a while, where loops don't change
 * them.
 */
void Accesses::lift_queries()
{
    llvm::Instruction *first = &*function.getEntryBlock().getFirstInsertionPt();

    for (llvm::BasicBlock &block : function) {
        if (!loops.getLoopFor(&block))
            continue;
        for (llvm::Instruction &at : llvm::make_early_inc_range(block)) {
            kc_call call = kc_call_of(llvm::wrap(&at));

            if (call < KC_CALL_LOCAL_ID || call > KC_CALL_WORK_DIM ||
                !llvm::all_of(llvm::cast<llvm::CallInst>(at).args(),
                              [](llvm::Value *v) { return llvm::isa<llvm::Constant>(v); }))
                continue;
            lifted.emplace_back(&at, at.getNextNode());
            at.moveBefore(first);
        }
    }
}

void Accesses::lower_queries()
{
    for (; !lifted.empty(); lifted.pop_back())
        lifted.back().first->moveBefore(lifted.back().second);
}

void Accesses::find()
{
    lift_queries();
    find_exchanges();
    for (llvm::BasicBlock &block : function) {
        if (!dominators.isReachableFromEntry(&block))
            continue;
        for (llvm::Instruction &at : block)
            visit(at);
    }
    join_ways();
    find_flags();
    find_stride();
    lower_queries();
}

} // namespace kc

/* Out through the format's own door, which lets nothing through that isn't well-formed. */
struct tsl_footprint *kc_accesses(LLVMValueRef kernel, const struct tsl_kernel_facts *facts)
{
    kc::Accesses accesses(*llvm::cast<llvm::Function>(llvm::unwrap(kernel)), *facts);
    struct tsl_writer writer = {};
    struct tsl_footprint *footprint = nullptr;

    accesses.find();
    accesses.write(writer);
    if (!writer.failed)
        footprint = tsl_footprint_decode(writer.data, writer.size);
    free(writer.data);
    return footprint;
}
