#include "kc/llvm.h"
#include "kc/workgroup/ir.h"
#include "kc/workgroup/passes.h"
#include "kc/workgroup/steps.h"

#include <string.h>

#define MAX_LANES   32u
#define MAX_DEPTH   8u /* of the arithmetic behind an index */
#define MAX_INDICES 8u /* of an address */

/* Values that lanes have one by one. */
struct lanes {
    unsigned n;
    LLVMValueRef of[MAX_LANES];
};

/* Stores of a vector's elements one by one, in their order. */
struct stores {
    LLVMValueRef vector;
    struct lanes all;
};

/* ---- Which stores -------------------------------------------------------------------------------------------------
 */

/* The vector whose element `lane` the value is; NULL: none. */
static LLVMValueRef vector_of(LLVMValueRef value, unsigned lane)
{
    LLVMValueRef index;

    if (!LLVMIsAExtractElementInst(value))
        return NULL;
    index = LLVMGetOperand(value, 1);
    return LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) == lane ? LLVMGetOperand(value, 0) : NULL;
}

/* The next of a block's instructions that may touch memory. */
static LLVMValueRef next_access(LLVMValueRef i)
{
    do
        i = LLVMGetNextInstruction(i);
    while (i && (LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || LLVMIsAGetElementPtrInst(i) ||
                 LLVMIsAExtractElementInst(i)));
    return i;
}

static bool is_plain_store(LLVMValueRef i)
{
    return i && LLVMIsAStoreInst(i) && !kc_is_volatile_or_atomic(i);
}

/* Do the stores of all elements of a vector begin here? */
static bool find_stores(LLVMValueRef i, struct stores *stores)
{
    *stores = (struct stores){.vector = is_plain_store(i) ? vector_of(LLVMGetOperand(i, 0), 0) : NULL};
    if (!stores->vector || LLVMGetVectorSize(LLVMTypeOf(stores->vector)) > MAX_LANES)
        return false;
    stores->all.n = LLVMGetVectorSize(LLVMTypeOf(stores->vector));
    for (unsigned lane = 0; lane < stores->all.n; lane++, i = next_access(i)) {
        if (!is_plain_store(i) || vector_of(LLVMGetOperand(i, 0), lane) != stores->vector)
            return false;
        stores->all.of[lane] = i;
    }
    return stores->all.n > 1;
}

static void operands_of(const struct lanes *lanes, unsigned k, struct lanes *operands)
{
    operands->n = lanes->n;
    for (unsigned i = 0; i < lanes->n; i++)
        operands->of[i] = LLVMGetOperand(lanes->of[i], k);
}

static bool are_same(const struct lanes *lanes)
{
    for (unsigned i = 1; i < lanes->n; i++)
        if (lanes->of[i] != lanes->of[0])
            return false;
    return true;
}

/* Addresses of one array's elements: sets *indices to their last ones. */
static bool find_indices(const struct lanes *addresses, struct lanes *indices)
{
    LLVMValueRef first = addresses->of[0];
    unsigned last = LLVMIsAGetElementPtrInst(first) ? (unsigned)LLVMGetNumOperands(first) - 1 : 0;

    if (!last || last > MAX_INDICES)
        return false;
    for (unsigned i = 1; i < addresses->n; i++)
        if (!LLVMIsAGetElementPtrInst(addresses->of[i]) ||
            LLVMGetNumOperands(addresses->of[i]) != LLVMGetNumOperands(first) ||
            LLVMGetGEPSourceElementType(addresses->of[i]) != LLVMGetGEPSourceElementType(first))
            return false;
    for (unsigned k = 0; k < last; k++) {
        operands_of(addresses, k, indices);
        if (!are_same(indices))
            return false;
    }
    operands_of(addresses, last, indices);
    return true;
}

/* ---- Lanes into a vector ------------------------------------------------------------------------------------------
 */

static LLVMValueRef joined(struct kc_wg *wg, const struct lanes *lanes, unsigned depth);

