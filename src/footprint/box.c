/*
 * Single boxes of bytes: what they contain, joins that add no byte, hulls that do, and whether two of them meet.
 */
#include "footprint/box.h"

/* Rows of the smaller box that are tried one by one. */
#define MAX_ROWS 4096u

/* Bytes of one step of dimension i. */
static uint64_t step_extent(const struct tsl_byte_box *box, unsigned i)
{
    return i == 0 ? box->width : (box->count[0] - 1) * box->stride[0] + box->width;
}

uint64_t tsl_box_extent(const struct tsl_byte_box *box)
{
    return (box->count[1] - 1) * box->stride[1] + step_extent(box, 1);
}

uint64_t tsl_box_size(const struct tsl_byte_box *box)
{
    return box->count[1] * box->count[0] * box->width;
}

static void drop_inner(struct tsl_byte_box *box)
{
    box->stride[0] = box->stride[1];
    box->count[0] = box->count[1];
    box->stride[1] = 0;
    box->count[1] = 1;
}

void tsl_box_normalise(struct tsl_byte_box *box)
{
    for (unsigned i = 0; i < 2; i++) {
        if (box->count[0] > 1 && box->width >= box->stride[0]) {
            box->width += (box->count[0] - 1) * box->stride[0];
            box->count[0] = 1;
        }
        if (box->count[0] == 1)
            drop_inner(box);
    }
    if (box->count[1] > 1 && box->stride[1] == box->count[0] * box->stride[0]) {
        box->count[0] *= box->count[1];
        box->count[1] = 1;
    }
    for (unsigned i = 0; i < 2; i++)
        if (box->count[i] == 1)
            box->stride[i] = 0;
}

bool tsl_box_contains(const struct tsl_byte_box *a, const struct tsl_byte_box *b)
{
    uint64_t at, index[2] = {0, 0};

    if (b->offset < a->offset || b->offset + tsl_box_extent(b) > a->offset + tsl_box_extent(a))
        return false;
    if (a->count[0] == 1 && a->count[1] == 1)
        return true;
    at = b->offset - a->offset;
    for (unsigned i = 2; i-- > 0;) {
        if (a->count[i] == 1)
            continue;
        index[i] = at / a->stride[i];
        at %= a->stride[i];
    }
    if (at + b->width > a->width)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        unsigned same = a->count[0] > 1 && a->stride[0] == b->stride[i] ? 0 : 1;

        if (b->count[i] > 1 && (a->stride[same] != b->stride[i] || index[same] + b->count[i] > a->count[same]))
            return false;
    }
    return index[0] < a->count[0] && index[1] < a->count[1];
}

/* ---- Joins ------------------------------------------------------------------------------------------------------ */

static bool is_range(const struct tsl_byte_box *box)
{
    return box->count[0] == 1 && box->count[1] == 1;
}

/* Do rows and planes not meet? */
static bool is_apart(const struct tsl_byte_box *box)
{
    return (box->count[0] == 1 || box->width <= box->stride[0]) &&
           (box->count[1] == 1 || step_extent(box, 1) <= box->stride[1]);
}

static bool same_dimension(const struct tsl_byte_box *a, const struct tsl_byte_box *b, unsigned i)
{
    return a->count[i] == b->count[i] && a->stride[i] == b->stride[i];
}

/* b begins within a's width or right behind it. */
static bool join_widths(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint)
{
    uint64_t distance = b->offset - a->offset;

    if (distance > a->width || !same_dimension(a, b, 0) || !same_dimension(a, b, 1))
        return false;
    *joint = *a;
    if (distance + b->width > a->width)
        joint->width = distance + b->width;
    if (!is_apart(joint))
        return false;
    tsl_box_normalise(joint);
    return true;
}

/* b continues a's dimension i, whose stride one of them may lack, having one step. */
static bool join_counts(const struct tsl_byte_box *a, const struct tsl_byte_box *b, unsigned i,
                        struct tsl_byte_box *joint)
{
    uint64_t distance = b->offset - a->offset, stride = a->count[i] > 1 ? a->stride[i] : b->stride[i], steps;

    if (a->width != b->width || stride == 0 || (b->count[i] > 1 && b->stride[i] != stride))
        return false;
    if (!same_dimension(a, b, 1 - i) || distance % stride != 0 || distance / stride > a->count[i])
        return false;
    *joint = *a;
    steps = distance / stride + b->count[i];
    joint->stride[i] = stride;
    joint->count[i] = steps > a->count[i] ? steps : a->count[i];
    if (!is_apart(joint))
        return false;
    tsl_box_normalise(joint);
    return true;
}

