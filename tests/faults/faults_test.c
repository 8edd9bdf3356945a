/* The simulation is judged: faults put into a copy of the core, one at a time, must each be found, and soon. The list
 * is faults.cmake; what is printed is how many programs it took. */
/* timeout: 600 */
/* variant: all TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests */
#include "broken.h"
#include "sim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROGRAMS 12000
#define FIRST_SEED   64000 /* FAULTS_SEED chooses another; blocks of seeds with different policies take turns */

static const struct fault {
    const char *name, *file, *meaning;
    int in_place;
} faults[] = {
#include "faults.inc"
};

#define N_FAULTS (sizeof faults / sizeof *faults)

static uint64_t first_seed(void)
{
    const char *value = getenv("FAULTS_SEED");

    return value ? strtoull(value, NULL, 10) : FIRST_SEED;
}

/* FAULT chooses one. */
static bool is_asked(const struct fault *fault)
{
    const char *only = getenv("FAULT");

    return !only || strcmp(only, fault->name) == 0;
}

/* The number of programs it took; 0: it wasn't found. */
static unsigned long hunt(unsigned fault, uint64_t *seed)
{
    struct sim_hunt hunt = {
        .seed = first_seed(), .n = MAX_PROGRAMS, .first_only = true, .seconds = 5, .command = "build/tests/sim"};
    unsigned long n_failed;

    if (!strncmp(faults[fault - 1].name, "redo_", 5)) { /* They show where members are lost. */
        hunt.like = (struct sim_options){
            .failures = true, .losses = true, .footprints = true, .split = SIM_SPLIT_ALWAYS, .n_steps = 60};
        hunt.set = SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS | SIM_CHOOSE_SPLIT | SIM_CHOOSE_STEPS;
    }
    if (!strncmp(faults[fault - 1].name, "spread_", 7)) { /* Where launches are cut. */
        hunt.like = (struct sim_options){.footprints = true, .split = SIM_SPLIT_ALWAYS};
        hunt.set = SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS | SIM_CHOOSE_SPLIT;
    }
    if (!strncmp(faults[fault - 1].name, "lead_", 5)) { /* Where first launches begin by windows. */
        hunt.like = (struct sim_options){.failures = true, .footprints = true, .split = SIM_SPLIT_AUTO};
        hunt.set = SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS | SIM_CHOOSE_SPLIT;
    }
    sim_fault = fault;
    n_failed = sim_hunt(&hunt, NULL, seed);
    sim_fault = 0;
    return n_failed ? (unsigned long)(*seed - first_seed() + 1) : 0;
}

static void test_faults(void **state)
{
    unsigned n_missed = 0;

    (void)state;
    for (unsigned i = 0; i < N_FAULTS; i++) {
        if (!is_asked(&faults[i]))
            continue;

        uint64_t seed = 0;
        unsigned long n = faults[i].in_place ? hunt(i + 1, &seed) : 0;

        if (!faults[i].in_place)
            print_message("%s: its place isn't in src/%s any more: mend tests/faults/faults.cmake\n", faults[i].name,
                          faults[i].file);
        else if (n)
            print_message("%s (%s): found by program %lu, seed %llu\n", faults[i].name, faults[i].meaning, n,
                          (unsigned long long)seed);
        else
            print_message("%s (%s): NOT FOUND in %u programs\n", faults[i].name, faults[i].meaning, MAX_PROGRAMS);
        n_missed += !n;
    }
    assert_true(N_FAULTS >= 10);
    assert_int_equal(n_missed, 0);
}

/* The copy itself, with no fault on, is right. */
static void test_none(void **state)
{
    struct sim_hunt hunt = {.seed = first_seed(), .n = 500, .command = "build/tests/sim"};

    char *text = NULL;
    unsigned long n_failed;

    (void)state;
    n_failed = sim_hunt(&hunt, &text, NULL);
    if (text)
        fputs(text, stderr); /* print_message cuts it. */
    free(text);
    assert_int_equal(n_failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
