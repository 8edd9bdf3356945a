/* Sets of bytes, compared with sets of bits. */
#include "graph/byte_ranges.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 64 };

static void check(const struct tsl_byte_ranges *set, const bool *bits)
{
    bool has[SIZE] = {false};

    assert_false(set->failed);
    for (unsigned i = 0; i < set->n; i++) {
        assert_true(set->list[i].begin < set->list[i].end);
        assert_true(i == 0 || set->list[i - 1].end < set->list[i].begin);
        for (uint64_t k = set->list[i].begin; k < set->list[i].end; k++)
            has[k] = true;
    }
    assert_memory_equal(has, bits, sizeof(has));
}

static void fill(struct tsl_byte_ranges *set, bool *bits)
{
    memset(bits, 0, SIZE);
    for (int i = rand() % 8; i > 0; i--) {
        unsigned begin = (unsigned)rand() % SIZE, end = begin + (unsigned)rand() % (SIZE - begin) / 3;
        tsl_byte_ranges_add(set, begin, end);
        memset(bits + begin, 1, end - begin);
    }
    check(set, bits);
}

static void test_random(void **state)
{
    (void)state;
    srand(1);
    for (unsigned i = 0; i < 20000; i++) {
        struct tsl_byte_ranges a = {.n = 0}, b = a, without = a, common = a;
        bool in_a[SIZE], in_b[SIZE], in[SIZE];

        fill(&a, in_a);
        fill(&b, in_b);
        tsl_byte_ranges_add_without(&without, &a, &b);
        for (unsigned k = 0; k < SIZE; k++)
            in[k] = in_a[k] && !in_b[k];
        check(&without, in);
        tsl_byte_ranges_add_common(&common, &a, &b);
        for (unsigned k = 0; k < SIZE; k++)
            in[k] = in_a[k] && in_b[k];
        check(&common, in);
        tsl_byte_ranges_add_all(&a, &b);
        for (unsigned k = 0; k < SIZE; k++)
            in[k] = in_a[k] || in_b[k];
        check(&a, in);
        tsl_byte_ranges_finish(&a);
        tsl_byte_ranges_finish(&b);
        tsl_byte_ranges_finish(&without);
        tsl_byte_ranges_finish(&common);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests_name("sets of bytes", tests, NULL, NULL);
}
