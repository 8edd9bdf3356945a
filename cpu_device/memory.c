/* Memory: the host's own, where the core has its copy in host memory. */
#include "cpu_device/operations.h"
#include "cpu_device/queue.h"
#include "cpu_device/work.h"
#include "driver/box.h"
#include "driver/bulk.h"
#include "driver/spread.h"

#include <stdlib.h>
#include <string.h>

/* Whole cache lines; also enough for every OpenCL type. */
#define ALIGN 4096u

static cl_int make(struct tsl_member *member, size_t size, char *data, bool owned, struct tsl_mem **mem)
{
    struct cpu_mem *m = calloc(1, sizeof(*m));

    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->base = (struct tsl_mem){member, size};
    m->data = data;
    m->owned = owned;
    *mem = &m->base;
    return CL_SUCCESS;
}

cl_int cpu_mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    void *data = host;
    cl_int error;

    (void)flags;
    if (size > tsl_member_alloc_limit(member))
        return CL_INVALID_BUFFER_SIZE;
    if (!host && posix_memalign(&data, ALIGN, size))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    error = make(member, size, data, !host, mem);
    if (error && !host)
        free(data);
    return error;
}

cl_int cpu_mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub)
{
    if (offset % mem->member->caps.base_align)
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (size == 0 || offset > mem->size || size > mem->size - offset)
        return CL_INVALID_VALUE;
    return make(mem->member, size, ((struct cpu_mem *)mem)->data + offset, false, sub);
}

/* As a number: the address of a part may lie beside all memory. */
char *cpu_mem_address(const struct tsl_bound_arg *bound)
{
    uintptr_t address = (uintptr_t)((struct cpu_mem *)bound->mem)->data;

    return (char *)(bound->part ? address + (uintptr_t)bound->part->shift : address);
}

/* ---- Memory of several members: the host's, wherever their processors are ----------------------------------------- */

static void put_spread(struct cpu_spread *spread)
{
    if (atomic_fetch_sub(&spread->n_mems, 1) > 1)
        return;
    free(spread->data);
    free(spread);
}

/* NULL: there is no memory. */
static struct cpu_spread *new_spread(size_t size)
{
    struct cpu_spread *spread = calloc(1, sizeof(*spread));
    void *data;

    if (!spread || posix_memalign(&data, ALIGN, size)) {
        free(spread);
        return NULL;
    }
    spread->data = data;
    atomic_init(&spread->n_mems, 1); /* that of who makes it */
    return spread;
}

