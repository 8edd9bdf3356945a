/*
 * Which argument an address is in, and how far behind its pointer: through arithmetic on pointers, choices and loops
 * that move them.
 */
#include "compiler/analysis/accesses.hpp"

#include "compiler/workgroup/calls.h"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>

namespace kc
{

namespace
{

constexpr size_t most_places = 8;

} // namespace

/* Is the place, anywhere in its root in an earlier iteration, among these already? */
static bool is_known(const std::vector<Place> &among, const Place &place)
{
    return place.earlier && llvm::any_of(among, [&](const Place &other) {
               return other.earlier && other.root == place.root && other.offset == no_node;
           });
}

/* What is told of a launch is no memory of the program's. */
bool is_of_launch(const llvm::Value *pointer)
{
    kc_call call = kc_call_of(llvm::wrap(pointer->stripInBoundsOffsets()));

    return call == KC_CALL_LAUNCH || call == KC_CALL_THREAD || call == KC_CALL_PLACES;
}

/* What it adds to its pointer: 64 bits. */
uint32_t Accesses::offset_of(llvm::GEPOperator &pointer)
{
    uint32_t sum = nodes.constant(64, 0);

    for (auto step = llvm::gep_type_begin(pointer), end = llvm::gep_type_end(pointer); step != end; ++step) {
        llvm::Value *index = step.getOperand();

        if (llvm::StructType *type = step.getStructTypeOrNull()) {
            auto field = (unsigned)llvm::cast<llvm::ConstantInt>(index)->getZExtValue();

            sum = nodes.plus(sum, (int64_t)layout.getStructLayout(type)->getElementOffset(field).getFixedValue());
            continue;
        }
        uint32_t node = of(index);

        node = nodes.bits(node) < 64 ? nodes.sext(node, 64) : node;
        node = nodes.times(node, (int64_t)layout.getTypeAllocSize(step.getIndexedType()).getFixedValue());
        sum = nodes.binary(TSL_NODE_ADD, sum, node);
    }
    return sum;
}

void Accesses::places_of_select(llvm::SelectInst &at, const Place &so_far, std::vector<Place> &result, Visited &visited)
{
    Place one = so_far, other = so_far;

    if (!so_far.earlier) {
        uint32_t condition = of(at.getCondition());

        require(one.guards, condition);
        require(other.guards, nodes.opposite(condition));
    }
    places(at.getTrueValue(), one, result, visited);
    places(at.getFalseValue(), other, result, visited);
}

/* A pointer that goes on by a fixed step. */
bool Accesses::place_in_loop(llvm::PHINode &phi, const Place &so_far, std::vector<Place> &result, Visited &visited)
{
    llvm::Loop *loop = loops.getLoopFor(phi.getParent());
    const llvm::SCEV *known, *base;
    Place place = so_far;

    if (!loop || loop->getHeader() != phi.getParent())
        return false;
    known = so_far.earlier || (scope && loop->contains(scope)) ? evolution.getSCEV(&phi)
                                                               : evolution.getSCEVAtScope(&phi, scope);
    if (llvm::isa<llvm::SCEVUnknown>(known) || llvm::isa<llvm::SCEVCouldNotCompute>(known))
        return false;
    base = evolution.getPointerBase(known);
    if (!llvm::isa<llvm::SCEVUnknown>(base))
        return false;
    if (place.offset != no_node)
        place.offset = nodes.binary(TSL_NODE_ADD, place.offset, of(evolution.removePointerBase(known)));
    places(llvm::cast<llvm::SCEVUnknown>(base)->getValue(), place, result, visited);
    return true;
}

/* One of them, it isn't always known which. */
void Accesses::places_of_phi(llvm::PHINode &phi, const Place &so_far, std::vector<Place> &result, Visited &visited)
{
    llvm::Loop *loop = loops.getLoopFor(phi.getParent());
    bool carried = loop && loop->getHeader() == phi.getParent();

    if (phi.getNumIncomingValues() == 1) {
        places(phi.getIncomingValue(0), so_far, result, visited);
        return;
    }
    if (place_in_loop(phi, so_far, result, visited))
        return;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); i++) {
        Place place = so_far;

        if (carried) {
            place.offset = no_node;
            place.why = "a pointer changes from one iteration of a loop to the next, not by a fixed step";
            place.guards = {};
            place.guards.exact = false;
            place.earlier = true;
        } else if (!place.earlier)
            require(place.guards, edge(phi.getIncomingBlock(i), phi.getParent()));
        places(phi.getIncomingValue(i), place, result, visited);
    }
}

void Accesses::places_of_instruction(llvm::Instruction &at, const Place &so_far, std::vector<Place> &result,
                                     Visited &visited)
{
    Place none = so_far;

    if (llvm::isa<llvm::AddrSpaceCastInst>(at) || llvm::isa<llvm::BitCastInst>(at) || llvm::isa<llvm::FreezeInst>(at))
        places(at.getOperand(0), so_far, result, visited);
    else if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(&at))
        places_of_select(*choice, so_far, result, visited);
    else if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&at))
        places_of_phi(*phi, so_far, result, visited);
    else if (llvm::isa<llvm::AllocaInst>(at) || is_of_launch(&at))
        return;
    else {
        none.root = nullptr;
        none.offset = no_node;
        none.why = llvm::isa<llvm::IntToPtrInst>(at) ? "a pointer is made of a number"
                   : llvm::isa<llvm::LoadInst>(at)   ? "a pointer is loaded from memory"
                                                     : "a pointer comes out of a function that isn't followed";
        result.push_back(none);
    }
}

/* Adds where a pointer may point to, of what can be an argument's memory or a variable of the program's. */
void Accesses::places(llvm::Value *pointer, const Place &so_far, std::vector<Place> &result, Visited &visited)
{
    Place place = so_far;

    if (pointer->getType()->getPointerAddressSpace() == 3)
        return;
    if (result.size() >= most_places) {
        if (result.back().root)
            result.push_back({nullptr, no_node, {}, "a pointer has too many values to choose from"});
        return;
    }
    if (auto *step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
        if (place.offset != no_node)
            place.offset = nodes.binary(TSL_NODE_ADD, place.offset, offset_of(*step));
        places(step->getPointerOperand(), place, result, visited);
    } else if (auto *at = llvm::dyn_cast<llvm::Instruction>(pointer)) {
        const std::pair<llvm::Value *, bool> here = {at, so_far.earlier};

        if (!visited.insert(here).second)
            return; /* round a loop: it is one of the others, somewhere in them */
        places_of_instruction(*at, so_far, result, visited);
        if (!so_far.earlier) /* Those are the same on whatever way one comes there. */
            visited.erase(here);
    } else if (llvm::isa<llvm::Argument>(pointer) || llvm::isa<llvm::GlobalVariable>(pointer)) {
        place.root = pointer;
        if (!is_known(result, place))
            result.push_back(place);
    } else if (auto *constant = llvm::dyn_cast<llvm::ConstantExpr>(pointer)) {
        if (constant->isCast() && constant->getOperand(0)->getType()->isPointerTy())
            places(constant->getOperand(0), so_far, result, visited);
        else
            result.push_back({nullptr, no_node, {}, "a pointer is made of a number"});
    }
}

} // namespace kc
