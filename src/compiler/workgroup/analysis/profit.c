#include "compiler/workgroup/analysis/profit.h"

#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/rare_loops.h"
#include "compiler/workgroup/analysis/serial.h"
#include "compiler/workgroup/analysis/waits.h"

/* Floating-point operations for each gathered value from which on vectors pay. */
#define WORK 8u

/* Rounds in a table of so many elements are taken for straight. */
#define LEAST_ROUND 31u

/* Depth to which the arithmetic behind an address is followed. */
#define MAX_DEPTH 16

/* So many instructions outside are worth vectors. */
#define OTHER_WORK 48u

/* ---- Strides ----------------------------------------------------------------------------------------------------- */

/* The difference of a value from one work-item of a strip to the next, as far as it can be seen. */
struct stride {
    bool known;
    uint64_t step; /* bytes, for addresses; modulo 2^64 */
};

static struct stride stride_of(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef value, int depth);

static struct stride sum(struct stride a, struct stride b, uint64_t factor)
{
    return (struct stride){a.known && b.known, a.step + factor * b.step};
}

static struct stride scaled(struct stride stride, LLVMValueRef factor, bool shift)
{
    if (stride.step == 0 || !LLVMIsAConstantInt(factor))
        return (struct stride){stride.known && stride.step == 0, 0};
    if (shift)
        return (struct stride){stride.known, stride.step << (LLVMConstIntGetZExtValue(factor) & 31)};
    return (struct stride){stride.known, stride.step * (uint64_t)LLVMConstIntGetSExtValue(factor)};
}

/* By base and last index; other varying indices are not followed. */
static struct stride address_stride(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef address,
                                    int depth)
{
    unsigned n = (unsigned)LLVMGetNumOperands(address);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);

    for (unsigned k = 1; k < n && n > 2; k++)
        if (kc_varies(strip, LLVMGetOperand(address, k)))
            return (struct stride){.known = false};
    return sum(stride_of(wg, strip, LLVMGetOperand(address, 0), depth),
               n == 2 ? stride_of(wg, strip, LLVMGetOperand(address, 1), depth) : (struct stride){true, 0},
               LLVMABISizeOfType(wg->layout, type));
}

/* A loop counter keeps the difference between neighbouring work-items that it starts with. */
static struct stride phi_stride(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef phi, int depth)
{
    int here = kc_flow_number(&wg->flow, LLVMGetInstructionParent(phi));

    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        int from = kc_flow_number(&wg->flow, LLVMGetIncomingBlock(phi, k));

        if (!kc_flow_dominates(&wg->flow, here, from))
            return stride_of(wg, strip, LLVMGetIncomingValue(phi, k), depth);
    }
    return (struct stride){.known = false};
}

/* The lowest bits, as where an index is known to be small, or goes round in a table. */
static bool is_low_mask(LLVMValueRef value)
{
    uint64_t bits = LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value) : 0;

    return bits >= LEAST_ROUND && (bits & (bits + 1)) == 0;
}

static struct stride stride_of(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef value, int depth)
{
    LLVMValueRef first;

    if (!kc_varies(strip, value))
        return (struct stride){true, 0};
    if (depth == 0 || !LLVMIsAInstruction(value))
        return (struct stride){.known = false};
    if (kc_call_of(value) == KC_CALL_GLOBAL_ID || kc_call_of(value) == KC_CALL_LOCAL_ID)
        return (struct stride){true, 1};
    first = LLVMGetOperand(value, 0);
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMFreeze:
        return stride_of(wg, strip, first, depth - 1);
    case LLVMAdd:
    case LLVMOr: /* of disjoint bits */
        return sum(stride_of(wg, strip, first, depth - 1), stride_of(wg, strip, LLVMGetOperand(value, 1), depth - 1),
                   1);
    case LLVMSub:
        return sum(stride_of(wg, strip, first, depth - 1), stride_of(wg, strip, LLVMGetOperand(value, 1), depth - 1),
                   UINT64_MAX);
    case LLVMAnd:
        return is_low_mask(LLVMGetOperand(value, 1)) ? stride_of(wg, strip, first, depth - 1)
                                                     : (struct stride){.known = false};
    case LLVMMul:
        return scaled(stride_of(wg, strip, first, depth - 1), LLVMGetOperand(value, 1), false);
    case LLVMShl:
        return scaled(stride_of(wg, strip, first, depth - 1), LLVMGetOperand(value, 1), true);
    case LLVMGetElementPtr:
        return address_stride(wg, strip, value, depth - 1);
    case LLVMPHI:
        return phi_stride(wg, strip, value, depth - 1);
    default:
        return (struct stride){.known = false};
    }
}

bool kc_is_consecutive(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access)
{
    bool loads = LLVMIsALoadInst(access) != NULL;
    LLVMTypeRef type = LLVMTypeOf(loads ? access : LLVMGetOperand(access, 0));
    struct stride stride = stride_of(wg, strip, LLVMGetOperand(access, loads ? 0 : 1), MAX_DEPTH);

    return stride.known && stride.step == LLVMABISizeOfType(wg->layout, type);
}

