/*
 * What devices tell of the sizes of images is what they take (OpenCL 3.0, clCreateImage): as large an image as one of a
 * context's devices tells of, and none that is larger than all tell of, whatever a member could have. Three fake
 * members: the fastest takes the largest images, one has none at all.
 */
/* variant: all TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests */
/* variant: fastest TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_LIMITS=fastest */
#include "api.h"
#include "base/settings.h"
#include "core_end.h"
#include "driver/fake.h"
#include "members/members.h"
#include "test.h"

#include <CL/cl_tesela.h>

enum { SMALL = 64, LARGE = 256, N = 3 };

static const cl_image_format red = {CL_R, CL_UNSIGNED_INT8};
static cl_device_id root, subs[N];
static cl_mem bytes;

static int begin(void **state)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    struct tsl_fake_setup setup = {.n_members = N, .threads = true};
    cl_platform_id platform;

    (void)state;
    setup.members[0] = (struct tsl_fake_member){.images = true, .image_size = LARGE, .speed = 8};
    setup.members[1] = (struct tsl_fake_member){.images = true, .image_size = SMALL};
    tsl_fake_begin(&setup);
    tsl_members_register(&tsl_fake_driver);
    assert_int_equal(tsl_api_clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(tsl_api_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &root, NULL), CL_SUCCESS);
    assert_int_equal(tsl_api_clCreateSubDevices(root, by_member, N, subs, NULL), CL_SUCCESS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++)
        tsl_api_clReleaseDevice(subs[i]);
    end_core();
    return 0;
}

/* Every size that an image can have: too large by one, and as large as may be. */
static void must_take(cl_context context, const cl_image_desc *shape, size_t *size, size_t most)
{
    for (size_t more = 0; more < 2; more++) {
        cl_int error = 1;
        cl_mem image;

        *size = most + more;
        image = tsl_api_clCreateImage(context, 0, &red, shape, NULL, &error);
        assert_int_equal(error, more ? CL_INVALID_IMAGE_SIZE : CL_SUCCESS);
        assert_int_equal(image != NULL, !more);
        if (image)
            tsl_api_clReleaseMemObject(image);
    }
    *size = 1;
}

static void takes(const cl_device_id *devices, cl_uint n, size_t most)
{
    static const cl_mem_object_type types[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE1D_BUFFER};
    cl_int error = 1;
    cl_context context = tsl_api_clCreateContext(NULL, n, devices, NULL, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    bytes = tsl_api_clCreateBuffer(context, 0, (size_t)2 * LARGE, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool array = types[i] == CL_MEM_OBJECT_IMAGE1D_ARRAY || types[i] == CL_MEM_OBJECT_IMAGE2D_ARRAY;
        bool flat = types[i] == CL_MEM_OBJECT_IMAGE2D || types[i] == CL_MEM_OBJECT_IMAGE2D_ARRAY;
        bool deep = types[i] == CL_MEM_OBJECT_IMAGE3D;
        cl_image_desc shape = {types[i], .image_width = 1, .image_height = 1, .image_depth = 1, .image_array_size = 1};

        shape.mem_object = types[i] == CL_MEM_OBJECT_IMAGE1D_BUFFER ? bytes : NULL;
        must_take(context, &shape, &shape.image_width, most);
        if (flat || deep)
            must_take(context, &shape, &shape.image_height, most);
        if (deep)
            must_take(context, &shape, &shape.image_depth, most);
        if (array)
            must_take(context, &shape, &shape.image_array_size, most);
    }
    tsl_api_clReleaseMemObject(bytes);
    tsl_api_clReleaseContext(context);
}

static void the_device_takes_what_it_tells(void **state)
{
    size_t told = 0;

    (void)state;
    assert_int_equal(tsl_api_clGetDeviceInfo(root, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof told, &told, NULL), CL_SUCCESS);
    assert_int_equal(told, tsl_settings()->limits == TSL_LIMITS_FASTEST ? LARGE : SMALL);
    takes(&root, 1, told);
}

static void sub_devices_take_what_they_tell(void **state)
{
    (void)state;
    takes(&subs[0], 1, LARGE);
    takes(&subs[1], 1, SMALL);
    takes(&subs[1], 2, SMALL);
}

static void one_device_of_a_context_is_enough(void **state)
{
    const cl_device_id devices[] = {root, subs[0]};

    (void)state;
    takes(subs, N, LARGE);
    takes(devices, 2, LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_takes_what_it_tells),
        cmocka_unit_test(sub_devices_take_what_they_tell),
        cmocka_unit_test(one_device_of_a_context_is_enough),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
