#include "place/model.h"

#include "place/model_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATIOS 4  /* a class's first runs on a kind tell its ratio to others */
#define N_LATER    16 /* further samples of a slowness: each counts at least a sixteenth */
#define FAR        3
#define NEAR       12 /* how many classes away another size still tells something */

#define MOST_SPENT_NS 1e15 /* of one launch: some ten days */

/* From here on a move's time is its bandwidth's; below, its latency's. */
#define LARGE_CLASS 18

#define DEFAULT_BANDWIDTH  5e9 /* bytes per second, where nothing was measured */
#define DEFAULT_LATENCY_NS 2e4

/* ---- Samples ---- */

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

double tsl_samples_sane(double value)
{
    return fmin(fmax(value, 1e-18), 1e18);
}

void tsl_samples_add(struct tsl_samples *samples, double value)
{
    float sorted[TSL_N_SAMPLES];

    if (!(value > 0) || !isfinite(value))
        return;
    samples->value[samples->next] = (float)tsl_samples_sane(value);
    samples->next = (uint8_t)((samples->next + 1) % TSL_N_SAMPLES);
    if (samples->n < TSL_N_SAMPLES)
        samples->n++;
    memcpy(sorted, samples->value, sizeof sorted);
    qsort(sorted, samples->n, sizeof *sorted, by_value);
    samples->typical = sorted[(samples->n - 1) / 2];
    samples->spread = samples->n > 2 ? sorted[samples->n - 1] / samples->typical : 1;
}

/* ---- Life ---- */

struct tsl_model *tsl_model_create(void)
{
    struct tsl_model *model = calloc(1, sizeof *model);

    if (!model)
        return NULL;
    pthread_mutex_init(&model->lock, NULL);
    model->refs = 1;
    model->n_changes = 1;
    model->tick = TSL_MODEL_OWN;
    return model;
}

struct tsl_model *tsl_model_ref(struct tsl_model *model)
{
    pthread_mutex_lock(&model->lock);
    model->refs++;
    pthread_mutex_unlock(&model->lock);
    return model;
}

void tsl_model_free_run(struct tsl_model_run *run)
{
    if (run)
        free(run->density);
    free(run);
}

static void destroy(struct tsl_model *model)
{
    struct tsl_model_run *run, *next;

    HASH_ITER(hh, model->runs, run, next)
    {
        HASH_DEL(model->runs, run);
        tsl_model_free_run(run);
    }
    for (unsigned i = 0; i < model->n_pairs; i++)
        free(model->pairs[i]);
    pthread_mutex_destroy(&model->lock);
    free(model->folder);
    free(model);
}

void tsl_model_unref(struct tsl_model *model)
{
    unsigned left;

    if (!model)
        return;
    pthread_mutex_lock(&model->lock);
    left = --model->refs;
    pthread_mutex_unlock(&model->lock);
    if (left == 0)
        destroy(model);
}

size_t tsl_model_n_runs(struct tsl_model *model)
{
    size_t n;

    pthread_mutex_lock(&model->lock);
    n = HASH_COUNT(model->runs);
    pthread_mutex_unlock(&model->lock);
    return n;
}

/* ---- Kernels ---- */

static uint64_t class_of(uint64_t size)
{
    return size ? 63 - (uint64_t)__builtin_clzll(size) : 0;
}

static struct tsl_model_run *look_up(const struct tsl_model *model, uint64_t kernel, uint64_t class)
{
    struct tsl_model_key key = {.kernel = kernel, .class = class};
    struct tsl_model_run *run;

    HASH_FIND(hh, model->runs, &key, sizeof key, run);
    return run;
}

struct tsl_model_run *tsl_model_find_locked(struct tsl_model *model, uint64_t kernel, uint64_t class)
{
    struct tsl_model_run *run = look_up(model, kernel, class);

    if (run)
        run->used = ++model->tick;
    return run;
}

static void drop_locked(struct tsl_model *model, struct tsl_model_run *run)
{
    HASH_DEL(model->runs, run);
    tsl_model_free_run(run);
    model->n_changes++;
}

