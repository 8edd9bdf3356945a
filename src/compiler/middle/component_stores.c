#include "compiler/middle/component_stores.h"

#include <stddef.h>

#define MARK "tsl.components"

/* How many instructions before the store its load may lie; front ends leave one or two between. */
#define MAX_DISTANCE 40u

/* At most so many operations that put a stored vector together are followed. */
#define MAX_DEPTH 16u

/* OpenCL C's longest vector. */
#define MAX_ELEMENTS 16u

static LLVMValueRef number(LLVMValueRef at, unsigned k)
{
    return LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(at))), k, false);
}

static LLVMValueRef address_of(LLVMValueRef store)
{
    return LLVMGetOperand(store, 1);
}

/* ---- What comes from where it goes ------------------------------------------------------------------------------- */

/* An insertion at an index that is known only at run time. */
static bool is_subscript(LLVMValueRef value)
{
    return LLVMIsAInsertElementInst(value) && !LLVMIsAConstantInt(LLVMGetOperand(value, 2));
}

static bool may_write(LLVMValueRef at)
{
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMStore:
    case LLVMCall:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return true;
    default:
        return false;
    }
}

/* Does `load` read what the store's address holds until the store? */
static bool is_old(LLVMValueRef load, LLVMValueRef store)
{
    LLVMValueRef at = LLVMGetPreviousInstruction(store);

    if (LLVMGetOperand(load, 0) != address_of(store) || LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic)
        return false;
    for (unsigned i = 0; i < MAX_DISTANCE && at && at != load && !may_write(at); i++)
        at = LLVMGetPreviousInstruction(at);
    return at == load;
}

/* The vector in which element *k of `value` originates; sets *k to its index there. NULL: the element has no value. */
static LLVMValueRef origin(LLVMValueRef value, unsigned *k)
{
    for (unsigned depth = 0; value && depth < MAX_DEPTH; depth++)
        if (LLVMIsAInsertElementInst(value) && !is_subscript(value)) {
            if (LLVMConstIntGetZExtValue(LLVMGetOperand(value, 2)) == *k)
                return value;
            value = LLVMGetOperand(value, 0);
        } else if (LLVMIsAShuffleVectorInst(value)) {
            unsigned n = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(value, 0)));
            int from = LLVMGetMaskValue(value, *k);

            if (from == LLVMGetUndefMaskElem())
                return NULL;
            value = LLVMGetOperand(value, (unsigned)from >= n);
            *k = (unsigned)from % n;
        } else
            break;
    return LLVMIsUndef(value) ? NULL : value;
}

enum element { CHANGED, OLD, UNDEFINED };

static enum element element_of(LLVMValueRef vector, unsigned k, LLVMValueRef store)
{
    unsigned at = k;
    LLVMValueRef from = origin(vector, &at);

    if (!from)
        return UNDEFINED;
    return LLVMIsALoadInst(from) && LLVMTypeOf(from) == LLVMTypeOf(vector) && at == k && is_old(from, store) ? OLD
                                                                                                             : CHANGED;
}

/* ---- Which stores ------------------------------------------------------------------------------------------------ */

static bool is_in_bytes(LLVMTypeRef element)
{
    return LLVMGetTypeKind(element) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(element) % 8 == 0;
}

static bool is_vector_store(LLVMValueRef at)
{
    LLVMTypeRef type = LLVMIsAStoreInst(at) ? LLVMTypeOf(LLVMGetOperand(at, 0)) : NULL;

    return type && LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) <= MAX_ELEMENTS &&
           is_in_bytes(LLVMGetElementType(type)) && LLVMGetOrdering(at) == LLVMAtomicOrderingNotAtomic;
}

/* The vector before its insertions at run-time indices. */
static LLVMValueRef without_subscripts(LLVMValueRef vector)
{
    while (is_subscript(vector))
        vector = LLVMGetOperand(vector, 0);
    return vector;
}

static bool has_old_elements(LLVMValueRef store)
{
    LLVMValueRef vector = without_subscripts(LLVMGetOperand(store, 0));

    for (unsigned k = 0; k < LLVMGetVectorSize(LLVMTypeOf(vector)); k++)
        if (element_of(vector, k, store) == OLD)
            return true;
    return false;
}

/* ---- Which loads ------------------------------------------------------------------------------------------------- */

/* The first of the consecutive elements that a shuffle takes from its first operand alone; -1: they aren't
 * consecutive. */