static LLVMValueRef splat(struct kc_wg *wg, LLVMValueRef value, unsigned n)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), n);
    LLVMValueRef one = LLVMBuildInsertElement(wg->builder, LLVMGetPoison(type), value, kc_i32(wg, 0), "");

    return LLVMBuildShuffleVector(wg->builder, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(wg->i32, n)), "");
}

static bool are_numbers(const struct lanes *lanes)
{
    for (unsigned i = 0; i < lanes->n; i++)
        if (!LLVMIsAConstantInt(lanes->of[i]))
            return false;
    return true;
}

/* The vector that the lanes' values are the elements of; NULL: none. */
static LLVMValueRef source_of(const struct lanes *lanes)
{
    LLVMValueRef vector = vector_of(lanes->of[0], 0);

    for (unsigned i = 1; i < lanes->n && vector; i++)
        if (vector_of(lanes->of[i], i) != vector)
            return NULL;
    return vector && LLVMGetVectorSize(LLVMTypeOf(vector)) == lanes->n ? vector : NULL;
}

/* The operation that all lanes from `first` on have; 0: no single one, or none that is followed. */
static LLVMOpcode operation_of(const struct lanes *lanes, unsigned first)
{
    LLVMValueRef of = lanes->of[first];
    LLVMOpcode operation = LLVMIsAInstruction(of) ? LLVMGetInstructionOpcode(of) : 0;

    for (unsigned i = first; i < lanes->n; i++)
        if (!LLVMIsAInstruction(lanes->of[i]) || LLVMGetInstructionOpcode(lanes->of[i]) != operation)
            return 0;
    switch (operation) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
        return operation;
    default:
        return 0;
    }
}

static LLVMValueRef cast(struct kc_wg *wg, const struct lanes *lanes, LLVMOpcode operation, unsigned depth)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(lanes->of[0]), lanes->n);
    struct lanes from;
    LLVMValueRef all;

    operands_of(lanes, 0, &from);
    all = joined(wg, &from, depth);
    return all ? LLVMBuildCast(wg->builder, operation, all, type, "") : NULL;
}

static LLVMValueRef operation(struct kc_wg *wg, const struct lanes *lanes, LLVMOpcode operation, unsigned depth)
{
    struct lanes left, right;
    LLVMValueRef l, r;

    operands_of(lanes, 0, &left);
    operands_of(lanes, 1, &right);
    l = joined(wg, &left, depth);
    r = l ? joined(wg, &right, depth) : NULL;
    return r ? LLVMBuildBinOp(wg->builder, operation, l, r, "") : NULL;
}

/* x, x + 1, x + 2 … or x, x | 1, x | 2 …: lane 0 has nothing to add. */
static LLVMValueRef steps(struct kc_wg *wg, const struct lanes *lanes, unsigned depth)
{
    LLVMOpcode operation = operation_of(lanes, 1);
    struct lanes left = {.n = lanes->n}, right = {.n = lanes->n};

    if (operation != LLVMAdd && operation != LLVMOr)
        return NULL;
    left.of[0] = lanes->of[0];
    right.of[0] = LLVMConstNull(LLVMTypeOf(lanes->of[0]));
    for (unsigned i = 1; i < lanes->n; i++) {
        left.of[i] = LLVMGetOperand(lanes->of[i], 0);
        right.of[i] = LLVMGetOperand(lanes->of[i], 1);
    }
    if (!are_same(&left) || !are_numbers(&right))
        return NULL;
    return LLVMBuildBinOp(wg->builder, operation, splat(wg, left.of[0], left.n), joined(wg, &right, depth), "");
}

