/* Buffers: every argument that OpenCL 3.0 refuses, in creation, queries and commands, and the limits of valid ones. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: cuda_standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none */
/* any: */

#include "begin.h"

#include <stdlib.h>

#define SIZE ((size_t)4096)

static cl_context context, other_context;
static cl_command_queue queue;
static cl_mem buffer, other_buffer;
static char host[2 * 4096];

static int setup(void **state)
{
    (void)state;
    context = make_context();
    other_context = make_context();
    queue = make_queue(context, 0);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, SIZE);
    other_buffer = make_buffer(other_context, CL_MEM_READ_WRITE, SIZE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return clReleaseMemObject(buffer) || clReleaseMemObject(other_buffer) || clReleaseCommandQueue(queue) ||
           clReleaseContext(context) || clReleaseContext(other_context);
}

static cl_ulong number(cl_mem of, cl_mem_info param)
{
    cl_ulong value = 0; /* little-endian: narrower answers fill its beginning */

    assert_int_equal(clGetMemObjectInfo(of, param, sizeof value, &value, NULL), CL_SUCCESS);
    return value;
}

/* ---- Creation ---- */

static void wrong_flags_are_refused(void **state)
{
    static const cl_mem_flags wrong[] = {
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
        CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
        CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
        CL_MEM_SVM_FINE_GRAIN_BUFFER,
        CL_MEM_KERNEL_READ_AND_WRITE,
        (cl_mem_flags)1 << 40,
    };
    (void)state;

    for (size_t i = 0; i < LENGTH(wrong); i++) {
        void *ptr = wrong[i] & CL_MEM_USE_HOST_PTR ? host : NULL;

        assert_refused(CL_INVALID_VALUE, clCreateBuffer(context, wrong[i], SIZE, ptr, err));
    }
}

static void host_pointers_must_fit_the_flags(void **state)
{
    (void)state;
    assert_refused(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, host, err));
    assert_refused(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, SIZE, host, err));
    assert_refused(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, SIZE, NULL, err));
    assert_refused(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, SIZE, NULL, err));
}

static void sizes_have_limits(void **state)
{
    cl_ulong largest;
    cl_mem most;
    cl_int error;
    (void)state;

    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL),
                     CL_SUCCESS);
    assert_refused(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, err));
    assert_refused(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, largest + 1, NULL, err));
    assert_refused(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, SIZE_MAX, NULL, err));
    /* Memory that nothing touches needs not be there. */
    most = clCreateBuffer(context, 0, largest, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(number(most, CL_MEM_SIZE), largest);
    assert_int_equal(clReleaseMemObject(most), CL_SUCCESS);
    /* No place for the error is no error. */
    assert_null(clCreateBuffer(context, 0, 0, NULL, NULL));
}

static void properties_may_only_be_empty(void **state)
{
    static const cl_mem_properties empty[] = {0}, some[] = {0x7777, 1, 0};
    cl_mem with;
    size_t size;
    cl_int error;
    (void)state;

    assert_refused(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, some, 0, SIZE, NULL, err));
    with = clCreateBufferWithProperties(context, empty, 0, SIZE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetMemObjectInfo(with, CL_MEM_PROPERTIES, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, sizeof empty);
    assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_PROPERTIES, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, 0);
    clReleaseMemObject(with);
}

