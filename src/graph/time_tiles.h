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
    const bool *sliced;     /* by object: tiles have a slice of it. Others lie elsewhere whole, but count for order */
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
};

struct tsl_time_tiles {
    unsigned n, n_launches, n_objects;
    uint64_t *ends;          /* by tile, then by launch: so many of its groups have run when the tile has */
    struct tsl_hull *slices; /* by tile, then by object; begin is a multiple of align */
};

enum tsl_time_tiles_end {
    TSL_TIME_TILES_MADE,
    TSL_TIME_TILES_DONT_PAY, /* nothing would move less, or no two launches fit an area together */
    TSL_TIME_TILES_NO_MEMORY
};

/* Tiles of the first launches; how many these are (tiles->n_launches, at least 2) is chosen by what all of them take,
 * with the rest in further rounds. */
enum tsl_time_tiles_end tsl_time_tiles_make(const struct tsl_time_tiles_ask *ask, struct tsl_time_tiles *tiles);
void tsl_time_tiles_finish(struct tsl_time_tiles *tiles);

static inline uint64_t tsl_time_tiles_end_of(const struct tsl_time_tiles *tiles, unsigned tile, unsigned launch)
{
    return tiles->ends[tile * tiles->n_launches + launch];
}

/* Where the launch's window of that tile begins; it may be empty. */
static inline uint64_t tsl_time_tiles_begin_of(const struct tsl_time_tiles *tiles, unsigned tile, unsigned launch)
{
    return tile ? tsl_time_tiles_end_of(tiles, tile - 1, launch) : 0;
}

static inline const struct tsl_hull *tsl_time_tiles_slice(const struct tsl_time_tiles *tiles, unsigned tile,
                                                          unsigned object)
{
    return &tiles->slices[tile * tiles->n_objects + object];
}

#endif
