/* build/tests/sim: random programs, judged. See usage() below. */
#include "sim.h"

#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void usage(const char *program)
{
    printf(
        "usage: %s [OPTION...]\n"
        "\n"
        "Makes random OpenCL programs and random machines of seeds, runs the ones on the others, and judges every\n"
        "byte, status and time. A program that fails is made small and printed, with the command that runs it again.\n"
        "\n"
        "  --programs N        how many, with seeds one after the other (default 1)\n"
        "  --seed S            the first seed (default 1)\n"
        "  --jobs N            processes at once (default 1)\n"
        "  --seconds N         for one program, which fails after that (default 20)\n"
        "  --no-shrink         print what fails as it is\n"
        "  --keep-going        don't stop at the first failure\n"
        "  --tiny-memory       members hold less than launches need, which run window by window\n"
        "  --losses            members are lost under launches that are cut, which must succeed where they can\n"
        "  --pins              members pin the program's own memory once it went to and fro\n"
        "  --threads           real threads and delays instead of virtual time: not repeatable\n"
        "  --verbose           print each step as it is done (one program, in this process)\n"
        "  --records           print what the members did, after a failure\n"
        "  --abort             stop in the debugger where the driver sees a rule broken (with --verbose)\n"
        "\n"
        "What follows from the seed unless it is given:\n"
        "  --steps N           length of a program, at most %u\n"
        "  --at-once N         so many programs at once, at most %u\n"
        "  --failures yes|no   calls and work fail, members are lost\n"
        "  --footprints yes|no  kernels with footprints are among the others\n"
        "  --repeats yes|no    launches often repeat the one before: the same kernel on the same objects\n"
        "  --small-memory yes|no  members hold only a part of the buffers\n"
        "  --split WAY         launches are cut: off, auto, weights, always, always:RUNG\n"
        "  --contexts N        of the programs at once (otherwise by chance, but one with small memory)\n"
        "  --without LIST      leave out these steps (3-7,9)\n"
        "  --plain BITS        make plain: 1 the members, 2 their number, 4 queues, 8 buffers, 16 programs,\n"
        "                      32 no launch is cut\n"
        "\n"
        "TESELA_POLICY chooses a policy for all, TESELA_SPLIT which launches are cut; without them blocks of %u seeds\n"
        "take turns.\n",
        program, SIM_MAX_STEPS, SIM_MAX_PROGRAMS, SIM_POLICY_BLOCK);
}

static bool read_steps(const char *list, struct sim_options *options)
{
    char *end;

    while (*list) {
        unsigned long from = strtoul(list, &end, 10), to = from;

        if (end == list)
            return false;
        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        if (to >= SIM_MAX_STEPS || from > to)
            return false;
        for (unsigned long step = from; step <= to; step++)
            options->without[step / 64] |= UINT64_C(1) << (step % 64);
        list = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return false;
    }
    return true;
}

enum {
    PROGRAMS,
    SEED,
    JOBS,
    SECONDS,
    NO_SHRINK,
    KEEP_GOING,
    THREADS,
    VERBOSE,
    RECORDS,
    ABORT,
    STEPS,
    AT_ONCE,
    FAILURES,
    FOOTPRINTS,
    REPEATS,
    PINS,
    TINY,
    LOSSES,
    MEMORY,
    SPLIT,
    CONTEXTS,
    WITHOUT,
    PLAIN,
    HELP
};

