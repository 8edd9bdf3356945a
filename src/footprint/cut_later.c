/* Shares that surely overwrite each other's bytes. */
#include "footprint/cut_later.h"

#include <stdlib.h>

/* What a share may write by an argument. */
struct written {
    const struct tsl_argument_touch *touch;
    const struct tsl_cut_memory *memory;
};

static bool may_write(const struct written *by)
{
    return by->memory->root && by->memory->may_write && by->touch->writes;
}

static bool meet(const struct written *a, const struct written *b, const struct tsl_byte_set *of_b)
{
    return tsl_byte_sets_meet(&a->touch->write, of_b, (int64_t)(b->memory->offset - a->memory->offset), a->memory->size,
                              b->memory->size);
}

/* Does the later one surely write each box of its own that meets what the earlier one may write? */
static bool overwrites(const struct written *earlier, const struct written *later)
{
    const struct tsl_byte_set *write = &later->touch->write;

    if (write->unknown)
        return false;
    for (unsigned i = 0; i < write->n; i++) {
        const struct tsl_byte_set box = {.n = 1, .boxes = {write->boxes[i]}};

        if (meet(earlier, later, &box) && !tsl_byte_set_contains(&later->touch->sure, &box))
            return false;
    }
    return true;
}

static bool may_both(const struct written *earlier, const struct written *later)
{
    if (!may_write(earlier) || !may_write(later) || earlier->memory->root != later->memory->root ||
        !meet(earlier, later, &later->touch->write))
        return true;
    return earlier->memory->own && later->memory->own && !earlier->memory->image && !later->memory->image &&
           overwrites(earlier, later);
}

static bool has_atomics(const struct tsl_argument_touch *touches, const struct tsl_cut_memory *memories, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (memories[i].root && touches[i].atomics)
            return true;
    return false;
}

static bool shares_may_both(uint32_t n_arguments, const struct tsl_argument_touch *earlier,
                            const struct tsl_argument_touch *later, const struct tsl_cut_memory *memories)
{
    for (uint32_t i = 0; i < n_arguments; i++)
        for (uint32_t j = 0; j < n_arguments; j++) {
            const struct written a = {&earlier[i], &memories[i]}, b = {&later[j], &memories[j]};

            if (!may_both(&a, &b))
                return false;
        }
    return true;
}

bool tsl_cut_later_wins(const struct tsl_footprint *footprint, unsigned n,
                        const struct tsl_argument_touch *const *shares, const struct tsl_cut_memory *memories)
{
    for (unsigned s = 0; s < n; s++) {
        if (has_atomics(shares[s], memories, footprint->n_arguments))
            return false;
        for (unsigned t = s + 1; t < n; t++)
            if (!shares_may_both(footprint->n_arguments, shares[s], shares[t], memories))
                return false;
    }
    return true;
}

/* ---- The dimension ----------------------------------------------------------------------------------------------- */

bool tsl_cut_later_has_order(const struct tsl_window *window, unsigned dimension)
{
    for (unsigned d = dimension + 1; d < window->work_dim; d++)
        if (tsl_cut_groups(window, d) > 1)
            return false;
    return true;
}

static bool halves_may(const struct tsl_footprint *footprint, const struct tsl_window *window, unsigned dimension,
                       const struct tsl_argument_value *values, const struct tsl_cut_memory *memories)
{
    const uint64_t n = tsl_cut_groups(window, dimension), ends[2] = {n / 2, n};
    const size_t n_arguments = footprint->n_arguments ? footprint->n_arguments : 1;
    struct tsl_argument_touch *touches = calloc(2 * n_arguments, sizeof(*touches));
    struct tsl_window halves[2];
    bool may = touches;

    tsl_cut_windows(window, dimension, 2, ends, halves);
    for (unsigned s = 0; s < 2 && may; s++)
        tsl_footprint_evaluate(footprint, &halves[s], values, touches + s * n_arguments);
    if (may) {
        const struct tsl_argument_touch *const shares[2] = {touches, touches + n_arguments};

        may = tsl_cut_later_wins(footprint, 2, shares, memories);
    }
    free(touches);
    return may;
}

unsigned tsl_cut_later_dimension(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                 const struct tsl_argument_value *values, const struct tsl_cut_memory *memories)
{
    unsigned d = window->work_dim;

    if (tsl_cut_kernel(footprint) != TSL_CUT_OK)
        return 3;
    while (d > 0 && tsl_cut_groups(window, d - 1) < 2)
        d--;
    return d > 0 && halves_may(footprint, window, d - 1, values, memories) ? d - 1 : 3;
}
