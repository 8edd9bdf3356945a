/* Each error that the specification lists for calls of images and samplers. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl-fpga POCL_DEVICES=pthread */
/* timeout: 120 */
#include "errors.h"

#include <CL/cl_tesela.h>

enum { W = 8, H = 4, BYTES = W * H * 4, ROOM = 1024 };

static const cl_image_format rgba = {CL_RGBA, CL_UNSIGNED_INT8}, red = {CL_R, CL_UNSIGNED_INT8};
static const size_t zero[3] = {0}, one[3] = {1, 1, 1}, two[3] = {2, 2, 1}, none[3] = {0, 1, 1}, beyond[3] = {W, 0, 0};
static cl_device_id members[8];
static cl_uint n_members;
static cl_context bare; /* of a device without images */
static cl_mem image, second, lines, foreign, to_write, to_read, hidden, buffer, foreign_buffer;
static cl_sampler sampler;
static char bytes[BYTES], room[ROOM];

static cl_image_desc flat(void)
{
    return (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
}

static cl_mem make_image(cl_context of, cl_mem_flags flags, const cl_image_format *format)
{
    const cl_image_desc desc = flat();
    cl_mem made = clCreateImage(of, flags, format, &desc, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static void make_bare(void)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};

    assert_int_equal(clCreateSubDevices(our_device(), by_member, 8, members, &n_members), CL_SUCCESS);
    for (cl_uint i = 0; i < n_members && !bare; i++) {
        cl_bool has = CL_TRUE;

        clGetDeviceInfo(members[i], CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, NULL);
        if (!has)
            bare = clCreateContext(NULL, 1, &members[i], NULL, NULL, &code);
    }
    assert_non_null(bare);
}

static int setup(void **state)
{
    (void)state;
    begin_errors(0);
    make_bare();
    image = make_image(context, CL_MEM_READ_WRITE, &rgba);
    second = make_image(context, CL_MEM_READ_WRITE, &rgba);
    lines = make_image(context, CL_MEM_READ_WRITE, &red);
    foreign = make_image(other, CL_MEM_READ_WRITE, &rgba);
    to_write = make_image(context, CL_MEM_HOST_WRITE_ONLY, &rgba);
    to_read = make_image(context, CL_MEM_HOST_READ_ONLY, &rgba);
    hidden = make_image(context, CL_MEM_HOST_NO_ACCESS, &rgba);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, BYTES);
    foreign_buffer = make_buffer(other, CL_MEM_READ_WRITE, BYTES);
    sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &code);
    return code;
}

static int teardown(void **state)
{
    const cl_mem mems[] = {image, second, lines, foreign, to_write, to_read, hidden, buffer, foreign_buffer};

    (void)state;
    for (size_t i = 0; i < LENGTH(mems); i++)
        clReleaseMemObject(mems[i]);
    clReleaseSampler(sampler);
    clReleaseContext(bare);
    for (cl_uint i = 0; i < n_members; i++)
        clReleaseDevice(members[i]);
    end_errors();
    return 0;
}

/* ---- Creation ---- */

static cl_int create(cl_context of, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc,
                     void *ptr)
{
    code = 1;
    clCreateImage(of, flags, format, desc, ptr, &code);
    return code;
}

