#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/implied.h"
#include "compiler/workgroup/cleanup/end_lanes.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/transform/clone.h"

/* With fewer accesses a branch costs more than it gains; with more instructions they aren't duplicated. Masks of local
 * memory don't count: they follow the steps of a reduction, say, which no processor predicts. */
#define LEAST_ACCESSES 3u
#define MOST_COPIED    200u
#define LOCAL_SPACE    3

/* Instructions of a block from the first to the last access by the lanes in a mask, or by those outside it; and on to
 * the last access by lanes of a wider mask, which has all lanes where the run's has them. */
struct run {
    LLVMValueRef mask, others, first, last; /* others: the inverted mask; NULL if these lanes access nothing */
};

/* The mask of a load or store of consecutive elements; NULL: another instruction, or no mask. */
static LLVMValueRef mask_of(LLVMValueRef i)
{
    LLVMValueRef callee = kc_wg_callee(i), mask;

    if (!callee)
        return NULL;
    if (kc_name_begins(callee, "llvm.masked.load."))
        mask = LLVMGetOperand(i, 2);
    else if (kc_name_begins(callee, "llvm.masked.store."))
        mask = LLVMGetOperand(i, 3);
    else
        return NULL;
    return LLVMIsAConstant(mask) ? NULL : mask;
}

static bool is_local(LLVMValueRef access)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(access, kc_is_void(access) ? 1 : 0))) == LOCAL_SPACE;
}

static bool is_not(LLVMValueRef mask, LLVMValueRef of)
{
    return LLVMIsABinaryOperator(mask) && LLVMGetInstructionOpcode(mask) == LLVMXor && LLVMGetOperand(mask, 0) == of &&
           LLVMGetOperand(mask, 1) == LLVMConstAllOnes(LLVMTypeOf(mask));
}

/* What a condition is for all lanes where the run's mask has all. */
static enum kc_implied implied(const struct run *run, LLVMValueRef condition)
{
    if (!run->mask)
        return KC_IMPLIED_NOTHING;
    if (condition == run->mask)
        return KC_IMPLIED_TRUE;
    return condition == run->others ? KC_IMPLIED_FALSE : kc_implied_by(run->mask, condition);
}

/* Such as that of "if (x >= w) return;" before "if (x > 0 && x < w - 1) …". */
static bool is_wider(const struct run *run, LLVMValueRef mask)
{
    return mask && mask != run->mask && implied(run, mask) == KC_IMPLIED_TRUE;
}

/* copied: instructions of the run. */
static void extend(struct run *run, unsigned copied)
{
    for (LLVMValueRef i = LLVMGetNextInstruction(run->last); i && copied < MOST_COPIED; i = LLVMGetNextInstruction(i)) {
        copied++;
        if (is_wider(run, mask_of(i)))
            run->last = i;
    }
}

/* Finds a run that is worth a copy. */
static bool find_run(LLVMValueRef first, struct run *run)
{
    unsigned accesses[2] = {0, 0}, n = 0, copied = 0;

    *run = (struct run){.mask = mask_of(first), .first = first};
    for (LLVMValueRef i = first; i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef mask = mask_of(i);

        n++;
        if (!mask)
            continue;
        if (!run->others && (is_not(mask, run->mask) || is_not(run->mask, mask)))
            run->others = mask;
        if (mask != run->mask && (mask != run->others || n > MOST_COPIED))
            continue;
        accesses[mask == run->others] += !is_local(i);
        copied = n;
        run->last = i;
    }
    if (accesses[1] > accesses[0]) {
        LLVMValueRef fewer = run->mask;

        run->mask = run->others;
        run->others = fewer;
    }
    if (accesses[accesses[1] > accesses[0]] < LEAST_ACCESSES || copied > MOST_COPIED)
        return false;
    extend(run, copied);
    return true;
}

