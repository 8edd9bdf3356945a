/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread */
/* timeout: 120 */
/* Each error that the specification lists for calls of devices, contexts, queues, memory objects and transfers. */
#include "errors.h"

#include <CL/cl_tesela.h>
#include <stdlib.h>

#define SIZE 1024

static cl_platform_id platform;
static cl_device_id device, member;
static cl_mem buffer, part, foreign, to_write, to_read, hidden;
static char bytes[SIZE], room[SIZE];

/* ---- Things ---- */

static int setup(void **state)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    const cl_buffer_region half = {0, SIZE / 2};

    (void)state;
    platform = our_platform();
    device = our_device();
    begin_errors(0);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, SIZE);
    foreign = make_buffer(other, CL_MEM_READ_WRITE, SIZE);
    to_write = make_buffer(context, CL_MEM_HOST_WRITE_ONLY | CL_MEM_WRITE_ONLY, SIZE);
    to_read = make_buffer(context, CL_MEM_HOST_READ_ONLY | CL_MEM_READ_ONLY, SIZE);
    hidden = make_buffer(context, CL_MEM_HOST_NO_ACCESS, SIZE);
    part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &code);
    return clCreateSubDevices(device, by_member, 1, &member, NULL);
}

static int teardown(void **state)
{
    const cl_mem mems[] = {part, buffer, foreign, to_write, to_read, hidden};

    (void)state;
    for (size_t i = 0; i < LENGTH(mems); i++)
        clReleaseMemObject(mems[i]);
    end_errors();
    return clReleaseDevice(member);
}

/* ---- Platforms and devices ---- */

static void test_devices(void **state)
{
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0}, wrong[] = {7, 0};
    const cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 100000,
                                                   CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_device_id one;
    cl_uint n;

    (void)state;
    NEVER(clGetPlatformIDs, CL_PLATFORM_NOT_FOUND_KHR, "the loader's: Tesela always has its platform");
    E(clGetPlatformIDs, CL_INVALID_VALUE, "no entries, but a place", clGetPlatformIDs(0, &platform, NULL));
    E(clGetPlatformIDs, CL_INVALID_VALUE, "nothing asked", clGetPlatformIDs(0, NULL, NULL));
    E(clGetDeviceIDs, CL_INVALID_PLATFORM, "another object",
      clGetDeviceIDs((cl_platform_id)context, CL_DEVICE_TYPE_ALL, 1, &one, NULL));
    E(clGetDeviceIDs, CL_INVALID_DEVICE_TYPE, "no type", clGetDeviceIDs(platform, 0, 1, &one, NULL));
    E(clGetDeviceIDs, CL_INVALID_DEVICE_TYPE, "an unknown type", clGetDeviceIDs(platform, 1u << 20, 1, &one, NULL));
    E(clGetDeviceIDs, CL_INVALID_VALUE, "no entries", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &one, NULL));
    E(clGetDeviceIDs, CL_INVALID_VALUE, "nothing asked", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL));
    E(clGetDeviceIDs, CL_DEVICE_NOT_FOUND, "custom", clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 1, &one, NULL));
    E(clGetDeviceInfo, CL_INVALID_DEVICE, "another object",
      clGetDeviceInfo((cl_device_id)context, CL_DEVICE_NAME, SIZE, room, NULL));
    E(clGetDeviceInfo, CL_INVALID_VALUE, "an unknown query", clGetDeviceInfo(device, 7, SIZE, room, NULL));
    E(clGetDeviceInfo, CL_INVALID_VALUE, "no room", clGetDeviceInfo(device, CL_DEVICE_NAME, 1, room, NULL));
    E(clCreateSubDevices, CL_INVALID_DEVICE, "another object",
      clCreateSubDevices((cl_device_id)context, by_member, 1, &one, NULL));
    E(clCreateSubDevices, CL_INVALID_VALUE, "no properties", clCreateSubDevices(device, NULL, 1, &one, NULL));
    E(clCreateSubDevices, CL_INVALID_VALUE, "unknown ones", clCreateSubDevices(device, wrong, 1, &one, NULL));
    E(clCreateSubDevices, CL_INVALID_VALUE, "unsupported ones", clCreateSubDevices(device, equally, 1, &one, NULL));
    E(clCreateSubDevices, CL_INVALID_VALUE, "unsupported counts", clCreateSubDevices(device, counts, 1, &one, NULL));
    E(clCreateSubDevices, CL_INVALID_VALUE, "no room", clCreateSubDevices(device, by_member, 0, &one, &n));
    NEVER(clCreateSubDevices, CL_DEVICE_PARTITION_FAILED, "there is always a member, or no such property");
    NEVER(clCreateSubDevices, CL_INVALID_DEVICE_PARTITION_COUNT, "by counts isn't supported");
    E(clCreateSubDevices, CL_INVALID_VALUE, "a member's members", clCreateSubDevices(member, by_member, 1, &one, NULL));
    E(clRetainDevice, CL_INVALID_DEVICE, "another object", clRetainDevice((cl_device_id)context));
    E(clReleaseDevice, CL_INVALID_DEVICE, "another object", clReleaseDevice((cl_device_id)context));
}

