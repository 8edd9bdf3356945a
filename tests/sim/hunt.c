/* Many seeds, each batch in a process of its own, for what a broken core does to its process may be anything. */
#include "sim.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_SIZE 65536
#define MAX_JOBS  16
#define MAX_TRIES 300

static const char *const splits[SIM_N_SPLITS] = {"off", "auto", "weights", "always"};

static const char *policy_of(const struct sim_options *options)
{
    static const char *const policies[] = {"auto", "round-robin", "eager"};
    static const char *const weights[] = {"weights=1,3,0.2,2", "weights=5,0,0.1,5", "weights=1,20,1,1", "weights=2,1"};
    uint64_t block = options->seed / SIM_POLICY_BLOCK;

    if (options->split == SIM_SPLIT_WEIGHTS)
        return weights[sim_mix(block) % 4];
    return options->split == SIM_SPLIT_AUTO ? "auto" : policies[block % 3];
}

void sim_set_environment(const struct sim_options *options)
{
    bool whole = options->split == SIM_SPLIT_OFF || options->plain & SIM_PLAIN_SPLIT;

    setenv("TESELA_POLICY", policy_of(options), 0);
    setenv("TESELA_SPLIT", whole ? "off" : options->split == SIM_SPLIT_ALWAYS ? "always" : "auto", 0);
}

bool sim_read_split(const char *word, enum sim_split *split)
{
    static const char *const alone[] = {"always:exact", "always:domain", "always:merge", "always:reduce"};

    for (unsigned i = 0; i < sizeof alone / sizeof *alone; i++)
        if (!strcmp(word, alone[i])) {
            setenv("TESELA_SPLIT", word, 1);
            word = "always";
        }
    for (unsigned i = 0; i < SIM_N_SPLITS; i++)
        if (!strcmp(word, splits[i])) {
            *split = (enum sim_split)i;
            return true;
        }
    return false;
}

void sim_hunt_as_environment(struct sim_hunt *hunt)
{
    const char *word = getenv("TESELA_SPLIT");

    if (word && !(hunt->set & SIM_CHOOSE_SPLIT) && sim_read_split(word, &hunt->like.split))
        hunt->set |= SIM_CHOOSE_SPLIT;
}

struct sim_options sim_hunted(const struct sim_hunt *hunt, uint64_t seed)
{
    struct sim_options options = hunt->like, own = sim_options_of(seed);

    options.seed = seed;
    if (!(hunt->set & SIM_CHOOSE_STEPS))
        options.n_steps = own.n_steps;
    if (!(hunt->set & SIM_CHOOSE_PROGRAMS))
        options.n_programs = own.n_programs;
    if (!(hunt->set & SIM_CHOOSE_FAILURES))
        options.failures = own.failures;
    if (!(hunt->set & SIM_CHOOSE_REPEATS))
        options.repeats = own.repeats;
    if (!(hunt->set & SIM_CHOOSE_FOOTPRINTS))
        options.footprints = own.footprints;
    if (!(hunt->set & SIM_CHOOSE_MEMORY))
        options.small_memory = own.small_memory;
    if (!(hunt->set & SIM_CHOOSE_SPLIT))
        options.split = own.split;
    return options;
}

/* ---- A process ---- */

/* What it and we share. */
struct shared {
    _Atomic(uint64_t) seed;   /* being run */
    atomic_ulong n_done;      /* seeds that went well */
    char text[TEXT_SIZE];     /* what it says of a failure */
    FILE *errors;             /* its standard error */
    pid_t child;              /* 0: none */
    uint64_t first;           /* its seeds */
    unsigned long n, counted; /* … how many, and how many of those done are counted */
    struct sim_counts counts; /* of all its processes */
};

static struct shared *new_shared(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED || !(shared->errors = tmpfile()))
        abort();
    return shared;
}

static void free_shared(struct shared *shared)
{
    fclose(shared->errors);
    munmap(shared, sizeof *shared);
}

static void run_one(struct shared *shared, const struct sim_options *options, unsigned seconds)
{
    char *wrong;

    shared->seed = options->seed;
    alarm(seconds); /* A program that hangs. */
    wrong = sim_run(options);
    alarm(0);
    if (wrong) {
        snprintf(shared->text, sizeof shared->text, "%s", wrong);
        _exit(1);
    }
    shared->n_done++;
}

static unsigned seconds_of(const struct sim_hunt *hunt)
{
    return hunt->seconds ? hunt->seconds : 20;
}

