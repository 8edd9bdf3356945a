/* TESELA_CHECK=split: launches of random programs that are cut are what they are whole, whatever the rung, and the
 * check itself breaks no program. That it finds what is wrong faults/split_test.c shows. */
/* timeout: 200 */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always TESELA_CHECK=split */
/* variant: exact TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always:exact TESELA_CHECK=access,split */
/* variant: merge TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always:merge TESELA_CHECK=split */
/* variant: reduce TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always:reduce TESELA_CHECK=split */
#include "sim.h"
#include "test.h"

#include <stdio.h>

static void run(unsigned long n, const struct sim_options *like, unsigned set)
{
    struct sim_hunt hunt = {.seed = 80000,
                            .n = n,
                            .n_jobs = 2,
                            .shrink = true,
                            .first_only = true,
                            .command = "build/tests/sim",
                            .like = *like,
                            .set = set | SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS};
    char *text;

    hunt.like.footprints = true;
    if (sim_hunt(&hunt, &text, NULL)) {
        fprintf(stderr, "%s\n", text); /* cmocka cuts long messages. */
        fail();
    }
}

static void test_programs(void **state)
{
    (void)state;
    run(600, &(struct sim_options){.split = SIM_SPLIT_ALWAYS}, SIM_CHOOSE_SPLIT);
}

/* Also where there is room for the copies only now and then. */
static void test_small_memory(void **state)
{
    (void)state;
    run(200, &(struct sim_options){.split = SIM_SPLIT_ALWAYS, .small_memory = true},
        SIM_CHOOSE_SPLIT | SIM_CHOOSE_MEMORY);
}

static void test_tiny_memory(void **state)
{
    (void)state;
    run(200, &(struct sim_options){.tiny_memory = true}, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_small_memory),
        cmocka_unit_test(test_tiny_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
