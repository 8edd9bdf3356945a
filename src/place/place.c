/* The placer: the policy of the settings, with what it remembers. */
#include "place/estimate.h"
#include "place/internal.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "place/model_file.h"
#include "place/program_key.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void choose_policy(struct tsl_placer *placer, struct tsl_member *const *members,
                          const struct tsl_settings *settings)
{
    switch (settings->policy) {
    case TSL_POLICY_EAGER:
        placer->choose = tsl_place_eager;
        break;
    case TSL_POLICY_FASTEST:
        placer->choose = tsl_place_fastest;
        break;
    case TSL_POLICY_ROUND_ROBIN:
        placer->choose = tsl_place_round_robin;
        break;
    case TSL_POLICY_WEIGHTS:
    case TSL_POLICY_WEIGHTS_WHOLE:
        placer->choose = tsl_place_weights;
        tsl_place_weights_init(placer, members, settings->weights, settings->n_weights);
        break;
    case TSL_POLICY_MODEL: /* another name of auto */
    case TSL_POLICY_AUTO:
        placer->choose = tsl_place_auto;
        break;
    }
}

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);                     /* an end, so that "a","bc" isn't "ab","c" */
}

uint64_t tsl_kind_of(const struct tsl_member *member, unsigned i)
{
    const struct tsl_path *path = member->path;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (!path)
        return i + 2;
    hash = mix(hash, path->driver ? path->driver->name : "");
    hash = mix(hash, path->kind_name ? path->kind_name : path->platform_name);
    hash = mix(hash, path->device_name);
    return mix(hash, path->driver_version) | 1u << 8; /* never one of the small numbers */
}

static unsigned units_of(const struct tsl_member *member)
{
    cl_uint n = 0;

    if (!member->path || !member->driver || !member->driver->info ||
        member->driver->info(member->path, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(n), &n, NULL))
        return 1;
    return n ? n : 1;
}

static void find_rivals(struct tsl_placer *placer, struct tsl_member *const *members)
{
    for (unsigned i = 0; i < placer->n; i++)
        for (unsigned k = 0; k < placer->n; k++)
            if (i != k && members[i]->path && members[k]->path &&
                tsl_path_shares_processors(members[i]->path, members[k]->path))
                tsl_members_add(&placer->rivals[i], k);
}

static bool lasting(struct tsl_member *const *members, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!members[i]->driver || members[i]->driver->passing)
            return false;
    return true;
}

static double second_of(const double *speed, unsigned n)
{
    double first = 0, second = 0;

    for (unsigned i = 0; i < n; i++) {
        second = fmax(second, fmin(first, speed[i]));
        first = fmax(first, speed[i]);
    }
    return second;
}

struct tsl_placer *tsl_placer_create(const struct tsl_settings *settings, struct tsl_member *const *members, unsigned n)
{
    struct tsl_placer *placer = calloc(1, sizeof *placer);

    if (!placer)
        return NULL;
    placer->n = n;
    placer->last = n ? n - 1 : 0; /* so that the first choice is member 0 */
    placer->one_kind = settings->reproducible == TSL_REPRODUCIBLE_YES;
    placer->split = settings->split;
    placer->by_weight = settings->policy == TSL_POLICY_WEIGHTS;
    for (unsigned i = 0; i < n; i++) {
        placer->speed[i] = members[i]->caps.speed > 0 ? members[i]->caps.speed : 1;
        placer->profiles[i] = members[i]->caps.profiles;
        placer->fill[i] = members[i]->caps.fill_items;
        placer->domain[i] = members[i]->caps.domain;
        placer->first_use_ns[i] = members[i]->caps.first_launch_ns;
        placer->kind[i] = tsl_kind_of(members[i], i);
        placer->n_units[i] = units_of(members[i]);
        placer->is_gpu[i] = members[i]->path && members[i]->path->type & CL_DEVICE_TYPE_GPU;
    }
    placer->second_speed = second_of(placer->speed, n);
    find_rivals(placer, members);
    choose_policy(placer, members, settings);
    if (placer->choose == tsl_place_auto) {
        placer->model = tsl_model_kept(lasting(members, n) ? settings->cache : NULL);
        if (!placer->model) {
            free(placer);
            return NULL;
        }
        placer->program = tsl_program_key();
    }
    return placer;
}

bool tsl_placer_alike(const struct tsl_placer *placer, unsigned a, unsigned b)
{
    return placer->kind[a] == placer->kind[b];
}

