#include "graph/time_tiles.h"

#include <stdlib.h>
#include <string.h>

/* A launch is looked at in so many tiles, of which the middle one is as most are, to see what tiles need. */
#define PILOT_TILES 3u
/* Tiles are made narrower so often, by such a part, until the first ones fit, and later for each that doesn't. */
#define ATTEMPTS 6u
#define NARROWER 0.85
/* A round begins when so many tiles of the one before are home. */
#define LATE_TILES 2
/* Where members take turns tiles are so many at least, if there are so many groups. */
#define TILES_IN_TURNS 24.0
/* All data's way to the member is thought to take as long as so many launches of which nothing is known. */
#define MOVES_AS 32
/* So many of the first tiles are tried. */
#define TRIED_TILES 2u
/* In two of so many tiles it is asked whether launches need not stay as far behind as they do. */
#define SEARCH_EVERY 8u

void tsl_hull_add(struct tsl_hull *hull, uint64_t begin, uint64_t end)
{
    if (begin == end)
        return;
    bool first = tsl_hull_is_empty(hull);
    hull->begin = first || begin < hull->begin ? begin : hull->begin;
    hull->end = first || end > hull->end ? end : hull->end;
}

static bool meet(const struct tsl_hull *a, const struct tsl_hull *b)
{
    return a->begin < b->end && b->begin < a->end;
}

struct tsl_time_tiles {
    const struct tsl_time_tiles_ask *ask;
    unsigned depth;                  /* launches */
    uint64_t width;                  /* of a tile: the first launch's groups */
    unsigned n_tiles, most_tiles;    /* that were made; then launches go on one by one */
    uint64_t *done;                  /* by launch: groups that have run */
    uint64_t *lag;                   /* ... and how many fewer than the one before it let it, in the last tile */
    uint64_t *old_done, *old_lag;    /* the same before the last tile */
    uint64_t *sizes;                 /* by launch: bytes of the slices when the tile ended with it */
    struct tsl_hull *reads, *writes; /* by object, of one window */
    struct tsl_hull *rest_reads, *rest_writes; /* ... of what has not run of all launches before one */
    struct tsl_hull *slices;                   /* ... of all windows of the tile */
    bool alone;                                /* the launches go on one by one */
    bool failed;
};

void tsl_time_tiles_destroy(struct tsl_time_tiles *m)
{
    if (!m)
        return;
    free(m->done);
    free(m->reads);
    free(m);
}

static struct tsl_time_tiles *create(const struct tsl_time_tiles_ask *ask)
{
    unsigned n = ask->n_launches, objects = ask->n_objects;
    struct tsl_time_tiles *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->ask = ask;
    m->done = calloc(5 * (size_t)n, sizeof(*m->done));
    m->reads = calloc(5 * (size_t)objects, sizeof(*m->reads));
    if (!m->done || !m->reads) {
        tsl_time_tiles_destroy(m);
        return NULL;
    }
    m->lag = m->done + n;
    m->old_done = m->lag + n;
    m->old_lag = m->old_done + n;
    m->sizes = m->old_lag + n;
    m->writes = m->reads + objects;
    m->rest_reads = m->writes + objects;
    m->rest_writes = m->rest_reads + objects;
    m->slices = m->rest_writes + objects;
    return m;
}

/* ---- What may run ------------------------------------------------------------------------------------------------ */

static void look(struct tsl_time_tiles *m, unsigned launch, uint64_t from, uint64_t to)
{
    memset(m->reads, 0, 2 * m->ask->n_objects * sizeof(*m->reads));
    if (!m->ask->touch(m->ask->arg, launch, from, to, m->reads, m->writes))
        m->failed = true;
}

/* May the launch's next groups, up to `to`, run before the rest of the launches before it? Leaves what they touch. */
static bool is_legal(struct tsl_time_tiles *m, unsigned launch, uint64_t to)
{
    look(m, launch, m->done[launch], to);
    for (unsigned o = 0; o < m->ask->n_objects; o++)
        if (meet(&m->writes[o], &m->rest_writes[o]) || meet(&m->writes[o], &m->rest_reads[o]) ||
            meet(&m->reads[o], &m->rest_writes[o]))
            return false;
    return true;
}

