#include "graph/stay.h"

#include "base/sets.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/port.h"
#include "graph/space.h"
#include "graph/state.h"
#include "place/place.h"
#include "program/program.h"
#include "tile/tile.h"

#define ASKED_IN    16    /* so many launches of a kernel are asked about once */
#define MOST_TILES  16u   /* of an object; where there are more, to look at them takes as long as a survey */
#define FEW_TILES   4u    /* of an object: they are looked at as they are */
#define MOST_JOINED 64u   /* of an object whose tiles are joined first: what set them apart may be over */
#define UNWRITTEN   8u    /* that part of an object may be unwritten where all of it is claimed */
#define STRAY       1024u /* that part of an object, and STRAY_BYTES, may be elsewhere: it moves at once, if at all */
#define STRAY_BYTES 4096u

/* What is known of the objects of a launch. */
struct objects {
    tsl_members lacking; /* members that haven't all of each */
    bool alone; /* nothing else is anywhere but stray bytes, and nearly all was written: all of each may be claimed */
};

/* The member whose kernels used the first object last; -1: none. */
static int last_member(const struct tsl_command *c)
{
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer)
            return tsl_data_of(c->args->args[i].buffer)->last_member;
    return -1;
}

/* Launches that are over may have left tiles that differ no more. */
static void join_tiles(struct tsl_data *data)
{
    if (data->tiles.n > FEW_TILES && data->tiles.n <= MOST_JOINED)
        tsl_tiles_join(&data->tiles, 0, data->size);
}

/* So many bytes of an object say nothing of where it is. A launch that another member tried may have left them. What is
 * spread is on all its members. */
static bool are_stray(uint64_t bytes, uint64_t size, unsigned space)
{
    return bytes == 0 || (space != TSL_SPACE_SPREAD && bytes <= STRAY_BYTES && bytes <= size / STRAY);
}

/* Has the member all of the memory object, but for stray bytes? Adds what is known of it. What was never written is
 * anywhere. */
static bool is_there(const struct tsl_graph *g, const struct tsl_buffer *buffer, unsigned member,
                     struct objects *objects)
{
    struct tsl_data *data = tsl_data_of(buffer);
    uint64_t end = buffer->offset + buffer->size, unwritten = 0, missing = 0, others = 0;
    unsigned n = 0, space = tsl_space_of(&g->ports[member], data);
    join_tiles(data);
    for (struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, buffer->offset, end); tile;
         tile = tsl_tiles_next_meeting(tile, end)) {
        uint64_t size = tile->end - tile->begin;
        if (++n > MOST_TILES || tsl_spaces_has(tile->valid, TSL_SPACE_LOST))
            return false;
        if (tsl_spaces_is_empty(tile->valid)) {
            unwritten += size;
            continue;
        }
        missing += tsl_spaces_has(tile->valid, space) ? 0 : size;
        others += tsl_spaces_only(tile->valid, space) ? 0 : size;
        for (unsigned i = 0; i < g->n_ports; i++)
            if (!tsl_spaces_has(tile->valid, tsl_space_of(&g->ports[i], data)))
                tsl_members_add(&objects->lacking, i);
    }
    objects->alone &= unwritten <= buffer->size / UNWRITTEN && are_stray(others, buffer->size, space);
    return are_stray(missing, buffer->size, space);
}

/* Has that member all of the launch's memory objects, and lacks each other one some of it? */
static bool are_only_there(const struct tsl_command *c, const struct tsl_ask *ask, unsigned member,
                           struct objects *objects)
{
    const struct tsl_graph *g = c->graph;
    *objects = (struct objects){TSL_MEMBERS_NONE, true};
    for (cl_uint i = 0; i < c->args->n_all; i++)
        if (c->args->args[i].buffer && !is_there(g, c->args->args[i].buffer, member, objects))
            return false;
    for (unsigned i = 0; i < g->n_ports; i++)
        if (i != member && ask->candidates[i].eligible && !tsl_members_has(objects->lacking, i))
            return false;
    return true;
}

bool tsl_stay(struct tsl_command *c, struct tsl_ask *ask)
{
    struct tsl_graph *g = c->graph;
    struct tsl_kernel *kernel = c->kernel;
    struct objects objects;
    int member = last_member(c);
    bool stays = kernel->n_stayed + 1 < ASKED_IN && member >= 0 && !kernel->has_variants && g->n_deferred == 0 &&
                 ask->candidates[member].eligible && are_only_there(c, ask, (unsigned)member, &objects) &&
                 tsl_placer_stay(g->placer, ask, (unsigned)member, &c->share.placement);
    c->claims_all = stays && objects.alone;
    if (stays) {
        kernel->n_stayed++;
        c->whole_why = tsl_placer_cuts(g->placer) ? TSL_WHOLE_SMALL : TSL_WHOLE_SETTING;
        return true;
    }
    ask->n_stands = kernel->n_stayed + 1;
    kernel->n_stayed = 0;
    return false;
}
