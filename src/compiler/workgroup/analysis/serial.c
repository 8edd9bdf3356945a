#include "compiler/workgroup/analysis/serial.h"

#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/combined.h"

/* So many other instructions between two serial ones are run lane by lane with them: values on their way to lanes and
 * back cost about as much. */
#define MAX_GAP 6u

#define MAX_INSERTS 16u

/* So much arithmetic for each such part is worth vectors. */
#define LEAST_WORK 16u

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static bool is_serial_call(LLVMValueRef call)
{
    LLVMValueRef callee = kc_wg_callee(call);

    if (!callee)
        return true;
    return kc_call_of(call) == KC_CALL_OTHER && (!kc_name_begins(callee, "llvm.") || LLVMIsAMemIntrinsic(call));
}

bool kc_is_serial(LLVMValueRef i)
{
    return LLVMIsACallInst(i) ? is_serial_call(i) : kc_is_volatile_or_atomic(i) && !kc_is_combined(i);
}

bool kc_is_serial_block(const struct kc_wg *wg, LLVMBasicBlockRef block)
{
    if (!wg->parts_serial)
        return false;
    for (KC_EACH_INSTRUCTION(i, block))
        if (kc_is_serial(i))
            return true;
    return false;
}

/* Takes an element out of a serial instruction's result: a structure, or a vector, which lanes can't have. */
static bool is_part(LLVMValueRef i)
{
    bool takes =
        LLVMIsAExtractValueInst(i) || (LLVMIsAExtractElementInst(i) && LLVMIsAConstantInt(LLVMGetOperand(i, 1)));

    return takes && LLVMIsAInstruction(LLVMGetOperand(i, 0)) && kc_is_serial(LLVMGetOperand(i, 0));
}

/* The elements of the result are taken right behind the instruction. */
static void bring_parts(struct kc_wg *wg, LLVMValueRef serial)
{
    LLVMUseRef next;

    for (LLVMUseRef use = LLVMGetFirstUse(serial); use; use = next) {
        LLVMValueRef part = LLVMGetUser(use);

        next = LLVMGetNextUse(use);
        if (!is_part(part) || part == LLVMGetNextInstruction(serial))
            continue;
        LLVMInstructionRemoveFromParent(part);
        LLVMPositionBuilderBefore(wg->builder, LLVMGetNextInstruction(serial));
        LLVMInsertIntoBuilder(wg->builder, part);
    }
}

/* A vector that is put together, once more at the builder's position. */
static LLVMValueRef again(struct kc_wg *wg, LLVMValueRef vector, unsigned depth)
{
    LLVMValueRef before, copy;

    if (!LLVMIsAInsertElementInst(vector) || depth == MAX_INSERTS)
        return vector;
    before = again(wg, LLVMGetOperand(vector, 0), depth + 1);
    copy = LLVMInstructionClone(vector);
    LLVMSetOperand(copy, 0, before);
    LLVMInsertIntoBuilder(wg->builder, copy);
    return copy;
}

static void erase_unused(LLVMValueRef vector)
{
    while (LLVMIsAInsertElementInst(vector) && !LLVMGetFirstUse(vector)) {
        LLVMValueRef before = LLVMGetOperand(vector, 0);

        LLVMInstructionEraseFromParent(vector);
        vector = before;
    }
}

/* Vectors among the operands are put together right before the instruction. */
static void bring_operands(struct kc_wg *wg, LLVMValueRef serial)
{
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(serial); k++) {
        LLVMValueRef vector = LLVMGetOperand(serial, k);

        if (!LLVMIsAInsertElementInst(vector))
            continue;
        LLVMPositionBuilderBefore(wg->builder, serial);
        LLVMSetOperand(serial, k, again(wg, vector, 0));
        erase_unused(vector);
    }
}

/* With the vectors that are put together for it. */
static LLVMValueRef first_of(LLVMValueRef serial)
{
    LLVMValueRef first = serial;

    for (LLVMValueRef i = LLVMGetPreviousInstruction(first); i && LLVMIsAInsertElementInst(i);
         i = LLVMGetPreviousInstruction(i))
        first = i;
    return first;
}

