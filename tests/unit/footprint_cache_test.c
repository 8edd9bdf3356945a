/* The cache of evaluations answers as an evaluation would, whatever was asked before, and doesn't evaluate again. */
#include "footprint/cache.h"
#include "footprint_kernels.h"
#include "test.h"

static struct bed bed;
static int32_t n = 50;
static struct tsl_argument_value arguments[BED_ARGUMENTS] = {
    {.memory = 4096}, {.memory = 4096}, {.memory = 4096}, {.value = &n, .size = sizeof(n)}};
static struct tsl_window window = {1, {0, 0, 0}, {64, 1, 1}, {8, 1, 1}, {0, 0, 0}, {4, 1, 1}, false};

static uint64_t end_of(const struct tsl_argument_touch *touches)
{
    uint64_t begin, end;

    assert_non_null(touches);
    assert_true(tsl_byte_set_hull(&touches[2].write, 4096, &begin, &end));
    return end;
}

static void test_hits(void **state)
{
    struct tsl_footprint_cache *cache;
    const struct tsl_argument_touch *first, *second;

    (void)state;
    kernel_vector_add(&bed);
    cache = tsl_footprint_cache_create(&bed.footprint);
    assert_non_null(cache);
    first = tsl_footprint_cache_evaluate(cache, &window, arguments, NULL);
    assert_true(end_of(first) == 128);
    /* Not evaluated again: the footprint is another one meanwhile. */
    bed.footprint.n_accesses = 0;
    second = tsl_footprint_cache_evaluate(cache, &window, arguments, NULL);
    assert_ptr_equal(first, second);
    assert_true(end_of(second) == 128);
    tsl_footprint_cache_destroy(cache);
    tsl_footprint_cache_destroy(NULL);
}

/* Whatever the key has: each makes another answer, and the first one comes back. */
static void test_keys(void **state)
{
    struct tsl_footprint_cache *cache;
    struct tsl_window other = window;

    (void)state;
    kernel_vector_add(&bed);
    cache = tsl_footprint_cache_create(&bed.footprint);
    assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)) == 128);
    n = 20;
    assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)) == 80);
    n = 50;
    other.group_count[0] = 2;
    assert_true(end_of(tsl_footprint_cache_evaluate(cache, &other, arguments, NULL)) == 64);
    other.whole = true;
    assert_true(end_of(tsl_footprint_cache_evaluate(cache, &other, arguments, NULL)) == 200);
    arguments[2].memory = 100;
    assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)) == 100);
    arguments[2].memory = 4096;
    arguments[3].value = NULL;
    assert_true(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)[2].sure.n == 0);
    arguments[3].value = &n;
    assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)) == 128);
    tsl_footprint_cache_destroy(cache);
}

/* Of a counter that only its last bit matters of, there are two answers. */
static void test_bits(void **state)
{
    struct tsl_footprint_cache *cache;
    uint64_t ids[4];
    uint32_t odd;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    odd = bed_as(&bed, TSL_NODE_ZEXT, 64, bed_as(&bed, TSL_NODE_TRUNC, 1, bed_scalar(&bed, 32, 3, 0)));
    bed_access(&bed, 2, TSL_ACCESS_WRITE, 4, odd);
    cache = tsl_footprint_cache_create(&bed.footprint);
    for (n = 0; n < 4; n++)
        assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, &ids[n])) == (n & 1 ? 5 : 4));
    assert_true(ids[0] == ids[2] && ids[1] == ids[3] && ids[0] != ids[1]);
    n = 50;
    tsl_footprint_cache_destroy(cache);
}

/* More questions than there are places. */
static void test_many(void **state)
{
    struct tsl_footprint_cache *cache;

    (void)state;
    kernel_vector_add(&bed);
    cache = tsl_footprint_cache_create(&bed.footprint);
    for (unsigned round = 0; round < 3; round++) {
        for (n = 1; n < 30; n++) {
            assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)) == 4u * (unsigned)n);
            assert_true(end_of(tsl_footprint_cache_evaluate(cache, &window, arguments, NULL)) == 4u * (unsigned)n);
        }
    }
    n = 50;
    tsl_footprint_cache_destroy(cache);
}

/* ---- Answers of which a part serves again ------------------------------------------------------------------------ */

static int32_t numbers[4];

static uint32_t number(unsigned i)
{
    return bed_as(&bed, TSL_NODE_SEXT, 64, bed_scalar(&bed, 32, 3, i * 4));
}

static uint32_t at(uint32_t index)
{
    return bed_two(&bed, TSL_NODE_MUL, index, bed_constant(&bed, 64, 4));
}

