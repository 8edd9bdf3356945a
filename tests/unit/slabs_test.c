/* Slabs of sets of bytes, by chance and by hand: they cover the set, stay in the memory, and are few; and what ranges
 * that repeat say of each other is what their bytes say. */
#include "graph/slabs.h"

#include "object/buffer.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SIZE   4096u
#define OFFSET 64u /* of the argument's memory in its root */

static struct tsl_buffer buffer = {.offset = OFFSET, .size = SIZE};

static uint64_t some(uint64_t n)
{
    return (uint64_t)rand() % n;
}

static struct tsl_footing_ranges slabs_of(const struct tsl_byte_box *boxes, unsigned n, bool *are_slabs)
{
    struct tsl_byte_set set = {.n = n};
    struct tsl_footing_ranges ranges;

    memcpy(set.boxes, boxes, n * sizeof *boxes);
    *are_slabs = tsl_slabs_of(&set, &buffer, &ranges);
    return ranges;
}

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

static void assert_range(const struct tsl_footing_range *range, uint64_t begin, uint64_t end, uint64_t n,
                         uint64_t stride)
{
    assert_int_equal(range->begin, OFFSET + begin);
    assert_int_equal(range->end, OFFSET + end);
    assert_int_equal(range->more, n - 1);
    assert_int_equal(range->stride, stride);
    assert_false(range->overwritten);
}

static void assert_slabs(const struct tsl_byte_box *box, uint64_t begin, uint64_t end, uint64_t n, uint64_t stride)
{
    bool are_slabs;
    struct tsl_footing_ranges ranges = slabs_of(box, 1, &are_slabs);

    assert_true(are_slabs);
    assert_int_equal(ranges.n, 1);
    assert_range(&ranges.list[0], begin, end, n, stride);
}

/* Rows of 8 of 10 bytes, four in each of twenty planes of 100: from the first to the last byte. And twenty rows. */
static void planes_and_rows_have_slabs(void **state)
{
    (void)state;
    assert_slabs(&(struct tsl_byte_box){1, 8, {10, 100}, {4, 20}}, 1, 39, 20, 100);
    assert_slabs(&(struct tsl_byte_box){30, 20, {100, 0}, {20, 1}}, 30, 50, 20, 100);
}

/* What a stencil reads: a row more on either side of its own planes, and the planes before and behind. */
static void neighbours_are_one(void **state)
{
    const struct tsl_byte_box far[] = {{210, 20, {100, 0}, {18, 1}}, {150, 20, {100, 0}, {18, 1}}};
    const struct tsl_byte_box near[] = {{220, 20, {100, 0}, {18, 1}},
                                        {219, 22, {100, 0}, {18, 1}},
                                        {120, 20, {100, 0}, {18, 1}},
                                        {320, 20, {100, 0}, {18, 1}}};
    bool are_slabs;
    struct tsl_footing_ranges ranges = slabs_of(far, 2, &are_slabs);

    (void)state;
    assert_true(are_slabs);
    assert_int_equal(ranges.n, 2); /* Both would be three times as wide. */
    ranges = slabs_of(near, 4, &are_slabs);
    assert_true(are_slabs);
    assert_int_equal(ranges.n, 1);
    assert_range(&ranges.list[0], 119, 141, 20, 100);
}

/* Joined they would begin before the memory does, or end behind it. */
static void none_leaves_the_memory(void **state)
{
    const struct tsl_byte_box early[] = {{0, 20, {100, 0}, {9, 1}}, {99, 20, {100, 0}, {8, 1}}};
    const struct tsl_byte_box late[] = {{SIZE - 820, 20, {100, 0}, {9, 1}}, {SIZE - 819, 20, {100, 0}, {8, 1}}};
    bool are_slabs;
    struct tsl_footing_ranges ranges = slabs_of(early, 2, &are_slabs);

    (void)state;
    assert_int_equal(ranges.n, 2);
    ranges = slabs_of(late, 2, &are_slabs);
    assert_int_equal(ranges.n, 2);
}

static void few_and_large_ones(void **state)
{
    const struct tsl_byte_box box = {0, 20, {100, 0}, {20, 1}}, whole = {0, 20, {0, 0}, {1, 1}};
    bool are_slabs;

    (void)state;
    slabs_of(&whole, 1, &are_slabs);
    assert_false(are_slabs);
    tsl_slabs_large = 21;
    slabs_of(&box, 1, &are_slabs);
    assert_false(are_slabs);
    tsl_slabs_large = 20;
    tsl_slabs_most = 19;
    slabs_of(&box, 1, &are_slabs);
    assert_false(are_slabs);
    tsl_slabs_most = 20;
    slabs_of(&box, 1, &are_slabs);
    assert_true(are_slabs);
    tsl_slabs_most = 1024;
    tsl_slabs_large = 1;
}

