/* Kernels and launches. */
#include "opencl/gate.h"
#include "opencl/member.h"
#include "opencl/operations.h"
#include "opencl/program.h"
#include "opencl/submit.h"
#include "opencl/svm.h"

#include <stdlib.h>
#include <string.h>

/* A kernel of the first program that has it. */
static cl_kernel create(const struct tsl_opencl_member *m, const struct tsl_opencl_program *p, bool of_windows,
                        const char *name, cl_int *error)
{
    cl_kernel kernel = m->cl->clCreateKernel(of_windows ? p->windows : p->program, name, error);

    if (of_windows)
        return kernel;

    for (unsigned i = 0; i < p->n_more && !kernel; i++)
        kernel = m->cl->clCreateKernel(p->more[i], name, error);
    return kernel;
}

/* Puts the kernel of the text for windows in the place of the other, if there is one that fits it. */
static void take_windows(struct tsl_opencl_member *m, struct tsl_opencl_program *p, struct tsl_opencl_kernel *k,
                         struct tsl_kernel_facts *facts)
{
    cl_uint n = 0;
    cl_int error;
    cl_kernel kernel = p->windows ? create(m, p, true, facts->name, &error) : NULL;

    if (!kernel)
        return;
    if (m->cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(n), &n, NULL) ||
        (n != facts->n_args && n != facts->n_args + TSL_WINDOW_PARAMETERS)) {
        tsl_opencl_release(m, TSL_OPENCL_KERNEL, kernel);
        return;
    }
    tsl_opencl_release(m, TSL_OPENCL_KERNEL, k->kernel);
    k->kernel = kernel;
    k->of_windows = facts->of_windows = true;
    facts->prints = p->windows_print; /* its text has no directives, and no macros that made it */
    k->asks_for_launch = n > facts->n_args;
    tsl_opencl_ask_sizes(m, kernel, facts);
}

cl_int tsl_opencl_kernel_create(struct tsl_dprogram *program, const char *name, struct tsl_dkernel **kernel,
                                struct tsl_kernel_facts *facts)
{
    struct tsl_opencl_program *p = tsl_opencl_program(program);
    struct tsl_opencl_member *m = tsl_opencl_member(program->member);
    struct tsl_opencl_kernel *k;
    cl_int error;

    if (tsl_member_is_lost(program->member))
        return CL_DEVICE_NOT_AVAILABLE;
    k = calloc(1, sizeof(*k));
    if (!k)
        return CL_OUT_OF_HOST_MEMORY;
    tsl_opencl_collect(m);
    tsl_opencl_enter(m->device);
    k->kernel = create(m, p, false, name, &error);
    if (!k->kernel && !error)
        error = CL_OUT_OF_RESOURCES;
    if (k->kernel)
        error = tsl_opencl_facts(p, k->kernel, facts);
    if (k->kernel && !error)
        take_windows(m, p, k, facts);
    tsl_opencl_leave(m->device);
    if (error)
        goto failed;
    k->name = strdup(name);
    if (!k->name) {
        tsl_kernel_facts_finish(facts);
        error = CL_OUT_OF_HOST_MEMORY;
        goto failed;
    }
    k->n_args = facts->n_args;
    memcpy(k->reqd_size, facts->reqd_size, sizeof(k->reqd_size));
    pthread_mutex_init(&k->lock, NULL);
    k->base.program = program;
    *kernel = &k->base;
    return CL_SUCCESS;

failed:
    if (k->kernel)
        tsl_opencl_release(m, TSL_OPENCL_KERNEL, k->kernel);
    free(k);
    return tsl_opencl_error(m, error);
}

void tsl_opencl_kernel_free(struct tsl_dkernel *kernel)
{
    struct tsl_opencl_kernel *k = tsl_opencl_kernel(kernel);
    struct tsl_opencl_member *member = tsl_opencl_member(kernel->program->member);

    tsl_opencl_release(member, TSL_OPENCL_KERNEL, k->kernel);
    pthread_mutex_destroy(&k->lock);
    free(k->addresses);
    free(k->name);
    free(k);
}

cl_int tsl_opencl_kernel_renew(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k)
{
    cl_int error = CL_SUCCESS;
    cl_kernel fresh = create(m, tsl_opencl_program(k->base.program), k->of_windows, k->name, &error);

    if (!fresh)
        return error ? error : CL_OUT_OF_RESOURCES;
    tsl_opencl_release(m, TSL_OPENCL_KERNEL, k->kernel);
    k->kernel = fresh;
    k->launch_known = false;
    k->names_svm = false;
    free(k->addresses);
    k->addresses = NULL;
    return CL_SUCCESS;
}

/* A window is a launch of its own, with an offset: only global ids answer as for the whole one. All else is computed
 * from hidden arguments. */