/* ---- The copy ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef operand_there(void *copies, LLVMValueRef operand)
{
    LLVMValueRef copy = kc_map_get_pointer(copies, operand);

    return copy ? copy : operand;
}

/* The run as it is for lanes of which none is in the mask: the others are all. */
static struct run without_lanes(const struct run *run)
{
    return (struct run){.mask = run->others, .others = run->mask, .first = run->first, .last = run->last};
}

/* The access without a mask, for all lanes. */
static LLVMValueRef plain_access(struct kc_wg *wg, LLVMValueRef access, struct kc_map *copies)
{
    bool stores = kc_is_void(access);
    LLVMValueRef address = operand_there(copies, LLVMGetOperand(access, stores ? 1 : 0)), copy;

    copy = stores ? LLVMBuildStore(wg->builder, operand_there(copies, LLVMGetOperand(access, 0)), address)
                  : LLVMBuildLoad2(wg->builder, LLVMTypeOf(access), address, "");
    LLVMSetAlignment(copy, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(access, stores ? 2 : 1)));
    return copy;
}

/* The copied access; NULL: it isn't needed. */
static LLVMValueRef copy_access(struct kc_wg *wg, LLVMValueRef i, const struct run *run, struct kc_map *copies)
{
    LLVMValueRef mask = mask_of(i);
    enum kc_implied all = mask ? implied(run, mask) : KC_IMPLIED_NOTHING;

    if (all == KC_IMPLIED_TRUE)
        return plain_access(wg, i, copies);
    if (all == KC_IMPLIED_FALSE)
        return kc_is_void(i) ? NULL : operand_there(copies, LLVMGetOperand(i, 3));
    return kc_clone_instruction(wg, i, operand_there, copies);
}

/* What a choice between values of lanes chooses where all lanes are in the run's mask; NULL: unknown. */
static LLVMValueRef chosen(LLVMValueRef i, const struct run *run, struct kc_map *copies)
{
    if (!LLVMIsASelectInst(i) || LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMVectorTypeKind)
        return NULL;
    switch (implied(run, LLVMGetOperand(i, 0))) {
    case KC_IMPLIED_TRUE:
        return operand_there(copies, LLVMGetOperand(i, 1));
    case KC_IMPLIED_FALSE:
        return operand_there(copies, LLVMGetOperand(i, 2));
    default:
        return NULL;
    }
}

/* Copies a block to the end of an empty one, its way out included. */
static void copy_block(struct kc_wg *wg, LLVMBasicBlockRef block, LLVMBasicBlockRef to, const struct run *run,
                       struct kc_map *copies)
{
    LLVMPositionBuilderAtEnd(wg->builder, to);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != LLVMGetBasicBlockTerminator(block);
         i = LLVMGetNextInstruction(i)) {
        LLVMValueRef copy = chosen(i, run, copies);

        copy = copy ? copy : copy_access(wg, i, run, copies);
        if (copy)
            kc_map_set_pointer(copies, i, copy);
    }
    LLVMBuildBr(wg->builder, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), 0));
}

/* ---- What comes after -------------------------------------------------------------------------------------------- */

static bool is_used_elsewhere(LLVMValueRef value, LLVMBasicBlockRef block)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (LLVMGetInstructionParent(LLVMGetUser(use)) != block)
            return true;
    return false;
}

static void replace_inside(LLVMBasicBlockRef block, LLVMValueRef value, LLVMValueRef by)
{
    for (KC_EACH_INSTRUCTION(i, block))
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
            if (LLVMGetOperand(i, k) == value)
                LLVMSetOperand(i, k, by);
}

enum way { SOME, ALL, NONE, N_WAYS };