/* ---- By chance --------------------------------------------------------------------------------------------------- */

#define ROUNDS 50000

static bool some_box(struct tsl_byte_box *box)
{
    uint64_t rows = 1 + some(6), planes = 1 + some(12);

    box->width = 1 + some(30);
    box->count[0] = rows;
    box->count[1] = planes;
    box->stride[0] = rows > 1 ? box->width + 1 + some(8) : 0;
    box->stride[1] = planes > 1 ? (rows - 1) * box->stride[0] + box->width + 1 + some(2) * 50 : 0;
    if (some(2) && planes > 1 && box->stride[1] < 200)
        box->stride[1] = 200;      /* So that several boxes have the same. */
    if (planes > 1 && rows == 1) { /* As tsl_byte_box wants them. */
        box->count[0] = planes;
        box->count[1] = 1;
        box->stride[0] = box->stride[1];
        box->stride[1] = 0;
    }
    box->offset = some(600);
    return box->offset + (rows - 1) * (rows > 1 ? box->stride[0] : 0) + planes * 300 < SIZE;
}

static void mark_box(bool *bytes, const struct tsl_byte_box *box)
{
    for (uint64_t k = 0; k < box->count[1]; k++)
        for (uint64_t i = 0; i < box->count[0]; i++)
            memset(bytes + box->offset + i * box->stride[0] + k * box->stride[1], true, box->width);
}

static void mark_range(bool *bytes, const struct tsl_footing_range *range)
{
    for (uint64_t i = 0; i <= range->more; i++) {
        struct tsl_range one = tsl_footing_range_at(range, i);

        assert_true(one.begin >= OFFSET && one.begin < one.end && one.end <= OFFSET + SIZE);
        memset(bytes + one.begin - OFFSET, true, one.end - one.begin);
    }
}

static void slabs_cover_the_set(void **state)
{
    unsigned n_slabs = 0, n_joined = 0;

    (void)state;
    srand(31);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct tsl_byte_box boxes[6];
        bool set[SIZE] = {false}, claimed[SIZE] = {false}, are_slabs;
        unsigned n = 0;
        uint64_t count = 0;

        for (unsigned i = 1 + (unsigned)some(6); i > 0; i--)
            n += some_box(&boxes[n]);
        if (n == 0)
            continue;
        struct tsl_footing_ranges ranges = slabs_of(boxes, n, &are_slabs);
        for (unsigned i = 0; i < n; i++)
            mark_box(set, &boxes[i]);
        for (unsigned i = 0; i < ranges.n; i++) {
            mark_range(claimed, &ranges.list[i]);
            count += ranges.list[i].more + 1;
        }
        for (size_t i = 0; i < SIZE; i++)
            assert_true(claimed[i] || !set[i]);
        assert_true(!are_slabs || count <= tsl_slabs_most);
        n_slabs += are_slabs;
        n_joined += are_slabs && ranges.n < n;
    }
    assert_true(n_slabs > ROUNDS / 4 && n_joined > ROUNDS / 100);
}

static struct tsl_footing_range some_range(void)
{
    struct tsl_footing_range range = {.begin = OFFSET + some(300)};

    range.end = range.begin + 1 + some(40);
    if (some(3) == 0)
        return range;
    range.more = some(12);
    range.stride = some(2) ? 100 : range.end - range.begin + some(90);
    return range;
}

static void ranges_meet_as_their_bytes(void **state)
{
    unsigned n_meet = 0, n_hold = 0;

    (void)state;
    srand(32);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct tsl_footing_range a = some_range(), b = some_range();
        bool in_a[SIZE] = {false}, in_b[SIZE] = {false}, meet = false, holds = true;

        mark_range(in_a, &a);
        mark_range(in_b, &b);
        for (size_t i = 0; i < SIZE; i++) {
            meet |= in_a[i] && in_b[i];
            holds &= in_a[i] || !in_b[i];
        }
        assert_int_equal(tsl_footing_ranges_meet(&a, &b), meet);
        assert_true(holds || !tsl_footing_range_holds(&a, &b));
        n_meet += meet;
        n_hold += tsl_footing_range_holds(&a, &b);
    }
    assert_true(n_meet > ROUNDS / 10 && n_hold > ROUNDS / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_and_rows_have_slabs), cmocka_unit_test(neighbours_are_one),
        cmocka_unit_test(none_leaves_the_memory),     cmocka_unit_test(few_and_large_ones),
        cmocka_unit_test(slabs_cover_the_set),        cmocka_unit_test(ranges_meet_as_their_bytes),
    };

    tsl_slabs_large = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
