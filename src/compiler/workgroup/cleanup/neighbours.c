#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/lane_stores.h"
#include "compiler/workgroup/analysis/steps.h"
#include "compiler/workgroup/cleanup/passes.h"

#include <string.h>

#define MAX_LANES   64u
#define MIN_BITS    8u /* of an index: enough to count all lanes, unlike booleans */
#define MAX_INDICES 8u /* of an address */

/* A gather or scatter of an array's elements: lane i accesses element index[i]. */
struct access {
    LLVMValueRef call;           /* NULL: stores lane by lane */
    LLVMValueRef first, last;    /* the instructions of the access: the call, or these stores */
    LLVMValueRef value;          /* stored, or the result of lanes outside the mask */
    LLVMValueRef address, index; /* index: before its extension to the width of addresses */
    LLVMValueRef mask;           /* NULL: all lanes */
    bool stores, is_signed;
    LLVMTypeRef type; /* of all lanes' elements */
    unsigned lanes, align;
};

/* ---- Finding the accesses ---------------------------------------------------------------------------------------- */

/* The element type that an address's last index counts; NULL: not seen. */
static LLVMTypeRef counted_type(LLVMValueRef address)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);

    for (unsigned k = 2; k < (unsigned)LLVMGetNumOperands(address); k++) {
        if (LLVMGetTypeKind(type) != LLVMArrayTypeKind)
            return NULL;
        type = LLVMGetElementType(type);
    }
    return type;
}

static bool is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

/* Sets the address's last index. False: it doesn't count elements. */
static bool set_index(struct kc_wg *wg, struct access *access, LLVMValueRef index)
{
    LLVMTypeRef counted = counted_type(access->address), element = LLVMGetElementType(access->type);

    if (!counted || LLVMABISizeOfType(wg->layout, counted) != LLVMABISizeOfType(wg->layout, element))
        return false;
    access->is_signed = !LLVMIsAZExtInst(index);
    access->index = LLVMIsAZExtInst(index) || LLVMIsASExtInst(index) ? LLVMGetOperand(index, 0) : index;
    return LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(access->index))) >= MIN_BITS;
}

/* Does only the last index differ between lanes? */
static bool find_index(struct kc_wg *wg, struct access *access)
{
    LLVMValueRef address = access->address;
    unsigned last = LLVMIsAGetElementPtrInst(address) ? (unsigned)LLVMGetNumOperands(address) - 1 : 0;

    if (!last || last > MAX_INDICES || !is_vector(LLVMGetOperand(address, last)))
        return false;
    for (unsigned k = 0; k < last; k++)
        if (is_vector(LLVMGetOperand(address, k)))
            return false;
    return set_index(wg, access, LLVMGetOperand(address, last));
}

/* With AVX-512, gathering sixteen numbers from the nearest cache costs hardly more than the test; scattering costs five
 * times as much. */
static bool is_worth_asking(const struct access *access)
{
    struct kc_steps steps = kc_steps_of(access->index);

    return steps.growth == KC_OPEN ? access->stores : steps.growth != KC_SCATTERED && steps.step == 1;
}

/* Finds stores lane by lane. */
static bool find_stores(struct kc_wg *wg, LLVMValueRef i, struct access *access)
{
    struct kc_lane_stores stores;

    if (!LLVMIsAStoreInst(i) || !kc_find_lane_stores(wg, i, &stores))
        return false;
    *access = (struct access){.first = i,
                              .last = stores.last,
                              .value = stores.vector,
                              .address = stores.address,
                              .stores = true,
                              .type = LLVMTypeOf(stores.vector),
                              .lanes = LLVMGetVectorSize(LLVMTypeOf(stores.vector)),
                              .align = LLVMGetAlignment(i)};
    return set_index(wg, access, stores.index) && is_worth_asking(access);
}

