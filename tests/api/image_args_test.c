/* Images and samplers: every argument that OpenCL 3.0 refuses, in creation, queries and commands, and the answers of
 * queries. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
#include "begin.h"

#include <stdlib.h>

static cl_context context, other_context;
static cl_command_queue queue;
static cl_mem image, buffer, lines, other_image;
static const cl_image_format rgba = {CL_RGBA, CL_UNSIGNED_INT8}, red = {CL_R, CL_UNSIGNED_INT8};
static const size_t zero[3] = {0}, one[3] = {1, 1, 1};

enum { W = 8, H = 4, LAYERS = 3 };

static cl_image_desc desc_2d(void)
{
    return (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
}

static cl_mem make_image(cl_context of, const cl_image_format *format, const cl_image_desc *desc)
{
    cl_int error = 1;
    cl_mem made = clCreateImage(of, CL_MEM_READ_WRITE, format, desc, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    return made;
}

/* ---- Creation --------------------------------------------------------------------------------------------------- */

static void what_is_no_image_is_refused(void **state)
{
    const cl_image_format no_order = {0x7777, CL_UNSIGNED_INT8}, no_type = {CL_RGBA, 0x7777},
                          no_pair = {CL_RGBA, CL_UNORM_SHORT_565};
    char bytes[W * H * 8];
    cl_image_desc desc = desc_2d();

    (void)state;
    assert_refused(CL_INVALID_CONTEXT, clCreateImage(NULL, 0, &rgba, &desc, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateImage(context, 1u << 30, &rgba, &desc, NULL, err));
    assert_refused(CL_INVALID_VALUE,
                   clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, &rgba, &desc, NULL, err));
    assert_refused(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, NULL, &desc, NULL, err));
    assert_refused(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &no_order, &desc, NULL, err));
    assert_refused(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &no_type, &desc, NULL, err));
    assert_refused(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &no_pair, &desc, NULL, err));
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, NULL, NULL, err));
    assert_refused(CL_INVALID_HOST_PTR, clCreateImage(context, 0, &rgba, &desc, bytes, err));
    assert_refused(CL_INVALID_HOST_PTR, clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rgba, &desc, NULL, err));
    desc.image_type = CL_MEM_OBJECT_BUFFER;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc = desc_2d();
    desc.image_height = 0;
    assert_refused(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc = desc_2d();
    desc.image_width = SIZE_MAX / 2;
    assert_refused(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc.image_width = (size_t)1 << 24;
    assert_refused(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc = desc_2d();
    desc.num_samples = 2;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
}

static void pitches_must_fit(void **state)
{
    char bytes[W * H * 8];
    cl_image_desc desc = desc_2d();

    (void)state;
    desc.image_row_pitch = W * 4;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc.image_row_pitch = W * 4 - 4;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rgba, &desc, bytes, err));
    desc.image_row_pitch = W * 4 + 2;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rgba, &desc, bytes, err));
    desc = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE3D,
                           .image_width = 2,
                           .image_height = 2,
                           .image_depth = 2,
                           .image_row_pitch = 8,
                           .image_slice_pitch = 12};
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rgba, &desc, bytes, err));
}

static void images_of_buffers_must_fit(void **state)
{
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16};
    cl_uint pitch_align = 1;

    (void)state;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc.mem_object = buffer;
    desc.image_width = 17;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc.image_width = 16;
    desc.image_type = CL_MEM_OBJECT_IMAGE3D;
    desc.image_height = desc.image_depth = 1;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc = (cl_image_desc){CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4, .mem_object = buffer};
    assert_int_equal(
        clGetDeviceInfo(our_device(), CL_DEVICE_IMAGE_PITCH_ALIGNMENT, sizeof pitch_align, &pitch_align, NULL),
        CL_SUCCESS);
    if (pitch_align == 0) /* nobody has 2D images of buffers */
        assert_refused(CL_INVALID_OPERATION, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc = desc_2d();
    desc.mem_object = image;
    assert_refused(CL_IMAGE_FORMAT_NOT_SUPPORTED, clCreateImage(context, 0, &rgba, &desc, NULL, err));
    desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    desc.mem_object = (cl_mem)queue;
    assert_refused(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &rgba, &desc, NULL, err));
}