static void test_creation(void **state)
{
    const cl_image_format no_format = {0x7777, CL_UNSIGNED_INT8}, rare = {CL_INTENSITY, CL_UNORM_SHORT_555};
    static const cl_image_format no_pairs[] = {
        {CL_RGB, CL_UNORM_INT8},           {CL_RGBx, CL_UNORM_INT8},       {CL_LUMINANCE, CL_SIGNED_INT8},
        {CL_INTENSITY, CL_UNSIGNED_INT32}, {CL_DEPTH, CL_SNORM_INT8},      {CL_BGRA, CL_FLOAT},
        {CL_ARGB, CL_UNORM_INT16},         {CL_ABGR, CL_SIGNED_INT32},     {CL_sRGBA, CL_FLOAT},
        {CL_sBGRA, CL_SNORM_INT8},         {CL_RGBA, CL_UNORM_INT_101010}, {CL_R, CL_UNORM_SHORT_565}};
    const cl_mem_properties some[] = {7, 7, 0};
    const cl_mem_flags both = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    cl_image_desc desc = flat(), huge = flat(), no_type = flat(), samples = flat(), of_image = flat(), far = flat();

    (void)state;
    huge.image_width = (size_t)1 << 40;
    no_type.image_type = CL_MEM_OBJECT_BUFFER;
    samples.num_samples = 2;
    of_image.mem_object = lines;
    far.image_row_pitch = SIZE_MAX / 32 * 4;
    E(clCreateImage, CL_INVALID_CONTEXT, "another object", create((cl_context)queue, 0, &rgba, &desc, NULL));
    E(clCreateImage, CL_INVALID_OPERATION, "a context without images", create(bare, 0, &rgba, &desc, NULL));
    E(clCreateImage, CL_INVALID_PROPERTY, "properties",
      OF(clCreateImageWithProperties(context, some, 0, &rgba, &desc, NULL, &code)));
    NEVER(clCreateImage, CL_INVALID_DEVICE, "of external memory");
    E(clCreateImage, CL_INVALID_VALUE, "two accesses", create(context, both, &rgba, &desc, NULL));
    E(clCreateImage, CL_INVALID_VALUE, "unknown flags", create(context, 1u << 30, &rgba, &desc, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "no format", create(context, 0, NULL, &desc, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "unknown", create(context, 0, &no_format, &desc, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "no such pair", create(context, 0, &rare, &desc, NULL));
    for (size_t i = 0; i < sizeof no_pairs / sizeof *no_pairs; i++)
        E(clCreateImage, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "no such pair",
          create(context, 0, &no_pairs[i], &desc, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_DESCRIPTOR, "no description", create(context, 0, &rgba, NULL, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_DESCRIPTOR, "a buffer", create(context, 0, &rgba, &no_type, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_DESCRIPTOR, "samples", create(context, 0, &rgba, &samples, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_SIZE, "too large", create(context, 0, &rgba, &huge, NULL));
    E(clCreateImage, CL_INVALID_IMAGE_SIZE, "beyond all memory",
      create(context, CL_MEM_COPY_HOST_PTR, &rgba, &far, bytes));
    E(clCreateImage, CL_INVALID_IMAGE_SIZE, "beyond all memory",
      create(context, CL_MEM_USE_HOST_PTR, &rgba, &far, bytes));
    E(clCreateImage, CL_INVALID_HOST_PTR, "memory without flags", create(context, 0, &rgba, &desc, bytes));
    E(clCreateImage, CL_INVALID_HOST_PTR, "flags without memory",
      create(context, CL_MEM_USE_HOST_PTR, &rgba, &desc, NULL));
    E(clCreateImage, CL_IMAGE_FORMAT_NOT_SUPPORTED, "of an image", create(context, 0, &red, &of_image, NULL));
    NEVER(clCreateImage, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c: allocated at first use");
}

#define TWO(ctx, flags, format, width, pitch, ptr) OF(clCreateImage2D(ctx, flags, format, width, H, pitch, ptr, &code))
#define THREE(ctx, flags, format, width, pitch, ptr) \
    OF(clCreateImage3D(ctx, flags, format, width, H, 2, pitch, 0, ptr, &code))
#define OLDER(call, MAKE)                                                                                         \
    do {                                                                                                          \
        const cl_image_format no_format = {0x7777, CL_UNSIGNED_INT8}, rare = {CL_RGB, CL_UNORM_INT_101010};       \
        E(call, CL_INVALID_CONTEXT, "another object", MAKE((cl_context)queue, 0, &rgba, W, 0, NULL));             \
        E(call, CL_INVALID_VALUE, "unknown flags", MAKE(context, 1u << 30, &rgba, W, 0, NULL));                   \
        E(call, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "unknown", MAKE(context, 0, &no_format, W, 0, NULL));         \
        E(call, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "no format", MAKE(context, 0, NULL, W, 0, NULL));             \
        E(call, CL_INVALID_IMAGE_SIZE, "no width", MAKE(context, 0, &rgba, 0, 0, NULL));                          \
        E(call, CL_INVALID_IMAGE_SIZE, "too large", MAKE(context, 0, &rgba, (size_t)1 << 40, 0, NULL));           \
        E(call, CL_INVALID_IMAGE_SIZE, "rows too short", MAKE(context, CL_MEM_USE_HOST_PTR, &rgba, W, 4, bytes)); \
        E(call, CL_INVALID_IMAGE_SIZE, "a pitch of nothing", MAKE(context, 0, &rgba, W, 4 * W, NULL));            \
        E(call, CL_INVALID_HOST_PTR, "memory without flags", MAKE(context, 0, &rgba, W, 0, bytes));               \
        E(call, CL_IMAGE_FORMAT_NOT_SUPPORTED, "what no member has", MAKE(context, 0, &rare, W, 0, NULL));        \
        E(call, CL_INVALID_OPERATION, "a context without images", MAKE(bare, 0, &rgba, W, 0, NULL));              \
        NEVER(call, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c: allocated at first use");          \
    } while (0)

static void test_older_creation(void **state)
{
    (void)state;
    OLDER(clCreateImage2D, TWO);
    OLDER(clCreateImage3D, THREE);
}

static void test_queries(void **state)
{
    cl_image_format formats[1];
    cl_uint n;

    (void)state;
    E(clGetSupportedImageFormats, CL_INVALID_CONTEXT, "another object",
      clGetSupportedImageFormats((cl_context)queue, 0, CL_MEM_OBJECT_IMAGE2D, 1, formats, &n));
    E(clGetSupportedImageFormats, CL_INVALID_VALUE, "unknown flags",
      clGetSupportedImageFormats(context, 1u << 30, CL_MEM_OBJECT_IMAGE2D, 1, formats, &n));
    E(clGetSupportedImageFormats, CL_INVALID_VALUE, "no type of images",
      clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_BUFFER, 1, formats, &n));
    E(clGetSupportedImageFormats, CL_INVALID_VALUE, "no entries",
      clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, formats, &n));
    E(clGetImageInfo, CL_INVALID_MEM_OBJECT, "a buffer", clGetImageInfo(buffer, CL_IMAGE_WIDTH, ROOM, room, NULL));
    E(clGetImageInfo, CL_INVALID_MEM_OBJECT, "another object",
      clGetImageInfo((cl_mem)queue, CL_IMAGE_WIDTH, ROOM, room, NULL));
    E(clGetImageInfo, CL_INVALID_VALUE, "unknown", clGetImageInfo(image, 7, ROOM, room, NULL));
    E(clGetImageInfo, CL_INVALID_VALUE, "no room", clGetImageInfo(image, CL_IMAGE_WIDTH, 1, room, NULL));
}

/* ---- Commands ---- */

/* What can't be met in any of them. */
#define IMAGES_NEVER(call)                                                                                     \
    do {                                                                                                       \
        NEVER(call, CL_INVALID_MIP_LEVEL, "no images have levels");                                            \
        NEVER(call, CL_INVALID_IMAGE_SIZE, "of a queue's device: pixels move whatever that can take");         \
        NEVER(call, CL_IMAGE_FORMAT_NOT_SUPPORTED, "of a queue's device: pixels move whatever that can take"); \
        NEVER(call, CL_MEM_OBJECT_ALLOCATION_FAILURE, "graph_residency_test.c");                               \
    } while (0)

static cl_int read(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice, void *to)
{
    return clEnqueueReadImage(the_queue(), mem, CL_TRUE, origin, region, row, slice, to, n_list, list, NULL);
}

static cl_int write(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice, void *from)
{
    return clEnqueueWriteImage(the_queue(), mem, CL_TRUE, origin, region, row, slice, from, n_list, list, NULL);
}

/* A queue of a member that has no images, in a context that has: only where an image can be given to it. */
static cl_int on_bare(cl_int (*move)(cl_mem, const size_t *, const size_t *, size_t, size_t, void *))
{
    cl_command_queue kept = queue;
    cl_context all = clCreateContext(NULL, n_members, members, NULL, NULL, &code);
    cl_mem there = make_image(all, CL_MEM_READ_WRITE, &rgba);
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < n_members && !error; i++) {
        queue = clCreateCommandQueue(all, members[i], 0, &code);
        error = move(there, zero, one, 0, 0, room);
        clReleaseCommandQueue(queue);
    }
    queue = kept;
    clReleaseMemObject(there);
    clReleaseContext(all);
    return error;
}

#define MOVES(call, move, forbidden)                                                                        \
    do {                                                                                                    \
        E(call, CL_INVALID_CONTEXT, "a foreign image", move(foreign, zero, one, 0, 0, room));               \
        E(call, CL_INVALID_MEM_OBJECT, "a buffer", move(buffer, zero, one, 0, 0, room));                    \
        E(call, CL_INVALID_MEM_OBJECT, "another object", move((cl_mem)queue, zero, one, 0, 0, room));       \
        E(call, CL_INVALID_VALUE, "no origin", move(image, NULL, one, 0, 0, room));                         \
        E(call, CL_INVALID_VALUE, "no region", move(image, zero, NULL, 0, 0, room));                        \
        E(call, CL_INVALID_VALUE, "an empty region", move(image, zero, none, 0, 0, room));                  \
        E(call, CL_INVALID_VALUE, "beyond the end", move(image, beyond, one, 0, 0, room));                  \
        E(call, CL_INVALID_VALUE, "no memory", move(image, zero, one, 0, 0, NULL));                         \
        E(call, CL_INVALID_VALUE, "rows too short", move(image, zero, two, 4, 0, room));                    \
        E(call, CL_INVALID_VALUE, "rows beyond all memory", move(image, zero, two, SIZE_MAX / 4, 0, room)); \
        E(call, CL_INVALID_VALUE, "slices of a plane", move(image, zero, two, 8, 16, room));                \
        E(call, CL_INVALID_OPERATION, "not for the host", move(forbidden, zero, one, 0, 0, room));          \
        E(call, CL_INVALID_OPERATION, "hidden from the host", move(hidden, zero, one, 0, 0, room));         \
        E(call, CL_INVALID_OPERATION, "a device without images", on_bare(move));                            \
        WAIT_LISTS(call, move(image, zero, one, 0, 0, room));                                               \
        AFTER_FAILED(call, move(image, zero, one, 0, 0, room));                                             \
        IMAGES_NEVER(call);                                                                                 \
    } while (0)

static void test_reads_and_writes(void **state)
{
    (void)state;
    MOVES(clEnqueueReadImage, read, to_write);
    MOVES(clEnqueueWriteImage, write, to_read);
}

static cl_int fill(cl_mem mem, const void *color, const size_t *origin, const size_t *region)
{
    return clEnqueueFillImage(the_queue(), mem, color, origin, region, n_list, list, NULL);
}

static cl_int fill_move(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice, void *color)
{
    (void)row;
    (void)slice;
    return fill(mem, color, origin, region);
}

static void test_fills(void **state)
{
    (void)state;
    E(clEnqueueFillImage, CL_INVALID_CONTEXT, "a foreign image", fill(foreign, bytes, zero, one));
    E(clEnqueueFillImage, CL_INVALID_MEM_OBJECT, "a buffer", fill(buffer, bytes, zero, one));
    E(clEnqueueFillImage, CL_INVALID_MEM_OBJECT, "another object", fill((cl_mem)queue, bytes, zero, one));
    E(clEnqueueFillImage, CL_INVALID_VALUE, "no color", fill(image, NULL, zero, one));
    E(clEnqueueFillImage, CL_INVALID_VALUE, "no origin", fill(image, bytes, NULL, one));
    E(clEnqueueFillImage, CL_INVALID_VALUE, "no region", fill(image, bytes, zero, NULL));
    E(clEnqueueFillImage, CL_INVALID_VALUE, "beyond the end", fill(image, bytes, beyond, one));
    E(clEnqueueFillImage, CL_INVALID_OPERATION, "a device without images", on_bare(fill_move));
    WAIT_LISTS(clEnqueueFillImage, fill(image, bytes, zero, one));
    IMAGES_NEVER(clEnqueueFillImage);
}

static cl_int copy(cl_mem from, cl_mem to, const size_t *src, const size_t *dst, const size_t *region)
{
    return clEnqueueCopyImage(the_queue(), from, to, src, dst, region, n_list, list, NULL);
}

static cl_int copy_move(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice, void *ptr)
{
    (void)row;
    (void)slice;
    (void)ptr;
    return copy(mem, mem, origin, (const size_t[3]){2, 2, 0}, region);
}

static void test_copies(void **state)
{
    (void)state;
    E(clEnqueueCopyImage, CL_INVALID_CONTEXT, "from a foreign image", copy(foreign, image, zero, zero, one));
    E(clEnqueueCopyImage, CL_INVALID_CONTEXT, "to a foreign image", copy(image, foreign, zero, zero, one));
    E(clEnqueueCopyImage, CL_INVALID_MEM_OBJECT, "from a buffer", copy(buffer, image, zero, zero, one));
    E(clEnqueueCopyImage, CL_INVALID_MEM_OBJECT, "to another object", copy(image, (cl_mem)queue, zero, zero, one));
    E(clEnqueueCopyImage, CL_IMAGE_FORMAT_MISMATCH, "two formats", copy(image, lines, zero, zero, one));
    E(clEnqueueCopyImage, CL_INVALID_VALUE, "no source", copy(image, second, NULL, zero, one));
    E(clEnqueueCopyImage, CL_INVALID_VALUE, "no target", copy(image, second, zero, NULL, one));
    E(clEnqueueCopyImage, CL_INVALID_VALUE, "no region", copy(image, second, zero, zero, NULL));
    E(clEnqueueCopyImage, CL_INVALID_VALUE, "from beyond the end", copy(image, second, beyond, zero, one));
    E(clEnqueueCopyImage, CL_INVALID_VALUE, "to beyond the end", copy(image, second, zero, beyond, one));
    E(clEnqueueCopyImage, CL_MEM_COPY_OVERLAP, "onto itself", copy(image, image, zero, (size_t[3]){1, 1, 0}, two));
    E(clEnqueueCopyImage, CL_INVALID_OPERATION, "a device without images", on_bare(copy_move));
    WAIT_LISTS(clEnqueueCopyImage, copy(image, second, zero, zero, one));
    IMAGES_NEVER(clEnqueueCopyImage);
}

static cl_int to_buffer(cl_mem from, cl_mem to, const size_t *origin, const size_t *region, size_t offset)
{
    return clEnqueueCopyImageToBuffer(the_queue(), from, to, origin, region, offset, n_list, list, NULL);
}

static cl_int from_buffer(cl_mem to, cl_mem from, const size_t *origin, const size_t *region, size_t offset)
{
    return clEnqueueCopyBufferToImage(the_queue(), from, to, offset, origin, region, n_list, list, NULL);
}

static cl_int bare_copy(cl_mem mem, const size_t *origin, const size_t *region, bool to)
{
    cl_context of;
    cl_mem there;
    cl_int error;

    clGetMemObjectInfo(mem, CL_MEM_CONTEXT, sizeof of, &of, NULL);
    there = make_buffer(of, CL_MEM_READ_WRITE, BYTES);
    error = to ? to_buffer(mem, there, origin, region, 0) : from_buffer(mem, there, origin, region, 0);
    clReleaseMemObject(there);
    return error;
}

static cl_int bare_to_buffer(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice,
                             void *ptr)
{
    (void)row;
    (void)slice;
    (void)ptr;
    return bare_copy(mem, origin, region, true);
}

static cl_int bare_from_buffer(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice,
                               void *ptr)
{
    (void)row;
    (void)slice;
    (void)ptr;
    return bare_copy(mem, origin, region, false);
}

#define BETWEEN(call, move, bare_move)                                                               \
    do {                                                                                             \
        E(call, CL_INVALID_CONTEXT, "a foreign image", move(foreign, buffer, zero, one, 0));         \
        E(call, CL_INVALID_CONTEXT, "a foreign buffer", move(image, foreign_buffer, zero, one, 0));  \
        E(call, CL_INVALID_MEM_OBJECT, "a buffer for an image", move(buffer, buffer, zero, one, 0)); \
        E(call, CL_INVALID_MEM_OBJECT, "an image for a buffer", move(image, image, zero, one, 0));   \
        E(call, CL_INVALID_VALUE, "no origin", move(image, buffer, NULL, one, 0));                   \
        E(call, CL_INVALID_VALUE, "no region", move(image, buffer, zero, NULL, 0));                  \
        E(call, CL_INVALID_VALUE, "beyond the image", move(image, buffer, beyond, one, 0));          \
        E(call, CL_INVALID_VALUE, "beyond the buffer", move(image, buffer, zero, two, BYTES - 8));   \
        E(call, CL_INVALID_OPERATION, "a device without images", on_bare(bare_move));                \
        WAIT_LISTS(call, move(image, buffer, zero, one, 0));                                         \
        IMAGES_NEVER(call);                                                                          \
        NEVER(call, CL_MISALIGNED_SUB_BUFFER_OFFSET, "fpga_test.c, whose members differ");           \
    } while (0)

static void test_between(void **state)
{
    (void)state;
    BETWEEN(clEnqueueCopyImageToBuffer, to_buffer, bare_to_buffer);
    BETWEEN(clEnqueueCopyBufferToImage, from_buffer, bare_from_buffer);
}

static cl_int map(cl_mem mem, cl_map_flags flags, const size_t *origin, const size_t *region, size_t *row)
{
    code = 1;
    clEnqueueMapImage(the_queue(), mem, CL_TRUE, flags, origin, region, row, NULL, n_list, list, NULL, &code);
    return code;
}

static cl_int map_move(cl_mem mem, const size_t *origin, const size_t *region, size_t row, size_t slice, void *ptr)
{
    void *mapped;

    (void)slice;
    (void)ptr;
    code = 1;
    mapped = clEnqueueMapImage(queue, mem, CL_TRUE, CL_MAP_READ, origin, region, &row, NULL, 0, NULL, NULL, &code);
    return mapped ? clEnqueueUnmapMemObject(queue, mem, mapped, 0, NULL, NULL) : code;
}

static void test_maps(void **state)
{
    const cl_map_flags contradiction = CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION;
    size_t row;

    (void)state;
    E(clEnqueueMapImage, CL_INVALID_CONTEXT, "a foreign image", map(foreign, CL_MAP_READ, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_MEM_OBJECT, "a buffer", map(buffer, CL_MAP_READ, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_VALUE, "no origin", map(image, CL_MAP_READ, NULL, one, &row));
    E(clEnqueueMapImage, CL_INVALID_VALUE, "no region", map(image, CL_MAP_READ, zero, NULL, &row));
    E(clEnqueueMapImage, CL_INVALID_VALUE, "beyond the end", map(image, CL_MAP_READ, beyond, one, &row));
    E(clEnqueueMapImage, CL_INVALID_VALUE, "unknown flags", map(image, 1u << 20, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_VALUE, "flags that contradict", map(image, contradiction, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_VALUE, "no place for the pitch", map(image, CL_MAP_READ, zero, one, NULL));
    E(clEnqueueMapImage, CL_INVALID_OPERATION, "read, only to be written", map(to_write, CL_MAP_READ, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_OPERATION, "written, only to be read", map(to_read, CL_MAP_WRITE, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_OPERATION, "hidden", map(hidden, CL_MAP_READ, zero, one, &row));
    E(clEnqueueMapImage, CL_INVALID_OPERATION, "a device without images", on_bare(map_move));
    WAIT_LISTS(clEnqueueMapImage, map(image, CL_MAP_READ, zero, one, &row));
    AFTER_FAILED(clEnqueueMapImage, map(image, CL_MAP_READ, zero, one, &row));
    NEVER(clEnqueueMapImage, CL_MAP_FAILURE, "host memory that can't be had is CL_OUT_OF_HOST_MEMORY");
    IMAGES_NEVER(clEnqueueMapImage);
}

/* ---- Samplers ---- */

static cl_int with(cl_context of, const cl_sampler_properties *properties)
{
    return OF(clCreateSamplerWithProperties(of, properties, &code));
}

static void test_samplers(void **state)
{
    const cl_sampler_properties unknown[] = {7, 7, 0}, wrong[] = {CL_SAMPLER_FILTER_MODE, 7, 0},
                                twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                           CL_FILTER_LINEAR, 0};
    cl_context no_context = (cl_context)queue;

    (void)state;
    E(clCreateSamplerWithProperties, CL_INVALID_CONTEXT, "another object", with(no_context, NULL));
    E(clCreateSamplerWithProperties, CL_INVALID_VALUE, "unknown properties", with(context, unknown));
    E(clCreateSamplerWithProperties, CL_INVALID_VALUE, "unknown values", with(context, wrong));
    E(clCreateSamplerWithProperties, CL_INVALID_VALUE, "a property twice", with(context, twice));
    E(clCreateSamplerWithProperties, CL_INVALID_OPERATION, "a context without images", with(bare, NULL));
    E(clCreateSampler, CL_INVALID_CONTEXT, "another object",
      OF(clCreateSampler(no_context, CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_LINEAR, &code)));
    E(clCreateSampler, CL_INVALID_VALUE, "an unknown mode",
      OF(clCreateSampler(context, CL_TRUE, 7, CL_FILTER_LINEAR, &code)));
    E(clCreateSampler, CL_INVALID_VALUE, "an unknown filter",
      OF(clCreateSampler(context, CL_TRUE, CL_ADDRESS_NONE, 7, &code)));
    E(clCreateSampler, CL_INVALID_OPERATION, "a context without images",
      OF(clCreateSampler(bare, CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_LINEAR, &code)));
    E(clRetainSampler, CL_INVALID_SAMPLER, "another object", clRetainSampler((cl_sampler)queue));
    E(clReleaseSampler, CL_INVALID_SAMPLER, "another object", clReleaseSampler((cl_sampler)queue));
    E(clGetSamplerInfo, CL_INVALID_SAMPLER, "another object",
      clGetSamplerInfo((cl_sampler)queue, CL_SAMPLER_CONTEXT, ROOM, room, NULL));
    E(clGetSamplerInfo, CL_INVALID_VALUE, "unknown", clGetSamplerInfo(sampler, 7, ROOM, room, NULL));
    E(clGetSamplerInfo, CL_INVALID_VALUE, "no room", clGetSamplerInfo(sampler, CL_SAMPLER_CONTEXT, 1, room, NULL));
}

/* ---- All ---- */

#define COMMAND                                                                           \
    "CL_INVALID_COMMAND_QUEUE CL_INVALID_CONTEXT CL_INVALID_MEM_OBJECT CL_INVALID_VALUE " \
    "CL_INVALID_MIP_LEVEL CL_INVALID_EVENT_WAIT_LIST CL_INVALID_IMAGE_SIZE "              \
    "CL_IMAGE_FORMAT_NOT_SUPPORTED CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION"

static void test_all_are_met(void **state)
{
    static const char *const rows[] = {
        "clCreateImage CL_INVALID_CONTEXT CL_INVALID_OPERATION CL_INVALID_PROPERTY CL_INVALID_DEVICE CL_INVALID_VALUE "
        "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR CL_INVALID_IMAGE_DESCRIPTOR CL_INVALID_IMAGE_SIZE CL_INVALID_HOST_PTR "
        "CL_IMAGE_FORMAT_NOT_SUPPORTED CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "clCreateImage2D CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_IMAGE_FORMAT_DESCRIPTOR CL_INVALID_IMAGE_SIZE "
        "CL_INVALID_HOST_PTR CL_IMAGE_FORMAT_NOT_SUPPORTED CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clCreateImage3D CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_IMAGE_FORMAT_DESCRIPTOR CL_INVALID_IMAGE_SIZE "
        "CL_INVALID_HOST_PTR CL_IMAGE_FORMAT_NOT_SUPPORTED CL_MEM_OBJECT_ALLOCATION_FAILURE CL_INVALID_OPERATION",
        "clGetSupportedImageFormats CL_INVALID_CONTEXT CL_INVALID_VALUE",
        "clEnqueueReadImage CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST " COMMAND,
        "clEnqueueWriteImage CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST " COMMAND,
        "clEnqueueFillImage " COMMAND,
        "clEnqueueCopyImage CL_IMAGE_FORMAT_MISMATCH CL_MEM_COPY_OVERLAP " COMMAND,
        "clEnqueueCopyImageToBuffer CL_MISALIGNED_SUB_BUFFER_OFFSET " COMMAND,
        "clEnqueueCopyBufferToImage CL_MISALIGNED_SUB_BUFFER_OFFSET " COMMAND,
        "clEnqueueMapImage CL_MAP_FAILURE CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST " COMMAND,
        "clGetImageInfo CL_INVALID_MEM_OBJECT CL_INVALID_VALUE",
        "clCreateSamplerWithProperties CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_OPERATION",
        "clCreateSampler CL_INVALID_CONTEXT CL_INVALID_VALUE CL_INVALID_OPERATION",
        "clRetainSampler CL_INVALID_SAMPLER",
        "clReleaseSampler CL_INVALID_SAMPLER",
        "clGetSamplerInfo CL_INVALID_SAMPLER CL_INVALID_VALUE",
    };

    (void)state;
    check_list(rows, LENGTH(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation),         cmocka_unit_test(test_older_creation), cmocka_unit_test(test_queries),
        cmocka_unit_test(test_reads_and_writes), cmocka_unit_test(test_fills),          cmocka_unit_test(test_copies),
        cmocka_unit_test(test_between),          cmocka_unit_test(test_maps),           cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_all_are_met),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
