/* What a fake member answers to clGetDeviceInfo's questions. */
#include "driver/fake/internal.h"

#include <string.h>

static cl_int put(const void *from, size_t from_size, size_t size, void *value, size_t *size_ret)
{
    if (size_ret)
        *size_ret = from_size;
    if (!value)
        return CL_SUCCESS;
    if (size < from_size)
        return CL_INVALID_VALUE;
    memcpy(value, from, from_size);
    return CL_SUCCESS;
}

struct number {
    cl_device_info param;
    size_t size; /* bytes of the answer */
    cl_ulong value;
};

/* What is the same for all fake members. */
static const struct number numbers[] = {
    {CL_DEVICE_VENDOR_ID, 4, 0xfa4e},
    {CL_DEVICE_MAX_COMPUTE_UNITS, 4, 4},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4, 3},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 4, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 4, 0},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 1000},
    {CL_DEVICE_ADDRESS_BITS, 4, 64},
    {CL_DEVICE_MAX_PARAMETER_SIZE, 8, 1024},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4, 128},
    {CL_DEVICE_SINGLE_FP_CONFIG, 8, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4, CL_NONE},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4, 64},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 0},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8, 65536},
    {CL_DEVICE_MAX_CONSTANT_ARGS, 4, 8},
    {CL_DEVICE_LOCAL_MEM_TYPE, 4, CL_LOCAL},
    {CL_DEVICE_LOCAL_MEM_SIZE, 8, 32768},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4, CL_FALSE},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, 4, CL_FALSE},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8, 1},
    {CL_DEVICE_ENDIAN_LITTLE, 4, CL_TRUE},
    {CL_DEVICE_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_COMPILER_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_LINKER_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_EXECUTION_CAPABILITIES, 8, CL_EXEC_KERNEL},
    {CL_DEVICE_QUEUE_PROPERTIES, 8, CL_QUEUE_PROFILING_ENABLE},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, 8, 65536},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4, CL_TRUE},
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4, 0},
};

static const struct {
    cl_device_info param;
    const char *text;
} texts[] = {
    {CL_DEVICE_VENDOR, "Fake"},
    {CL_DRIVER_VERSION, "1"},
    {CL_DEVICE_PROFILE, "FULL_PROFILE"},
    {CL_DEVICE_VERSION, "OpenCL 3.0 fake"},
    {CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 fake"},
    {CL_DEVICE_EXTENSIONS, ""},
    {CL_DEVICE_BUILT_IN_KERNELS, ""},
};

/* What the setup decides; false: not one of those. */
static bool own_number(const struct tsl_fake_member *is, cl_device_info param, struct number *number)
{
    const struct number own[] = {
        {CL_DEVICE_TYPE, 8, is->type},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, is->work_group_size},
        {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4, is->base_align * 8},
        {CL_DEVICE_GLOBAL_MEM_SIZE, 8, is->told_size},
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, is->max_alloc_size},
        {CL_DEVICE_DOUBLE_FP_CONFIG, 8, is->fp64 ? CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN : 0},
        {CL_DEVICE_IMAGE_SUPPORT, 4, is->images},
        {CL_DEVICE_MAX_READ_IMAGE_ARGS, 4, is->images ? 128 : 0},
        {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4, is->images ? 64 : 0},
        {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4, is->images ? 64 : 0},
        {CL_DEVICE_IMAGE2D_MAX_WIDTH, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_IMAGE3D_MAX_WIDTH, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8, is->images ? is->image_size : 0},
        {CL_DEVICE_MAX_SAMPLERS, 4, is->images ? 16 : 0},
        {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 4, is->images ? 4 : 0},
        {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 4, is->images ? 4 : 0},
    };

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i].param == param) {
            *number = own[i];
            return true;
        }
    }
    return false;
}

static cl_int put_number(const struct number *number, size_t size, void *value, size_t *size_ret)
{
    cl_uint narrow = (cl_uint)number->value;

    return number->size == 4 ? put(&narrow, 4, size, value, size_ret) : put(&number->value, 8, size, value, size_ret);
}

cl_int tsl_fake_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    const struct fake_member *member = path->priv;
    size_t items[3] = {member->is.work_group_size, member->is.work_group_size, member->is.work_group_size};
    struct number number;

    if (own_number(&member->is, param, &number))
        return put_number(&number, size, value, size_ret);
    if (param == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return put(items, sizeof items, size, value, size_ret);
    if (param == CL_DEVICE_NAME)
        return put(path->device_name, strlen(path->device_name) + 1, size, value, size_ret);
    if (param == CL_DEVICE_IL_VERSION && member->is.il)
        return put(member->is.il, strlen(member->is.il) + 1, size, value, size_ret);
    if (param == CL_DEVICE_BUILT_IN_KERNELS && member->is.built_ins)
        return put(member->is.built_ins, strlen(member->is.built_ins) + 1, size, value, size_ret);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].param == param)
            return put(texts[i].text, strlen(texts[i].text) + 1, size, value, size_ret);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].param == param)
            return put_number(&numbers[i], size, value, size_ret);
    return CL_INVALID_VALUE;
}