/* A walk over all, but only where programs make new classes without end. */
static void drop_oldest_locked(struct tsl_model *model)
{
    struct tsl_model_run *oldest = model->runs;

    for (struct tsl_model_run *run = oldest; run; run = run->hh.next)
        if (run->used < oldest->used)
            oldest = run;
    drop_locked(model, oldest);
}

struct tsl_model_run *tsl_model_add_locked(struct tsl_model *model, uint64_t kernel, uint64_t class)
{
    struct tsl_model_run *run = look_up(model, kernel, class), *added;

    if (run)
        return run;
    run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->key = (struct tsl_model_key){.kernel = kernel, .class = class};
    HASH_ADD(hh, model->runs, key, sizeof run->key, run);
    HASH_FIND(hh, model->runs, &run->key, sizeof run->key, added);
    if (!added) /* uthash had no memory for its table */
        free(run);
    model->n_changes++;
    return added;
}

struct tsl_model_run *tsl_model_make_locked(struct tsl_model *model, uint64_t kernel, uint64_t class)
{
    struct tsl_model_run *run = look_up(model, kernel, class);

    if (!run && HASH_COUNT(model->runs) >= TSL_MODEL_MAX_RUNS)
        drop_oldest_locked(model);
    run = run ? run : tsl_model_add_locked(model, kernel, class);
    if (run)
        run->used = ++model->tick;
    return run;
}

static int by_use(const struct tsl_model_run *a, const struct tsl_model_run *b)
{
    return a->used < b->used ? -1 : a->used > b->used;
}

void tsl_model_order_locked(struct tsl_model *model)
{
    HASH_SORT(model->runs, by_use);
    while (HASH_COUNT(model->runs) > TSL_MODEL_MAX_RUNS)
        drop_locked(model, model->runs);
}

void tsl_model_lay_locked(struct tsl_model_run *run, unsigned dimension, const struct tsl_density *work)
{
    if (!run->density)
        run->density = malloc(sizeof *run->density);
    if (run->density)
        *run->density = (struct tsl_model_density){dimension, *work};
}

void tsl_model_set_density(struct tsl_model *model, uint64_t kernel, uint64_t size, unsigned dimension,
                           const struct tsl_density *work)
{
    struct tsl_model_run *run;

    pthread_mutex_lock(&model->lock);
    run = work->uneven ? tsl_model_make_locked(model, kernel, class_of(size))
                       : tsl_model_find_locked(model, kernel, class_of(size));
    if (run && work->uneven) {
        tsl_model_lay_locked(run, dimension, work);
    } else if (run) {
        free(run->density);
        run->density = NULL;
    }
    model->n_new += run ? 1 : 0;
    pthread_mutex_unlock(&model->lock);
}

bool tsl_model_density(struct tsl_model *model, uint64_t kernel, uint64_t size, unsigned *dimension,
                       struct tsl_density *work)
{
    const struct tsl_model_run *run;
    bool known;

    pthread_mutex_lock(&model->lock);
    run = tsl_model_find_locked(model, kernel, class_of(size));
    known = run && run->density;
    if (known) {
        *dimension = run->density->dimension;
        *work = run->density->work;
    }
    pthread_mutex_unlock(&model->lock);
    return known;
}

static struct tsl_slowness *slowness_of(struct tsl_model_run *run, uint64_t kind)
{
    for (unsigned i = 0; i < run->n_kinds; i++)
        if (run->kinds[i].kind == kind)
            return &run->kinds[i];
    return NULL;
}

/* The first kind stays: the others are told by it. */
static struct tsl_slowness *make_slowness(struct tsl_model_run *run, uint64_t kind)
{
    struct tsl_slowness *slowness = slowness_of(run, kind);

    if (slowness)
        return slowness;
    if (run->n_kinds == TSL_MODEL_KINDS)
        memmove(&run->kinds[1], &run->kinds[2], (--run->n_kinds - 1) * sizeof *slowness);
    slowness = &run->kinds[run->n_kinds++];
    *slowness = (struct tsl_slowness){.kind = kind};
    return slowness;
}

static double value_of(const struct tsl_slowness *slowness)
{
    return slowness->n > TSL_MODEL_FIRST ? slowness->later : (double)slowness->first.typical;
}

/* Where the work varies (spread) a sample says little.  One sample far from the others (a disturbed run, an unusual
 * amount of work) counts as one not so far. */
