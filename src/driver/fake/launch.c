/* Launches on the fake driver: their checks, and what a body gets. */
#include "driver/fake/internal.h"

#include <string.h>

static cl_int refuse(const struct fake_op *op, cl_int code, const char *why)
{
    tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "%s: %s", tsl_fake_op_name(op), why);
    return code;
}

/* ---- Arguments ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_args(const struct tsl_bound_args *args)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (cl_uint i = 0; i < args->n; i++) {
        const struct tsl_bound_arg *arg = &args->args[i];

        hash = hash_bytes(hash, &arg->kind, sizeof arg->kind);
        if (arg->kind == TSL_ARG_MEM)
            hash = hash_bytes(hash_bytes(hash, &arg->mem, sizeof arg->mem), arg->part ? &arg->part->shift : NULL,
                              arg->part ? sizeof arg->part->shift : 0);
        else
            hash = hash_bytes(hash, &arg->size, sizeof arg->size);
        if (arg->kind == TSL_ARG_VALUE || arg->kind == TSL_ARG_SVM)
            hash = hash_bytes(hash, arg->value, arg->size);
    }
    for (cl_uint i = 0; i < args->n_svm; i++)
        hash = hash_bytes(hash, &args->svm[i].host, sizeof args->svm[i].host);
    return hash;
}

/* Its parts on other members have other memory, but the same body and values. */
static uint64_t hash_launch(const struct fake_launch *launch, const struct tsl_bound_args *args)
{
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &launch->kernel->body, sizeof launch->kernel->body);

    for (cl_uint i = 0; i < args->n; i++)
        if (args->args[i].kind == TSL_ARG_VALUE)
            hash = hash_bytes(hash, args->args[i].value, args->args[i].size);
    return hash | 1;
}

/* Freed memory stays in the driver until the end, so no later memory has its address: the hash tells them apart. */
static void check_serial_locked(const struct fake_op *op, const struct tsl_bound_args *args)
{
    uint64_t hash = hash_args(args);
    /* The same arguments have other memory on other members. */
    uint64_t key = args->serial * TSL_MAX_MEMBERS + op->lane->base.member->index;
    struct fake_serial *serial;

    if (!args->serial)
        tsl_fake_violate_locked(TSL_FAKE_SERIAL, "%s: the serial of the arguments is 0", tsl_fake_op_name(op));
    HASH_FIND(hh, tsl_fake.serials, &key, sizeof key, serial);
    if (!serial) {
        serial = tsl_fake_new_locked(sizeof *serial);
        *serial = (struct fake_serial){.serial = key, .hash = hash};
        HASH_ADD(hh, tsl_fake.serials, serial, sizeof serial->serial, serial);
    } else if (serial->hash != hash) {
        tsl_fake_violate_locked(TSL_FAKE_SERIAL, "%s: serial %llu carried other arguments before", tsl_fake_op_name(op),
                                (unsigned long long)args->serial);
    }
}

static bool kind_fits(enum tsl_arg_kind kind, enum tsl_fact_kind fact)
{
    switch (fact) {
    case TSL_FACT_VALUE:
        return kind == TSL_ARG_VALUE;
    case TSL_FACT_LOCAL:
        return kind == TSL_ARG_LOCAL;
    case TSL_FACT_SAMPLER:
        return kind == TSL_ARG_SAMPLER;
    default:
        return kind == TSL_ARG_MEM || kind == TSL_ARG_SVM;
    }
}

/* An address, with the bytes of its region from that address on; NULL has none. */
static void take_address_locked(struct fake_arg *taken, const struct tsl_bound_arg *arg,
                                const struct tsl_bound_args *args)
{
    char *address;

    taken->bound.value = memcpy(tsl_fake_new_locked(sizeof address), arg->value, sizeof address);
    taken->bound.size = 0;
    memcpy(&address, arg->value, sizeof address);
    for (cl_uint i = 0; address && i < args->n_svm; i++)
        if (args->svm[i].host <= address && address < args->svm[i].host + args->svm[i].size)
            taken->bound.size = (size_t)(args->svm[i].host + args->svm[i].size - address);
    if (address && !taken->bound.size)
        tsl_fake_violate_locked(TSL_FAKE_BAD_ARGUMENT, "launch: an address is in none of its shared regions");
}

