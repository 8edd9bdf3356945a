/* Launches of kernels (OpenCL 3.0, 5.10). */
#include "program/launch.h"
#include "api.h"
#include "api/check.h"

/* The application's sizes. */
struct sizes {
    cl_uint work_dim;
    const size_t *offset, *global, *local;
};

/* A launch being checked. Each check sets what it finds out, and runs only where those before it found no error. */
struct launch {
    struct tsl_enqueue enqueue;
    struct tsl_kernel *kernel;
    struct tsl_window window;
    tsl_members members;
    bool empty; /* no work-items: only its dependences count */
};

static cl_int read_window(const struct sizes *sizes, struct launch *launch)
{
    struct tsl_window *window = &launch->window;

    if (sizes->work_dim < 1 || sizes->work_dim > 3)
        return CL_INVALID_WORK_DIMENSION;
    *window = (struct tsl_window){.work_dim = sizes->work_dim, .whole = true};
    launch->empty = false;
    for (unsigned d = 0; d < 3; d++) {
        bool used = d < sizes->work_dim;

        window->global_size[d] = !used ? 1 : sizes->global ? sizes->global[d] : 0;
        window->global_offset[d] = used && sizes->offset ? sizes->offset[d] : 0;
        if (sizes->local)
            window->local_size[d] = used ? sizes->local[d] : 1;
        if (sizes->local && window->local_size[d] == 0)
            return CL_INVALID_WORK_GROUP_SIZE;
        if (window->global_size[d] > SIZE_MAX - window->global_offset[d])
            return CL_INVALID_GLOBAL_OFFSET;
        launch->empty |= window->global_size[d] == 0;
    }
    return CL_SUCCESS;
}

static cl_int check_kernel(cl_kernel kernel, struct launch *launch)
{
    launch->kernel = tsl_kernel_from(kernel);
    if (!launch->kernel)
        return CL_INVALID_KERNEL;
    if (launch->kernel->program->context != launch->enqueue.queue->context)
        return CL_INVALID_CONTEXT;
    launch->members = tsl_context_members_of(launch->enqueue.queue->context, launch->enqueue.queue->device);
    return CL_SUCCESS;
}

static cl_int check_launch(struct launch *launch, const struct sizes *sizes)
{
    size_t align = tsl_check_base_align(launch->enqueue.queue);
    cl_int error = read_window(sizes, launch);

    if (error == CL_SUCCESS)
        error = tsl_launch_check(launch->kernel, &launch->window, &launch->members);
    return error == CL_SUCCESS && align > 1 ? tsl_launch_check_offsets(launch->kernel, align) : error;
}

static cl_int enqueue(cl_command_queue queue, cl_kernel kernel, cl_command_type type, const struct sizes *sizes,
                      const struct tsl_tail *tail)
{
    struct launch launch;
    cl_int error = tsl_check_queue(&launch.enqueue, queue, type, false);

    if (error == CL_SUCCESS)
        error = check_kernel(kernel, &launch);
    if (error == CL_SUCCESS)
        error = tsl_check_tail(&launch.enqueue, tail);
    if (error == CL_SUCCESS)
        error = check_launch(&launch, sizes);
    if (error != CL_SUCCESS)
        return error;
    if (launch.empty)
        return tsl_enqueue_marker(&launch.enqueue, false);
    tsl_launch_keep_suggestion(launch.kernel, launch.enqueue.queue->device, launch.members, &launch.window);
    return tsl_enqueue_kernel(&launch.enqueue, launch.kernel, &launch.window, launch.members);
}

cl_int CL_API_CALL tsl_api_clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                                                  const size_t *global_work_offset, const size_t *global_work_size,
                                                  const size_t *local_work_size, cl_uint num_events_in_wait_list,
                                                  const cl_event *event_wait_list, cl_event *event)
{
    const struct sizes sizes = {work_dim, global_work_offset, global_work_size, local_work_size};
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};

    return enqueue(command_queue, kernel, CL_COMMAND_NDRANGE_KERNEL, &sizes, &tail);
}

cl_int CL_API_CALL tsl_api_clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
                                         cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                         cl_event *event)
{
    static const size_t one = 1;
    const struct sizes sizes = {.work_dim = 1, .global = &one, .local = &one};
    const struct tsl_tail tail = {num_events_in_wait_list, event_wait_list, event};

    return enqueue(command_queue, kernel, CL_COMMAND_TASK, &sizes, &tail);
}

cl_int CL_API_CALL tsl_api_clGetKernelSuggestedLocalWorkSize(cl_command_queue command_queue, cl_kernel kernel,
                                                             cl_uint work_dim, const size_t *global_work_offset,
                                                             const size_t *global_work_size,
                                                             size_t *suggested_local_work_size)
{
    const struct sizes sizes = {work_dim, global_work_offset, global_work_size, NULL};
    struct launch launch;
    cl_int error = tsl_check_queue(&launch.enqueue, command_queue, CL_COMMAND_NDRANGE_KERNEL, false);

    if (error == CL_SUCCESS)
        error = check_kernel(kernel, &launch);
    if (error == CL_SUCCESS && !suggested_local_work_size)
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = check_launch(&launch, &sizes);
    if (error == CL_SUCCESS && launch.empty)
        error = CL_INVALID_GLOBAL_WORK_SIZE;
    if (error != CL_SUCCESS)
        return error;
    atomic_store_explicit(&launch.kernel->suggested, true, memory_order_relaxed);
    tsl_launch_keep_suggestion(launch.kernel, launch.enqueue.queue->device, launch.members, &launch.window);
    for (cl_uint d = 0; d < work_dim; d++)
        suggested_local_work_size[d] = launch.window.local_size[d];
    return CL_SUCCESS;
}
