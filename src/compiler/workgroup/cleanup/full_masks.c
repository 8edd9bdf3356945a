#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/transform/clone.h"

/* With fewer accesses a branch costs more than it gains; with more instructions they aren't duplicated. Masks of local
 * memory don't count: they follow the steps of a reduction, say, which no processor predicts. */
#define LEAST_ACCESSES 3u
#define MOST_COPIED    200u
#define LOCAL_SPACE    3

/* Instructions of a block from the first to the last access by the lanes in a mask, or by those outside it. */
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
    return accesses[accesses[1] > accesses[0]] >= LEAST_ACCESSES && copied <= MOST_COPIED;
}

/* ---- The copy ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef operand_there(void *copies, LLVMValueRef operand)
{
    LLVMValueRef copy = kc_map_get_pointer(copies, operand);

    return copy ? copy : operand;
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

    if (mask && mask == run->mask)
        return plain_access(wg, i, copies);
    if (mask && mask == run->others)
        return kc_is_void(i) ? NULL : operand_there(copies, LLVMGetOperand(i, 3));
    return kc_clone_instruction(wg, i, operand_there, copies);
}

/* Copies a block except its terminator. */
static void copy_block(struct kc_wg *wg, LLVMBasicBlockRef block, const struct run *run, struct kc_map *copies)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != LLVMGetBasicBlockTerminator(block);
         i = LLVMGetNextInstruction(i)) {
        LLVMValueRef copy = copy_access(wg, i, run, copies);

        if (copy)
            kc_map_set_pointer(copies, i, copy);
    }
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

/* Merges the two values that were made into one. */
static void join(struct kc_wg *wg, LLVMBasicBlockRef blocks[2], LLVMBasicBlockRef after, struct kc_map *copies)
{
    for (KC_EACH_INSTRUCTION(i, blocks[0])) {
        LLVMValueRef values[2] = {i, kc_map_get_pointer(copies, i)}, phi;

        if (kc_is_void(i) || !is_used_elsewhere(i, blocks[0]))
            continue;
        LLVMPositionBuilderBefore(wg->builder, LLVMGetFirstInstruction(after));
        phi = LLVMBuildPhi(wg->builder, LLVMTypeOf(i), "");
        LLVMReplaceAllUsesWith(i, phi);
        replace_inside(blocks[0], phi, i);
        LLVMAddIncoming(phi, values, blocks, 2);
    }
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Are all lanes in the run's mask? The first access's mask is tested: the other may be computed behind it. */
static LLVMValueRef is_full(struct kc_wg *wg, const struct run *run)
{
    LLVMValueRef mask = mask_of(run->first);

    return mask == run->mask ? kc_are_all(wg, mask) : LLVMBuildIsNull(wg->builder, kc_mask_bits(wg, mask), "");
}

/* Returns the block behind the run. */
static LLVMBasicBlockRef part(struct kc_wg *wg, const struct run *run)
{
    LLVMValueRef behind = LLVMGetNextInstruction(run->last);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(run->first), some = kc_split_before(run->first);
    LLVMBasicBlockRef after = kc_split_before(behind);
    LLVMBasicBlockRef all = LLVMInsertBasicBlockInContext(wg->context, after, ""), blocks[2] = {some, all};
    struct kc_map copies = {.n = 0};

    LLVMPositionBuilderAtEnd(wg->builder, all);
    copy_block(wg, some, run, &copies);
    LLVMBuildBr(wg->builder, after);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(wg->builder, before);
    LLVMBuildCondBr(wg->builder, is_full(wg, run), all, some);
    join(wg, blocks, after, &copies);
    kc_map_clear(&copies);
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
