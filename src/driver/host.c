#include "driver/host.h"

#include "base/clock.h"
#include "driver/box.h"
#include "driver/bulk.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct host_fence {
    struct tsl_fence base;
    struct tsl_times times;
};

static const struct tsl_driver host_driver;

static const struct tsl_path host_path = {
    .driver = &host_driver,
    .id = "host",
    .platform_name = "host",
    .device_name = "host",
    .driver_version = "",
    .type = CL_DEVICE_TYPE_CPU,
    .identity = {.is_host_cpu = true},
};

static struct tsl_member host_member = {
    .driver = &host_driver,
    .path = &host_path,
    /* Never written: the fences that it gives are complete, so it also "waits" for all of them. */
    .caps = {.submits_block = true, .ordered_lanes = true, .profiles = true, .base_align = 1},
    .index = UINT_MAX,
};

struct tsl_member *tsl_host_member(void)
{
    return &host_member;
}

static cl_int probe(tsl_found_fn *found, void *arg)
{
    (void)found;
    (void)arg;
    return CL_SUCCESS;
}

static cl_int open_member(const struct tsl_path *path, struct tsl_member **member)
{
    (void)path;
    *member = &host_member;
    return CL_SUCCESS;
}

static void close_member(struct tsl_member *member)
{
    (void)member;
}

static cl_int info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    (void)path, (void)param, (void)size, (void)value, (void)size_ret;
    return CL_INVALID_VALUE;
}

static cl_int lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane)
{
    (void)use;
    *lane = malloc(sizeof(**lane));
    if (!*lane)
        return CL_OUT_OF_HOST_MEMORY;
    (*lane)->member = member;
    return CL_SUCCESS;
}

static void lane_free(struct tsl_lane *lane)
{
    free(lane);
}

/* flush and finish: all is done by the time that a submission returns. */
static cl_int nothing_left(struct tsl_lane *lane)
{
    (void)lane;
    return CL_SUCCESS;
}

static cl_int mem_alloc(struct tsl_member *member, size_t size, cl_mem_flags flags, void *host, struct tsl_mem **mem)
{
    (void)member, (void)size, (void)flags, (void)host, (void)mem;
    return CL_INVALID_OPERATION;
}

static cl_int mem_sub(struct tsl_mem *mem, size_t offset, size_t size, struct tsl_mem **sub)
{
    (void)mem, (void)offset, (void)size, (void)sub;
    return CL_INVALID_OPERATION;
}

static void mem_free(struct tsl_mem *mem)
{
    (void)mem;
}

static bool can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    (void)from, (void)to;
    return false;
}

static bool can_wait(struct tsl_member *member, const struct tsl_fence *fence)
{
    return fence->driver == member->driver;
}

static cl_int check_waits(const struct tsl_waits *waits)
{
    for (unsigned i = 0; waits && i < waits->n; i++)
        if (waits->fences[i]->driver != &host_driver)
            return CL_INVALID_EVENT_WAIT_LIST;
    return CL_SUCCESS;
}

/* Before the work, so that on error nothing was done. *fence: the application of the contract's rules for it. */
static cl_int begin(const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct host_fence *f;
    cl_int error = check_waits(waits);

    if (error || !fence)
        return error;
    f = malloc(sizeof(*f));
    if (!f)
        return CL_OUT_OF_HOST_MEMORY;
    f->base.driver = &host_driver;
    f->base.member = &host_member;
    atomic_init(&f->base.refs, 1);
    f->times.start_ns = tsl_clock_ns();
    *fence = &f->base;
    return CL_SUCCESS;
}

static cl_int end(struct tsl_fence **fence)
{
    if (fence)
        ((struct host_fence *)*fence)->times.end_ns = tsl_clock_ns();
    return CL_SUCCESS;
}

static void copy_rows(const struct tsl_copy *copy)
{
    for (size_t slice = 0; slice < copy->region[2]; slice++)
        for (size_t row = 0; row < copy->region[1]; row++)
            memcpy((char *)copy->dst.host + tsl_place_row(&copy->dst, row, slice),
                   (const char *)copy->src.host + tsl_place_row(&copy->src, row, slice), copy->region[0]);
}