static void add_slowness(struct tsl_slowness *slowness, double value, double spread)
{
    double before = value_of(slowness), part = 1.0 / (slowness->n < N_LATER ? slowness->n + 1 : N_LATER) / spread;

    if (slowness->n < TSL_MODEL_FIRST)
        tsl_samples_add(&slowness->first, value);
    else
        slowness->later = tsl_samples_sane(before + (fmin(fmax(value, before / FAR), before * FAR) - before) * part);
    if (slowness->n < TSL_MODEL_MOST)
        slowness->n++;
}

struct tsl_model_ratio *tsl_model_ratio_locked(struct tsl_model *model, uint64_t a, uint64_t b, bool make)
{
    for (unsigned i = 0; i < model->n_ratios; i++)
        if (model->ratios[i].a == a && model->ratios[i].b == b)
            return &model->ratios[i];
    if (!make || model->n_ratios == TSL_MODEL_PAIRS)
        return NULL;
    model->ratios[model->n_ratios] = (struct tsl_model_ratio){.a = a, .b = b};
    return &model->ratios[model->n_ratios++];
}

static void note_ratio_locked(struct tsl_model *model, uint64_t a, uint64_t b, double times)
{
    struct tsl_model_ratio *there = tsl_model_ratio_locked(model, a, b, true),
                           *back = tsl_model_ratio_locked(model, b, a, true);

    if (there)
        tsl_samples_add(&there->times, times);
    if (back)
        tsl_samples_add(&back->times, 1 / times);
}

/* The same kernel at the same size on other kinds. */
static void compare_locked(struct tsl_model *model, const struct tsl_model_run *run, const struct tsl_slowness *mine)
{
    for (unsigned i = 0; i < run->n_kinds; i++)
        if (run->kinds[i].n && &run->kinds[i] != mine)
            note_ratio_locked(model, run->kinds[i].kind, mine->kind, value_of(mine) / value_of(&run->kinds[i]));
}

static void add_run_locked(struct tsl_model *model, struct tsl_model_run *run, uint64_t kind, double item_ns)
{
    struct tsl_slowness *slowness = make_slowness(run, kind);

    model->n_changes++;
    if (slowness == run->kinds)
        add_slowness(slowness, 1, 1);
    else
        add_slowness(slowness, item_ns / (double)run->work.typical, (double)run->work.spread);
    tsl_samples_add(&run->work, item_ns / value_of(slowness));
    if (slowness->n <= MAX_RATIOS)
        compare_locked(model, run, slowness);
}

void tsl_model_ran(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size, double ns)
{
    struct tsl_model_run *run;

    if (!(ns > 0) || !isfinite((float)ns))
        return;
    size = size ? size : 1;
    pthread_mutex_lock(&model->lock);
    run = tsl_model_make_locked(model, kernel, TSL_MODEL_ANY) ? tsl_model_make_locked(model, kernel, class_of(size))
                                                              : NULL;
    if (run)
        add_run_locked(model, run, kind, ns / (double)size);
    model->n_new++;
    pthread_mutex_unlock(&model->lock);
}

void tsl_model_spent(struct tsl_model *model, uint64_t kernel, double ns)
{
    struct tsl_model_run *any;

    if (!(ns > 0) || !isfinite(ns))
        return;
    pthread_mutex_lock(&model->lock);
    any = tsl_model_make_locked(model, kernel, TSL_MODEL_ANY);
    if (any)
        any->spent_ns += (uint64_t)fmin(ns, MOST_SPENT_NS);
    model->has_spent = true;
    pthread_mutex_unlock(&model->lock);
}

double tsl_model_ahead_ns(struct tsl_model *model, uint64_t kernel)
{
    struct tsl_model_run *any;
    double ns = 0;

    pthread_mutex_lock(&model->lock);
    any = tsl_model_find_locked(model, kernel, TSL_MODEL_ANY);
    if (any && any->past_ns > any->spent_ns)
        ns = (double)(any->past_ns - any->spent_ns);
    pthread_mutex_unlock(&model->lock);
    return ns;
}

