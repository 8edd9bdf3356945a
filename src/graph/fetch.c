/* Fetches: which moves are missing. */
#include "graph/fetch.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/move.h"
#include "graph/residency.h"
#include "tile/tile.h"

/* Where a fetch takes the tile from. A tile that is valid nowhere was never written: it counts as coming from the space
 * itself. */
static unsigned source_of(struct tsl_graph *graph, const struct tsl_tile *tile, unsigned space)
{
    return tsl_spaces_is_empty(tile->valid) ? space : tsl_move_source(graph, tile->valid, space);
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
    *from = source_of(graph, tile, space);
    do {
        *end = tile->end < limit ? tile->end : limit;
        tile = tsl_tiles_next_meeting(tile, limit);
    } while (tile && !tsl_spaces_has(tile->valid, space) && source_of(graph, tile, space) == *from);
    return true;
}

/* Fetches one run, in one or two moves. */
static cl_int fetch_run(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned from,
                        unsigned to)
{
    if (from == TSL_SPACE_LOST)
        return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (from == to) /* Nothing was ever written: what the space holds will do. */
        return CL_SUCCESS;
    struct tsl_move way = {data, begin, end, from, to, false};
    if (!tsl_move_is_direct(command->graph, from, to)) {
        way.to = TSL_SPACE_HOST;
        cl_int error = tsl_move_plan(command, &way);
        if (error)
            return error;
        way.from = TSL_SPACE_HOST;
        way.to = to;
    }
    return tsl_move_plan(command, &way);
}

cl_int tsl_fetch(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    uint64_t run_begin = begin, run_end = end;
    unsigned from = 0;
    cl_int error = data->lost ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (space != TSL_SPACE_HOST)
        tsl_residency_ensure(command, data, &command->graph->ports[space - 1]);
    while (!error && run_begin < end && lacking(command->graph, data, &run_begin, &run_end, space, &from)) {
        error = fetch_run(command, data, run_begin, run_end, from, space);
        run_begin = run_end;
        run_end = end;
    }
    return error;
}