void tsl_placer_destroy(struct tsl_placer *placer)
{
    if (!placer)
        return;
    tsl_gains_tell(placer);
    if (placer->model)
        tsl_model_keep(placer->model, tsl_clock_ns());
    tsl_model_unref(placer->model);
    free(placer);
}

/* Reproducible: of the candidates those of one kind, the fastest's by what the members say of themselves. Nothing that
 * was measured counts, so that every run of a program chooses alike. */
static void keep_one_kind(const struct tsl_placer *placer, struct tsl_candidate *candidates)
{
    unsigned best = placer->n;

    for (unsigned i = 0; i < placer->n; i++)
        if (candidates[i].eligible && (best == placer->n || tsl_placer_faster(placer, i, best)))
            best = i;
    for (unsigned i = 0; i < placer->n; i++)
        candidates[i].eligible = candidates[i].eligible && placer->kind[i] == placer->kind[best];
}

void tsl_placer_narrow(const struct tsl_placer *placer, struct tsl_ask *ask, struct tsl_candidate kept[TSL_MAX_MEMBERS])
{
    if (!placer->one_kind)
        return;
    memcpy(kept, ask->candidates, placer->n * sizeof(*kept));
    keep_one_kind(placer, kept);
    ask->candidates = kept;
}

bool tsl_placer_learns(const struct tsl_placer *placer)
{
    return placer->model != NULL;
}

double tsl_placer_ahead_ns(const struct tsl_placer *placer, uint64_t kernel)
{
    return placer->model ? tsl_model_ahead_ns(placer->model, kernel) : 0;
}

double tsl_placer_whole_ns(struct tsl_placer *placer, const struct tsl_ask *ask)
{
    struct tsl_whole whole = placer->model && ask->by == TSL_PLACE_BY_SETTINGS ? tsl_auto_whole(placer, ask)
                                                                               : (struct tsl_whole){.known = false};
    return whole.known ? whole.run_ns : 0;
}

double tsl_placer_program_ahead_ns(const struct tsl_placer *placer)
{
    return tsl_placer_ahead_ns(placer, placer->program);
}

void tsl_placer_set_density(struct tsl_placer *placer, uint64_t kernel, uint64_t size, unsigned dimension,
                            const struct tsl_density *work)
{
    if (placer->model)
        tsl_model_set_density(placer->model, kernel, size, dimension, work);
}

bool tsl_placer_density(const struct tsl_placer *placer, uint64_t kernel, uint64_t size, unsigned *dimension,
                        struct tsl_density *work)
{
    return placer->model && tsl_model_density(placer->model, kernel, size, dimension, work);
}

/* Each kind has a key of its own: kinds aren't compared by how long they take to open. */
static uint64_t opening_key(const struct tsl_placer *placer, unsigned member)
{
    const uint64_t sums[] = {tsl_bytes_sum("opening", 7), placer->kind[member]};

    return tsl_bytes_sum(sums, sizeof(sums));
}

double tsl_placer_opening_ns(const struct tsl_placer *placer, unsigned member)
{
    return placer->model ? tsl_model_run(placer->model, placer->kind[member], opening_key(placer, member), 1).ns : 0;
}

void tsl_placer_opened(struct tsl_placer *placer, unsigned member, uint64_t ns)
{
    if (placer->model)
        tsl_model_ran(placer->model, placer->kind[member], opening_key(placer, member), 1, (double)ns);
}

/* placer->n: there is none among them. */
static unsigned fastest(const struct tsl_placer *placer, tsl_members among)
{
    unsigned best = placer->n;

    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_members_has(among, i) && (best == placer->n || tsl_placer_faster(placer, i, best)))
            best = i;
    return best;
}

/* Without those that are much slower than the fastest. */
static tsl_members near_to_fastest(const struct tsl_placer *placer, tsl_members among)
{
    unsigned best = fastest(placer, among);

    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_members_has(among, i) && i != best && placer->speed[best] >= placer->speed[i] * TSL_MUCH_FASTER)
            tsl_members_remove(&among, i);
    return among;
}

int tsl_placer_likely(const struct tsl_placer *placer, tsl_members among)
{
    tsl_members left = near_to_fastest(placer, among);

    return tsl_members_count(left) == 1 ? (int)tsl_members_first(left) : -1;
}

