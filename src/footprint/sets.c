/*
 * Sets of bytes: unions of few boxes.
 */
#include "footprint/box.h"
#include "footprint/part.h"

bool tsl_byte_set_hull(const struct tsl_byte_set *set, uint64_t memory, uint64_t *begin, uint64_t *end)
{
    *begin = set->unknown ? 0 : UINT64_MAX;
    *end = set->unknown ? memory : 0;
    for (unsigned i = 0; i < set->n; i++) {
        uint64_t behind = set->boxes[i].offset + tsl_box_extent(&set->boxes[i]);

        if (set->boxes[i].offset < *begin)
            *begin = set->boxes[i].offset;
        if (behind > *end)
            *end = behind;
    }
    return *begin < *end;
}

uint64_t tsl_byte_set_size(const struct tsl_byte_set *set, uint64_t memory)
{
    uint64_t size = 0;

    if (set->unknown)
        return memory;
    for (unsigned i = 0; i < set->n; i++)
        size += tsl_box_size(&set->boxes[i]);
    return size < memory ? size : memory;
}

static struct tsl_byte_box all_of(uint64_t memory)
{
    return (struct tsl_byte_box){0, memory, {0, 0}, {1, 1}};
}

bool tsl_byte_sets_meet(const struct tsl_byte_set *a, const struct tsl_byte_set *b, int64_t shift, uint64_t memory_a,
                        uint64_t memory_b)
{
    struct tsl_byte_box all_a = all_of(memory_a), all_b = all_of(memory_b);
    const struct tsl_byte_box *boxes_a = a->unknown ? &all_a : a->boxes, *boxes_b = b->unknown ? &all_b : b->boxes;
    unsigned n_a = a->unknown ? memory_a > 0 : a->n, n_b = b->unknown ? memory_b > 0 : b->n;

    for (unsigned i = 0; i < n_a; i++)
        for (unsigned j = 0; j < n_b; j++)
            if (tsl_box_meet(&boxes_a[i], &boxes_b[j], shift))
                return true;
    return false;
}

bool tsl_byte_set_contains(const struct tsl_byte_set *a, const struct tsl_byte_set *b)
{
    for (unsigned j = 0; j < b->n; j++) {
        unsigned i = 0;

        while (i < a->n && !tsl_box_contains(&a->boxes[i], &b->boxes[j]))
            i++;
        if (i == a->n)
            return false;
    }
    return true;
}

/* ---- Adding ----------------------------------------------------------------------------------------------------- */

static void take_out(struct tsl_byte_set *set, unsigned i)
{
    set->boxes[i] = set->boxes[--set->n];
}

/* Joins the box with those of the set, as long as that adds no byte; they leave the set. */
static void absorb(struct tsl_byte_set *set, struct tsl_byte_box *box)
{
    for (unsigned i = 0; i < set->n;) {
        struct tsl_byte_box joint;

        if (!tsl_box_join(&set->boxes[i], box, &joint)) {
            i++;
            continue;
        }
        *box = joint;
        take_out(set, i);
        i = 0;
    }
}

/* A full set and one box more: two of them, the box itself being number n. */
struct pair {
    unsigned a, b;
    struct tsl_byte_box joint;
    double added; /* bytes */
};

/* The two boxes whose joint one adds the fewest bytes; sure: none, or false. */
static bool find_pair(const struct tsl_byte_set *set, const struct tsl_byte_box *box, bool sure, struct pair *best)
{
    bool found = false;

    for (unsigned b = 1; b <= set->n; b++) {
        for (unsigned a = 0; a < b; a++) {
            const struct tsl_byte_box *x = &set->boxes[a], *y = b == set->n ? box : &set->boxes[b];
            struct pair pair = {.a = a, .b = b};

            if (!tsl_box_pair(x, y, &pair.joint)) {
                if (sure)
                    continue;
                tsl_box_hull(x, y, &pair.joint);
                pair.added = (double)tsl_box_size(&pair.joint) - (double)tsl_box_size(x) - (double)tsl_box_size(y);
            }
            if (found && pair.added >= best->added)
                continue;
            *best = pair;
            found = true;
        }
    }
    return found;
}

static void drop_smallest(struct tsl_byte_set *set, const struct tsl_byte_box *box)
{
    unsigned least = 0;

    for (unsigned i = 1; i < set->n; i++)
        if (tsl_box_size(&set->boxes[i]) < tsl_box_size(&set->boxes[least]))
            least = i;
    if (tsl_box_size(&set->boxes[least]) < tsl_box_size(box))
        set->boxes[least] = *box;
}

