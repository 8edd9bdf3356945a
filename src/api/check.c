#include "api/check.h"

cl_int tsl_check_device_type(cl_device_type type)
{
    const cl_device_type all = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                               CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;

    if (type == CL_DEVICE_TYPE_ALL)
        return CL_SUCCESS;
    if (type == 0 || type & ~all)
        return CL_INVALID_DEVICE_TYPE;
    return type == CL_DEVICE_TYPE_CUSTOM ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

/* ---- Enqueues ---- */

cl_int tsl_check_queue(struct tsl_enqueue *e, cl_command_queue queue, cl_command_type type, bool blocking)
{
    *e = (struct tsl_enqueue){.queue = tsl_queue_from(queue), .type = type, .blocking = blocking};
    if (!e->queue)
        return CL_INVALID_COMMAND_QUEUE;
    return tsl_forked() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int tsl_check_buffer(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **buffer)
{
    *buffer = tsl_buffer_from(handle);
    if (!*buffer)
        return CL_INVALID_MEM_OBJECT;
    return (*buffer)->context == e->queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int tsl_check_tail(struct tsl_enqueue *e, const struct tsl_tail *tail)
{
    if ((tail->n_wait == 0) != (tail->wait == NULL))
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < tail->n_wait; i++) {
        const struct tsl_event *event = tsl_event_from(tail->wait[i]);

        if (!event)
            return CL_INVALID_EVENT_WAIT_LIST;
        if (event->context != e->queue->context)
            return CL_INVALID_CONTEXT;
    }
    e->n_wait = tail->n_wait;
    e->wait = (struct tsl_event *const *)tail->wait;
    e->event = (struct tsl_event **)tail->event;
    return CL_SUCCESS;
}

/* ---- Ranges and boxes ---- */

cl_int tsl_check_range(const struct tsl_buffer *buffer, size_t offset, size_t size)
{
    return offset <= buffer->size && size <= buffer->size - offset ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* *sum += a * b; false when that is more than a size_t holds. */
static bool add_product(size_t *sum, size_t a, size_t b)
{
    size_t product;

    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

static bool pitches_suit(struct tsl_side *side, const size_t *region)
{
    size_t slice_size;

    if (side->row_pitch == 0)
        side->row_pitch = region[0];
    if (side->row_pitch < region[0] || __builtin_mul_overflow(region[1], side->row_pitch, &slice_size))
        return false;
    if (side->slice_pitch == 0)
        side->slice_pitch = slice_size;
    return side->slice_pitch >= slice_size && side->slice_pitch % side->row_pitch == 0;
}

cl_int tsl_check_side(struct tsl_side *side, const size_t *region, size_t limit)
{
    if (!side->origin || !region || region[0] == 0 || region[1] == 0 || region[2] == 0 || !pitches_suit(side, region))
        return CL_INVALID_VALUE;
    side->offset = side->origin[0];
    if (!add_product(&side->offset, side->origin[1], side->row_pitch) ||
        !add_product(&side->offset, side->origin[2], side->slice_pitch))
        return CL_INVALID_VALUE;
    side->end = side->offset;
    if (!add_product(&side->end, region[0], 1) || !add_product(&side->end, region[1] - 1, side->row_pitch) ||
        !add_product(&side->end, region[2] - 1, side->slice_pitch))
        return CL_INVALID_VALUE;
    return side->end <= limit ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* Where row number k of a box begins. Rows come in ascending order, as a slice is no shorter than its rows. */
static size_t row_begin(const struct tsl_side *side, size_t k, const size_t *region)
{
    return side->offset + k / region[1] * side->slice_pitch + k % region[1] * side->row_pitch;
}

bool tsl_sides_overlap(const struct tsl_side *a, size_t a_offset, const struct tsl_side *b, size_t b_offset,
                       const size_t *region)
{
    size_t n_rows = region[1] * region[2];

    if (a_offset + a->end <= b_offset + b->offset || b_offset + b->end <= a_offset + a->offset)
        return false;
    for (size_t i = 0, k = 0; i < n_rows && k < n_rows;) {
        size_t a_row = a_offset + row_begin(a, i, region);
        size_t b_row = b_offset + row_begin(b, k, region);

        if (a_row + region[0] <= b_row)
            i++;
        else if (b_row + region[0] <= a_row)
            k++;
        else
            return true;
    }
    return false;
}
