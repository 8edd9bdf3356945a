/* How an object leaves a member's memory. */
#include "graph/evict.h"

#include "driver/driver.h"
#include "facts/kernel_facts.h"
#include "graph/complete.h"
#include "graph/copies.h"
#include "graph/member_memory.h"
#include "graph/op.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "graph/valid.h"
#include "handle/object.h"
#include "tile/tile.h"

/* ---- Claims ------------------------------------------------------------------------------------------------------ */

void tsl_leave_space(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_leave(tile, &op->user, space);
        for (struct tsl_rollback *rollback = tile->rollback; rollback; rollback = rollback->older)
            rollback->valid &= ~TSL_SPACE_BIT(space);
    }
    tsl_valid_change(data, 0, data->size, ~TSL_SPACE_BIT(space), 0);
}

cl_int tsl_claim_place(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_toucher t = {.op = op};
    struct tsl_tile *tile = tsl_tiles_at(&data->tiles, 0);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size)) {
        tsl_tile_prune(tile);
        tsl_touch_conflicts(&t, tile, space, TSL_MAY_WRITE);
        if (!tsl_tile_use_too(tile, &op->user, space))
            return CL_OUT_OF_HOST_MEMORY;
    }
    tsl_tiles_join(&data->tiles, 0, data->size);
    return CL_SUCCESS;
}

void tsl_follow_place(struct tsl_op *op, struct tsl_data *data, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(&data->tiles, 0, data->size);
    for (; tile; tile = tsl_tiles_next_meeting(tile, data->size))
        tsl_tile_use_too(tile, &op->user, space);
    tsl_tiles_join(&data->tiles, 0, data->size);
}

cl_int tsl_claim_spill(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    struct tsl_toucher t = {.op = op};
    data->moved = true;
    cl_int error = tsl_touch_copy(op->port->graph, &t, data, begin, end, TSL_SPACE_HOST, TSL_MAY_WRITE);
    return error ? error : tsl_valid_change(data, begin, end, ~0u, TSL_SPACE_BIT(TSL_SPACE_HOST));
}

static bool unused(struct tsl_tiles *tiles, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_tile *tile = tsl_tiles_meeting(tiles, begin, end);
    for (; tile; tile = tsl_tiles_next_meeting(tile, end)) {
        tsl_tile_prune(tile);
        for (unsigned i = 0; i < tile->uses.n; i++)
            if (tile->uses.list[i].space == space)
                return false;
    }
    return true;
}

bool tsl_space_idle(struct tsl_data *data, unsigned space)
{
    return unused(&data->tiles, 0, data->size, space);
}

bool tsl_host_idle(struct tsl_data *data, uint64_t begin, uint64_t end)
{
    uint64_t base = tsl_host_address(data->host);
    return unused(&data->context->graph->host_map, base + begin, base + end, TSL_SPACE_HOST);
}

/* ---- Freeing ----------------------------------------------------------------------------------------------------- */

#define FEW_SUBS 32

static unsigned take_subs(struct tsl_data *data, unsigned index, struct tsl_mem **mems)
{
    struct tsl_sub_mems *subs;
    unsigned n = 0;
    LIST_FOREACH(subs, &data->sub_mems, link)
    if (subs->mems[index] && n < FEW_SUBS) {
        mems[n++] = subs->mems[index];
        subs->mems[index] = NULL;
    }
    return n;
}

/* Nobody uses it, and whoever will comes after. The lock is given meanwhile. */
void tsl_evict_free(struct tsl_seat *seat, struct tsl_port *port)
{
    struct tsl_graph *graph = port->graph;
    struct tsl_mem *mems[FEW_SUBS], *mem;
    unsigned n;
    while ((n = take_subs(seat->data, port->index, mems)) > 0) {
        tsl_graph_open(graph);
        for (unsigned i = 0; i < n; i++)
            mems[i]->member->driver->mem_free(mems[i]);
        tsl_graph_close(graph);
    }
    mem = seat->mem;
    seat->mem = NULL;
    seat->changed = true;
    if (mem && seat->n_freeing > 0 && !seat->orphan) {
        seat->orphan = mem;
        port->n_leaving++;
    } else if (mem) {
        tsl_graph_open(graph);
        tsl_room_free(seat, mem);
        tsl_graph_close(graph);
    }
}

void tsl_room_run(struct tsl_op *op)
{
    struct tsl_graph *graph = op->port->graph;
    struct tsl_seat *seat = op->victim;
    op->user.refs++;
    if (seat && !op->poison && op->eviction >= seat->n_void)
        tsl_evict_free(seat, op->port);
    tsl_op_finish(op, CL_COMPLETE);
    tsl_op_unref(op);
    if (!seat)
        return;
    tsl_graph_open(graph);
    tsl_object_unref(seat->data->owner);
    tsl_graph_close(graph);
}
