/*
 * Images on real members: random commands on images of every type, each compared with plain memory, and between them
 * kernels that read and write the images on the members that the policy chooses; samplers; padded host pointers; images
 * of buffers.
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind TESELA_MEMBERS=opencl */
/* variant: copying TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_ZERO_COPY=off TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: mixed TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=cpu,opencl TESELA_POLICY=round-robin */
/* variant: rusticl TESELA_VENDORS={build}/vendors-rusticl TESELA_MEMBERS=opencl */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: nvidia SABOTAGE_ICD={build}/vendors-pocl/pocl.icd SABOTAGE_NAME="NVIDIA CUDA" SABOTAGE_LIKE=nvidia TESELA_NVIDIA=opencl TESELA_VENDORS={build}/vendors-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* any: */
/* timeout: 600 */
#include "begin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_SIZE 16384

static cl_context context;
static cl_command_queue queue;
static uint64_t random_state;

static size_t below(size_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((random_state >> 33) % n);
}

/* ---- An image and what should be in it -------------------------------------------------------------------------- */

struct image {
    cl_mem mem;
    cl_mem_object_type type;
    cl_image_format format;
    size_t size[3]; /* pixels, rows, slices: of a 1D array layers are rows */
    size_t pixel;   /* bytes */
    unsigned char *bytes;
};

static unsigned char *pixel_at(const struct image *image, size_t x, size_t y, size_t z)
{
    return image->bytes + ((z * image->size[1] + y) * image->size[0] + x) * image->pixel;
}

static size_t bytes_of(const struct image *image)
{
    return image->size[0] * image->size[1] * image->size[2] * image->pixel;
}

static cl_image_desc desc_of(const struct image *image)
{
    bool layers_1d = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY, layers_2d = image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;

    return (cl_image_desc){
        .image_type = image->type,
        .image_width = image->size[0],
        .image_height = layers_1d ? 0 : image->size[1],
        .image_depth = image->type == CL_MEM_OBJECT_IMAGE3D ? image->size[2] : 0,
        .image_array_size = layers_1d   ? image->size[1]
                            : layers_2d ? image->size[2]
                                        : 0,
    };
}

static void fill_random(unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)below(256);
}

static void make_image(struct image *image, cl_mem_object_type type, const cl_image_format *format, size_t pixel)
{
    bool rows = type != CL_MEM_OBJECT_IMAGE1D;
    bool slices = type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    cl_image_desc desc;
    cl_int error = 1;

    *image = (struct image){.type = type,
                            .format = *format,
                            .size = {1 + below(13), rows ? 1 + below(9) : 1, slices ? 1 + below(5) : 1},
                            .pixel = pixel};
    image->bytes = malloc(bytes_of(image));
    fill_random(image->bytes, bytes_of(image));
    desc = desc_of(image);
    image->mem = clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, format, &desc, image->bytes, &error);
    assert_int_equal(error, CL_SUCCESS);
}

static void drop_image(struct image *image)
{
    assert_int_equal(clReleaseMemObject(image->mem), CL_SUCCESS);
    free(image->bytes);
}

/* ---- Random commands -------------------------------------------------------------------------------------------- */

struct box {
    size_t origin[3], region[3];
};

static struct box random_box(const struct image *image)
{
    struct box box;

    for (int d = 0; d < 3; d++) {
        box.region[d] = 1 + below(image->size[d]);
        box.origin[d] = below(image->size[d] - box.region[d] + 1);
    }
    return box;
}

