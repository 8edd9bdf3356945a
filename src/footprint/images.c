/*
 * Which pixels of an image a window touches.
 */
#include "footprint/part.h"

#define MAX_PIXEL_BOXES (sizeof(((struct tsl_pixel_set *)0)->boxes) / sizeof(struct tsl_pixel_box))

static bool contains(const struct tsl_pixel_box *a, const struct tsl_pixel_box *b)
{
    for (unsigned i = 0; i < 3; i++)
        if (b->origin[i] < a->origin[i] || b->origin[i] + b->size[i] > a->origin[i] + a->size[i])
            return false;
    return true;
}

static struct tsl_pixel_box hull(const struct tsl_pixel_box *a, const struct tsl_pixel_box *b)
{
    struct tsl_pixel_box box;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t end_a = a->origin[i] + a->size[i], end_b = b->origin[i] + b->size[i];

        box.origin[i] = a->origin[i] < b->origin[i] ? a->origin[i] : b->origin[i];
        box.size[i] = (end_a > end_b ? end_a : end_b) - box.origin[i];
    }
    return box;
}

static double volume(const struct tsl_pixel_box *box)
{
    return (double)box->size[0] * (double)box->size[1] * (double)box->size[2];
}

/* Pixels that a hull of both would add; none, or fewer, where it is exact. */
static double added(const struct tsl_pixel_box *a, const struct tsl_pixel_box *b)
{
    struct tsl_pixel_box joint = hull(a, b);

    return volume(&joint) - volume(a) - volume(b);
}

/* Do they differ in one dimension alone, where they touch or meet? Then the hull is their union. */
static bool is_union(const struct tsl_pixel_box *a, const struct tsl_pixel_box *b)
{
    unsigned different = 0;

    for (unsigned i = 0; i < 3; i++) {
        if (a->origin[i] == b->origin[i] && a->size[i] == b->size[i])
            continue;
        different++;
        if (a->origin[i] > b->origin[i] + b->size[i] || b->origin[i] > a->origin[i] + a->size[i])
            return false;
    }
    return different <= 1;
}

static void add(struct tsl_pixel_set *set, struct tsl_pixel_box box)
{
    unsigned best = 0;

    if (set->unknown)
        return;
    for (unsigned i = 0; i < set->n;) {
        if (contains(&set->boxes[i], &box))
            return;
        if (!contains(&box, &set->boxes[i]) && !is_union(&box, &set->boxes[i])) {
            i++;
            continue;
        }
        box = hull(&box, &set->boxes[i]);
        set->boxes[i] = set->boxes[--set->n];
        i = 0;
    }
    if (set->n < MAX_PIXEL_BOXES) {
        set->boxes[set->n++] = box;
        return;
    }
    for (unsigned i = 1; i < set->n; i++)
        if (added(&set->boxes[i], &box) < added(&set->boxes[best], &box))
            best = i;
    set->boxes[best] = hull(&set->boxes[best], &box);
}

struct pixels {
    uint32_t argument;
    struct tsl_pixel_set *read, *write;
};

static void set_unknown(struct tsl_pixel_set *set)
{
    set->unknown = true;
    set->n = 0;
}

bool tsl_pixel_box_of(const struct tsl_evaluation *e, const struct tsl_value *coordinates, struct tsl_pixel_box *box,
                      bool *empty)
{
    *empty = false;
    for (unsigned i = 0; i < 3; i++) {
        struct tsl_range range = {0, 0};

        if (e->access->address[i] != TSL_FOOTPRINT_NONE &&
            (!tsl_value_range(e, &coordinates[i], &range) || range.high > INT64_MAX / 4))
            return false;
        if (range.low < 0)
            range.low = 0;
        *empty |= range.high < 0;
        box->origin[i] = (uint64_t)range.low;
        box->size[i] = range.high < 0 ? 0 : (uint64_t)(range.high - range.low + 1);
    }
    return e->access->address[0] != TSL_FOOTPRINT_NONE;
}

static void record(struct tsl_evaluation *e, const struct tsl_value *coordinates, void *data)
{
    const struct pixels *pixels = data;
    struct tsl_pixel_set *const sets[2] = {e->access->kind != TSL_ACCESS_WRITE ? pixels->read : NULL,
                                           e->access->kind != TSL_ACCESS_READ ? pixels->write : NULL};
    struct tsl_pixel_box box;
    bool empty, known = tsl_pixel_box_of(e, coordinates, &box, &empty);

    for (unsigned i = 0; i < 2; i++) {
        if (!sets[i])
            continue;
        if (!known)
            set_unknown(sets[i]);
        else if (!empty)
            add(sets[i], box);
    }
}

void tsl_footprint_evaluate_image(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                  const struct tsl_argument_value *arguments, uint32_t argument,
                                  struct tsl_pixel_set *read, struct tsl_pixel_set *write)
{
    struct pixels pixels = {argument, read, write};
    struct tsl_evaluation *e = tsl_evaluation_begin(footprint, window, arguments);

    read->unknown = write->unknown = false;
    read->n = write->n = 0;
    for (uint32_t i = 0; i < footprint->n_accesses; i++) {
        const struct tsl_access *access = &footprint->accesses[i];

        if (access->argument != argument || !(access->flags & TSL_ACCESS_IMAGE))
            continue;
        if (e)
            tsl_evaluation_walk(e, access, record, &pixels);
        else if (access->kind != TSL_ACCESS_WRITE)
            set_unknown(read);
        if (!e && access->kind != TSL_ACCESS_READ)
            set_unknown(write);
    }
    tsl_evaluation_end(e);
}