/* ---- Contexts ---- */

static void CL_CALLBACK at_end(cl_context c, void *arg)
{
    (void)c, (void)arg;
}

static void test_contexts(void **state)
{
    const cl_device_id wrong_device = (cl_device_id)queue;
    const cl_context_properties unknown[] = {0x7777, 0, 0};
    const cl_context_properties wrong[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)queue, 0};
    const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, CL_CONTEXT_PLATFORM,
                                           (cl_context_properties)platform, 0};
    const cl_context_properties sync[] = {CL_CONTEXT_INTEROP_USER_SYNC, 7, 0};
    const cl_context_properties ours[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};

    (void)state;
    E(clCreateContext, CL_INVALID_PLATFORM, "another object",
      OF(clCreateContext(wrong, 1, &device, NULL, NULL, &code)));
    E(clCreateContext, CL_INVALID_PROPERTY, "unknown", OF(clCreateContext(unknown, 1, &device, NULL, NULL, &code)));
    E(clCreateContext, CL_INVALID_PROPERTY, "a wrong value", OF(clCreateContext(sync, 1, &device, NULL, NULL, &code)));
    E(clCreateContext, CL_INVALID_PROPERTY, "twice", OF(clCreateContext(twice, 1, &device, NULL, NULL, &code)));
    E(clCreateContext, CL_INVALID_VALUE, "no list", OF(clCreateContext(ours, 1, NULL, NULL, NULL, &code)));
    E(clCreateContext, CL_INVALID_VALUE, "no devices", OF(clCreateContext(ours, 0, &device, NULL, NULL, &code)));
    E(clCreateContext, CL_INVALID_VALUE, "data for none", OF(clCreateContext(ours, 1, &device, NULL, room, &code)));
    E(clCreateContext, CL_INVALID_DEVICE, "another object",
      OF(clCreateContext(ours, 1, &wrong_device, NULL, NULL, &code)));
    NEVER(clCreateContext, CL_DEVICE_NOT_AVAILABLE, "only without members: no_member_test.c");
    NEVER(clCreateContext, CL_INVALID_OPERATION, "of Direct3D and OpenGL");
    E(clCreateContextFromType, CL_INVALID_PLATFORM, "another object",
      OF(clCreateContextFromType(wrong, CL_DEVICE_TYPE_ALL, NULL, NULL, &code)));
    E(clCreateContextFromType, CL_INVALID_PROPERTY, "twice",
      OF(clCreateContextFromType(twice, CL_DEVICE_TYPE_ALL, NULL, NULL, &code)));
    E(clCreateContextFromType, CL_INVALID_VALUE, "data for none",
      OF(clCreateContextFromType(ours, CL_DEVICE_TYPE_ALL, NULL, room, &code)));
    E(clCreateContextFromType, CL_INVALID_DEVICE_TYPE, "none", OF(clCreateContextFromType(ours, 0, NULL, NULL, &code)));
    E(clCreateContextFromType, CL_DEVICE_NOT_FOUND, "custom",
      OF(clCreateContextFromType(ours, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, &code)));
    NEVER(clCreateContextFromType, CL_DEVICE_NOT_AVAILABLE, "as above");
    NEVER(clCreateContextFromType, CL_INVALID_OPERATION, "as above");
    E(clRetainContext, CL_INVALID_CONTEXT, "another object", clRetainContext((cl_context)queue));
    E(clReleaseContext, CL_INVALID_CONTEXT, "another object", clReleaseContext((cl_context)queue));
    E(clGetContextInfo, CL_INVALID_CONTEXT, "another object",
      clGetContextInfo((cl_context)queue, CL_CONTEXT_DEVICES, SIZE, room, NULL));
    E(clGetContextInfo, CL_INVALID_VALUE, "unknown", clGetContextInfo(context, 7, SIZE, room, NULL));
    E(clGetContextInfo, CL_INVALID_VALUE, "no room", clGetContextInfo(context, CL_CONTEXT_DEVICES, 1, room, NULL));
    E(clSetContextDestructorCallback, CL_INVALID_CONTEXT, "another object",
      clSetContextDestructorCallback((cl_context)queue, at_end, NULL));
    E(clSetContextDestructorCallback, CL_INVALID_VALUE, "none", clSetContextDestructorCallback(context, NULL, NULL));
}

/* ---- Queues ---- */

