/* Contexts: creation, refused arguments, queries, and destruction. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* any: */

#include "begin.h"

static void CL_CALLBACK hear(const char *text, const void *data, size_t size, void *arg)
{
    (void)text;
    (void)data;
    (void)size;
    (void)arg;
}

static void is_made_of_a_device(void **state)
{
    cl_platform_id platform = our_platform();
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                                CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE, 0};
    cl_device_id device = our_device(), devices[2];
    cl_context_properties kept[8];
    cl_context context;
    cl_uint n;
    size_t size;
    cl_int error;
    (void)state;

    context = clCreateContext(properties, 1, &device, hear, &n, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, &size), CL_SUCCESS);
    assert_int_equal(size, sizeof device);
    assert_ptr_equal(devices[0], device);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof kept, kept, &size), CL_SUCCESS);
    assert_int_equal(size, sizeof properties);
    assert_memory_equal(kept, properties, sizeof properties);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof properties - 1, kept, &size),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetContextInfo(context, 0x7777, sizeof kept, kept, &size), CL_INVALID_VALUE);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

static void is_made_of_a_type(void **state)
{
    static const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_DEFAULT,
                                           CL_DEVICE_TYPE_ALL};
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)our_platform(), 0};
    (void)state;

    for (size_t i = 0; i < LENGTH(types); i++) {
        cl_device_id device;
        cl_int error;
        cl_context context = clCreateContextFromType(properties, types[i], NULL, NULL, &error);

        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, &device, NULL), CL_SUCCESS);
        assert_ptr_equal(device, our_device());
        assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    }
    assert_refused(CL_DEVICE_NOT_FOUND, clCreateContextFromType(properties, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, err));
    assert_refused(CL_INVALID_DEVICE_TYPE, clCreateContextFromType(properties, 1 << 9, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, &state, err));
}

/* The same device twice counts once, and no list of properties is answered with none. */
static void repeated_devices_are_ignored(void **state)
{
    cl_device_id devices[2] = {our_device(), our_device()};
    cl_context context;
    cl_uint n;
    size_t size;
    cl_int error;
    (void)state;

    context = clCreateContext(NULL, 2, devices, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof n, &n, NULL), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

static void wrong_properties_are_refused(void **state)
{
    cl_context_properties platform = (cl_context_properties)our_platform();
    const cl_context_properties unknown[] = {0x7777, 1, 0};
    const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM, platform, 0};
    const cl_context_properties sync[] = {CL_CONTEXT_INTEROP_USER_SYNC, 5, 0};
    const cl_context_properties no_platform[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)our_device(), 0};
    const cl_context_properties late[] = {CL_CONTEXT_PLATFORM, platform, 0x7777, 1, 0};
    cl_device_id device = our_device();
    (void)state;

    assert_refused(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, NULL, NULL, err));
    assert_refused(CL_INVALID_PROPERTY, clCreateContext(twice, 1, &device, NULL, NULL, err));
    assert_refused(CL_INVALID_PROPERTY, clCreateContext(sync, 1, &device, NULL, NULL, err));
    assert_refused(CL_INVALID_PROPERTY, clCreateContext(late, 1, &device, NULL, NULL, err));
    assert_refused(CL_INVALID_PLATFORM, clCreateContext(no_platform, 1, &device, NULL, NULL, err));
}

static void wrong_devices_are_refused(void **state)
{
    cl_device_id device = our_device();
    cl_device_id devices[2] = {device, (cl_device_id)our_platform()};
    (void)state;

    assert_refused(CL_INVALID_DEVICE, clCreateContext(NULL, 2, devices, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateContext(NULL, 0, &device, NULL, NULL, err));
    assert_refused(CL_INVALID_VALUE, clCreateContext(NULL, 1, &device, NULL, &device, err));
}

static cl_uint users(cl_context context)
{
    cl_uint n;

    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
    return n;
}

static void is_counted(void **state)
{
    cl_context context = make_context();
    (void)state;

    assert_int_equal(users(context), 1);
    assert_int_equal(clRetainContext(context), CL_SUCCESS);
    assert_int_equal(users(context), 2);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    assert_int_equal(users(context), 1);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    assert_int_equal(clReleaseContext(context), CL_INVALID_CONTEXT);
    assert_int_equal(clRetainContext(context), CL_INVALID_CONTEXT);
}

/* What the application made in a context keeps it, and leads back to it. */
static void lives_as_long_as_its_children(void **state)
{
    cl_context context = make_context(), found = NULL;
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 64);
    (void)state;

    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof found, &found, NULL), CL_SUCCESS);
    assert_ptr_equal(found, context);
    assert_int_equal(users(found), 0);
    assert_int_equal(clReleaseContext(found), CL_INVALID_CONTEXT);
    assert_int_equal(clRetainContext(found), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(buffer), CL_SUCCESS);
    assert_int_equal(users(found), 1);
    assert_int_equal(clReleaseContext(found), CL_SUCCESS);
}

/* ---- Destructor callbacks ---- */

static char heard[8];

static void CL_CALLBACK hear_end(cl_context context, void *letter)
{
    (void)context;
    heard[strlen(heard)] = *(const char *)letter;
}

static void its_end_is_told_newest_first(void **state)
{
    cl_context context = make_context();
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 64);
    (void)state;

    memset(heard, 0, sizeof heard);
    assert_int_equal(clSetContextDestructorCallback(context, hear_end, "a"), CL_SUCCESS);
    assert_int_equal(clSetContextDestructorCallback(context, hear_end, "b"), CL_SUCCESS);
    assert_int_equal(clSetContextDestructorCallback(context, NULL, NULL), CL_INVALID_VALUE);
    clReleaseContext(context);
    assert_string_equal(heard, "");
    clReleaseMemObject(buffer);
    assert_string_equal(heard, "ba");
    assert_int_equal(clSetContextDestructorCallback(context, hear_end, "c"), CL_INVALID_CONTEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_made_of_a_device),           cmocka_unit_test(is_made_of_a_type),
        cmocka_unit_test(repeated_devices_are_ignored),  cmocka_unit_test(wrong_properties_are_refused),
        cmocka_unit_test(wrong_devices_are_refused),     cmocka_unit_test(is_counted),
        cmocka_unit_test(lives_as_long_as_its_children), cmocka_unit_test(its_end_is_told_newest_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
