/* The random programs of graph_random_test with real threads: a worker for each fake member, ours, and the program's
 * own. What is judged is the same; under ThreadSanitizer also the core's locking. */
/* timeout: 300 */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
/* variant: cut TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always */
/* variant: senders TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always TESELA_SENDERS=always */
#include "sim.h"
#include "test.h"

#include <stdio.h>

/* cmocka cuts long messages. */
static void fail_text(const char *text)
{
    fprintf(stderr, "%s\n", text);
    fail();
}

static void run(uint64_t seed, unsigned long n, const struct sim_options *like, unsigned set)
{
    struct sim_hunt hunt = {.seed = seed,
                            .n = n,
                            .first_only = true,
                            .seconds = 60,
                            .command = "build/tests/sim",
                            .like = *like,
                            .set = set};
    char *text;

    hunt.like.threads = true;
    if (sim_hunt(&hunt, &text, NULL))
        fail_text(text);
}

static void test_programs(void **state)
{
    (void)state;
    run(50000, 100, &(struct sim_options){.failures = false}, SIM_CHOOSE_FAILURES);
}

static void test_failures(void **state)
{
    (void)state;
    run(51000, 60, &(struct sim_options){.failures = true}, SIM_CHOOSE_FAILURES | SIM_CHOOSE_MEMORY);
}

/* Several threads, each with a program, in one context or two: queues and buffers are their own, the rest they share.
 */
static void test_many_programs(void **state)
{
    (void)state;
    run(52000, 30, &(struct sim_options){.n_programs = 4}, SIM_CHOOSE_PROGRAMS | SIM_CHOOSE_MEMORY);
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
