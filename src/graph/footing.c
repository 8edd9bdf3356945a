#include "graph/footing.h"

#include "facts/kernel_facts.h"
#include "footprint/cache.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/extent.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/runs.h"
#include "graph/slabs.h"
#include "graph/state.h"
#include "object/image.h"
#include "object/svm.h"
#include "program/program.h"

#include <string.h>

/* ---- Evaluation -------------------------------------------------------------------------------------------------- */

bool tsl_footing_matters(const struct tsl_command *c)
{
    const struct tsl_graph *g = c->graph;
    const struct tsl_graph_queue *first = LIST_FIRST(&g->queues);
    bool alone = (g->n_ports == 1 || c->claims_all) && c->in_order && first && !LIST_NEXT(first, link);
    return !alone || c->n_more || c->out_of_core;
}

static void set_value(const struct tsl_arg *arg, struct tsl_footing_values *values, cl_uint i)
{
    struct tsl_argument_value *value = &values->of[i];
    *value = (struct tsl_argument_value){.memory = arg->buffer ? arg->buffer->size : 0};
    if (arg->kind == TSL_ARG_VALUE) {
        value->value = arg->value;
        value->size = arg->size;
    } else if (arg->kind == TSL_ARG_SAMPLER) {
        values->described[i].sampler = tsl_kc_sampler(arg->value);
        value->value = &values->described[i].sampler;
        value->size = sizeof(values->described[i].sampler);
    } else if (arg->buffer && arg->buffer->image) {
        values->described[i].image.seen = tsl_kc_image_of(&arg->buffer->image->desc, 0);
        values->described[i].image.pixels = tsl_image_pixels(&arg->buffer->image->desc);
        value->value = &values->described[i].image.seen;
        value->size = sizeof(values->described[i].image.seen);
        value->pixels = &values->described[i].image.pixels;
    }
}

void tsl_footing_values(const struct tsl_args *args, cl_uint n, struct tsl_footing_values *values)
{
    for (cl_uint i = 0; i < n; i++)
        set_value(&args->args[i], values, i);
}

const struct tsl_argument_touch *tsl_footing_of(const struct tsl_command *c, const struct tsl_window *of,
                                                struct tsl_kernel_part *part, uint64_t *id)
{
    const struct tsl_footprint *footprint = part->facts.footprint;
    struct tsl_footing_values values;
    struct tsl_window window = *of;
    if (!footprint || footprint->n_arguments > TSL_FOOTING_MAX_ARGUMENTS || footprint->n_arguments > c->args->n)
        return NULL;
    if (!part->footprints)
        part->footprints = tsl_footprint_cache_create(footprint);
    if (!part->footprints)
        return NULL;
    if (!window.local_size[0]) {
        /* The driver chooses the size of groups, on which nothing may depend then. */
        if (tsl_footprint_names_groups(footprint))
            return NULL;
        for (unsigned d = 0; d < 3; d++)
            window.local_size[d] = 1;
    }
    tsl_footing_values(c->args, footprint->n_arguments, &values);
    return tsl_footprint_cache_evaluate(part->footprints, &window, values.of, id);
}

/* ---- Access ------------------------------------------------------------------------------------------------------ */

/* Does the buffer's CL_MEM_READ_ONLY count? Some programs' kernels write to such buffers, which is undefined
 * (OpenCL 3.0, 5.2.1) and does everywhere what they expect. So the flag counts only where it is of use, and where the
 * kernel wasn't seen to write. */
static bool is_kept(const struct tsl_kernel_facts *facts, cl_uint i, const struct tsl_buffer *buffer)
{
    bool seen = facts->proven || (i < facts->n_args && facts->args[i].written);
    return buffer->flags & CL_MEM_READ_ONLY && !seen && buffer->context->n_members > 1;
}