/* Pitches of the application's memory, some of them with padding. Returns how many bytes that is. */
static size_t random_pitches(const struct image *image, const struct box *box, size_t *row, size_t *slice)
{
    bool slices = image->type == CL_MEM_OBJECT_IMAGE3D || image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;

    *row = (box->region[0] + below(3)) * image->pixel;
    *slice = 0;
    if (image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
        *slice = *row = *row + below(2) * image->pixel;
    else if (slices)
        *slice = *row * (box->region[1] + below(2));
    return slices ? *slice * box->region[2] : *row * box->region[1];
}

typedef void pixel_fn(unsigned char *image, unsigned char *host, size_t size);

/* Calls fn for the pixels of a box and where they lie in memory of those pitches. */
static void for_pixels(const struct image *image, const struct box *box, unsigned char *host, size_t row, size_t slice,
                       pixel_fn *fn)
{
    for (size_t z = 0; z < box->region[2]; z++)
        for (size_t y = 0; y < box->region[1]; y++)
            fn(pixel_at(image, box->origin[0], box->origin[1] + y, box->origin[2] + z), host + z * slice + y * row,
               box->region[0] * image->pixel);
}

static void check_pixels(unsigned char *image, unsigned char *host, size_t size)
{
    assert_memory_equal(host, image, size);
}

static void take_pixels(unsigned char *image, unsigned char *host, size_t size)
{
    memcpy(image, host, size);
}

static void give_pixels(unsigned char *image, unsigned char *host, size_t size)
{
    memcpy(host, image, size);
}

static void do_read(struct image *image)
{
    struct box box = random_box(image);
    size_t row, slice, n = random_pitches(image, &box, &row, &slice);
    unsigned char *host = malloc(n);

    memset(host, 0x5a, n);
    assert_int_equal(
        clEnqueueReadImage(queue, image->mem, CL_TRUE, box.origin, box.region, row, slice, host, 0, NULL, NULL),
        CL_SUCCESS);
    for_pixels(image, &box, host, row, slice, check_pixels);
    /* What is no pixel of the box was left alone. */
    for (size_t z = 0; z < box.region[2]; z++)
        for (size_t y = 0; y < box.region[1]; y++)
            memset(host + z * slice + y * row, 0x5a, box.region[0] * image->pixel);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(host[i], 0x5a);
    free(host);
}

static void do_write(struct image *image)
{
    struct box box = random_box(image);
    size_t row, slice, n = random_pitches(image, &box, &row, &slice);
    unsigned char *host = malloc(n);

    fill_random(host, n);
    assert_int_equal(
        clEnqueueWriteImage(queue, image->mem, CL_TRUE, box.origin, box.region, row, slice, host, 0, NULL, NULL),
        CL_SUCCESS);
    for_pixels(image, &box, host, row, slice, take_pixels);
    free(host);
}

static void do_map(struct image *image)
{
    struct box box = random_box(image);
    cl_map_flags flags = (cl_map_flags[]){CL_MAP_READ, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE,
                                          CL_MAP_WRITE_INVALIDATE_REGION}[below(4)];
    size_t row = 0, slice = 0, step;
    cl_int error = 1;
    unsigned char *host = clEnqueueMapImage(queue, image->mem, CL_TRUE, flags, box.origin, box.region, &row, &slice, 0,
                                            NULL, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    step = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice : row;
    if (flags != CL_MAP_WRITE_INVALIDATE_REGION)
        for_pixels(image, &box, host, step, slice, check_pixels);
    if (flags != CL_MAP_READ) {
        for (size_t z = 0; z < box.region[2]; z++)
            for (size_t y = 0; y < box.region[1]; y++)
                fill_random(host + z * slice + y * step, box.region[0] * image->pixel);
        for_pixels(image, &box, host, step, slice, take_pixels);
    }
    assert_int_equal(clEnqueueUnmapMemObject(queue, image->mem, host, 0, NULL, NULL), CL_SUCCESS);
}

static void do_fill(struct image *image)
{
    struct box box = random_box(image);
    cl_uint color[4];
    unsigned char pixel[16];
    bool floats = image->format.image_channel_data_type == CL_FLOAT;
    size_t n = image->format.image_channel_order == CL_R ? 1 : image->format.image_channel_order == CL_RG ? 2 : 4;

    for (size_t i = 0; i < 4; i++) {
        float f = (float)below(1000) / 7;

        color[i] = (cl_uint)below(250); /* Fits all integer channels. */
        if (floats)
            memcpy(&color[i], &f, sizeof f);
    }
    for (size_t i = 0; i < n; i++)
        memcpy(pixel + i * (image->pixel / n), &color[i], image->pixel / n);
    assert_int_equal(clEnqueueFillImage(queue, image->mem, color, box.origin, box.region, 0, NULL, NULL), CL_SUCCESS);
    for (size_t z = 0; z < box.region[2]; z++)
        for (size_t y = 0; y < box.region[1]; y++)
            for (size_t x = 0; x < box.region[0]; x++)
                memcpy(pixel_at(image, box.origin[0] + x, box.origin[1] + y, box.origin[2] + z), pixel, image->pixel);
}

static void do_copy(struct image *from, struct image *to)
{
    struct box src = random_box(from), dst;

    for (int d = 0; d < 3; d++) {
        if (src.region[d] > to->size[d])
            src.region[d] = to->size[d];
        dst.region[d] = src.region[d];
        dst.origin[d] = below(to->size[d] - dst.region[d] + 1);
    }
    assert_int_equal(clEnqueueCopyImage(queue, from->mem, to->mem, src.origin, dst.origin, src.region, 0, NULL, NULL),
                     CL_SUCCESS);
    for (size_t z = 0; z < src.region[2]; z++)
        for (size_t y = 0; y < src.region[1]; y++)
            memcpy(pixel_at(to, dst.origin[0], dst.origin[1] + y, dst.origin[2] + z),
                   pixel_at(from, src.origin[0], src.origin[1] + y, src.origin[2] + z), src.region[0] * from->pixel);
}

/* By way of a buffer, and back into another place. */
static void do_buffer(struct image *image)
{
    struct box box = random_box(image), back = box;
    size_t n = box.region[0] * box.region[1] * box.region[2] * image->pixel, offset = below(3) * image->pixel;
    size_t row = box.region[0] * image->pixel, slice = row * box.region[1];
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, n + offset);
    unsigned char *host = malloc(n);

    assert_int_equal(
        clEnqueueCopyImageToBuffer(queue, image->mem, buffer, box.origin, box.region, offset, 0, NULL, NULL),
        CL_SUCCESS);
    if (below(2)) {
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, n, host, 0, NULL, NULL), CL_SUCCESS);
        for_pixels(image, &box, host, row, slice, check_pixels);
    }
    for_pixels(image, &box, host, row, slice, give_pixels);
    for (int d = 0; d < 3; d++)
        back.origin[d] = below(image->size[d] - back.region[d] + 1);
    assert_int_equal(
        clEnqueueCopyBufferToImage(queue, buffer, image->mem, offset, back.origin, back.region, 0, NULL, NULL),
        CL_SUCCESS);
    for_pixels(image, &back, host, row, slice, take_pixels);
    assert_int_equal(clReleaseMemObject(buffer), CL_SUCCESS);
    free(host);
}

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

