/*
 * Which launches may be cut, and along which dimension.
 */
#include "footprint/cut.h"

#include <stdlib.h>

#define NONE TSL_FOOTPRINT_NONE

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

enum tsl_cut_why tsl_cut_kernel(const struct tsl_footprint *footprint)
{
    static const struct {
        uint32_t flag;
        enum tsl_cut_why why;
    } all[] = {
        {TSL_FOOTPRINT_PRINTS, TSL_CUT_PRINTS},     {TSL_FOOTPRINT_PROGRAM, TSL_CUT_PROGRAM_SCOPE},
        {TSL_FOOTPRINT_POINTERS, TSL_CUT_POINTERS}, {TSL_FOOTPRINT_SPINS, TSL_CUT_SPINS},
        {TSL_FOOTPRINT_FENCES, TSL_CUT_FENCES},     {TSL_FOOTPRINT_WIDE_VOLATILE, TSL_CUT_VOLATILE},
    };

    if (!footprint)
        return TSL_CUT_NO_FOOTPRINT;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (footprint->flags & all[i].flag)
            return all[i].why;
    return TSL_CUT_OK;
}

/* ---- The shares -------------------------------------------------------------------------------------------------- */

struct shares {
    const struct tsl_footprint *footprint;
    const struct tsl_cut_memory *memories;
    unsigned n;
    const struct tsl_argument_touch *const *touches;
    const struct tsl_pixel_set *const *pixels;
};

static bool writes(const struct shares *shares, unsigned s, uint32_t i)
{
    return shares->memories[i].root && shares->memories[i].may_write && shares->touches[s][i].writes;
}

/* What share s writes of image i, by pixels; NULL: that isn't known. */
static const struct tsl_pixel_set *pixels_of(const struct shares *shares, unsigned s, uint32_t i)
{
    const struct tsl_pixel_set *set;

    if (!shares->memories[i].image || !shares->pixels || !shares->pixels[s])
        return NULL;
    set = &shares->pixels[s][i];
    return set->unknown ? NULL : set;
}

static bool is_unknown(const struct shares *shares, unsigned s, uint32_t i)
{
    return shares->touches[s][i].write.unknown && !pixels_of(shares, s, i);
}

static bool pixel_boxes_meet(const struct tsl_pixel_box *a, const struct tsl_pixel_box *b)
{
    for (unsigned d = 0; d < 3; d++)
        if (a->origin[d] >= b->origin[d] + b->size[d] || b->origin[d] >= a->origin[d] + a->size[d])
            return false;
    return true;
}

static bool pixel_sets_meet(const struct tsl_pixel_set *a, const struct tsl_pixel_set *b)
{
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned j = 0; j < b->n; j++)
            if (pixel_boxes_meet(&a->boxes[i], &b->boxes[j]))
                return true;
    return false;
}

/* May share s write by argument i what share t writes by j? */
static bool meet(const struct shares *shares, unsigned s, uint32_t i, unsigned t, uint32_t j)
{
    const struct tsl_cut_memory *a = &shares->memories[i], *b = &shares->memories[j];

    if (!writes(shares, s, i) || !writes(shares, t, j))
        return false;
    if (a->image && a->image == b->image) {
        const struct tsl_pixel_set *in_a = pixels_of(shares, s, i), *in_b = pixels_of(shares, t, j);

        if (in_a && in_b)
            return pixel_sets_meet(in_a, in_b);
    }
    return tsl_byte_sets_meet(&shares->touches[s][i].write, &shares->touches[t][j].write,
                              (int64_t)(b->offset - a->offset), a->size, b->size);
}

static uint32_t first_store(const struct tsl_footprint *footprint, uint32_t argument)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].argument == argument && footprint->accesses[i].kind == TSL_ACCESS_WRITE)
            return i;
    return NONE;
}

/* What is unknown is the reason, if one of the two is. */
static struct tsl_cut_verdict verdict_of(const struct shares *shares, unsigned s, uint32_t i, unsigned t, uint32_t j)
{
    if (is_unknown(shares, s, i))
        return (struct tsl_cut_verdict){TSL_CUT_WRITES_UNKNOWN, i, j, shares->touches[s][i].why_write};
    if (is_unknown(shares, t, j))
        return (struct tsl_cut_verdict){TSL_CUT_WRITES_UNKNOWN, j, i, shares->touches[t][j].why_write};
    return (struct tsl_cut_verdict){TSL_CUT_WRITES_MEET, i, j, first_store(shares->footprint, i)};
}

