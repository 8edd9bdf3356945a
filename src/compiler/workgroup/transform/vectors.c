#include "compiler/workgroup/transform/vectors.h"

#include "compiler/support/llvm.h"
#include "compiler/workgroup/map.h"
#include "compiler/workgroup/memory.h"

#include <stdlib.h>

/* How far a value is followed; what is further counts as the worse case. */
#define MAX_DEPTH 12

/* One vector in memory. */
struct vector {
    LLVMValueRef access, base;
    LLVMTypeRef element;
    unsigned n, bits; /* elements, bits of each */
    unsigned at_once; /* elements that are loaded or stored in one piece */
};

/* ---- Addresses that differ between lanes ------------------------------------------------------------------------- */

static bool is_id(LLVMValueRef value)
{
    return LLVMIsACallInst(value) && (kc_call_of(value) == KC_CALL_GLOBAL_ID || kc_call_of(value) == KC_CALL_LOCAL_ID);
}

/* Is it made of a local or global id? Each value is looked at once. */
static bool has_id(LLVMValueRef value, struct kc_map *seen)
{
    if (!LLVMIsAInstruction(value) || kc_map_get(seen, value))
        return false;
    kc_map_set(seen, value, 1);
    if (is_id(value))
        return true;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(value); k++)
        if (!LLVMValueIsBasicBlock(LLVMGetOperand(value, k)) && has_id(LLVMGetOperand(value, k), seen))
            return true;
    return false;
}

bool kc_address_differs(LLVMValueRef address)
{
    struct kc_map seen = {.n = 0};
    bool found = has_id(address, &seen);

    kc_map_clear(&seen);
    return found;
}

/* ---- Vectors that are written in part ---------------------------------------------------------------------------- */

static bool passes_on(LLVMValueRef value)
{
    return LLVMIsAInsertElementInst(value) || LLVMIsAExtractElementInst(value) || LLVMIsAShuffleVectorInst(value) ||
           LLVMIsAPHINode(value) || LLVMIsASelectInst(value);
}

/* Do some of the value's elements come from where it is stored? */
static bool is_from(LLVMValueRef value, LLVMValueRef place, unsigned depth)
{
    if (LLVMIsALoadInst(value))
        return depth > 0 && LLVMGetOperand(value, 0) == place;
    if (!LLVMIsAInstruction(value) || !passes_on(value))
        return false;
    if (depth == MAX_DEPTH)
        return true;
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(value); k++)
        if (is_from(LLVMGetOperand(value, k), place, depth + 1))
            return true;
    return false;
}

/* Are some of the value's elements stored where it was loaded? */
static bool goes_back(LLVMValueRef value, LLVMValueRef place, unsigned depth)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAStoreInst(user) && depth > 0 && LLVMGetOperand(user, 1) == place)
            return true;
        if (passes_on(user) && (depth == MAX_DEPTH || goes_back(user, place, depth + 1)))
            return true;
    }
    return false;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static LLVMTypeRef type_of(LLVMValueRef access)
{
    return LLVMTypeOf(LLVMIsALoadInst(access) ? access : LLVMGetOperand(access, 0));
}

/* How many elements are taken together. */
static unsigned piece_of(const struct vector *vector)
{
    bool shared = LLVMGetPointerAddressSpace(LLVMTypeOf(vector->base)) != 0; /* not private */
    bool part = LLVMIsALoadInst(vector->access) ? goes_back(vector->access, vector->base, 0)
                                                : is_from(LLVMGetOperand(vector->access, 0), vector->base, 0);

    return vector->bits < 64 && shared && !part && kc_address_differs(vector->base) ? 64 / vector->bits : 1;
}

