/* Ranges that are added and removed at random: those that meet another range are found, in order, and no others. */
#include "tile/ranges.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 40u

static unsigned long long state_of_chance = 88172645463325252u;

static unsigned chance(unsigned n)
{
    state_of_chance ^= state_of_chance << 13;
    state_of_chance ^= state_of_chance >> 7;
    state_of_chance ^= state_of_chance << 17;
    return (unsigned)(state_of_chance % n);
}

static void check(const struct tsl_ranges *ranges, unsigned there[SIZE][SIZE + 1], unsigned begin, unsigned end)
{
    const struct tsl_ranged *r = tsl_ranges_meeting(ranges, begin, end);

    for (unsigned b = 0; b < SIZE; b++)
        for (unsigned e = b + 1; e <= SIZE; e++) {
            if (!there[b][e] || e <= begin || b >= end)
                continue;
            assert_non_null(r);
            assert_int_equal(r->begin, b);
            assert_int_equal(r->end, e);
            assert_int_equal(r->n, there[b][e]);
            r = tsl_ranges_next_meeting(r, begin, end);
        }
    assert_null(r);
}

/* Many, or few, are there at once: more adds or more removals. */
static void run(unsigned adds_of_ten)
{
    static unsigned there[SIZE][SIZE + 1];
    struct tsl_ranges ranges = {0};
    memset(there, 0, sizeof there);

    for (unsigned i = 0; i < 4000; i++) {
        unsigned b = chance(SIZE), e = b + 1 + chance(SIZE - b), from = chance(SIZE);

        if (chance(10) < adds_of_ten) {
            assert_true(tsl_ranges_add(&ranges, b, e));
            there[b][e]++;
        } else {
            tsl_ranges_remove(&ranges, b, e);
            there[b][e] -= there[b][e] > 0;
        }
        check(&ranges, there, from, from + 1 + chance(SIZE - from));
        if (i % 16 == 0)
            check(&ranges, there, 0, SIZE);
    }
    tsl_ranges_finish(&ranges);
    assert_true(tsl_ranges_empty(&ranges));
    assert_null(tsl_ranges_meeting(&ranges, 0, SIZE));
}

static void test_dense(void **state)
{
    (void)state;
    run(8);
}

static void test_sparse(void **state)
{
    (void)state;
    run(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dense), cmocka_unit_test(test_sparse)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