/* Where the parts lie is the system's choice: a page is of the node whose processor writes to it first. */
cl_int cpu_spread_alloc(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full)
{
    size_t size;
    unsigned n = 0;
    cl_int error = tsl_spread_check(request, &size);
    struct cpu_spread *spread = error ? NULL : new_spread(size);

    if (!error && !spread) {
        *full = 0;
        error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    while (!error && n < request->n) {
        error = make(request->members[n], size, spread->data, false, &mems[n]);
        if (error)
            break;
        ((struct cpu_mem *)mems[n++])->spread = spread;
        atomic_fetch_add(&spread->n_mems, 1);
    }
    while (error && n > 0) {
        cpu_mem_free(mems[--n]);
        mems[n] = NULL;
    }
    if (spread)
        put_spread(spread);
    return error;
}

void cpu_mem_free(struct tsl_mem *mem)
{
    struct cpu_mem *m = (struct cpu_mem *)mem;

    if (m->owned)
        free(m->data);
    if (m->spread)
        put_spread(m->spread);
    free(m);
}

/* ---- Images: memory with a description --------------------------------------------------------------------------- */

cl_int cpu_image_formats(struct tsl_member *member, const struct tsl_format_query *query, cl_uint *n_formats)
{
    cl_uint found = tsl_kc_formats(query->flags, query->type, query->n, query->formats);

    (void)member;
    if (n_formats)
        *n_formats = found;
    return CL_SUCCESS;
}

static void describe(struct tsl_mem *mem, const struct tsl_image_desc *desc)
{
    struct cpu_mem *m = (struct cpu_mem *)mem;

    m->image = tsl_kc_image_of(desc, (uintptr_t)m->data);
    m->pixels = tsl_image_pixels(desc);
}

cl_int cpu_image_alloc(struct tsl_member *member, const struct tsl_image_desc *desc, cl_mem_flags flags, void *host,
                       struct tsl_mem **mem)
{
    cl_int error = cpu_mem_alloc(member, tsl_image_span(desc), flags, host, mem);

    if (error)
        return error == CL_INVALID_BUFFER_SIZE ? CL_INVALID_IMAGE_SIZE : error;
    describe(*mem, desc);
    return CL_SUCCESS;
}

cl_int cpu_image_of(struct tsl_mem *mem, const struct tsl_image_desc *desc, struct tsl_mem **image)
{
    cl_int error;

    if (tsl_image_span(desc) > mem->size)
        return CL_INVALID_IMAGE_SIZE;
    error = make(mem->member, tsl_image_span(desc), ((struct cpu_mem *)mem)->data, false, image);
    if (!error)
        describe(*image, desc);
    return error;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static bool is_own(const struct tsl_lane *lane, const struct tsl_mem *mem)
{
    return mem && mem->member == lane->member;
}

/* Memory of the host, or of a built-in CPU. */
static bool is_reachable(const struct tsl_mem *mem)
{
    return !mem || mem->member->driver == &tsl_cpu_driver;
}

static struct tsl_place by_address(const struct tsl_place *place)
{
    struct tsl_place plain = *place;

    if (place->mem) {
        plain.mem = NULL;
        plain.host = ((struct cpu_mem *)place->mem)->data;
    }
    return plain;
}

static size_t size_of(const struct tsl_copy *copy)
{
    return copy->region[0] * copy->region[1] * copy->region[2];
}

static bool overlaps(const struct tsl_copy *copy)
{
    const char *to = (char *)copy->dst.host + copy->dst.offset, *from = (char *)copy->src.host + copy->src.offset;

    return to < from + size_of(copy) && from < to + size_of(copy);
}

/* One thread alone doesn't reach what the memory can do. */
static void cut(const struct cpu_member *member, struct cpu_task *task)
{
    size_t size = size_of(&task->copy);

    if (size < TSL_BULK_MIN || member->n_threads == 1 || !tsl_copy_is_linear(&task->copy) || overlaps(&task->copy))
        return;
    task->n_pieces = (size + TSL_BULK_CHUNK - 1) / TSL_BULK_CHUNK;
    task->max_joined = member->n_threads < TSL_BULK_MAX ? member->n_threads : TSL_BULK_MAX;
}

cl_int cpu_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                struct tsl_fence **fence)
{
    struct cpu_task *task;

    if (!is_reachable(copy->dst.mem) || !is_reachable(copy->src.mem) ||
        (!is_own(lane, copy->dst.mem) && !is_own(lane, copy->src.mem)))
        return CL_INVALID_MEM_OBJECT;
    task = cpu_task_create(cpu_member_of(lane->member), CPU_COPY);
    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    task->copy = *copy;
    task->copy.src = by_address(&copy->src);
    task->copy.dst = by_address(&copy->dst);
    cut(cpu_member_of(lane->member), task);
    return cpu_submit(lane, task, waits, fence);
}

static void copy_chunk(const struct tsl_copy *copy, size_t begin, size_t most)
{
    size_t size = size_of(copy) - begin;

    memmove((char *)copy->dst.host + copy->dst.offset + begin, (const char *)copy->src.host + copy->src.offset + begin,
            size < most ? size : most);
}

void cpu_copy_run(const struct cpu_task *task, uint64_t piece)
{
    const struct tsl_copy *copy = &task->copy;
    char *to = copy->dst.host;
    const char *from = copy->src.host;

    if (tsl_copy_is_linear(copy)) {
        copy_chunk(copy, piece * TSL_BULK_CHUNK, task->n_pieces > 1 ? TSL_BULK_CHUNK : SIZE_MAX);
        return;
    }
    for (size_t slice = 0; slice < copy->region[2]; slice++)
        for (size_t row = 0; row < copy->region[1]; row++)
            memmove(to + tsl_place_row(&copy->dst, row, slice), from + tsl_place_row(&copy->src, row, slice),
                    copy->region[0]);
}

/* ---- Gathers ----------------------------------------------------------------------------------------------------- */

/* Are all ranges small? Large ones are copies of their own, by several threads. */
static bool are_small(const struct tsl_gather *gather)
{
    for (unsigned i = 0; i < gather->n; i++)
        if (gather->list[i].end - gather->list[i].begin >= TSL_BULK_MIN)
            return false;
    return true;
}

/* The list is the caller's. */
static cl_int take_list(struct cpu_gather *task, const struct tsl_gather *gather)
{
    task->to = ((struct cpu_mem *)gather->dst)->data;
    task->from = ((struct cpu_mem *)gather->src)->data;
    task->size = 0;
    task->n = gather->n;
    task->list = malloc(gather->n * sizeof(*task->list));
    if (!task->list)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(task->list, gather->list, gather->n * sizeof(*task->list));
    for (unsigned i = 0; i < gather->n; i++)
        task->size += gather->list[i].end - gather->list[i].begin;
    return CL_SUCCESS;
}

cl_int cpu_gather(struct tsl_lane *lane, const struct tsl_gather *gather, const struct tsl_waits *waits,
                  struct tsl_fence **fence)
{
    struct cpu_member *member = cpu_member_of(lane->member);
    struct cpu_task *task;

    if (!is_own(lane, gather->dst) || !is_reachable(gather->src))
        return CL_INVALID_MEM_OBJECT;
    if (member->n_threads > 1 && !are_small(gather))
        return CL_INVALID_OPERATION;
    task = cpu_task_create(member, CPU_GATHER);
    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    if (take_list(&task->gather, gather)) {
        cpu_task_free(task);
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (task->gather.size >= TSL_BULK_MIN && member->n_threads > 1) {
        task->n_pieces = gather->n;
        task->max_joined = member->n_threads < TSL_BULK_MAX ? member->n_threads : TSL_BULK_MAX;
    }
    return cpu_submit(lane, task, waits, fence);
}

static void copy_range(const struct cpu_gather *gather, uint64_t i)
{
    const struct tsl_range_of_bytes *range = &gather->list[i];

    memmove(gather->to + range->begin, gather->from + range->begin, range->end - range->begin);
}

void cpu_gather_run(const struct cpu_task *task, uint64_t piece)
{
    if (task->n_pieces > 1)
        copy_range(&task->gather, piece);
    for (unsigned i = 0; task->n_pieces == 1 && i < task->gather.n; i++)
        copy_range(&task->gather, i);
}

/* ---- Fills ------------------------------------------------------------------------------------------------------- */

cl_int cpu_fill(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                struct tsl_fence **fence)
{
    struct cpu_task *task;

    if (!is_own(lane, fill->dst.mem))
        return CL_INVALID_MEM_OBJECT;
    task = cpu_task_create(cpu_member_of(lane->member), CPU_FILL);
    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    task->fill.box = *fill;
    task->fill.box.dst = by_address(&fill->dst);
    task->fill.box.pattern = memcpy(task->fill.pattern, fill->pattern, fill->pattern_size);
    return cpu_submit(lane, task, waits, fence);
}

void cpu_fill_run(const struct cpu_fill *fill)
{
    tsl_fill_box(fill->box.dst.host, &fill->box);
}

/* ---- Combining --------------------------------------------------------------------------------------------------- */

bool cpu_can_combine(struct tsl_member *member)
{
    (void)member;
    return true;
}

static char *side_of(const struct tsl_combine_side *side)
{
    return side->mem ? ((struct cpu_mem *)side->mem)->data + side->offset : NULL;
}

cl_int cpu_combine(struct tsl_lane *lane, const struct tsl_combine *c, const struct tsl_waits *waits,
                   struct tsl_fence **fence)
{
    struct cpu_member *member = cpu_member_of(lane->member);
    struct cpu_task *task;

    if (!tsl_combine_is_sound(c))
        return CL_INVALID_VALUE;
    if (!tsl_combine_is_of(c, lane->member))
        return CL_INVALID_MEM_OBJECT;
    task = cpu_task_create(member, CPU_COMBINE);
    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    task->combine = (struct tsl_combine_bytes){.dst = side_of(&c->dst),
                                               .a = side_of(&c->a),
                                               .b = side_of(&c->b),
                                               .before = side_of(&c->before),
                                               .size = c->size,
                                               .width = c->width,
                                               .how = c->how};
    task->n_pieces = (c->size + TSL_COMBINE_CHUNK - 1) / TSL_COMBINE_CHUNK;
    task->max_joined = member->n_threads;
    return cpu_submit(lane, task, waits, fence);
}

void cpu_combine_run(const struct cpu_task *task, uint64_t piece)
{
    struct tsl_combine_bytes part = task->combine;
    size_t begin = piece * TSL_COMBINE_CHUNK;

    part.dst = (char *)part.dst + begin;
    part.a = (const char *)part.a + begin;
    part.b = (const char *)part.b + begin;
    part.before = part.before ? (const char *)part.before + begin : NULL;
    part.size = part.size - begin < TSL_COMBINE_CHUNK ? part.size - begin : TSL_COMBINE_CHUNK;
    tsl_combine_run(&part);
}
