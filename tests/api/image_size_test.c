/*
 * The largest images that the device reports can be created, written and read. Larger ones can't, even where a member
 * has larger ones (OpenCL 3.0, clCreateImage).
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: mixed TESELA_VENDORS={build}/vendors-pocl TESELA_MEMBERS=cpu,opencl TESELA_POLICY=round-robin */
/* any: */
#include "begin.h"

static const cl_image_format red = {CL_R, CL_UNSIGNED_INT8};

static cl_context context;
static cl_command_queue queue;

static size_t told(cl_device_info param)
{
    size_t value = 0;

    assert_int_equal(clGetDeviceInfo(our_device(), param, sizeof value, &value, NULL), CL_SUCCESS);
    assert_true(value > 0);
    return value;
}

/* The last pixel is where it should be. */
static void must_hold(cl_mem image, const cl_image_desc *desc)
{
    bool layers = desc->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t last[3] = {desc->image_width - 1, (layers ? desc->image_array_size : desc->image_height) - 1,
                      desc->image_depth * (layers ? 1 : desc->image_array_size) - 1};
    const size_t one[3] = {1, 1, 1};
    unsigned char byte = 77, back = 0;

    assert_int_equal(clEnqueueWriteImage(queue, image, CL_TRUE, last, one, 0, 0, &byte, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadImage(queue, image, CL_TRUE, last, one, 0, 0, &back, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(back, byte);
}

/* One of desc's sizes: as large as may be, and by one too large. */
static void must_end(cl_image_desc *desc, size_t *size, cl_device_info most)
{
    cl_int error = 1;
    cl_mem image;

    *size = told(most);
    image = clCreateImage(context, 0, &red, desc, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    must_hold(image, desc);
    clReleaseMemObject(image);
    ++*size;
    assert_refused(CL_INVALID_IMAGE_SIZE, clCreateImage(context, 0, &red, desc, NULL, err));
    *size = 1;
}

static cl_image_desc small(cl_mem_object_type type)
{
    return (cl_image_desc){type, .image_width = 1, .image_height = 1, .image_depth = 1, .image_array_size = 1};
}

static void flat_images_end_there(void **state)
{
    static const cl_mem_object_type types[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY};

    (void)state;
    for (size_t i = 0; i < LENGTH(types); i++) {
        cl_image_desc desc = small(types[i]);

        must_end(&desc, &desc.image_width, CL_DEVICE_IMAGE2D_MAX_WIDTH);
        if (i >= 2)
            must_end(&desc, &desc.image_height, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
        if (i % 2 == 1)
            must_end(&desc, &desc.image_array_size, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    }
}

static void deep_images_end_there(void **state)
{
    cl_image_desc desc = small(CL_MEM_OBJECT_IMAGE3D);

    (void)state;
    must_end(&desc, &desc.image_width, CL_DEVICE_IMAGE3D_MAX_WIDTH);
    must_end(&desc, &desc.image_height, CL_DEVICE_IMAGE3D_MAX_HEIGHT);
    must_end(&desc, &desc.image_depth, CL_DEVICE_IMAGE3D_MAX_DEPTH);
}

static void images_of_buffers_end_there(void **state)
{
    cl_image_desc desc = small(CL_MEM_OBJECT_IMAGE1D_BUFFER);
    cl_ulong most_bytes = 0;

    (void)state;
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most_bytes, &most_bytes, NULL),
                     CL_SUCCESS);
    if (told(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE) < most_bytes)
        desc.mem_object = make_buffer(context, 0, told(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE) + 1);
    if (desc.mem_object)
        must_end(&desc, &desc.image_width, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    clReleaseMemObject(desc.mem_object);
}

static int begin(void **state)
{
    (void)state;
    context = make_context();
    queue = make_queue(context, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_images_end_there),
        cmocka_unit_test(deep_images_end_there),
        cmocka_unit_test(images_of_buffers_end_there),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