/* Where the launch stands if it stays as far behind as in the tile before; in the first one, as the launch before the
 * one before: launches often go to and fro. */
static uint64_t guess_of(const struct tsl_time_tiles *m, unsigned launch, uint64_t most)
{
    uint64_t lag = m->lag[m->n_tiles || launch < 2 ? launch : launch - 2];
    return most > lag ? most - lag : 0;
}

/* As far as is legal, by tries that go out from the guess ever farther. */
static uint64_t search(struct tsl_time_tiles *m, unsigned launch, uint64_t most, uint64_t guess)
{
    uint64_t good = m->done[launch], bad = most + 1, looked = good;
    for (uint64_t step = 1; bad - good > 1 && !m->failed; step *= 2) {
        if (guess <= good || guess >= bad)
            guess = good + (bad - good) / 2;
        looked = guess;
        if (is_legal(m, launch, guess)) {
            good = guess;
            guess += step;
        } else {
            bad = guess;
            guess -= step < guess ? step : guess;
        }
    }
    if (good > m->done[launch] && looked != good)
        look(m, launch, m->done[launch], good);
    return good;
}

/* As far as the launch may come, at most to `most`; as far as it was if it can't go on. Leaves what its window touches.
 * How far it stays behind is looked for in the first tiles, and now and then. */
static uint64_t farthest(struct tsl_time_tiles *m, unsigned launch, uint64_t most)
{
    uint64_t guess = guess_of(m, launch, most), to;
    if (m->done[launch] == most)
        return most;
    if (most == m->ask->groups[launch] && is_legal(m, launch, most))
        to = most;
    else if (m->n_tiles % SEARCH_EVERY > 1 && guess > m->done[launch] && is_legal(m, launch, guess))
        to = guess;
    else
        to = search(m, launch, most, guess);
    m->lag[launch] = most - to;
    return to;
}

/* No launch comes farther in its work than the one before: else one that needs nothing of the others would take all the
 * room. */
static uint64_t most_of(const struct tsl_time_tiles *m, unsigned launch)
{
    const uint64_t *groups = m->ask->groups;
    double part = (double)m->done[launch - 1] / (double)groups[launch - 1];
    uint64_t most = (uint64_t)(part * (double)groups[launch] + 0.5);
    if (m->done[launch - 1] == groups[launch - 1] || most > groups[launch])
        most = groups[launch];
    return most > m->done[launch] ? most : m->done[launch];
}

/* ---- One tile ---------------------------------------------------------------------------------------------------- */

static uint64_t size_of_slices(struct tsl_time_tiles *m)
{
    uint64_t size = 0, align = m->ask->align;
    for (unsigned o = 0; o < m->ask->n_objects; o++) {
        struct tsl_hull *slice = &m->slices[o];
        if (m->ask->sliced[o] && !tsl_hull_is_empty(slice))
            size += (slice->end + align - 1) / align * align - slice->begin / align * align;
    }
    return size;
}

static void add_window(struct tsl_time_tiles *m)
{
    for (unsigned o = 0; o < m->ask->n_objects; o++) {
        tsl_hull_add(&m->slices[o], m->reads[o].begin, m->reads[o].end);
        tsl_hull_add(&m->slices[o], m->writes[o].begin, m->writes[o].end);
    }
}

static void add_rest(struct tsl_time_tiles *m, unsigned launch)
{
    if (m->done[launch] == m->ask->groups[launch])
        return;
    look(m, launch, m->done[launch], m->ask->groups[launch]);
    for (unsigned o = 0; o < m->ask->n_objects; o++) {
        tsl_hull_add(&m->rest_reads[o], m->reads[o].begin, m->reads[o].end);
        tsl_hull_add(&m->rest_writes[o], m->writes[o].begin, m->writes[o].end);
    }
}

static void begin_tile(struct tsl_time_tiles *m)
{
    memcpy(m->old_done, m->done, 2 * m->ask->n_launches * sizeof(*m->done)); /* and lag */
    memset(m->slices, 0, m->ask->n_objects * sizeof(*m->slices));
}