/* b fills the gaps that a leaves, or all but the last one. */
static bool join_gaps(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint)
{
    const uint64_t stride = a->stride[0];

    if (a->count[1] > 1 || b->count[1] > 1 || a->count[0] == 1 || b->offset - a->offset != a->width)
        return false;
    if (a->width + b->width != stride || (b->count[0] > 1 && b->stride[0] != stride))
        return false;
    if (b->count[0] != a->count[0] && b->count[0] + 1 != a->count[0])
        return false;
    *joint = (struct tsl_byte_box){a->offset, b->count[0] * stride, {0, 0}, {1, 1}};
    if (b->count[0] != a->count[0])
        joint->width += a->width;
    return true;
}

bool tsl_box_join(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint)
{
    if (a->offset > b->offset) {
        const struct tsl_byte_box *first = b;

        b = a;
        a = first;
    }
    if (is_range(a) && is_range(b))
        return join_widths(a, b, joint);
    if (tsl_box_contains(a, b)) {
        *joint = *a;
        return true;
    }
    if (tsl_box_contains(b, a)) {
        *joint = *b;
        return true;
    }
    return join_widths(a, b, joint) || join_counts(a, b, 0, joint) || join_counts(a, b, 1, joint) ||
           join_gaps(a, b, joint);
}

bool tsl_box_pair(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint)
{
    const struct tsl_byte_box *first = a->offset <= b->offset ? a : b, *second = first == a ? b : a;
    unsigned i = a->count[0] > 1;

    if (a->width != b->width || !same_dimension(a, b, 0) || a->count[1] > 1 || b->count[1] > 1 ||
        second->offset - first->offset < tsl_box_extent(first))
        return false;
    *joint = *first;
    joint->stride[i] = second->offset - first->offset;
    joint->count[i] = 2;
    tsl_box_normalise(joint);
    return true;
}

/* ---- Hulls ------------------------------------------------------------------------------------------------------ */

static struct tsl_byte_box range_around(const struct tsl_byte_box *a, const struct tsl_byte_box *b)
{
    uint64_t begin = a->offset < b->offset ? a->offset : b->offset;
    uint64_t end_a = a->offset + tsl_box_extent(a), end_b = b->offset + tsl_box_extent(b);

    return (struct tsl_byte_box){begin, (end_a > end_b ? end_a : end_b) - begin, {0, 0}, {1, 1}};
}

/* Within one row of the outer stride, from a's offset 0 and b's `at`. */
static bool hull_of_rows(const struct tsl_byte_box *a, const struct tsl_byte_box *b, uint64_t at,
                         struct tsl_byte_box *joint)
{
    uint64_t stride = a->count[0] > 1 ? a->stride[0] : b->stride[0], steps, width;

    if (stride == 0 || (b->count[0] > 1 && b->stride[0] != stride))
        return false;
    steps = at / stride + b->count[0];
    width = at % stride + b->width;
    joint->width = width > a->width ? width : a->width;
    joint->stride[0] = stride;
    joint->count[0] = steps > a->count[0] ? steps : a->count[0];
    return joint->width <= stride;
}

static bool strided_hull(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint)
{
    uint64_t stride = a->count[1] > 1 ? a->stride[1] : b->stride[1], at = b->offset - a->offset, steps;

    *joint = *a;
    if (stride == 0)
        return hull_of_rows(a, b, at, joint);
    if (b->count[1] > 1 && b->stride[1] != stride)
        return false;
    steps = at / stride + b->count[1];
    joint->stride[1] = stride;
    joint->count[1] = steps > a->count[1] ? steps : a->count[1];
    at %= stride;
    if (!hull_of_rows(a, b, at, joint)) {
        uint64_t end_a = step_extent(a, 1), end_b = at + step_extent(b, 1);

        joint->width = end_a > end_b ? end_a : end_b;
        joint->stride[0] = 0;
        joint->count[0] = 1;
    }
    return step_extent(joint, 1) <= stride;
}

void tsl_box_hull(const struct tsl_byte_box *a, const struct tsl_byte_box *b, struct tsl_byte_box *joint)
{
    const struct tsl_byte_box *first = a->offset <= b->offset ? a : b;
    struct tsl_byte_box range = range_around(a, b);

    if (!strided_hull(first, first == a ? b : a, joint)) {
        *joint = range;
        return;
    }
    /* Its last row may end behind both. */
    if (tsl_box_extent(joint) > range.width || tsl_box_size(joint) >= range.width)
        *joint = range;
    tsl_box_normalise(joint);
}