bool tsl_opencl_windows_ok(struct tsl_dkernel *kernel, const struct tsl_kernel_facts *facts)
{
    return !facts->whole_launch || tsl_opencl_kernel(kernel)->asks_for_launch;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static cl_int make_sampler(struct tsl_opencl_member *m, const struct tsl_sampler_desc *desc, cl_sampler *slot)
{
    cl_int error = CL_SUCCESS;

    if (!*slot)
        *slot = m->cl->clCreateSampler(m->context, desc->normalized, desc->addressing, desc->filter, &error);
    return *slot || error ? error : CL_OUT_OF_RESOURCES;
}

/* Where coordinates aren't normalized these modes leave undefined what is read outside of the image (OpenCL 3.0,
 * 5.7.1), and PoCL refuses samplers of that kind. */
static bool is_undefined_outside(const struct tsl_sampler_desc *desc)
{
    return !desc->normalized &&
           (desc->addressing == CL_ADDRESS_REPEAT || desc->addressing == CL_ADDRESS_MIRRORED_REPEAT);
}

static cl_int find_sampler(struct tsl_opencl_member *m, const struct tsl_sampler_desc *asked, cl_sampler *sampler)
{
    const struct tsl_sampler_desc inside = {asked->normalized, CL_ADDRESS_CLAMP_TO_EDGE, asked->filter};
    const struct tsl_sampler_desc *desc = is_undefined_outside(asked) ? &inside : asked;
    unsigned addressing = desc->addressing - CL_ADDRESS_NONE, filter = desc->filter - CL_FILTER_NEAREST;
    cl_sampler *slot;
    cl_int error;

    if (addressing >= TSL_OPENCL_ADDRESSINGS || filter >= TSL_OPENCL_FILTERS)
        return CL_INVALID_SAMPLER;
    slot = &m->samplers[desc->normalized != CL_FALSE][addressing][filter];
    pthread_mutex_lock(&m->samplers_lock);
    error = make_sampler(m, desc, slot);
    *sampler = *slot;
    pthread_mutex_unlock(&m->samplers_lock);
    return error;
}

/* Vendors without shared virtual memory of their own know a null pointer as no buffer. */
static cl_int set_address(struct tsl_opencl_member *m, cl_kernel kernel, cl_uint index, void *address)
{
    return address ? m->cl->clSetKernelArgSVMPointer(kernel, index, address)
                   : m->cl->clSetKernelArg(kernel, index, sizeof(cl_mem), NULL);
}

static cl_int set_arg(struct tsl_opencl_member *m, cl_kernel kernel, cl_uint index, const struct tsl_bound_arg *arg)
{
    cl_mem buffer = NULL;
    cl_sampler sampler;
    void *address;
    cl_int error;

    switch (arg->kind) {
    case TSL_ARG_VALUE:
        return m->cl->clSetKernelArg(kernel, index, arg->size, arg->value);
    case TSL_ARG_MEM:
        if (arg->mem)
            buffer = tsl_opencl_mem(arg->mem)->buffer;
        return m->cl->clSetKernelArg(kernel, index, sizeof(buffer), arg->mem ? &buffer : NULL);
    case TSL_ARG_LOCAL:
        return m->cl->clSetKernelArg(kernel, index, arg->size, NULL);
    case TSL_ARG_SAMPLER:
        error = find_sampler(m, arg->value, &sampler);
        return error ? error : m->cl->clSetKernelArg(kernel, index, sizeof(sampler), &sampler);
    case TSL_ARG_SVM:
        memcpy(&address, arg->value, sizeof(address));
        return set_address(m, kernel, index, address);
    case TSL_ARG_UNSET:
        break;
    }
    return CL_INVALID_KERNEL_ARGS;
}

static cl_int set_args_locked(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k,
                              const struct tsl_bound_args *args)
{
    cl_int error;

    if (k->serial == args->serial)
        return CL_SUCCESS;
    k->serial = 0;
    error = tsl_opencl_svm_prepare(m, k, args);
    for (cl_uint i = 0; i < args->n && !error; i++)
        error = set_arg(m, k->kernel, i, &args->args[i]);
    k->serial = error ? 0 : args->serial;
    return error;
}

/* What a launch is for a kernel with hidden arguments (compile_client/window_text.h). */
static void tell_launch(const struct tsl_window *window, const size_t local[3], cl_ulong launch[TSL_WINDOW_PARAMETERS])
{
    for (unsigned d = 0; d < 3; d++) {
        bool inside = d < window->work_dim;
        size_t size = inside ? window->global_size[d] : 1, local_size = inside ? local[d] : 1;

        launch[d] = window->whole || !inside ? 0 : window->group_begin[d];
        launch[3 + d] = local[0] ? (size + local_size - 1) / local_size : 0;
        launch[6 + d] = size;
        launch[9 + d] = inside ? window->global_offset[d] : 0;
    }
}

static cl_int set_launch_locked(struct tsl_opencl_member *m, struct tsl_opencl_kernel *k,
                                const struct tsl_window *window, const size_t local[3])
{
    cl_ulong launch[TSL_WINDOW_PARAMETERS];
    cl_int error = CL_SUCCESS;

    if (!k->asks_for_launch)
        return CL_SUCCESS;
    tell_launch(window, local, launch);
    for (cl_uint i = 0; i < TSL_WINDOW_PARAMETERS && !error; i++)
        if (!k->launch_known || launch[i] != k->launch[i])
            error = m->cl->clSetKernelArg(k->kernel, k->n_args + i, sizeof(launch[i]), &launch[i]);
    memcpy(k->launch, launch, sizeof(launch));
    k->launch_known = !error;
    return error;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

/* What clEnqueueNDRangeKernel takes. */
struct range {
    size_t offset[3], global[3], local[3];
    const size_t *offset_arg, *local_arg;
};

static bool is_whole(const struct tsl_window *window)
{
    if (window->whole)
        return true;
    for (cl_uint d = 0; d < window->work_dim; d++)
        if (window->group_begin[d] || window->group_count[d] * window->local_size[d] < window->global_size[d])
            return false;
    return true;
}

/* The window's first work-item becomes the launch's offset; the last group of a dimension may be a partial one. */
static void cut(const struct tsl_window *window, struct range *range)
{
    for (cl_uint d = 0; d < window->work_dim; d++) {
        size_t begin = window->group_begin[d] * window->local_size[d];
        size_t size = window->group_count[d] * window->local_size[d], left = window->global_size[d] - begin;

        range->offset[d] += begin;
        range->global[d] = size < left ? size : left;
    }
}

static cl_int make_range(const struct tsl_opencl_kernel *k, const struct tsl_window *window, struct range *range)
{
    bool whole = is_whole(window);

    if (!whole && !window->local_size[0])
        return CL_INVALID_OPERATION;
    memcpy(range->offset, window->global_offset, sizeof(range->offset));
    memcpy(range->global, window->global_size, sizeof(range->global));
    memcpy(range->local, window->local_size, sizeof(range->local));
    /* Vendors refuse a required size that isn't named again, or run groups of one. */
    if (!range->local[0])
        memcpy(range->local, k->reqd_size, sizeof(range->local));
    if (!whole)
        cut(window, range);
    range->local_arg = range->local[0] ? range->local : NULL;
    range->offset_arg = range->offset[0] || range->offset[1] || range->offset[2] ? range->offset : NULL;
    return CL_SUCCESS;
}

static cl_int launch(const struct tsl_opencl_submit *s, struct tsl_opencl_kernel *k, const struct tsl_launch *wanted,
                     const struct range *range, cl_event *event)
{
    cl_int error;

    pthread_mutex_lock(&k->lock);
    error = set_args_locked(s->member, k, wanted->args);
    if (!error)
        error = set_launch_locked(s->member, k, wanted->window, range->local);
    if (!error)
        error = s->member->cl->clEnqueueNDRangeKernel(s->queue, k->kernel, wanted->window->work_dim, range->offset_arg,
                                                      range->global, range->local_arg, s->n, s->events, event);
    pthread_mutex_unlock(&k->lock);
    return error;
}

/* With coarse-grained shared memory, which is the host's before and behind it. The memory is mapped again whatever
 * becomes of the launch. A marker tells that all is over, the launch's event how that ended (fence->ran): some vendors
 * never end what waits for an event that has failed already. */
static cl_int launch_in_turn(struct tsl_opencl_submit *s, struct tsl_opencl_kernel *k, const struct tsl_launch *wanted,
                             const struct range *range)
{
    cl_event ran = NULL;
    cl_int error = tsl_opencl_svm_unmap_all(s, wanted->args), failed;

    if (!error)
        error = launch(s, k, wanted, range, &ran);
    failed = tsl_opencl_svm_map_all(s, wanted->args);
    error = error ? error : failed;
    if (!error && s->event_out)
        error = s->member->cl->clEnqueueMarkerWithWaitList(s->queue, 0, NULL, s->event_out);
    if (ran && s->fence && !error)
        s->fence->ran = ran;
    else if (ran)
        s->member->cl->clReleaseEvent(ran);
    return error;
}

cl_int tsl_opencl_launch(struct tsl_lane *lane, const struct tsl_launch *wanted, const struct tsl_waits *waits,
                         struct tsl_fence **fence)
{
    struct tsl_opencl_kernel *k = tsl_opencl_kernel(wanted->kernel);
    struct tsl_opencl_submit s;
    struct range range;
    cl_int error;

    error = make_range(k, wanted->window, &range);
    if (error)
        return error;
    error = tsl_opencl_begin(&s, lane, waits, fence);
    if (error)
        return error;
    if (!s.refused)
        error = tsl_opencl_svm_wants_turns(s.member, wanted->args) ? launch_in_turn(&s, k, wanted, &range)
                                                                   : launch(&s, k, wanted, &range, s.event_out);
    return tsl_opencl_end(&s, error, fence);
}
