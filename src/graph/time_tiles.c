#include "graph/time_tiles.h"

#include <stdlib.h>
#include <string.h>

/* A launch is looked at in so many tiles, of which the middle one is as most are, to see what tiles need. */
#define PILOT_TILES 3u
/* Tiles are made narrower so often until all of them fit. */
#define ATTEMPTS 6u
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

/* Tiles on their way. */
struct making {
    const struct tsl_time_tiles_ask *ask;
    unsigned depth;                  /* launches */
    unsigned n_tiles;                /* that were made */
    uint64_t *done;                  /* by launch: groups that have run */
    uint64_t *lag;                   /* ... and how many fewer than the one before it let it, in the last tile */
    struct tsl_hull *reads, *writes; /* by object, of one window */
    struct tsl_hull *rest_reads, *rest_writes; /* ... of what has not run of all launches before one */
    struct tsl_hull *slices;                   /* ... of all windows of the tile */
    uint64_t *sizes;                           /* by launch: bytes of the slices when the tile ended with it */
    bool failed;                               /* no memory */
};

static void finish(struct making *m)
{
    free(m->done);
    free(m->reads);
}

static bool begin(struct making *m, const struct tsl_time_tiles_ask *ask)
{
    unsigned n = ask->n_launches, objects = ask->n_objects;
    *m = (struct making){.ask = ask};
    m->done = calloc(3 * (size_t)n, sizeof(*m->done));
    m->reads = calloc(5 * (size_t)objects, sizeof(*m->reads));
    if (!m->done || !m->reads) {
        finish(m);
        return false;
    }
    m->lag = m->done + n;
    m->sizes = m->lag + n;
    m->writes = m->reads + objects;
    m->rest_reads = m->writes + objects;
    m->rest_writes = m->rest_reads + objects;
    m->slices = m->rest_writes + objects;
    return true;
}

/* ---- What may run ------------------------------------------------------------------------------------------------ */

static void look(struct making *m, unsigned launch, uint64_t from, uint64_t to)
{
    memset(m->reads, 0, 2 * m->ask->n_objects * sizeof(*m->reads));
    if (!m->ask->touch(m->ask->arg, launch, from, to, m->reads, m->writes))
        m->failed = true;
}

/* May the launch's next groups, up to `to`, run before the rest of the launches before it? Leaves what they touch. */
static bool is_legal(struct making *m, unsigned launch, uint64_t to)
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
static uint64_t guess_of(const struct making *m, unsigned launch, uint64_t most)
{
    uint64_t lag = m->lag[m->n_tiles || launch < 2 ? launch : launch - 2];
    return most > lag ? most - lag : 0;
}

/* As far as is legal, by tries that go out from the guess ever farther. */
static uint64_t search(struct making *m, unsigned launch, uint64_t most, uint64_t guess)
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
static uint64_t farthest(struct making *m, unsigned launch, uint64_t most)
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
static uint64_t most_of(const struct making *m, unsigned launch)
{
    const uint64_t *groups = m->ask->groups;
    double part = (double)m->done[launch - 1] / (double)groups[launch - 1];
    uint64_t most = (uint64_t)(part * (double)groups[launch] + 0.5);
    if (m->done[launch - 1] == groups[launch - 1] || most > groups[launch])
        most = groups[launch];
    return most > m->done[launch] ? most : m->done[launch];
}

/* ---- One tile ---------------------------------------------------------------------------------------------------- */

static uint64_t size_of_slices(struct making *m)
{
    uint64_t size = 0, align = m->ask->align;
    for (unsigned o = 0; o < m->ask->n_objects; o++) {
        struct tsl_hull *slice = &m->slices[o];
        if (m->ask->sliced[o] && !tsl_hull_is_empty(slice))
            size += (slice->end + align - 1) / align * align - slice->begin / align * align;
    }
    return size;
}

static void add_window(struct making *m)
{
    for (unsigned o = 0; o < m->ask->n_objects; o++) {
        tsl_hull_add(&m->slices[o], m->reads[o].begin, m->reads[o].end);
        tsl_hull_add(&m->slices[o], m->writes[o].begin, m->writes[o].end);
    }
}

static void add_rest(struct making *m, unsigned launch)
{
    if (m->done[launch] == m->ask->groups[launch])
        return;
    look(m, launch, m->done[launch], m->ask->groups[launch]);
    for (unsigned o = 0; o < m->ask->n_objects; o++) {
        tsl_hull_add(&m->rest_reads[o], m->reads[o].begin, m->reads[o].end);
        tsl_hull_add(&m->rest_writes[o], m->writes[o].begin, m->writes[o].end);
    }
}

/* The first launch goes on by `width` groups. */
static void run_tile(struct making *m, uint64_t width)
{
    unsigned objects = m->ask->n_objects;
    memset(m->rest_reads, 0, 3 * objects * sizeof(*m->rest_reads)); /* and rest_writes, slices */
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
    m->n_tiles++;
}

static void restart(struct making *m, unsigned depth)
{
    m->depth = depth;
    m->n_tiles = 0;
    memset(m->done, 0, 2 * m->ask->n_launches * sizeof(*m->done)); /* and lag */
}

/* ---- All tiles --------------------------------------------------------------------------------------------------- */

static bool reserve(struct tsl_time_tiles *tiles, const struct making *m, uint64_t width)
{
    tiles->n = (unsigned)((m->ask->groups[0] + width - 1) / width);
    tiles->n_launches = m->depth;
    tiles->n_objects = m->ask->n_objects;
    tiles->ends = calloc((size_t)tiles->n * tiles->n_launches, sizeof(*tiles->ends));
    tiles->slices = calloc((size_t)tiles->n * tiles->n_objects, sizeof(*tiles->slices));
    return tiles->ends && tiles->slices;
}

