#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#define MOST      8u /* pieces of a vector */
#define MAX_LANES 32u

/* The program's vectors, one for each lane, scattered piece by piece. */
struct vectors {
    LLVMValueRef address; /* of each lane's vector */
    LLVMValueRef scatters[MOST];
    LLVMValueRef mask; /* NULL: all lanes */
    LLVMValueRef last; /* scatter */
    LLVMTypeRef type;  /* of a scatter's values */
    unsigned n, lanes, align;
    uint64_t size; /* of a piece */
};

/* ---- Finding them ------------------------------------------------------------------------------------------------ */

static bool is_scatter(LLVMValueRef i)
{
    LLVMValueRef callee = kc_wg_callee(i);

    return callee && kc_name_begins(callee, "llvm.masked.scatter.");
}

/* Takes a constant number of bytes off the addresses of all lanes. */
static LLVMValueRef without_offset(const struct kc_wg *wg, LLVMValueRef address, uint64_t *offset)
{
    LLVMValueRef by, from;

    *offset = 0;
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2)
        return address;
    from = LLVMGetOperand(address, 0);
    by = LLVMGetOperand(address, 1);
    if (LLVMGetTypeKind(LLVMTypeOf(from)) != LLVMVectorTypeKind || !LLVMIsAConstantInt(by))
        return address;
    *offset = LLVMConstIntGetZExtValue(by) * LLVMABISizeOfType(wg->layout, LLVMGetGEPSourceElementType(address));
    return from;
}

static bool touches_memory(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAFenceInst(i) ||
           kc_is_volatile_or_atomic(i);
}

static bool is_like(LLVMValueRef scatter, const struct vectors *v)
{
    return is_scatter(scatter) && LLVMTypeOf(LLVMGetOperand(scatter, 0)) == v->type &&
           LLVMGetOperand(scatter, 3) == v->mask;
}

/* Finds the vectors whose first piece is scattered first. Nothing between the scatters may see memory. */
static bool find(const struct kc_wg *wg, LLVMValueRef first, struct vectors *v)
{
    uint64_t offset;

    if (!is_scatter(first))
        return false;
    *v = (struct vectors){.type = LLVMTypeOf(LLVMGetOperand(first, 0)),
                          .mask = LLVMGetOperand(first, 3),
                          .align = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(first, 2))};
    v->address = without_offset(wg, LLVMGetOperand(first, 1), &offset);
    v->lanes = LLVMGetVectorSize(v->type);
    v->size = LLVMABISizeOfType(wg->layout, LLVMGetElementType(v->type));
    for (LLVMValueRef i = first; i && v->n < MOST; i = LLVMGetNextInstruction(i)) {
        if (!touches_memory(i))
            continue;
        if (!is_like(i, v) || without_offset(wg, LLVMGetOperand(i, 1), &offset) != v->address ||
            offset != v->n * v->size)
            break;
        v->scatters[v->n++] = v->last = i;
    }
    if (v->mask == LLVMConstAllOnes(LLVMTypeOf(v->mask)))
        v->mask = NULL;
    while (v->n & (v->n - 1))
        v->n--;
    v->last = v->scatters[v->n ? v->n - 1 : 0];
    return (v->n >= 2 || (v->n && v->mask)) && v->lanes <= MAX_LANES && v->lanes % v->n == 0;
}

/* ---- The stores -------------------------------------------------------------------------------------------------- */

/* Elements of two vectors in turns, of their first or their second halves. */
static LLVMValueRef in_turns(struct kc_wg *wg, LLVMValueRef a, LLVMValueRef b, unsigned lanes, bool second)
{
    LLVMValueRef which[MAX_LANES];

    for (unsigned i = 0; i < lanes; i++)
        which[i] = kc_i32(wg, (second ? lanes / 2 : 0) + i / 2 + (i % 2 ? lanes : 0));
    return LLVMBuildShuffleVector(wg->builder, a, b, LLVMConstVector(which, lanes), "");
}

/* Pieces become rows in which the pieces of a lane lie behind each other. */
static void gather_rows(struct kc_wg *wg, LLVMValueRef *rows, unsigned n, unsigned lanes)
{
    LLVMValueRef even[MOST], odd[MOST];

    if (n == 1)
        return;
    for (unsigned i = 0; i < n / 2; i++) {
        even[i] = rows[2 * i];
        odd[i] = rows[2 * i + 1];
    }
    gather_rows(wg, even, n / 2, lanes);
    gather_rows(wg, odd, n / 2, lanes);
    for (unsigned i = 0; i < n / 2; i++) {
        rows[2 * i] = in_turns(wg, even[i], odd[i], lanes, false);
        rows[2 * i + 1] = in_turns(wg, even[i], odd[i], lanes, true);
    }
}