static void take_back(struct tsl_time_tiles *m)
{
    memcpy(m->done, m->old_done, 2 * m->ask->n_launches * sizeof(*m->done)); /* and lag */
}

/* The first launch goes on by `width` groups. */
static void run_tile(struct tsl_time_tiles *m, uint64_t width)
{
    begin_tile(m);
    memset(m->rest_reads, 0, 2 * m->ask->n_objects * sizeof(*m->rest_reads)); /* and rest_writes */
    for (unsigned j = 0; j < m->depth && !m->failed; j++) {
        uint64_t left = m->ask->groups[j] - m->done[j];
        uint64_t to = j ? farthest(m, j, most_of(m, j)) : m->done[j] + (width < left ? width : left);
        if (!j && to > m->done[j])
            look(m, j, m->done[j], to);
        if (to > m->done[j])
            add_window(m);
        m->done[j] = to;
        m->sizes[j] = size_of_slices(m);
        if (j + 1 < m->depth)
            add_rest(m, j);
    }
}

static void restart(struct tsl_time_tiles *m, unsigned depth, uint64_t width)
{
    m->depth = depth;
    m->width = width;
    m->n_tiles = 0;
    m->most_tiles = tsl_time_tiles_expected(m) * 5 / 4 + 4;
    memset(m->done, 0, 2 * m->ask->n_launches * sizeof(*m->done)); /* and lag */
}

static bool fits(const struct tsl_time_tiles *m)
{
    return m->sizes[m->depth - 1] <= m->ask->area_size;
}

/* ---- One launch after the other ---------------------------------------------------------------------------------- */

/* The first launch that hasn't run goes on, up to `to`. Does that fit? */
static bool run_alone(struct tsl_time_tiles *m, unsigned launch, uint64_t to)
{
    memset(m->slices, 0, m->ask->n_objects * sizeof(*m->slices));
    look(m, launch, m->done[launch], to);
    add_window(m);
    return size_of_slices(m) <= m->ask->area_size;
}

static void go_on_alone(struct tsl_time_tiles *m, unsigned launch)
{
    uint64_t good = m->done[launch], bad = m->ask->groups[launch] + 1, to = bad - 1;
    begin_tile(m);
    for (; bad - good > 1; to = good + (bad - good) / 2)
        *(run_alone(m, launch, to) ? &good : &bad) = to;
    m->failed |= good == m->done[launch];
    if (!m->failed)
        run_alone(m, launch, good);
    m->done[launch] = good;
}

/* ---- Tile by tile ------------------------------------------------------------------------------------------------ */

static unsigned first_left(const struct tsl_time_tiles *m)
{
    unsigned j = 0;
    while (j < m->depth && m->done[j] == m->ask->groups[j])
        j++;
    return j;
}

/* The first tile and the last ones are narrower: nothing runs while the first one's bytes come, and the last one's go.
 */
static uint64_t width_of_next(const struct tsl_time_tiles *m)
{
    uint64_t left = m->ask->groups[0] - m->done[0], half = (m->width + 1) / 2;
    if (m->n_tiles == 0)
        return half;
    return left < m->width + half ? (left / 2 > half / 2 ? left / 2 : left) : m->width;
}

static bool go_on_together(struct tsl_time_tiles *m)
{
    for (unsigned i = 0; i < ATTEMPTS && m->width; i++) {
        run_tile(m, width_of_next(m));
        if (fits(m))
            return true;
        take_back(m);
        m->width = (uint64_t)((double)m->width * NARROWER);
    }
    return false;
}

enum tsl_time_tiles_next tsl_time_tiles_go_on(struct tsl_time_tiles *m)
{
    unsigned left = first_left(m);
    if (left == m->depth)
        return TSL_TIME_TILES_OVER;
    if (!m->alone)
        m->alone = m->n_tiles == m->most_tiles || !go_on_together(m);
    if (m->alone && !m->failed)
        go_on_alone(m, left);
    m->n_tiles++;
    return m->failed ? TSL_TIME_TILES_FAILED : TSL_TIME_TILES_NEXT;
}

