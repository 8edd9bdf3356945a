#include "graph/arena.h"

#include "base/small_vector.h"
#include "driver/driver.h"
#include "graph/copies.h"
#include "graph/edge.h"
#include "graph/member_memory.h"
#include "graph/memory_order.h"
#include "graph/op.h"
#include "graph/port.h"
#include "graph/state.h"

#include <stdlib.h>

/* An area is such a part of the member's memory. Small areas leave more than half of it to buffers that launches need
 * whole, and to other launches. */
#define PART       4u
#define SMALL_PART 8u

static size_t size_of_part(const struct tsl_member *member, unsigned part)
{
    const struct tsl_member_caps *caps = &member->caps;
    cl_ulong size = caps->memory_size / part;
    if (!caps->takes_parts || caps->zero_copy)
        return 0;
    if (caps->max_alloc_size && size > caps->max_alloc_size)
        size = caps->max_alloc_size;
    return (size_t)(size - size % caps->base_align);
}

size_t tsl_arena_large_size(const struct tsl_port *port)
{
    return size_of_part(port->member, PART);
}

size_t tsl_arena_small_size(const struct tsl_port *port)
{
    return size_of_part(port->member, SMALL_PART);
}

struct tsl_slices *tsl_slices_create(unsigned n)
{
    struct tsl_slices *slices = calloc(1, sizeof(*slices) + n * sizeof(slices->list[0]));
    if (slices)
        slices->refs = 1;
    return slices;
}

void tsl_slices_unref(struct tsl_slices *slices)
{
    if (slices && --slices->refs == 0)
        free(slices);
}

const struct tsl_slice *tsl_slice_of(const struct tsl_slices *slices, const struct tsl_data *data)
{
    for (unsigned i = 0; slices && i < slices->n; i++)
        if (slices->list[i].data == data)
            return &slices->list[i];
    return NULL;
}

/* Areas of another size are freed before (tsl_residency_ensure_arena), unless there was no memory to plan that. */
cl_int tsl_area_mem(struct tsl_port *port, const struct tsl_slice *slice, struct tsl_mem **mem)
{
    struct tsl_member *member = port->member;
    struct tsl_area *area = slice->area;
    if (area->mem && area->size < slice->area_size)
        return CL_OUT_OF_HOST_MEMORY;
    if (!area->mem) {
        size_t size = slice->area_size;
        cl_int error = member->driver->mem_alloc(member, size, CL_MEM_READ_WRITE, NULL, &area->mem);
        if (error)
            return error == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : error;
        area->size = size;
        tsl_member_memory_hold(member, size);
        port->fresh_size += size;
    }
    *mem = area->mem;
    return CL_SUCCESS;
}

void tsl_arena_take(struct tsl_port *port, struct tsl_slices *slices)
{
    struct tsl_arena *arena = &port->arena;
    slices->area = &arena->areas[arena->next++ % TSL_ARENA_AREAS];
    for (unsigned i = 0; i < slices->n; i++) {
        slices->list[i].area = slices->area;
        slices->list[i].area_size = slices->area_size;
    }
}

void tsl_area_follow(struct tsl_op *op, const struct tsl_area *area)
{
    tsl_op_follow(op, &area->users);
}

void tsl_area_add(struct tsl_area *area, struct tsl_op *op)
{
    if (!tsl_dependences_add(&area->users, op, false))
        tsl_memory_order_begin(op->command);
}

void tsl_area_set(struct tsl_area *area, struct tsl_op *op)
{
    tsl_dependences_finish(&area->users);
    tsl_area_add(area, op);
}

void tsl_arena_leave(struct tsl_op *op)
{
    struct tsl_arena *arena = &op->port->arena;
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++) {
        tsl_area_follow(op, &arena->areas[i]);
        tsl_area_set(&arena->areas[i], op);
    }
    arena->resident = false;
    tsl_member_memory_unplan(op->port->member, TSL_ARENA_AREAS * arena->area_size);
}

static bool is_used(const struct tsl_area *area)
{
    for (unsigned i = 0; i < area->users.n; i++)
        if (!TSL_SMALL_AT(&area->users, i)->op->user.done)
            return true;
    return false;
}

bool tsl_arena_is_used(const struct tsl_port *port)
{
    bool used = false;
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++)
        used |= is_used(&port->arena.areas[i]);
    return used;
}

bool tsl_arena_is_idle(const struct tsl_port *port)
{
    bool any = false;
    if (port->arena.held || tsl_arena_is_used(port))
        return false;
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++)
        any |= port->arena.areas[i].mem != NULL;
    return any;
}

static void free_mem(struct tsl_port *port, struct tsl_mem *mem, size_t size)
{
    port->member->driver->mem_free(mem);
    tsl_member_memory_let_go(port->member, size);
}

void tsl_arena_free(struct tsl_port *port)
{
    struct tsl_mem *mems[TSL_ARENA_AREAS];
    size_t sizes[TSL_ARENA_AREAS];
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++) {
        mems[i] = port->arena.areas[i].mem;
        sizes[i] = port->arena.areas[i].size;
        port->arena.areas[i].mem = NULL;
    }
    port->n_leaving++;
    tsl_graph_open(port->graph);
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++)
        if (mems[i])
            free_mem(port, mems[i], sizes[i]);
    tsl_graph_close(port->graph);
    port->n_leaving--;
    tsl_graph_changed(port->graph);
}

void tsl_arena_finish(struct tsl_port *port)
{
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++)
        if (port->arena.areas[i].mem)
            free_mem(port, port->arena.areas[i].mem, port->arena.areas[i].size);
    if (port->arena.resident)
        tsl_member_memory_unplan(port->member, TSL_ARENA_AREAS * port->arena.area_size);
}

void tsl_arena_forget(struct tsl_port *port)
{
    for (unsigned i = 0; i < TSL_ARENA_AREAS; i++)
        tsl_dependences_finish(&port->arena.areas[i].users);
}
