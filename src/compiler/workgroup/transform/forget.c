#include "compiler/workgroup/transform/metadata.h"
#include "compiler/workgroup/transform/strip.h"

#include <string.h>

/*
 * The end of values. Lanes may pass by the region that computes a value, so that the value of one round of a loop would
 * seem to reach the next round: for each value that lives from region to region a register would be carried round all
 * loops of the strip, and mixed with others wherever ways meet. In kernels with many regions these copies are most of
 * the code. So the strip says where no lane wants a value any more: at its own start, and where a round starts.
 */

bool kc_is_kept_elsewhere(const struct kc_strip *strip, const struct kc_region *region, unsigned s)
{
    const struct kc_emit *emit = strip->emit;

    for (unsigned bound = 0; bound < emit->wg->flow.n_blocks; bound++)
        if ((int)bound != region->start && kc_bits_get(&region->pending, bound) &&
            kc_bits_get(&emit->slots->live[bound], s))
            return true;
    return false;
}

static bool is_within(const struct kc_emit *emit, int block, int loop)
{
    return loop == KC_NONE || kc_bits_get(&emit->wg->flow.loops[loop].blocks, (size_t)block);
}

/* The values that a region of the phase takes from the strip. Of those within the loop, KC_NONE: of any. */
static struct kc_bits find_taken(const struct kc_strip *strip, int loop)
{
    struct kc_bits taken = kc_bits_create(strip->emit->slots->n);

    for (unsigned r = 0; r < strip->phase->n_regions; r++)
        if (is_within(strip->emit, strip->phase->regions[r].start, loop))
            kc_bits_merge(&taken, &strip->phase->regions[r].in, NULL);
    return taken;
}

static bool is_of_lanes(const struct kc_strip *strip, unsigned s)
{
    const struct kc_slot *slot = &strip->emit->slots->slots[s];

    return !slot->array && !slot->uniform;
}

static void forget(struct kc_strip *strip, unsigned s)
{
    struct kc_wg *wg = strip->emit->wg;
    unsigned id = LLVMLookupIntrinsicID("llvm.lifetime.start", strlen("llvm.lifetime.start"));
    LLVMValueRef held = kc_held(strip, s), start = LLVMGetIntrinsicDeclaration(wg->module, id, &wg->ptr, 1);
    LLVMValueRef arguments[] = {kc_i64(wg, LLVMABISizeOfType(wg->layout, LLVMGetAllocatedType(held))), held};

    kc_mark_forgotten(wg, LLVMBuildCall2(wg->builder, LLVMGlobalGetValueType(start), start, arguments, 2, ""));
}

void kc_forget_all(struct kc_strip *strip)
{
    struct kc_bits taken = find_taken(strip, KC_NONE);

    for (unsigned s = 0; s < strip->emit->slots->n; s++)
        if (kc_bits_get(&taken, s) && is_of_lanes(strip, s) && !kc_bits_get(&strip->phase->in, s))
            forget(strip, s);
    kc_bits_free(&taken);
}

/* The innermost loop around both blocks; KC_NONE. */
static int loop_around(const struct kc_emit *emit, int a, int b)
{
    const struct kc_flow *flow = &emit->wg->flow;
    int loop = flow->blocks[a].loop;

    while (loop != KC_NONE && !is_within(emit, b, loop))
        loop = flow->loops[loop].parent;
    return loop;
}

/* The outermost loop by which lanes come back to the region; KC_NONE. Without one they go on to bounds of a higher
 * order. */
static int loop_back_to(const struct kc_strip *strip, const struct kc_region *region)
{
    const struct kc_emit *emit = strip->emit;
    int outermost = KC_NONE;

    for (unsigned r = 0; r < strip->phase->n_regions; r++) {
        const struct kc_region *from = &strip->phase->regions[r];
        int loop;

        if (!kc_bits_get(&from->pending, (size_t)region->start) ||
            kc_bound_order(emit, from->start) < kc_bound_order(emit, region->start))
            continue;
        loop = loop_around(emit, region->start, from->start);
        if (loop != KC_NONE && (outermost == KC_NONE || loop < outermost)) /* outer loops before inner ones */
            outermost = loop;
    }
    return outermost;
}

void kc_forget_round(struct kc_strip *strip, const struct kc_region *region)
{
    int loop = loop_back_to(strip, region);
    struct kc_bits taken;

    if (loop == KC_NONE)
        return;
    taken = find_taken(strip, loop);
    for (unsigned s = 0; s < strip->emit->slots->n; s++)
        if (kc_bits_get(&taken, s) && is_of_lanes(strip, s) &&
            !kc_bits_get(&strip->emit->slots->live[region->start], s) && !kc_is_kept_elsewhere(strip, region, s))
            forget(strip, s);
    kc_bits_free(&taken);
}
