#include "object/queue.h"

#include "api.h"
#include "api/check.h"
#include "base/info.h"

#include <CL/cl_ext.h>
#include <CL/cl_tesela.h>

#define HOST_BITS   (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
#define DEVICE_BITS (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)

/* Queues on the device may be asked for, but we have none: the properties that they require are checked first. */
static cl_int check_flags(cl_command_queue_properties flags)
{
    if (flags & ~(cl_command_queue_properties)(HOST_BITS | DEVICE_BITS))
        return CL_INVALID_VALUE;
    if (flags & CL_QUEUE_ON_DEVICE_DEFAULT && !(flags & CL_QUEUE_ON_DEVICE))
        return CL_INVALID_VALUE;
    if (flags & CL_QUEUE_ON_DEVICE && !(flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return CL_INVALID_VALUE;
    return flags & CL_QUEUE_ON_DEVICE ? CL_INVALID_QUEUE_PROPERTIES : CL_SUCCESS;
}

/* A list of names and values; *n: words, with the closing 0. Without a list, no flags and *n is 0. */
static cl_int check_properties(const cl_queue_properties *properties, size_t *n, cl_command_queue_properties *flags)
{
    bool has_flags = false, has_size = false;

    *flags = 0;
    *n = 0;
    if (!properties)
        return CL_SUCCESS;
    for (*n = 1; properties[*n - 1]; *n += 2) {
        bool *has = properties[*n - 1] == CL_QUEUE_PROPERTIES ? &has_flags
                    : properties[*n - 1] == CL_QUEUE_SIZE     ? &has_size
                                                              : NULL;

        if (!has || *has)
            return CL_INVALID_VALUE;
        *has = true;
        if (has == &has_flags)
            *flags = properties[*n];
    }
    /* A size is only for queues on the device (OpenCL 3.0, 5.1). */
    return has_size && !(*flags & CL_QUEUE_ON_DEVICE) ? CL_INVALID_VALUE : check_flags(*flags);
}

static cl_int check_place(cl_context context, cl_device_id device)
{
    const struct tsl_context *c = tsl_context_from(context);
    const struct tsl_device *d = tsl_device_from(device);

    if (!c)
        return CL_INVALID_CONTEXT;
    return d && tsl_context_has_device(c, d) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_command_queue CL_API_CALL tsl_api_clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                        const cl_queue_properties *properties,
                                                                        cl_int *errcode_ret)
{
    cl_command_queue_properties flags;
    struct tsl_queue *queue = NULL;
    size_t n;
    cl_int error = check_place(context, device);

    if (!error)
        error = check_properties(properties, &n, &flags);
    if (!error)
        error = tsl_queue_create(tsl_context_from(context), tsl_device_from(device), flags, properties, n, &queue);
    return tsl_created(queue, error, errcode_ret);
}

cl_command_queue CL_API_CALL tsl_api_clCreateCommandQueue(cl_context context, cl_device_id device,
                                                          cl_command_queue_properties properties, cl_int *errcode_ret)
{
    struct tsl_queue *queue = NULL;
    cl_int error = check_place(context, device);

    /* The flags of queues on the device aren't allowed in this call. */
    if (!error && properties & ~(cl_command_queue_properties)HOST_BITS)
        error = CL_INVALID_VALUE;
    if (!error)
        error = tsl_queue_create(tsl_context_from(context), tsl_device_from(device), properties, NULL, 0, &queue);
    return tsl_created(queue, error, errcode_ret);
}

cl_int CL_API_CALL tsl_api_clRetainCommandQueue(cl_command_queue command_queue)
{
    struct tsl_queue *queue = tsl_queue_from(command_queue);

    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    tsl_object_retain(&queue->object);
    return CL_SUCCESS;
}

/* Flushes first: enqueued commands run, though no handle leads to them any more (OpenCL 3.0, 5.1). */
cl_int CL_API_CALL tsl_api_clReleaseCommandQueue(cl_command_queue command_queue)
{
    struct tsl_queue *queue = tsl_queue_from(command_queue);

    if (!queue || tsl_object_users(&queue->object) == 0)
        return CL_INVALID_COMMAND_QUEUE;
    tsl_queue_let_go(queue);
    return tsl_object_release(&queue->object) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL tsl_api_clGetCommandQueueInfo(cl_command_queue command_queue, cl_command_queue_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    const struct tsl_queue *queue = tsl_queue_from(command_queue);

    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    switch (param_name) {
    case CL_QUEUE_CONTEXT:
        return tsl_info_pointer(&info, queue->context);
    case CL_QUEUE_DEVICE:
        return tsl_info_pointer(&info, queue->device);
    case CL_QUEUE_REFERENCE_COUNT:
        return tsl_info_uint(&info, tsl_object_users(&queue->object));
    case CL_QUEUE_PROPERTIES:
        return tsl_info_ulong(&info, queue->flags);
    case CL_QUEUE_PROPERTIES_ARRAY:
        return tsl_info_bytes(&info, queue->properties, queue->n_properties * sizeof *queue->properties);
    case CL_QUEUE_DEVICE_DEFAULT:
        return tsl_info_pointer(&info, NULL);
    case CL_QUEUE_ORDER_TESELA:
        return tsl_info_uint(&info, atomic_load(&queue->order));
    case CL_QUEUE_PLACEMENT_TESELA:
        return tsl_info_uint(&info, atomic_load(&queue->placement));
    case CL_QUEUE_SIZE:
        return CL_INVALID_COMMAND_QUEUE; /* not a queue on the device */
    default:
        return CL_INVALID_VALUE;
    }
}

/* cl_tesela_queue_policy */
cl_int CL_API_CALL tsl_api_clSetQueuePolicyTESELA(cl_command_queue queue, cl_uint policy, cl_uint value)
{
    struct tsl_queue *it = tsl_queue_from(queue);

    if (!it)
        return CL_INVALID_COMMAND_QUEUE;
    return tsl_queue_set_policy(it, policy, value);
}

/* OpenCL 1.0; all of our devices support both properties. */
cl_int CL_API_CALL tsl_api_clSetCommandQueueProperty(cl_command_queue command_queue,
                                                     cl_command_queue_properties properties, cl_bool enable,
                                                     cl_command_queue_properties *old_properties)
{
    struct tsl_queue *queue = tsl_queue_from(command_queue);
    cl_command_queue_properties old;

    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    if (properties & ~(cl_command_queue_properties)HOST_BITS)
        return CL_INVALID_VALUE;

    cl_int error = tsl_queue_set(queue, properties, enable, &old);
    if (!error && old_properties)
        *old_properties = old;
    return error;
}

cl_int CL_API_CALL tsl_api_clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                          cl_command_queue command_queue)
{
    cl_int error = check_place(context, device);

    (void)command_queue;
    return error ? error : CL_INVALID_OPERATION;
}

cl_int CL_API_CALL tsl_api_clFlush(cl_command_queue command_queue)
{
    struct tsl_queue *queue = tsl_queue_from(command_queue);

    return queue ? tsl_queue_flush(queue) : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL tsl_api_clFinish(cl_command_queue command_queue)
{
    struct tsl_queue *queue = tsl_queue_from(command_queue);

    return queue ? tsl_queue_finish(queue) : CL_INVALID_COMMAND_QUEUE;
}