static bool find_call(struct kc_wg *wg, LLVMValueRef i, struct access *access)
{
    LLVMValueRef callee = kc_wg_callee(i);

    *access = (struct access){.call = i, .first = i, .last = i};
    if (!callee)
        return false;
    access->stores = kc_name_begins(callee, "llvm.masked.scatter.");
    if (!access->stores && !kc_name_begins(callee, "llvm.masked.gather."))
        return false;
    access->type = LLVMTypeOf(access->stores ? LLVMGetOperand(i, 0) : i);
    access->address = LLVMGetOperand(i, access->stores ? 1 : 0);
    access->align = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, access->stores ? 2 : 1));
    access->mask = LLVMGetOperand(i, access->stores ? 3 : 2);
    if (access->mask == LLVMConstAllOnes(LLVMTypeOf(access->mask)))
        access->mask = NULL;
    access->value = LLVMGetOperand(i, access->stores ? 0 : 3);
    access->lanes = LLVMGetVectorSize(access->type);
    return access->lanes <= MAX_LANES && find_index(wg, access) && is_worth_asking(access);
}

/* ---- The test ---------------------------------------------------------------------------------------------------- */

/* first, first + 1 … for all lanes. */
static LLVMValueRef row_from(struct kc_wg *wg, LLVMValueRef first, unsigned lanes)
{
    LLVMValueRef steps[MAX_LANES];

    for (unsigned i = 0; i < lanes; i++)
        steps[i] = LLVMConstInt(LLVMTypeOf(first), i, false);
    return LLVMBuildAdd(wg->builder, kc_splat(wg, first, lanes), LLVMConstVector(steps, lanes), "");
}

/* The index at which a row would begin. A row beyond the end of the index's type isn't one of addresses: its index is
 * moved, so that the test fails. */
static LLVMValueRef begin_of_row(struct kc_wg *wg, const struct access *access, LLVMValueRef first)
{
    LLVMTypeRef type = LLVMTypeOf(first);
    unsigned bits = LLVMGetIntTypeWidth(type);
    uint64_t end = UINT64_MAX >> (64 - bits + (access->is_signed ? 1 : 0));
    LLVMValueRef last = LLVMConstInt(type, end - (access->lanes - 1), false), fits;

    if (bits == 64)
        return first;
    fits = LLVMBuildICmp(wg->builder, access->is_signed ? LLVMIntSLT : LLVMIntULT, first, last, "");
    return LLVMBuildSelect(wg->builder, fits, first, last, "");
}

/* Tests for neighbours and sets *first to lane 0's index. Indices outside the mask may be anything, even poison. */
static LLVMValueRef are_neighbours(struct kc_wg *wg, const struct access *access, LLVMValueRef *first)
{
    LLVMBuilderRef b = wg->builder;
    LLVMValueRef index = LLVMBuildFreeze(b, access->index, ""), same;

    *first = LLVMBuildExtractElement(b, index, kc_i32(wg, 0), "");
    same = LLVMBuildICmp(b, LLVMIntEQ, index, row_from(wg, begin_of_row(wg, access, *first), access->lanes), "");
    return kc_are_all(wg, same);
}

/* ---- The accesses ------------------------------------------------------------------------------------------------ */

/* The address of the array that the last index counts in. */
static LLVMValueRef array_of(struct kc_wg *wg, const struct access *access)
{
    LLVMValueRef indices[MAX_INDICES];
    unsigned n = (unsigned)LLVMGetNumOperands(access->address) - 1;

    for (unsigned k = 0; k + 1 < n; k++)
        indices[k] = LLVMGetOperand(access->address, k + 1);
    indices[n - 1] = kc_i64(wg, 0);
    return LLVMBuildGEP2(wg->builder, LLVMGetGEPSourceElementType(access->address), LLVMGetOperand(access->address, 0),
                         indices, n, "");
}

