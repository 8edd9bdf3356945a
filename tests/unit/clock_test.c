/* The one clock: it can be replaced, devices' clocks are mapped to it, and reported times keep their order. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t fixed(void *data)
{
    return *(uint64_t *)data;
}

/* A simulation's time is the only time there is, until the real clock is put back. */
static void virtual_time(void **state)
{
    uint64_t now = 42, before = tsl_clock_ns();

    (void)state;
    tsl_clock_set(fixed, &now);
    assert_int_equal(tsl_clock_ns(), 42);
    now = 43;
    assert_int_equal(tsl_clock_ns(), 43);
    tsl_clock_set(NULL, NULL);
    assert_true(tsl_clock_ns() >= before);
    assert_true(tsl_clock_ns() > 1000);
}

/* A device that never told its time is taken as one that has our clock. */
static void unfed_map_changes_nothing(void **state)
{
    struct tsl_clock_map map;

    (void)state;
    tsl_clock_map_init(&map);
    assert_int_equal(tsl_clock_map_ns(&map, 1234), 1234);
    tsl_clock_map_finish(&map);
}

/* One exact pair fixes the offset, whichever clock is ahead. */
static void exact_pair(void **state)
{
    struct tsl_clock_map map;
    uint64_t start = 1500, end = 1700;

    (void)state;
    tsl_clock_map_init(&map);
    tsl_clock_map_feed(&map, 1000, 5000, 5000);
    assert_int_equal(tsl_clock_map_ns(&map, 1200), 5200);
    tsl_clock_map_span(&map, &start, &end);
    assert_int_equal(start, 5500);
    assert_int_equal(end, 5700);
    tsl_clock_map_finish(&map);

    tsl_clock_map_init(&map);
    tsl_clock_map_feed(&map, UINT64_C(1700000000000000000), 5000, 5000);
    assert_int_equal(tsl_clock_map_ns(&map, UINT64_C(1700000000000000300)), 5300);
    /* A time from before our clock began, such as the 0 of a command that never ran. */
    assert_int_equal(tsl_clock_map_ns(&map, 0), 0);
    tsl_clock_map_finish(&map);
}

/* Loose sightings narrow the offset down together: neither alone gives it to within 20 ns. */
static void sightings_intersect(void **state)
{
    struct tsl_clock_map map;
    uint64_t mapped;

    (void)state;
    tsl_clock_map_init(&map);
    tsl_clock_map_feed(&map, 1000, 11000 - 900, 11000 + 10);
    tsl_clock_map_feed(&map, 2000, 12000 - 10, 12000 + 900);
    mapped = tsl_clock_map_ns(&map, 3000);
    assert_in_range(mapped, 13000 - 12, 13000 + 12);
    tsl_clock_map_finish(&map);
}

/* A device whose clock runs 100 ppm fast is followed: after ten minutes it is not 60 ms off. */
static void drift_is_followed(void **state)
{
    struct tsl_clock_map map;
    uint64_t host = 0, device = 0;

    (void)state;
    tsl_clock_map_init(&map);
    for (unsigned second = 0; second < 600; second++) {
        host = second * UINT64_C(1000000000);
        device = host + host / 10000;
        tsl_clock_map_feed(&map, device, host > 1000 ? host - 1000 : 0, host + 1000);
    }
    assert_in_range(tsl_clock_map_ns(&map, device), host - 200000, host + 200000);
    tsl_clock_map_finish(&map);
}

/* A clock that was set back contradicts what was seen before: the newest sighting counts. */
static void contradiction_starts_again(void **state)
{
    struct tsl_clock_map map;

    (void)state;
    tsl_clock_map_init(&map);
    tsl_clock_map_feed(&map, 1000000, 2000000, 2000000);
    tsl_clock_map_feed(&map, 500, 3000000, 3000000);
    assert_int_equal(tsl_clock_map_ns(&map, 600), 3000100);
    /* Nonsense (seen after before seen before) is not taken. */
    tsl_clock_map_feed(&map, 700, 9000000, 8000000);
    assert_int_equal(tsl_clock_map_ns(&map, 600), 3000100);
    tsl_clock_map_finish(&map);
}

static void check_fit(uint64_t start, uint64_t end, uint64_t fitted_start, uint64_t fitted_end)
{
    struct tsl_command_times times = {.queued = 100, .submit = 200, .end = 1000};

    tsl_command_times_fit(&times, start, end);
    assert_int_equal(times.queued, 100);
    assert_int_equal(times.submit, 200);
    assert_int_equal(times.start, fitted_start);
    assert_int_equal(times.end, fitted_end);
}

/* A span that sticks out of what we saw is moved in and keeps its length; one that is too long is cut. */
static void spans_fit_between_submit_and_end(void **state)
{
    (void)state;
    check_fit(300, 500, 300, 500);
    check_fit(150, 250, 200, 300);
    check_fit(950, 1050, 900, 1000);
    check_fit(0, 5000, 200, 1000);
    check_fit(2000, 2000, 1000, 1000);
    check_fit(600, 400, 600, 600);
    check_fit(0, 0, 200, 200);
    check_fit(UINT64_MAX - 10, UINT64_MAX, 990, 1000);
}

/* QUEUED <= SUBMIT <= START <= END also when our own readings came from threads in another order. */
static void order_is_forced(void **state)
{
    struct tsl_command_times times = {.queued = 500, .submit = 400, .end = 300};

    (void)state;
    tsl_command_times_fit(&times, 100, 900);
    assert_true(times.queued <= times.submit);
    assert_true(times.submit <= times.start);
    assert_true(times.start <= times.end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtual_time),
        cmocka_unit_test(unfed_map_changes_nothing),
        cmocka_unit_test(exact_pair),
        cmocka_unit_test(sightings_intersect),
        cmocka_unit_test(drift_is_followed),
        cmocka_unit_test(contradiction_starts_again),
        cmocka_unit_test(spans_fit_between_submit_and_end),
        cmocka_unit_test(order_is_forced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
