/*
 * The library as seen by a loader of ICD 2: it has the mark, returns every function by name, and each object has the
 * loader's word. (The other tests use an ICD 1 loader, which must not notice.)
 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic */
#include "begin.h"
#include "build_folder.h"

#include <CL/cl_icd.h>
#include <CL/cl_tesela.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *(*address_fn)(const char *);
typedef void *(*platform_address_fn)(cl_platform_id, const char *);
typedef cl_int (*set_fn)(cl_platform_id, void *);

/* The first words of any handle. */
struct handle {
    const intptr_t *table;
    const void *data;
};

static const void *const words = "the loader's";
static address_fn address;
static platform_address_fn platform_address;
static set_fn set_data;
static cl_platform_id platform;

static int load(void **state)
{
    char path[4096];
    void *library;
    cl_int (*get)(cl_uint, cl_platform_id *, cl_uint *);

    (void)state;
    snprintf(path, sizeof path, "%s/libtesela.so", build_folder());
    library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    address = (address_fn)dlsym(library, "clGetExtensionFunctionAddress");
    assert_non_null(address);
    get = (cl_int(*)(cl_uint, cl_platform_id *, cl_uint *))address("clIcdGetPlatformIDsKHR");
    platform_address = (platform_address_fn)address("clIcdGetFunctionAddressForPlatformKHR");
    set_data = (set_fn)address("clIcdSetPlatformDispatchDataKHR");
    assert_non_null(get);
    assert_non_null(platform_address);
    assert_non_null(set_data);
    return get(1, &platform, NULL);
}

static void is_marked(void **state)
{
    const struct handle *handle = (const struct handle *)platform;
    const intptr_t mark = sizeof(void *) == 4 ? (intptr_t)0x434C3331 : (intptr_t)0x4F50454E434C3331;

    (void)state;
    assert_int_equal(handle->table[offsetof(cl_icd_dispatch, clGetPlatformIDs) / sizeof(void *)], mark);
    assert_int_equal(handle->table[offsetof(cl_icd_dispatch, clUnloadCompiler) / sizeof(void *)], mark);
}

static void functions_have_names(void **state)
{
    static const char *const names[] = {
        "clGetPlatformIDs",       "clUnloadCompiler",
        "clGetDeviceIDs",         "clCreateContext",
        "clEnqueueNDRangeKernel", "clSetContextDestructorCallback",
        "clCreateFromGLBuffer",   "clGetKernelSuggestedLocalWorkSize",
        "clCreateSubDevicesEXT",  "clGetKernelSuggestedLocalWorkSizeKHR",
        "clGetPlatformInfo",      "clGetExtensionFunctionAddressForPlatform",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++)
        if (!platform_address(platform, names[i]))
            fail_msg("%s isn't found", names[i]);
    assert_null(platform_address(platform, "clGetPlatform"));
    assert_null(platform_address(platform, ""));
    assert_null(platform_address(platform, NULL));
    assert_null(platform_address(NULL, "clGetPlatformIDs"));
    assert_null(platform_address((cl_platform_id)our_device(), "clGetPlatformIDs"));
    assert_int_equal(((cl_int(*)(void))platform_address(platform, "clUnloadCompiler"))(), CL_SUCCESS);
    assert_int_equal(set_data(NULL, NULL), CL_INVALID_PLATFORM);
    assert_int_equal(set_data((cl_platform_id)our_device(), NULL), CL_INVALID_PLATFORM);
}

static void assert_carries(const void *handle, const char *what)
{
    if (((const struct handle *)handle)->data != words)
        fail_msg("a %s has another loader's word", what);
}

static void all_objects_carry_the_word(void **state)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    const char *source = "kernel void k(global int *x) { *x = 1; }";
    const cl_buffer_region region = {0, 256};
    const size_t one = 1;
    cl_device_id sub, device = our_device();
    cl_context context;
    cl_command_queue queue;
    cl_mem buffer, part;
    cl_program program, linked;
    cl_kernel kernel, clone;
    cl_event event, user;
    cl_int error;

    (void)state;
    assert_int_equal(set_data(platform, (void *)(uintptr_t)words), CL_SUCCESS);
    assert_carries(platform, "platform");
    assert_carries(device, "device");
    assert_int_equal(clCreateSubDevices(device, by_member, 1, &sub, NULL), CL_SUCCESS);
    assert_carries(sub, "sub-device");
    context = clCreateContext(NULL, 2, (cl_device_id[]){device, sub}, NULL, NULL, &error);
    assert_carries(context, "context");
    queue = clCreateCommandQueue(context, sub, 0, &error);
    assert_carries(queue, "queue");
    buffer = make_buffer(context, CL_MEM_READ_WRITE, 1024);
    assert_carries(buffer, "buffer");
    part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_carries(part, "sub-buffer");
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    assert_carries(program, "program");
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    linked = clLinkProgram(context, 0, NULL, "", 1, &program, NULL, NULL, &error);
    assert_carries(linked, "linked program");
    kernel = clCreateKernel(linked, "k", &error);
    assert_carries(kernel, "kernel");
    clone = clCloneKernel(kernel, &error);
    assert_carries(clone, "cloned kernel");
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event), CL_SUCCESS);
    assert_carries(event, "event");
    user = make_user_event(context);
    assert_carries(user, "user event");
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    clReleaseEvent(user);
    clReleaseEvent(event);
    clReleaseKernel(clone);
    clReleaseKernel(kernel);
    clReleaseProgram(linked);
    clReleaseProgram(program);
    clReleaseMemObject(part);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    /* A dead handle still carries it: loaders look there before we can say what it is. */
    assert_carries(context, "released context");
    clReleaseDevice(sub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_marked),
        cmocka_unit_test(functions_have_names),
        cmocka_unit_test(all_objects_carry_the_word),
    };

    return cmocka_run_group_tests(tests, load, NULL);
}