static cl_int copy_box(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    cl_int error;

    (void)lane;
    if (copy->dst.mem || copy->src.mem)
        return CL_INVALID_VALUE;
    error = begin(waits, fence);
    if (error)
        return error;
    if (tsl_copy_is_linear(copy))
        tsl_bulk_copy((char *)copy->dst.host + copy->dst.offset, (const char *)copy->src.host + copy->src.offset,
                      copy->region[0] * copy->region[1] * copy->region[2]);
    else
        copy_rows(copy);
    return end(fence);
}

static cl_int fill_box(struct tsl_lane *lane, const struct tsl_fill *fill, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    cl_int error;

    (void)lane;
    if (fill->dst.mem)
        return CL_INVALID_VALUE;
    error = begin(waits, fence);
    if (error)
        return error;
    tsl_fill_box(fill->dst.host, fill);
    return end(fence);
}

static cl_int no_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                        struct tsl_fence **fence)
{
    (void)lane, (void)launch, (void)waits, (void)fence;
    return CL_INVALID_OPERATION;
}

static cl_int mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    cl_int error = begin(waits, fence);

    (void)lane;
    return error ? error : end(fence);
}

static cl_int fence_complete(struct tsl_fence *fence)
{
    (void)fence;
    return CL_COMPLETE;
}

static cl_int fence_notify(struct tsl_fence *fence, tsl_notify_fn *fn, void *arg)
{
    (void)fence;
    fn(arg, CL_COMPLETE);
    return CL_SUCCESS;
}

static cl_int fence_times(struct tsl_fence *fence, struct tsl_times *times)
{
    *times = ((struct host_fence *)fence)->times;
    return CL_SUCCESS;
}

static void fence_free(struct tsl_fence *fence)
{
    free(fence);
}

static cl_int gate_create(struct tsl_member *member, struct tsl_fence **gate)
{
    (void)member, (void)gate;
    return CL_INVALID_OPERATION;
}

static cl_int gate_open(struct tsl_fence *gate, cl_int status)
{
    (void)gate, (void)status;
    return CL_INVALID_OPERATION;
}

static cl_int build(struct tsl_member *member, const struct tsl_program_input *input, struct tsl_dprogram **program,
                    char **log)
{
    (void)member, (void)input, (void)program;
    *log = strdup("the host compiles nothing");
    return CL_INVALID_OPERATION;
}

static cl_int program_binary(struct tsl_dprogram *program, void **data, size_t *size)
{
    (void)program, (void)data, (void)size;
    return CL_INVALID_OPERATION;
}

static void program_free(struct tsl_dprogram *program)
{
    (void)program;
}

static cl_int program_kernels(struct tsl_dprogram *program, char **names)
{
    (void)program, (void)names;
    return CL_INVALID_OPERATION;
}

static cl_int kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                            struct tsl_kernel_facts *facts)
{
    (void)program, (void)name, (void)kernel, (void)facts;
    return CL_INVALID_OPERATION;
}

static void kernel_free(struct tsl_dkernel *kernel)
{
    (void)kernel;
}

static bool windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts)
{
    (void)kernel, (void)facts;
    return false;
}

static const struct tsl_driver host_driver = {
    .name = "host",
    .probe = probe,
    .open = open_member,
    .close = close_member,
    .info = info,
    .lane_create = lane_create,
    .lane_free = lane_free,
    .flush = nothing_left,
    .finish = nothing_left,
    .mem_alloc = mem_alloc,
    .mem_sub = mem_sub,
    .mem_free = mem_free,
    .can_copy_peer = can_copy_peer,
    .copy = copy_box,
    .fill = fill_box,
    .launch = no_launch,
    .mark = mark,
    .fence_status = fence_complete,
    .fence_wait = fence_complete,
    .fence_notify = fence_notify,
    .fence_times = fence_times,
    .fence_free = fence_free,
    .can_wait = can_wait,
    .gate_create = gate_create,
    .gate_open = gate_open,
    .build = build,
    .program_binary = program_binary,
    .program_free = program_free,
    .program_kernels = program_kernels,
    .kernel_create = kernel_create,
    .kernel_free = kernel_free,
    .windows_ok = windows_ok,
};