/* The last of the serial instructions that stand together from `first` on. */
static LLVMValueRef last_of(LLVMValueRef first)
{
    LLVMValueRef last = first;
    unsigned gap = 0;

    for (LLVMValueRef i = LLVMGetNextInstruction(first); i && gap <= MAX_GAP; i = LLVMGetNextInstruction(i)) {
        if (kc_call_of(i) == KC_CALL_BARRIER || kc_is_combined(i))
            break;
        gap = kc_is_serial(i) || is_part(i) ? 0 : gap + 1;
        if (!gap)
            last = i;
    }
    return last;
}

static bool is_work(LLVMValueRef i)
{
    return LLVMIsABinaryOperator(i) || LLVMIsAUnaryOperator(i) || LLVMIsAFCmpInst(i) || LLVMIsASelectInst(i) ||
           (LLVMIsACallInst(i) && kc_call_of(i) == KC_CALL_OTHER);
}

/* Is there enough beside the serial instructions? Otherwise values would be carried between lanes and vectors all the
 * time. */
static bool is_worth_parting(const struct kc_wg *wg)
{
    uint64_t work = 0, parts = 0;
    struct kc_flow flow;

    kc_flow_create(&flow, wg->function);
    for (unsigned b = 0; b < flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, flow.blocks[b].block)) {
            if (kc_is_serial(i))
                parts += kc_flow_rounds(&flow, b);
            else
                work += is_work(i) ? kc_flow_rounds(&flow, b) : 0;
        }
    kc_flow_finish(&flow);
    return work >= LEAST_WORK * parts;
}

static void note_all(const struct kc_wg *wg)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); wg->notes && b; b = LLVMGetNextBasicBlock(b))
        for (KC_EACH_INSTRUCTION(i, b))
            if (kc_is_serial(i))
                kc_note(wg, i,
                        wg->parts_serial
                            ? "a call or an atomic or volatile access is made item by item, what is around it is not"
                            : "a call or an atomic or volatile access: with little around it, all of that runs item by "
                              "item");
}

static void bring_all(struct kc_wg *wg)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); b; b = LLVMGetNextBasicBlock(b))
        for (KC_EACH_INSTRUCTION(i, b))
            if (kc_is_serial(i)) {
                bring_operands(wg, i);
                bring_parts(wg, i);
            }
}

/* Does the instruction begin a part? */
static bool is_first(const struct kc_wg *wg, LLVMValueRef i)
{
    return kc_is_combined(i) || (wg->parts_serial && kc_is_serial(i));
}

void kc_split_serial(struct kc_wg *wg)
{
    wg->parts_serial = is_worth_parting(wg);
    note_all(wg);
    if (wg->parts_serial)
        bring_all(wg);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef first = LLVMGetFirstInstruction(b), last;

        while (first && !is_first(wg, first))
            first = LLVMGetNextInstruction(first);
        if (!first)
            continue;
        last = kc_is_combined(first) ? first : last_of(first);
        first = first_of(first);
        if (first != kc_first_after_phis(b))
            b = kc_split_before(first);
        if (!LLVMIsATerminatorInst(LLVMGetNextInstruction(last)))
            kc_split_before(LLVMGetNextInstruction(last));
    }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

void kc_make_loop_serial(struct kc_wg *wg, int loop)
{
    const struct kc_block *header = &wg->flow.blocks[wg->flow.loops[loop].header];

    wg->serial_loops = kc_more(wg->serial_loops, wg->n_serial_loops, sizeof(*wg->serial_loops));
    wg->serial_loops[wg->n_serial_loops++] = header->block;
    for (unsigned p = 0; p < header->n_predecessors; p++) {
        const struct kc_block *from = &wg->flow.blocks[header->predecessors[p]];

        if (!kc_bits_get(&wg->flow.loops[loop].blocks, (size_t)header->predecessors[p]))
            kc_split_before(LLVMGetBasicBlockTerminator(from->block));
    }
    kc_flow_finish(&wg->flow);
    kc_flow_create(&wg->flow, wg->function);
}

bool kc_is_serial_loop(const struct kc_wg *wg, int loop)
{
    for (; loop != KC_NONE; loop = wg->flow.loops[loop].parent)
        for (unsigned s = 0; s < wg->n_serial_loops; s++)
            if (wg->flow.blocks[wg->flow.loops[loop].header].block == wg->serial_loops[s])
                return true;
    return false;
}