/* Where, for addr2line. */
static void crashed(int number)
{
    void *frames[32];

    backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
    signal(number, SIG_DFL);
    raise(number);
}

/* Exits by exit(), so that LeakSanitizer looks around. */
static void start(struct shared *shared, const struct sim_hunt *hunt, const struct sim_options *only)
{
    struct sim_options first = only ? *only : sim_hunted(hunt, shared->first);
    pid_t child;

    shared->n_done = 0;
    shared->counted = 0;
    *shared->text = 0;
    if (ftruncate(fileno(shared->errors), 0) || fseek(shared->errors, 0, SEEK_SET))
        abort();
    fflush(NULL);
    child = fork();
    if (child < 0)
        abort();
    if (child) {
        shared->child = child;
        return;
    }
    if (!only || !only->verbose)
        dup2(fileno(shared->errors), STDERR_FILENO);
    signal(SIGABRT, SIG_DFL); /* cmocka's handlers would go on with the parent's tests. */
    signal(SIGSEGV, crashed);
    sim_set_environment(&first);
    if (only)
        run_one(shared, only, seconds_of(hunt));
    for (unsigned long i = 0; !only && i < shared->n; i++) {
        struct sim_options options = sim_hunted(hunt, shared->first + i);

        options.counts = &shared->counts;
        run_one(shared, &options, seconds_of(hunt));
    }
    exit(0);
}

/* The end of what a file holds. */
static void tail_of(FILE *file, char *text, size_t size)
{
    long end;
    size_t n;

    fseek(file, 0, SEEK_END);
    end = ftell(file);
    fseek(file, end > (long)size - 1 ? end - (long)size + 1 : 0, SEEK_SET);
    n = fread(text, 1, size - 1, file);
    text[n] = 0;
}

/* It ended: true if all went well; else shared->text says what didn't. */
static bool ended_well(struct shared *shared, int status)
{
    size_t used;

    shared->child = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (*shared->text)
        return false;
    tail_of(shared->errors, shared->text, sizeof shared->text - 100);
    used = strlen(shared->text);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(shared->text + used, 100, "\nthe program took too long\n");
    else if (WIFSIGNALED(status))
        snprintf(shared->text + used, 100, "\nthe process died of %s\n", strsignal(WTERMSIG(status)));
    else
        snprintf(shared->text + used, 100, "\nthe process ended with %d\n", WEXITSTATUS(status));
    return false;
}

static bool fails(struct shared *shared, const struct sim_hunt *hunt, const struct sim_options *options)
{
    int status;

    shared->first = options->seed;
    shared->n = 1;
    start(shared, hunt, options);
    if (waitpid(shared->child, &status, 0) < 0)
        abort();
    return !ended_well(shared, status);
}

/* ---- Making it small ---- */

static bool is_without(const struct sim_options *options, unsigned step)
{
    return options->without[step / 64] >> (step % 64) & 1;
}

struct shrinking {
    const struct sim_hunt *hunt;
    struct shared *shared;
    unsigned n_tries;
};

static bool still_fails(struct shrinking *s, struct sim_options *options, const struct sim_options *less)
{
    if (s->n_tries >= MAX_TRIES)
        return false;
    s->n_tries++;
    if (!fails(s->shared, s->hunt, less))
        return false;
    *options = *less;
    return true;
}

/* Leaves out `size` of the steps that are left, from the from-th on. False: there are none. */
static bool leave_out(struct sim_options *options, unsigned from, unsigned size)
{
    unsigned left = 0;

    for (unsigned step = 0; step < options->n_steps; step++) {
        if (is_without(options, step))
            continue;
        if (left >= from && left < from + size)
            options->without[step / 64] |= UINT64_C(1) << (step % 64);
        left++;
    }
    return left > from;
}

/* Delta debugging (Zeller, Hildebrandt 2002), without the complements: large pieces first, then ever smaller ones. */
static void shrink_steps(struct shrinking *s, struct sim_options *options)
{
    for (unsigned size = options->n_steps / 2; size > 0; size /= 2) {
        unsigned from = 0;

        for (;;) {
            struct sim_options less = *options;

            if (!leave_out(&less, from, size))
                break;
            if (!still_fails(s, options, &less))
                from += size;
        }
    }
}

