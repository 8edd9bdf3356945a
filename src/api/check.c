#include "api/check.h"
#include "base/fork.h"

cl_int tsl_check_device_type(cl_device_type type)
{
    const cl_device_type all = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                               CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;

    /* Programs that keep it in an int ask for it with all of its higher bits. */
    if (type == CL_DEVICE_TYPE_ALL || type == (cl_device_type)(cl_int)CL_DEVICE_TYPE_ALL)
        return CL_SUCCESS;
    if (type == 0 || type & ~all)
        return CL_INVALID_DEVICE_TYPE;
    return type == CL_DEVICE_TYPE_CUSTOM ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

/* ---- Enqueues ---- */

cl_int tsl_check_queue(struct tsl_enqueue *e, cl_command_queue queue, cl_command_type type, bool blocking)
{
    *e = (struct tsl_enqueue){.queue = tsl_queue_from(queue), .type = type, .blocking = blocking};
    /* Events of its commands keep a released queue visible, but nothing would flush new commands. */
    if (!e->queue || tsl_object_users(&e->queue->object) == 0)
        return CL_INVALID_COMMAND_QUEUE;
    return tsl_forked() ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int tsl_check_mem(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **mem)
{
    *mem = tsl_buffer_from(handle);
    if (!*mem)
        return CL_INVALID_MEM_OBJECT;
    return (*mem)->context == e->queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

size_t tsl_check_base_align(const struct tsl_queue *queue)
{
    if (queue->context->n_devices == 1)
        return 1;
    return tsl_device_number(queue->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
}

cl_int tsl_check_buffer(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **buffer)
{
    cl_int error = tsl_check_mem(e, handle, buffer);
    const struct tsl_buffer *of;
    size_t align;

    if (error)
        return error;
    if ((*buffer)->image)
        return CL_INVALID_MEM_OBJECT;
    of = tsl_buffer_made_of(*buffer);
    if (!of)
        return CL_SUCCESS;
    align = tsl_check_base_align(e->queue);
    return align > 1 && ((*buffer)->offset - of->offset) % align ? CL_MISALIGNED_SUB_BUFFER_OFFSET : CL_SUCCESS;
}

cl_int tsl_check_image(const struct tsl_enqueue *e, cl_mem handle, struct tsl_buffer **image)
{
    cl_int error = tsl_check_mem(e, handle, image);

    return !error && !(*image)->image ? CL_INVALID_MEM_OBJECT : error;
}

cl_int tsl_check_host_access(const struct tsl_buffer *mem, enum tsl_host_use use)
{
    cl_mem_flags forbidden = use == TSL_HOST_READS ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY;

    return mem->flags & (forbidden | CL_MEM_HOST_NO_ACCESS) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

#define MAP_WRITES (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)

cl_int tsl_check_map_flags(cl_map_flags flags)
{
    if (flags & ~(cl_map_flags)(CL_MAP_READ | MAP_WRITES))
        return CL_INVALID_VALUE;
    /* CL_MAP_WRITE_INVALIDATE_REGION excludes all other flags. */
    if (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags != CL_MAP_WRITE_INVALIDATE_REGION)
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

cl_int tsl_check_map_access(const struct tsl_buffer *mem, cl_map_flags flags)
{
    if (flags & CL_MAP_READ && mem->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS))
        return CL_INVALID_OPERATION;
    if (flags & MAP_WRITES && mem->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS))
        return CL_INVALID_OPERATION;
    return CL_SUCCESS;
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

/* ---- Memory objects ---- */

#define DEVICE_ACCESS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
#define HOST_ACCESS   (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)
#define HOST_PTR      (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)

static bool at_most_one(cl_mem_flags flags)
{
    return (flags & (flags - 1)) == 0;
}

cl_int tsl_check_mem_flags(cl_mem_flags flags)
{
    if (flags & ~(cl_mem_flags)(DEVICE_ACCESS | HOST_ACCESS | HOST_PTR))
        return CL_INVALID_VALUE;
    if (!at_most_one(flags & DEVICE_ACCESS) || !at_most_one(flags & HOST_ACCESS))
        return CL_INVALID_VALUE;
    if (flags & CL_MEM_USE_HOST_PTR && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

cl_int tsl_check_host_ptr(cl_mem_flags flags, const void *host_ptr)
{
    bool wanted = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);

    return wanted == (host_ptr != NULL) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

/* OpenCL 3.0, 5.2.1. */
cl_int tsl_check_part_flags(cl_mem_flags whole, cl_mem_flags flags)
{
    const struct {
        cl_mem_flags whole, forbidden;
    } rules[] = {
        {CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY},
        {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY},
        {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
        {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
        {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY},
    };

    if (tsl_check_mem_flags(flags) || flags & HOST_PTR)
        return CL_INVALID_VALUE;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (whole & rules[i].whole && flags & rules[i].forbidden)
            return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

cl_mem_flags tsl_inherit_mem_flags(cl_mem_flags whole, cl_mem_flags flags)
{
    if (!(flags & DEVICE_ACCESS))
        flags |= whole & DEVICE_ACCESS;
    if (!(flags & HOST_ACCESS))
        flags |= whole & HOST_ACCESS;
    return flags | (whole & HOST_PTR);
}

cl_int tsl_check_images(const struct tsl_context *context)
{
    if (!context)
        return CL_INVALID_CONTEXT;
    if (tsl_forked())
        return CL_OUT_OF_RESOURCES;
    for (cl_uint i = 0; i < context->n_devices; i++)
        if (tsl_device_number(context->devices[i], CL_DEVICE_IMAGE_SUPPORT))
            return CL_SUCCESS;
    return CL_INVALID_OPERATION;
}

/* ---- Ranges and boxes ---- */

cl_int tsl_check_range(const struct tsl_buffer *buffer, size_t offset, size_t size)
{
    return offset <= buffer->size && size <= buffer->size - offset ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* *sum += a * b; false if that overflows a size_t. */
static bool add_product(size_t *sum, size_t a, size_t b)
{
    size_t product;

    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

cl_int tsl_check_host_box(const size_t region[3], size_t row_pitch, size_t slice_pitch)
{
    size_t end = region[0];

    return add_product(&end, region[1] - 1, row_pitch) && add_product(&end, region[2] - 1, slice_pitch) &&
                   end <= TSL_HOST_SPAN
               ? CL_SUCCESS
               : CL_INVALID_VALUE;
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

/* The offset of row k of a box. Rows are in ascending order, as a slice is no shorter than its rows. */
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
