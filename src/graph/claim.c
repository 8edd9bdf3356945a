/* Claims, of operations and of commands without any. */
#include "graph/claim.h"

#include "facts/kernel_facts.h"
#include "graph/coherence.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/mapped.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/redoable.h"
#include "graph/residency.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "graph/undo.h"
#include "graph/valid.h"
#include "tile/tile.h"

static void tell_write(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    if (!LIST_EMPTY(&command->graph->redoable))
        tsl_redoable_note_write(command, data);
    if (command->graph->checks)
        tsl_coherence_note_write(command, data, begin, end);
}

static inline void note_write(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end)
{
    if (!LIST_EMPTY(&command->graph->redoable) || command->graph->checks)
        tell_write(command, data, begin, end);
}

cl_int tsl_claim(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space, unsigned may)
{
    struct tsl_toucher t = {.op = op};
    cl_int error = CL_SUCCESS;
    if (space != TSL_SPACE_HOST)
        tsl_residency_ensure(op->command, data, space);
    if (may == (TSL_MAY_READ | TSL_MAY_WRITE)) /* Before the new use, while the uses still tell what is being moved. */
        error = tsl_undo_note(op, data, begin, end, space);
    if (!error)
        error = tsl_touch_copy(op->port->graph, &t, data, begin, end, space, may);
    if (!error && data->lost && (may & TSL_MAY_READ))
        error = CL_OUT_OF_HOST_MEMORY;
    if (error && op->has_rollback) /* At once: what comes next may have no edge by which to fail with the operation. */
        tsl_undo_range(op, data, begin, end);
    if (!error && may == TSL_MAY_WRITE)
        error = tsl_valid_set_only(data, begin, end, space);
    if (error || !(may & TSL_MAY_WRITE))
        return error;
    note_write(op->command, data, begin, end);
    return tsl_mapped_keep(data, begin, end);
}

cl_int tsl_claim_one_copy(struct tsl_op *op, struct tsl_data *data, uint64_t begin, uint64_t end, unsigned space)
{
    struct tsl_toucher t = {.op = op};
    if (space != TSL_SPACE_HOST)
        tsl_residency_ensure(op->command, data, space);
    note_write(op->command, data, begin, end);
    /* Should a move fail, and a copy be what it was that isn't written now, the write has failed. */
    bool strict = tsl_undo_may_come_back(op->port->graph, data, begin, end);
    return tsl_touch_copy(op->port->graph, &t, data, begin, end, space,
                          strict ? TSL_MAY_READ | TSL_MAY_WRITE : TSL_MAY_WRITE);
}

cl_int tsl_claim_host(struct tsl_op *op, const void *host, size_t size, bool write)
{
    struct tsl_toucher t = {.op = op};
    return tsl_touch(&op->port->graph->host_map, &t, tsl_host_address(host), tsl_host_address(host) + size,
                     TSL_SPACE_HOST, write ? TSL_MAY_WRITE : TSL_MAY_READ);
}

static void forget_side(struct tsl_op *op, const struct tsl_side *side)
{
    const char *host = side->data ? side->data->host : side->host;
    if (side->space != TSL_SPACE_HOST || !host)
        return;
    uint64_t begin = tsl_host_address(host) + side->offset;
    tsl_tiles_join(&op->port->graph->host_map, begin,
                   begin + tsl_box_hull(op->region, side->row_pitch, side->slice_pitch));
}

void tsl_claim_forget_host(struct tsl_op *op)
{
    if (op->kind != TSL_OP_COPY && op->kind != TSL_OP_MARK)
        return;
    forget_side(op, &op->dst);
    forget_side(op, &op->src);
}

cl_int tsl_claim_for_command(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end,
                             unsigned may, bool exclusive)
{
    struct tsl_toucher t = {.command = command};
    cl_int error = tsl_touch_copy(command->graph, &t, data, begin, end, TSL_SPACE_HOST, may);
    if (error || !exclusive)
        return error;
    note_write(command, data, begin, end);
    return tsl_valid_set_only(data, begin, end, TSL_SPACE_HOST);
}