static void says_what_it_was_made_with(void **state)
{
    const cl_mem_flags flags = CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_WRITE_ONLY;
    cl_int error;
    cl_mem used = clCreateBuffer(context, flags, SIZE, host, &error);
    (void)state;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(number(used, CL_MEM_TYPE), CL_MEM_OBJECT_BUFFER);
    assert_int_equal(number(used, CL_MEM_FLAGS), flags);
    assert_int_equal(number(used, CL_MEM_SIZE), SIZE);
    assert_ptr_equal((void *)number(used, CL_MEM_HOST_PTR), host);
    assert_int_equal(number(used, CL_MEM_MAP_COUNT), 0);
    assert_int_equal(number(used, CL_MEM_REFERENCE_COUNT), 1);
    assert_ptr_equal((void *)number(used, CL_MEM_CONTEXT), context);
    assert_int_equal(number(used, CL_MEM_ASSOCIATED_MEMOBJECT), 0);
    assert_int_equal(number(used, CL_MEM_OFFSET), 0);
    assert_int_equal(number(used, CL_MEM_USES_SVM_POINTER), CL_FALSE);
    assert_int_equal(number(buffer, CL_MEM_HOST_PTR), 0);
    assert_int_equal(clGetMemObjectInfo(used, CL_MEM_SIZE, sizeof(size_t) - 1, host, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetMemObjectInfo(used, 0x7777, sizeof host, host, NULL), CL_INVALID_VALUE);
    clReleaseMemObject(used);
}

/* Copied memory has no host pointer, and without flags a buffer can be read and written. */
static void defaults(void **state)
{
    cl_int error;
    cl_mem copied = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, SIZE, host, &error);
    (void)state;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(number(copied, CL_MEM_HOST_PTR), 0);
    assert_int_equal(number(copied, CL_MEM_FLAGS), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR);
    clReleaseMemObject(copied);
}

/* ---- Sub-buffers ---- */

static cl_mem sub_buffer(cl_mem of, cl_mem_flags flags, size_t origin, size_t size, cl_int *error)
{
    const cl_buffer_region region = {origin, size};

    return clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, error);
}

static size_t alignment(void)
{
    cl_uint bits;

    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL),
                     CL_SUCCESS);
    return bits / 8;
}

static void parts_say_what_they_are_of(void **state)
{
    size_t origin = alignment();
    cl_int error;
    cl_mem root =
        clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY, SIZE, host, &error);
    cl_mem part = sub_buffer(root, 0, origin, 64, &error);
    (void)state;

    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(number(part, CL_MEM_TYPE), CL_MEM_OBJECT_BUFFER);
    assert_int_equal(number(part, CL_MEM_FLAGS), CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY);
    assert_int_equal(number(part, CL_MEM_SIZE), 64);
    assert_int_equal(number(part, CL_MEM_OFFSET), origin);
    assert_ptr_equal((void *)number(part, CL_MEM_HOST_PTR), host + origin);
    assert_ptr_equal((void *)number(part, CL_MEM_ASSOCIATED_MEMOBJECT), root);
    assert_int_equal(clReleaseMemObject(root), CL_SUCCESS);
    assert_int_equal(number(part, CL_MEM_SIZE), 64);
    assert_int_equal(clReleaseMemObject(part), CL_SUCCESS);
}

static void wrong_regions_are_refused(void **state)
{
    const cl_buffer_region region = {0, 64};
    cl_int error;
    cl_mem part = sub_buffer(buffer, 0, 0, 64, &error);
    (void)state;

    assert_refused(CL_INVALID_MEM_OBJECT, sub_buffer(part, 0, 0, 32, err));
    assert_refused(CL_INVALID_MEM_OBJECT, sub_buffer((cl_mem)queue, 0, 0, 32, err));
    assert_refused(CL_INVALID_VALUE, sub_buffer(buffer, 0, 0, SIZE + 1, err));
    assert_refused(CL_INVALID_VALUE, sub_buffer(buffer, 0, SIZE - 32, 64, err));
    assert_refused(CL_INVALID_VALUE, sub_buffer(buffer, 0, SIZE_MAX, 2, err));
    assert_refused(CL_INVALID_BUFFER_SIZE, sub_buffer(buffer, 0, 0, 0, err));
    assert_refused(CL_MISALIGNED_SUB_BUFFER_OFFSET, sub_buffer(buffer, 0, 1, 64, err));
    assert_refused(CL_MISALIGNED_SUB_BUFFER_OFFSET, sub_buffer(buffer, 0, alignment() / 2, 64, err));
    assert_refused(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, 0x7777, &region, err));
    assert_refused(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, err));
    clReleaseMemObject(part);
}