static void keep_tile(const struct making *m, struct tsl_time_tiles *tiles, unsigned t)
{
    memcpy(&tiles->ends[t * tiles->n_launches], m->done, m->depth * sizeof(*m->done));
    for (unsigned o = 0; o < tiles->n_objects; o++) {
        struct tsl_hull *slice = &tiles->slices[t * tiles->n_objects + o];
        if (!m->ask->sliced[o] || tsl_hull_is_empty(&m->slices[o]))
            continue;
        *slice = m->slices[o];
        slice->begin -= slice->begin % m->ask->align;
    }
}

enum fit { FITS, TOO_WIDE, NO_MEMORY };

static enum fit fill(struct making *m, struct tsl_time_tiles *tiles, unsigned depth, uint64_t width)
{
    restart(m, depth);
    if (!reserve(tiles, m, width))
        return NO_MEMORY;
    for (unsigned t = 0; t < tiles->n; t++) {
        run_tile(m, width);
        if (m->failed)
            return NO_MEMORY;
        if (m->sizes[depth - 1] > m->ask->area_size)
            return TOO_WIDE;
        keep_tile(m, tiles, t);
    }
    return FITS;
}

void tsl_time_tiles_finish(struct tsl_time_tiles *tiles)
{
    free(tiles->ends);
    free(tiles->slices);
    *tiles = (struct tsl_time_tiles){.n = 0};
}

/* ---- How wide and how deep --------------------------------------------------------------------------------------- */

/* What the launches are, seen in a few wide tiles. */
struct pilot {
    uint64_t width;
    uint64_t *sizes;       /* by launch: bytes of the middle tile if it ended with that launch */
    double bytes_of_group; /* of the first launch, by what all launches have together */
    double data_size;      /* of all sliced objects, what the launches touch */
};

static void fly(struct making *m, struct pilot *pilot)
{
    const struct tsl_time_tiles_ask *ask = m->ask;
    restart(m, ask->n_launches);
    pilot->width = (ask->groups[0] + PILOT_TILES - 1) / PILOT_TILES;
    for (unsigned t = 0; t <= PILOT_TILES / 2; t++)
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
    double width = (double)pilot->width + room / pilot->bytes_of_group;
    return width > (double)ask->groups[0] ? (double)ask->groups[0] : width;
}

/* How long all launches take in rounds of that depth. While bytes move others are worked on. */
static double cost_of(const struct tsl_time_tiles_ask *ask, const struct pilot *pilot, unsigned depth)
{
    double width = width_for(ask, pilot, depth), run_ns = 0;
    if (width < 1)
        return -1;
    for (unsigned j = 0; j < ask->n_launches; j++)
        run_ns += ask->launch_ns ? ask->launch_ns[j] : 0;
    double rounds = (double)((ask->n_launches + depth - 1) / depth), n_tiles = (double)ask->groups[0] / width;
    double carried = (double)ask->area_size - width * pilot->bytes_of_group;
    double move_ns = rounds * pilot->data_size * ask->move_ns;
    double carry_ns = rounds * n_tiles * (carried > 0 ? carried : 0) * ask->carry_ns;
    double work_ns = run_ns + carry_ns + n_tiles * ask->n_launches * ask->window_ns;
    return (move_ns > work_ns ? move_ns : work_ns) + (move_ns < work_ns ? move_ns : work_ns) / (n_tiles + 1);
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

static enum fit make_at(struct making *m, const struct pilot *pilot, unsigned depth, struct tsl_time_tiles *tiles)
{
    double width = width_for(m->ask, pilot, depth);
    for (unsigned i = 0; i < ATTEMPTS && width >= 1; i++, width *= 0.85) {
        uint64_t n_tiles = (uint64_t)((double)m->ask->groups[0] / width + 0.999);
        enum fit fit = fill(m, tiles, depth, (m->ask->groups[0] + n_tiles - 1) / n_tiles);
        if (fit != TOO_WIDE)
            return fit;
        tsl_time_tiles_finish(tiles);
    }
    return TOO_WIDE;
}

static enum tsl_time_tiles_end make(struct making *m, struct pilot *pilot, struct tsl_time_tiles *tiles)
{
    fly(m, pilot);
    unsigned depth = m->failed || pilot->data_size <= 0 ? 1 : best_depth(m->ask, pilot, m->ask->n_launches);
    for (; depth > 1; depth = best_depth(m->ask, pilot, depth - 1)) {
        enum fit fit = make_at(m, pilot, depth, tiles);
        if (fit == FITS)
            return TSL_TIME_TILES_MADE;
        if (fit == NO_MEMORY)
            break;
        if (depth == 2)
            return TSL_TIME_TILES_DONT_PAY;
        depth = depth / 2 + 1;
    }
    return depth == 1 && !m->failed ? TSL_TIME_TILES_DONT_PAY : TSL_TIME_TILES_NO_MEMORY;
}

enum tsl_time_tiles_end tsl_time_tiles_make(const struct tsl_time_tiles_ask *ask, struct tsl_time_tiles *tiles)
{
    struct pilot pilot = {.sizes = calloc(ask->n_launches, sizeof(*pilot.sizes))};
    struct making m;
    *tiles = (struct tsl_time_tiles){.n = 0};
    if (!pilot.sizes || !begin(&m, ask)) {
        free(pilot.sizes);
        return TSL_TIME_TILES_NO_MEMORY;
    }
    enum tsl_time_tiles_end end = make(&m, &pilot, tiles);
    finish(&m);
    free(pilot.sizes);
    if (end != TSL_TIME_TILES_MADE)
        tsl_time_tiles_finish(tiles);
    return end;
}
