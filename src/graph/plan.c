/* A plan for each kind of command. */
#include "graph/plan.h"

#include "graph/data.h"
#include "graph/deferred_write.h"
#include "graph/dependences.h"
#include "graph/plan_kinds.h"
#include "graph/plan_space.h"
#include "graph/plan_write_parts.h"
#include "graph/spread_room.h"
#include "object/buffer.h"

/* Is it a transfer or fill of no bytes? Such a command only takes its turn. */
static bool moves_nothing(const struct tsl_command *c)
{
    bool shared = c->type == CL_COMMAND_SVM_MEMCPY || c->type == CL_COMMAND_SVM_MEMFILL;
    return c->src || c->dst ? c->box.region[0] == 0 : shared;
}

static cl_int plan_write(struct tsl_command *c, const tsl_dependences *order)
{
    struct tsl_box_copy box = c->box;
    cl_int error;
    box.dst_offset += c->dst->offset;
    if (tsl_plan_names_host_copy(c, tsl_data_of(c->dst), box.dst_offset, box.src_offset))
        return tsl_plan_write_in_place(c, order, &box);
    if (tsl_plan_write_in_parts(c, order, &error))
        return error;
    if (tsl_deferred_write_allowed(c))
        return tsl_deferred_write_add(c, order);
    /* What allows it may have changed since the command was looked at: writes of one object keep their order. */
    tsl_deferred_write_all(c->graph);
    return tsl_plan_write_likely(c, order);
}

/* What the command writes, if no kernel does that. */
static struct tsl_data *written_data(const struct tsl_command *c)
{
    switch (c->type) {
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_COPY_BUFFER_RECT:
    case CL_COMMAND_FILL_BUFFER:
        return tsl_data_of(c->dst);
    default:
        return NULL;
    }
}

static cl_int plan(struct tsl_command *c, const tsl_dependences *order)
{
    switch (c->type) {
    case CL_COMMAND_READ_BUFFER:
    case CL_COMMAND_READ_BUFFER_RECT:
    case CL_COMMAND_READ_IMAGE:
        return tsl_plan_read(c, order);
    case CL_COMMAND_WRITE_BUFFER:
    case CL_COMMAND_WRITE_BUFFER_RECT:
    case CL_COMMAND_WRITE_IMAGE:
        return plan_write(c, order);
    case CL_COMMAND_COPY_BUFFER:
    case CL_COMMAND_COPY_BUFFER_RECT:
    case CL_COMMAND_COPY_IMAGE:
    case CL_COMMAND_COPY_IMAGE_TO_BUFFER:
    case CL_COMMAND_COPY_BUFFER_TO_IMAGE:
        return tsl_plan_copy(c, order);
    case CL_COMMAND_SVM_MEMCPY: /* From shared virtual memory, to it, or both. */
        return !c->src ? plan_write(c, order) : c->dst ? tsl_plan_copy(c, order) : tsl_plan_read(c, order);
    case CL_COMMAND_FILL_BUFFER:
    case CL_COMMAND_FILL_IMAGE:
    case CL_COMMAND_SVM_MEMFILL:
        return tsl_plan_fill(c, order);
    case CL_COMMAND_MAP_BUFFER:
    case CL_COMMAND_MAP_IMAGE:
    case CL_COMMAND_SVM_MAP:
        return tsl_plan_map(c);
    case CL_COMMAND_UNMAP_MEM_OBJECT:
    case CL_COMMAND_SVM_UNMAP:
        return tsl_plan_unmap(c, order);
    case CL_COMMAND_MIGRATE_MEM_OBJECTS:
    case CL_COMMAND_SVM_MIGRATE_MEM:
        return tsl_plan_migrate(c);
    case CL_COMMAND_NATIVE_KERNEL:
    case CL_COMMAND_SVM_FREE:
        return tsl_plan_native(c, order);
    case CL_COMMAND_NDRANGE_KERNEL:
    case CL_COMMAND_TASK:
        return c->kernel ? tsl_plan_kernel(c, order) : CL_SUCCESS; /* An empty range has no work. */
    default:
        return tsl_plan_marker(c, order);
    }
}

cl_int tsl_plan(struct tsl_command *c, const tsl_dependences *order)
{
    if (moves_nothing(c))
        return CL_SUCCESS;
    c->order_now = order;
    struct tsl_data *written = written_data(c);
    if (c->kernel && c->graph->n_spread)
        tsl_spread_room_leave(c);
    cl_int error = written ? tsl_spread_room_for(c, written) : CL_SUCCESS;
    error = error ? error : plan(c, order);
    c->order_now = NULL;
    return error;
}
