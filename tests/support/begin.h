/* The beginning of every program: Tesela's platform, its device, a context, a queue. Each step is checked. */
#ifndef TSL_TESTS_BEGIN_H
#define TSL_TESTS_BEGIN_H

#include "test.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static inline cl_platform_id our_platform(void)
{
    cl_platform_id platforms[16], found = NULL;
    cl_uint n = 0;

    assert_int_equal(clGetPlatformIDs(16, platforms, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n && i < 16 && !found; i++) {
        char name[64] = "";

        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Tesela") == 0)
            found = platforms[i];
    }
    assert_non_null(found);
    return found;
}

static inline cl_device_id our_device(void)
{
    cl_device_id device = NULL;

    assert_int_equal(clGetDeviceIDs(our_platform(), CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    assert_non_null(device);
    return device;
}

static inline cl_context make_context(void)
{
    cl_device_id device = our_device();
    cl_int error = 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(context);
    return context;
}

static inline cl_command_queue make_queue(cl_context context, cl_command_queue_properties flags)
{
    const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, 0};
    cl_int error = 1;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, our_device(), properties, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(queue);
    return queue;
}

static inline cl_mem make_buffer(cl_context context, cl_mem_flags flags, size_t size)
{
    cl_int error = 1;
    cl_mem buffer = clCreateBuffer(context, flags, size, NULL, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(buffer);
    return buffer;
}

static inline cl_event make_user_event(cl_context context)
{
    cl_int error = 1;
    cl_event event = clCreateUserEvent(context, &error);

    assert_int_equal(error, CL_SUCCESS);
    assert_non_null(event);
    return event;
}

/* For calls that must fail to create an object: the result is NULL, the error the expected one. */
#define assert_refused(expected, call)        \
    do {                                      \
        cl_int error_ = 1;                    \
        cl_int *err = &error_;                \
        const void *result_ = (call);         \
        assert_int_equal(error_, (expected)); \
        assert_null(result_);                 \
    } while (0)

#endif