unsigned tsl_footing_access(const struct tsl_kernel_facts *facts, cl_uint i, const struct tsl_buffer *buffer)
{
    unsigned may = i < facts->n_args ? facts->args[i].may : TSL_MAY_READ | TSL_MAY_WRITE;
    if (tsl_svm_of(buffer)) /* A kernel that finds addresses there writes through them. */
        return TSL_MAY_READ | TSL_MAY_WRITE;
    return is_kept(facts, i, buffer) ? may & TSL_MAY_READ : may;
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static void add(struct tsl_footing_ranges *ranges, uint64_t begin, uint64_t end)
{
    ranges->list[ranges->n++] = (struct tsl_footing_range){.begin = begin, .end = end};
}

/* The range's bytes as a set, of memory that begins at `offset`. */
static void as_set(const struct tsl_footing_range *range, uint64_t offset, struct tsl_byte_set *set)
{
    bool many = range->more > 0;
    set->unknown = false;
    set->n = 1;
    set->boxes[0] = (struct tsl_byte_box){
        range->begin - offset, range->end - range->begin, {many ? range->stride : 0, 0}, {range->more + 1, 1}};
}

bool tsl_footing_ranges_meet(const struct tsl_footing_range *a, const struct tsl_footing_range *b)
{
    struct tsl_byte_set one, other;
    if (!a->more && !b->more)
        return a->begin < b->end && b->begin < a->end;
    as_set(a, 0, &one);
    as_set(b, 0, &other);
    return tsl_byte_sets_meet(&one, &other, 0, 0, 0);
}

bool tsl_footing_range_holds(const struct tsl_footing_range *a, const struct tsl_footing_range *b)
{
    struct tsl_byte_set one, other;
    if (!a->more)
        return a->begin <= b->begin && b->end + b->more * b->stride <= a->end;
    as_set(a, 0, &one);
    as_set(b, 0, &other);
    return tsl_byte_set_contains(&one, &other);
}

static void all_of(const struct tsl_buffer *buffer, struct tsl_footing_ranges *ranges)
{
    ranges->n = 0;
    add(ranges, buffer->offset, buffer->offset + buffer->size);
}

bool tsl_footing_is_by_rows(const struct tsl_byte_set *set)
{
    uint64_t n = 0, size = 0;
    for (unsigned i = 0; i < set->n && n <= TSL_RUNS_MOST; i++) {
        const struct tsl_byte_box *box = &set->boxes[i];
        if (box->count[0] > TSL_RUNS_MOST || box->count[1] > TSL_RUNS_MOST)
            return false;
        n += box->count[0] * box->count[1];
        size += box->count[0] * box->count[1] * box->width;
    }
    return n <= tsl_runs_most || (n <= TSL_RUNS_MOST && size / n >= tsl_runs_large);
}

static void add_rows(struct tsl_footing_ranges *ranges, const struct tsl_byte_box *box, uint64_t offset)
{
    for (uint64_t j = 0; j < box->count[1]; j++)
        for (uint64_t i = 0; i < box->count[0]; i++) {
            uint64_t begin = offset + box->offset + i * box->stride[0] + j * box->stride[1];
            add(ranges, begin, begin + box->width);
        }
}

/* Joins the two that are nearest to each other. In ascending order, more than one. */
static unsigned join_nearest(struct tsl_range *ranges, unsigned n)
{
    unsigned best = 1;
    for (unsigned i = 2; i < n; i++)
        if (ranges[i].begin - ranges[i - 1].end < ranges[best].begin - ranges[best - 1].end)
            best = i;
    ranges[best - 1].end = ranges[best].end;
    memmove(&ranges[best], &ranges[best + 1], (n - best - 1) * sizeof(*ranges));
    return n - 1;
}

/* Each box from its first to its last byte: what lies between boxes, the rows between a row that all work-items read
 * and a share's own say, stays out. */
static void add_hulls(struct tsl_footing_ranges *ranges, const struct tsl_byte_set *set,
                      const struct tsl_buffer *buffer)
{
    struct tsl_range hulls[TSL_MAX_BYTE_BOXES];
    unsigned n = 0;
    for (unsigned i = 0; i < set->n; i++) {
        const struct tsl_byte_set one = {.n = 1, .boxes = {set->boxes[i]}};
        n += tsl_byte_set_hull(&one, buffer->size, &hulls[n].begin, &hulls[n].end);
    }
    n = tsl_runs_tidy(hulls, n);
    while (n > 1 && n > tsl_runs_most)
        n = join_nearest(hulls, n);
    for (unsigned i = 0; i < n; i++)
        add(ranges, buffer->offset + hulls[i].begin, buffer->offset + hulls[i].end);
}

static void ranges_of(const struct tsl_byte_set *set, const struct tsl_buffer *buffer, enum tsl_footing_grain grain,
                      struct tsl_footing_ranges *ranges)
{
    bool by_rows = !set->unknown && tsl_footing_is_by_rows(set);
    if (!set->unknown && !by_rows && grain == TSL_FOOTING_SLABS && tsl_slabs_of(set, buffer, ranges))
        return;
    ranges->n = 0;
    if (set->unknown)
        add(ranges, buffer->offset, buffer->offset + buffer->size);
    else if (by_rows)
        for (unsigned i = 0; i < set->n; i++)
            add_rows(ranges, &set->boxes[i], buffer->offset);
    else
        add_hulls(ranges, set, buffer);
}

/* Does one row of the box hold all of [begin, end)? */
static bool has_range(const struct tsl_byte_box *box, uint64_t begin, uint64_t end)
{
    if (begin < box->offset)
        return false;
    uint64_t at = begin - box->offset;
    for (int d = 1; d >= 0; d--) {
        uint64_t i = box->count[d] > 1 ? at / box->stride[d] : 0;
        at -= (i < box->count[d] ? i : box->count[d] - 1) * box->stride[d];
    }
    return at <= box->width && end - begin <= box->width - at;
}

static bool is_sure(const struct tsl_footing_range *range, const struct tsl_byte_set *sure, uint64_t offset)
{
    struct tsl_byte_set all;
    if (range->more) {
        as_set(range, offset, &all);
        return tsl_byte_set_contains(sure, &all);
    }
    for (unsigned i = 0; i < sure->n; i++)
        if (has_range(&sure->boxes[i], range->begin - offset, range->end - offset))
            return true;
    return false;
}

static void mark_overwritten(struct tsl_footing_ranges *ranges, const struct tsl_byte_set *sure, uint64_t offset)
{
    for (unsigned r = 0; r < ranges->n; r++)
        ranges->list[r].overwritten = is_sure(&ranges->list[r], sure, offset);
}

void tsl_footing_reads(const struct tsl_argument_touch *touch, const struct tsl_buffer *buffer,
                       enum tsl_footing_grain grain, struct tsl_footing_ranges *ranges)
{
    if (touch)
        ranges_of(&touch->read, buffer, grain, ranges);
    else
        all_of(buffer, ranges);
}

void tsl_footing_writes(const struct tsl_argument_touch *touch, const struct tsl_buffer *buffer,
                        enum tsl_footing_grain grain, struct tsl_footing_ranges *ranges)
{
    if (!touch) {
        all_of(buffer, ranges);
        return;
    }
    ranges_of(&touch->write, buffer, grain, ranges);
    mark_overwritten(ranges, &touch->sure, buffer->offset);
}

/* ---- Extents ----------------------------------------------------------------------------------------------------- */

/* Do single ranges of the set say more than what is touched? */
static bool is_hull(const struct tsl_byte_set *set, const struct tsl_buffer *buffer, enum tsl_footing_grain grain)
{
    struct tsl_footing_ranges slabs;
    return !set->unknown && !tsl_footing_is_by_rows(set) &&
           (grain != TSL_FOOTING_SLABS || !tsl_slabs_of(set, buffer, &slabs));
}

static bool has_hull(const struct tsl_argument_touch *touch, const struct tsl_buffer *buffer,
                     enum tsl_footing_grain grain)
{
    return buffer && (is_hull(&touch->read, buffer, grain) || is_hull(&touch->write, buffer, grain));
}

static bool wants_extent(const struct tsl_args *args, const struct tsl_argument_touch *touches,
                         enum tsl_footing_grain grain, cl_uint n, const struct tsl_data *data)
{
    for (cl_uint i = 0; i < n; i++) {
        const struct tsl_buffer *b = args->args[i].buffer;
        if (b && tsl_data_of(b) == data && has_hull(&touches[i], b, grain))
            return true;
    }
    return false;
}

void tsl_footing_note_extents(struct tsl_op *op, const struct tsl_args *args, const struct tsl_argument_touch *touches,
                              enum tsl_footing_grain grain, cl_uint n)
{
    static const struct tsl_byte_set all = {.unknown = true};
    unsigned n_hulls = 0;
    for (cl_uint i = 0; touches && i < n; i++)
        n_hulls += has_hull(&touches[i], args->args[i].buffer, grain);
    if (n_hulls == 0)
        return;
    tsl_extents_reserve(op, n_hulls);
    for (cl_uint i = 0; i < args->n_all; i++) {
        const struct tsl_buffer *b = args->args[i].buffer;
        const struct tsl_data *data = b ? tsl_data_of(b) : NULL;
        if (!b || data->svm || !wants_extent(args, touches, grain, n, data))
            continue;
        tsl_extents_add(op, data, i < n ? &touches[i].read : &all, b->offset, b->size, false);
        tsl_extents_add(op, data, i < n ? &touches[i].write : &all, b->offset, b->size, true);
    }
}