/* False: no vector, or one whose elements aren't whole bytes, one after the other. */
static bool find_vector(struct kc_wg *wg, LLVMValueRef access, struct vector *vector)
{
    LLVMTypeRef type;

    if ((!LLVMIsALoadInst(access) && !LLVMIsAStoreInst(access)) || kc_is_volatile_or_atomic(access))
        return false;
    type = type_of(access);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return false;
    *vector = (struct vector){.access = access,
                              .base = LLVMGetOperand(access, LLVMIsALoadInst(access) ? 0 : 1),
                              .element = LLVMGetElementType(type),
                              .n = LLVMGetVectorSize(type)};
    vector->bits = (unsigned)LLVMSizeOfTypeInBits(wg->layout, vector->element);
    if (vector->bits < 8 || (vector->bits & (vector->bits - 1)))
        return false;
    vector->at_once = piece_of(vector);
    return true;
}

/* Elements first … first + result - 1 are one piece: a power of two of them. */
static unsigned piece_at(const struct vector *vector, unsigned first)
{
    unsigned n = vector->at_once;

    while (n > vector->n - first)
        n /= 2;
    return n;
}

static LLVMValueRef place_of(struct kc_wg *wg, const struct vector *vector, unsigned first)
{
    LLVMValueRef index = kc_i64(wg, first);

    return LLVMBuildGEP2(wg->builder, vector->element, vector->base, &index, 1, "");
}

static unsigned align_of(const struct vector *vector, unsigned n)
{
    unsigned align = LLVMGetAlignment(vector->access), size = n * vector->bits / 8;

    return align < size ? align : size;
}

static LLVMTypeRef integer(struct kc_wg *wg, const struct vector *vector, unsigned n)
{
    return LLVMIntTypeInContext(wg->context, n * vector->bits);
}

/* One element of a piece; the first one lies in the lowest bits. */
static LLVMValueRef element_of(struct kc_wg *wg, const struct vector *vector, LLVMValueRef piece, unsigned k)
{
    LLVMTypeRef type = LLVMTypeOf(piece);
    LLVMValueRef shifted = LLVMBuildLShr(wg->builder, piece, LLVMConstInt(type, k * vector->bits, false), "");

    return LLVMBuildBitCast(wg->builder, LLVMBuildTrunc(wg->builder, shifted, integer(wg, vector, 1), ""),
                            vector->element, "");
}

/* Who takes one element gets it; for others the vector is put together. */
static void give_elements(struct kc_wg *wg, const struct vector *vector, LLVMValueRef *elements)
{
    LLVMValueRef load = vector->access, whole;
    LLVMUseRef next;

    for (LLVMUseRef use = LLVMGetFirstUse(load); use; use = next) {
        LLVMValueRef user = LLVMGetUser(use), index;

        next = LLVMGetNextUse(use);
        index = LLVMIsAExtractElementInst(user) ? LLVMGetOperand(user, 1) : NULL;
        if (!index || !LLVMIsAConstantInt(index) || LLVMConstIntGetZExtValue(index) >= vector->n)
            continue;
        LLVMReplaceAllUsesWith(user, elements[LLVMConstIntGetZExtValue(index)]);
        LLVMInstructionEraseFromParent(user);
    }
    if (!LLVMGetFirstUse(load))
        return;
    whole = LLVMGetPoison(LLVMTypeOf(load));
    for (unsigned k = 0; k < vector->n; k++)
        whole = LLVMBuildInsertElement(wg->builder, whole, elements[k], kc_i32(wg, k), "");
    LLVMReplaceAllUsesWith(load, whole);
}

static void split_load(struct kc_wg *wg, const struct vector *vector)
{
    LLVMValueRef *elements = kc_alloc(vector->n, sizeof(LLVMValueRef));

    for (unsigned first = 0, n; first < vector->n; first += n) {
        LLVMValueRef piece;

        n = piece_at(vector, first);
        piece = LLVMBuildLoad2(wg->builder, n > 1 ? integer(wg, vector, n) : vector->element,
                               place_of(wg, vector, first), "");
        LLVMSetAlignment(piece, align_of(vector, n));
        for (unsigned k = 0; k < n; k++)
            elements[first + k] = n > 1 ? element_of(wg, vector, piece, k) : piece;
    }
    give_elements(wg, vector, elements);
    free(elements);
}