uint64_t tsl_time_tiles_from(const struct tsl_time_tiles *m, unsigned launch)
{
    return m->old_done[launch];
}

uint64_t tsl_time_tiles_to(const struct tsl_time_tiles *m, unsigned launch)
{
    return m->done[launch];
}

struct tsl_hull tsl_time_tiles_slice(const struct tsl_time_tiles *m, unsigned object)
{
    struct tsl_hull slice = m->slices[object];
    if (!m->ask->sliced[object] || tsl_hull_is_empty(&slice))
        return (struct tsl_hull){0, 0};
    slice.begin -= slice.begin % m->ask->align;
    return slice;
}

unsigned tsl_time_tiles_launches(const struct tsl_time_tiles *m)
{
    return m->depth;
}

uint64_t tsl_time_tiles_width(const struct tsl_time_tiles *m)
{
    return m->width;
}

unsigned tsl_time_tiles_expected(const struct tsl_time_tiles *m)
{
    return (unsigned)((m->ask->groups[0] + m->width - 1) / m->width);
}

unsigned tsl_time_tiles_most_windows(const struct tsl_time_tiles *m, unsigned launch)
{
    return m->most_tiles + m->ask->windows[launch];
}

/* ---- How wide and how deep --------------------------------------------------------------------------------------- */

/* What the launches are, seen in a few wide tiles. */
struct pilot {
    uint64_t width;
    uint64_t *sizes;       /* by launch: bytes of the middle tile if it ended with that launch */
    double bytes_of_group; /* of the first launch, by what all launches have together */
    double data_size;      /* of all sliced objects, what the launches touch */
};

static void fly(struct tsl_time_tiles *m, struct pilot *pilot)
{
    const struct tsl_time_tiles_ask *ask = m->ask;
    pilot->width = (ask->groups[0] + PILOT_TILES - 1) / PILOT_TILES;
    restart(m, ask->n_launches, pilot->width);
    for (; m->n_tiles <= PILOT_TILES / 2; m->n_tiles++)
        run_tile(m, pilot->width);
    memcpy(pilot->sizes, m->sizes, ask->n_launches * sizeof(*pilot->sizes));
    memset(m->slices, 0, ask->n_objects * sizeof(*m->slices));
    for (unsigned j = 0; j < ask->n_launches && !m->failed; j++) {
        look(m, j, 0, ask->groups[j]);
        add_window(m);
    }
    pilot->data_size = (double)size_of_slices(m);
    pilot->bytes_of_group = pilot->data_size / (double)ask->groups[0];
}

/* Groups of the first launch in a tile of that depth, so that it fits an area; below 1: none does. */
static double width_for(const struct tsl_time_tiles_ask *ask, const struct pilot *pilot, unsigned depth)
{
    double room = (double)ask->area_size - (double)pilot->sizes[depth - 1];
    double width = (double)pilot->width + room / pilot->bytes_of_group, most = (double)ask->groups[0];
    if (ask->n_members > 1)
        most /= TILES_IN_TURNS;
    return width > most ? most : width;
}

/* One round, with such a part of all work. While bytes move others are worked on. */
static double round_ns(const struct tsl_time_tiles_ask *ask, const struct pilot *pilot, double width, double part)
{
    double run_ns = 0, n_tiles = (double)ask->groups[0] / width,
           unknown_ns = pilot->data_size * ask->move_ns / MOVES_AS;
    for (unsigned j = 0; j < ask->n_launches; j++)
        run_ns += ask->launch_ns && ask->launch_ns[j] > 0 ? ask->launch_ns[j] : unknown_ns;
    double carried = (double)ask->area_size - width * pilot->bytes_of_group;
    double move_ns = pilot->data_size * ask->move_ns;
    double carry_ns = n_tiles * (carried > 0 ? carried : 0) * ask->carry_ns;
    double work_ns = part * run_ns + carry_ns + n_tiles * part * ask->n_launches * ask->window_ns;
    return (move_ns > work_ns ? move_ns : work_ns) + (move_ns < work_ns ? move_ns : work_ns) / (n_tiles + 1);
}

