/* What a program has: contexts, queues, buffers. */
#include "sim.h"

#include <stdio.h>
#include <string.h>

bool sim_went_well(struct sim *sim, cl_int error, const char *what)
{
    if (error == CL_OUT_OF_HOST_MEMORY && sim->options.out_of_memory)
        return false;
    if (error)
        sim_fail(sim, "%s: error %d", what, error);
    return !error;
}

/* ---- Contexts ---- */

static bool build(struct sim_world *world, unsigned i)
{
    const struct tsl_dispatch *cl = world->cl;
    const char *source = sim_world_source();
    cl_int error;

    world->programs[i] = cl->clCreateProgramWithSource(world->contexts[i], 1, &source, NULL, &error);
    if (!sim_went_well(world->sims[0], error, "clCreateProgramWithSource"))
        return false;
    error = cl->clBuildProgram(world->programs[i], 1, &world->device, "", NULL, NULL);
    return sim_went_well(world->sims[0], error, "clBuildProgram");
}

bool sim_contexts_create(struct sim_world *world)
{
    for (unsigned i = 0; i < world->n_contexts; i++) {
        cl_int error;

        world->contexts[i] = world->cl->clCreateContext(NULL, 1, &world->device, NULL, NULL, &error);
        if (!sim_went_well(world->sims[0], error, "clCreateContext") || !build(world, i))
            return false;
    }
    return true;
}

void sim_contexts_release(struct sim_world *world)
{
    for (unsigned i = 0; i < world->n_contexts; i++) {
        if (world->programs[i])
            world->cl->clReleaseProgram(world->programs[i]);
        if (world->contexts[i])
            world->cl->clReleaseContext(world->contexts[i]);
        world->contexts[i] = NULL;
    }
}

/* ---- Queues ---- */

bool sim_queue_create(struct sim *sim, unsigned i)
{
    bool plain = sim->options.plain & SIM_PLAIN_QUEUES;
    bool profiles = sim_once_in(sim, 3) && !plain, in_order = !sim_once_in(sim, 3) || plain;
    cl_command_queue queue;
    cl_int error;

    queue = sim->cl->clCreateCommandQueue(
        sim->context, sim->world->device,
        (profiles ? CL_QUEUE_PROFILING_ENABLE : 0) | (in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), &error);
    if (!sim_went_well(sim, error, "clCreateCommandQueue"))
        return false;
    sim->queues[i] = queue;
    sim->profiles[i] = profiles;
    sim->in_order[i] = in_order;
    sim->last_of_queue[i] = -1;
    memset(&sim->all_of_queue[i], 0, sizeof sim->all_of_queue[i]);
    sim_tell(sim, "# queue %u: %s%s", i, in_order ? "in order" : "out of order", profiles ? ", profiling" : "");
    return true;
}

/* ---- Buffers ---- */

static void CL_CALLBACK destroyed(cl_mem mem, void *arg)
{
    struct sim_buffer *b = arg;

    (void)mem;
    b->n_destroyed++;
}

static cl_mem_flags random_flags(struct sim *sim)
{
    static const cl_mem_flags device[] = {CL_MEM_READ_WRITE, CL_MEM_READ_WRITE, 0, 0, CL_MEM_READ_ONLY};
    static const cl_mem_flags host[] = {CL_MEM_USE_HOST_PTR,   CL_MEM_USE_HOST_PTR,
                                        CL_MEM_COPY_HOST_PTR,  CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
                                        CL_MEM_ALLOC_HOST_PTR, 0};

    return device[sim_pick(sim, 5)] | host[sim_pick(sim, 6)];
}

/* Of the buffer, or of its last sub-buffer. */
static bool create_sub_image(struct sim *sim, struct sim_buffer *b)
{
    unsigned n = b->n_subs;
    bool of_sub = n > 0 && !b->sub_shapes[n - 1].pixel && sim_once_in(sim, 2);
    cl_int error = CL_SUCCESS;

    b->sub_offsets[n] = of_sub ? b->sub_offsets[n - 1] : 0;
    b->subs[n] = sim_image_create_of(sim, of_sub ? b->subs[n - 1] : b->root, of_sub ? b->sub_sizes[n - 1] : b->size,
                                     &b->sub_shapes[n], &error);
    if (!sim_went_well(sim, error, "clCreateImage")) {
        b->sub_shapes[n].pixel = 0;
        return false;
    }
    if (!b->subs[n]) { /* too small */
        b->sub_shapes[n].pixel = 0;
        return true;
    }
    b->sub_sizes[n] = sim_shape_span(&b->sub_shapes[n]);
    b->n_subs++;
    sim_tell(sim, "#   image %c%u: %zu bytes at %zu, rows of %zu pixels each %zu bytes",
             (int)('A' + (b - sim->buffers)), n, b->sub_sizes[n], b->sub_offsets[n], b->sub_shapes[n].size[0],
             b->sub_shapes[n].pitch);
    return true;
}

