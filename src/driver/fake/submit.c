/* The fake driver's submissions: checked against the contract, then queued in their lane. Launches are in launch.c. */
#include "driver/combine.h"
#include "driver/fake/internal.h"

#include <string.h>

/* ---- Any submission ---- */

static cl_int take_waits_locked(struct fake_op *op, const struct tsl_waits *waits)
{
    op->n_waits = waits ? waits->n : 0;
    op->waits = tsl_fake_new_locked((op->n_waits + 1) * sizeof *op->waits);
    for (unsigned i = 0; i < op->n_waits; i++) {
        struct fake_fence *fence = (struct fake_fence *)waits->fences[i];

        if (!tsl_fake_can_wait(op->lane->base.member, waits->fences[i])) {
            tsl_fake_violate_locked(TSL_FAKE_BAD_WAIT, "%s waits for a fence of %s, which it can't",
                                    tsl_fake_op_name(op), waits->fences[i]->driver->name);
            return CL_INVALID_EVENT_WAIT_LIST;
        }
        if (fence->freed) {
            tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s waits for a freed fence", tsl_fake_op_name(op));
            return CL_INVALID_EVENT_WAIT_LIST;
        }
        op->waits[i] = fence;
    }
    return CL_SUCCESS;
}

static const enum tsl_fake_kind kinds[TSL_FAKE_N_CALLS] = {
    [TSL_FAKE_COPY] = TSL_FAKE_DID_COPY,       [TSL_FAKE_FILL] = TSL_FAKE_DID_FILL,
    [TSL_FAKE_COMBINE] = TSL_FAKE_DID_COMBINE, [TSL_FAKE_LAUNCH] = TSL_FAKE_DID_LAUNCH,
    [TSL_FAKE_MARK] = TSL_FAKE_DID_MARK,
};

static struct fake_op *op_new_locked(struct fake_lane *lane, enum tsl_fake_call call)
{
    struct fake_op *op = tsl_fake_new_locked(sizeof *op);

    op->id = ++tsl_fake.last_op;
    op->kind = kinds[call];
    op->lane = lane;
    op->epoch = tsl_fake.epoch;
    op->submit_ns = tsl_fake_now_locked();
    op->failure = tsl_fake_work_failure_locked(fake_lane_member(lane), call);
    return op;
}

struct fake_op *tsl_fake_submit_begin_locked(struct tsl_lane *base, enum tsl_fake_call call, const char *operation,
                                             const struct tsl_waits *waits, cl_int *rc)
{
    struct fake_lane *lane = (struct fake_lane *)base;
    struct fake_op *op;

    /* A mark may come from any thread. */
    if (call != TSL_FAKE_MARK && atomic_flag_test_and_set(&lane->submitting))
        tsl_fake_violate(TSL_FAKE_TWO_THREADS, "%s: another thread submits to lane %u", operation, lane->number);
    *rc = tsl_fake_enter_locked(fake_lane_member(lane), call, operation);
    if (*rc) {
        if (call != TSL_FAKE_MARK)
            atomic_flag_clear(&lane->submitting);
        return NULL;
    }
    op = op_new_locked(lane, call);
    if (lane->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s: the lane was freed", tsl_fake_op_name(op));
        *rc = CL_INVALID_COMMAND_QUEUE;
    } else {
        *rc = take_waits_locked(op, waits);
    }
    return op;
}

static void append_locked(struct fake_op *op)
{
    struct fake_lane *lane = op->lane;

    op->lane_prev = lane->last;
    if (lane->last)
        lane->last->lane_next = op;
    lane->last = op;
    if (!lane->first)
        lane->first = op;
    tsl_fake.n_busy++;
}

