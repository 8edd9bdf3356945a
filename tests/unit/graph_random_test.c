/* Random programs on random fake members, one thread and virtual time: whatever the core makes of a program, the bytes
 * are those of the specification, the driver contract is kept, and nothing is left over. A failure prints the program,
 * made small, and the command that runs it again. build/tests/sim runs as many as one likes. */
/* timeout: 200 */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto SIM_SEED=10000 */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin SIM_SEED=20000 */
/* variant: eager TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=eager SIM_SEED=31000 */
/* variant: sync TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_ORDER=sync SIM_SEED=40000 */
/* variant: cut TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always SIM_SEED=50000 */
/* variant: checked TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_CHECK=coherence SIM_SEED=60000 */
#include "sim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

/* cmocka cuts long messages. */
static void fail_text(const char *text)
{
    fprintf(stderr, "%s\n", text);
    fail();
}

static void run(unsigned long n, const struct sim_options *like, unsigned set)
{
    struct sim_hunt hunt = {.seed = strtoull(getenv("SIM_SEED"), NULL, 10),
                            .n = n,
                            .n_jobs = 2,
                            .shrink = true,
                            .first_only = true,
                            .command = "build/tests/sim",
                            .like = *like,
                            .set = set};
    char *text;

    if (sim_hunt(&hunt, &text, NULL))
        fail_text(text);
}

static void test_programs(void **state)
{
    (void)state;
    run(700, &(struct sim_options){.failures = false}, SIM_CHOOSE_FAILURES);
}

/* Calls and work fail, members are lost: what failed says so, what succeeded is right, and nothing hangs or leaks. */
static void test_failures(void **state)
{
    (void)state;
    run(400, &(struct sim_options){.failures = true}, SIM_CHOOSE_FAILURES);
}

/* Members pin the program's own memory; where it gives up its buffer, nobody has that pinned any more. */
static void test_pins(void **state)
{
    (void)state;
    run(300, &(struct sim_options){.pins = true}, 0);
}

/* Members hold less than launches need: these run window by window, or are refused. */
static void test_tiny_memory(void **state)
{
    (void)state;
    run(500, &(struct sim_options){.tiny_memory = true, .footprints = true},
        SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS);
}

/* One program; what isn't in `set` follows from its seed. */
static void run_seed(uint64_t seed, const struct sim_options *like, unsigned set)
{
    struct sim_hunt hunt = {
        .seed = seed, .n = 1, .shrink = true, .command = "build/tests/sim", .like = *like, .set = set};
    char *text;

    if (sim_hunt(&hunt, &text, NULL))
        fail_text(text);
}