/* How long all launches take in rounds of that depth. */
static double cost_of(const struct tsl_time_tiles_ask *ask, const struct pilot *pilot, unsigned depth)
{
    double width = width_for(ask, pilot, depth);
    if (width < 1)
        return -1;
    unsigned rounds = (ask->n_launches + depth - 1) / depth, turns = (rounds + ask->n_members - 1) / ask->n_members;
    unsigned late = (rounds < ask->n_members ? rounds : ask->n_members) - 1;
    double each_ns = round_ns(ask, pilot, width, 1.0 / rounds);
    return turns * each_ns + late * LATE_TILES * each_ns * width / (double)ask->groups[0];
}

/* The depth at which all launches take least, so that the rounds are alike; 1: no tiles. */
static unsigned best_depth(const struct tsl_time_tiles_ask *ask, const struct pilot *pilot, unsigned most)
{
    unsigned best = 1;
    double least = cost_of(ask, pilot, 1);
    for (unsigned rounds = (ask->n_launches + most - 1) / most; rounds < ask->n_launches; rounds++) {
        unsigned depth = (ask->n_launches + rounds - 1) / rounds;
        double cost = depth > 1 ? cost_of(ask, pilot, depth) : -1;
        if (cost >= 0 && (least < 0 || cost < least)) {
            least = cost;
            best = depth;
        }
    }
    return best;
}

/* Chooses a width of which the first tiles fit; false: there is none. */
static bool choose_width(struct tsl_time_tiles *m, const struct pilot *pilot, unsigned depth)
{
    double width = width_for(m->ask, pilot, depth);
    for (unsigned i = 0; i < ATTEMPTS && width >= 1 && !m->failed; i++, width *= NARROWER) {
        bool fit = true;
        uint64_t n_tiles = (uint64_t)((double)m->ask->groups[0] / width + 0.999);
        restart(m, depth, (m->ask->groups[0] + n_tiles - 1) / n_tiles);
        for (; m->n_tiles < TRIED_TILES && m->n_tiles < n_tiles && fit; m->n_tiles++) {
            run_tile(m, m->width);
            fit = fits(m);
        }
        if (fit) {
            restart(m, depth, m->width);
            return true;
        }
    }
    return false;
}

static enum tsl_time_tiles_end choose(struct tsl_time_tiles *m, struct pilot *pilot)
{
    if (m->ask->width) {
        restart(m, m->ask->depth, m->ask->width);
        return TSL_TIME_TILES_MADE;
    }
    fly(m, pilot);
    unsigned n = m->ask->n_launches, wanted = m->ask->depth < n ? m->ask->depth : n;
    unsigned depth = m->failed || pilot->data_size <= 0 ? 1 : wanted > 1 ? wanted : best_depth(m->ask, pilot, n);
    for (; depth > 1 && !m->failed; depth = best_depth(m->ask, pilot, depth - 1)) {
        if (choose_width(m, pilot, depth))
            return m->failed ? TSL_TIME_TILES_NO_MEMORY : TSL_TIME_TILES_MADE;
        if (depth == 2)
            break;
        depth = depth / 2 + 1;
    }
    return m->failed ? TSL_TIME_TILES_NO_MEMORY : TSL_TIME_TILES_DONT_PAY;
}

enum tsl_time_tiles_end tsl_time_tiles_create(const struct tsl_time_tiles_ask *ask, struct tsl_time_tiles **tiles)
{
    struct pilot pilot = {.sizes = calloc(ask->n_launches, sizeof(*pilot.sizes))};
    struct tsl_time_tiles *m = create(ask);
    enum tsl_time_tiles_end end = m && pilot.sizes ? choose(m, &pilot) : TSL_TIME_TILES_NO_MEMORY;
    free(pilot.sizes);
    if (end != TSL_TIME_TILES_MADE) {
        tsl_time_tiles_destroy(m);
        m = NULL;
    }
    *tiles = m;
    return end;
}