static int first_of_run(LLVMValueRef shuffle)
{
    unsigned n = LLVMGetNumMaskElements(shuffle);
    int first = LLVMGetMaskValue(shuffle, 0);

    for (unsigned k = 1; k < n; k++)
        if (LLVMGetMaskValue(shuffle, k) != first + (int)k)
            return -1;
    return first >= 0 && (unsigned)first + n <= LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(shuffle, 0))) ? first : -1;
}

/* The index of the first element that the load's only user, the next instruction, takes; NULL: it has more users, or
 * another one. */
static LLVMValueRef index_taken(LLVMValueRef load)
{
    LLVMValueRef user = LLVMGetNextInstruction(load);
    LLVMUseRef use = LLVMGetFirstUse(load);

    if (!use || LLVMGetNextUse(use) || LLVMGetUser(use) != user)
        return NULL;
    if (LLVMIsAExtractElementInst(user))
        return LLVMGetOperand(user, 1);
    if (!LLVMIsAShuffleVectorInst(user) || LLVMGetOperand(user, 0) != load || first_of_run(user) < 0)
        return NULL;
    return number(load, (unsigned)first_of_run(user));
}

/* Is `at` a load for a component before its store, as in `p->x += a`? In the front end's code nothing else has the very
 * address. */
static bool is_load_for(LLVMValueRef at, LLVMValueRef store)
{
    return LLVMIsALoadInst(at) && LLVMGetOperand(at, 0) == address_of(store) &&
           LLVMTypeOf(at) == LLVMTypeOf(LLVMGetOperand(store, 0)) && index_taken(at) &&
           LLVMGetOrdering(at) == LLVMAtomicOrderingNotAtomic;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

static unsigned mark_kind(LLVMValueRef at)
{
    return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(at)), MARK, sizeof(MARK) - 1);
}

static void set_mark(LLVMValueRef at)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(at));

    LLVMSetMetadata(at, mark_kind(at), LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
}

/* Removes a mark. True: there was one. */
static bool take_mark(LLVMValueRef at)
{
    bool marked = LLVMGetMetadata(at, mark_kind(at)) != NULL;

    if (marked)
        LLVMSetMetadata(at, mark_kind(at), NULL);
    return marked;
}

static void mark(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMValueRef before = at;

    (void)builder;
    if (!is_vector_store(at) || !has_old_elements(at))
        return;
    set_mark(at);
    for (unsigned i = 0; i < MAX_DISTANCE && (before = LLVMGetPreviousInstruction(before)); i++)
        if (is_load_for(before, at))
            set_mark(before);
}

void kc_mark_component_stores(LLVMModuleRef module)
{
    kc_visit(module, mark);
}

/* ---- Stores of components ---------------------------------------------------------------------------------------- */

static bool is_private(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsAAddrSpaceCastInst(address) || LLVMIsABitCastInst(address))
        address = LLVMGetOperand(address, 0);
    return LLVMIsAAllocaInst(address) != NULL;
}

/* A load or store of a whole vector. */
struct whole {
    LLVMValueRef access, address;
    LLVMTypeRef element;
};

static struct whole whole_of(LLVMValueRef access)
{
    bool loads = LLVMIsALoadInst(access);

    return (struct whole){.access = access,
                          .address = LLVMGetOperand(access, loads ? 0 : 1),
                          .element = LLVMGetElementType(LLVMTypeOf(loads ? access : LLVMGetOperand(access, 0)))};
}

static unsigned size_of(LLVMTypeRef element)
{
    switch (LLVMGetTypeKind(element)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(element) / 8;
    case LLVMHalfTypeKind:
        return 2;
    case LLVMFloatTypeKind:
        return 4;
    default:
        return 8;
    }
}

/* The alignment of the bytes at `offset` in the vector. */
static unsigned align_at(const struct whole *whole, unsigned offset)
{
    unsigned align = LLVMGetAlignment(whole->access);

    while (offset % align)
        align /= 2;
    return align;
}

/* The address of the vector's element `index`, an unsigned integer of any type. */
static LLVMValueRef place_of(LLVMBuilderRef builder, const struct whole *whole, LLVMValueRef index)
{
    LLVMTypeRef wide = LLVMInt64TypeInContext(LLVMGetTypeContext(whole->element));
    LLVMValueRef number = LLVMBuildIntCast2(builder, index, wide, false, "");

    return LLVMBuildInBoundsGEP2(builder, whole->element, whole->address, &number, 1, "");
}

/* Gives the access to elements from `index` on the properties of the whole vector's access. */
static void set_access(LLVMValueRef access, const struct whole *whole, LLVMValueRef index)
{
    uint64_t first = LLVMIsAConstantInt(index) ? LLVMConstIntGetZExtValue(index) : 1;

    LLVMSetAlignment(access, align_at(whole, (unsigned)first * size_of(whole->element)));
    LLVMSetVolatile(access, LLVMGetVolatile(whole->access));
}

