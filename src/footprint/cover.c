/*
 * From an address over a part to boxes of bytes.
 *
 * Each variable in the address is a term: a stride and how many steps. From the smallest stride up, a term whose stride
 * is no more than what the smaller ones fill becomes a part of that, exactly; the others stay strides. What then isn't
 * a box of two strides is made larger (may) or is cut into several boxes, or less (sure).
 */
#include "footprint/part.h"

#define MAX_TERMS PART_VARS

/* How many boxes a third stride may become. */
#define MAX_SINGLE_STEPS 4u

/* No byte lies farther from its argument's first one. */
#define MAX_EXTENT ((tsl_wide)1 << 61)

struct term {
    tsl_wide stride, count; /* stride > 0, count > 1 */
};

/* A box under construction. Strides ascend, and none meets what the ones before fill, once they are merged. */
struct shape {
    tsl_wide offset, width;
    unsigned n;
    struct term terms[MAX_TERMS];
};

/* Bytes from the first to behind the last, of the first n strides. */
static tsl_wide filled(const struct shape *shape, unsigned n)
{
    tsl_wide extent = shape->width;

    for (unsigned i = 0; i < n; i++)
        extent += shape->terms[i].stride * (shape->terms[i].count - 1);
    return extent;
}

static void insert_term(struct shape *shape, tsl_wide stride, tsl_wide count)
{
    unsigned i = shape->n++;

    for (; i > 0 && shape->terms[i - 1].stride > stride; i--)
        shape->terms[i] = shape->terms[i - 1];
    shape->terms[i] = (struct term){stride, count};
}

/* Terms stay unset until they are there: there's room for more than is ever used. */
static void collect(const struct tsl_part *part, const struct tsl_form *address, uint32_t width, struct shape *shape)
{
    shape->offset = address->constant;
    shape->width = width;
    shape->n = 0;
    for (unsigned v = 0; v < address->n; v++) {
        const struct tsl_var *var = &part->vars[v];
        tsl_wide k = address->k[v], count = (tsl_wide)var->high - var->low + 1;

        if (k == 0)
            continue;
        shape->offset += k * (k > 0 ? var->low : var->high);
        if (count > 1)
            insert_term(shape, k > 0 ? k : -k, count);
    }
}

static void remove_term(struct shape *shape, unsigned i)
{
    shape->n--;
    for (; i < shape->n; i++)
        shape->terms[i] = shape->terms[i + 1];
}

/* Strides i and i + 1 interleave: all bytes of both, and more. */
static void widen_two(struct shape *shape, unsigned i)
{
    struct term *low = &shape->terms[i], *high = &shape->terms[i + 1];
    tsl_wide step = tsl_gcd(low->stride, high->stride);

    if (i == 0 && step > shape->width) {
        low->count = (low->count - 1) * (low->stride / step) + (high->count - 1) * (high->stride / step) + 1;
        low->stride = step;
        remove_term(shape, 1);
        return;
    }
    shape->width = filled(shape, i + 1);
    for (unsigned j = 0; j <= i; j++)
        remove_term(shape, 0);
}

/* Merges what is exactly a simpler shape, from the smallest stride up. Where strides interleave: may widens, sure
 * leaves one out. */
static void merge(struct shape *shape, bool may)
{
    for (unsigned i = 0; i < shape->n;) {
        struct term *term = &shape->terms[i];

        if (i == 0 && term->stride <= shape->width) {
            shape->width += term->stride * (term->count - 1);
            remove_term(shape, 0);
        } else if (i > 0 && term->stride % term[-1].stride == 0 && term->stride <= term[-1].stride * term[-1].count) {
            term[-1].count += term->stride / term[-1].stride * (term->count - 1);
            remove_term(shape, i);
        } else if (term->stride >= filled(shape, i)) {
            i++;
        } else if (may) {
            widen_two(shape, i - 1);
            i = 0;
        } else {
            remove_term(shape, term->count < term[-1].count ? i : i - 1);
            i = 0;
        }
    }
}

/* Fills the gaps of the stride where that adds the fewest bytes in proportion: within the innermost one, or between two
 * of which one is a multiple of the other. */
static void fill_one(struct shape *shape)
{
    /* Bytes become so many times more. */
    tsl_wide best = shape->terms[0].stride / shape->width;
    unsigned at = 0;

    for (unsigned i = 1; i < shape->n; i++) {
        const struct term *low = &shape->terms[i - 1], *high = &shape->terms[i];
        tsl_wide ratio = high->stride / (low->stride * low->count);

        if (high->stride % low->stride != 0 || ratio >= best)
            continue;
        best = ratio;
        at = i;
    }
    if (at == 0) {
        shape->width = filled(shape, 1);
        remove_term(shape, 0);
    } else {
        struct term *low = &shape->terms[at - 1], *high = &shape->terms[at];

        low->count += high->stride / low->stride * (high->count - 1);
        remove_term(shape, at);
    }
    merge(shape, true);
}