cl_int tsl_fake_submit_end_locked(struct fake_op *op, cl_int rc, struct tsl_fence **fence)
{
    if (rc == CL_SUCCESS) {
        append_locked(op);
        op->drops_waits = op->n_waits && tsl_fake_sabotage_locked(TSL_FAKE_DROP_WAITS);
        op->stale = op->copy.region[0] && tsl_fake_sabotage_locked(TSL_FAKE_STALE_COPY);
        op->early = fence && tsl_fake_sabotage_locked(TSL_FAKE_EARLY_FENCE);
        if (fence) {
            op->fence = tsl_fake_fence_new_locked(op, op->lane->base.member);
            *fence = &op->fence->base;
        }
    } else {
        for (unsigned i = 0; i < op->n_uses; i++)
            op->uses[i]->n_unknown--;
    }
    if (op->kind != TSL_FAKE_DID_MARK)
        atomic_flag_clear(&op->lane->submitting);
    tsl_fake_leave_locked();
    return rc;
}

static void note_use(struct fake_op *op, struct fake_mem *mem)
{
    for (unsigned i = 0; i < op->n_uses; i++)
        if (op->uses[i] == mem)
            return;
    op->uses[op->n_uses++] = mem;
    mem->n_unknown++;
}

cl_int tsl_fake_use_locked(struct fake_op *op, struct fake_mem *mem)
{
    if (mem->freed || mem->root->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s works on freed memory", tsl_fake_op_name(op));
        return CL_INVALID_MEM_OBJECT;
    }
    if (!op->uses)
        op->uses = tsl_fake_new_locked((8 + 2 * op->launch.n_args) * sizeof(struct fake_mem *));
    note_use(op, mem);
    note_use(op, mem->root);
    return tsl_fake_mem_take_locked(mem->root);
}

static cl_int refuse(const struct fake_op *op, const char *why)
{
    tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "%s: %s", tsl_fake_op_name(op), why);
    return CL_INVALID_VALUE;
}

/* ---- Copies ---- */

bool tsl_fake_can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    return from->driver == &tsl_fake_driver && to->driver == &tsl_fake_driver && from != to &&
           fake_member(from)->is.peer && fake_member(to)->is.peer;
}

/* Bytes from the place's base to the end of the box, or 0 if the pitches make no sense. */
static size_t box_end(const struct tsl_place *place, const size_t region[3])
{
    bool rows = region[1] > 1 || region[2] > 1, slices = region[2] > 1;

    if ((rows && place->row_pitch < region[0]) || (slices && place->slice_pitch < region[1] * place->row_pitch))
        return 0;
    return place->offset + region[0] + (rows ? (region[1] - 1) * place->row_pitch : 0) +
           (slices ? (region[2] - 1) * place->slice_pitch : 0);
}

static bool meets_padding(const struct tsl_image_desc *image, size_t offset, size_t size)
{
    struct tsl_image_box boxes[TSL_IMAGE_MAX_BOXES];
    unsigned n = tsl_image_cut(image, offset, offset + size, boxes);

    for (unsigned i = 0; i < n; i++)
        size -= boxes[i].region[0] * boxes[i].region[1] * boxes[i].region[2];
    return size > 0;
}

/* Within the image's rows and slices, and in whole pixels? */
static bool fits_image(const struct tsl_image_desc *image, const struct tsl_place *place, const size_t region[3])
{
    size_t origin[3], pixel = image->element_size;
    bool box = region[1] > 1 || region[2] > 1;

    if (place->offset % pixel || region[0] % pixel)
        return false;
    if (!box)
        return !meets_padding(image, place->offset, region[0]);
    tsl_image_origin(image, place->offset, origin);
    if ((region[1] > 1 && place->row_pitch != tsl_image_row_step(image)) ||
        (region[2] > 1 && place->slice_pitch != image->slice_pitch))
        return false;
    return origin[0] + region[0] / pixel <= image->width && origin[1] + region[1] <= tsl_image_rows(image) &&
           origin[2] + region[2] <= tsl_image_slices(image);
}