/* The nearest cache: bytes of a line, and sets. */
#define LINE 64u
#define SETS 64u

unsigned kc_count_lines(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access, unsigned lanes)
{
    struct stride stride = stride_of(wg, strip, LLVMGetOperand(access, LLVMIsALoadInst(access) ? 0 : 1), MAX_DEPTH);
    uint64_t step = stride.step > UINT64_MAX / 2 ? 0 - stride.step : stride.step;

    return stride.known && step < LINE ? 1 + (unsigned)(step * lanes / LINE) : lanes;
}

unsigned kc_count_ways(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef access, unsigned lanes)
{
    struct stride stride = stride_of(wg, strip, LLVMGetOperand(access, LLVMIsALoadInst(access) ? 0 : 1), MAX_DEPTH);
    uint64_t used;

    if (!stride.known || stride.step % LINE)
        return stride.known ? 1 : lanes;
    /* Lanes use each set that is a multiple of the largest power of two in their distance. */
    used = SETS;
    while (used > 1 && stride.step / LINE % (2 * (SETS / used)) == 0)
        used /= 2;
    return (unsigned)((lanes + used - 1) / used);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static bool is_gather(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef load)
{
    return kc_varies(strip, LLVMGetOperand(load, 0)) && !kc_is_consecutive(wg, strip, load);
}

static bool is_work(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFCmp:
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMFPToSI:
    case LLVMFPToUI:
        return true;
    default:
        return kc_wg_callee(instruction) && kc_call_of(instruction) == KC_CALL_OTHER;
    }
}

/* Do work-items leave the loop after different numbers of iterations? */
static bool is_ragged(const struct kc_wg *wg, const struct kc_uniform *strip, const struct kc_loop *loop)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++) {
        const struct kc_block *block = &wg->flow.blocks[b];

        if (!kc_bits_get(&loop->blocks, b) || !strip->divergent_branch[b])
            continue;
        for (unsigned s = 0; s < block->n_successors; s++)
            if (!kc_bits_get(&loop->blocks, (size_t)block->successors[s]))
                return true;
    }
    return false;
}

static bool only_gathers(const struct kc_wg *wg, const struct kc_uniform *strip, const struct kc_loop *loop)
{
    unsigned gathers = 0, work = 0;

    for (unsigned b = 0; b < wg->flow.n_blocks; b++) {
        if (!kc_bits_get(&loop->blocks, b))
            continue;
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
            gathers += LLVMIsALoadInst(i) && is_gather(wg, strip, i);
            work += is_work(i);
        }
    }
    return work < WORK * gathers;
}

struct kc_bits kc_uneven_ends(const struct kc_wg *wg, const struct kc_uniform *strip)
{
    struct kc_bits ends = kc_bits_create(wg->flow.n_blocks);

    for (unsigned l = 0; l < wg->flow.n_loops; l++) {
        const struct kc_loop *loop = &wg->flow.loops[l];
        const struct kc_block *header = &wg->flow.blocks[loop->header];

        for (unsigned p = 0; is_ragged(wg, strip, loop) && p < header->n_predecessors; p++)
            if (kc_bits_get(&loop->blocks, (size_t)header->predecessors[p]))
                kc_bits_set(&ends, (size_t)header->predecessors[p]);
    }
    return ends;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* NULL: there is none. */
static LLVMValueRef find_call(const struct kc_wg *wg)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
            if (kc_wg_callee(i) && kc_is_called(kc_wg_callee(i)))
                return i;
    return NULL;
}

/* ---- Long chains ------------------------------------------------------------------------------------------------- */

/* Chains shorter than this end before their latency matters, unless they are in loops: the processor runs the next
 * strip meanwhile. Longer ones than the maximum need more registers than two strips have. */
#define LEAST_OF_PAIRS 100u
#define MOST_OF_PAIRS  500u

/* Do lanes run side by side, and do their values fit in registers twice wherever
 * a loop begins? */
static bool is_even(const struct kc_wg *wg, const struct kc_slots *slots, const struct kc_plan *wide, unsigned carried)
{
    const struct kc_phase *phase = &wide->phases[0];

    for (unsigned r = 0; r < phase->n_regions; r++)
        if (phase->regions[r].serial && !phase->regions[r].masked)
            return false;
    for (unsigned l = 0; l < wg->flow.n_loops; l++) {
        const struct kc_region *head = kc_region_at(phase, wg->flow.loops[l].header);
        unsigned n = 0;

        if (kc_is_rare_loop(wg, (int)l))
            continue;
        if (!head)
            return false;
        for (unsigned s = 0; s < slots->n; s++)
            n += kc_bits_get(&slots->live[wg->flow.loops[l].header], s) && !slots->slots[s].uniform;
        if (n > carried)
            return false;
    }
    return true;
}