static unsigned fewest_steps(const struct shape *shape)
{
    unsigned best = 0;

    for (unsigned i = 1; i < shape->n; i++)
        if (shape->terms[i].count < shape->terms[best].count)
            best = i;
    return best;
}

static struct tsl_raw_box box_of(const struct shape *shape)
{
    struct tsl_raw_box box = {(int64_t)shape->offset, (uint64_t)shape->width, {0, 0}, {1, 1}};

    for (unsigned i = 0; i < shape->n; i++) {
        box.stride[i] = (uint64_t)shape->terms[i].stride;
        box.count[i] = (uint64_t)shape->terms[i].count;
    }
    return box;
}

/* Writes the shape as boxes: a third stride of few steps becomes a box for each. */
static unsigned emit(struct shape *shape, bool may, struct tsl_raw_box *boxes)
{
    struct term steps = {0, 1};
    unsigned n = 0;

    if (shape->offset < -MAX_EXTENT || shape->offset > MAX_EXTENT || filled(shape, shape->n) > MAX_EXTENT)
        return 0;
    while (shape->n > 2) {
        unsigned least = fewest_steps(shape);

        if (steps.count == 1 && shape->terms[least].count <= MAX_SINGLE_STEPS) {
            steps = shape->terms[least];
            remove_term(shape, least);
            merge(shape, may);
        } else if (may) {
            fill_one(shape);
        } else {
            remove_term(shape, least);
            merge(shape, may);
        }
    }
    for (; n < (unsigned)steps.count; n++) {
        boxes[n] = box_of(shape);
        shape->offset += steps.stride;
    }
    return n;
}

unsigned tsl_cover_may(const struct tsl_part *part, const struct tsl_form *address, uint32_t width,
                       struct tsl_raw_box boxes[MAX_COVER])
{
    struct shape shape;

    collect(part, address, width, &shape);
    merge(&shape, true);
    return emit(&shape, true, boxes);
}

/* ---- Sure ------------------------------------------------------------------------------------------------------- */

/* A variable that isn't in the address: one value serves as well as all, if the constraints allow it. So take the one
 * that all of those that name it like best. */
static void choose_value(struct tsl_part *part, unsigned v)
{
    struct tsl_var *var = &part->vars[v];
    bool rising = true;

    for (unsigned i = part->n_constraints; i-- > 0;)
        if (tsl_form_k(&part->constraints[i], v) != 0)
            rising = part->constraints[i].k[v] > 0;
    if (rising)
        var->low = var->high;
    else
        var->high = var->low;
}

/* Cuts one variable so that the constraint holds whatever the others are: the one of which most remains. */
static void ensure(struct tsl_part *part, const struct tsl_form *form)
{
    struct tsl_range range = tsl_form_range(part, form);
    tsl_wide best_low = 0, best_high = -1;
    double best = 0;
    int chosen = -1;

    if (range.low >= 0)
        return;
    for (unsigned v = 0; v < form->n; v++) {
        const struct tsl_var *var = &part->vars[v];
        tsl_wide k = form->k[v], low = var->low, high = var->high;
        double left;

        if (k == 0 || low == high)
            continue;
        if (k > 0)
            low = tsl_ceil_div(k * var->low - range.low, k);
        else
            high = tsl_floor_div(range.low - k * var->high, -k);
        left = (double)(high - low + 1) / (double)((tsl_wide)var->high - var->low + 1);
        if (left <= best)
            continue;
        best = left;
        best_low = low;
        best_high = high;
        chosen = (int)v;
    }
    if (chosen < 0)
        part->empty = true;
    else
        tsl_part_cut(part, (unsigned)chosen, best_low, best_high);
}

unsigned tsl_cover_sure(const struct tsl_part *part, const struct tsl_form *address, uint32_t width,
                        struct tsl_raw_box boxes[MAX_COVER])
{
    struct tsl_part inner;
    struct shape shape;

    if (!part->exact)
        return 0;
    if (part->n_constraints > 0) {
        tsl_part_copy(&inner, part);
        for (unsigned v = 0; v < inner.n_vars; v++)
            if (tsl_form_k(address, v) == 0)
                choose_value(&inner, v);
        for (unsigned i = 0; i < inner.n_constraints && !inner.empty; i++)
            ensure(&inner, &inner.constraints[i]);
        if (inner.empty)
            return 0;
        part = &inner;
    }
    collect(part, address, width, &shape);
    merge(&shape, false);
    return emit(&shape, false, boxes);
}