static void test_queues(void **state)
{
    const cl_queue_properties unknown[] = {0x7777, 0, 0}, flags[] = {CL_QUEUE_PROPERTIES, 1u << 20, 0};
    const cl_queue_properties on_device[] = {CL_QUEUE_PROPERTIES,
                                             CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};

    (void)state;
    E(clCreateCommandQueueWithProperties, CL_INVALID_CONTEXT, "another object",
      OF(clCreateCommandQueueWithProperties((cl_context)queue, device, NULL, &code)));
    E(clCreateCommandQueueWithProperties, CL_INVALID_DEVICE, "another object",
      OF(clCreateCommandQueueWithProperties(context, (cl_device_id)queue, NULL, &code)));
    E(clCreateCommandQueueWithProperties, CL_INVALID_DEVICE, "not the context's",
      OF(clCreateCommandQueueWithProperties(context, member, NULL, &code)));
    E(clCreateCommandQueueWithProperties, CL_INVALID_VALUE, "unknown",
      OF(clCreateCommandQueueWithProperties(context, device, unknown, &code)));
    E(clCreateCommandQueueWithProperties, CL_INVALID_VALUE, "unknown flags",
      OF(clCreateCommandQueueWithProperties(context, device, flags, &code)));
    E(clCreateCommandQueueWithProperties, CL_INVALID_QUEUE_PROPERTIES, "on the device",
      OF(clCreateCommandQueueWithProperties(context, device, on_device, &code)));
    E(clCreateCommandQueue, CL_INVALID_CONTEXT, "another object",
      OF(clCreateCommandQueue((cl_context)queue, device, 0, &code)));
    E(clCreateCommandQueue, CL_INVALID_DEVICE, "not the context's",
      OF(clCreateCommandQueue(context, member, 0, &code)));
    E(clCreateCommandQueue, CL_INVALID_VALUE, "unknown flags",
      OF(clCreateCommandQueue(context, device, 1u << 20, &code)));
    NEVER(clCreateCommandQueue, CL_INVALID_QUEUE_PROPERTIES, "both flags that it takes are supported");
    E(clRetainCommandQueue, CL_INVALID_COMMAND_QUEUE, "another object",
      clRetainCommandQueue((cl_command_queue)context));
    E(clReleaseCommandQueue, CL_INVALID_COMMAND_QUEUE, "another object",
      clReleaseCommandQueue((cl_command_queue)context));
    E(clGetCommandQueueInfo, CL_INVALID_COMMAND_QUEUE, "another object",
      clGetCommandQueueInfo((cl_command_queue)context, CL_QUEUE_CONTEXT, SIZE, room, NULL));
    E(clGetCommandQueueInfo, CL_INVALID_COMMAND_QUEUE, "a query of queues on the device",
      clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, SIZE, room, NULL));
    E(clGetCommandQueueInfo, CL_INVALID_VALUE, "unknown", clGetCommandQueueInfo(queue, 7, SIZE, room, NULL));
    E(clGetCommandQueueInfo, CL_INVALID_VALUE, "no room",
      clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, 1, room, NULL));
    E(clSetCommandQueueProperty, CL_INVALID_COMMAND_QUEUE, "another object",
      clSetCommandQueueProperty((cl_command_queue)context, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, NULL));
    E(clSetCommandQueueProperty, CL_INVALID_VALUE, "unknown flags",
      clSetCommandQueueProperty(queue, 1u << 20, CL_TRUE, NULL));
    NEVER(clSetCommandQueueProperty, CL_INVALID_QUEUE_PROPERTIES, "both flags that it takes are supported");
    NEVER(clSetCommandQueueProperty, CL_INVALID_OPERATION, "every device can");
    E(clFlush, CL_INVALID_COMMAND_QUEUE, "another object", clFlush((cl_command_queue)context));
    E(clFinish, CL_INVALID_COMMAND_QUEUE, "another object", clFinish((cl_command_queue)context));
}

/* ---- Memory objects ---- */

static void CL_CALLBACK at_mem_end(cl_mem mem, void *arg)
{
    (void)mem, (void)arg;
}

static void test_buffers(void **state)
{
    const cl_mem_properties unknown[] = {0x7777, 0, 0};
    const cl_mem_flags two = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, rw = CL_MEM_READ_WRITE;
    cl_ulong most = 0;

    (void)state;
    clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    E(clCreateBuffer, CL_INVALID_CONTEXT, "another object", OF(clCreateBuffer((cl_context)queue, 0, 1, NULL, &code)));
    E(clCreateBuffer, CL_INVALID_PROPERTY, "unknown",
      OF(clCreateBufferWithProperties(context, unknown, 0, SIZE, NULL, &code)));
    NEVER(clCreateBuffer, CL_INVALID_DEVICE, "of external memory");
    NEVER(clCreateBuffer, CL_INVALID_OPERATION, "of external memory and device addresses");
    E(clCreateBuffer, CL_INVALID_VALUE, "two accesses", OF(clCreateBuffer(context, two, SIZE, NULL, &code)));
    E(clCreateBuffer, CL_INVALID_VALUE, "unknown flags", OF(clCreateBuffer(context, 1u << 30, SIZE, NULL, &code)));
    E(clCreateBuffer, CL_INVALID_VALUE, "host pointers of two kinds",
      OF(clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, SIZE, bytes, &code)));
    E(clCreateBuffer, CL_INVALID_BUFFER_SIZE, "empty", OF(clCreateBuffer(context, rw, 0, NULL, &code)));
    E(clCreateBuffer, CL_INVALID_BUFFER_SIZE, "too large",
      OF(clCreateBuffer(context, rw, (size_t)most * 64, NULL, &code)));
    E(clCreateBuffer, CL_INVALID_HOST_PTR, "used, but NULL",
      OF(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, SIZE, NULL, &code)));
    E(clCreateBuffer, CL_INVALID_HOST_PTR, "for no use", OF(clCreateBuffer(context, rw, SIZE, bytes, &code)));
    NEVER(clCreateBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c: allocated at first use");
    E(clRetainMemObject, CL_INVALID_MEM_OBJECT, "another object", clRetainMemObject((cl_mem)queue));
    E(clReleaseMemObject, CL_INVALID_MEM_OBJECT, "another object", clReleaseMemObject((cl_mem)queue));
    E(clSetMemObjectDestructorCallback, CL_INVALID_MEM_OBJECT, "another object",
      clSetMemObjectDestructorCallback((cl_mem)queue, at_mem_end, NULL));
    E(clSetMemObjectDestructorCallback, CL_INVALID_VALUE, "none", clSetMemObjectDestructorCallback(buffer, NULL, NULL));
    E(clGetMemObjectInfo, CL_INVALID_MEM_OBJECT, "another object",
      clGetMemObjectInfo((cl_mem)queue, CL_MEM_SIZE, SIZE, room, NULL));
    E(clGetMemObjectInfo, CL_INVALID_VALUE, "unknown", clGetMemObjectInfo(buffer, 7, SIZE, room, NULL));
    E(clGetMemObjectInfo, CL_INVALID_VALUE, "no room", clGetMemObjectInfo(buffer, CL_MEM_SIZE, 1, room, NULL));
    NEVER(clGetMemObjectInfo, CL_INVALID_OPERATION, "of device addresses");
}