/* One kernel for each type: every pixel of `to` that is also in `from` becomes that of `from`, its channels turned
 * round. Integers only: their bits are what is read. */
#define KERNEL(type, pos, coordinates)                                                             \
    "kernel void " #type "(read_only " #type "_t from, write_only " #type "_t to, int4 size) {\n"  \
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n" \
    "  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"                    \
    "  if (x < size.x && y < size.y && z < size.z) {\n"                                            \
    "    uint4 p = read_imageui(from, s, (" pos ")(" coordinates "));\n"                           \
    "    write_imageui(to, (" pos ")(" coordinates "), p);\n  }\n}\n"

static const char *const kernel_text = KERNEL(image1d, "int", "x") KERNEL(image1d_array, "int2", "x, y")
    KERNEL(image2d, "int2", "x, y") KERNEL(image2d_array, "int4", "x, y, z, 0");

static const char *kernel_name(cl_mem_object_type type)
{
    switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
        return "image1d";
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        return "image1d_array";
    case CL_MEM_OBJECT_IMAGE2D:
        return "image2d";
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return "image2d_array";
    default:
        return NULL;
    }
}

static cl_program build(const char *text)
{
    cl_int error = 1;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    error = clBuildProgram(program, 0, NULL, "", NULL, NULL);
    if (error) {
        char log[4096] = "";
        clGetProgramBuildInfo(program, our_device(), CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        print_message("%s\n", log);
    }
    assert_int_equal(error, CL_SUCCESS);
    return program;
}

static cl_kernel make_kernel(cl_program program, const char *name)
{
    cl_int error = 1;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    assert_int_equal(error, CL_SUCCESS);
    return kernel;
}

static void do_kernel(cl_program program, struct image *from, struct image *to)
{
    cl_kernel kernel = make_kernel(program, kernel_name(from->type));
    cl_int size[4] = {0};

    for (int d = 0; d < 3; d++)
        size[d] = (cl_int)(from->size[d] < to->size[d] ? from->size[d] : to->size[d]);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(cl_mem), &from->mem), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(cl_mem), &to->mem), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof size, size), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, from->size, NULL, 0, NULL, NULL), CL_SUCCESS);
    for (int z = 0; z < size[2]; z++)
        for (int y = 0; y < size[1]; y++)
            memcpy(pixel_at(to, 0, (size_t)y, (size_t)z), pixel_at(from, 0, (size_t)y, (size_t)z),
                   (size_t)size[0] * from->pixel);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

