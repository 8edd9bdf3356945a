#include "base/fork.h"
#include "object/buffer.h"

#include "api.h"
#include "api/check.h"
#include "base/info.h"
#include "object/image.h"
#include "object/svm.h"

#include <CL/cl_ext.h>
#include <stdlib.h>

/* ---- Buffers ---- */

static cl_int check_size(const struct tsl_context *context, size_t size)
{
    if (size == 0)
        return CL_INVALID_BUFFER_SIZE;
    for (cl_uint i = 0; i < context->n_devices; i++)
        if (size <= tsl_device_number(context->devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE))
            return CL_SUCCESS;
    return CL_INVALID_BUFFER_SIZE;
}

/* No properties of buffers are supported: a list may only be empty. */
static cl_int check_buffer_arguments(const struct tsl_context *context, const cl_mem_properties *properties,
                                     cl_mem_flags flags, size_t size, const void *host_ptr)
{
    cl_int error;

    if (!context)
        return CL_INVALID_CONTEXT;
    if (properties && properties[0] != 0)
        return CL_INVALID_PROPERTY;
    error = tsl_check_mem_flags(flags);
    if (!error)
        error = check_size(context, size);
    return error ? error : tsl_check_host_ptr(flags, host_ptr);
}

/* Memory lent by the application may be shared virtual memory of the context: then the buffer is made of the region. */
static cl_int create(struct tsl_context *context, cl_mem_flags flags, size_t size, void *host_ptr,
                     const cl_mem_properties *properties, struct tsl_buffer **buffer)
{
    size_t offset;
    bool lent = flags & CL_MEM_USE_HOST_PTR && !tsl_forked();
    struct tsl_buffer *region = lent ? tsl_svm_find(context, host_ptr, 1, &offset) : NULL;
    cl_int error = CL_INVALID_BUFFER_SIZE;

    if (!region)
        return tsl_buffer_create(context, flags, size, host_ptr, properties, buffer);
    if (size <= region->size - offset)
        error = tsl_svm_buffer_create(region, flags, offset, size, properties, buffer);
    tsl_object_unref(&region->object);
    return error;
}

cl_mem CL_API_CALL tsl_api_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                                        cl_mem_flags flags, size_t size, void *host_ptr,
                                                        cl_int *errcode_ret)
{
    struct tsl_context *c = tsl_context_from(context);
    struct tsl_buffer *buffer = NULL;
    cl_int error = check_buffer_arguments(c, properties, flags, size, host_ptr);

    if (!(flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)))
        flags |= CL_MEM_READ_WRITE;
    if (!error)
        error = create(c, flags, size, host_ptr, properties, &buffer);
    return tsl_created(buffer, error, errcode_ret);
}

cl_mem CL_API_CALL tsl_api_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                                          cl_int *errcode_ret)
{
    return tsl_api_clCreateBufferWithProperties(context, NULL, flags, size, host_ptr, errcode_ret);
}

/* ---- Sub-buffers ---- */

/* Some device of the context must allow a buffer to begin there. */
static cl_int check_sub_alignment(const struct tsl_context *context, size_t origin)
{
    for (cl_uint i = 0; i < context->n_devices; i++) {
        cl_ulong bits = tsl_device_number(context->devices[i], CL_DEVICE_MEM_BASE_ADDR_ALIGN);

        if (bits < 8 || origin % (bits / 8) == 0)
            return CL_SUCCESS;
    }
    return CL_MISALIGNED_SUB_BUFFER_OFFSET;
}

static cl_int check_region(const struct tsl_buffer *root, const cl_buffer_region *region)
{
    if (tsl_check_range(root, region->origin, region->size))
        return CL_INVALID_VALUE;
    if (region->size == 0)
        return CL_INVALID_BUFFER_SIZE;
    return check_sub_alignment(root->context, region->origin);
}