/* An element of what is stored, where it was put into the vector if that is seen. */
static LLVMValueRef stored_element(struct kc_wg *wg, const struct vector *vector, unsigned k)
{
    LLVMValueRef whole = LLVMGetOperand(vector->access, 0), at = whole;

    while (LLVMIsAInsertElementInst(at) && LLVMIsAConstantInt(LLVMGetOperand(at, 2))) {
        if (LLVMConstIntGetZExtValue(LLVMGetOperand(at, 2)) == k)
            return LLVMGetOperand(at, 1);
        at = LLVMGetOperand(at, 0);
    }
    return LLVMBuildExtractElement(wg->builder, at, kc_i32(wg, k), "");
}

static void erase_unused(LLVMValueRef value)
{
    while (LLVMIsAInsertElementInst(value) && !LLVMGetFirstUse(value)) {
        LLVMValueRef before = LLVMGetOperand(value, 0);

        LLVMInstructionEraseFromParent(value);
        value = before;
    }
}

/* Elements as an integer. One without a value (a conversion out of range, say) must not take it from the others. */
static LLVMValueRef piece_from(struct kc_wg *wg, const struct vector *vector, unsigned first, unsigned n)
{
    LLVMTypeRef type = integer(wg, vector, n);
    LLVMValueRef piece = LLVMConstNull(type);

    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef part = stored_element(wg, vector, first + k);

        part = LLVMBuildBitCast(wg->builder, LLVMBuildFreeze(wg->builder, part, ""), integer(wg, vector, 1), "");
        part = LLVMBuildShl(wg->builder, LLVMBuildZExt(wg->builder, part, type, ""),
                            LLVMConstInt(type, k * vector->bits, false), "");
        piece = LLVMBuildOr(wg->builder, piece, part, "");
    }
    return piece;
}

static void split_store(struct kc_wg *wg, const struct vector *vector)
{
    for (unsigned first = 0, n; first < vector->n; first += n) {
        LLVMValueRef part, to;

        n = piece_at(vector, first);
        part = n > 1 ? piece_from(wg, vector, first, n) : stored_element(wg, vector, first);
        to = LLVMBuildStore(wg->builder, part, place_of(wg, vector, first));
        LLVMSetAlignment(to, align_of(vector, n));
    }
}

/* ---- All of a kernel --------------------------------------------------------------------------------------------- */

/* First it is seen what all are, while all are whole. pieces: also those that go in pieces. */
static struct vector *find_all(struct kc_wg *wg, bool pieces, unsigned *n)
{
    struct vector *all = NULL, vector;

    *n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); b; b = LLVMGetNextBasicBlock(b))
        for (KC_EACH_INSTRUCTION(i, b)) {
            if (!find_vector(wg, i, &vector) || (!pieces && vector.at_once > 1))
                continue;
            all = kc_more(all, *n, sizeof(*all));
            all[(*n)++] = vector;
        }
    return all;
}

static void split_all(struct kc_wg *wg, bool pieces)
{
    unsigned n;
    struct vector *all = find_all(wg, pieces, &n);

    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef stored = LLVMIsAStoreInst(all[i].access) ? LLVMGetOperand(all[i].access, 0) : NULL;

        LLVMPositionBuilderBefore(wg->builder, all[i].access);
        if (stored)
            split_store(wg, &all[i]);
        else
            split_load(wg, &all[i]);
        LLVMInstructionEraseFromParent(all[i].access);
        if (stored)
            erase_unused(stored);
    }
    free(all);
}

void kc_split_elements(struct kc_wg *wg)
{
    split_all(wg, false);
}

void kc_split_pieces(struct kc_wg *wg)
{
    split_all(wg, true);
}