#define N_IMAGES 3

static void command(cl_program program, struct image *images, bool kernels)
{
    size_t i = below(N_IMAGES), k = (i + 1 + below(N_IMAGES - 1)) % N_IMAGES;

    switch (below(kernels ? 10 : 7)) {
    case 0:
        do_read(&images[i]);
        break;
    case 1:
        do_write(&images[i]);
        break;
    case 2:
        do_map(&images[i]);
        break;
    case 3:
        do_fill(&images[i]);
        break;
    case 4:
        do_copy(&images[i], &images[k]);
        break;
    case 5:
        do_buffer(&images[i]);
        break;
    case 6:
        assert_int_equal(clEnqueueMigrateMemObjects(queue, 1, &images[i].mem, below(2) ? CL_MIGRATE_MEM_OBJECT_HOST : 0,
                                                    0, NULL, NULL),
                         CL_SUCCESS);
        break;
    default:
        do_kernel(program, &images[i], &images[k]);
        break;
    }
}

static void check(struct image *image)
{
    unsigned char *host = malloc(bytes_of(image));
    const size_t zero[3] = {0};

    assert_int_equal(clEnqueueReadImage(queue, image->mem, CL_TRUE, zero, image->size, 0, 0, host, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_memory_equal(host, image->bytes, bytes_of(image));
    free(host);
}

static const cl_mem_object_type types[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
                                           CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};

static void random_commands(void **state)
{
    static const struct {
        cl_image_format format;
        size_t pixel;
    } formats[] = {
        {{CL_R, CL_UNSIGNED_INT8}, 1},     {{CL_R, CL_UNSIGNED_INT16}, 2},     {{CL_RGBA, CL_UNSIGNED_INT8}, 4},
        {{CL_RGBA, CL_UNSIGNED_INT16}, 8}, {{CL_RGBA, CL_UNSIGNED_INT32}, 16}, {{CL_RGBA, CL_FLOAT}, 16},
    };
    cl_program program = build(kernel_text);

    (void)state;
    for (size_t t = 0; t < LENGTH(types); t++)
        for (size_t f = 0; f < LENGTH(formats); f++) {
            bool kernels = kernel_name(types[t]) && formats[f].format.image_channel_data_type != CL_FLOAT;
            struct image images[N_IMAGES];

            random_state = 1000 * t + f;
            for (size_t i = 0; i < N_IMAGES; i++)
                make_image(&images[i], types[t], &formats[f].format, formats[f].pixel);
            for (int i = 0; i < 60; i++)
                command(program, images, kernels);
            for (size_t i = 0; i < N_IMAGES; i++) {
                check(&images[i]);
                drop_image(&images[i]);
            }
        }
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
}

/* The rows of a 1D array are those of a 2D image, and so on. */
static void images_of_all_types_are_copied(void **state)
{
    static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    struct image images[LENGTH(types)];

    (void)state;
    random_state = 11;
    for (size_t t = 0; t < LENGTH(types); t++)
        make_image(&images[t], types[t], &format, 4);
    for (int round = 0; round < 8; round++)
        for (size_t from = 0; from < LENGTH(types); from++)
            for (size_t to = 0; to < LENGTH(types); to++)
                if (to != from)
                    do_copy(&images[from], &images[to]);
    for (size_t t = 0; t < LENGTH(types); t++) {
        check(&images[t]);
        drop_image(&images[t]);
    }
}

/* The application's memory has padding in rows and slices: pixels go there, nothing else does. */
static void padding_is_left_alone(void **state)
{
    static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    enum { W = 5, H = 4, D = 3, ROW = 28, SLICE = ROW * 5 };
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                .image_width = W,
                                .image_height = H,
                                .image_array_size = D,
                                .image_row_pitch = ROW,
                                .image_slice_pitch = SLICE};
    const size_t zero[3] = {0}, whole[3] = {W, H, D};
    unsigned char host[SLICE * D], copy[SLICE * D];
    cl_program program = build(kernel_text);
    cl_kernel kernel = make_kernel(program, "image2d_array");
    cl_int error = 1, size[4] = {W, H, D, 0};
    size_t row = 0, slice = 0;
    cl_mem from, to;

    (void)state;
    random_state = 7;
    fill_random(host, sizeof host);
    fill_random(copy, sizeof copy);
    from = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, copy, &error);
    assert_int_equal(error, CL_SUCCESS);
    to = clCreateImage(context, CL_MEM_USE_HOST_PTR, &format, &desc, host, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (int round = 0; round < 3; round++) {
        unsigned char expected[SLICE * D];

        memcpy(expected, host, sizeof host);
        for (size_t z = 0; z < D; z++)
            for (size_t y = 0; y < H; y++)
                memcpy(expected + z * SLICE + y * ROW, copy + z * SLICE + y * ROW, W * 4);
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof from, &from), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 1, sizeof to, &to), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 2, sizeof size, size), CL_SUCCESS);
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 3, NULL, whole, NULL, 0, NULL, NULL), CL_SUCCESS);
        unsigned char *mapped = clEnqueueMapImage(queue, to, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, zero, whole, &row,
                                                  &slice, 0, NULL, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        assert_ptr_equal(mapped, host);
        assert_int_equal(row, ROW);
        assert_int_equal(slice, SLICE);
        assert_memory_equal(host, expected, sizeof host);
        host[0] ^= 255; /* A pixel, and what is none: both are the application's to change. */
        host[ROW - 1] ^= 255;
        assert_int_equal(clEnqueueUnmapMemObject(queue, to, mapped, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clFinish(queue), CL_SUCCESS);
    }
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static const char *const float_text =
    "kernel void look(read_only image2d_t from, sampler_t s, global float4 *to, global const float2 *at) {\n"
    "  size_t i = get_global_id(0);\n"
    "  to[i] = read_imagef(from, s, at[i]);\n}\n";

struct look {
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    float at[2];
    float expected; /* red; of a 2 x 2 image of 0, 1, 2, 3 */
};

static void samplers_are_asked(void **state)
{
    static const struct look looks[] = {
        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, {0.5f, 0.5f}, 0},
        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, {1.5f, 0.5f}, 1},
        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, {9.5f, 1.5f}, 3},
        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, {1.0f, 1.0f}, 1.5f},
        {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, {-3.5f, 0.5f}, 0},
        {CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, {0.75f, 0.75f}, 3},
        {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, {1.75f, 2.25f}, 1},
        {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, {1.25f, 0.25f}, 1},
        /* PoCL has no such samplers. */
        {CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, {1.5f, 0.5f}, 1},
        {CL_FALSE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, {0.5f, 1.5f}, 2},
    };
    static const cl_image_format format = {CL_RGBA, CL_FLOAT};
    static const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 2};
    float pixels[4][4] = {{0}, {1}, {2}, {3}};
    cl_program program = build(float_text);
    cl_kernel kernel = make_kernel(program, "look");
    cl_mem at = make_buffer(context, CL_MEM_READ_ONLY, 2 * sizeof(float));
    cl_mem to = make_buffer(context, CL_MEM_WRITE_ONLY, 4 * sizeof(float));
    cl_int error = 1;
    cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels, &error);

    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof to, &to), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof at, &at), CL_SUCCESS);
    for (size_t i = 0; i < 2 * LENGTH(looks); i++) { /* Twice: members in turns. */
        const struct look *look = &looks[i / 2];
        cl_sampler sampler = clCreateSampler(context, look->normalized, look->addressing, look->filter, &error);
        const size_t one = 1;
        float seen[4];

        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
        assert_int_equal(clEnqueueWriteBuffer(queue, at, CL_TRUE, 0, sizeof look->at, look->at, 0, NULL, NULL),
                         CL_SUCCESS);
        assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clReleaseSampler(sampler), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof seen, seen, 0, NULL, NULL), CL_SUCCESS);
        if (seen[0] < look->expected - 0.01f || seen[0] > look->expected + 0.01f)
            fail_msg("look %zu: %g is not %g", i, (double)seen[0], (double)look->expected);
    }
    clReleaseMemObject(image);
    clReleaseMemObject(at);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static bool lists(cl_mem_object_type type, const cl_image_format *wanted)
{
    cl_image_format formats[200];
    cl_uint n = 0;

    assert_int_equal(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type, 200, formats, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n; i++)
        if (!memcmp(&formats[i], wanted, sizeof *wanted))
            return true;
    return false;
}