static LLVMValueRef part_of(struct kc_wg *wg, LLVMValueRef row, unsigned first, unsigned n)
{
    LLVMValueRef which[MOST];

    for (unsigned i = 0; i < n; i++)
        which[i] = kc_i32(wg, first + i);
    return LLVMBuildShuffleVector(wg->builder, row, LLVMGetPoison(LLVMTypeOf(row)), LLVMConstVector(which, n), "");
}

/* All lanes' vectors, in the order of lanes as scatters store, at the builder's position. */
static void store_all(struct kc_wg *wg, const struct vectors *v)
{
    LLVMValueRef rows[MOST], store;
    unsigned of_row = v->lanes / v->n;

    for (unsigned i = 0; i < v->n; i++)
        rows[i] = LLVMGetOperand(v->scatters[i], 0);
    gather_rows(wg, rows, v->n, v->lanes);
    for (unsigned lane = 0; lane < v->lanes; lane++) {
        LLVMValueRef address = LLVMBuildExtractElement(wg->builder, v->address, kc_i32(wg, lane), "");

        store = LLVMBuildStore(wg->builder, part_of(wg, rows[lane / of_row], lane % of_row * v->n, v->n), address);
        LLVMSetAlignment(store, v->align);
    }
}

/* Scatters that take as long for no lane as for all move behind a branch. Ends at the block behind. */
static void move_scatters(struct kc_wg *wg, const struct vectors *v, LLVMBasicBlockRef after)
{
    LLVMBasicBlockRef any = LLVMInsertBasicBlockInContext(wg->context, after, "");
    LLVMValueRef none = LLVMBuildIsNull(wg->builder, kc_mask_bits(wg, v->mask), "");

    LLVMBuildCondBr(wg->builder, none, after, any);
    LLVMPositionBuilderAtEnd(wg->builder, any);
    for (unsigned i = 0; i < v->n; i++) {
        LLVMInstructionRemoveFromParent(v->scatters[i]);
        LLVMInsertIntoBuilder(wg->builder, v->scatters[i]);
    }
    LLVMBuildBr(wg->builder, after);
}

static void store_by_mask(struct kc_wg *wg, const struct vectors *v, LLVMBasicBlockRef after)
{
    LLVMBasicBlockRef all = LLVMInsertBasicBlockInContext(wg->context, after, "");
    LLVMBasicBlockRef some = LLVMInsertBasicBlockInContext(wg->context, after, "");

    LLVMBuildCondBr(wg->builder, kc_are_all(wg, v->mask), all, some);
    LLVMPositionBuilderAtEnd(wg->builder, all);
    store_all(wg, v);
    LLVMBuildBr(wg->builder, after);
    LLVMPositionBuilderAtEnd(wg->builder, some);
}

/* Returns the block behind the stores. */
static LLVMBasicBlockRef replace(struct kc_wg *wg, const struct vectors *v)
{
    LLVMValueRef behind = LLVMGetNextInstruction(v->last);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(behind), after;

    if (!v->mask) {
        LLVMPositionBuilderBefore(wg->builder, behind);
        store_all(wg, v);
        for (unsigned i = 0; i < v->n; i++)
            LLVMInstructionEraseFromParent(v->scatters[i]);
        return before;
    }
    after = kc_split_before(behind);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(wg->builder, before);
    if (v->n > 1)
        store_by_mask(wg, v, after);
    move_scatters(wg, v, after);
    return after;
}

static void replace_all(struct kc_wg *wg, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef i = LLVMGetFirstInstruction(block);
        struct vectors v;

        while (i)
            if (find(wg, i, &v)) {
                block = replace(wg, &v);
                i = LLVMGetFirstInstruction(block);
            } else {
                i = LLVMGetNextInstruction(i);
            }
    }
}

void kc_wg_store_vectors(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.layout = LLVMGetModuleDataLayout(module);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    wg.i64 = LLVMInt64TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        replace_all(&wg, f);
    LLVMDisposeBuilder(wg.builder);
}
