#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/flow.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

/* With more lanes than that there are too few registers for their indices. */
#define MAX_LANES 8u

/* A gather of elements base[begin[lane] + along], whose lanes' begins are known before the loop around it. Extensions
 * (NULL: none) are of begin, and of the sum. */
struct row_gather {
    LLVMValueRef call, base, begin, mask;
    LLVMValueRef along; /* NULL: 0 */
    LLVMValueRef inner, outer;
    LLVMTypeRef type;
    unsigned lanes, align;
};

/* ---- Finding them ------------------------------------------------------------------------------------------------ */

/* The scalar that all elements of a vector are; NULL: not seen. */
static LLVMValueRef splatted(LLVMValueRef vector)
{
    LLVMValueRef insert;

    if (!LLVMIsAShuffleVectorInst(vector))
        return NULL;
    for (unsigned i = 0; i < LLVMGetNumMaskElements(vector); i++)
        if (LLVMGetMaskValue(vector, i) != 0)
            return NULL;
    insert = LLVMGetOperand(vector, 0);
    if (!LLVMIsAInsertElementInst(insert) || !LLVMIsNull(LLVMGetOperand(insert, 2)))
        return NULL;
    return LLVMGetOperand(insert, 1);
}

static bool is_extension(LLVMValueRef value)
{
    return LLVMIsASExtInst(value) || LLVMIsAZExtInst(value);
}

/* Is the vector there before the loop, but for its extension? */
static bool set_begin(struct row_gather *row, const struct kc_flow *flow, LLVMValueRef vector, int loop)
{
    row->inner = is_extension(vector) ? vector : NULL;
    row->begin = row->inner ? LLVMGetOperand(vector, 0) : vector;
    return LLVMIsAInstruction(row->begin) &&
           !kc_bits_get(&flow->loops[loop].blocks, (size_t)kc_flow_number(flow, LLVMGetInstructionParent(row->begin)));
}

/* Takes the index apart. What lanes share may be in the base already. */
static bool set_sum(struct row_gather *row, const struct kc_flow *flow, LLVMValueRef index, int loop)
{
    row->along = row->outer = NULL;
    if (set_begin(row, flow, index, loop))
        return true;
    row->outer = is_extension(index) ? index : NULL;
    index = row->outer ? LLVMGetOperand(index, 0) : index;
    for (unsigned k = 0; LLVMIsABinaryOperator(index) && LLVMGetInstructionOpcode(index) == LLVMAdd && k < 2; k++) {
        row->along = splatted(LLVMGetOperand(index, 1 - k));
        if (row->along && set_begin(row, flow, LLVMGetOperand(index, k), loop))
            return true;
    }
    return false;
}

static bool is_same(LLVMValueRef a, LLVMValueRef b)
{
    return !a || !b ? a == b : LLVMGetInstructionOpcode(a) == LLVMGetInstructionOpcode(b);
}

/* Jump threading leaves the same sum in several blocks. */
static bool set_index(struct row_gather *row, const struct kc_flow *flow, LLVMValueRef index, int loop)
{
    struct row_gather other = *row;

    if (set_sum(row, flow, index, loop))
        return true;
    if (!LLVMIsAPHINode(index) || !set_sum(row, flow, LLVMGetIncomingValue(index, 0), loop))
        return false;
    for (unsigned k = 1; k < LLVMCountIncoming(index); k++)
        if (!set_sum(&other, flow, LLVMGetIncomingValue(index, k), loop) || other.begin != row->begin ||
            other.along != row->along || !is_same(other.inner, row->inner) || !is_same(other.outer, row->outer))
            return false;
    return true;
}

static bool find(const struct kc_flow *flow, LLVMValueRef i, int loop, struct row_gather *row)
{
    LLVMValueRef callee = kc_wg_callee(i), address;

    if (!callee || !kc_name_begins(callee, "llvm.masked.gather.") || loop == KC_NONE)
        return false;
    address = LLVMGetOperand(i, 0);
    *row = (struct row_gather){.call = i,
                               .mask = LLVMGetOperand(i, 2),
                               .type = LLVMTypeOf(i),
                               .lanes = LLVMGetVectorSize(LLVMTypeOf(i)),
                               .align = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1))};
    if (row->lanes > MAX_LANES || !LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2 ||
        LLVMGetGEPSourceElementType(address) != LLVMGetElementType(row->type))
        return false;
    row->base = LLVMGetOperand(address, 0);
    return LLVMGetTypeKind(LLVMTypeOf(row->base)) == LLVMPointerTypeKind &&
           set_index(row, flow, LLVMGetOperand(address, 1), loop);
}

