/* The random programs of graph_random_test with real threads: a worker for each fake member, ours, and the program's
 * own. What is judged is the same; under ThreadSanitizer also the core's locking. SIM_SEED=n runs one seed. */
/* timeout: 300 */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "sim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void run_seeds(struct sim_options options, unsigned n)
{
    const char *only = getenv("SIM_SEED");

    options.threads = true;
    options.verbose = only;
    for (unsigned i = 0; i < n; i++) {
        char *wrong;

        options.seed = only ? strtoul(only, NULL, 10) : 1000 * options.n_steps + i;
        alarm(60); /* A program that hangs. */
        wrong = sim_run(&options);
        alarm(0);
        if (wrong) {
            fprintf(stderr, "%s\n", wrong);
            free(wrong);
            fail();
        }
    }
}

static void test_programs(void **state)
{
    (void)state;
    run_seeds((struct sim_options){.n_steps = 90}, 40);
}

static void test_failures(void **state)
{
    (void)state;
    run_seeds((struct sim_options){.n_steps = 70, .failures = true}, 30);
}

/* Several threads, each with a program, in one context: queues and buffers are their own, the rest they share. */
static void test_many_programs(void **state)
{
    (void)state;
    run_seeds((struct sim_options){.n_steps = 60, .n_programs = 4}, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_many_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
