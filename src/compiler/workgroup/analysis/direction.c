#include "compiler/workgroup/analysis/direction.h"

#include "compiler/workgroup/analysis/profit.h"

/* A scatter takes so many times a gather. */
#define SCATTER 2u

/* Turning has to save so much, in hundredths. */
#define GAIN 25u

static bool is_shared(LLVMValueRef access)
{
    LLVMValueRef address = LLVMGetOperand(access, LLVMIsALoadInst(access) ? 0 : 1);

    return LLVMGetPointerAddressSpace(LLVMTypeOf(address)) == 1 && !kc_is_volatile_or_atomic(access);
}

static bool is_access(LLVMValueRef i)
{
    return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && is_shared(i);
}

static bool has_dimension(LLVMValueRef i)
{
    return kc_is_query(kc_call_of(i)) && LLVMGetNumArgOperands(i) == 1;
}

/* Can dimensions change places? Barriers are for tiles in local memory, whose shape the program has chosen. */
static bool may_turn(const struct kc_wg *wg)
{
    bool other = false;

    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
            if (kc_call_of(i) == KC_CALL_BARRIER || (has_dimension(i) && !LLVMIsAConstantInt(LLVMGetOperand(i, 0))))
                return false;
            other |= has_dimension(i) && LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) == 1;
        }
    return other;
}

void kc_turn(struct kc_wg *wg)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
            if (has_dimension(i) && LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) < 2)
                LLVMSetOperand(i, 0, kc_i32(wg, LLVMIsNull(LLVMGetOperand(i, 0))));
}

/* The lines of the caches that strips along dimension 0 touch; *consecutive: do any touch one or two? */
static uint64_t count_lines(const struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes, bool *consecutive)
{
    uint64_t lines = 0;

    *consecutive = false;
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block)) {
            if (!is_access(i))
                continue;
            lines += kc_flow_rounds(&wg->flow, b) * kc_count_lines(wg, strip, i, lanes) *
                     (LLVMIsAStoreInst(i) ? SCATTER : 1);
            *consecutive |= kc_is_consecutive(wg, strip, i);
        }
    return lines;
}

/* Are there loops that load the same for all work-items along dimension 1, and something else for each along dimension
 * 0? */
static bool loads_again(const struct kc_wg *wg, const struct kc_uniform *straight, const struct kc_uniform *turned)
{
    for (unsigned b = 0; b < wg->flow.n_blocks; b++)
        for (KC_EACH_INSTRUCTION(i, wg->flow.blocks[b].block))
            if (wg->flow.blocks[b].loop != KC_NONE && LLVMIsALoadInst(i) && is_access(i) &&
                kc_varies(straight, LLVMGetOperand(i, 0)) && !kc_varies(turned, LLVMGetOperand(i, 0)))
                return true;
    return false;
}

struct kc_direction kc_find_direction(struct kc_wg *wg, unsigned lanes)
{
    struct kc_direction found = {.turns = false};
    struct kc_uniform straight, turned;
    uint64_t lines, turned_lines;
    bool rows, columns;

    if (lanes == 1 || !may_turn(wg))
        return found;
    kc_uniform_create(&straight, wg, KC_STRIP);
    lines = count_lines(wg, &straight, lanes, &rows);
    kc_turn(wg);
    kc_uniform_create(&turned, wg, KC_STRIP);
    turned_lines = count_lines(wg, &turned, lanes, &columns);
    kc_turn(wg);
    found.turns = columns && turned_lines * 100 < lines * (100 - GAIN);
    found.mixed = rows && columns;
    found.again = loads_again(wg, &straight, &turned);
    kc_uniform_finish(&straight);
    kc_uniform_finish(&turned);
    return found;
}