/* Their values as one vector, made at the builder's place; NULL: what they have in common isn't seen. */
static LLVMValueRef joined(struct kc_wg *wg, const struct lanes *lanes, unsigned depth)
{
    LLVMOpcode one = operation_of(lanes, 0);
    LLVMValueRef numbers[MAX_LANES];

    if (are_same(lanes))
        return splat(wg, lanes->of[0], lanes->n);
    if (are_numbers(lanes)) {
        memcpy(numbers, lanes->of, lanes->n * sizeof(numbers[0]));
        return LLVMConstVector(numbers, lanes->n);
    }
    if (source_of(lanes))
        return source_of(lanes);
    if (depth == 0)
        return NULL;
    if (!one)
        return steps(wg, lanes, depth - 1);
    return LLVMIsACastInst(lanes->of[0]) ? cast(wg, lanes, one, depth - 1) : operation(wg, lanes, one, depth - 1);
}

/* ---- Stores into a scatter ----------------------------------------------------------------------------------------
 */

static LLVMValueRef addresses_of(struct kc_wg *wg, LLVMValueRef first, LLVMValueRef index)
{
    unsigned n = (unsigned)LLVMGetNumOperands(first) - 1;
    LLVMValueRef indices[MAX_INDICES];

    for (unsigned k = 0; k + 1 < n; k++)
        indices[k] = LLVMGetOperand(first, k + 1);
    indices[n - 1] = index;
    return LLVMBuildGEP2(wg->builder, LLVMGetGEPSourceElementType(first), LLVMGetOperand(first, 0), indices, n, "");
}

/* What the first of the stores says of aliases and the like holds for all. */
static void copy_metadata(LLVMValueRef from, LLVMValueRef to)
{
    size_t n;
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(from, &n);

    for (unsigned i = 0; i < n; i++)
        LLVMSetMetadata(
            to, LLVMValueMetadataEntriesGetKind(entries, i),
            LLVMMetadataAsValue(LLVMGetTypeContext(LLVMTypeOf(from)), LLVMValueMetadataEntriesGetMetadata(entries, i)));
    LLVMDisposeValueMetadataEntries(entries);
}

static void scatter(struct kc_wg *wg, const struct stores *stores, LLVMValueRef addresses)
{
    static const char name[] = "llvm.masked.scatter";
    LLVMTypeRef overloads[2] = {LLVMTypeOf(stores->vector), LLVMTypeOf(addresses)};
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(wg->module, LLVMLookupIntrinsicID(name, sizeof(name) - 1), overloads, 2);
    LLVMTypeRef mask = LLVMVectorType(LLVMInt1TypeInContext(wg->context), stores->all.n);
    LLVMValueRef args[4] = {stores->vector, addresses, kc_i32(wg, LLVMGetAlignment(stores->all.of[0])),
                            LLVMConstAllOnes(mask)};
    LLVMValueRef call = LLVMBuildCall2(wg->builder, LLVMGlobalGetValueType(function), function, args, 4, "");

    copy_metadata(stores->all.of[0], call);
    for (unsigned i = 0; i < stores->all.n; i++)
        LLVMInstructionEraseFromParent(stores->all.of[i]);
}

/* Where it is seen beforehand how far from each other the places are, single stores are as good. */
static void join(struct kc_wg *wg, const struct stores *stores)
{
    struct lanes addresses, indices;
    LLVMValueRef index;

    operands_of(&stores->all, 1, &addresses);
    if (!find_indices(&addresses, &indices))
        return;
    LLVMPositionBuilderBefore(wg->builder, stores->all.of[stores->all.n - 1]);
    index = joined(wg, &indices, MAX_DEPTH);
    if (!index || kc_steps_of(index).growth != KC_OPEN)
        return;
    scatter(wg, stores, addresses_of(wg, addresses.of[0], index));
}

static void join_all(struct kc_wg *wg, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef next;

        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            struct stores stores;

            next = LLVMGetNextInstruction(i);
            if (find_stores(i, &stores)) {
                next = LLVMGetNextInstruction(stores.all.of[stores.all.n - 1]);
                join(wg, &stores);
            }
        }
    }
}

void kc_wg_join_stores(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        join_all(&wg, f);
    LLVMDisposeBuilder(wg.builder);
}
