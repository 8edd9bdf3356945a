#include "compiler/workgroup/analysis/rows.h"

#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/profit.h"

/* Of the nearest cache: lines of one set, and bytes of a line. */
#define WAYS 8u
#define LINE 64u

/* A line that is gone before the next round costs a lane as much as so many instructions of whole vectors. */
#define WORK 32u

/* Depth to which the arithmetic behind an address is followed. */
#define MAX_DEPTH 12

/* The difference of a value from one round of a loop to the next. */
struct step {
    bool known;
    int64_t bytes;
};

struct walk {
    const struct kc_wg *wg;
    const struct kc_loop *loop;
};

static struct step step_of(const struct walk *walk, LLVMValueRef value, int depth);

static bool is_inside(const struct walk *walk, LLVMValueRef value)
{
    return LLVMIsAInstruction(value) &&
           kc_bits_get(&walk->loop->blocks, (size_t)kc_flow_number(&walk->wg->flow, LLVMGetInstructionParent(value)));
}

static struct step sum(struct step a, struct step b, int64_t times)
{
    return (struct step){a.known && b.known, a.bytes + times * b.bytes};
}

static struct step of_address(const struct walk *walk, LLVMValueRef address, int depth)
{
    uint64_t size = LLVMABISizeOfType(walk->wg->layout, LLVMGetGEPSourceElementType(address));

    if (LLVMGetNumOperands(address) != 2)
        return (struct step){.known = false};
    return sum(step_of(walk, LLVMGetOperand(address, 0), depth), step_of(walk, LLVMGetOperand(address, 1), depth),
               (int64_t)size);
}

/* What a value at the loop's head has grown by when the next round begins: a constant. */
static struct step of_counter(const struct walk *walk, LLVMValueRef phi)
{
    LLVMBasicBlockRef header = walk->wg->flow.blocks[walk->loop->header].block;

    for (unsigned k = 0; k < LLVMCountIncoming(phi) && LLVMGetInstructionParent(phi) == header; k++) {
        LLVMValueRef next = LLVMGetIncomingValue(phi, k), by;

        if (!is_inside(walk, next) || LLVMGetInstructionOpcode(next) != LLVMAdd || LLVMGetOperand(next, 0) != phi)
            continue;
        by = LLVMGetOperand(next, 1);
        return (struct step){LLVMIsAConstantInt(by), LLVMIsAConstantInt(by) ? LLVMConstIntGetSExtValue(by) : 0};
    }
    return (struct step){.known = false};
}

static struct step of_multiple(const struct walk *walk, LLVMValueRef value, bool shift, int depth)
{
    struct step step = step_of(walk, LLVMGetOperand(value, 0), depth);
    LLVMValueRef by = LLVMGetOperand(value, 1);

    if (!LLVMIsAConstantInt(by) || !step.known)
        return (struct step){.known = false};
    step.bytes *= shift ? INT64_C(1) << (LLVMConstIntGetZExtValue(by) & 31) : LLVMConstIntGetSExtValue(by);
    return step;
}

static struct step step_of(const struct walk *walk, LLVMValueRef value, int depth)
{
    LLVMValueRef first;

    if (!is_inside(walk, value))
        return (struct step){true, 0};
    if (depth == 0 || LLVMGetNumOperands(value) == 0)
        return (struct step){.known = false};
    first = LLVMGetOperand(value, 0);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFreeze:
        return step_of(walk, first, depth - 1);
    case LLVMAdd:
    case LLVMOr: /* of disjoint bits */
        return sum(step_of(walk, first, depth - 1), step_of(walk, LLVMGetOperand(value, 1), depth - 1), 1);
    case LLVMSub:
        return sum(step_of(walk, first, depth - 1), step_of(walk, LLVMGetOperand(value, 1), depth - 1), -1);
    case LLVMMul:
        return of_multiple(walk, value, false, depth - 1);
    case LLVMShl:
        return of_multiple(walk, value, true, depth - 1);
    case LLVMGetElementPtr:
        return of_address(walk, value, depth - 1);
    case LLVMPHI:
        return of_counter(walk, value);
    default:
        return (struct step){.known = false};
    }
}

/* Does the load go along a row, a part of a line each round, and do lanes have more of these than stay near? */
static bool is_row(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef load, int loop, unsigned lanes)
{
    struct walk walk = {wg, &wg->flow.loops[loop]};
    LLVMValueRef address = LLVMGetOperand(load, 0);
    struct step step;

    if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) != 1 || !kc_varies(strip, address) ||
        kc_count_ways(wg, strip, load, lanes) <= WAYS)
        return false;
    step = step_of(&walk, address, MAX_DEPTH);
    return step.known && step.bytes != 0 && step.bytes > -(int64_t)LINE && step.bytes < (int64_t)LINE;
}

static bool is_work(LLVMValueRef i)
{
    return LLVMIsABinaryOperator(i) || LLVMIsAUnaryOperator(i) || LLVMIsACmpInst(i) || LLVMIsASelectInst(i) ||
           LLVMIsACastInst(i) || LLVMIsAStoreInst(i) || LLVMIsACallInst(i);
}

unsigned kc_lanes_of_rows(const struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes)
{
    LLVMValueRef row = NULL;
    uint64_t rows = 0, work = 0;

    for (unsigned b = 0; b < wg->flow.n_blocks && lanes > WAYS; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
            uint64_t rounds = kc_flow_rounds(&wg->flow, b);
            int loop = wg->flow.blocks[b].loop;

            if (LLVMIsALoadInst(i) && loop != KC_NONE && is_row(wg, strip, i, loop, lanes)) {
                row = i;
                rows += rounds;
            } else if (is_work(i)) {
                work += rounds;
            }
        }
    if (work >= WORK * rows)
        return lanes;
    kc_note(wg, row, "each work-item walks along a row of its own: as many at once as stay in the nearest cache");
    return WAYS;
}