static LLVMValueRef extended(struct kc_wg *wg, const struct access *access, LLVMValueRef index, LLVMTypeRef type)
{
    return access->is_signed ? LLVMBuildSExt(wg->builder, index, type, "")
                             : LLVMBuildZExt(wg->builder, index, type, "");
}

static LLVMValueRef masked(struct kc_wg *wg, const struct access *access, LLVMValueRef place)
{
    const char *name = access->stores ? "llvm.masked.store" : "llvm.masked.load";
    LLVMTypeRef overloads[2] = {access->type, LLVMTypeOf(place)};
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name)), n = 0;
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(wg->module, id, overloads, 2), args[4];

    if (access->stores)
        args[n++] = access->value;
    args[n++] = place;
    args[n++] = kc_i32(wg, access->align);
    args[n++] = access->mask;
    if (!access->stores)
        args[n++] = access->value;
    return LLVMBuildCall2(wg->builder, LLVMGlobalGetValueType(function), function, args, n, "");
}

static LLVMValueRef access_row(struct kc_wg *wg, const struct access *access, LLVMValueRef array, LLVMValueRef first)
{
    LLVMTypeRef element = LLVMGetElementType(access->type);
    LLVMValueRef index = extended(wg, access, first, wg->i64), place, result;

    place = LLVMBuildGEP2(wg->builder, element, array, &index, 1, "");
    if (access->mask)
        return masked(wg, access, place);
    result = access->stores ? LLVMBuildStore(wg->builder, access->value, place)
                            : LLVMBuildLoad2(wg->builder, access->type, place, "");
    LLVMSetAlignment(result, access->align);
    return result;
}

/* The back end uses array and indices for its gathers only if it sees the computation of addresses in the same
 * block. */
static void move_addresses(struct kc_wg *wg, const struct access *access, LLVMValueRef array)
{
    LLVMTypeRef element = LLVMGetElementType(access->type);
    LLVMValueRef index, addresses;

    LLVMPositionBuilderBefore(wg->builder, access->call);
    index = extended(wg, access, access->index, LLVMVectorType(wg->i64, access->lanes));
    addresses = LLVMBuildGEP2(wg->builder, element, array, &index, 1, "");
    LLVMSetOperand(access->call, access->stores ? 1 : 0, addresses);
}

/* Returns the block behind the access. */
static LLVMBasicBlockRef part(struct kc_wg *wg, const struct access *access)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(access->first), far = kc_split_before(access->first);
    LLVMBasicBlockRef after = kc_split_before(LLVMGetNextInstruction(access->last)), near;
    LLVMValueRef array, first, neighbours, row, result;

    near = LLVMInsertBasicBlockInContext(wg->context, far, "");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(b, before);
    array = array_of(wg, access);
    neighbours = are_neighbours(wg, access, &first);
    LLVMBuildCondBr(b, neighbours, near, far);
    LLVMPositionBuilderAtEnd(b, near);
    row = access_row(wg, access, array, first);
    LLVMBuildBr(b, after);
    if (access->call)
        move_addresses(wg, access, array);
    if (!access->stores) {
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(after));
        result = LLVMBuildPhi(b, access->type, "");
        LLVMReplaceAllUsesWith(access->call, result);
        LLVMAddIncoming(result, (LLVMValueRef[]){row, access->call}, (LLVMBasicBlockRef[]){near, far}, 2);
    }
    return after;
}

static void part_all(struct kc_wg *wg, LLVMValueRef function, bool lanes)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            struct access access;

            if (find_call(wg, i, &access) || (lanes && find_stores(wg, i, &access))) {
                block = part(wg, &access);
                next = LLVMGetFirstInstruction(block);
            } else {
                next = LLVMGetNextInstruction(i);
            }
        }
}

void kc_wg_part_neighbours(LLVMModuleRef module, bool lanes)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.layout = LLVMGetModuleDataLayout(module);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    wg.i64 = LLVMInt64TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        part_all(&wg, f, lanes);
    LLVMDisposeBuilder(wg.builder);
}