/* Stores `value`, one element or several. */
static void store_at(LLVMBuilderRef builder, const struct whole *whole, LLVMValueRef value, LLVMValueRef index)
{
    set_access(LLVMBuildStore(builder, value, place_of(builder, whole, index)), whole, index);
}

/* Elements first … first + n - 1 of `vector`. */
static void store_run(LLVMBuilderRef builder, const struct whole *whole, LLVMValueRef vector, unsigned first,
                      unsigned n)
{
    LLVMValueRef mask[MAX_ELEMENTS], value;

    for (unsigned k = 0; k < n; k++)
        mask[k] = number(vector, first + k);
    value = n == 1 ? LLVMBuildExtractElement(builder, vector, mask[0], "")
                   : LLVMBuildShuffleVector(builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                            LLVMConstVector(mask, n), "");
    store_at(builder, whole, value, mask[0]);
}

/* Neighbours are stored in one piece, which may be faster. The changes are determined before anything new is stored. */
static void store_changed(LLVMBuilderRef builder, const struct whole *whole, LLVMValueRef vector)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(vector)), first = 0, changed = 0;

    for (unsigned k = 0; k < n; k++)
        changed |= (unsigned)(element_of(vector, k, whole->access) == CHANGED) << k;
    for (unsigned k = 0; k <= n; k++) {
        if (changed >> k & 1)
            continue;
        if (k > first)
            store_run(builder, whole, vector, first, k - first);
        first = k + 1;
    }
}

/* Stores them in program order. */
static void store_subscripts(LLVMBuilderRef builder, const struct whole *whole, LLVMValueRef vector)
{
    if (!is_subscript(vector))
        return;
    store_subscripts(builder, whole, LLVMGetOperand(vector, 0));
    store_at(builder, whole, LLVMGetOperand(vector, 1), LLVMGetOperand(vector, 2));
}

static void erase_unused(LLVMValueRef value)
{
    LLVMValueRef parts[2];

    if (LLVMGetFirstUse(value) ||
        (!LLVMIsALoadInst(value) && !LLVMIsAInsertElementInst(value) && !LLVMIsAShuffleVectorInst(value)))
        return;
    parts[0] = LLVMIsALoadInst(value) ? NULL : LLVMGetOperand(value, 0);
    parts[1] = LLVMIsAShuffleVectorInst(value) ? LLVMGetOperand(value, 1) : NULL;
    LLVMInstructionEraseFromParent(value);
    for (unsigned i = 0; i < 2; i++)
        if (parts[i])
            erase_unused(parts[i]);
}

/* ---- Loads of components ----------------------------------------------------------------------------------------- */

static void part_load(LLVMBuilderRef builder, LLVMValueRef load)
{
    LLVMValueRef user = LLVMGetNextInstruction(load), index = index_taken(load), part;
    struct whole whole = whole_of(load);

    LLVMPositionBuilderBefore(builder, load);
    part = LLVMBuildLoad2(builder, LLVMTypeOf(user), place_of(builder, &whole, index), "");
    set_access(part, &whole, index);
    LLVMReplaceAllUsesWith(user, part);
    LLVMInstructionEraseFromParent(user);
    LLVMInstructionEraseFromParent(load);
}

/* A loop keeps a component in a register only if it is loaded in the way in which it is stored. */
static void part_loads(LLVMBuilderRef builder, LLVMValueRef store)
{
    LLVMValueRef at = LLVMGetPreviousInstruction(store), before;

    for (unsigned i = 0; i < MAX_DISTANCE && at; i++, at = before) {
        before = LLVMGetPreviousInstruction(at);
        if (is_load_for(at, store) && take_mark(at))
            part_load(builder, at);
    }
}

/* ---- All of a module --------------------------------------------------------------------------------------------- */

/* The load is deleted, too, if it has no other user: no pass would drop that of a volatile vector. */
static void part(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMValueRef vector;
    struct whole whole;

    if (!is_vector_store(at) || !take_mark(at) || !has_old_elements(at) || is_private(address_of(at)))
        return;
    part_loads(builder, at);
    vector = LLVMGetOperand(at, 0);
    whole = whole_of(at);
    LLVMPositionBuilderBefore(builder, at);
    store_changed(builder, &whole, without_subscripts(vector));
    store_subscripts(builder, &whole, vector);
    LLVMInstructionEraseFromParent(at);
    erase_unused(vector);
}

void kc_part_component_stores(LLVMModuleRef module)
{
    kc_visit(module, part);
}
