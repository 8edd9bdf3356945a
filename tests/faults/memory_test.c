/* The host's memory is exhausted at each allocation of the core in turn: the call, or its command, says
 * CL_OUT_OF_HOST_MEMORY, what depends on it fails, everything else is right, and nothing is left over. */
/* timeout: 300 */
/* variant: round-robin TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto SIM_SEED=71000 */
/* variant: several TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin SIM_SEED=81000 SIM_MORE=3 SIM_STEPS=40 */
/* variant: small TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin SIM_SEED=73000 SIM_SMALL=1 */
/* variant: cut TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always SIM_SEED=75000 SIM_PROGRAMS=12 */
#include "base/settings.h"
#include "broken.h"
#include "sim.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_SEEDS 24

/* What a process that runs programs shares with the one that started it. */
struct shared {
    unsigned i;     /* the allocation that fails */
    unsigned n_all; /* how many the last program made */
    bool done;
};

static struct shared *shared;
static FILE *errors;

static unsigned number_from(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);

    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* Runs one program with one allocation after the other failing, until none is left or something goes wrong. */
static void run(uint64_t seed)
{
    struct sim_options options = {.seed = seed,
                                  .n_steps = number_from("SIM_STEPS", 20),
                                  .n_programs = 1,
                                  .failures = number_from("SIM_FAILURES", 0),
                                  .footprints = number_from("SIM_FOOTPRINTS", 1),
                                  .small_memory = number_from("SIM_SMALL", 0)};
    const char *split = getenv("TESELA_SPLIT");
    unsigned only = number_from("SIM_ALLOCATION", 0);

    if (split)
        sim_read_split(split, &options.split);
    sim_failing_allocation = 0;
    sim_failing_more = number_from("SIM_MORE", 0);
    for (shared->i = only ? only : shared->i + 1;; shared->i++) {
        char *wrong;

        if (ftruncate(fileno(errors), 0) || lseek(fileno(errors), 0, SEEK_SET))
            abort();
        sim_n_allocations = 0;
        sim_failing_allocation = shared->i;
        options.out_of_memory = shared->i;
        alarm(20);
        wrong = sim_run(&options);
        alarm(0);
        if (wrong) {
            fprintf(stderr, "%s\n", wrong);
            _exit(1);
        }
        shared->n_all = sim_n_allocations;
        if (shared->n_all < shared->i || only)
            break;
    }
    shared->done = true;
    exit(0);
}

static void tell(uint64_t seed, int status)
{
    char line[1024];

    print_message("seed %llu: where allocation %u failed, the process ended with status %#x:\n",
                  (unsigned long long)seed, shared->i, (unsigned)status);
    rewind(errors);
    while (fgets(line, sizeof line, errors))
        print_message("%s", line);
}

/* Returns how often something went wrong; a program goes on with the next allocation in a new process. */
static unsigned run_all(uint64_t seed)
{
    unsigned n_failed = 0;

    *shared = (struct shared){0};
    while (!shared->done) {
        int status;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0) {
            dup2(fileno(errors), STDERR_FILENO);
            signal(SIGABRT, SIG_DFL); /* cmocka's handlers would go on with the parent's tests. */
            signal(SIGSEGV, SIG_DFL);
            run(seed);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status) {
            tell(seed, status);
            n_failed++;
            if (shared->done || number_from("SIM_ALLOCATION", 0))
                break;
        }
    }
    return n_failed;
}

static void test_each_allocation(void **state)
{
    unsigned n_failed = 0, n_allocations = 0, first = number_from("SIM_SEED", 70000);
    unsigned n = number_from("SIM_PROGRAMS", N_SEEDS);

    (void)state;
    tsl_settings(); /* Else they might be lacking in what follows, which settings_test looks at. */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    errors = tmpfile();
    assert_non_null(errors);
    for (unsigned i = 0; i < n; i++) {
        n_failed += run_all(first + i);
        n_allocations += shared->n_all;
    }
    print_message("%u allocations failed, one at a time\n", n_allocations);
    assert_int_equal(n_failed, 0);
    assert_true(n_allocations > 20 * n);
    fclose(errors);
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
