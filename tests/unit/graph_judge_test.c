/* The judge is judged: a driver that loses an order, leaves a copy stale or says too early that it is done must be
 * found out by the bytes alone, in a good part of the programs in which it does. */
/* timeout: 120 */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "driver/fake.h"
#include "sim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum outcome { HARMLESS, MISSED, FOUND }; /* HARMLESS: it never came to that */

/* In a process of its own, for what a broken driver does to the core may be anything. */
static enum outcome run(enum tsl_fake_sabotage what, unsigned i)
{
    bool happened = false;
    struct sim_options options = {
        .seed = 77000 + i, .n_steps = 60, .sabotage = what + 1, .sabotage_at = 1 + i % 7, .sabotaged = &happened};
    pid_t child = fork();
    int status;

    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        alarm(10);
        _exit(sim_run(&options) ? FOUND : happened ? MISSED : HARMLESS);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) <= FOUND ? (enum outcome)WEXITSTATUS(status) : FOUND;
}

static void judge(enum tsl_fake_sabotage what, unsigned percent)
{
    unsigned n[3] = {0};

    for (unsigned i = 0; i < 100; i++)
        n[run(what, i)]++;
    print_message("%u found, %u missed, %u harmless\n", n[FOUND], n[MISSED], n[HARMLESS]);
    assert_true(n[FOUND] + n[MISSED] >= 40);
    assert_true(100 * n[FOUND] >= percent * (n[FOUND] + n[MISSED]));
}

static void test_dropped_waits(void **state)
{
    (void)state;
    judge(TSL_FAKE_DROP_WAITS, 15);
}

static void test_stale_copies(void **state)
{
    (void)state;
    judge(TSL_FAKE_STALE_COPY, 25);
}

static void test_early_fences(void **state)
{
    (void)state;
    judge(TSL_FAKE_EARLY_FENCE, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped_waits),
        cmocka_unit_test(test_stale_copies),
        cmocka_unit_test(test_early_fences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
