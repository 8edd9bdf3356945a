#include "graph/slabs.h"

#include "object/buffer.h"

uint32_t tsl_slabs_most = 1024;
uint64_t tsl_slabs_large = (uint64_t)32 << 10;

/* From a box's first to its last byte. */
static struct tsl_footing_range hull_of(const struct tsl_byte_box *box)
{
    uint64_t size = (box->count[0] - 1) * box->stride[0] + (box->count[1] - 1) * box->stride[1] + box->width;
    return (struct tsl_footing_range){.begin = box->offset, .end = box->offset + size};
}

/* The box's planes; its rows, if it has one plane. */
static struct tsl_footing_range slabs_of(const struct tsl_byte_box *box)
{
    bool planes = box->count[1] > 1;
    uint64_t n = box->count[planes], size = planes ? (box->count[0] - 1) * box->stride[0] + box->width : box->width;
    if (n == 1 || n > tsl_slabs_most || size < tsl_slabs_large)
        return hull_of(box);
    return (struct tsl_footing_range){box->offset, box->offset + size, box->stride[planes], (uint32_t)(n - 1), false};
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* May so much stand for the larger of the two? Accesses to neighbours differ by a few rows, or planes. */
static bool is_near(int64_t joint, int64_t a, int64_t b)
{
    return joint <= most(a, b) + most(a, b) / 8 + 2;
}

/* Slabs of one stride that nearly are the same become one range around both, within the root's bytes [begin, end). b
 * lies `planes` strides and `bytes` further than a. */
static bool join(struct tsl_footing_range *a, const struct tsl_footing_range *b, uint64_t begin, uint64_t end)
{
    if (!a->more || !b->more || a->stride != b->stride)
        return false;
    int64_t stride = (int64_t)a->stride, distance = (int64_t)(b->begin - a->begin), planes = distance / stride;
    int64_t bytes = distance - planes * stride;
    int64_t away = bytes > stride / 2 ? 1 : bytes < -stride / 2 ? -1 : 0;
    planes += away;
    bytes -= away * stride;
    int64_t width_a = (int64_t)(a->end - a->begin), width_b = (int64_t)(b->end - b->begin);
    int64_t from = least(0, bytes), width = most(width_a, bytes + width_b) - from;
    int64_t first = least(0, planes), n = most((int64_t)a->more, planes + (int64_t)b->more) - first;
    int64_t at = (int64_t)a->begin + first * stride + from;
    if (width > stride || !is_near(width, width_a, width_b) || !is_near(n, (int64_t)a->more, (int64_t)b->more) ||
        at < (int64_t)begin || at + n * stride + width > (int64_t)end)
        return false;
    *a = (struct tsl_footing_range){(uint64_t)at, (uint64_t)(at + width), a->stride, (uint32_t)n, false};
    return true;
}

static void add(struct tsl_footing_ranges *ranges, const struct tsl_footing_range *one, const struct tsl_buffer *buffer)
{
    for (unsigned i = 0; i < ranges->n; i++)
        if (join(&ranges->list[i], one, buffer->offset, buffer->offset + buffer->size))
            return;
    ranges->list[ranges->n++] = *one;
}

/* Are they slabs, few and large? */
static bool are_worth_it(const struct tsl_footing_ranges *ranges)
{
    uint64_t n = 0, size = 0;
    bool any = false;
    for (unsigned i = 0; i < ranges->n; i++) {
        const struct tsl_footing_range *range = &ranges->list[i];
        any |= range->more > 0;
        n += range->more + 1u;
        size += (range->more + UINT64_C(1)) * (range->end - range->begin);
    }
    return any && n <= tsl_slabs_most && size / n >= tsl_slabs_large;
}

bool tsl_slabs_of(const struct tsl_byte_set *set, const struct tsl_buffer *buffer, struct tsl_footing_ranges *ranges)
{
    ranges->n = 0;
    for (unsigned i = 0; i < set->n; i++) {
        struct tsl_footing_range one = slabs_of(&set->boxes[i]);
        one.begin += buffer->offset;
        one.end += buffer->offset;
        add(ranges, &one, buffer);
    }
    return are_worth_it(ranges);
}