double tsl_model_past_ns(struct tsl_model *model, uint64_t kernel)
{
    struct tsl_model_run *any;
    double ns;

    pthread_mutex_lock(&model->lock);
    any = tsl_model_find_locked(model, kernel, TSL_MODEL_ANY);
    ns = any ? (double)any->past_ns : 0;
    pthread_mutex_unlock(&model->lock);
    return ns;
}

/* The nearest size at which the kernel was seen on that kind. */
static struct tsl_model_run *nearest_locked(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t class)
{
    for (uint64_t d = 1; d <= NEAR; d++)
        for (unsigned up = 0; up < 2; up++) {
            struct tsl_model_run *run = up          ? tsl_model_find_locked(model, kernel, class + d)
                                        : class < d ? NULL
                                                    : tsl_model_find_locked(model, kernel, class - d);
            struct tsl_slowness *slowness = run ? slowness_of(run, kind) : NULL;

            if (slowness && slowness->n)
                return run;
        }
    return NULL;
}

static struct tsl_model_run *known_nearest_locked(struct tsl_model *model, uint64_t kind, uint64_t kernel,
                                                  uint64_t class)
{
    struct tsl_model_nearest *last = &model->nearest[kind % TSL_MODEL_NEAREST];

    if (last->n_changes == model->n_changes && last->kind == kind && last->kernel == kernel && last->class == class) {
        if (last->run)
            last->run->used = ++model->tick;
        return last->run;
    }
    *last = (struct tsl_model_nearest){.kind = kind, .kernel = kernel, .class = class, .n_changes = model->n_changes};
    if (tsl_model_find_locked(model, kernel, TSL_MODEL_ANY))
        last->run = nearest_locked(model, kind, kernel, class);
    return last->run;
}

/* Of a kind that ran it at another size only: by what others took at this size, where they ran both. */
static double from_other_size(struct tsl_model_run *run, struct tsl_model_run *other, uint64_t kind)
{
    double there = (double)other->work.typical * value_of(slowness_of(other, kind));

    for (unsigned i = 0; run && i < run->n_kinds; i++) {
        struct tsl_slowness *both = slowness_of(other, run->kinds[i].kind);

        if (run->kinds[i].n && both && both->n)
            return there * (double)run->work.typical * value_of(&run->kinds[i]) /
                   ((double)other->work.typical * value_of(both));
    }
    return there;
}

static struct tsl_guess guess_locked(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size)
{
    struct tsl_model_run *run = tsl_model_find_locked(model, kernel, class_of(size)), *other;
    struct tsl_slowness *slowness = run ? slowness_of(run, kind) : NULL;
    struct tsl_guess guess = {.n_tries = slowness ? slowness->n_tries : 0, .spread = 1};

    if (run && run->work.n)
        guess.spread = (double)run->work.spread;
    if (slowness && slowness->n) {
        guess.n_samples = slowness->n;
        guess.ns = (double)run->work.typical * value_of(slowness) * (double)size;
        return guess;
    }
    other = known_nearest_locked(model, kind, kernel, class_of(size));
    if (other) {
        guess.ns = from_other_size(run, other, kind) * (double)size;
        guess.judged_by = UINT64_C(1) << other->key.class;
    }
    return guess;
}

struct tsl_guess tsl_model_run(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size)
{
    struct tsl_guess guess;

    pthread_mutex_lock(&model->lock);
    guess = guess_locked(model, kind, kernel, size ? size : 1);
    pthread_mutex_unlock(&model->lock);
    return guess;
}

void tsl_model_tried(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size)
{
    struct tsl_model_run *run;
    struct tsl_slowness *slowness;

    pthread_mutex_lock(&model->lock);
    run = tsl_model_find_locked(model, kernel, class_of(size));
    slowness = run ? make_slowness(run, kind) : NULL;
    model->n_changes++;
    if (slowness && slowness->n_tries < TSL_MODEL_MOST)
        slowness->n_tries++;
    pthread_mutex_unlock(&model->lock);
}

double tsl_model_ratio(struct tsl_model *model, uint64_t a, uint64_t b)
{
    struct tsl_model_ratio *ratio;
    double times;

    if (a == b)
        return 1;
    pthread_mutex_lock(&model->lock);
    ratio = tsl_model_ratio_locked(model, a, b, false);
    times = ratio ? (double)ratio->times.typical : 0;
    pthread_mutex_unlock(&model->lock);
    return times;
}