/* What the kernel takes for the whole of which the memory is a part. Like all that the driver makes it stays until the
 * end. */
static struct fake_mem *whole_of(struct fake_mem *part, const struct tsl_bound_part *bound)
{
    struct fake_mem *whole = tsl_fake_new_locked(sizeof *whole);

    *whole = (struct fake_mem){.base = {part->base.member, bound->size}, .root = part->root};
    whole->bytes = (unsigned char *)((uintptr_t)part->bytes + (uintptr_t)bound->shift);
    return whole;
}

static cl_int take_mem_locked(struct fake_op *op, struct fake_arg *taken, const struct tsl_bound_arg *arg)
{
    struct fake_mem *mem = (struct fake_mem *)arg->mem;

    if (arg->mem->member != op->lane->base.member)
        return refuse(op, CL_INVALID_MEM_OBJECT, "an argument is memory of another member");
    if (arg->part && (!fake_lane_member(op->lane)->is.takes_parts || mem->is_image))
        return refuse(op, CL_INVALID_MEM_OBJECT, "an argument is a part of memory, which isn't taken");
    taken->mem = arg->part ? whole_of(mem, arg->part) : mem;
    return tsl_fake_use_locked(op, mem);
}

static cl_int take_arg_locked(struct fake_op *op, cl_uint i, const struct tsl_bound_args *args)
{
    const struct tsl_bound_arg *arg = &args->args[i];
    struct fake_arg *taken = &op->launch.args[i];
    enum tsl_fact_kind fact = op->launch.kernel->body->kinds[i];

    taken->bound = *arg;
    if (!kind_fits(arg->kind, fact) && fact == TSL_FACT_UNKNOWN && arg->kind != TSL_ARG_UNSET)
        return CL_INVALID_ARG_VALUE; /* it can't be known before */
    if (!kind_fits(arg->kind, fact))
        return refuse(op, CL_INVALID_KERNEL_ARGS, "an argument is unset or of the wrong kind");
    if (arg->kind == TSL_ARG_VALUE || arg->kind == TSL_ARG_SAMPLER) {
        size_t size = arg->kind == TSL_ARG_VALUE ? arg->size : sizeof(struct tsl_sampler_desc);

        taken->bound.value = memcpy(tsl_fake_new_locked(size), arg->value, size);
        taken->bound.size = size;
    }
    if (arg->kind == TSL_ARG_SVM)
        take_address_locked(taken, arg, args);
    if (arg->kind != TSL_ARG_MEM || !arg->mem)
        return CL_SUCCESS;
    return take_mem_locked(op, taken, arg);
}

static cl_int take_args_locked(struct fake_op *op, const struct tsl_bound_args *args)
{
    struct fake_launch *launch = &op->launch;
    cl_int rc = CL_SUCCESS;

    if (args->n != launch->kernel->body->n_args)
        return refuse(op, CL_INVALID_KERNEL_ARGS, "the number of arguments is wrong");
    launch->n_args = args->n;
    launch->serial = args->serial;
    launch->alike = launch->window.whole ? 0 : hash_launch(launch, args);
    launch->args = tsl_fake_new_locked((args->n + 1) * sizeof *launch->args);
    for (cl_uint i = 0; i < args->n && rc == CL_SUCCESS; i++)
        rc = take_arg_locked(op, i, args);
    if (rc == CL_SUCCESS)
        check_serial_locked(op, args);
    return rc;
}

/* ---- The window ---- */

static size_t divisor(size_t size, size_t most)
{
    while (size % most)
        most--;
    return most;
}

static void choose_local_size(struct tsl_window *window, size_t most)
{
    window->local_size[0] = divisor(window->global_size[0], most);
    window->local_size[1] = window->local_size[2] = 1;
}

static bool dimension_fits(const struct tsl_window *window, unsigned d)
{
    size_t groups = window->global_size[d] / window->local_size[d];

    return window->group_count[d] && window->group_begin[d] < groups &&
           window->group_count[d] <= groups - window->group_begin[d];
}