static const char *const buffer_text = "kernel void line(read_only image1d_buffer_t from, global uint *to) {\n"
                                       "  int x = get_global_id(0);\n  to[x] = read_imageui(from, x).x;\n}\n"
                                       "kernel void add(global uint *what, uint n) { what[get_global_id(0)] += n; }\n";

/* The buffer and the image are one: what one is given the other has, wherever kernels run. */
static void an_image_of_a_buffer(void **state)
{
    enum { N = 64 };
    static const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = N};
    const size_t n = N, origin[3] = {8, 0, 0}, region[3] = {4, 1, 1};
    cl_program program = build(buffer_text);
    cl_kernel line = make_kernel(program, "line"), add = make_kernel(program, "add");
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(cl_uint)), image, parent = NULL;
    cl_mem to = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(cl_uint));
    cl_uint values[N], seen[N], ten = 10;
    cl_int error = 1;

    (void)state;
    for (cl_uint i = 0; i < N; i++)
        values[i] = 1000 + i;
    desc.mem_object = buffer;
    image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    if (!lists(CL_MEM_OBJECT_IMAGE1D_BUFFER, &format)) { /* rusticl on the host's memory */
        assert_int_equal(error, CL_IMAGE_FORMAT_NOT_SUPPORTED);
        clReleaseMemObject(buffer);
        clReleaseMemObject(to);
        clReleaseKernel(line);
        clReleaseKernel(add);
        clReleaseProgram(program);
        return;
    }
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetMemObjectInfo(image, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL), CL_SUCCESS);
    assert_ptr_equal(parent, buffer);
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(line, 0, sizeof image, &image), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(line, 1, sizeof to, &to), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(add, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(add, 1, sizeof ten, &ten), CL_SUCCESS);
    for (int round = 0; round < 4; round++) {
        cl_uint four[4] = {1, 2, 3, (cl_uint)round};

        assert_int_equal(clEnqueueNDRangeKernel(queue, add, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
        for (int i = 0; i < N; i++)
            values[i] += ten;
        assert_int_equal(clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, four, 0, NULL, NULL),
                         CL_SUCCESS);
        memcpy(values + 8, four, sizeof four);
        assert_int_equal(clEnqueueNDRangeKernel(queue, line, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof seen, seen, 0, NULL, NULL), CL_SUCCESS);
        assert_memory_equal(seen, values, sizeof seen);
    }
    clReleaseMemObject(buffer); /* The image keeps it. */
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, seen, 0, NULL, NULL), CL_SUCCESS);
    assert_memory_equal(seen, values + 8, 4 * sizeof *seen);
    clReleaseMemObject(image);
    clReleaseMemObject(to);
    clReleaseKernel(line);
    clReleaseKernel(add);
    clReleaseProgram(program);
}

