/* Requests of work as the driver's structures, once they were found sound: drivers trust the core, and the core's words
 * come from elsewhere here. */
#include "driver/box.h"
#include "driver/combine.h"
#include "node/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Memory of `member`, or of any if that is NULL; a reference. */
static struct node_mem *take_mem(struct node_work *work, uint64_t id, const struct tsl_member *member)
{
    struct node_object *mem = node_find(work->object.session, id, NODE_MEM);

    if (!mem || (member && mem->member != member))
        return NULL;
    node_ref(mem);
    if (((struct node_mem *)mem)->error)
        work->failed = ((struct node_mem *)mem)->error;
    return (struct node_mem *)mem;
}

/* a * b + c, without an overflow. */
static bool add_steps(uint64_t a, uint64_t b, uint64_t *c)
{
    uint64_t product;

    return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(product, *c, c);
}

static bool fits(const struct tsl_remote_place *place, const uint64_t region[3], const struct node_mem *mem)
{
    uint64_t end = region[0];

    if (region[0] == 0 || region[1] == 0 || region[2] == 0)
        return false;
    if (region[1] > 1 && (place->row_pitch < region[0] || !add_steps(region[1] - 1, place->row_pitch, &end)))
        return false;
    if (region[2] > 1 && !add_steps(region[2] - 1, place->slice_pitch, &end))
        return false;
    return !__builtin_add_overflow(end, place->offset, &end) && end <= mem->size;
}

static bool ranges_fit(const struct tsl_remote_request *r, const struct node_mem *mem)
{
    for (uint32_t i = 0; i < r->n_ranges; i++)
        if (r->ranges[i].end > mem->size)
            return false;
    return true;
}

static bool check_side(struct node_work *work, unsigned i, const struct tsl_remote_place *place,
                       const struct tsl_member *member)
{
    const struct tsl_remote_request *r = &work->request;

    work->mems[i] = take_mem(work, place->mem, member);
    return work->mems[i] && (r->n_ranges ? ranges_fit(r, work->mems[i]) : fits(place, r->region, work->mems[i]));
}

/* A piece in ranges, of READs and PULLs. */
static bool check_ranges(struct node_work *work)
{
    const struct tsl_remote_request *r = &work->request;

    for (uint32_t i = 0; i < r->n_ranges; i++) {
        if (r->ranges[i].begin >= r->ranges[i].end || r->ranges[i].end - r->ranges[i].begin > TSL_REMOTE_PIECE)
            return false;
        work->data_size += r->ranges[i].end - r->ranges[i].begin;
        if (work->data_size > TSL_REMOTE_PIECE)
            return false;
    }
    return true;
}

/* The data of a WRITE or READ: a piece. */
static bool check_data(struct node_work *work)
{
    const uint64_t *region = work->request.region;
    uint64_t size = 0;

    if (work->request.n_ranges)
        return check_ranges(work);
    for (unsigned d = 0; d < 3; d++)
        if (region[d] == 0 || region[d] > TSL_REMOTE_PIECE)
            return false;
    size = region[0] * region[1] * region[2];
    work->data_size = size;
    if (size > TSL_REMOTE_PIECE)
        return false;
    return work->request.kind != TSL_REMOTE_WRITE || work->request.later || work->request.data_size == size;
}

/* Where the data come from the other node sees to. */
static bool check_pull(struct node_work *work)
{
    const struct tsl_remote_request *r = &work->request;
    const struct node_server *server = work->object.session->server;

    if (r->of >= server->out.n_nodes || r->of == server->out.index || !server->out.peer)
        return false;
    if (server->lost_peers[r->of])
        work->failed = CL_DEVICE_NOT_AVAILABLE;
    return check_data(work) && check_side(work, 0, &r->dst, work->object.member);
}

static bool check_fill(struct node_work *work)
{
    const struct tsl_remote_request *r = &work->request;
    uint64_t n = r->data_size;

    return n >= 1 && n <= 128 && (n & (n - 1)) == 0 && r->dst.offset % n == 0 && r->region[0] % n == 0 &&
           (r->region[1] == 1 || r->dst.row_pitch % n == 0) && (r->region[2] == 1 || r->dst.slice_pitch % n == 0) &&
           check_side(work, 0, &r->dst, work->object.member);
}

static bool check_range(struct node_work *work, unsigned i, const struct tsl_remote_place *place)
{
    const struct tsl_remote_request *r = &work->request;

    work->mems[i] = take_mem(work, place->mem, work->object.member);
    return work->mems[i] && place->offset % r->width == 0 && place->offset <= work->mems[i]->size &&
           r->size <= work->mems[i]->size - place->offset;
}