static void parts_allow_no_more_than_the_whole(void **state)
{
    static const struct {
        cl_mem_flags root, part;
        cl_int error;
    } cases[] = {
        {CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_INVALID_VALUE},
        {CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY, CL_INVALID_VALUE},
        {CL_MEM_WRITE_ONLY, CL_MEM_WRITE_ONLY, CL_SUCCESS},
        {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_INVALID_VALUE},
        {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_INVALID_VALUE},
        {CL_MEM_READ_ONLY, CL_MEM_READ_ONLY, CL_SUCCESS},
        {CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_SUCCESS},
        {CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_INVALID_VALUE},
        {CL_MEM_READ_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_INVALID_VALUE},
        {CL_MEM_READ_WRITE, CL_MEM_COPY_HOST_PTR, CL_INVALID_VALUE},
        {CL_MEM_READ_WRITE, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_INVALID_VALUE},
        {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_INVALID_VALUE},
        {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS, CL_SUCCESS},
        {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_INVALID_VALUE},
        {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_INVALID_VALUE},
        {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY, CL_INVALID_VALUE},
    };
    (void)state;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        cl_mem root = make_buffer(context, cases[i].root, SIZE), part;
        cl_int error;

        part = sub_buffer(root, cases[i].part, 0, 64, &error);
        if (error != cases[i].error)
            fail_msg("case %zu: error %d", i, error);
        if (part)
            clReleaseMemObject(part);
        clReleaseMemObject(root);
    }
}

/* ---- Destructor callbacks ---- */

static char heard[8];

static void CL_CALLBACK hear_end(cl_mem of, void *letter)
{
    (void)of;
    heard[strlen(heard)] = *(const char *)letter;
}