static const struct option names[] = {
    {"programs", required_argument, NULL, PROGRAMS},
    {"seed", required_argument, NULL, SEED},
    {"jobs", required_argument, NULL, JOBS},
    {"seconds", required_argument, NULL, SECONDS},
    {"no-shrink", no_argument, NULL, NO_SHRINK},
    {"keep-going", no_argument, NULL, KEEP_GOING},
    {"pins", no_argument, NULL, PINS},
    {"tiny-memory", no_argument, NULL, TINY},
    {"losses", no_argument, NULL, LOSSES},
    {"threads", no_argument, NULL, THREADS},
    {"verbose", no_argument, NULL, VERBOSE},
    {"records", no_argument, NULL, RECORDS},
    {"abort", no_argument, NULL, ABORT},
    {"steps", required_argument, NULL, STEPS},
    {"at-once", required_argument, NULL, AT_ONCE},
    {"failures", required_argument, NULL, FAILURES},
    {"footprints", required_argument, NULL, FOOTPRINTS},
    {"repeats", required_argument, NULL, REPEATS},
    {"small-memory", required_argument, NULL, MEMORY},
    {"split", required_argument, NULL, SPLIT},
    {"contexts", required_argument, NULL, CONTEXTS},
    {"without", required_argument, NULL, WITHOUT},
    {"plain", required_argument, NULL, PLAIN},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static bool read_number(const char *text, unsigned long most, unsigned long *number)
{
    char *end;

    *number = strtoul(text, &end, 10);
    return end != text && !*end && *number <= most;
}

static bool read_yes(const char *text, bool *yes)
{
    *yes = !strcmp(text, "yes");
    return *yes || !strcmp(text, "no");
}

static bool read_number_option(int which, struct sim_hunt *hunt)
{
    static const unsigned long most[] = {
        [STEPS] = SIM_MAX_STEPS, [AT_ONCE] = SIM_MAX_PROGRAMS, [CONTEXTS] = SIM_MAX_CONTEXTS, [PLAIN] = 63};
    unsigned long number;

    if (!read_number(optarg,
                     which == STEPS || which == AT_ONCE || which == CONTEXTS || which == PLAIN ? most[which] : -1ul,
                     &number))
        return false;
    switch (which) {
    case PROGRAMS:
        hunt->n = number;
        break;
    case SEED:
        hunt->seed = number;
        break;
    case JOBS:
        hunt->n_jobs = (unsigned)number;
        break;
    case SECONDS:
        hunt->seconds = (unsigned)number;
        break;
    case STEPS:
        hunt->like.n_steps = (unsigned)number;
        hunt->set |= SIM_CHOOSE_STEPS;
        break;
    case AT_ONCE:
        hunt->like.n_programs = (unsigned)number;
        hunt->set |= SIM_CHOOSE_PROGRAMS;
        break;
    case CONTEXTS:
        hunt->like.n_contexts = (unsigned)number;
        break;
    default:
        hunt->like.plain = (unsigned)number;
        break;
    }
    return true;
}

static bool read_option(int which, struct sim_hunt *hunt)
{
    switch (which) {
    case NO_SHRINK:
        hunt->shrink = false;
        return true;
    case KEEP_GOING:
        hunt->first_only = false;
        return true;
    case THREADS:
        hunt->like.threads = true;
        return true;
    case TINY:
        hunt->like.tiny_memory = true;
        return true;
    case LOSSES:
        hunt->like.losses = hunt->like.failures = true;
        hunt->set |= SIM_CHOOSE_FAILURES;
        return true;
    case PINS:
        hunt->like.pins = true;
        return true;
    case VERBOSE:
        hunt->like.verbose = true;
        return true;
    case RECORDS:
        hunt->like.records = true;
        return true;
    case ABORT:
        hunt->like.abort_at_violation = true;
        return true;
    case FAILURES:
        hunt->set |= SIM_CHOOSE_FAILURES;
        return read_yes(optarg, &hunt->like.failures);
    case FOOTPRINTS:
        hunt->set |= SIM_CHOOSE_FOOTPRINTS;
        return read_yes(optarg, &hunt->like.footprints);
    case REPEATS:
        hunt->set |= SIM_CHOOSE_REPEATS;
        return read_yes(optarg, &hunt->like.repeats);
    case MEMORY:
        hunt->set |= SIM_CHOOSE_MEMORY;
        return read_yes(optarg, &hunt->like.small_memory);
    case SPLIT:
        hunt->set |= SIM_CHOOSE_SPLIT;
        return sim_read_split(optarg, &hunt->like.split);
    case WITHOUT:
        return read_steps(optarg, &hunt->like);
    default:
        return read_number_option(which, hunt);
    }
}

static void read_options(int argc, char **argv, struct sim_hunt *hunt)
{
    int which;

    while ((which = getopt_long(argc, argv, "", names, NULL)) >= 0) {
        if (which == HELP) {
            usage(argv[0]);
            exit(0);
        }
        if (which == '?' || !read_option(which, hunt)) {
            fprintf(stderr, "%s: that option, or its value, isn't known; see --help\n", argv[0]);
            exit(2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "%s: %s: see --help\n", argv[0], argv[optind]);
        exit(2);
    }
}

static int run_here(struct sim_hunt *hunt)
{
    sim_hunt_as_environment(hunt);

    struct sim_options options = sim_hunted(hunt, hunt->seed);
    char *wrong;

    sim_set_environment(&options);
    wrong = sim_run(&options);
    if (wrong)
        printf("\nFAILED: %s", strrchr(wrong, '\n') ? wrong : "");
    free(wrong);
    return wrong != NULL;
}

/* A folder without .icd files: the members are the fake ones, or what the environment says. */
static void set_environment(char *program)
{
    char *copy = strdup(program);

    setenv("TESELA_VENDORS", dirname(copy), 0);
    free(copy);
}

int main(int argc, char **argv)
{
    struct sim_hunt hunt = {
        .seed = 1, .n = 1, .shrink = true, .first_only = true, .progress = true, .command = argv[0]};
    unsigned long n_failed;

    read_options(argc, argv, &hunt);
    hunt.shrink &= !hunt.like.threads;
    set_environment(argv[0]);
    if (hunt.like.verbose)
        return run_here(&hunt);
    n_failed = sim_hunt(&hunt, NULL, NULL);
    return n_failed != 0;
}