/* Of a part of a buffer: where no member makes such its creation says so, not the launch; where one does, kernels go
 * there. */
static void an_image_of_a_part_of_a_buffer(void **state)
{
    enum { N = 1024, PART = 64 };
    static const cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    const size_t n = PART;
    cl_program program = build(buffer_text);
    cl_kernel line = make_kernel(program, "line");
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, N * sizeof(cl_uint));
    cl_mem to = make_buffer(context, CL_MEM_READ_WRITE, PART * sizeof(cl_uint));
    cl_uint values[N], seen[PART];
    cl_int error = 1;

    (void)state;
    for (cl_uint i = 0; i < N; i++)
        values[i] = 1000 + i;
    assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), CL_SUCCESS);
    for (size_t begin = 0; begin <= N / 2 && error != CL_IMAGE_FORMAT_NOT_SUPPORTED; begin += N / 2) {
        const cl_buffer_region region = {begin * sizeof(cl_uint), PART * sizeof(cl_uint)};
        cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        const cl_image_desc desc = {
            .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = PART, .mem_object = part};
        cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);

        if (image) {
            assert_int_equal(clSetKernelArg(line, 0, sizeof image, &image), CL_SUCCESS);
            assert_int_equal(clSetKernelArg(line, 1, sizeof to, &to), CL_SUCCESS);
            for (int round = 0; round < 3; round++) {
                assert_int_equal(clEnqueueNDRangeKernel(queue, line, 1, NULL, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
                assert_int_equal(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof seen, seen, 0, NULL, NULL),
                                 CL_SUCCESS);
                assert_memory_equal(seen, values + begin, sizeof seen);
            }
            clReleaseMemObject(image);
        } else {
            assert_int_equal(error, CL_IMAGE_FORMAT_NOT_SUPPORTED);
        }
        clReleaseMemObject(part);
    }
    clReleaseMemObject(buffer);
    clReleaseMemObject(to);
    clReleaseKernel(line);
    clReleaseProgram(program);
}

