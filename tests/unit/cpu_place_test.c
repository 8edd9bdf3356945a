/* Which processors the lines CPU of TESELA_CONFIG get: own ones for as long as there are any. */
#include "cpu_device/place.h"
#include "test.h"

static cpu_set_t set_of(int first, int last)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = first; i <= last; i++)
        CPU_SET(i, &set);
    return set;
}

static void assert_set(const cpu_set_t *set, int first, int last)
{
    cpu_set_t expected = set_of(first, last);

    assert_true(CPU_EQUAL(set, &expected));
}

static void lines_have_processors_of_their_own(void **state)
{
    cpu_set_t there = set_of(0, 7), taken, mine;

    (void)state;
    CPU_ZERO(&taken);
    assert_int_equal(cpu_place_take(3, &there, &taken, &mine), 0);
    assert_set(&mine, 0, 2);
    assert_int_equal(cpu_place_take(1, &there, &taken, &mine), 0);
    assert_set(&mine, 3, 3);
    assert_int_equal(cpu_place_take(4, &there, &taken, &mine), 0);
    assert_set(&mine, 4, 7);
    assert_set(&taken, 0, 7);
}

/* Other nodes' processors are no business of a line's. */
static void nodes_are_apart(void **state)
{
    cpu_set_t left = set_of(0, 3), right = set_of(4, 7), taken, mine;

    (void)state;
    CPU_ZERO(&taken);
    assert_int_equal(cpu_place_take(4, &left, &taken, &mine), 0);
    assert_int_equal(cpu_place_take(2, &right, &taken, &mine), 0);
    assert_set(&mine, 4, 5);
    assert_int_equal(cpu_place_take(1, &left, &taken, &mine), 1);
    assert_set(&mine, 0, 0);
}

static void what_is_short_is_shared(void **state)
{
    cpu_set_t there = set_of(0, 3), taken, mine;

    (void)state;
    CPU_ZERO(&taken);
    assert_int_equal(cpu_place_take(3, &there, &taken, &mine), 0);
    assert_int_equal(cpu_place_take(2, &there, &taken, &mine), 1);
    assert_int_equal(CPU_COUNT(&mine), 2);
    assert_true(CPU_ISSET(3, &mine) && CPU_ISSET(0, &mine));
    assert_int_equal(cpu_place_take(4, &there, &taken, &mine), 4);
    assert_set(&mine, 0, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_processors_of_their_own),
        cmocka_unit_test(nodes_are_apart),
        cmocka_unit_test(what_is_short_is_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