static cl_int sub_buffer(cl_mem of, cl_mem_flags flags, size_t origin, size_t its_size)
{
    const cl_buffer_region region = {origin, its_size};

    clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    return code;
}

static void test_sub_buffers(void **state)
{
    const cl_buffer_region region = {0, 16};

    (void)state;
    E(clCreateSubBuffer, CL_INVALID_MEM_OBJECT, "another object", sub_buffer((cl_mem)queue, 0, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_MEM_OBJECT, "of a sub-buffer", sub_buffer(part, 0, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "more than write", sub_buffer(to_write, CL_MEM_READ_WRITE, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "read instead of write", sub_buffer(to_write, CL_MEM_READ_ONLY, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "more than read", sub_buffer(to_read, CL_MEM_READ_WRITE, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "write instead of read", sub_buffer(to_read, CL_MEM_WRITE_ONLY, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "the host would read", sub_buffer(to_write, CL_MEM_HOST_READ_ONLY, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "the host would write", sub_buffer(to_read, CL_MEM_HOST_WRITE_ONLY, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "the host would see", sub_buffer(hidden, CL_MEM_HOST_READ_ONLY, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "a host pointer's flag", sub_buffer(buffer, CL_MEM_USE_HOST_PTR, 0, 16));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "unknown type", OF(clCreateSubBuffer(buffer, 0, 7, &region, &code)));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "no region",
      OF(clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &code)));
    E(clCreateSubBuffer, CL_INVALID_VALUE, "beyond the end", sub_buffer(buffer, 0, SIZE - 128, 256));
    E(clCreateSubBuffer, CL_INVALID_BUFFER_SIZE, "empty", sub_buffer(buffer, 0, 0, 0));
    E(clCreateSubBuffer, CL_MISALIGNED_SUB_BUFFER_OFFSET, "misaligned", sub_buffer(buffer, 0, 3, 16));
    NEVER(clCreateSubBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE, "a sub-buffer allocates nothing");
}

/* ---- Transfers ---- */

static void test_reads(void **state)
{
    (void)state;
    E(clEnqueueReadBuffer, CL_INVALID_CONTEXT, "a foreign buffer",
      clEnqueueReadBuffer(queue, foreign, CL_TRUE, 0, 1, room, 0, NULL, NULL));
    E(clEnqueueReadBuffer, CL_INVALID_MEM_OBJECT, "another object",
      clEnqueueReadBuffer(queue, (cl_mem)queue, CL_TRUE, 0, 1, room, 0, NULL, NULL));
    E(clEnqueueReadBuffer, CL_INVALID_VALUE, "beyond the end",
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, SIZE - 1, 2, room, 0, NULL, NULL));
    E(clEnqueueReadBuffer, CL_INVALID_VALUE, "round the end of size_t",
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 2, SIZE_MAX, room, 0, NULL, NULL));
    E(clEnqueueReadBuffer, CL_INVALID_VALUE, "to nowhere",
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL));
    WAIT_LISTS(clEnqueueReadBuffer, clEnqueueReadBuffer(the_queue(), buffer, CL_TRUE, 0, 1, room, n_list, list, NULL));
    AFTER_FAILED(clEnqueueReadBuffer, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, room, n_list, list, NULL));
    E(clEnqueueReadBuffer, CL_INVALID_OPERATION, "only to be written by the host",
      clEnqueueReadBuffer(queue, to_write, CL_TRUE, 0, 1, room, 0, NULL, NULL));
    E(clEnqueueReadBuffer, CL_INVALID_OPERATION, "hidden from the host",
      clEnqueueReadBuffer(queue, hidden, CL_TRUE, 0, 1, room, 0, NULL, NULL));
    TRANSFER_NEVER(clEnqueueReadBuffer);
    E(clEnqueueWriteBuffer, CL_INVALID_CONTEXT, "a foreign buffer",
      clEnqueueWriteBuffer(queue, foreign, CL_TRUE, 0, 1, bytes, 0, NULL, NULL));
    E(clEnqueueWriteBuffer, CL_INVALID_MEM_OBJECT, "another object",
      clEnqueueWriteBuffer(queue, (cl_mem)queue, CL_TRUE, 0, 1, bytes, 0, NULL, NULL));
    E(clEnqueueWriteBuffer, CL_INVALID_VALUE, "beyond the end",
      clEnqueueWriteBuffer(queue, buffer, CL_TRUE, SIZE, 1, bytes, 0, NULL, NULL));
    E(clEnqueueWriteBuffer, CL_INVALID_VALUE, "from nowhere",
      clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL));
    WAIT_LISTS(clEnqueueWriteBuffer,
               clEnqueueWriteBuffer(the_queue(), buffer, CL_TRUE, 0, 1, bytes, n_list, list, NULL));
    AFTER_FAILED(clEnqueueWriteBuffer, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, bytes, n_list, list, NULL));
    E(clEnqueueWriteBuffer, CL_INVALID_OPERATION, "only to be read by the host",
      clEnqueueWriteBuffer(queue, to_read, CL_TRUE, 0, 1, bytes, 0, NULL, NULL));
    E(clEnqueueWriteBuffer, CL_INVALID_OPERATION, "hidden from the host",
      clEnqueueWriteBuffer(queue, hidden, CL_TRUE, 0, 1, bytes, 0, NULL, NULL));
    TRANSFER_NEVER(clEnqueueWriteBuffer);
}