/* ---- Meeting ---------------------------------------------------------------------------------------------------- */

/* floor(a / b), b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Does [begin, end) share a byte with the box at `offset`? In each dimension it can only be in the last row that begins
 * before the end. */
static bool range_meets(int64_t begin, int64_t end, const struct tsl_byte_box *box, int64_t offset)
{
    for (unsigned i = 2; i-- > 0;) {
        int64_t row;

        if (box->count[i] == 1)
            continue;
        row = floor_div(end - 1 - offset, (int64_t)box->stride[i]);
        if (row >= (int64_t)box->count[i])
            row = (int64_t)box->count[i] - 1;
        offset += row > 0 ? row * (int64_t)box->stride[i] : 0;
    }
    return begin < offset + (int64_t)box->width && offset < end;
}

/* Equal strides: is there a difference of rows at which they meet? b is `distance` further; in dimensions from i - 1
 * down. */
static bool aligned_meet(const struct tsl_byte_box *a, const struct tsl_byte_box *b, int64_t distance, unsigned i)
{
    int64_t stride, row;

    if (i == 0)
        return distance < (int64_t)a->width && -distance < (int64_t)b->width;
    i--;
    if (a->count[i] == 1 && b->count[i] == 1)
        return aligned_meet(a, b, distance, i);
    stride = (int64_t)(a->count[i] > 1 ? a->stride[i] : b->stride[i]);
    row = floor_div(distance, stride);
    /* The row of a less that of b; of b's own rows only the two nearest reach as far. */
    for (int64_t step = row; step <= row + 1; step++)
        if (step > -(int64_t)b->count[i] && step < (int64_t)a->count[i] &&
            aligned_meet(a, b, distance - step * stride, i))
            return true;
    return false;
}

/* Have they the same strides, and does what each has between two steps fit there in the other one, too? */
static bool are_aligned(const struct tsl_byte_box *a, const struct tsl_byte_box *b)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t stride = a->count[i] > 1 ? a->stride[i] : b->stride[i];

        if (a->count[i] == 1 && b->count[i] == 1)
            continue;
        if ((b->count[i] > 1 && b->stride[i] != stride) || step_extent(a, i) > stride || step_extent(b, i) > stride)
            return false;
    }
    return true;
}

/* A single stride that is the other's outer one becomes the outer one. */
static struct tsl_byte_box lifted(const struct tsl_byte_box *box, const struct tsl_byte_box *other)
{
    struct tsl_byte_box result = *box;

    if (box->count[1] == 1 && other->count[1] > 1 && box->stride[0] == other->stride[1]) {
        result.stride[1] = box->stride[0];
        result.count[1] = box->count[0];
        result.stride[0] = 0;
        result.count[0] = 1;
    }
    return result;
}

static bool rows_meet(const struct tsl_byte_box *few, int64_t begin, const struct tsl_byte_box *many, int64_t other)
{
    if (few->count[0] * few->count[1] > MAX_ROWS)
        return true;
    for (uint64_t j = 0; j < few->count[1]; j++) {
        for (uint64_t i = 0; i < few->count[0]; i++) {
            int64_t at = begin + (int64_t)(j * few->stride[1] + i * few->stride[0]);

            if (range_meets(at, at + (int64_t)few->width, many, other))
                return true;
        }
    }
    return false;
}

bool tsl_box_meet(const struct tsl_byte_box *a, const struct tsl_byte_box *b, int64_t shift)
{
    const int64_t begin_a = (int64_t)a->offset, begin_b = (int64_t)b->offset + shift;
    struct tsl_byte_box lifted_a, lifted_b;

    if (begin_b >= begin_a + (int64_t)tsl_box_extent(a) || begin_a >= begin_b + (int64_t)tsl_box_extent(b))
        return false;
    lifted_a = lifted(a, b);
    lifted_b = lifted(b, a);
    if (are_aligned(&lifted_a, &lifted_b))
        return aligned_meet(&lifted_a, &lifted_b, begin_b - begin_a, 2);
    if (a->count[0] * a->count[1] <= b->count[0] * b->count[1])
        return rows_meet(a, begin_a, b, begin_b);
    return rows_meet(b, begin_b, a, begin_a);
}