static void shrink(const struct sim_hunt *hunt, struct shared *shared, struct sim_options *options)
{
    struct shrinking s = {hunt, shared, 0};
    unsigned before;

    for (unsigned bit = SIM_PLAIN_MEMBERS; bit <= SIM_PLAIN_SPLIT; bit *= 2) {
        struct sim_options less = *options;

        less.plain |= bit;
        still_fails(&s, options, &less);
    }
    do {
        before = s.n_tries;
        shrink_steps(&s, options);
    } while (s.n_tries < MAX_TRIES && s.n_tries - before > options->n_steps);
}

/* "3-7,9" */
static void write_steps(const struct sim_options *options, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    for (unsigned step = 0; step < options->n_steps; step++) {
        unsigned end = step;

        if (!is_without(options, step))
            continue;
        while (end + 1 < options->n_steps && is_without(options, end + 1))
            end++;
        used += (size_t)snprintf(text + used, size - used, end > step ? "%s%u-%u" : "%s%u", used ? "," : "", step, end);
        step = end;
    }
}

/* The words that run it again. */
static void write_command(const struct sim_hunt *hunt, const struct sim_options *options, char *text, size_t size)
{
    static const char *const variables[] = {"OCL_ICD_VENDORS", "TESELA_VENDORS", "POCL_DEVICES",     "TESELA_MEMBERS",
                                            "TESELA_POLICY",   "TESELA_ORDER",   "TESELA_PROFILING", "TESELA_SPLIT"};
    char steps[512];
    size_t used = 0;

    write_steps(options, steps, sizeof steps);
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            used += (size_t)snprintf(text + used, size - used, "%s='%s' ", variables[i], getenv(variables[i]));
    used +=
        (size_t)snprintf(text + used, size - used, "%s --seed %llu", hunt->command, (unsigned long long)options->seed);
    if (hunt->set & SIM_CHOOSE_STEPS)
        used += (size_t)snprintf(text + used, size - used, " --steps %u", options->n_steps);
    if (hunt->set & SIM_CHOOSE_PROGRAMS)
        used += (size_t)snprintf(text + used, size - used, " --at-once %u", options->n_programs);
    if (hunt->set & SIM_CHOOSE_FAILURES)
        used += (size_t)snprintf(text + used, size - used, " --failures %s", options->failures ? "yes" : "no");
    if (hunt->set & SIM_CHOOSE_REPEATS)
        used += (size_t)snprintf(text + used, size - used, " --repeats %s", options->repeats ? "yes" : "no");
    if (hunt->set & SIM_CHOOSE_FOOTPRINTS)
        used += (size_t)snprintf(text + used, size - used, " --footprints %s", options->footprints ? "yes" : "no");
    if (hunt->set & SIM_CHOOSE_MEMORY)
        used += (size_t)snprintf(text + used, size - used, " --small-memory %s", options->small_memory ? "yes" : "no");
    if (hunt->set & SIM_CHOOSE_SPLIT)
        used += (size_t)snprintf(text + used, size - used, " --split %s", splits[options->split]);
    if (options->n_contexts)
        used += (size_t)snprintf(text + used, size - used, " --contexts %u", options->n_contexts);
    if (options->tiny_memory)
        used += (size_t)snprintf(text + used, size - used, " --tiny-memory");
    if (options->losses)
        used += (size_t)snprintf(text + used, size - used, " --losses");
    if (options->pins)
        used += (size_t)snprintf(text + used, size - used, " --pins");
    if (options->threads)
        used += (size_t)snprintf(text + used, size - used, " --threads");
    if (*steps)
        used += (size_t)snprintf(text + used, size - used, " --without %s", steps);
    if (options->plain)
        snprintf(text + used, size - used, " --plain %u", options->plain);
}

/* What the failure of a seed tells, made small where it can be. Heap. */
static char *tell(const struct sim_hunt *hunt, uint64_t seed, const char *first_text)
{
    struct sim_options options = sim_hunted(hunt, seed);
    struct shared *shared = new_shared();
    char command[1024], *text = NULL;

    if (hunt->shrink && fails(shared, hunt, &options)) {
        shrink(hunt, shared, &options);
        if (fails(shared, hunt, &options))
            first_text = shared->text;
    }
    write_command(hunt, &options, command, sizeof command);
    if (asprintf(&text, "%s\nseed %llu. To run it again: %s\n", first_text, (unsigned long long)seed, command) < 0)
        abort();
    free_shared(shared);
    return text;
}

/* ---- Many ---- */

