/* Sets of bytes: random boxes added to them, and random boxes that meet or don't, beside the bytes one by one. */
#include "footprint_bed.h"
#include "test.h"

#define MEMORY 600u

static uint64_t state = 88172645463325252u;

static unsigned chance(unsigned n)
{
    return (unsigned)(bed_chance(&state) % n);
}

/* A box within the memory, in the right form. */
static struct tsl_byte_box some_box(void)
{
    for (;;) {
        struct tsl_byte_box box = {chance(300), 1 + chance(12), {0, 0}, {1 + chance(5), 1 + chance(4)}};
        uint64_t inner;

        if (chance(3) == 0)
            box.width = box.offset = 8 * (1 + chance(10));
        if (box.count[0] > 1)
            box.stride[0] = chance(2) ? box.width + chance(10) : 16;
        inner = (box.count[0] - 1) * box.stride[0] + box.width;
        if (box.count[1] > 1)
            box.stride[1] = chance(2) ? inner + chance(30) : 64;
        if (box.count[0] == 1 && box.count[1] > 1)
            continue;
        if (bed_box_is_valid(&box, MEMORY))
            return box;
    }
}

static void mark_box(const struct tsl_byte_box *box, uint8_t *bytes)
{
    struct tsl_byte_set set = {.n = 1, .boxes = {*box}};

    bed_mark(&set, bytes, MEMORY);
}

static uint64_t count(const uint8_t *bytes)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < MEMORY; i++)
        n += bytes[i] != 0;
    return n;
}

/* Adds boxes one by one: a set of what may be has all of their bytes, a sure one no others; while the boxes are no more
 * than there is room for, it has exactly these. */
static void add_many(bool sure)
{
    uint8_t real[MEMORY] = {0}, one[MEMORY], claimed[MEMORY];
    struct tsl_byte_set set = {0};
    const unsigned n = 1 + chance(24);

    for (unsigned i = 0; i < n; i++) {
        struct tsl_byte_box box = some_box();
        uint64_t begin, end, first = MEMORY, behind = 0;

        tsl_byte_set_add(&set, &box, sure);
        mark_box(&box, one);
        bed_mark(&set, claimed, MEMORY);
        assert_true(set.n > 0 && set.n <= TSL_MAX_BYTE_BOXES && !set.unknown);
        for (unsigned j = 0; j < MEMORY; j++) {
            real[j] |= one[j];
            assert_true(sure ? real[j] || !claimed[j] : claimed[j] || !real[j]);
            if (i < TSL_MAX_BYTE_BOXES)
                assert_int_equal(claimed[j], real[j]);
            if (claimed[j] && first == MEMORY)
                first = j;
            behind = claimed[j] ? j + 1 : behind;
        }
        for (unsigned j = 0; j < set.n; j++)
            assert_true(bed_box_is_valid(&set.boxes[j], MEMORY));
        assert_true(tsl_byte_set_hull(&set, MEMORY, &begin, &end));
        assert_true(begin == first && end == behind);
        assert_true(tsl_byte_set_size(&set, MEMORY) >= count(claimed));
    }
}

static void test_may(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4000; i++)
        add_many(false);
}

static void test_sure(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4000; i++)
        add_many(true);
}

/* Exact for single boxes, either way round, wherever one lies. */
static void test_meet(void **unused)
{
    unsigned n_meet = 0;

    (void)unused;
    for (unsigned i = 0; i < 40000; i++) {
        struct tsl_byte_set a = {.n = 1, .boxes = {some_box()}}, b = {.n = 1, .boxes = {some_box()}};
        uint8_t in_a[MEMORY], in_b[MEMORY];
        const int shift = (int)chance(200) - 100;
        bool meet = false;

        if (chance(3) == 0) {
            b.boxes[0] = a.boxes[0];
            b.boxes[0].offset = chance(MEMORY / 2);
            b.boxes[0].width = 1 + chance((unsigned)b.boxes[0].width);
            if (!bed_box_is_valid(&b.boxes[0], MEMORY))
                b.boxes[0] = some_box();
        }
        bed_mark(&a, in_a, MEMORY);
        bed_mark(&b, in_b, MEMORY);
        for (int j = 0; j < (int)MEMORY; j++)
            meet |= j - shift >= 0 && j - shift < (int)MEMORY && in_a[j] && in_b[j - shift];
        assert_int_equal(tsl_byte_sets_meet(&a, &b, shift, MEMORY, MEMORY), meet);
        assert_int_equal(tsl_byte_sets_meet(&b, &a, -shift, MEMORY, MEMORY), meet);
        n_meet += meet;
    }
    assert_true(n_meet > 4000 && n_meet < 36000);
}

static void test_large(void **unused)
{
    /* Columns of a matrix of a million rows, next to each other: strides alike, so no row is looked at. */
    const uint64_t rows = 1u << 20;
    struct tsl_byte_set a = {.n = 1, .boxes = {{0, 4, {4096, 0}, {rows, 1}}}};
    struct tsl_byte_set b = {.n = 1, .boxes = {{4, 4, {4096, 0}, {rows, 1}}}};
    struct tsl_byte_set tile = {.n = 1, .boxes = {{8, 4, {16, 4096}, {4, rows}}}};

    (void)unused;
    assert_false(tsl_byte_sets_meet(&a, &b, 0, UINT64_MAX, UINT64_MAX));
    assert_true(tsl_byte_sets_meet(&a, &b, -1, UINT64_MAX, UINT64_MAX));
    assert_false(tsl_byte_sets_meet(&a, &tile, 0, UINT64_MAX, UINT64_MAX));
    assert_true(tsl_byte_sets_meet(&a, &tile, -8, UINT64_MAX, UINT64_MAX));
    assert_true(tsl_byte_sets_meet(&b, &tile, -36, UINT64_MAX, UINT64_MAX));
}

static void test_unknown(void **unused)
{
    struct tsl_byte_set unknown = {.unknown = true}, none = {0}, one = {.n = 1, .boxes = {{100, 4, {0, 0}, {1, 1}}}};
    uint64_t begin, end;

    (void)unused;
    assert_true(tsl_byte_sets_meet(&unknown, &one, 0, MEMORY, MEMORY));
    assert_false(tsl_byte_sets_meet(&unknown, &one, 0, 100, MEMORY));
    assert_false(tsl_byte_sets_meet(&unknown, &none, 0, MEMORY, MEMORY));
    assert_true(tsl_byte_sets_meet(&unknown, &unknown, 50, MEMORY, MEMORY));
    assert_false(tsl_byte_sets_meet(&unknown, &unknown, 50, 50, MEMORY));
    assert_false(tsl_byte_set_hull(&none, MEMORY, &begin, &end));
    assert_true(tsl_byte_set_hull(&unknown, MEMORY, &begin, &end));
    assert_true(begin == 0 && end == MEMORY);
    assert_true(tsl_byte_set_size(&unknown, MEMORY) == MEMORY && tsl_byte_set_size(&none, MEMORY) == 0);
    tsl_byte_set_add(&unknown, &one.boxes[0], false);
    assert_true(unknown.unknown && unknown.n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_may),   cmocka_unit_test(test_sure),    cmocka_unit_test(test_meet),
        cmocka_unit_test(test_large), cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