static const size_t origin[] = {0, 0, 0}, far_off[] = {SIZE, 0, 0}, box[] = {4, 2, 2}, flat[] = {4, 0, 1};

static cl_int read_rect(cl_mem mem, const size_t *at, const size_t *region, size_t row, size_t slice, void *host)
{
    return clEnqueueReadBufferRect(the_queue(), mem, CL_TRUE, at, origin, region, row, slice, 0, 0, host, n_list, list,
                                   NULL);
}

static cl_int write_rect(cl_mem mem, const size_t *at, const size_t *region, size_t row, size_t slice, void *host)
{
    return clEnqueueWriteBufferRect(the_queue(), mem, CL_TRUE, at, origin, region, row, slice, 0, 0, host, n_list, list,
                                    NULL);
}

#define RECTS(call, rect)                                                                               \
    do {                                                                                                \
        E(call, CL_INVALID_CONTEXT, "a foreign buffer", rect(foreign, origin, box, 0, 0, room));        \
        E(call, CL_INVALID_MEM_OBJECT, "another object", rect((cl_mem)queue, origin, box, 0, 0, room)); \
        E(call, CL_INVALID_VALUE, "no origin", rect(buffer, NULL, box, 0, 0, room));                    \
        E(call, CL_INVALID_VALUE, "no region", rect(buffer, origin, NULL, 0, 0, room));                 \
        E(call, CL_INVALID_VALUE, "beyond the end", rect(buffer, far_off, box, 0, 0, room));            \
        E(call, CL_INVALID_VALUE, "empty", rect(buffer, origin, flat, 0, 0, room));                     \
        E(call, CL_INVALID_VALUE, "rows too short", rect(buffer, origin, box, 3, 0, room));             \
        E(call, CL_INVALID_VALUE, "slices too short", rect(buffer, origin, box, 4, 7, room));           \
        E(call, CL_INVALID_VALUE, "slices not of rows", rect(buffer, origin, box, 4, 9, room));         \
        E(call, CL_INVALID_VALUE, "host memory nowhere", rect(buffer, origin, box, 0, 0, NULL));        \
        WAIT_LISTS(call, rect(buffer, origin, box, 0, 0, room));                                        \
        AFTER_FAILED(call, rect(buffer, origin, box, 0, 0, room));                                      \
        TRANSFER_NEVER(call);                                                                           \
    } while (0)

static void test_rects(void **state)
{
    (void)state;
    RECTS(clEnqueueReadBufferRect, read_rect);
    RECTS(clEnqueueWriteBufferRect, write_rect);
    E(clEnqueueReadBufferRect, CL_INVALID_VALUE, "no host origin",
      clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, NULL, box, 0, 0, 0, 0, room, 0, NULL, NULL));
    E(clEnqueueReadBufferRect, CL_INVALID_VALUE, "host rows too short",
      clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, box, 0, 0, 3, 0, room, 0, NULL, NULL));
    E(clEnqueueReadBufferRect, CL_INVALID_VALUE, "host slices too short",
      clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, box, 0, 0, 4, 7, room, 0, NULL, NULL));
    E(clEnqueueReadBufferRect, CL_INVALID_OPERATION, "only to be written",
      read_rect(to_write, origin, box, 0, 0, room));
    E(clEnqueueReadBufferRect, CL_INVALID_OPERATION, "hidden", read_rect(hidden, origin, box, 0, 0, room));
    E(clEnqueueWriteBufferRect, CL_INVALID_OPERATION, "only to be read", write_rect(to_read, origin, box, 0, 0, room));
    E(clEnqueueWriteBufferRect, CL_INVALID_OPERATION, "hidden", write_rect(hidden, origin, box, 0, 0, room));
}