/* Argument 0 by a guard of the first number, and of the last; 1 by an address of the second; 2 by a loop's count. */
static void make_several(void)
{
    uint32_t id, loop;
    struct tsl_access *access;

    bed_begin(&bed, BED_ARGUMENTS);
    id = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0);
    access = bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, at(id));
    access->guards[access->n_guards++] = bed_two(&bed, TSL_NODE_SLT, id, number(0));
    access->guards[access->n_guards++] = bed_two(&bed, TSL_NODE_NE, number(3), bed_constant(&bed, 64, 1));
    bed_access(&bed, 1, TSL_ACCESS_READ, 4,
               at(bed_two(&bed, TSL_NODE_ADD, bed_two(&bed, TSL_NODE_MUL, number(1), id), id)));
    bed_access(&bed, 1, TSL_ACCESS_WRITE, 1, number(3));
    loop = bed_loop(&bed, number(2), true);
    access = bed_access(&bed, 2, TSL_ACCESS_WRITE, 4,
                        at(bed_two(&bed, TSL_NODE_ADD, id, bed_leaf(&bed, TSL_NODE_COUNTER, loop))));
    access->loops[access->n_loops++] = loop;
}

static void assert_same_set(const struct tsl_byte_set *a, const struct tsl_byte_set *b)
{
    assert_int_equal(a->unknown, b->unknown);
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->boxes, b->boxes, a->n * sizeof(*a->boxes));
}

static void assert_same(const struct tsl_argument_touch *a, const struct tsl_argument_touch *b)
{
    assert_same_set(&a->read, &b->read);
    assert_same_set(&a->write, &b->write);
    assert_same_set(&a->sure, &b->sure);
    assert_true(a->reads == b->reads && a->writes == b->writes && a->atomics == b->atomics && a->plain == b->plain);
    assert_true(a->constant == b->constant && a->narrow == b->narrow && a->result_used == b->result_used);
    assert_true(a->why_read == b->why_read && a->why_write == b->why_write);
}

/* One thing changes after the other, as steps of a program do, or several; more than there are places for. */
static void test_parts(void **state)
{
    static struct tsl_argument_touch expected[BED_ARGUMENTS];
    struct tsl_argument_value values[BED_ARGUMENTS] = {
        {.memory = 4096}, {.memory = 4096}, {.memory = 4096}, {.value = numbers, .size = sizeof(numbers)}};
    struct tsl_window asked = window;
    struct tsl_footprint_cache *cache;

    (void)state;
    make_several();
    assert_true(tsl_footprint_is_valid(&bed.footprint));
    cache = tsl_footprint_cache_create(&bed.footprint);
    srand(5);
    for (unsigned round = 0; round < 30000; round++) {
        for (int changes = rand() % 3; changes >= 0; changes--) {
            unsigned what = (unsigned)rand() % 12;

            if (what < 9)
                numbers[what % 4] = rand() % 60 - 2;
            else if (what == 9)
                values[rand() % 3].memory = 64u + (unsigned)rand() % 3 * 100;
            else if (what == 10)
                asked.group_begin[0] = (unsigned)rand() % 4;
            else
                values[3].size = rand() % 2 ? sizeof(numbers) : 8;
        }
        tsl_footprint_evaluate(&bed.footprint, &asked, values, expected);
        const struct tsl_argument_touch *found = tsl_footprint_cache_evaluate(cache, &asked, values, NULL);
        for (unsigned i = 0; i < BED_ARGUMENTS; i++)
            assert_same(&found[i], &expected[i]);
    }
    tsl_footprint_cache_destroy(cache);
}

/* What depends on nothing that changed isn't evaluated again. */
static void test_parts_serve_again(void **state)
{
    struct tsl_argument_value values[BED_ARGUMENTS] = {
        {.memory = 4096}, {.memory = 4096}, {.memory = 4096}, {.value = numbers, .size = sizeof(numbers)}};
    struct tsl_footprint_cache *cache;
    const struct tsl_argument_touch *found;
    uint64_t begin, end;

    (void)state;
    make_several();
    memcpy(numbers, (const int32_t[]){20, 3, 2, 0}, sizeof(numbers));
    cache = tsl_footprint_cache_create(&bed.footprint);
    tsl_footprint_cache_evaluate(cache, &window, values, NULL);
    bed.accesses[0].width = 8; /* Nobody looks at it. */
    numbers[2] = 3;
    found = tsl_footprint_cache_evaluate(cache, &window, values, NULL);
    assert_true(tsl_byte_set_hull(&found[0].write, 4096, &begin, &end) && end == 80);
    assert_true(tsl_byte_set_hull(&found[2].write, 4096, &begin, &end) && end == 4 * (32 + 2));
    numbers[0] = 21;
    found = tsl_footprint_cache_evaluate(cache, &window, values, NULL);
    assert_true(tsl_byte_set_hull(&found[0].write, 4096, &begin, &end) && end == 88);
    tsl_footprint_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits), cmocka_unit_test(test_keys),  cmocka_unit_test(test_bits),
        cmocka_unit_test(test_many), cmocka_unit_test(test_parts), cmocka_unit_test(test_parts_serve_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