struct progress {
    const struct sim_hunt *hunt;
    struct shared *jobs[MAX_JOBS];
    unsigned n_jobs;
    unsigned long n_given, n_done, n_failed;
    struct timespec begin;
    double told_at;
    char *text;
    uint64_t failing_seed;
    uint64_t rest_seed[MAX_JOBS]; /* what a failure left of a batch */
    unsigned long rest[MAX_JOBS];
};

static double elapsed(const struct progress *p)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - p->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - p->begin.tv_nsec);
}

static void tell_progress(struct progress *p, bool last)
{
    double now = elapsed(p);

    if (!p->hunt->progress || (!last && now < p->told_at + 2))
        return;
    p->told_at = now;
    printf("%lu of %lu programs, %lu failed, %.0f a second\n", p->n_done, p->hunt->n, p->n_failed,
           (double)p->n_done / (now > 0.001 ? now : 0.001));
    fflush(stdout);
}

/* A batch keeps to one block of the policies. */
static bool give(struct progress *p, unsigned job)
{
    struct shared *shared = p->jobs[job];

    if (p->hunt->first_only && p->n_failed)
        return false;
    if (p->rest[job]) {
        shared->first = p->rest_seed[job];
        shared->n = p->rest[job];
        p->rest[job] = 0;
    } else {
        unsigned long n = p->hunt->n - p->n_given, block;

        if (!n)
            return false;
        shared->first = p->hunt->seed + p->n_given;
        block = SIM_POLICY_BLOCK - shared->first % SIM_POLICY_BLOCK;
        shared->n = n < block ? n : block;
        p->n_given += shared->n;
    }
    start(shared, p->hunt, NULL);
    return true;
}

static void note_failure(struct progress *p, unsigned job)
{
    struct shared *shared = p->jobs[job];
    uint64_t seed = shared->seed, next = seed + 1;

    p->n_failed++;
    p->n_done++;
    p->rest_seed[job] = next;
    p->rest[job] = (unsigned long)(shared->first + shared->n - next);
    if (p->hunt->progress)
        printf("seed %llu failed\n", (unsigned long long)seed);
    if (p->text)
        return;
    p->failing_seed = seed;
    p->text = tell(p->hunt, seed, shared->text);
    if (p->hunt->progress)
        printf("%s\n", p->text);
}

static bool collect(struct progress *p)
{
    int status;
    pid_t child = wait(&status);

    for (unsigned job = 0; child > 0 && job < p->n_jobs; job++) {
        struct shared *shared = p->jobs[job];
        bool well;

        if (shared->child != child)
            continue;
        well = ended_well(shared, status);
        p->n_done += shared->n_done;
        if (!well)
            note_failure(p, job);
        tell_progress(p, false);
        give(p, job);
    }
    return child > 0;
}

static void tell_counts(const struct progress *p)
{
    unsigned long n_launches = 0, n_partial = 0, n_cut = 0, n_again = 0;

    for (unsigned job = 0; job < p->n_jobs; job++) {
        n_launches += p->jobs[job]->counts.n_launches;
        n_partial += p->jobs[job]->counts.n_partial;
        n_cut += p->jobs[job]->counts.n_cut;
        n_again += p->jobs[job]->counts.n_again;
    }
    if (!p->hunt->progress)
        return;
    printf("%lu launches, %lu of kernels with footprints", n_launches, n_partial);
    if (n_cut) /* Real members don't tell. */
        printf(", %lu cut", n_cut);
    if (n_again)
        printf(", %lu shares done again", n_again);
    printf("\n");
}

unsigned long sim_hunt(const struct sim_hunt *asked, char **text, uint64_t *failing_seed)
{
    struct sim_hunt hunt = *asked;
    struct progress p = {.hunt = &hunt, .n_jobs = hunt.n_jobs ? hunt.n_jobs : 1};

    sim_hunt_as_environment(&hunt);

    if (p.n_jobs > MAX_JOBS)
        p.n_jobs = MAX_JOBS;
    clock_gettime(CLOCK_MONOTONIC, &p.begin);
    for (unsigned job = 0; job < p.n_jobs; job++)
        p.jobs[job] = new_shared();
    for (unsigned job = 0; job < p.n_jobs; job++)
        give(&p, job);
    while (collect(&p))
        continue;
    tell_progress(&p, true);
    tell_counts(&p);
    for (unsigned job = 0; job < p.n_jobs; job++)
        free_shared(p.jobs[job]);
    if (failing_seed)
        *failing_seed = p.failing_seed;
    if (text)
        *text = p.text;
    else
        free(p.text);
    return p.n_failed;
}