static cl_int check_window(struct fake_op *op)
{
    struct tsl_window *window = &op->launch.window;
    const struct fake_body *body = op->launch.kernel->body;
    size_t most = fake_lane_member(op->lane)->is.work_group_size;

    if (!window->local_size[0]) {
        if (!window->whole)
            return refuse(op, CL_INVALID_OPERATION, "a window of a launch without a local size");
        choose_local_size(window, most);
    }
    if (window->local_size[0] * window->local_size[1] * window->local_size[2] > most)
        return CL_INVALID_WORK_GROUP_SIZE;
    for (unsigned d = 0; d < 3; d++) {
        if (body->traits.reqd_size[0] && body->traits.reqd_size[d] != window->local_size[d])
            return CL_INVALID_WORK_GROUP_SIZE;
        if (window->global_size[d] % window->local_size[d])
            return CL_INVALID_WORK_GROUP_SIZE;
        if (window->whole) {
            window->group_begin[d] = 0;
            window->group_count[d] = window->global_size[d] / window->local_size[d];
        }
        if (!dimension_fits(window, d))
            return refuse(op, CL_INVALID_VALUE, "the window leaves the launch");
    }
    if (!window->whole && body->traits.whole_launch)
        return refuse(op, CL_INVALID_OPERATION, "a window, though windows_ok said no");
    return CL_SUCCESS;
}

static cl_int take_window(struct fake_op *op, const struct tsl_window *window)
{
    op->launch.window = *window;
    if (window->work_dim < 1 || window->work_dim > 3)
        return refuse(op, CL_INVALID_WORK_DIMENSION, "it has no or too many dimensions");
    for (unsigned d = 0; d < 3; d++) {
        bool past = d >= window->work_dim;

        if (!window->global_size[d] || (past && window->global_size[d] != 1) || (past && window->global_offset[d]) ||
            (window->local_size[0] && !window->local_size[d]))
            return refuse(op, CL_INVALID_VALUE, "sizes past work_dim must be 1, offsets 0, and none 0");
    }
    return check_window(op);
}

static size_t items(const struct tsl_window *window)
{
    size_t n = 1;

    for (unsigned d = 0; d < 3; d++)
        n *= window->group_count[d] * window->local_size[d];
    return n;
}

cl_int tsl_fake_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    struct fake_kernel *kernel = (struct fake_kernel *)launch->kernel;
    cl_int rc;
    struct fake_op *op = tsl_fake_submit_begin_locked(lane, TSL_FAKE_LAUNCH, "launch", waits, &rc);

    if (!op)
        return rc;
    op->launch.kernel = kernel;
    if (kernel->freed) {
        tsl_fake_violate_locked(TSL_FAKE_USE_FREED, "%s: the kernel was freed", tsl_fake_op_name(op));
        rc = CL_INVALID_KERNEL;
    } else if (kernel->base.program->member != lane->member) {
        rc = refuse(op, CL_INVALID_KERNEL, "the kernel is another member's");
    }
    if (rc == CL_SUCCESS)
        rc = take_window(op, launch->window);
    if (rc == CL_SUCCESS)
        rc = take_args_locked(op, launch->args);
    if (rc == CL_SUCCESS)
        op->size = items(&op->launch.window);
    return tsl_fake_submit_end_locked(op, rc, fence);
}

/* ---- What a body gets ---- */

void tsl_fake_run_set_up(struct tsl_fake_run *run, struct tsl_fake_arg *args, const struct fake_op *op)
{
    const struct fake_launch *launch = &op->launch;
    const struct tsl_window *window = &launch->window;

    for (cl_uint i = 0; i < launch->n_args; i++) {
        const struct fake_arg *arg = &launch->args[i];

        args[i] = (struct tsl_fake_arg){.size = arg->bound.size};
        if (arg->mem)
            args[i] = (struct tsl_fake_arg){.ptr = arg->mem->bytes, .size = arg->mem->base.size};
        else if (arg->bound.kind == TSL_ARG_SVM)
            memcpy(&args[i].ptr, arg->bound.value, sizeof args[i].ptr);
        else if (arg->bound.kind != TSL_ARG_MEM && arg->bound.kind != TSL_ARG_LOCAL)
            args[i].value = arg->bound.value;
    }
    *run = (struct tsl_fake_run){
        .member = fake_lane_member(op->lane)->number, .n_args = launch->n_args, .args = args, .window = window};
    for (unsigned d = 0; d < 3; d++) {
        run->first[d] = window->group_begin[d] * window->local_size[d];
        run->end[d] = run->first[d] + window->group_count[d] * window->local_size[d];
    }
}