static cl_int check_image(struct fake_op *op, const struct tsl_place *place, const size_t region[3])
{
    const struct fake_mem *mem = (const struct fake_mem *)place->mem;

    if (!mem->is_image)
        return CL_SUCCESS;
    if (mem->root != mem)
        return refuse(op, "it names an image of a buffer, where the buffer is wanted");
    return fits_image(&mem->desc, place, region) ? CL_SUCCESS : refuse(op, "it is no part of the image");
}

static cl_int check_place_locked(struct fake_op *op, const struct tsl_place *place, const size_t region[3])
{
    size_t end = box_end(place, region);

    if (!end)
        return refuse(op, "a pitch is too small");
    if (!place->mem)
        return place->host ? CL_SUCCESS : refuse(op, "no memory, neither a member's nor the host's");
    if (end > place->mem->size)
        return refuse(op, "it leaves its memory");
    if (check_image(op, place, region))
        return CL_INVALID_VALUE;
    return tsl_fake_use_locked(op, (struct fake_mem *)place->mem);
}

/* What this copy is, by the sides' members; refuses what the contract doesn't allow. */
static cl_int check_sides(struct fake_op *op)
{
    struct tsl_member *own = op->lane->base.member;
    struct tsl_member *to = op->copy.dst.mem ? op->copy.dst.mem->member : NULL;
    struct tsl_member *from = op->copy.src.mem ? op->copy.src.mem->member : NULL;

    if (to != own && from != own)
        return refuse(op, "no side is memory of the lane's member");
    if (!from) {
        op->kind = TSL_FAKE_DID_WRITE;
    } else if (!to) {
        op->kind = TSL_FAKE_DID_READ;
    } else if (from != to) {
        if (!tsl_fake_can_copy_peer(from, to))
            return refuse(op, "the members have no way to each other");
        op->kind = TSL_FAKE_DID_PEER;
        op->peer = fake_member(from == own ? to : from);
    }
    return CL_SUCCESS;
}

static bool meets_itself(void)
{
    const struct fake_accesses *all = &tsl_fake.gathered;

    for (size_t i = 0; i < all->n; i++)
        for (size_t j = 0; j < i; j++)
            if (all->items[i].write != all->items[j].write && all->items[i].lo < all->items[j].hi &&
                all->items[j].lo < all->items[i].hi)
                return true;
    return false;
}

static cl_int check_copy_locked(struct fake_op *op)
{
    const struct tsl_copy *copy = &op->copy;
    cl_int rc;

    if (!copy->region[0] || !copy->region[1] || !copy->region[2])
        return refuse(op, "the region is empty");
    op->size = copy->region[0] * copy->region[1] * copy->region[2];
    rc = check_sides(op);
    if (rc == CL_SUCCESS)
        rc = check_place_locked(op, &copy->src, copy->region);
    if (rc == CL_SUCCESS)
        rc = check_place_locked(op, &copy->dst, copy->region);
    if (rc == CL_SUCCESS) {
        tsl_fake_gather_locked(op);
        if (meets_itself())
            rc = refuse(op, "source and destination overlap");
    }
    return rc;
}

cl_int tsl_fake_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    cl_int rc;
    struct fake_op *op = tsl_fake_submit_begin_locked(lane, TSL_FAKE_COPY, "copy", waits, &rc);

    if (!op)
        return rc;
    op->copy = *copy;
    if (rc == CL_SUCCESS)
        rc = check_copy_locked(op);
    return tsl_fake_submit_end_locked(op, rc, fence);
}

/* ---- Combining ---- */

bool tsl_fake_can_combine(struct tsl_member *member)
{
    tsl_fake_need_ready(fake_member(member));
    return !fake_member(member)->is.no_combine;
}

static const unsigned char *bytes_of(const struct tsl_combine_side *side)
{
    return ((const struct fake_mem *)side->mem)->bytes + side->offset;
}

/* The same bytes, or none in common? */
static bool is_same_or_apart(const struct tsl_combine_side *a, const struct tsl_combine_side *b, size_t size)
{
    const unsigned char *x = bytes_of(a), *y = bytes_of(b);

    return x == y || x + size <= y || y + size <= x;
}