/* Does each share write of an argument what lies behind all that the shares before it write, or each before that? Then
 * no two meet. */
static bool in_order(const struct shares *shares, uint32_t i)
{
    uint64_t begin, end, last_begin = UINT64_MAX, last_end = 0;
    bool up = true, down = true;

    for (unsigned s = 0; s < shares->n && (up || down); s++) {
        if (!writes(shares, s, i) ||
            !tsl_byte_set_hull(&shares->touches[s][i].write, shares->memories[i].size, &begin, &end))
            continue;
        up &= begin >= last_end;
        down &= end <= last_begin;
        last_begin = begin;
        last_end = end;
    }
    return up || down;
}

static bool arguments_are_apart(const struct shares *shares, uint32_t i, uint32_t j, struct tsl_cut_verdict *verdict)
{
    if (i == j && in_order(shares, i))
        return true;
    for (unsigned s = 0; s + 1 < shares->n; s++) {
        for (unsigned t = s + 1; t < shares->n; t++) {
            if (meet(shares, s, i, t, j))
                *verdict = verdict_of(shares, s, i, t, j);
            else if (i != j && meet(shares, s, j, t, i))
                *verdict = verdict_of(shares, s, j, t, i);
            else
                continue;
            return false;
        }
    }
    return true;
}

static bool may_overlap(const struct tsl_cut_memory *a, const struct tsl_cut_memory *b)
{
    return a->root && a->root == b->root && a->may_write && b->may_write && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

static uint32_t first_atomic(const struct tsl_footprint *footprint, uint32_t argument)
{
    for (uint32_t i = 0; i < footprint->n_accesses; i++)
        if (footprint->accesses[i].argument == argument && footprint->accesses[i].kind == TSL_ACCESS_ATOMIC)
            return i;
    return NONE;
}

static bool has_atomics(const struct shares *shares, uint32_t i)
{
    for (unsigned s = 0; s < shares->n; s++)
        if (shares->touches[s][i].atomics)
            return true;
    return false;
}

static bool is_written(const struct shares *shares, uint32_t i)
{
    for (unsigned s = 0; s < shares->n; s++)
        if (writes(shares, s, i))
            return true;
    return false;
}

static bool shares_are_apart(const struct shares *shares, struct tsl_cut_verdict *verdict)
{
    const uint32_t n = shares->footprint->n_arguments;

    for (uint32_t i = 0; i < n; i++)
        if (shares->memories[i].root && has_atomics(shares, i)) {
            *verdict = (struct tsl_cut_verdict){TSL_CUT_ATOMICS, i, NONE, first_atomic(shares->footprint, i)};
            return false;
        }
    for (uint32_t i = 0; i < n; i++) {
        if (!is_written(shares, i))
            continue;
        for (uint32_t j = i; j < n; j++)
            if (may_overlap(&shares->memories[i], &shares->memories[j]) && !arguments_are_apart(shares, i, j, verdict))
                return false;
    }
    *verdict = (struct tsl_cut_verdict){TSL_CUT_OK, NONE, NONE, NONE};
    return true;
}

bool tsl_cut_shares(const struct tsl_footprint *footprint, unsigned n, const struct tsl_argument_touch *const *touches,
                    const struct tsl_pixel_set *const *pixels, const struct tsl_cut_memory *memories,
                    struct tsl_cut_verdict *verdict)
{
    const struct shares shares = {footprint, memories, n, touches, pixels};
    struct tsl_cut_verdict mine;

    return shares_are_apart(&shares, verdict ? verdict : &mine);
}

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

static uint64_t all_groups(const struct tsl_window *window, unsigned d)
{
    if (d >= window->work_dim || !window->local_size[d])
        return 1;
    return window->global_size[d] / window->local_size[d] + (window->global_size[d] % window->local_size[d] != 0);
}

uint64_t tsl_cut_groups(const struct tsl_window *window, unsigned dimension)
{
    return window->whole || dimension >= window->work_dim ? all_groups(window, dimension)
                                                          : window->group_count[dimension];
}

void tsl_cut_windows(const struct tsl_window *window, unsigned dimension, unsigned n, const uint64_t *group_ends,
                     struct tsl_window *out)
{
    struct tsl_window all = *window;

    for (unsigned d = 0; d < 3; d++) {
        all.group_begin[d] = window->whole || d >= window->work_dim ? 0 : window->group_begin[d];
        all.group_count[d] = tsl_cut_groups(window, d);
    }
    all.whole = false;
    for (unsigned s = 0; s < n; s++) {
        const uint64_t begin = s ? group_ends[s - 1] : 0;

        out[s] = all;
        out[s].group_begin[dimension] += begin;
        out[s].group_count[dimension] = group_ends[s] - begin;
    }
}

/* ---- The dimension ----------------------------------------------------------------------------------------------- */

/* Two halves of a window, and what they touch. */
struct halves {
    struct tsl_argument_touch *touches[2];
    struct tsl_pixel_set *pixels[2];
};

/* How good it is to cut along a dimension. */
struct score {
    bool both;   /* both halves write, or none does */
    bool apart;  /* their hulls don't meet */
    double rows; /* of all that is written */
};

static bool begin_halves(struct halves *halves, uint32_t n)
{
    const size_t at_least = n ? n : 1;

    halves->touches[0] = calloc(2 * at_least, sizeof(*halves->touches[0]));
    halves->pixels[0] = calloc(2 * at_least, sizeof(*halves->pixels[0]));
    if (!halves->touches[0] || !halves->pixels[0])
        return false;
    halves->touches[1] = halves->touches[0] + at_least;
    halves->pixels[1] = halves->pixels[0] + at_least;
    return true;
}

static void end_halves(struct halves *halves)
{
    free(halves->touches[0]);
    free(halves->pixels[0]);
}

static void evaluate(const struct tsl_footprint *footprint, const struct tsl_window *window,
                     const struct tsl_argument_value *values, const struct tsl_cut_memory *memories,
                     struct tsl_argument_touch *touches, struct tsl_pixel_set *pixels)
{
    struct tsl_pixel_set read;

    tsl_footprint_evaluate(footprint, window, values, touches);
    for (uint32_t i = 0; i < footprint->n_arguments; i++)
        if (memories[i].image && touches[i].writes)
            tsl_footprint_evaluate_image(footprint, window, values, i, &read, &pixels[i]);
}

static bool byte_hulls_meet(const struct tsl_byte_set *a, const struct tsl_byte_set *b, uint64_t memory)
{
    uint64_t begin_a, end_a, begin_b, end_b;

    return tsl_byte_set_hull(a, memory, &begin_a, &end_a) && tsl_byte_set_hull(b, memory, &begin_b, &end_b) &&
           begin_a < end_b && begin_b < end_a;
}

/* Boxes of equal planes are compared by rows, of equal rows by columns. */
static bool pixel_hulls_meet(const struct tsl_pixel_set *a, const struct tsl_pixel_set *b)
{
    for (unsigned i = 0; i < a->n; i++) {
        for (unsigned j = 0; j < b->n; j++) {
            const struct tsl_pixel_box *x = &a->boxes[i], *y = &b->boxes[j];
            bool apart = false;

            for (unsigned d = 3; d-- > 0;) {
                apart = x->origin[d] >= y->origin[d] + y->size[d] || y->origin[d] >= x->origin[d] + x->size[d];
                if (apart || x->size[d] > 1 || y->size[d] > 1)
                    break;
            }
            if (!apart)
                return true;
        }
    }
    return false;
}

static double rows_of(const struct shares *shares, unsigned s, uint32_t i)
{
    const struct tsl_pixel_set *pixels = pixels_of(shares, s, i);
    const struct tsl_byte_set *bytes = &shares->touches[s][i].write;
    double rows = 0;

    if (!pixels && bytes->unknown)
        return 1;
    for (unsigned b = 0; pixels && b < pixels->n; b++)
        rows += (double)pixels->boxes[b].size[1] * (double)pixels->boxes[b].size[2];
    for (unsigned b = 0; !pixels && b < bytes->n; b++)
        rows += (double)bytes->boxes[b].count[0] * (double)bytes->boxes[b].count[1];
    return rows;
}

static struct score score_of(const struct shares *shares)
{
    struct score score = {.apart = true};
    double rows[2] = {0, 0};

    for (uint32_t i = 0; i < shares->footprint->n_arguments; i++) {
        bool both = true;

        for (unsigned s = 0; s < 2; s++) {
            const bool written = writes(shares, s, i);

            both &= written;
            rows[s] += written ? rows_of(shares, s, i) : 0;
        }
        if (!both)
            continue;
        if (pixels_of(shares, 0, i) && pixels_of(shares, 1, i))
            score.apart &= !pixel_hulls_meet(pixels_of(shares, 0, i), pixels_of(shares, 1, i));
        else
            score.apart &=
                !byte_hulls_meet(&shares->touches[0][i].write, &shares->touches[1][i].write, shares->memories[i].size);
    }
    score.both = (rows[0] > 0) == (rows[1] > 0);
    score.rows = rows[0] + rows[1];
    return score;
}

static bool is_better(const struct score *a, const struct score *b)
{
    if (a->both != b->both)
        return a->both;
    if (a->apart != b->apart)
        return a->apart;
    return a->rows < b->rows;
}

/* What has been found of the dimensions so far. */
struct choice {
    unsigned dimension; /* 3: none is legal yet */
    struct score score;
    struct tsl_cut_verdict why; /* none is */
};

/* Of two reasons the one that a less strict rung may still allow. */
static void take_reason(struct tsl_cut_verdict *verdict, const struct tsl_cut_verdict *other)
{
    if (verdict->why == TSL_CUT_TOO_FEW_GROUPS ||
        (verdict->why == TSL_CUT_WRITES_MEET && other->why == TSL_CUT_WRITES_UNKNOWN))
        *verdict = *other;
}

static void try_dimension(const struct tsl_window *window, unsigned d, const struct tsl_argument_value *values,
                          const struct halves *halves, const struct shares *shares, struct choice *choice)
{
    const uint64_t n = tsl_cut_groups(window, d), ends[2] = {n / 2, n};
    struct tsl_window parts[2];
    struct tsl_cut_verdict why;
    struct score score;

    if (n < 2)
        return;
    tsl_cut_windows(window, d, 2, ends, parts);
    for (unsigned s = 0; s < 2; s++)
        evaluate(shares->footprint, &parts[s], values, shares->memories, halves->touches[s], halves->pixels[s]);
    if (!shares_are_apart(shares, &why)) {
        take_reason(&choice->why, &why);
        return;
    }
    score = score_of(shares);
    if (choice->dimension < 3 && !is_better(&score, &choice->score))
        return;
    choice->dimension = d;
    choice->score = score;
}

static struct choice choose(const struct tsl_footprint *footprint, const struct tsl_window *window,
                            const struct tsl_argument_value *values, const struct tsl_cut_memory *memories)
{
    struct choice choice = {.dimension = 3, .why = {tsl_cut_kernel(footprint), NONE, NONE, NONE}};
    struct halves halves;

    if (choice.why.why != TSL_CUT_OK)
        return choice;
    choice.why.why = TSL_CUT_TOO_FEW_GROUPS;
    if (begin_halves(&halves, footprint->n_arguments)) {
        const struct tsl_argument_touch *touches[2] = {halves.touches[0], halves.touches[1]};
        const struct tsl_pixel_set *pixels[2] = {halves.pixels[0], halves.pixels[1]};
        const struct shares shares = {footprint, memories, 2, touches, pixels};

        for (unsigned d = window->work_dim; d-- > 0;)
            try_dimension(window, d, values, &halves, &shares, &choice);
    } else {
        choice.why.why = TSL_CUT_NO_MEMORY;
    }
    end_halves(&halves);
    return choice;
}

unsigned tsl_cut_dimension(const struct tsl_footprint *footprint, const struct tsl_window *window,
                           const struct tsl_argument_value *values, const struct tsl_cut_memory *memories,
                           struct tsl_cut_verdict *verdict)
{
    const struct choice choice = choose(footprint, window, values, memories);

    if (verdict)
        *verdict = choice.dimension < 3 ? (struct tsl_cut_verdict){TSL_CUT_OK, NONE, NONE, NONE} : choice.why;
    return choice.dimension;
}