/* Sub-buffers may meet each other, and often do. */
static bool create_sub(struct sim *sim, struct sim_buffer *b)
{
    unsigned n = b->n_subs;
    size_t align = sim->world->align, n_places = (b->size + align - 1) / align;
    cl_buffer_region region;
    cl_int error;

    region.origin = align * sim_pick(sim, (unsigned)n_places);
    region.size = 1 + sim_pick(sim, (unsigned)(b->size - region.origin));
    if (sim->world->has_images && sim_once_in(sim, 3))
        return create_sub_image(sim, b);
    b->subs[n] = sim->cl->clCreateSubBuffer(b->root, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (!sim_went_well(sim, error, "clCreateSubBuffer"))
        return false;
    b->sub_offsets[n] = region.origin;
    b->sub_sizes[n] = region.size;
    b->n_subs++;
    sim_tell(sim, "#   sub-buffer %c%u: %zu bytes at %zu", (int)('A' + (b - sim->buffers)), n, region.size,
             region.origin);
    return true;
}

bool sim_buffer_create(struct sim *sim)
{
    unsigned i = sim->n_buffers, n_subs;
    struct sim_buffer *b = &sim->buffers[i];
    bool wants_ptr, is_image;
    void *host_ptr;
    cl_int error;

    b->size = 128 + 64 * sim_pick(sim, (SIM_MAX_SIZE - 128) / 64 + 1);
    b->flags = random_flags(sim);
    n_subs = sim_pick(sim, SIM_MAX_SUBS + 1);
    if (sim->options.plain & SIM_PLAIN_BUFFERS) {
        b->flags = CL_MEM_COPY_HOST_PTR;
        n_subs = 0;
    }
    wants_ptr = b->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    b->filled = wants_ptr;
    sim_set_bytes(sim->host_ptrs[i], SIM_MAX_SIZE, (unsigned char)i);
    host_ptr = wants_ptr ? sim->host_ptrs[i] : NULL;
    is_image = sim->world->has_images && !(sim->options.plain & SIM_PLAIN_BUFFERS) && sim_once_in(sim, 3);
    if (is_image) {
        n_subs = 0;
        b->root = sim_image_create(sim, b, host_ptr, &error);
    } else {
        b->root = sim->cl->clCreateBuffer(sim->context, b->flags, b->size, host_ptr, &error);
    }
    if (!sim_went_well(sim, error, "clCreateBuffer")) {
        b->shape.pixel = 0;
        return false;
    }
    if (is_image)
        sim_tell(sim, "# image: %zu x %zu x %zu of %zu bytes, pitches %zu and %zu", b->shape.size[0], b->shape.size[1],
                 b->shape.size[2], b->shape.pixel, b->shape.pitch, b->shape.slice_pitch);
    sim->n_buffers++;
    b->alive = true;
    sim_tell(sim, "# buffer %c: %zu bytes, flags %#llx", 'A' + (int)i, b->size, (unsigned long long)b->flags);
    error = sim->cl->clSetMemObjectDestructorCallback(b->root, destroyed, b);
    if (!sim_went_well(sim, error, "clSetMemObjectDestructorCallback"))
        b->n_destroyed++;
    for (unsigned n = 0; n < n_subs; n++)
        if (!create_sub(sim, b))
            return false;
    return true;
}

/* In any order, and while commands may still run. */
void sim_buffer_release(struct sim *sim, unsigned i)
{
    struct sim_buffer *b = &sim->buffers[i];
    unsigned root_at = sim_pick(sim, b->n_subs + 1);

    b->alive = false;
    for (unsigned n = 0; n <= b->n_subs; n++) {
        if (n == root_at) {
            sim->cl->clReleaseMemObject(b->root);
            if (b->flags & CL_MEM_USE_HOST_PTR)
                sim_world_take_back(sim, sim->host_ptrs[i], SIM_MAX_SIZE);
        }
        if (n < b->n_subs)
            sim->cl->clReleaseMemObject(b->subs[n]);
    }
}

/* ---- All ---- */

bool sim_things_create(struct sim *sim)
{
    unsigned n_queues = 1 + sim_pick(sim, SIM_MAX_QUEUES), n_buffers = 1 + sim_pick(sim, SIM_MAX_BUFFERS / 2);

    for (unsigned i = 0; i < n_queues; i++) {
        if (!sim_queue_create(sim, i))
            return false;
        sim->n_queues++;
    }
    for (unsigned i = 0; i < n_buffers; i++)
        if (!sim_buffer_create(sim))
            return false;
    return true;
}

static void release_queues(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_queues; i++)
        sim->cl->clReleaseCommandQueue(sim->queues[i]);
}

static void release_events(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].event)
            sim->cl->clReleaseEvent(sim->nodes[i].event);
}

void sim_things_release(struct sim *sim)
{
    bool queues_first, events_first;

    sim_chance(sim, 3, 0);
    queues_first = sim_once_in(sim, 2);
    events_first = sim_once_in(sim, 2);
    if (queues_first)
        release_queues(sim);
    if (events_first)
        release_events(sim);
    for (unsigned i = 0; i < sim->n_buffers; i++)
        if (sim->buffers[i].alive)
            sim_buffer_release(sim, i);
    for (unsigned i = 0; i < sizeof sim->kernels / sizeof *sim->kernels; i++)
        if (sim->kernels[i])
            sim->cl->clReleaseKernel(sim->kernels[i]);
    if (!events_first)
        release_events(sim);
    if (!queues_first)
        release_queues(sim);
}