static cl_int check_combine_locked(struct fake_op *op)
{
    const struct tsl_combine *c = &op->combine;
    const struct tsl_combine_side *sides[] = {&c->dst, &c->a, &c->b, &c->before};
    unsigned n = c->before.mem ? 4 : 3;

    if (!tsl_combine_is_sound(c))
        return refuse(op, "its ranges, or its elements, are none that can be combined");
    for (unsigned i = 0; i < n; i++) {
        struct fake_mem *mem = (struct fake_mem *)sides[i]->mem;
        cl_int rc;

        if (mem->base.member != op->lane->base.member)
            return refuse(op, "a side is no memory of the lane's member");
        if (mem->is_image)
            return refuse(op, "a side is an image");
        rc = tsl_fake_use_locked(op, mem);
        if (rc)
            return rc;
    }
    for (unsigned i = 0; i < n; i++)
        if (!is_same_or_apart(&c->dst, sides[i], c->size))
            return refuse(op, "the destination meets another range");
    return CL_SUCCESS;
}

cl_int tsl_fake_combine(struct tsl_lane *lane, const struct tsl_combine *combine, const struct tsl_waits *waits,
                        struct tsl_fence **fence)
{
    cl_int rc;
    struct fake_op *op = tsl_fake_submit_begin_locked(lane, TSL_FAKE_COMBINE, "combine", waits, &rc);

    if (!op)
        return rc;
    op->combine = *combine;
    op->size = combine->size;
    if (rc == CL_SUCCESS)
        rc = check_combine_locked(op);
    return tsl_fake_submit_end_locked(op, rc, fence);
}

/* ---- Fills and marks ---- */

/* Does each row begin and end with a pattern? */
static bool is_in_step(const struct tsl_fill *fill)
{
    const struct tsl_place *dst = &fill->dst;
    bool rows = fill->region[1] > 1, slices = fill->region[2] > 1;

    return !((fill->region[0] | dst->offset | (rows ? dst->row_pitch : 0) | (slices ? dst->slice_pitch : 0)) &
             (fill->pattern_size - 1));
}

static cl_int check_fill_locked(struct fake_op *op)
{
    const struct tsl_fill *fill = &op->fill;

    if (!fill->dst.mem || fill->dst.mem->member != op->lane->base.member)
        return refuse(op, "the destination is no memory of the lane's member");
    if (!fill->region[0] || !fill->region[1] || !fill->region[2])
        return refuse(op, "the region is empty");
    if (!is_in_step(fill))
        return refuse(op, "the pattern's size doesn't divide the rows, their pitches or the offset");
    return check_place_locked(op, &fill->dst, fill->region);
}

cl_int tsl_fake_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                     struct tsl_fence **fence)
{
    size_t pattern_size = fill->pattern_size;
    cl_int rc;
    struct fake_op *op = tsl_fake_submit_begin_locked(lane, TSL_FAKE_FILL, "fill", waits, &rc);

    if (!op)
        return rc;
    op->fill = *fill;
    op->fill.pattern = op->pattern;
    op->size = fill->region[0] * fill->region[1] * fill->region[2];
    if (!pattern_size || pattern_size > sizeof op->pattern || (pattern_size & (pattern_size - 1)))
        rc = refuse(op, "the pattern's size is no power of two up to 128");
    else
        memcpy(op->pattern, fill->pattern, pattern_size);
    if (rc == CL_SUCCESS)
        rc = check_fill_locked(op);
    return tsl_fake_submit_end_locked(op, rc, fence);
}

cl_int tsl_fake_mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    cl_int rc;
    struct fake_op *op = tsl_fake_submit_begin_locked(lane, TSL_FAKE_MARK, "mark", waits, &rc);

    return op ? tsl_fake_submit_end_locked(op, rc, fence) : rc;
}