cl_mem CL_API_CALL tsl_api_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
                                             cl_buffer_create_type buffer_create_type, const void *buffer_create_info,
                                             cl_int *errcode_ret)
{
    const cl_buffer_region *region = buffer_create_info;
    struct tsl_buffer *root = tsl_buffer_from(buffer);
    struct tsl_buffer *sub = NULL;
    cl_int error;

    if (!root || tsl_buffer_made_of(root) || root->image)
        return tsl_created(NULL, CL_INVALID_MEM_OBJECT, errcode_ret);
    error = tsl_check_part_flags(root->flags, flags);
    if (!error && (buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION || !region))
        error = CL_INVALID_VALUE;
    if (!error)
        error = check_region(root, region);
    if (!error)
        error = tsl_buffer_create_sub(root, tsl_inherit_mem_flags(root->flags, flags), root->offset + region->origin,
                                      region->size, &sub);
    return tsl_created(sub, error, errcode_ret);
}

/* ---- All memory objects ---- */

cl_int CL_API_CALL tsl_api_clRetainMemObject(cl_mem memobj)
{
    struct tsl_buffer *buffer = tsl_buffer_from(memobj);

    if (!buffer)
        return CL_INVALID_MEM_OBJECT;
    tsl_object_retain(&buffer->object);
    return CL_SUCCESS;
}

cl_int CL_API_CALL tsl_api_clReleaseMemObject(cl_mem memobj)
{
    struct tsl_buffer *buffer = tsl_buffer_from(memobj);

    return buffer && tsl_buffer_release(buffer) ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
}

/* The offset of a sub-buffer in the buffer from which it was made. */
static size_t offset_of(const struct tsl_buffer *buffer)
{
    const struct tsl_buffer *of = tsl_buffer_made_of(buffer);

    return buffer->image || !of ? 0 : buffer->offset - of->offset;
}

cl_int CL_API_CALL tsl_api_clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name, size_t param_value_size,
                                              void *param_value, size_t *param_value_size_ret)
{
    const struct tsl_info info = {param_value_size, param_value, param_value_size_ret};
    struct tsl_buffer *buffer = tsl_buffer_from(memobj);

    if (!buffer)
        return CL_INVALID_MEM_OBJECT;
    switch (param_name) {
    case CL_MEM_TYPE:
        return tsl_info_uint(&info, buffer->type);
    case CL_MEM_FLAGS:
        return tsl_info_ulong(&info, buffer->flags);
    case CL_MEM_SIZE:
        return tsl_info_size(&info, buffer->image ? tsl_image_told_size(&buffer->image->desc) : buffer->size);
    case CL_MEM_HOST_PTR:
        return tsl_info_pointer(&info, buffer->host_ptr);
    case CL_MEM_MAP_COUNT:
        return tsl_info_uint(&info, tsl_buffer_map_count(buffer));
    case CL_MEM_REFERENCE_COUNT:
        return tsl_info_uint(&info, tsl_object_users(&buffer->object));
    case CL_MEM_CONTEXT:
        return tsl_info_pointer(&info, buffer->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return tsl_info_pointer(&info, tsl_buffer_made_of(buffer));
    case CL_MEM_OFFSET:
        return tsl_info_size(&info, offset_of(buffer));
    case CL_MEM_USES_SVM_POINTER:
        return tsl_info_uint(&info, !buffer->image && tsl_svm_of(buffer));
    case CL_MEM_PROPERTIES:
        return tsl_info_bytes(&info, buffer->properties, buffer->n_properties * sizeof *buffer->properties);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL tsl_api_clSetMemObjectDestructorCallback(cl_mem memobj,
                                                            void(CL_CALLBACK *pfn_notify)(cl_mem, void *),
                                                            void *user_data)
{
    struct tsl_buffer *buffer = tsl_buffer_from(memobj);

    if (!buffer)
        return CL_INVALID_MEM_OBJECT;
    return pfn_notify ? tsl_buffer_on_destroy(buffer, pfn_notify, user_data) : CL_INVALID_VALUE;
}
