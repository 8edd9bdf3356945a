/* Fetches: which moves are missing. */
#include "graph/fetch.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/move.h"
#include "graph/residency.h"
#include "graph/runs.h"
#include "graph/spread.h"
#include "tile/tile.h"

/* Where a fetch takes the tile from. A tile that is valid nowhere was never written: it counts as coming from the space
 * itself. */
static unsigned source_of(struct tsl_graph *graph, const struct tsl_data *data, const struct tsl_tile *tile,
                          unsigned space)
{
    return tsl_spaces_is_empty(tile->valid) ? space : tsl_move_source(graph, data, tile, space);
}

/* Narrows [*begin, *end) to the first run of tiles that are not valid in the space and have one source. False: there is
 * none. */
static bool lacking(struct tsl_graph *graph, struct tsl_data *data, uint64_t *begin, uint64_t *end, unsigned space,
                    unsigned *from)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, *begin, *end);
    while (tile && tsl_spaces_has(tile->valid, space))
        tile = tsl_tiles_next_meeting(tile, *end);
    if (!tile)
        return false;
    uint64_t limit = *end;
    *begin = tile->begin > *begin ? tile->begin : *begin;
    *from = source_of(graph, data, tile, space);
    do {
        *end = tile->end < limit ? tile->end : limit;
        tile = tsl_tiles_next_meeting(tile, limit);
    } while (tile && !tsl_spaces_has(tile->valid, space) && source_of(graph, data, tile, space) == *from);
    return true;
}

/* Between the host's copy and that of a spread object. */
static bool goes_by_parts(unsigned from, unsigned to)
{
    return (from == TSL_SPACE_HOST && to == TSL_SPACE_SPREAD) || (from == TSL_SPACE_SPREAD && to == TSL_SPACE_HOST);
}

/* Each member moves what is in its part. */
static cl_int move_by_parts(struct tsl_command *command, const struct tsl_move *move)
{
    struct tsl_move part = *move;
    cl_int error = CL_SUCCESS;
    if (!goes_by_parts(move->from, move->to))
        return tsl_move_plan(command, move);
    for (; part.begin < move->end && !error; part.begin = part.end) {
        tsl_spread_part(move->data->spread, part.begin, &part.end);
        part.end = part.end < move->end ? part.end : move->end;
        error = tsl_move_plan(command, &part);
    }
    return error;
}

/* Fetches one run, in one or two moves. */
static cl_int fetch_run(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned from,
                        unsigned to)
{
    struct tsl_move way = {data, begin, end, from, to, false};
    if (!tsl_move_is_direct(command->graph, data, from, to)) {
        way.to = TSL_SPACE_HOST;
        cl_int error = move_by_parts(command, &way);
        if (error)
            return error;
        way.from = TSL_SPACE_HOST;
        way.to = to;
    }
    return move_by_parts(command, &way);
}

/* Runs from one space that are still to be moved. */
struct batch {
    unsigned from, n;
    struct tsl_range list[TSL_RUNS_MOST];
};

struct batches {
    struct tsl_command *command;
    struct tsl_data *data;
    unsigned to, next; /* next: the batch that gives way */
    struct batch of[TSL_MOVE_SOURCES];
};

static cl_int fetch_batch(const struct batches *all, struct batch *batch)
{
    unsigned n = batch->n;
    const struct tsl_range *list = batch->list;
    batch->n = 0;
    if (n == 0)
        return CL_SUCCESS;
    if (n == 1)
        return fetch_run(all->command, all->data, list[0].begin, list[0].end, batch->from, all->to);
    struct tsl_move move = {all->data, list[0].begin, list[n - 1].end, batch->from, all->to, false};
    if (!tsl_move_is_direct(all->command->graph, all->data, move.from, move.to)) {
        move.to = TSL_SPACE_HOST;
        cl_int error = tsl_move_plan_pieces(all->command, &move, list, n);
        if (error)
            return error;
        move.from = TSL_SPACE_HOST;
        move.to = all->to;
    }
    return tsl_move_plan_pieces(all->command, &move, list, n);
}

/* The batch with room for one more run from that space. */
static cl_int batch_from(struct batches *all, unsigned from, struct batch **found)
{
    cl_int error = CL_SUCCESS;
    *found = NULL;
    for (unsigned i = 0; i < TSL_MOVE_SOURCES && !*found; i++)
        if (all->of[i].n == 0 || all->of[i].from == from)
            *found = &all->of[i];
    if (!*found)
        *found = &all->of[all->next++ % TSL_MOVE_SOURCES];
    if ((*found)->n && ((*found)->from != from || (*found)->n == TSL_RUNS_MOST))
        error = fetch_batch(all, *found);
    (*found)->from = from;
    return error;
}

static cl_int add_run(struct batches *all, uint64_t begin, uint64_t end, unsigned from)
{
    struct batch *batch;
    if (from == TSL_SPACE_LOST)
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (from == all->to) /* Nothing was ever written: what the space holds will do. */
        return CL_SUCCESS;
    const bool spread = from == TSL_SPACE_SPREAD || all->to == TSL_SPACE_SPREAD;
    if (all->data->padded || goes_by_parts(from, all->to) ||
        (spread && !tsl_move_is_direct(all->command->graph, all->data, from, all->to)))
        return fetch_run(all->command, all->data, begin, end, from, all->to);
    cl_int error = batch_from(all, from, &batch);
    batch->list[batch->n++] = (struct tsl_range){begin, end};
    return error;
}

/* What the space lacks of the ranges. */
static cl_int fetch_lacking(struct tsl_command *command, struct tsl_data *data, const struct tsl_range *ranges,
                            unsigned n, unsigned space)
{
    struct batches all; /* It is large, and most has no use mostly. */
    cl_int error = CL_SUCCESS;
    all.command = command;
    all.data = data;
    all.to = space;
    all.next = 0;
    for (unsigned i = 0; i < TSL_MOVE_SOURCES; i++)
        all.of[i].n = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t begin = ranges[i].begin, end = ranges[i].end;
        unsigned from = 0;
        while (!error && begin < end && lacking(command->graph, data, &begin, &end, space, &from)) {
            error = add_run(&all, begin, end, from);
            begin = end;
            end = ranges[i].end;
        }
    }
    for (unsigned i = 0; i < TSL_MOVE_SOURCES && !error; i++)
        error = fetch_batch(&all, &all.of[i]);
    return error;
}

/* Is all of the range valid in the space, or was never written? */
static bool is_there(struct tsl_data *data, const struct tsl_range *range, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, range->begin, range->end);
    while (tile && (tsl_spaces_has(tile->valid, space) || tsl_spaces_is_empty(tile->valid)))
        tile = tsl_tiles_next_meeting(tile, range->end);
    return !tile;
}

cl_int tsl_fetch_ranges(struct tsl_command *command, struct tsl_data *data, const struct tsl_range *ranges, unsigned n,
                        unsigned space)
{
    if (space != TSL_SPACE_HOST)
        tsl_residency_ensure(command, data, space);
    if (data->lost)
        return CL_OUT_OF_HOST_MEMORY;
    for (unsigned i = 0; i < n; i++) /* Mostly nothing is lacking. */
        if (!is_there(data, &ranges[i], space))
            return fetch_lacking(command, data, &ranges[i], n - i, space);
    return CL_SUCCESS;
}

cl_int tsl_fetch(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    const struct tsl_range range = {begin, end};
    return tsl_fetch_ranges(command, data, &range, 1, space);
}
