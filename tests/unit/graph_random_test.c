/* Random programs on random fake members, one thread and virtual time: whatever the core makes of a program, the bytes
 * are those of the specification, the driver contract is kept, and nothing is left over. A failure prints the program
 * and its seed; SIM_SEED=n SIM_STEPS=n runs that one, printing as it goes. */
/* timeout: 200 */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
/* variant: eager TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=eager */
/* variant: sync TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_ORDER=sync */
#include "sim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

/* The shortest beginning of the program that still fails: long stories tell little. */
static void run(struct sim_options options)
{
    char *wrong = sim_run(&options), *shorter;

    while (wrong && options.n_steps > 1) {
        struct sim_options less = options;

        less.n_steps -= (options.n_steps + 15) / 16;
        shorter = sim_run(&less);
        if (!shorter)
            break;
        free(wrong);
        wrong = shorter;
        options = less;
    }
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        free(wrong);
        fail();
    }
}

static void run_seeds(struct sim_options options, unsigned n)
{
    unsigned long seed = number("SIM_SEED", 0);

    options.n_steps = (unsigned)number("SIM_STEPS", options.n_steps);
    options.seed = seed;
    options.verbose = seed;
    if (seed && (options.failures != (getenv("SIM_FAILURES") != NULL)))
        return;
    if (seed) {
        run(options);
        return;
    }
    n = (unsigned)number("SIM_COUNT", n);
    for (unsigned i = 0; i < n; i++) {
        options.seed = 1000 * options.n_steps + i;
        run(options);
    }
}

static void test_short_programs(void **state)
{
    (void)state;
    run_seeds((struct sim_options){.n_steps = 12}, 400);
}

static void test_long_programs(void **state)
{
    (void)state;
    run_seeds((struct sim_options){.n_steps = 100}, 300);
}

/* Calls and work fail: what failed says so, what succeeded is right, and nothing hangs or leaks. */
static void test_failures(void **state)
{
    (void)state;
    run_seeds((struct sim_options){.n_steps = 60, .failures = true}, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_programs),
        cmocka_unit_test(test_long_programs),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
