/* Which bytes operations touch, where their claims take more. */
#include "graph/extent.h"

#include "graph/copies.h"
#include "graph/op.h"
#include "graph/touch.h"

#include <stdlib.h>

struct tsl_extents {
    unsigned n, capacity;
    struct tsl_extent list[];
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

void tsl_extents_reserve(struct tsl_op *op, unsigned n)
{
    op->extents = malloc(sizeof(*op->extents) + n * sizeof(op->extents->list[0]));
    if (op->extents)
        *op->extents = (struct tsl_extents){.capacity = n};
}

static struct tsl_extent *extent_for(struct tsl_extents *extents, const struct tsl_data *data)
{
    for (unsigned i = 0; i < extents->n; i++)
        if (extents->list[i].data == data)
            return &extents->list[i];
    if (extents->n == extents->capacity)
        return NULL;
    struct tsl_extent *extent = &extents->list[extents->n++];
    extent->data = data;
    extent->read.n = extent->write.n = 0;
    extent->read.unknown = extent->write.unknown = false;
    return extent;
}

static struct tsl_byte_box box_of_range(uint64_t begin, uint64_t end)
{
    return (struct tsl_byte_box){.offset = begin, .width = end - begin, .count = {1, 1}};
}

static void add_set(struct tsl_byte_set *to, const struct tsl_byte_set *set, uint64_t offset, uint64_t size)
{
    struct tsl_byte_box box = box_of_range(offset, offset + size);
    if (set->unknown && size > 0)
        tsl_byte_set_add(to, &box, false);
    for (unsigned i = 0; i < set->n; i++) {
        box = set->boxes[i];
        box.offset += offset;
        tsl_byte_set_add(to, &box, false);
    }
}

void tsl_extents_add(struct tsl_op *op, const struct tsl_data *data, const struct tsl_byte_set *set, uint64_t offset,
                     uint64_t size, bool write)
{
    struct tsl_extent *extent = op->extents ? extent_for(op->extents, data) : NULL;
    if (extent)
        add_set(write ? &extent->write : &extent->read, set, offset, size);
}

/* A box of rows that don't meet each other; else the range that has them all. */
static void add_side(struct tsl_op *op, const struct tsl_data *data, const struct tsl_side *side, bool write)
{
    const size_t *region = op->region;
    uint64_t inner = (region[1] - 1) * side->row_pitch + region[0];
    struct tsl_byte_set set = {.n = 1};
    set.boxes[0] = box_of_range(side->offset, side->offset + tsl_side_hull(op, side));
    if ((region[1] == 1 || side->row_pitch >= region[0]) && (region[2] == 1 || side->slice_pitch >= inner)) {
        bool one = region[1] == 1; /* Slices of one row are rows. */
        set.boxes[0].width = region[0];
        set.boxes[0].count[0] = one ? region[2] : region[1];
        set.boxes[0].count[1] = one ? 1 : region[2];
        if (set.boxes[0].count[0] > 1)
            set.boxes[0].stride[0] = one ? side->slice_pitch : side->row_pitch;
        if (set.boxes[0].count[1] > 1)
            set.boxes[0].stride[1] = side->slice_pitch;
    }
    tsl_extents_add(op, data, &set, 0, 0, write);
}

void tsl_extents_of_box(struct tsl_op *op, bool src, bool dst)
{
    bool same = op->src.data == op->dst.data; /* Of one object there are extents for both sides or none. */
    if (!src && !dst)
        return;
    tsl_extents_reserve(op, 2);
    if (src || (dst && same))
        add_side(op, op->src.data, &op->src, false);
    if (dst || (src && same))
        add_side(op, op->dst.data, &op->dst, true);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

const struct tsl_extent *tsl_extent_of(const struct tsl_op *op, const struct tsl_data *data)
{
    for (unsigned i = 0; op->extents && i < op->extents->n; i++)
        if (op->extents->list[i].data == data)
            return &op->extents->list[i];
    return NULL;
}

const struct tsl_extent *tsl_extent_on_host(const struct tsl_op *op, uint64_t begin, uint64_t end)
{
    const struct tsl_extent *found = NULL;
    for (unsigned i = 0; op->extents && i < op->extents->n; i++) {
        const struct tsl_data *data = op->extents->list[i].data;
        uint64_t base = tsl_host_address(data->host);
        if (!data->host || begin < base || base + data->size < end)
            continue;
        if (found)
            return NULL;
        found = &op->extents->list[i];
    }
    return found;
}

struct tsl_extent tsl_extent_range(uint64_t begin, uint64_t end)
{
    struct tsl_extent extent;
    extent.data = NULL;
    extent.read.unknown = extent.write.unknown = false;
    extent.read.n = extent.write.n = 1;
    extent.read.boxes[0] = extent.write.boxes[0] = box_of_range(begin, end);
    return extent;
}

void tsl_extent_of_touch(struct tsl_extent *extent, const struct tsl_argument_touch *touch, uint64_t offset,
                         uint64_t size)
{
    extent->data = NULL;
    extent->read.n = extent->write.n = 0;
    extent->read.unknown = extent->write.unknown = false;
    add_set(&extent->read, &touch->read, offset, size);
    add_set(&extent->write, &touch->write, offset, size);
}

static bool meet(const struct tsl_byte_set *a, const struct tsl_byte_set *b, uint64_t shift)
{
    return tsl_byte_sets_meet(a, b, (int64_t)shift, 0, 0);
}

bool tsl_extent_meets(const struct tsl_extent *extent, uint64_t begin, uint64_t end)
{
    const struct tsl_byte_set range = {.n = 1, .boxes = {box_of_range(begin, end)}};
    return meet(&extent->read, &range, 0) || meet(&extent->write, &range, 0);
}

bool tsl_extents_conflict(const struct tsl_extent_view *a, const struct tsl_extent_view *b)
{
    uint64_t shift = b->base - a->base;
    if (a->writes && b->writes && meet(&a->extent->write, &b->extent->write, shift))
        return true;
    if (a->writes && b->reads && meet(&a->extent->write, &b->extent->read, shift))
        return true;
    return b->writes && a->reads && meet(&a->extent->read, &b->extent->write, shift);
}

bool tsl_extent_covers(const struct tsl_extent_view *new, const struct tsl_extent_view *old)
{
    const struct tsl_byte_set *by = new->writes ? &new->extent->write : &new->extent->read;
    if (new->base != old->base)
        return false;
    return (!old->writes || tsl_byte_set_contains(by, &old->extent->write)) &&
           (!old->reads || tsl_byte_set_contains(by, &old->extent->read));
}
