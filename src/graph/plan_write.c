/* The plans of writes, copies and fills. */
#include "base/sets.h"
#include "facts/kernel_facts.h"
#include "graph/boxes.h"
#include "graph/claim.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/dependences.h"
#include "graph/extent.h"
#include "graph/op.h"
#include "graph/plan_kinds.h"
#include "graph/plan_op.h"
#include "graph/plan_space.h"
#include "graph/residency.h"
#include "graph/runs.h"
#include "graph/space.h"
#include "graph/valid.h"
#include "object/buffer.h"
#include "tile/tile.h"

/* The application writes these bytes of the object. */
static void note_write(struct tsl_data *data, const struct tsl_box_copy *box)
{
    if (tsl_runs_count(box) == 1 && tsl_runs_hull(box) == data->size)
        data->host_is_members = false;
}

/* The bytes are in the host's copy already, as the application wrote them there before the call, or a host task will.
 */
cl_int tsl_plan_write_in_place(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    note_write(data, box);
    cl_int error = tsl_plan_turn(c, order, box, TSL_MAY_WRITE);
    for (size_t i = 0; i < tsl_runs_count(box) && !error; i++) {
        struct tsl_range run = tsl_runs_at(box, i);
        error = tsl_claim_for_command(c, data, run.begin, run.end, TSL_MAY_WRITE, true);
    }
    return error;
}

/* ---- To one copy, or to all -------------------------------------------------------------------------------------- */

/* Where the work is done: on the copies in these spaces of what it reads, if that is an object, and of what it writes.
 */
struct spaces {
    unsigned src, dst;
};

/* Makes, without claims, an operation that does the command's work there; NULL: no memory. */
typedef struct tsl_op *make_op(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box,
                               struct spaces spaces);
/* Claims what the operation reads. */
typedef cl_int claim_source(struct tsl_op *op, const struct tsl_box_copy *box);

struct work {
    make_op *make;
    claim_source *claim_source; /* NULL: it reads nothing */
};

/* all: other operations of the command do the same in other spaces. */
static cl_int plan_in(struct tsl_command *c, const tsl_dependences *order, const struct work *work,
                      const struct tsl_box_copy *box, struct spaces spaces, bool all)
{
    const struct tsl_box_copy src = tsl_runs_of_src(box);
    struct tsl_op *op = work->make(c, order, box, spaces);
    if (!op)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_extents_of_box(op, op->src.data && !tsl_runs_are_few(&src), all || !tsl_runs_are_few(box));
    cl_int error = work->claim_source ? work->claim_source(op, box) : CL_SUCCESS;
    if (!error && all)
        error = tsl_box_claim_copy(op, op->dst.data, box, spaces.dst);
    else if (!error)
        error = tsl_box_overwrite(op, op->dst.data, box, spaces.dst);
    return tsl_plan_go(op, error);
}

static cl_int plan_in_all(struct tsl_command *c, const tsl_dependences *order, const struct work *work,
                          const struct tsl_box_copy *box, tsl_spaces copies)
{
    cl_int error = CL_SUCCESS;
    while (!tsl_spaces_is_empty(copies)) { /* Also past an error: the copies are to be alike. */
        unsigned space = tsl_spaces_first(copies);
        cl_int failed = plan_in(c, order, work, box, (struct spaces){space, space}, true);
        error = error ? error : failed;
        tsl_spaces_remove(&copies, space);
    }
    return error;
}

/* ---- Writes ------------------------------------------------------------------------------------------------------ */

static struct tsl_op *make_write(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box,
                                 struct spaces spaces)
{
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, spaces.dst, tsl_data_of(c->dst)), TSL_OP_COPY);
    if (!op)
        return NULL;
    tsl_plan_dst(op, tsl_data_of(c->dst), spaces.dst, box);
    op->src = (struct tsl_side){.host = c->host,
                                .offset = box->src_offset,
                                .row_pitch = box->src_row_pitch,
                                .slice_pitch = box->src_slice_pitch};
    return op;
}

static cl_int claim_written(struct tsl_op *op, const struct tsl_box_copy *box)
{
    return tsl_claim_host(op, op->src.host + box->src_offset, tsl_side_hull(op, &op->src), false);
}