tsl_members tsl_placer_likely_peers(const struct tsl_placer *placer, tsl_members among)
{
    unsigned best = fastest(placer, among);
    tsl_members left = near_to_fastest(placer, among);

    if (best == placer->n || !placer->domain[best] || tsl_members_count(left) < 2)
        return TSL_MEMBERS_NONE;
    for (unsigned i = 0; i < placer->n; i++)
        if (tsl_members_has(left, i) && placer->domain[i] != placer->domain[best])
            return TSL_MEMBERS_NONE;
    return left;
}

int tsl_placer_idlest(const struct tsl_placer *placer, tsl_members among, uint64_t now_ns)
{
    unsigned best = fastest(placer, among);

    for (unsigned i = 0; i < placer->n && best < placer->n; i++)
        if (tsl_members_has(among, i) && tsl_busy_ns(placer, i, now_ns) < tsl_busy_ns(placer, best, now_ns))
            best = i;
    return best < placer->n ? (int)best : -1;
}

static tsl_choose_fn *choose_by(const struct tsl_placer *placer, const struct tsl_ask *ask)
{
    switch (ask->by) {
    case TSL_PLACE_BY_EAGER:
        return tsl_place_eager;
    case TSL_PLACE_BY_FASTEST:
        return tsl_place_fastest;
    case TSL_PLACE_BY_ROUND_ROBIN:
        return tsl_place_round_robin;
    default:
        return placer->choose;
    }
}

/* Leaves only the member eligible where short launches are kept together (apart.c). Of a kernel whose times there
 * nobody knows that can't be told. */
static void keep_together(struct tsl_placer *placer, struct tsl_ask *ask, struct tsl_candidate kept[TSL_MAX_MEMBERS])
{
    unsigned home = placer->apart.home;

    if (choose_by(placer, ask) != tsl_place_auto)
        return;
    tsl_apart_asked(placer, ask);
    if (!tsl_apart_holds(placer) ||
        !tsl_model_run(placer->model, placer->kind[home], tsl_kernel_known_as(ask, home), ask->size).n_samples)
        return;
    if (ask->candidates != kept)
        memcpy(kept, ask->candidates, placer->n * sizeof(*kept));
    for (unsigned i = 0; i < placer->n; i++)
        kept[i].eligible &= tsl_apart_allows(placer, i);
    ask->candidates = kept;
}

void tsl_placer_choose(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_placement *placement)
{
    struct tsl_candidate kept[TSL_MAX_MEMBERS];
    struct tsl_ask narrowed = *ask;

    *placement = (struct tsl_placement){.later = false};
    tsl_placer_narrow(placer, &narrowed, kept);
    placer->apart.has_choice = false;
    keep_together(placer, &narrowed, kept);
    choose_by(placer, &narrowed)(placer, &narrowed, placement);
    if (ask->by != TSL_PLACE_BY_SETTINGS && placer->model && !placement->placed && !placement->later)
        tsl_auto_book(placer, &narrowed, placement);
}

/* Launches that further members would be no help for make what is known of earlier runs fade. */
#define NEXT_TO_NOTHING_NS 1.0

/* What the launch took for which nobody will care should it be small: neither cuts nor further members pay for it. */
static void note_spent(struct tsl_placer *placer, const struct tsl_placement *placement, const struct tsl_ended *ended)
{
    double ns = ended->ran_ns ? (double)ended->ran_ns : placement->known ? placement->run_ns : 0;

    if (!placement->part && ns < TSL_COUNTS_FROM_NS)
        return;
    ns = ended->lone ? NEXT_TO_NOTHING_NS : ns;
    tsl_model_spent(placer->model, ended->kernel, ns);
    tsl_model_spent(placer->model, placer->program, ns);
}

enum tsl_by_windows tsl_placer_windows(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned n_chained,
                                       bool tries)
{
    struct tsl_candidate kept[TSL_MAX_MEMBERS];
    struct tsl_ask narrowed = *ask;

    if (!placer->model || ask->by != TSL_PLACE_BY_SETTINGS)
        return TSL_BY_WINDOWS_NO;
    tsl_placer_narrow(placer, &narrowed, kept);
    return tsl_auto_windows(placer, &narrowed, n_chained, tries);
}

void tsl_placer_windows_ended(struct tsl_placer *placer, const struct tsl_ask *ask, unsigned member, unsigned n_chained,
                              uint64_t ns)
{
    if (placer->model)
        tsl_auto_windows_ended(placer, ask, member, n_chained, ns);
}