static bool check_combine(struct node_work *work)
{
    const struct tsl_remote_request *r = &work->request;
    const struct tsl_driver *driver = work->object.member->driver;

    if (!driver->combine || r->size == 0 || r->size % r->width)
        return false;
    if (r->how == TSL_COMBINE_CHANGED && !check_range(work, 3, &r->before))
        return false;
    if (r->how != TSL_COMBINE_CHANGED && (r->before.mem || r->width < 4))
        return false;
    return check_range(work, 0, &r->dst) && check_range(work, 1, &r->src) && check_range(work, 2, &r->other);
}

/* The size of groups is said for all dimensions or for none. */
static bool check_groups(const struct tsl_window *window)
{
    for (unsigned d = 1; d < window->work_dim; d++)
        if (!window->local_size[d] != !window->local_size[0])
            return false;
    return true;
}

static const struct node_limits *limits_of(const struct node_server *server, const struct tsl_member *member)
{
    unsigned i = 0;

    while (server->members[i] != member)
        i++;
    return &server->limits[i];
}

/* Drivers count on groups that the member and the kernel take. */
static cl_int find_size_error(const struct node_server *server, const struct node_kernel *kernel,
                              const struct tsl_window *window)
{
    const struct node_limits *limits = limits_of(server, kernel->object.member);
    size_t size = 1;

    if (!window->local_size[0])
        return CL_SUCCESS;
    for (unsigned d = 0; d < window->work_dim; d++) {
        if (limits->items[d] && window->local_size[d] > limits->items[d])
            return CL_INVALID_WORK_ITEM_SIZE;
        if (__builtin_mul_overflow(size, window->local_size[d], &size))
            return CL_INVALID_WORK_GROUP_SIZE;
        if (kernel->facts.reqd_size[0] && window->local_size[d] != kernel->facts.reqd_size[d])
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    if ((limits->group_size && size > limits->group_size) ||
        (kernel->facts.work_group_size && size > kernel->facts.work_group_size))
        return CL_INVALID_WORK_GROUP_SIZE;
    return CL_SUCCESS;
}

static bool check_window(const struct node_kernel *kernel, const struct tsl_window *window)
{
    if (window->whole)
        return check_groups(window);
    /* A call does them where it says so; what it refuses is the original's. */
    if (!(kernel->variant ? kernel->original->windows : kernel->windows))
        return false;
    for (unsigned d = 0; d < window->work_dim; d++) {
        size_t local = window->local_size[d], groups;

        if (local == 0 || window->global_size[d] == 0)
            return false;
        groups = (window->global_size[d] - 1) / local + 1;
        if (window->group_count[d] == 0 || window->group_begin[d] >= groups ||
            window->group_count[d] > groups - window->group_begin[d])
            return false;
    }
    return true;
}

static bool arg_fits(const struct tsl_remote_arg *arg, const struct tsl_arg_fact *fact)
{
    switch (fact->kind) {
    case TSL_FACT_VALUE:
        return arg->kind == TSL_ARG_VALUE && (fact->size == 0 || fact->size == arg->size);
    case TSL_FACT_GLOBAL:
    case TSL_FACT_CONSTANT:
        return arg->kind == TSL_ARG_MEM || arg->kind == TSL_ARG_SVM;
    case TSL_FACT_IMAGE:
        return arg->kind == TSL_ARG_MEM && arg->mem;
    case TSL_FACT_LOCAL:
        return arg->kind == TSL_ARG_LOCAL;
    case TSL_FACT_SAMPLER:
        return arg->kind == TSL_ARG_SAMPLER;
    case TSL_FACT_UNKNOWN:
        return true;
    case TSL_FACT_PIPE:
        break;
    }
    return false;
}

/* An image is no buffer, nor the other way, as far as the argument's type is known. */
static bool mem_fits(const struct node_mem *mem, const struct tsl_arg_fact *fact)
{
    return fact->kind == TSL_FACT_UNKNOWN || mem->is_image == (fact->kind == TSL_FACT_IMAGE);
}

static bool bind_arg(struct node_work *work, struct node_args *args, cl_uint i)
{
    const struct tsl_remote_arg *said = &args->said[i];
    const struct tsl_arg_fact *fact = &work->kernel->facts.args[i];
    struct tsl_bound_arg *arg = &args->args[i];

    if (!arg_fits(said, fact) || (said->kind == TSL_ARG_SVM && !node_has_address(args, said)))
        return false;
    *arg = (struct tsl_bound_arg){.kind = said->kind, .size = said->size, .value = said->value};
    if (said->has_part && (!work->object.member->caps.takes_parts || said->kind != TSL_ARG_MEM))
        return false;
    arg->part = said->has_part ? &said->part : NULL;
    if (said->kind != TSL_ARG_MEM || !said->mem)
        return true;
    args->mems[i] = take_mem(work, said->mem, work->object.member);
    if (!args->mems[i] || !mem_fits(args->mems[i], fact))
        return false;
    arg->mem = args->mems[i]->mem;
    args->error = args->mems[i]->error ? args->mems[i]->error : args->error;
    return true;
}

static bool bind_args(struct node_work *work)
{
    struct tsl_remote_request *r = &work->request;
    struct node_args *args = calloc(1, sizeof(*args));
    bool sound = args != NULL;

    if (!args)
        return false;
    args->refs = 1;
    args->said = r->args;
    r->args = NULL;
    args->bytes = node_bytes_ref(work->bytes);
    args->args = calloc(r->n_args + 1, sizeof(*args->args));
    args->mems = calloc(r->n_args + 1, sizeof(*args->mems));
    sound = args->args && args->mems && r->n_args == work->kernel->facts.n_args;
    if (sound) {
        args->bound = (struct tsl_bound_args){
            .serial = ++work->object.session->server->last_serial, .n = r->n_args, .args = args->args};
        sound = node_bind_svm(work->object.session, r, work->object.member, args);
        for (cl_uint i = 0; i < r->n_args && sound; i++)
            sound = bind_arg(work, args, i);
    }
    if (!sound) {
        node_args_unref(args);
        return false;
    }
    node_args_unref(work->kernel->args);
    work->kernel->args = args;
    return true;
}

static bool check_launch(struct node_work *work)
{
    const struct tsl_remote_request *r = &work->request;

    work->kernel = (struct node_kernel *)node_find(work->object.session, r->of, NODE_KERNEL);
    if (!work->kernel)
        return false;
    node_ref(&work->kernel->object);
    if (work->kernel->object.member != work->object.member || !check_window(work->kernel, &r->window))
        return false;
    if (r->has_args && !bind_args(work))
        return false;
    work->args = work->kernel->args;
    if (!work->args)
        return false;
    work->args->refs++;
    work->failed =
        work->args->error ? work->args->error : find_size_error(work->object.session->server, work->kernel, &r->window);
    return true;
}

static bool check_copy(struct node_work *work)
{
    struct tsl_member *member = work->object.member, *from, *to;

    if (!check_side(work, 0, &work->request.dst, NULL) || !check_side(work, 1, &work->request.src, NULL))
        return false;
    to = work->mems[0]->object.member;
    from = work->mems[1]->object.member;
    if (from != member && to != member)
        return false;
    return from == to || (from->driver == to->driver && member->driver->can_copy_peer(from, to));
}

bool node_check_work(struct node_work *work)
{
    const struct tsl_remote_request *r = &work->request;

    switch (r->kind) {
    case TSL_REMOTE_COPY:
        return check_copy(work);
    case TSL_REMOTE_WRITE:
        return check_data(work) && check_side(work, 0, &r->dst, work->object.member);
    case TSL_REMOTE_READ:
        return check_data(work) && check_side(work, 1, &r->src, work->object.member);
    case TSL_REMOTE_PULL:
        return check_pull(work);
    case TSL_REMOTE_FILL:
        return check_fill(work);
    case TSL_REMOTE_COMBINE:
        return check_combine(work);
    case TSL_REMOTE_LAUNCH:
        return check_launch(work);
    default:
        return r->kind == TSL_REMOTE_MARK;
    }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static struct tsl_place place_of(const struct tsl_remote_place *place, const struct node_mem *mem)
{
    return (struct tsl_place){
        .mem = mem->mem, .offset = place->offset, .row_pitch = place->row_pitch, .slice_pitch = place->slice_pitch};
}

bool node_goes_by_common(const struct node_work *work)
{
    return !work->fetch && work->data_size > TSL_REMOTE_INLINE && node_common_serves(work->object.session->common);
}

/* Where the driver brings the bytes of a READ. */
static bool take_place(struct node_work *work)
{
    struct node_session *session = work->object.session;

    if (node_goes_by_common(work)) {
        work->slot = node_common_take(session->common, &work->slot_data);
        return work->slot != 0;
    }
    work->data = node_stage_take(work->object.member, work->data_at + work->data_size);
    if (work->data && !work->fetch)
        node_stage_count(work->data, &session->reading_size);
    return work->data != NULL;
}

static uint8_t *data_of(const struct node_work *work)
{
    if (work->slot)
        return work->slot_data;
    return work->data ? (uint8_t *)work->data + work->data_at : (uint8_t *)work->request.data;
}

/* Between the data, where they follow each other, and the memory: each copy waits for the one before, so that the last
 * one's fence tells of all. After an error the data are in use by those before, whose end is waited for. */
static cl_int submit_ranges(struct node_work *work, const struct tsl_waits *waits)
{
    const struct tsl_remote_request *r = &work->request;
    const struct tsl_driver *driver = work->object.member->driver;
    struct tsl_place mem = {.mem = work->mems[work->mems[0] ? 0 : 1]->mem};
    struct tsl_place host = {.host = data_of(work)};
    cl_int error = CL_SUCCESS;

    for (uint32_t i = 0; i < r->n_ranges && !error; i++) {
        struct tsl_fence *before = work->fence;
        const struct tsl_waits chain = {1, &before};
        size_t size = (size_t)(r->ranges[i].end - r->ranges[i].begin);
        struct tsl_copy copy = {.region = {size, 1, 1}};

        mem.offset = (size_t)r->ranges[i].begin;
        copy.dst = work->mems[0] ? mem : host;
        copy.src = work->mems[0] ? host : mem;
        error = driver->copy(work->lane->lane, &copy, before ? &chain : waits, &work->fence);
        if (!error)
            tsl_fence_unref(before);
        host.offset += size;
    }
    if (error && work->fence) {
        driver->fence_wait(work->fence);
        tsl_fence_unref(work->fence);
        work->fence = NULL;
    }
    return error;
}

static cl_int submit_copy(struct node_work *work, const struct tsl_waits *waits)
{
    const struct tsl_remote_request *r = &work->request;
    struct tsl_copy copy = {.region = {r->region[0], r->region[1], r->region[2]}, .loose = r->loose};
    struct tsl_place host = {.row_pitch = copy.region[0], .slice_pitch = copy.region[0] * copy.region[1]};

    if (r->kind == TSL_REMOTE_READ && !take_place(work))
        return CL_OUT_OF_HOST_MEMORY;
    if (r->n_ranges)
        return submit_ranges(work, waits);
    host.host = data_of(work);
    copy.dst = work->mems[0] ? place_of(&r->dst, work->mems[0]) : host;
    copy.src = work->mems[1] ? place_of(&r->src, work->mems[1]) : host;
    return work->object.member->driver->copy(work->lane->lane, &copy, waits, &work->fence);
}

static cl_int submit_fill(struct node_work *work, const struct tsl_waits *waits)
{
    const struct tsl_remote_request *r = &work->request;
    struct tsl_fill fill = {.dst = place_of(&r->dst, work->mems[0]),
                            .region = {r->region[0], r->region[1], r->region[2]},
                            .pattern = r->data,
                            .pattern_size = r->data_size};

    return work->object.member->driver->fill(work->lane->lane, &fill, waits, &work->fence);
}

static cl_int submit_combine(struct node_work *work, const struct tsl_waits *waits)
{
    const struct tsl_remote_request *r = &work->request;
    struct tsl_combine combine = {.dst = {work->mems[0]->mem, r->dst.offset},
                                  .a = {work->mems[1]->mem, r->src.offset},
                                  .b = {work->mems[2]->mem, r->other.offset},
                                  .before = {work->mems[3] ? work->mems[3]->mem : NULL, r->before.offset},
                                  .size = r->size,
                                  .width = r->width,
                                  .how = (enum tsl_combine_how)r->how};

    return work->object.member->driver->combine(work->lane->lane, &combine, waits, &work->fence);
}

cl_int node_submit(struct node_work *work, const struct tsl_waits *waits)
{
    switch (work->request.kind) {
    case TSL_REMOTE_FILL:
        return submit_fill(work, waits);
    case TSL_REMOTE_COMBINE:
        return submit_combine(work, waits);
    case TSL_REMOTE_LAUNCH: {
        struct tsl_launch launch = {work->kernel->kernel, &work->args->bound, &work->request.window};

        return work->object.member->driver->launch(work->lane->lane, &launch, waits, &work->fence);
    }
    default:
        return submit_copy(work, waits);
    }
}
