/*
 * What memory over several GPUs costs, and what it gives, on GPUs that reach each other's memory (no test). For 1, 2, 4
 * … of them:
 *
 *   alloc, free  of a range in as many equal parts, in microseconds; of one GPU: of its own memory
 *   own          a vector addition over three such ranges, each GPU its share of the work-items, where its pages are
 *   beside       each GPU the share of the next: all bytes come from, and go to, another GPU
 *   one          the first GPU all of it
 *
 * The additions are in milliseconds, from the launch to the end that the host sees, as the least and the most of some
 * rounds. cuda_spread [MiB of a range (1024)].
 */
#include "../bench/measure.h"
#include "cuda_env.h"

#define MAX_ON 8
#define ROUNDS 11
#define LOCAL  256

static unsigned n_on;
static struct tsl_member *on[MAX_ON];
static struct tsl_lane *lanes[MAX_ON];
static struct tsl_dkernel *adds[MAX_ON];

struct span {
    double least, most;
};

static void take(struct span *span, double value)
{
    if (span->most == 0 || value < span->least)
        span->least = value;
    if (value > span->most)
        span->most = value;
}

static void find_domain(void)
{
    for (unsigned i = 0; i < n_members && n_on < MAX_ON; i++) {
        struct tsl_member *m = members[i];

        if (m->driver != driver || !member->caps.domain || m->caps.domain != member->caps.domain)
            continue;
        must(driver->lane_create(m, false, &lanes[n_on]), "lane_create");
        adds[n_on] = new_kernel(build_kernels(m), "vector_add");
        on[n_on++] = m;
    }
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void new_range(unsigned n, size_t size, struct tsl_mem **mems)
{
    size_t sizes[MAX_ON];
    unsigned full;

    for (unsigned i = 0; i < n; i++)
        sizes[i] = size / n;
    must(n == 1 ? driver->mem_alloc(on[0], size, CL_MEM_READ_WRITE, NULL, &mems[0])
                : driver->spread_alloc(&(struct tsl_spread_request){n, on, sizes}, mems, &full),
         "an allocation");
}

static void free_range(unsigned n, struct tsl_mem *const *mems)
{
    for (unsigned i = 0; i < n; i++)
        driver->mem_free(mems[i]);
}

static void measure_coming_and_going(unsigned n, size_t size)
{
    struct span alloc = {0, 0}, gone = {0, 0};
    struct tsl_mem *mems[MAX_ON];

    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_us(), there;

        new_range(n, size, mems);
        there = now_us();
        free_range(n, mems);
        take(&alloc, there - begin);
        take(&gone, now_us() - there);
    }
    printf("%u GPUs  %5zu MiB  alloc %7.0f … %7.0f us   free %7.0f … %7.0f us\n", n, size >> 20, alloc.least,
           alloc.most, gone.least, gone.most);
}

/* ---- Additions --------------------------------------------------------------------------------------------------- */

struct job {
    unsigned n; /* GPUs */
    size_t n_ints;
    struct tsl_mem *mems[3][MAX_ON];
};

static void launch(const struct job *job, unsigned i, unsigned share, unsigned n_shares)
{
    struct tsl_bound_arg list[3] = {mem_arg(job->mems[0][i]), mem_arg(job->mems[1][i]), mem_arg(job->mems[2][i])};
    struct tsl_bound_args args = bind(3, list);
    struct tsl_window window = whole(job->n_ints, LOCAL);
    size_t groups = job->n_ints / LOCAL, begin = groups * share / n_shares;

    window.whole = false;
    window.group_begin[0] = begin;
    window.group_count[0] = groups * (share + 1) / n_shares - begin;
    window.group_count[1] = window.group_count[2] = 1;
    must(driver->launch(lanes[i], &(struct tsl_launch){adds[i], &args, &window}, NULL, NULL), "a launch");
}

static void finish_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        must(driver->flush(lanes[i]), "flush");
    for (unsigned i = 0; i < n; i++)
        must(driver->finish(lanes[i]), "finish");
}

/* turn: whose share each GPU does; alone: the first does all. */
static double add(const struct job *job, unsigned turn, bool alone)
{
    double begin = now_us();

    for (unsigned i = 0; i < (alone ? 1 : job->n); i++)
        launch(job, i, alone ? 0 : (i + turn) % job->n, alone ? 1 : job->n);
    finish_all(job->n);
    return now_us() - begin;
}

/* The sum must be there in the end, whoever made it. */
static void check(const struct job *job, const char *what)
{
    static const double places[] = {0, 0.2499, 0.25, 0.4999, 0.5, 0.75, 0.9999};

    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
        size_t at = (size_t)(places[k] * (double)job->n_ints);
        int value = 0;
        struct tsl_copy copy = linear(NULL, &value, 0, job->mems[2][0], NULL, at * sizeof(value), sizeof(value));

        must(driver->copy(lanes[0], &copy, NULL, NULL), "a read");
        must(driver->finish(lanes[0]), "finish");
        if (value == 7)
            continue;
        printf("%s: WRONG: %d at %zu\n", what, value, at);
        exit(1);
    }
}

static void measure_one_way(const struct job *job, const char *what, unsigned turn, bool alone)
{
    double bytes = 3.0 * sizeof(int) * (double)job->n_ints;
    struct span span = {0, 0};

    must(fill_ints(lanes[0], job->mems[2][0], 0, job->n_ints, NULL, NULL), "a fill");
    finish_all(1);
    add(job, turn, alone);
    for (int round = 0; round < ROUNDS; round++)
        take(&span, add(job, turn, alone));
    check(job, what);
    printf("%u GPUs  add %-7s %8.3f … %8.3f ms  %7.0f GB/s\n", job->n, what, span.least / 1e3, span.most / 1e3,
           bytes / span.least / 1e3);
}

static void measure_additions(unsigned n, size_t size)
{
    struct job job = {.n = n, .n_ints = size / sizeof(int)};

    for (int k = 0; k < 3; k++)
        new_range(n, size, job.mems[k]);
    must(fill_ints(lanes[0], job.mems[0][0], 3, job.n_ints, NULL, NULL), "a fill");
    must(fill_ints(lanes[0], job.mems[1][0], 4, job.n_ints, NULL, NULL), "a fill");
    finish_all(1);
    measure_one_way(&job, "own", 0, false);
    if (n > 1) {
        measure_one_way(&job, "beside", 1, false);
        measure_one_way(&job, "one", 0, true);
    }
    for (int k = 0; k < 3; k++)
        free_range(n, job.mems[k]);
}

int main(int n_words, char **words)
{
    size_t size = (n_words > 1 ? strtoul(words[1], NULL, 10) : 1024) << 20;
    void *state = NULL;

    setvbuf(stdout, NULL, _IONBF, 0);
    if (open_member(&state))
        return 1;
    alarm(300);
    find_domain();
    printf("%s, %s, %u members, domain of %u, granule %zu KiB, native atomics: %s\n", member->path->device_name,
           member->path->driver_version, n_members, n_on, member->caps.domain_granule >> 10,
           member->caps.domain_atomics ? "yes" : "no");
    for (unsigned n = 1; n <= n_on; n *= 2) {
        measure_coming_and_going(n, size);
        if (n > 1)
            measure_coming_and_going(n, n * member->caps.domain_granule);
        measure_additions(n, size);
    }
    return 0;
}