void tsl_placer_done(struct tsl_placer *placer, struct tsl_placement *placement, const struct tsl_ended *ended)
{
    if (!placement->placed)
        return;
    tsl_load_remove(&placer->load[placement->member], placement, ended);
    placement->placed = false;
    if (placer->trying == ended->kernel)
        placer->trying = 0;
    if (!placer->model)
        return;
    tsl_auto_done(placer, placement, ended);
    tsl_pace_ended(placer, placement, ended);
    if (ended->ran_ns && !placement->known && !placement->part)
        tsl_gains_ended(placer, (double)ended->ran_ns);
    note_spent(placer, placement, ended);
    if (ended->ran_ns)
        tsl_model_ran(placer->model, placer->kind[placement->member], ended->kernel, ended->size,
                      (double)ended->ran_ns);
    if (ended->ran_ns && placement->part)
        tsl_model_ran(placer->model, placer->kind[placement->member], tsl_part_key(ended->kernel), ended->size,
                      (double)ended->ran_ns);
}

static uint64_t kind_of_space(const struct tsl_placer *placer, unsigned space)
{
    return space ? placer->kind[space - 1] : TSL_KIND_HOST;
}

/* Links of a domain are by far quicker than others. */
#define DOMAIN_BANDWIDTH 1e11 /* bytes a second, before large moves over one were measured */

static bool are_of_one_domain(const struct tsl_placer *placer, unsigned from, unsigned to)
{
    return from && to && placer->domain[from - 1] && placer->domain[from - 1] == placer->domain[to - 1];
}

double tsl_placer_move_ns(struct tsl_placer *placer, unsigned from, unsigned to, uint64_t size)
{
    uint64_t kind_from = kind_of_space(placer, from), kind_to = kind_of_space(placer, to);

    return tsl_model_move_ns(placer->model, kind_from, kind_to, size,
                             are_of_one_domain(placer, from, to) ? DOMAIN_BANDWIDTH : 0);
}

#define ENOUGH_MOVES 3 /* samples of a class: from then on only some moves are timed */
#define TIMED_IN     32

bool tsl_placer_wants_move(struct tsl_placer *placer, unsigned from, unsigned to, uint64_t size)
{
    if (!placer->model)
        return false;
    return ++placer->n_moves % TIMED_IN == 0 || tsl_model_n_moves(placer->model, kind_of_space(placer, from),
                                                                  kind_of_space(placer, to), size) < ENOUGH_MOVES;
}

void tsl_placer_moved(struct tsl_placer *placer, unsigned from, unsigned to, uint64_t size, uint64_t ns)
{
    if (placer->model)
        tsl_model_moved(placer->model, kind_of_space(placer, from), kind_of_space(placer, to), size, (double)ns);
}

/* ---- Work in one memory ---- */

/* Before anything was measured: bytes a nanosecond. */
#define DEFAULT_GPU_RATE 300.0
#define DEFAULT_RATE     3.0
#define DEFAULT_START_NS 2e4

double tsl_placer_work_ns(struct tsl_placer *placer, unsigned member, enum tsl_work work, uint64_t size)
{
    uint64_t kind = placer->kind[member];
    double rate = placer->is_gpu[member] ? DEFAULT_GPU_RATE : DEFAULT_RATE;

    if (!placer->model || !tsl_model_knows_move(placer->model, kind, TSL_KIND_WORK + work))
        return DEFAULT_START_NS + (double)size / rate;
    return tsl_model_move_ns(placer->model, kind, TSL_KIND_WORK + work, size, rate * 1e9);
}

bool tsl_placer_wants_work(struct tsl_placer *placer, unsigned member, enum tsl_work work, uint64_t size)
{
    if (!placer->model)
        return false;
    return ++placer->n_moves % TIMED_IN == 0 ||
           tsl_model_n_moves(placer->model, placer->kind[member], TSL_KIND_WORK + work, size) < ENOUGH_MOVES;
}

void tsl_placer_worked(struct tsl_placer *placer, unsigned member, enum tsl_work work, uint64_t size, uint64_t ns)
{
    if (placer->model)
        tsl_model_moved(placer->model, placer->kind[member], TSL_KIND_WORK + work, size, (double)ns);
}

struct tsl_model *tsl_placer_unkept(struct tsl_placer *placer, uint64_t now_ns)
{
    return placer->model && tsl_model_is_due(placer->model, now_ns) ? placer->model : NULL;
}