cl_int tsl_plan_write_to(struct tsl_command *c, const tsl_dependences *order, unsigned space)
{
    static const struct work work = {make_write, claim_written};
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    note_write(tsl_data_of(c->dst), &box);
    tsl_spaces copies = tsl_box_copies(c, tsl_data_of(c->dst), &box);
    if (!tsl_spaces_is_empty(copies))
        return plan_in_all(c, order, &work, &box, copies);
    if (tsl_plan_better_by_host(c, space, tsl_data_of(c->dst), box.dst_offset, c->host + box.src_offset))
        space = TSL_SPACE_HOST;
    return plan_in(c, order, &work, &box, (struct spaces){space, space}, false);
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static struct tsl_op *make_copy(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box,
                                struct spaces spaces)
{
    struct tsl_data *src = tsl_data_of(c->src);
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, spaces.src, src), TSL_OP_COPY);
    if (!op)
        return NULL;
    tsl_plan_dst(op, tsl_data_of(c->dst), spaces.dst, box);
    op->src = (struct tsl_side){.data = src,
                                .space = spaces.src,
                                .offset = box->src_offset,
                                .row_pitch = box->src_row_pitch,
                                .slice_pitch = box->src_slice_pitch};
    return op;
}

static cl_int claim_copied(struct tsl_op *op, const struct tsl_box_copy *box)
{
    const struct tsl_box_copy src = tsl_runs_of_src(box);
    return tsl_box_claim_read(op, op->src.data, &src, op->src.space);
}

/* Does the space's number say the same of both objects? What is spread may lie over these members or over others. */
static bool is_one_space(const struct tsl_data *a, const struct tsl_data *b, unsigned space)
{
    if (space != TSL_SPACE_SPREAD)
        return true;
    return tsl_spread_is(a->spread) && tsl_spread_is(b->spread) &&
           tsl_members_are(a->spread->members, b->spread->members);
}

/* The copies of dst that are all written, if each of these spaces has the source; else none. */
static tsl_spaces copies_with_source(struct tsl_command *c, const struct tsl_box_copy *box)
{
    struct tsl_data *src = tsl_data_of(c->src);
    uint64_t begin = box->src_offset, end = begin + tsl_box_hull(box->region, box->src_row_pitch, box->src_slice_pitch);
    tsl_spaces copies = tsl_box_copies(c, tsl_data_of(c->dst), box), left = copies;
    while (!tsl_spaces_is_empty(left)) {
        unsigned space = tsl_spaces_first(left);
        tsl_spaces_remove(&left, space);
        if (!is_one_space(src, tsl_data_of(c->dst), space) || !tsl_valid_is_in(src, begin, end, space))
            return TSL_SPACES_NONE;
    }
    return copies;
}

cl_int tsl_plan_copy(struct tsl_command *c, const tsl_dependences *order)
{
    static const struct work work = {make_copy, claim_copied};
    struct tsl_data *src = tsl_data_of(c->src), *dst = tsl_data_of(c->dst);
    struct tsl_box_copy box = c->box;
    box.src_offset += c->src->offset;
    box.dst_offset += c->dst->offset;
    tsl_spaces copies = copies_with_source(c, &box);
    if (!tsl_spaces_is_empty(copies))
        return plan_in_all(c, order, &work, &box, copies);
    const struct tsl_box_copy from = tsl_runs_of_src(&box);
    unsigned space = tsl_plan_work_space(c, src, &from, dst);
    const struct spaces spaces = {space, tsl_plan_space_beside(c->graph, space, src, dst)};
    if (space != TSL_SPACE_HOST)
        tsl_residency_pin(c, dst, tsl_space_port(c->graph, src, space));
    cl_int error = tsl_box_fetch(c, src, &from, space);
    return error ? error : plan_in(c, order, &work, &box, spaces, false);
}

/* ---- Fills ------------------------------------------------------------------------------------------------------- */

static struct tsl_op *make_fill(struct tsl_command *c, const tsl_dependences *order, const struct tsl_box_copy *box,
                                struct spaces spaces)
{
    struct tsl_data *data = tsl_data_of(c->dst);
    struct tsl_op *op = tsl_plan_op(c, order, tsl_plan_port(c, spaces.dst, data), TSL_OP_FILL);
    if (op)
        tsl_plan_dst(op, data, spaces.dst, box);
    return op;
}

cl_int tsl_plan_fill(struct tsl_command *c, const tsl_dependences *order)
{
    static const struct work work = {make_fill, NULL};
    struct tsl_data *data = tsl_data_of(c->dst);
    struct tsl_box_copy box = c->box;
    box.dst_offset += c->dst->offset;
    tsl_spaces copies = tsl_box_copies(c, data, &box);
    if (!tsl_spaces_is_empty(copies))
        return plan_in_all(c, order, &work, &box, copies);
    unsigned space = tsl_plan_work_space(c, data, &box, data);
    if (tsl_runs_count(&box) == 1)
        box = (struct tsl_box_copy){.region = {tsl_runs_hull(&box), 1, 1}, .dst_offset = box.dst_offset};
    return plan_in(c, order, &work, &box, (struct spaces){space, space}, false);
}