/* The box is used up. */
static void add(struct tsl_byte_set *set, struct tsl_byte_box *box, bool sure)
{
    struct pair pair;

    for (;;) {
        absorb(set, box);
        if (set->n < TSL_MAX_BYTE_BOXES) {
            set->boxes[set->n++] = *box;
            return;
        }
        if (!find_pair(set, box, sure, &pair)) {
            drop_smallest(set, box);
            return;
        }
        if (pair.b < set->n)
            set->boxes[pair.b] = *box;
        *box = pair.joint;
        take_out(set, pair.a);
    }
}

void tsl_byte_set_add(struct tsl_byte_set *set, const struct tsl_byte_box *box, bool sure)
{
    struct tsl_byte_box next = *box;

    if (!set->unknown)
        add(set, &next, sure);
}

/* ---- Cutting ---------------------------------------------------------------------------------------------------- */

static struct tsl_raw_box rows_of(const struct tsl_raw_box *box, unsigned i, int64_t first, int64_t n)
{
    struct tsl_raw_box rows = *box;

    rows.offset += first * (int64_t)box->stride[i];
    rows.count[i] = (uint64_t)n;
    if (n == 1)
        rows.stride[i] = 0;
    return rows;
}

static void add_whole(struct tsl_byte_set *set, const struct tsl_raw_box *raw, bool sure)
{
    struct tsl_byte_box box = {
        (uint64_t)raw->offset, raw->width, {raw->stride[0], raw->stride[1]}, {raw->count[0], raw->count[1]}};

    tsl_box_normalise(&box);
    add(set, &box, sure);
}

static void add_cut(struct tsl_byte_set *set, const struct tsl_raw_box *box, int64_t memory, bool sure);

/* Rows within the memory stay together, the ones at its edges are cut each. */
static void add_rows(struct tsl_byte_set *set, const struct tsl_raw_box *box, unsigned i, int64_t memory, bool sure)
{
    const int64_t stride = (int64_t)box->stride[i], n = (int64_t)box->count[i];
    const int64_t inner = (int64_t)box->width + (i == 1 ? (int64_t)(box->stride[0] * (box->count[0] - 1)) : 0);
    /* first: the first row that doesn't begin before 0; behind: the first that doesn't end within the memory. */
    int64_t first = box->offset < 0 ? (-box->offset + stride - 1) / stride : 0;
    int64_t room = memory - inner - box->offset, behind = room < 0 ? 0 : room / stride + 1;
    struct tsl_raw_box rows;

    if (behind > n)
        behind = n;
    if (first < behind) {
        rows = rows_of(box, i, first, behind - first);
        add_whole(set, &rows, sure);
    }
    if (first > 0 && first <= n) {
        rows = rows_of(box, i, first - 1, 1);
        add_cut(set, &rows, memory, sure);
    }
    if (behind < n && behind != first - 1) {
        rows = rows_of(box, i, behind, 1);
        add_cut(set, &rows, memory, sure);
    }
}

static void add_cut(struct tsl_byte_set *set, const struct tsl_raw_box *box, int64_t memory, bool sure)
{
    const struct tsl_byte_box shape = {0, box->width, {box->stride[0], box->stride[1]}, {box->count[0], box->count[1]}};
    const int64_t end = box->offset + (int64_t)tsl_box_extent(&shape);
    struct tsl_raw_box rest = *box;

    if (end <= 0 || box->offset >= memory)
        return;
    if (box->offset >= 0 && end <= memory) {
        add_whole(set, box, sure);
    } else if (box->count[1] > 1) {
        add_rows(set, box, 1, memory, sure);
    } else if (box->count[0] > 1) {
        add_rows(set, box, 0, memory, sure);
    } else {
        rest.offset = box->offset < 0 ? 0 : box->offset;
        rest.width = (uint64_t)((end < memory ? end : memory) - rest.offset);
        add_whole(set, &rest, sure);
    }
}

void tsl_byte_set_add_raw(struct tsl_byte_set *set, const struct tsl_raw_box *box, uint64_t memory, bool sure)
{
    if (!set->unknown && memory > 0)
        add_cut(set, box, memory < INT64_MAX / 2 ? (int64_t)memory : INT64_MAX / 2, sure);
}