bool kc_is_chain(const struct kc_wg *wg, const struct kc_slots *slots, const struct kc_plan *wide, unsigned carried)
{
    unsigned n = 0, work = 0;

    for (unsigned s = 0; s < slots->n; s++)
        if (slots->slots[s].array)
            return false;
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
            if (kc_call_of(i) == KC_CALL_BARRIER)
                return false;
            n++;
            work += is_work(i);
        }
    if (wg->flow.n_loops)
        return n <= MOST_OF_PAIRS && is_even(wg, slots, wide, carried);
    return n >= LEAST_OF_PAIRS && n <= MOST_OF_PAIRS && 2 * work >= n;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static bool is_plain(LLVMValueRef i)
{
    return !LLVMIsAPHINode(i) && !LLVMIsATerminatorInst(i) && !kc_is_serial(i) && kc_call_of(i) == KC_CALL_OTHER;
}

/* Is there something beside the loops run one by one (and what is around them) for which vectors pay: another loop, or
 * a long way of instructions? */
static bool has_other_work(const struct kc_wg *wg, const struct kc_bits *serial)
{
    unsigned n = 0;

    for (unsigned l = 0; l < wg->flow.n_loops; l++)
        if (!kc_bits_meet(&wg->flow.loops[l].blocks, serial))
            return true;
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        if (!kc_bits_get(serial, b))
            for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
                n += is_plain(i);
    return n >= OTHER_WORK;
}

/* The outermost loops in which vectors don't pay: by block, where they are. */
static struct kc_bits find_serial_loops(const struct kc_wg *wg, const struct kc_uniform *strip, int *headers,
                                        unsigned *n)
{
    struct kc_bits serial = kc_bits_create(wg->flow.n_blocks);

    *n = 0;
    for (unsigned l = 0; l < wg->flow.n_loops; l++) {
        const struct kc_loop *loop = &wg->flow.loops[l];

        if (kc_bits_get(&serial, (size_t)loop->header) || !is_ragged(wg, strip, loop) || !only_gathers(wg, strip, loop))
            continue;
        kc_bits_merge(&serial, &loop->blocks, NULL);
        headers[(*n)++] = loop->header;
    }
    return serial;
}

bool kc_is_scalar(const struct kc_wg *wg, const struct kc_uniform *strip)
{
    LLVMValueRef call = find_call(wg);

    if (call && !wg->parts_serial) {
        kc_note(wg, call, "runs item by item, as it calls a built-in function that has no vector form");
        return true;
    }
    if (!kc_waits(wg, strip))
        return false;
    kc_note(wg, NULL, "runs item by item, as work-items wait for each other");
    return true;
}

/* ---- Size -------------------------------------------------------------------------------------------------------- */

/* Machines gather elements of 32 bits and more. Smaller ones come lane by lane: a test, a branch, the access, and what
 * puts the lane's value in its place. */
#define LEAST_GATHERED 4u
#define STEPS_OF_LANE  5u

/* Of code longer than this the vectors' values, which live across thousands of blocks, cost register allocation hours.
 */
#define MOST_OF_VECTORS 40000u

static bool is_by_lane(const struct kc_wg *wg, const struct kc_uniform *strip, LLVMValueRef i)
{
    LLVMValueRef load = LLVMIsALoadInst(i), store = LLVMIsAStoreInst(i);
    LLVMTypeRef type;

    if (!load && !store)
        return false;
    type = LLVMTypeOf(load ? i : LLVMGetOperand(i, 0));
    return LLVMABISizeOfType(wg->layout, type) < LEAST_GATHERED && kc_varies(strip, LLVMGetOperand(i, load ? 0 : 1)) &&
           !kc_is_consecutive(wg, strip, i);
}

bool kc_is_large(const struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes)
{
    uint64_t n = 0;

    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
            n += is_by_lane(wg, strip, i) ? STEPS_OF_LANE * lanes : 1;
    if (n <= MOST_OF_VECTORS)
        return false;
    kc_note(wg, NULL, "runs item by item, as its vectors would be too much code");
    return true;
}

bool kc_part_serial_loops(struct kc_wg *wg, const struct kc_uniform *strip)
{
    LLVMBasicBlockRef *blocks = kc_alloc(wg->flow.n_loops, sizeof(LLVMBasicBlockRef));
    int *headers = kc_alloc(wg->flow.n_loops, sizeof(int));
    unsigned n;
    struct kc_bits serial = find_serial_loops(wg, strip, headers, &n);
    bool pays = n == 0 || has_other_work(wg, &serial);

    for (unsigned k = 0; k < n; k++) {
        blocks[k] = wg->flow.blocks[headers[k]].block;
        kc_note(wg, LLVMGetBasicBlockTerminator(blocks[k]),
                pays ? "a loop that does little but gather is run item by item, what is around it is not"
                     : "a loop that does little but gather: the kernel runs item by item");
    }
    for (unsigned k = 0; k < n && pays; k++)
        kc_make_loop_serial(wg, wg->flow.blocks[kc_flow_number(&wg->flow, blocks[k])].loop);
    kc_bits_free(&serial);
    free(headers);
    free(blocks);
    return pays;
}