static void the_older_calls_make_the_same(void **state)
{
    cl_int error = 1;
    size_t size = 0;
    cl_mem flat = clCreateImage2D(context, CL_MEM_READ_ONLY, &rgba, W, H, 0, NULL, &error), deep;

    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    deep = clCreateImage3D(context, CL_MEM_READ_ONLY, &rgba, W, H, 2, 0, 0, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetImageInfo(deep, CL_IMAGE_DEPTH, sizeof size, &size, NULL), CL_SUCCESS);
    assert_int_equal(size, 2);
    assert_refused(CL_INVALID_IMAGE_SIZE, clCreateImage2D(context, 0, &rgba, 0, H, 0, NULL, err));
    clReleaseMemObject(flat);
    clReleaseMemObject(deep);
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

static size_t size_of(cl_mem of, cl_image_info param)
{
    size_t size = 77;

    assert_int_equal(clGetImageInfo(of, param, sizeof size, &size, NULL), CL_SUCCESS);
    return size;
}

static void images_tell_of_themselves(void **state)
{
    cl_image_format format;
    cl_mem_object_type type;
    cl_uint n = 7;
    size_t size;

    (void)state;
    assert_int_equal(clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof format, &format, NULL), CL_SUCCESS);
    assert_memory_equal(&format, &rgba, sizeof format);
    assert_int_equal(size_of(image, CL_IMAGE_ELEMENT_SIZE), 4);
    assert_int_equal(size_of(image, CL_IMAGE_WIDTH), W);
    assert_int_equal(size_of(image, CL_IMAGE_HEIGHT), H);
    assert_int_equal(size_of(image, CL_IMAGE_DEPTH), 0);
    assert_int_equal(size_of(image, CL_IMAGE_ARRAY_SIZE), 0);
    assert_int_equal(size_of(image, CL_IMAGE_ROW_PITCH), 4 * W);
    assert_int_equal(size_of(image, CL_IMAGE_SLICE_PITCH), 0);
    assert_int_equal(size_of(lines, CL_IMAGE_HEIGHT), 0);
    assert_int_equal(size_of(lines, CL_IMAGE_ARRAY_SIZE), LAYERS);
    assert_int_equal(size_of(lines, CL_IMAGE_SLICE_PITCH), 4 * W);
    assert_int_equal(clGetImageInfo(image, CL_IMAGE_NUM_MIP_LEVELS, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 0);
    assert_int_equal(clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    assert_int_equal(type, CL_MEM_OBJECT_IMAGE2D);
    assert_int_equal(clGetMemObjectInfo(image, CL_MEM_SIZE, sizeof size, &size, NULL), CL_SUCCESS);
    assert_int_equal(size, 4 * W * H);
    assert_int_equal(clGetImageInfo(buffer, CL_IMAGE_WIDTH, sizeof size, &size, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clGetImageInfo(image, 0x7777, sizeof size, &size, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetImageInfo(image, CL_IMAGE_WIDTH, 1, &size, NULL), CL_INVALID_VALUE);
}

static void formats_are_listed(void **state)
{
    cl_image_format formats[200];
    cl_uint n = 0, found = 0;

    (void)state;
    assert_int_equal(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 200, formats, &n),
                     CL_SUCCESS);
    assert_true(n > 0 && n < 200);
    for (cl_uint i = 0; i < n; i++)
        found += !memcmp(&formats[i], &rgba, sizeof rgba);
    assert_int_equal(found, 1);
    assert_int_equal(clGetSupportedImageFormats(NULL, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n), CL_INVALID_CONTEXT);
    assert_int_equal(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, formats, &n), CL_INVALID_VALUE);
    assert_int_equal(
        clGetSupportedImageFormats(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n),
        CL_INVALID_VALUE);
}

/* ---- Commands --------------------------------------------------------------------------------------------------- */

static cl_int read_part(cl_mem from, size_t x, size_t y, size_t w, size_t h, size_t row, size_t slice)
{
    const size_t origin[3] = {x, y, 0}, region[3] = {w, h, 1};
    char bytes[4 * W * H * 4];

    return clEnqueueReadImage(queue, from, CL_TRUE, origin, region, row, slice, bytes, 0, NULL, NULL);
}

static void regions_must_lie_in_the_image(void **state)
{
    const size_t deep[3] = {1, 1, 2}, behind[3] = {0, 0, 1};
    char bytes[4 * W * H];

    (void)state;
    assert_int_equal(read_part(image, 0, 0, W, H, 0, 0), CL_SUCCESS);
    assert_int_equal(read_part(image, 1, 0, W, H, 0, 0), CL_INVALID_VALUE);
    assert_int_equal(read_part(image, SIZE_MAX, 0, 2, H, 0, 0), CL_INVALID_VALUE);
    assert_int_equal(read_part(image, 0, 0, 0, H, 0, 0), CL_INVALID_VALUE);
    assert_int_equal(read_part(lines, 0, 0, W, LAYERS, 0, 0), CL_SUCCESS);
    assert_int_equal(read_part(lines, 0, 1, W, LAYERS, 0, 0), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, zero, deep, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, behind, one, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, NULL, one, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, zero, NULL, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, zero, one, 0, 0, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(read_part(image, 0, 0, W, H, 4 * W - 4, 0), CL_INVALID_VALUE);
    assert_int_equal(read_part(image, 0, 0, W, H, 0, 4 * W * H), CL_INVALID_VALUE); /* It has no slices. */
    assert_int_equal(read_part(lines, 0, 0, W, LAYERS, 0, 4), CL_INVALID_VALUE);
}

static void objects_must_be_what_they_are_taken_for(void **state)
{
    char bytes[64];
    size_t row, slice;
    cl_image_desc desc = desc_2d();
    cl_mem gray = make_image(context, &red, &desc);

    (void)state;
    assert_int_equal(clEnqueueReadImage(NULL, image, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueReadImage(queue, buffer, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(queue, image, CL_TRUE, 0, 4, bytes, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueWriteImage(queue, other_image, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL),
                     CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueCopyImage(queue, image, gray, zero, zero, one, 0, NULL, NULL), CL_IMAGE_FORMAT_MISMATCH);
    assert_int_equal(clEnqueueCopyImage(queue, image, image, zero, zero, one, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyImageToBuffer(queue, image, buffer, zero, one, 61, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyBufferToImage(queue, image, buffer, 0, zero, one, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueFillImage(queue, image, NULL, zero, one, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_refused(CL_INVALID_VALUE,
                   clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, one, NULL, &slice, 0, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE,
                   clEnqueueMapImage(queue, lines, CL_TRUE, CL_MAP_READ, zero, one, &row, NULL, 0, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE,
                   clEnqueueMapImage(queue, image, CL_TRUE, 1u << 20, zero, one, &row, &slice, 0, NULL, NULL, err));
    clReleaseMemObject(gray);
}

static void flags_keep_the_host_out(void **state)
{
    static const cl_mem_flags flags[] = {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS};
    cl_image_desc desc = desc_2d();
    char bytes[4];

    (void)state;
    for (size_t i = 0; i < LENGTH(flags); i++) {
        cl_int error = 1;
        cl_mem mem = clCreateImage(context, flags[i], &rgba, &desc, NULL, &error);

        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clEnqueueReadImage(queue, mem, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL),
                         flags[i] == CL_MEM_HOST_READ_ONLY ? CL_SUCCESS : CL_INVALID_OPERATION);
        assert_int_equal(clEnqueueWriteImage(queue, mem, CL_TRUE, zero, one, 0, 0, bytes, 0, NULL, NULL),
                         flags[i] == CL_MEM_HOST_WRITE_ONLY ? CL_SUCCESS : CL_INVALID_OPERATION);
        clReleaseMemObject(mem);
    }
}

/* ---- Kernels' arguments ----------------------------------------------------------------------------------------- */

static void kernels_check_their_images(void **state)
{
    static const char *const text = "kernel void look(read_only image2d_t from, sampler_t how, global uint4 *to)"
                                    "{ to[0] = read_imageui(from, how, (int2)(0, 0)); }";
    cl_int error = 1;
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    cl_image_desc desc = desc_2d();
    cl_mem write_only = clCreateImage(context, CL_MEM_WRITE_ONLY, &rgba, &desc, NULL, &error), none = NULL;
    cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    cl_kernel kernel;

    (void)state;
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "look", &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof image, &image), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, 1, &image), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof none, &none), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof other_image, &other_image), CL_INVALID_CONTEXT);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof write_only, &write_only), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof lines, &lines), CL_INVALID_ARG_VALUE); /* no image2d_t */
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof image, &image), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof image, &image), CL_INVALID_SAMPLER);
    clReleaseSampler(sampler);
    clReleaseMemObject(write_only);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* ---- Samplers --------------------------------------------------------------------------------------------------- */

static void samplers_tell_of_themselves(void **state)
{
    const cl_sampler_properties list[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
    const cl_sampler_properties twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                           CL_FILTER_LINEAR, 0};
    const cl_sampler_properties unknown[] = {0x7777, 1, 0};
    cl_int error = 1;
    cl_sampler sampler = clCreateSamplerWithProperties(context, list, &error);
    cl_sampler_properties told[8];
    cl_uint value = 0;
    size_t size = 0;

    (void)state;
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof value, &value, NULL), CL_SUCCESS);
    assert_int_equal(value, CL_FILTER_LINEAR);
    assert_int_equal(clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof value, &value, NULL), CL_SUCCESS);
    assert_int_equal(value, CL_ADDRESS_CLAMP);
    assert_int_equal(clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof value, &value, NULL), CL_SUCCESS);
    assert_int_equal(value, CL_TRUE);
    assert_int_equal(clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, sizeof told, told, &size), CL_SUCCESS);
    assert_int_equal(size, sizeof list);
    assert_memory_equal(told, list, size);
    assert_int_equal(clRetainSampler(sampler), CL_SUCCESS);
    assert_int_equal(clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof value, &value, NULL), CL_SUCCESS);
    assert_int_equal(value, 2);
    assert_int_equal(clReleaseSampler(sampler), CL_SUCCESS);
    assert_int_equal(clReleaseSampler(sampler), CL_SUCCESS);
    assert_int_equal(clReleaseSampler(sampler), CL_INVALID_SAMPLER);
    assert_int_equal(clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof value, &value, NULL), CL_INVALID_SAMPLER);
    assert_refused(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, twice, err));
    assert_refused(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, unknown, err));
    assert_refused(CL_INVALID_VALUE, clCreateSampler(context, 2, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, err));
    assert_refused(CL_INVALID_VALUE, clCreateSampler(context, CL_TRUE, 0x7777, CL_FILTER_NEAREST, err));
    assert_refused(CL_INVALID_VALUE, clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, 0x7777, err));
    assert_refused(CL_INVALID_CONTEXT, clCreateSampler(NULL, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, err));
}

static int set_up(void **state)
{
    cl_image_desc desc = desc_2d(), desc_lines = {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                                  .image_width = W,
                                                  .image_array_size = LAYERS};

    (void)state;
    context = make_context();
    other_context = make_context();
    queue = make_queue(context, 0);
    image = make_image(context, &rgba, &desc);
    lines = make_image(context, &rgba, &desc_lines);
    other_image = make_image(other_context, &rgba, &desc);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, 64);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clReleaseMemObject(image);
    clReleaseMemObject(lines);
    clReleaseMemObject(other_image);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    clReleaseContext(other_context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_image_is_refused),   cmocka_unit_test(pitches_must_fit),
        cmocka_unit_test(images_of_buffers_must_fit),    cmocka_unit_test(the_older_calls_make_the_same),
        cmocka_unit_test(images_tell_of_themselves),     cmocka_unit_test(formats_are_listed),
        cmocka_unit_test(regions_must_lie_in_the_image), cmocka_unit_test(objects_must_be_what_they_are_taken_for),
        cmocka_unit_test(flags_keep_the_host_out),       cmocka_unit_test(kernels_check_their_images),
        cmocka_unit_test(samplers_tell_of_themselves),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