/* ---- The loads --------------------------------------------------------------------------------------------------- */

/* One lane's number, extended as those of all lanes are. */
static LLVMValueRef extended(struct kc_wg *wg, LLVMValueRef extension, LLVMValueRef number)
{
    LLVMTypeRef type = extension ? LLVMGetElementType(LLVMTypeOf(extension)) : NULL;

    if (!extension)
        return number;
    return LLVMIsASExtInst(extension) ? LLVMBuildSExt(wg->builder, number, type, "")
                                      : LLVMBuildZExt(wg->builder, number, type, "");
}

/* Where a lane's row begins, taken out of its vector before the loop. */
static LLVMValueRef begin_of(struct kc_wg *wg, const struct row_gather *row, unsigned lane)
{
    LLVMValueRef vector = row->begin, before = LLVMGetNextInstruction(vector);

    if (LLVMIsAPHINode(vector))
        before = kc_first_after_phis(LLVMGetInstructionParent(vector));
    LLVMPositionBuilderBefore(wg->builder, before);
    return extended(wg, row->inner, LLVMBuildExtractElement(wg->builder, vector, kc_i32(wg, lane), ""));
}

/* All lanes' elements, one after the other, at the end of a block. */
static LLVMValueRef load_each(struct kc_wg *wg, const struct row_gather *row, LLVMBasicBlockRef block)
{
    LLVMBuilderRef b = wg->builder;
    LLVMTypeRef element = LLVMGetElementType(row->type);
    LLVMValueRef along = row->along, place = row->base, all = LLVMGetPoison(row->type), index, one;

    LLVMPositionBuilderAtEnd(b, block);
    if (along && !row->outer)
        place = LLVMBuildGEP2(b, element, place, &along, 1, "");
    for (unsigned lane = 0; lane < row->lanes; lane++) {
        index = begin_of(wg, row, lane);
        LLVMPositionBuilderAtEnd(b, block);
        if (row->outer)
            index = extended(wg, row->outer, LLVMBuildAdd(b, index, along, ""));
        one = LLVMBuildLoad2(b, element, LLVMBuildGEP2(b, element, place, &index, 1, ""), "");
        LLVMSetAlignment(one, row->align);
        all = LLVMBuildInsertElement(b, all, one, kc_i32(wg, lane), "");
    }
    return all;
}

/* Returns what the gather's result is now. */
static LLVMValueRef replace(struct kc_wg *wg, const struct row_gather *row)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(row->call), some = kc_split_before(row->call);
    LLVMBasicBlockRef after = kc_split_before(LLVMGetNextInstruction(row->call)), all;
    LLVMValueRef loaded, result;

    all = LLVMInsertBasicBlockInContext(wg->context, some, "");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(b, before);
    LLVMBuildCondBr(b, kc_are_all(wg, row->mask), all, some);
    loaded = load_each(wg, row, all);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(after));
    result = LLVMBuildPhi(b, row->type, "");
    LLVMReplaceAllUsesWith(row->call, result);
    LLVMAddIncoming(result, (LLVMValueRef[]){loaded, row->call}, (LLVMBasicBlockRef[]){all, some}, 2);
    return result;
}

/* Rows within rows begin where a gather says that is replaced itself. */
static void replace_rows(struct kc_wg *wg, struct row_gather *rows, unsigned n)
{
    for (unsigned r = 0; r < n; r++) {
        LLVMValueRef result = replace(wg, &rows[r]);

        for (unsigned k = r + 1; k < n; k++)
            if (rows[k].begin == rows[r].call)
                rows[k].begin = result;
    }
}

static void replace_all(struct kc_wg *wg, LLVMValueRef function)
{
    struct row_gather *rows = NULL, row;
    struct kc_flow flow;
    unsigned n = 0;

    kc_flow_create(&flow, function);
    for (unsigned b = 0; b < flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, flow.blocks[b].block))
            if (find(&flow, i, flow.blocks[b].loop, &row)) {
                rows = kc_more(rows, n, sizeof(*rows));
                rows[n++] = row;
            }
    kc_flow_finish(&flow);
    replace_rows(wg, rows, n);
    free(rows);
}

void kc_wg_load_rows(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    wg.i64 = LLVMInt64TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            replace_all(&wg, f);
    LLVMDisposeBuilder(wg.builder);
}