static void its_end_is_told_newest_first(void **state)
{
    cl_mem mine = make_buffer(context, CL_MEM_READ_WRITE, SIZE);
    (void)state;

    memset(heard, 0, sizeof heard);
    assert_int_equal(clSetMemObjectDestructorCallback(mine, hear_end, "a"), CL_SUCCESS);
    assert_int_equal(clSetMemObjectDestructorCallback(mine, hear_end, "b"), CL_SUCCESS);
    assert_int_equal(clSetMemObjectDestructorCallback(mine, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clRetainMemObject(mine), CL_SUCCESS);
    assert_int_equal(number(mine, CL_MEM_REFERENCE_COUNT), 2);
    clReleaseMemObject(mine);
    assert_string_equal(heard, "");
    clReleaseMemObject(mine);
    assert_string_equal(heard, "ba");
    assert_int_equal(clSetMemObjectDestructorCallback(mine, hear_end, "c"), CL_INVALID_MEM_OBJECT);
}

/* ---- Commands ---- */

static cl_int read_buffer(cl_mem from, size_t offset, size_t size, void *to)
{
    return clEnqueueReadBuffer(queue, from, CL_TRUE, offset, size, to, 0, NULL, NULL);
}

static cl_int write_buffer(cl_mem to, size_t offset, size_t size, const void *from)
{
    return clEnqueueWriteBuffer(queue, to, CL_TRUE, offset, size, from, 0, NULL, NULL);
}

static cl_int copy_buffer(cl_mem from, cl_mem to, size_t src_offset, size_t dst_offset, size_t size)
{
    return clEnqueueCopyBuffer(queue, from, to, src_offset, dst_offset, size, 0, NULL, NULL);
}

static cl_int fill_buffer(size_t pattern_size, size_t offset, size_t size)
{
    return clEnqueueFillBuffer(queue, buffer, pattern_size ? host : NULL, pattern_size ? pattern_size : 1, offset, size,
                               0, NULL, NULL);
}

static void ranges_must_lie_inside(void **state)
{
    (void)state;
    assert_int_equal(read_buffer(buffer, 1, SIZE, host), CL_INVALID_VALUE);
    assert_int_equal(read_buffer(buffer, SIZE + 1, 0, host), CL_INVALID_VALUE);
    assert_int_equal(read_buffer(buffer, SIZE_MAX, 2, host), CL_INVALID_VALUE);
    assert_int_equal(read_buffer(buffer, 0, SIZE, NULL), CL_INVALID_VALUE);
    assert_int_equal(write_buffer(buffer, 1, SIZE, host), CL_INVALID_VALUE);
    assert_int_equal(write_buffer(buffer, 2, SIZE_MAX, host), CL_INVALID_VALUE);
    assert_int_equal(write_buffer(buffer, 0, SIZE, NULL), CL_INVALID_VALUE);
    assert_int_equal(fill_buffer(4, 4, SIZE), CL_INVALID_VALUE);
    assert_int_equal(fill_buffer(4, SIZE_MAX - 3, 8), CL_INVALID_VALUE);
}

static void no_bytes_are_some_command(void **state)
{
    (void)state;
    assert_int_equal(read_buffer(buffer, SIZE, 0, host), CL_SUCCESS);
    assert_int_equal(write_buffer(buffer, 0, 0, host), CL_SUCCESS);
    assert_int_equal(copy_buffer(buffer, buffer, 0, 0, 0), CL_SUCCESS);
    assert_int_equal(fill_buffer(4, 0, 0), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void objects_must_belong_together(void **state)
{
    cl_mem no_buffer = (cl_mem)queue;
    cl_event there = make_user_event(other_context), no_event = (cl_event)queue;
    (void)state;

    assert_int_equal(read_buffer(other_buffer, 0, 4, host), CL_INVALID_CONTEXT);
    assert_int_equal(write_buffer(other_buffer, 0, 4, host), CL_INVALID_CONTEXT);
    assert_int_equal(copy_buffer(buffer, other_buffer, 0, 0, 4), CL_INVALID_CONTEXT);
    assert_int_equal(copy_buffer(other_buffer, buffer, 0, 0, 4), CL_INVALID_CONTEXT);
    assert_int_equal(read_buffer(no_buffer, 0, 4, host), CL_INVALID_MEM_OBJECT);
    assert_int_equal(copy_buffer(buffer, no_buffer, 0, 0, 4), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 4, host, 1, &there, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 4, host, 1, &no_event, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 4, host, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 4, host, 0, &there, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer((cl_command_queue)buffer, buffer, CL_FALSE, 0, 4, host, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    clSetUserEventStatus(there, CL_COMPLETE);
    clReleaseEvent(there);
}

static void the_host_keeps_to_its_access(void **state)
{
    static const struct {
        cl_mem_flags flags;
        cl_int reads, writes;
    } cases[] = {
        {CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION},
        {CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS},
        {CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION},
        {CL_MEM_READ_ONLY, CL_SUCCESS, CL_SUCCESS},
    };
    static const size_t origin[3] = {0, 0, 0}, region[3] = {4, 2, 1};
    (void)state;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        cl_mem mine = make_buffer(context, cases[i].flags, SIZE);

        assert_int_equal(read_buffer(mine, 0, 8, host), cases[i].reads);
        assert_int_equal(write_buffer(mine, 0, 8, host), cases[i].writes);
        assert_int_equal(
            clEnqueueReadBufferRect(queue, mine, CL_TRUE, origin, origin, region, 0, 0, 0, 0, host, 0, NULL, NULL),
            cases[i].reads);
        assert_int_equal(
            clEnqueueWriteBufferRect(queue, mine, CL_TRUE, origin, origin, region, 0, 0, 0, 0, host, 0, NULL, NULL),
            cases[i].writes);
        clReleaseMemObject(mine);
    }
}

static void copies_must_not_overlap(void **state)
{
    size_t part_size = alignment() * 2;
    cl_int error;
    cl_mem low = sub_buffer(buffer, 0, 0, part_size, &error);
    cl_mem high = sub_buffer(buffer, 0, alignment(), part_size, &error);
    (void)state;

    assert_non_null(low);
    assert_non_null(high);
    assert_int_equal(copy_buffer(buffer, buffer, 0, 8, 16), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_buffer(buffer, buffer, 8, 0, 16), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_buffer(buffer, buffer, 0, 0, 16), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_buffer(buffer, buffer, 0, 16, 16), CL_SUCCESS);
    assert_int_equal(copy_buffer(buffer, buffer, 16, 0, 16), CL_SUCCESS);
    /* Parts of one buffer share its bytes. */
    assert_int_equal(copy_buffer(low, high, alignment(), 0, 8), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_buffer(low, high, 0, 0, 8), CL_SUCCESS);
    assert_int_equal(copy_buffer(low, buffer, 0, 4, 8), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_buffer(low, buffer, 0, SIZE - 8, 9), CL_INVALID_VALUE);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clReleaseMemObject(low);
    clReleaseMemObject(high);
}

static void patterns_have_sizes(void **state)
{
    static const size_t wrong[] = {3, 12, 127, 256, 0};
    (void)state;

    for (size_t i = 0; i < LENGTH(wrong); i++)
        assert_int_equal(fill_buffer(wrong[i], 0, 768), CL_INVALID_VALUE);
    for (size_t size = 1; size <= 128; size *= 2)
        assert_int_equal(fill_buffer(size, size, 2 * size), CL_SUCCESS);
    assert_int_equal(fill_buffer(8, 4, 8), CL_INVALID_VALUE);
    assert_int_equal(fill_buffer(8, 8, 12), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(queue, buffer, host, 0, 0, 8, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void migrations_name_buffers(void **state)
{
    cl_mem mixed[2] = {buffer, other_buffer}, wrong[2] = {buffer, (cl_mem)queue};
    (void)state;

    assert_int_equal(clEnqueueMigrateMemObjects(queue, 0, mixed, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(queue, 1, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(queue, 1, mixed, 1 << 5, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueMigrateMemObjects(queue, 2, mixed, 0, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueMigrateMemObjects(queue, 2, wrong, 0, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueMigrateMemObjects(queue, 1, mixed, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

/* ---- Rectangles ---- */

struct rect {
    size_t origin[3], region[3], row_pitch, slice_pitch;
};

static cl_int read_rect(const struct rect *r)
{
    static const size_t zero[3] = {0, 0, 0};

    return clEnqueueReadBufferRect(queue, buffer, CL_TRUE, r->origin, zero, r->region, r->row_pitch, r->slice_pitch, 0,
                                   0, host, 0, NULL, NULL);
}

static void rectangles_must_fit(void **state)
{
    static const struct {
        struct rect rect;
        cl_int error;
    } cases[] = {
        {{{0, 0, 0}, {64, 64, 1}, 64, 0}, CL_SUCCESS},
        {{{0, 0, 0}, {64, 64, 1}, 0, 0}, CL_SUCCESS},
        {{{0, 0, 0}, {64, 65, 1}, 64, 0}, CL_INVALID_VALUE},
        {{{1, 63, 0}, {63, 1, 1}, 64, 0}, CL_SUCCESS},
        {{{2, 63, 0}, {63, 1, 1}, 64, 0}, CL_INVALID_VALUE},
        {{{0, 0, 3}, {16, 16, 1}, 32, 1024}, CL_SUCCESS},
        {{{0, 0, 4}, {16, 16, 1}, 32, 1024}, CL_INVALID_VALUE},
        {{{0, 0, 0}, {0, 1, 1}, 0, 0}, CL_INVALID_VALUE},
        {{{0, 0, 0}, {1, 0, 1}, 0, 0}, CL_INVALID_VALUE},
        {{{0, 0, 0}, {1, 1, 0}, 0, 0}, CL_INVALID_VALUE},
        {{{0, 0, 0}, {64, 2, 1}, 63, 0}, CL_INVALID_VALUE},           /* rows longer than their pitch */
        {{{0, 0, 0}, {16, 16, 2}, 16, 255}, CL_INVALID_VALUE},        /* slices longer than theirs */
        {{{0, 0, 0}, {16, 16, 2}, 16, 264}, CL_INVALID_VALUE},        /* half a row between slices */
        {{{0, 1, 0}, {16, 2, 1}, SIZE_MAX / 2, 0}, CL_INVALID_VALUE}, /* more than a size_t holds */
        {{{0, 2, 0}, {1, 1, 1}, SIZE_MAX / 2 + 1, 0}, CL_INVALID_VALUE},
        {{{SIZE_MAX, 0, 0}, {2, 1, 1}, 0, 0}, CL_INVALID_VALUE},
        {{{0, 0, 0}, {2, SIZE_MAX, 1}, 0, 0}, CL_INVALID_VALUE},
        {{{0, 0, 0}, {16, 2, SIZE_MAX / 2}, 16, 32}, CL_INVALID_VALUE},
    };
    (void)state;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        cl_int error = read_rect(&cases[i].rect);

        if (error != cases[i].error)
            fail_msg("case %zu: error %d", i, error);
    }
}

static void rectangles_need_their_arguments(void **state)
{
    static const size_t zero[3] = {0, 0, 0}, region[3] = {4, 4, 1};
    (void)state;

    assert_int_equal(
        clEnqueueReadBufferRect(queue, buffer, CL_TRUE, NULL, zero, region, 0, 0, 0, 0, host, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero, NULL, region, 0, 0, 0, 0, host, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, zero, NULL, 0, 0, 0, 0, host, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, zero, region, 0, 0, 0, 0, NULL, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, zero, zero, region, 0, 0, 3, 0, host, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueReadBufferRect(queue, other_buffer, CL_TRUE, zero, zero, region, 0, 0, 0, 0, host, 0, NULL, NULL),
        CL_INVALID_CONTEXT);
}

static cl_int copy_rect(const size_t from[3], const size_t to[3], const size_t region[3], size_t from_pitch,
                        size_t to_pitch)
{
    return clEnqueueCopyBufferRect(queue, buffer, buffer, from, to, region, from_pitch, 0, to_pitch, 0, 0, NULL, NULL);
}

static void rectangles_within_one_buffer(void **state)
{
    static const size_t zero[3] = {0, 0, 0}, beside[3] = {16, 0, 0}, below[3] = {0, 8, 0}, aslant[3] = {15, 7, 0},
                        wrapped[3] = {56, 0, 0}, region[3] = {16, 8, 1};
    (void)state;

    assert_int_equal(copy_rect(zero, beside, region, 64, 64), CL_SUCCESS);
    assert_int_equal(copy_rect(zero, below, region, 64, 64), CL_SUCCESS);
    assert_int_equal(copy_rect(zero, aslant, region, 64, 64), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_rect(zero, zero, region, 64, 64), CL_MEM_COPY_OVERLAP);
    /* The end of a row is the beginning of the next: the box reaches into that. */
    assert_int_equal(copy_rect(zero, wrapped, region, 64, 64), CL_MEM_COPY_OVERLAP);
    assert_int_equal(copy_rect(zero, below, region, 64, 128), CL_INVALID_VALUE);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void rectangles_of_parts_share_bytes(void **state)
{
    static const size_t zero[3] = {0, 0, 0}, later[3] = {8, 0, 0}, region[3] = {8, 4, 1};
    size_t align = alignment();
    cl_int error;
    cl_mem low = sub_buffer(buffer, 0, 0, 4 * align, &error);
    cl_mem high = sub_buffer(buffer, 0, align, 4 * align, &error);
    (void)state;

    assert_non_null(low);
    assert_non_null(high);
    /* Rows of both at the same distance: they interleave in the buffer, or meet. */
    assert_int_equal(clEnqueueCopyBufferRect(queue, low, high, zero, zero, region, align, 0, align, 0, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyBufferRect(queue, low, high, zero, later, region, align, 0, align, 0, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clReleaseMemObject(low);
    clReleaseMemObject(high);
}

/* ---- Maps ---- */

static void *map(cl_mem of, cl_map_flags flags, size_t offset, size_t size, cl_int *error)
{
    return clEnqueueMapBuffer(queue, of, CL_TRUE, flags, offset, size, 0, NULL, NULL, error);
}

static void wrong_maps_are_refused(void **state)
{
    cl_event no_event = (cl_event)queue;
    (void)state;

    assert_refused(CL_INVALID_VALUE, map(buffer, CL_MAP_READ, 0, SIZE + 1, err));
    assert_refused(CL_INVALID_VALUE, map(buffer, CL_MAP_READ, SIZE_MAX, 2, err));
    assert_refused(CL_INVALID_VALUE, map(buffer, CL_MAP_READ, 0, 0, err));
    assert_refused(CL_INVALID_VALUE, map(buffer, 1 << 5, 0, SIZE, err));
    assert_refused(CL_INVALID_VALUE, map(buffer, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, SIZE, err));
    assert_refused(CL_INVALID_VALUE, map(buffer, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, 0, SIZE, err));
    assert_refused(CL_INVALID_CONTEXT, map(other_buffer, CL_MAP_READ, 0, SIZE, err));
    assert_refused(CL_INVALID_MEM_OBJECT, map((cl_mem)queue, CL_MAP_READ, 0, SIZE, err));
    assert_refused(CL_INVALID_EVENT_WAIT_LIST,
                   clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, SIZE, 1, &no_event, NULL, err));
    assert_refused(CL_INVALID_COMMAND_QUEUE,
                   clEnqueueMapBuffer(NULL, buffer, CL_TRUE, CL_MAP_READ, 0, SIZE, 0, NULL, NULL, err));
    assert_int_equal(number(buffer, CL_MEM_MAP_COUNT), 0);
}

static void maps_keep_to_the_hosts_access(void **state)
{
    cl_mem read_only = make_buffer(context, CL_MEM_HOST_READ_ONLY, SIZE);
    cl_mem write_only = make_buffer(context, CL_MEM_HOST_WRITE_ONLY, SIZE);
    cl_mem none = make_buffer(context, CL_MEM_HOST_NO_ACCESS, SIZE);
    (void)state;

    assert_refused(CL_INVALID_OPERATION, map(read_only, CL_MAP_WRITE, 0, SIZE, err));
    assert_refused(CL_INVALID_OPERATION, map(read_only, CL_MAP_WRITE_INVALIDATE_REGION, 0, SIZE, err));
    assert_refused(CL_INVALID_OPERATION, map(write_only, CL_MAP_READ, 0, SIZE, err));
    assert_refused(CL_INVALID_OPERATION, map(none, CL_MAP_READ, 0, SIZE, err));
    assert_refused(CL_INVALID_OPERATION, map(none, CL_MAP_WRITE, 0, SIZE, err));
    clReleaseMemObject(read_only);
    clReleaseMemObject(write_only);
    clReleaseMemObject(none);
}

static cl_int unmap(cl_mem of, void *ptr)
{
    return clEnqueueUnmapMemObject(queue, of, ptr, 0, NULL, NULL);
}

static void maps_are_counted(void **state)
{
    cl_int error;
    char *first = map(buffer, CL_MAP_READ, 0, 64, &error), *second;
    (void)state;

    assert_int_equal(error, CL_SUCCESS);
    second = map(buffer, CL_MAP_WRITE, 128, 64, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_ptr_equal(second, first + 128);
    assert_int_equal(number(buffer, CL_MEM_MAP_COUNT), 2);
    assert_int_equal(unmap(buffer, first + 1), CL_INVALID_VALUE);
    assert_int_equal(unmap(buffer, NULL), CL_INVALID_VALUE);
    assert_int_equal(unmap(other_buffer, first), CL_INVALID_CONTEXT);
    assert_int_equal(unmap((cl_mem)queue, first), CL_INVALID_MEM_OBJECT);
    assert_int_equal(unmap(buffer, first), CL_SUCCESS);
    assert_int_equal(unmap(buffer, second), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(number(buffer, CL_MEM_MAP_COUNT), 0);
    assert_int_equal(unmap(buffer, second), CL_INVALID_VALUE);
}

/* ---- Native kernels ---- */

struct task {
    int *bytes; /* the buffer's, put in by the runtime */
    int value;
};

static void CL_CALLBACK store(void *args)
{
    struct task *task = args;

    task->bytes[0] = task->value;
}

static void native_kernels_see_buffers(void **state)
{
    struct task task = {NULL, 4711};
    const void *location = &task.bytes;
    int result = 0;
    (void)state;

    assert_int_equal(clEnqueueNativeKernel(queue, store, &task, sizeof task, 1, &buffer, &location, 0, NULL, NULL),
                     CL_SUCCESS);
    /* The block was copied. */
    task.value = 0;
    assert_int_equal(read_buffer(buffer, 0, sizeof result, &result), CL_SUCCESS);
    assert_int_equal(result, 4711);
    assert_null(task.bytes);
}

static void CL_CALLBACK store_where_there_is(void *args)
{
    int **places = args;

    if (!places[0])
        *places[1] = 42;
}

static int n_nowhere;

static void CL_CALLBACK store_nowhere(void *args)
{
    int **places = args;

    n_nowhere += !places[0] && !places[1];
}

/* The list may have NULL in it (OpenCL 3.0, 5.10): so has the block then. */
static void native_kernels_see_no_buffer(void **state)
{
    void *args[2] = {&args, &args};
    const void *locations[] = {&args[0], &args[1]};
    const cl_mem none_and_one[] = {NULL, buffer}, none[] = {NULL, NULL};
    int result = 0;
    (void)state;

    assert_int_equal(clEnqueueNativeKernel(queue, store_where_there_is, args, sizeof args, 2, none_and_one, locations,
                                           0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(read_buffer(buffer, 0, sizeof result, &result), CL_SUCCESS);
    assert_int_equal(result, 42);
    args[0] = args[1] = &result;
    assert_int_equal(clEnqueueNativeKernel(queue, store_nowhere, args, sizeof args, 2, none, locations, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(n_nowhere, 1);
}

static void wrong_native_kernels_are_refused(void **state)
{
    struct task task = {NULL, 1};
    const void *inside = &task.bytes, *outside = &task + 1;
    cl_mem wrong = (cl_mem)queue;
    (void)state;

#define NATIVE(fn, args, size, n, list, locations) \
    clEnqueueNativeKernel(queue, fn, args, size, n, list, locations, 0, NULL, NULL)
    assert_int_equal(NATIVE(NULL, &task, sizeof task, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, NULL, sizeof task, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, NULL, 0, 1, &buffer, &inside), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, sizeof task, 1, NULL, &inside), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, sizeof task, 1, &buffer, NULL), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, sizeof task, 0, &buffer, NULL), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, sizeof task, 0, NULL, &inside), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, sizeof task, 1, &buffer, &outside), CL_INVALID_VALUE);
    assert_int_equal(NATIVE(store, &task, sizeof task, 1, &wrong, &inside), CL_INVALID_MEM_OBJECT);
    assert_int_equal(NATIVE(store, &task, sizeof task, 1, &other_buffer, &inside), CL_INVALID_CONTEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_flags_are_refused),
        cmocka_unit_test(host_pointers_must_fit_the_flags),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(properties_may_only_be_empty),
        cmocka_unit_test(says_what_it_was_made_with),
        cmocka_unit_test(defaults),
        cmocka_unit_test(parts_say_what_they_are_of),
        cmocka_unit_test(wrong_regions_are_refused),
        cmocka_unit_test(parts_allow_no_more_than_the_whole),
        cmocka_unit_test(its_end_is_told_newest_first),
        cmocka_unit_test(ranges_must_lie_inside),
        cmocka_unit_test(no_bytes_are_some_command),
        cmocka_unit_test(objects_must_belong_together),
        cmocka_unit_test(the_host_keeps_to_its_access),
        cmocka_unit_test(copies_must_not_overlap),
        cmocka_unit_test(patterns_have_sizes),
        cmocka_unit_test(migrations_name_buffers),
        cmocka_unit_test(rectangles_must_fit),
        cmocka_unit_test(rectangles_need_their_arguments),
        cmocka_unit_test(rectangles_within_one_buffer),
        cmocka_unit_test(rectangles_of_parts_share_bytes),
        cmocka_unit_test(wrong_maps_are_refused),
        cmocka_unit_test(maps_keep_to_the_hosts_access),
        cmocka_unit_test(maps_are_counted),
        cmocka_unit_test(native_kernels_see_buffers),
        cmocka_unit_test(native_kernels_see_no_buffer),
        cmocka_unit_test(wrong_native_kernels_are_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
