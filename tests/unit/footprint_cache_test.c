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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hits),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