/* Programs that were wrong once, too rare to be met among those above. */
static void test_found(void **state)
{
    static const struct {
        uint64_t seed;
        bool failures, repeats, small_memory;
        const char *policy; /* NULL: by the seed */
    } found[] = {
        {120389, true, false, false, NULL},  /* a move behind a failed launch overwrote what was gone back to */
        {1012599, true, false, false, NULL}, /* a lost member's work was taken for over while it went on */
        {1027567, true, false, false, NULL}, /* a move failed twice: what was brought meanwhile went with it */
        {1054802, true, false, false, NULL}, /* the same, after an eviction */
        {61017221, true, false, false,
         NULL}, /* a copy was evicted though what should have saved it, and brought it back, failed */
        {61072323, true, false, false, NULL},  /* the same */
        {61042631, false, false, false, NULL}, /* a status went back when the first of several operations had ended */
        {62032818, false, false, false, NULL}, /* work was taken for over because what comes after it was said to run */
        {710084995, true, true, false, NULL},  /* a lost member's mark, which nobody had flushed, was waited for */
        {730058533, true, true, false, NULL},  /* a command ran though what it was to wait for was known to fail */
        {720012197, true, true, false,
         "round-robin"},                    /* a lost member's launch was taken for done: another member's came next */
        {9257839, true, true, false, NULL}, /* the same: what came next never got to its driver */
        {90152587, true, true, false,
         NULL}, /* a host task never ran: the host's copy, mapped, was fetched anew, which failed */
        {90082996, true, true, false,
         NULL}, /* a lost member's launch was taken for done: another member told of a failure */
        {90002597, true, true, false, NULL}, /* the same: what came next was lost, too */
        {95157606, true, false, true, NULL}, /* the same: what came next ran */
        {95177954, true, false, true, NULL}, /* the same: what came next by a mark behind it did */
        {90404427, true, true, false,
         NULL}, /* a barrier ended before a migration that had nothing to do but make room */
        {95013845, true, false, true, NULL}, /* the same: a launch, for which room was made in vain */
        {95039936, true, false, true, NULL}, /* with that mended: an evicted copy had never been there */
    };

    (void)state;
    /* Rows by the seed where memory is small, else that. They had no footprints, and no launch was cut. */
    for (unsigned i = 0; i < sizeof found / sizeof *found; i++) {
        const struct sim_options like = {
            .failures = found[i].failures, .repeats = found[i].repeats, .small_memory = found[i].small_memory};

        if (found[i].policy)
            setenv("TESELA_POLICY", found[i].policy, 1);
        else
            unsetenv("TESELA_POLICY");
        run_seed(found[i].seed, &like,
                 SIM_CHOOSE_FAILURES | SIM_CHOOSE_FOOTPRINTS | SIM_CHOOSE_SPLIT |
                     (found[i].small_memory ? SIM_CHOOSE_MEMORY : SIM_CHOOSE_REPEATS));
    }
}

/* The same with little memory: all else follows from the seed. */
static void test_found_tiny(void **state)
{
    static const uint64_t found[] = {
        17052,  /* a copy that had been evicted, and didn't come back, counted as valid */
        102450, /* the same, where it was evicted twice */
    };

    (void)state;
    unsetenv("TESELA_POLICY");
    for (unsigned i = 0; i < sizeof found / sizeof *found; i++)
        run_seed(found[i], &(struct sim_options){.tiny_memory = true, .failures = true}, SIM_CHOOSE_FAILURES);
}

/* The same, since launches are cut. */
static void test_found_with_cuts(void **state)
{
    static const struct {
        uint64_t seed;
        enum sim_split split;
        unsigned set; /* beside failures and split */
    } found[] = {
        {371343, SIM_SPLIT_ALWAYS, 0},  /* nobody told why the first of several rows didn't come */
        {1500184, SIM_SPLIT_ALWAYS, 0}, /* the same, between members */
        {803947, SIM_SPLIT_AUTO,
         0}, /* what a failed launch had been fetched counted as there: one before it was well */
        {7116972, SIM_SPLIT_AUTO, 0}, /* rows were written to a copy that was on its way from one that came back */
        /* The judge's mistakes: a launch failed as it was given what a failed one writes, which it doesn't touch; a
         * copy behind a share that was done again failed, and ended before that; who came after such a failure was
         * judged before it. */
        {202730, SIM_SPLIT_AUTO, SIM_CHOOSE_FOOTPRINTS},
        {221732, SIM_SPLIT_AUTO, SIM_CHOOSE_FOOTPRINTS},
        {31000443, SIM_SPLIT_AUTO, SIM_CHOOSE_FOOTPRINTS},
    };

    (void)state;
    unsetenv("TESELA_POLICY");
    unsetenv("TESELA_SPLIT");
    for (unsigned i = 0; i < sizeof found / sizeof *found; i++)
        run_seed(found[i].seed, &(struct sim_options){.failures = true, .footprints = true, .split = found[i].split},
                 SIM_CHOOSE_FAILURES | SIM_CHOOSE_SPLIT | found[i].set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),        cmocka_unit_test(test_failures), cmocka_unit_test(test_pins),
        cmocka_unit_test(test_tiny_memory),     cmocka_unit_test(test_found),    cmocka_unit_test(test_found_tiny),
        cmocka_unit_test(test_found_with_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