static const char *const plane_text =
    "kernel void turn(read_only image2d_t from, write_only image2d_t to) {\n"
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
    "  int x = get_global_id(0), y = get_global_id(1);\n"
    "  write_imageui(to, (int2)(x, get_global_size(1) - 1 - y), read_imageui(from, s, (int2)(x, y)));\n}\n";

/* Rows of a 2D image in a buffer may have bytes between them, which are the buffer's own. */
static void a_2d_image_of_a_buffer(void **state)
{
    enum { W = 5, H = 4, ROW = 1024, SIZE = ROW * H };
    static const cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
    cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H, .image_row_pitch = ROW};
    const size_t size[2] = {W, H};
    unsigned char *values = malloc(SIZE), *seen = malloc(SIZE);
    cl_program program = build(plane_text);
    cl_kernel turn = make_kernel(program, "turn");
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, SIZE), image, from;
    char extensions[4096];
    cl_uint align = 0;
    cl_int error = 1;
    bool made;

    (void)state;
    random_state = 5;
    fill_random(values, SIZE);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_IMAGE_PITCH_ALIGNMENT, sizeof align, &align, NULL),
                     CL_SUCCESS);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL),
                     CL_SUCCESS);
    assert_int_equal(strstr(extensions, "cl_khr_image2d_from_buffer") != NULL, align != 0);
    desc.mem_object = buffer;
    image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    made = error == CL_SUCCESS; /* Also where only some members take it, and so the device doesn't promise it. */
    assert_true(made || (!align && error == CL_INVALID_OPERATION));
    desc.mem_object = NULL;
    desc.image_row_pitch = W;
    from = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, values, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (int round = 0; made && round < 3; round++) {
        assert_int_equal(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, SIZE, values, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(turn, 0, sizeof from, &from), CL_SUCCESS);
        assert_int_equal(clSetKernelArg(turn, 1, sizeof image, &image), CL_SUCCESS);
        assert_int_equal(clEnqueueNDRangeKernel(queue, turn, 2, NULL, size, NULL, 0, NULL, NULL), CL_SUCCESS);
        assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, SIZE, seen, 0, NULL, NULL), CL_SUCCESS);
        for (size_t i = 0; i < SIZE; i++) {
            size_t y = i / ROW, x = i % ROW;

            assert_int_equal(seen[i], x < W ? values[(H - 1 - y) * W + x] : values[i]);
        }
    }
    if (made)
        clReleaseMemObject(image);
    clReleaseMemObject(from);
    clReleaseMemObject(buffer);
    clReleaseKernel(turn);
    clReleaseProgram(program);
    free(values);
    free(seen);
}

static int set_up(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_commands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(images_of_all_types_are_copied, set_up, tear_down),
        cmocka_unit_test_setup_teardown(padding_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samplers_are_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_image_of_a_buffer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_image_of_a_part_of_a_buffer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_2d_image_of_a_buffer, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
