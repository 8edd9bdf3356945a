/*
 * Time tiles: in which order windows of several launches run, so that what one of them leaves in memory serves the next
 * ones before it goes home. A tile is a window of each launch, in the order of the launches: the first launch's next
 * groups, then of each later one as many as may run by then. So the tiles lean: a stencil's second launch stays behind
 * the first by what it reads beside its own place.
 *
 * What may run is told by hulls: from the first to behind the last byte that a window touches of an object. A window of
 * launch j may run when no group of an earlier launch that has not run yet (flow) writes what the window reads,
 * (anti) reads what it writes, or (output) writes what it writes. So all tiles one after another are as good as all
 * launches one after another. Larger hulls are always right: they make less legal.
 *
 * Each tile has a slice of each object: the hull of all that its windows touch. The slices of one tile must fit an
 * area.
 *
 * Depth and width are chosen first. Then tiles are made one by one, so that the first can run while others are made.
 * One that turns out not to fit is made narrower; where that doesn't help, the launches go on one after the other, as
 * if they weren't chained.
 *
 * Pure: no locks, no OpenCL calls.
 */
#ifndef TSL_GRAPH_TIME_TILES_H
#define TSL_GRAPH_TIME_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of an object; begin == end: none. */
struct tsl_hull {
    uint64_t begin, end;
};

static inline bool tsl_hull_is_empty(const struct tsl_hull *hull)
{
    return hull->begin == hull->end;
}

void tsl_hull_add(struct tsl_hull *hull, uint64_t begin, uint64_t end);

/* What windows are made of, and for. */
struct tsl_time_tiles_ask {
    unsigned n_launches, n_objects;
    const uint64_t *groups; /* by launch: along the dimension in which it is cut; 1: it can't be cut */
    const unsigned
        *windows;       /* by launch: so many that fit an area it has at most by itself, if each is as wide as fits */
    const bool *sliced; /* by object: tiles have a slice of it. Others lie elsewhere whole, but count for order */
    uint64_t area_size, align; /* bytes; each slice begins and ends at multiples of align */
    /* Adds what the launch's groups [begin, end), of which there is at least one, touch: to n_objects hulls each.
     * False: no memory. */
    bool (*touch)(void *arg, unsigned launch, uint64_t begin, uint64_t end, struct tsl_hull *reads,
                  struct tsl_hull *writes);
    void *arg;
    /* What things take: a byte from or to the host, one that goes on from tile to tile, what each window costs beside
     * its work, and each launch whole (0: not known). */
    double move_ns, carry_ns, window_ns;
    const double *launch_ns;
    unsigned n_members; /* as fast ones that take turns with rounds: each begins behind the first tiles of the last */
    unsigned depth;     /* not 0: so many launches are wanted, as the round before had so many */
    uint64_t width;     /* not 0, and depth: what was chosen for launches that were alike; nothing is looked at */
};

struct tsl_time_tiles;

enum tsl_time_tiles_end {
    TSL_TIME_TILES_MADE,
    TSL_TIME_TILES_DONT_PAY, /* nothing would move less, or no two launches fit an area together */
    TSL_TIME_TILES_NO_MEMORY
};

/* Chooses depth and width. *tiles: of the first launches; how many these are, at least 2, is chosen by what all of them
 * take, with the rest in further rounds. The ask must stay as long as the tiles, but for launch_ns. */
enum tsl_time_tiles_end tsl_time_tiles_create(const struct tsl_time_tiles_ask *ask, struct tsl_time_tiles **tiles);
void tsl_time_tiles_destroy(struct tsl_time_tiles *tiles); /* NULL allowed */

unsigned tsl_time_tiles_launches(const struct tsl_time_tiles *tiles);
/* What was chosen: the first launch's groups in a tile. */
uint64_t tsl_time_tiles_width(const struct tsl_time_tiles *tiles);
/* So many tiles there will be, if all are as wide as was chosen. */
unsigned tsl_time_tiles_expected(const struct tsl_time_tiles *tiles);
/* A launch has no more windows in all tiles together. */
unsigned tsl_time_tiles_most_windows(const struct tsl_time_tiles *tiles, unsigned launch);

enum tsl_time_tiles_next { TSL_TIME_TILES_NEXT, TSL_TIME_TILES_OVER, TSL_TIME_TILES_FAILED };

/* Makes the next tile. FAILED: there is no memory, or a launch doesn't fit by itself. */
enum tsl_time_tiles_next tsl_time_tiles_go_on(struct tsl_time_tiles *tiles);
/* Of that tile: the launch's groups from … to …, none if these are equal, and the object's slice, which begins at a
 * multiple of align. */
uint64_t tsl_time_tiles_from(const struct tsl_time_tiles *tiles, unsigned launch);
uint64_t tsl_time_tiles_to(const struct tsl_time_tiles *tiles, unsigned launch);
struct tsl_hull tsl_time_tiles_slice(const struct tsl_time_tiles *tiles, unsigned object);

#endif