static cl_int copy(cl_mem from, cl_mem to, size_t at, size_t into, size_t n)
{
    return clEnqueueCopyBuffer(the_queue(), from, to, at, into, n, n_list, list, NULL);
}

static cl_int copy_rect(cl_mem from, cl_mem to, const size_t *at, const size_t *into, const size_t *region, size_t row)
{
    return clEnqueueCopyBufferRect(the_queue(), from, to, at, into, region, row, 0, row, 0, n_list, list, NULL);
}

static void test_copies(void **state)
{
    const size_t next[] = {2, 1, 0};

    (void)state;
    E(clEnqueueCopyBuffer, CL_INVALID_CONTEXT, "from a foreign buffer", copy(foreign, buffer, 0, 0, 1));
    E(clEnqueueCopyBuffer, CL_INVALID_CONTEXT, "to a foreign buffer", copy(buffer, foreign, 0, 0, 1));
    E(clEnqueueCopyBuffer, CL_INVALID_MEM_OBJECT, "from another object", copy((cl_mem)queue, buffer, 0, 0, 1));
    E(clEnqueueCopyBuffer, CL_INVALID_MEM_OBJECT, "to another object", copy(buffer, (cl_mem)queue, 0, 0, 1));
    E(clEnqueueCopyBuffer, CL_INVALID_VALUE, "from beyond the end", copy(buffer, hidden, SIZE, 0, 1));
    E(clEnqueueCopyBuffer, CL_INVALID_VALUE, "beyond the end", copy(buffer, hidden, 0, SIZE, 1));
    E(clEnqueueCopyBuffer, CL_MEM_COPY_OVERLAP, "overlapping", copy(buffer, buffer, 0, 8, 16));
    E(clEnqueueCopyBuffer, CL_MEM_COPY_OVERLAP, "overlapping by a sub-buffer", copy(buffer, part, 0, 8, 16));
    NEVER(clEnqueueCopyBuffer, CL_INVALID_OPERATION, "of immutable buffers");
    WAIT_LISTS(clEnqueueCopyBuffer, copy(buffer, hidden, 0, 0, 1));
    TRANSFER_NEVER(clEnqueueCopyBuffer);
    E(clEnqueueCopyBufferRect, CL_INVALID_CONTEXT, "from afar", copy_rect(foreign, buffer, origin, origin, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_CONTEXT, "to afar", copy_rect(buffer, foreign, origin, origin, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_MEM_OBJECT, "from another object",
      copy_rect((cl_mem)queue, buffer, origin, origin, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_MEM_OBJECT, "to another object",
      copy_rect(buffer, (cl_mem)queue, origin, origin, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "no source", copy_rect(buffer, hidden, NULL, origin, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "no target", copy_rect(buffer, hidden, origin, NULL, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "no region", copy_rect(buffer, hidden, origin, origin, NULL, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "beyond the end", copy_rect(buffer, hidden, far_off, origin, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "to beyond the end",
      copy_rect(buffer, hidden, origin, far_off, box, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "empty", copy_rect(buffer, hidden, origin, origin, flat, 0));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "rows too short", copy_rect(buffer, hidden, origin, origin, box, 3));
    E(clEnqueueCopyBufferRect, CL_INVALID_VALUE, "one buffer, two pitches",
      clEnqueueCopyBufferRect(queue, buffer, buffer, origin, far_off, box, 8, 0, 16, 0, 0, NULL, NULL));
    E(clEnqueueCopyBufferRect, CL_MEM_COPY_OVERLAP, "overlapping", copy_rect(buffer, buffer, origin, next, box, 8));
    NEVER(clEnqueueCopyBufferRect, CL_INVALID_OPERATION, "of immutable buffers");
    WAIT_LISTS(clEnqueueCopyBufferRect, copy_rect(buffer, hidden, origin, origin, box, 0));
    TRANSFER_NEVER(clEnqueueCopyBufferRect);
}

static cl_int fill(cl_mem mem, const void *pattern, size_t pattern_size, size_t offset, size_t n)
{
    return clEnqueueFillBuffer(the_queue(), mem, pattern, pattern_size, offset, n, n_list, list, NULL);
}

static void test_fills(void **state)
{
    (void)state;
    E(clEnqueueFillBuffer, CL_INVALID_CONTEXT, "a foreign buffer", fill(foreign, bytes, 4, 0, 4));
    E(clEnqueueFillBuffer, CL_INVALID_MEM_OBJECT, "another object", fill((cl_mem)queue, bytes, 4, 0, 4));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "beyond the end", fill(buffer, bytes, 4, SIZE, 4));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "with nothing", fill(buffer, NULL, 4, 0, 4));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "with no bytes", fill(buffer, bytes, 0, 0, 4));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "with 3 bytes", fill(buffer, bytes, 3, 0, 3));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "with 256 bytes", fill(buffer, bytes, 256, 0, 256));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "from between", fill(buffer, bytes, 4, 2, 4));
    E(clEnqueueFillBuffer, CL_INVALID_VALUE, "to between", fill(buffer, bytes, 4, 0, 6));
    NEVER(clEnqueueFillBuffer, CL_INVALID_OPERATION, "of immutable buffers");
    WAIT_LISTS(clEnqueueFillBuffer, fill(buffer, bytes, 4, 0, 4));
    TRANSFER_NEVER(clEnqueueFillBuffer);
}

static cl_int map(cl_mem mem, cl_map_flags flags, size_t offset, size_t n)
{
    code = 1;
    clEnqueueMapBuffer(the_queue(), mem, CL_TRUE, flags, offset, n, n_list, list, NULL, &code);
    return code;
}

static cl_int migrate(cl_uint n, const cl_mem *mems, cl_mem_migration_flags flags)
{
    return clEnqueueMigrateMemObjects(the_queue(), n, mems, flags, n_list, list, NULL);
}

static void test_maps(void **state)
{
    const cl_map_flags two = CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION;
    const cl_mem wrong = (cl_mem)queue;
    void *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &code);

    (void)state;
    E(clEnqueueMapBuffer, CL_INVALID_CONTEXT, "a foreign buffer", map(foreign, CL_MAP_READ, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_MEM_OBJECT, "another object", map((cl_mem)queue, CL_MAP_READ, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_VALUE, "beyond the end", map(buffer, CL_MAP_READ, SIZE, 1));
    E(clEnqueueMapBuffer, CL_INVALID_VALUE, "empty", map(buffer, CL_MAP_READ, 0, 0));
    E(clEnqueueMapBuffer, CL_INVALID_VALUE, "unknown flags", map(buffer, 1u << 20, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_VALUE, "flags that contradict", map(buffer, two, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_OPERATION, "read, only to be written", map(to_write, CL_MAP_READ, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_OPERATION, "written, only to be read", map(to_read, CL_MAP_WRITE, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_OPERATION, "discarded, only to be read",
      map(to_read, CL_MAP_WRITE_INVALIDATE_REGION, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_OPERATION, "hidden", map(hidden, CL_MAP_READ, 0, 1));
    E(clEnqueueMapBuffer, CL_INVALID_OPERATION, "hidden, written", map(hidden, CL_MAP_WRITE, 0, 1));
    NEVER(clEnqueueMapBuffer, CL_MAP_FAILURE, "host memory that can't be had is CL_OUT_OF_HOST_MEMORY");
    WAIT_LISTS(clEnqueueMapBuffer, map(buffer, CL_MAP_READ, 0, 1));
    AFTER_FAILED(clEnqueueMapBuffer, map(buffer, CL_MAP_READ, 0, 1));
    TRANSFER_NEVER(clEnqueueMapBuffer);
    E(clEnqueueUnmapMemObject, CL_INVALID_MEM_OBJECT, "another object",
      clEnqueueUnmapMemObject(queue, (cl_mem)queue, mapped, 0, NULL, NULL));
    E(clEnqueueUnmapMemObject, CL_INVALID_VALUE, "never mapped",
      clEnqueueUnmapMemObject(queue, buffer, bytes, 0, NULL, NULL));
    E(clEnqueueUnmapMemObject, CL_INVALID_VALUE, "another buffer's",
      clEnqueueUnmapMemObject(queue, hidden, mapped, 0, NULL, NULL));
    E(clEnqueueUnmapMemObject, CL_INVALID_CONTEXT, "a foreign buffer",
      clEnqueueUnmapMemObject(queue, foreign, mapped, 0, NULL, NULL));
    WAIT_LISTS(clEnqueueUnmapMemObject, clEnqueueUnmapMemObject(the_queue(), buffer, mapped, n_list, list, NULL));
    assert_int_equal(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL), CL_SUCCESS);
    E(clEnqueueMigrateMemObjects, CL_INVALID_CONTEXT, "a foreign buffer", migrate(1, &foreign, 0));
    E(clEnqueueMigrateMemObjects, CL_INVALID_MEM_OBJECT, "another object", migrate(1, &wrong, 0));
    E(clEnqueueMigrateMemObjects, CL_INVALID_VALUE, "none", migrate(0, &buffer, 0));
    E(clEnqueueMigrateMemObjects, CL_INVALID_VALUE, "no list", migrate(1, NULL, 0));
    E(clEnqueueMigrateMemObjects, CL_INVALID_VALUE, "unknown flags", migrate(1, &buffer, 1u << 20));
    WAIT_LISTS(clEnqueueMigrateMemObjects, migrate(1, &buffer, 0));
    NEVER(clEnqueueMigrateMemObjects, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c");
}

/* ---- All ---- */

static void test_all_are_met(void **state)
{
    static const char *const rows[] = {
        "clGetPlatformIDs CL_PLATFORM_NOT_FOUND_KHR CL_INVALID_VALUE",
        "clGetDeviceIDs CL_INVALID_PLATFORM CL_INVALID_DEVICE_TYPE CL_INVALID_VALUE CL_DEVICE_NOT_FOUND",
        "clGetDeviceInfo CL_INVALID_DEVICE CL_INVALID_VALUE",
        "clCreateSubDevices CL_INVALID_DEVICE CL_INVALID_VALUE CL_DEVICE_PARTITION_FAILED "
        "CL_INVALID_DEVICE_PARTITION_COUNT",
        "clRetainDevice CL_INVALID_DEVICE",
        "clReleaseDevice CL_INVALID_DEVICE",
        "clCreateContext CL_INVALID_PLATFORM CL_INVALID_PROPERTY CL_INVALID_VALUE CL_INVALID_DEVICE "
        "CL_DEVICE_NOT_AVAILABLE CL_INVALID_OPERATION",
        "clCreateContextFromType CL_INVALID_PLATFORM CL_INVALID_PROPERTY CL_INVALID_VALUE CL_INVALID_DEVICE_TYPE "
        "CL_DEVICE_NOT_AVAILABLE CL_DEVICE_NOT_FOUND CL_INVALID_OPERATION",
        "clRetainContext CL_INVALID_CONTEXT",
        "clReleaseContext CL_INVALID_CONTEXT",
        "clGetContextInfo CL_INVALID_CONTEXT CL_INVALID_VALUE",
        "clSetContextDestructorCallback CL_INVALID_CONTEXT CL_INVALID_VALUE",
        "clCreateCommandQueueWithProperties CL_INVALID_CONTEXT CL_INVALID_DEVICE CL_INVALID_VALUE "
        "CL_INVALID_QUEUE_PROPERTIES",
        "clCreateCommandQueue CL_INVALID_CONTEXT CL_INVALID_DEVICE CL_INVALID_VALUE CL_INVALID_QUEUE_PROPERTIES",
        "clRetainCommandQueue CL_INVALID_COMMAND_QUEUE",
        "clReleaseCommandQueue CL_INVALID_COMMAND_QUEUE",
        "clGetCommandQueueInfo CL_INVALID_COMMAND_QUEUE CL_INVALID_VALUE",
        "clSetCommandQueueProperty CL_INVALID_COMMAND_QUEUE CL_INVALID_OPERATION CL_INVALID_VALUE "
        "CL_INVALID_QUEUE_PROPERTIES",
        "clCreateBuffer CL_INVALID_CONTEXT CL_INVALID_PROPERTY CL_INVALID_DEVICE CL_INVALID_VALUE "
        "CL_INVALID_BUFFER_SIZE CL_INVALID_HOST_PTR CL_INVALID_OPERATION CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "clCreateSubBuffer CL_INVALID_MEM_OBJECT CL_INVALID_VALUE CL_INVALID_BUFFER_SIZE "
        "CL_MISALIGNED_SUB_BUFFER_OFFSET CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "clEnqueueReadBuffer CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clEnqueueWriteBuffer CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clEnqueueReadBufferRect CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clEnqueueWriteBufferRect CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clEnqueueCopyBuffer CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT "
        "CL_MISALIGNED_SUB_BUFFER_OFFSET CL_INVALID_VALUE CL_INVALID_EVENT_WAIT_LIST CL_MEM_COPY_OVERLAP "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clEnqueueCopyBufferRect CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT "
        "CL_MISALIGNED_SUB_BUFFER_OFFSET CL_INVALID_VALUE CL_INVALID_EVENT_WAIT_LIST CL_MEM_COPY_OVERLAP "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clEnqueueFillBuffer CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MISALIGNED_SUB_BUFFER_OFFSET CL_MEM_OBJECT_ALLOCATION_FAILURE "
        "CL_INVALID_OPERATION",
        "clEnqueueMapBuffer CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MISALIGNED_SUB_BUFFER_OFFSET CL_MAP_FAILURE "
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clRetainMemObject CL_INVALID_MEM_OBJECT",
        "clReleaseMemObject CL_INVALID_MEM_OBJECT",
        "clSetMemObjectDestructorCallback CL_INVALID_MEM_OBJECT CL_INVALID_VALUE",
        "clEnqueueUnmapMemObject CL_INVALID_COMMAND_QUEUE CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_INVALID_CONTEXT",
        "clEnqueueMigrateMemObjects CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE "
        "CL_INVALID_EVENT_WAIT_LIST CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "clGetMemObjectInfo CL_INVALID_MEM_OBJECT CL_INVALID_OPERATION CL_INVALID_VALUE",
        "clFlush CL_INVALID_COMMAND_QUEUE",
        "clFinish CL_INVALID_COMMAND_QUEUE",
    };

    (void)state;
    check_list(rows, LENGTH(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices), cmocka_unit_test(test_contexts),    cmocka_unit_test(test_queues),
        cmocka_unit_test(test_buffers), cmocka_unit_test(test_sub_buffers), cmocka_unit_test(test_reads),
        cmocka_unit_test(test_rects),   cmocka_unit_test(test_copies),      cmocka_unit_test(test_fills),
        cmocka_unit_test(test_maps),    cmocka_unit_test(test_all_are_met),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