/* ---- Moves ---- */

struct tsl_model_pair *tsl_model_pair_locked(struct tsl_model *model, uint64_t from, uint64_t to, bool make)
{
    struct tsl_model_pair *pair;

    for (unsigned i = 0; i < model->n_pairs; i++)
        if (model->pairs[i]->from == from && model->pairs[i]->to == to)
            return model->pairs[i];
    pair = make && model->n_pairs < TSL_MODEL_PAIRS ? calloc(1, sizeof *pair) : NULL;
    if (!pair)
        return NULL;
    pair->from = from;
    pair->to = to;
    return model->pairs[model->n_pairs++] = pair;
}

static unsigned move_class(uint64_t size)
{
    uint64_t class = class_of(size);

    return class < TSL_MODEL_CLASSES ? (unsigned)class : TSL_MODEL_CLASSES - 1;
}

static double class_size(unsigned class)
{
    return ldexp(1, (int)class);
}

void tsl_model_moved(struct tsl_model *model, uint64_t from, uint64_t to, uint64_t size, double ns)
{
    unsigned class = move_class(size);
    struct tsl_model_pair *pair;

    if (size == 0)
        return;
    pthread_mutex_lock(&model->lock);
    pair = tsl_model_pair_locked(model, from, to, true);
    model->n_new++;
    if (pair)
        tsl_samples_add(&pair->ns[class], class < LARGE_CLASS ? ns : ns * class_size(class) / (double)size);
    pthread_mutex_unlock(&model->lock);
}

/* By the class, else between its neighbours; above all that is known by the largest's bandwidth, or by that one if the
 * largest says nothing of it; below by the smallest's latency. 0: nothing is known. */
static double pair_ns(const struct tsl_model_pair *pair, uint64_t size, double bandwidth)
{
    unsigned class = move_class(size), low = class, high = class;

    while (low > 0 && !pair->ns[low].n)
        low--;
    while (high < TSL_MODEL_CLASSES - 1 && !pair->ns[high].n)
        high++;
    double below = (double)pair->ns[low].typical, above = (double)pair->ns[high].typical;
    if (low == high)
        return below > 0 && class >= LARGE_CLASS ? below * (double)size / class_size(class) : below;
    if (below > 0 && above > 0) {
        double part = ((double)size - class_size(low)) / (class_size(high) - class_size(low));
        return below + (above - below) * part;
    }
    if (below > 0)
        return low < LARGE_CLASS ? below + (double)size * 1e9 / bandwidth : below * (double)size / class_size(low);
    return fmin(above, DEFAULT_LATENCY_NS + above * (double)size / class_size(high));
}

double tsl_model_move_ns(struct tsl_model *model, uint64_t from, uint64_t to, uint64_t size, double bandwidth)
{
    struct tsl_model_pair *pair;
    double ns;

    bandwidth = bandwidth > 0 ? bandwidth : DEFAULT_BANDWIDTH;
    pthread_mutex_lock(&model->lock);
    pair = tsl_model_pair_locked(model, from, to, false);
    ns = pair ? pair_ns(pair, size, bandwidth) : 0;
    if (ns <= 0) {
        pair = tsl_model_pair_locked(model, to, from, false);
        ns = pair ? pair_ns(pair, size, bandwidth) : 0;
    }
    pthread_mutex_unlock(&model->lock);
    return ns > 0 ? ns : DEFAULT_LATENCY_NS + (double)size * 1e9 / bandwidth;
}

bool tsl_model_knows_move(struct tsl_model *model, uint64_t from, uint64_t to)
{
    bool knows;

    pthread_mutex_lock(&model->lock);
    knows = tsl_model_pair_locked(model, from, to, false);
    pthread_mutex_unlock(&model->lock);
    return knows;
}

unsigned tsl_model_n_moves(struct tsl_model *model, uint64_t from, uint64_t to, uint64_t size)
{
    struct tsl_model_pair *pair;
    unsigned n;

    pthread_mutex_lock(&model->lock);
    pair = tsl_model_pair_locked(model, from, to, false);
    n = pair ? pair->ns[move_class(size)].n : 0;
    pthread_mutex_unlock(&model->lock);
    return n;
}