/* Merges the values that were made into one. */
static void join(struct kc_wg *wg, LLVMBasicBlockRef blocks[N_WAYS], LLVMBasicBlockRef after,
                 struct kc_map copies[N_WAYS])
{
    for (KC_EACH_INSTRUCTION(i, blocks[SOME])) {
        LLVMValueRef values[N_WAYS] = {i, kc_map_get_pointer(&copies[ALL], i), kc_map_get_pointer(&copies[NONE], i)},
                     phi;

        if (kc_is_void(i) || !is_used_elsewhere(i, blocks[SOME]))
            continue;
        LLVMPositionBuilderBefore(wg->builder, LLVMGetFirstInstruction(after));
        phi = LLVMBuildPhi(wg->builder, LLVMTypeOf(i), "");
        LLVMReplaceAllUsesWith(i, phi);
        replace_inside(blocks[SOME], phi, i);
        LLVMAddIncoming(phi, values, blocks, N_WAYS);
    }
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Else LLVM's passes join the two questions into one branch, which asks the rarer one first. */
#define MOSTLY 1000

static void say_mostly_true(struct kc_wg *wg, LLVMValueRef branch)
{
    LLVMMetadataRef weights[] = {LLVMMDStringInContext2(wg->context, "branch_weights", 14),
                                 LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(wg->context), MOSTLY, 0)),
                                 LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(wg->context), 1, 0))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(wg->context, weights, 3);

    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(wg->context, "prof", 4), LLVMMetadataAsValue(wg->context, node));
}

/* From the end of `before` to the way for the lanes in the run's mask. The first access's mask is asked: the other may
 * be computed behind it. */
static void choose_way(struct kc_wg *wg, const struct run *run, LLVMBasicBlockRef before,
                       LLVMBasicBlockRef blocks[N_WAYS])
{
    LLVMBuilderRef b = wg->builder;
    LLVMValueRef asked = mask_of(run->first), bits, all, none, by_ends;
    LLVMBasicBlockRef not_all = LLVMInsertBasicBlockInContext(wg->context, blocks[SOME], "");
    bool inverted = asked != run->mask;

    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(b, before);
    by_ends = kc_all_by_ends(wg, asked, !inverted);
    if (by_ends) {
        say_mostly_true(wg, LLVMBuildCondBr(b, by_ends, blocks[ALL], not_all));
        LLVMPositionBuilderAtEnd(b, not_all);
    }
    bits = kc_mask_bits(wg, asked);
    all = LLVMBuildICmp(b, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)), "");
    none = LLVMBuildIsNull(b, bits, "");
    if (!by_ends) {
        say_mostly_true(wg, LLVMBuildCondBr(b, inverted ? none : all, blocks[ALL], not_all));
        LLVMPositionBuilderAtEnd(b, not_all);
    }
    LLVMBuildCondBr(b, inverted ? all : none, blocks[NONE], blocks[SOME]);
}

/* Returns the block behind the run. */
static LLVMBasicBlockRef part(struct kc_wg *wg, const struct run *run)
{
    LLVMValueRef behind = LLVMGetNextInstruction(run->last);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(run->first), some = kc_split_before(run->first);
    LLVMBasicBlockRef after = kc_split_before(behind), blocks[N_WAYS] = {some};
    struct kc_map copies[N_WAYS] = {{.n = 0}};
    struct run other = without_lanes(run);

    for (enum way way = ALL; way < N_WAYS; way++) {
        blocks[way] = LLVMInsertBasicBlockInContext(wg->context, after, "");
        copy_block(wg, some, blocks[way], way == ALL ? run : &other, &copies[way]);
    }
    choose_way(wg, run, before, blocks);
    join(wg, blocks, after, copies);
    for (enum way way = ALL; way < N_WAYS; way++)
        kc_map_clear(&copies[way]);
    return after;
}

/* Returns the rest of the block if it was split. */
static LLVMBasicBlockRef part_block(struct kc_wg *wg, LLVMBasicBlockRef block)
{
    for (KC_EACH_INSTRUCTION(i, block)) {
        struct run run;

        if (mask_of(i) && find_run(i, &run))
            return part(wg, &run);
    }
    return NULL;
}

void kc_wg_part_full_masks(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f), next; block; block = next) {
            next = part_block(&wg, block);
            next = next ? next : LLVMGetNextBasicBlock(block);
        }
    LLVMDisposeBuilder(wg.builder);
}
