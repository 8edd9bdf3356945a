/*
 * Tesela as a layer of the loader: alone, and beside Tesela as an ICD. Programs that take the first platform, that ask
 * every platform for GPUs, that name no platform, and that have a context of a vendor's by other ways.
 */
/* variant: alone OPENCL_LAYERS={build}/libtesela.so OCL_ICD_VENDORS={build}/vendors-pocl/ TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic TESELA_MEMBERS=basic */
/* variant: both OPENCL_LAYERS={build}/libtesela.so OCL_ICD_VENDORS={build}/vendors-pocl-tesela/ TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=basic TESELA_MEMBERS=basic */
#include "begin.h"
#include "build_folder.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { n_items = 64 };

static void assert_tesela(cl_platform_id platform)
{
    char name[64];

    assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL), CL_SUCCESS);
    assert_string_equal(name, "Tesela");
}

static cl_platform_id platform_of(cl_device_id device)
{
    cl_platform_id platform = NULL;

    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), CL_SUCCESS);
    return platform;
}

/* Each item gets its number, by a kernel; then everything is released. */
static void compute(cl_context context, cl_device_id device)
{
    const char *source = "kernel void k(global int *x) { x[get_global_id(0)] = (int)get_global_id(0); }";
    const size_t size = n_items;
    int result[n_items] = {0};
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof result, NULL, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    cl_kernel kernel;
    cl_event event;

    assert_int_equal(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "k", &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, &event), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < n_items; i++)
        assert_int_equal(result[i], i);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(buffer), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void the_first_platform_is_the_only_one(void **state)
{
    cl_platform_id platforms[8];
    cl_uint n = 0;
    cl_device_id device;
    cl_context context;
    cl_int error;

    (void)state;
    assert_int_equal(clGetPlatformIDs(8, platforms, &n), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_tesela(platforms[0]);
    assert_int_equal(clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    context = clCreateContext((cl_context_properties[]){CL_CONTEXT_PLATFORM, (cl_context_properties)platforms[0], 0}, 1,
                              &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    compute(context, device);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

static void every_platform_has_a_gpu_of_ours(void **state)
{
    cl_platform_id platforms[8];
    cl_uint n = 0, found = 0;

    (void)state;
    assert_int_equal(clGetPlatformIDs(8, platforms, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n; i++) {
        cl_device_id devices[8];
        cl_uint here = 0;

        assert_int_equal(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 8, devices, &here), CL_SUCCESS);
        for (cl_uint k = 0; k < here; k++)
            assert_tesela(platform_of(devices[k]));
        found += here;
    }
    assert_int_equal(found, 1);
}

static void no_platform_means_ours(void **state)
{
    cl_device_id device, of_context;
    cl_context context;
    cl_int error;

    (void)state;
    assert_tesela(NULL);
    assert_int_equal(clGetDeviceIDs(NULL, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL), CL_SUCCESS);
    assert_tesela(platform_of(device));
    context = clCreateContextFromType(NULL, CL_DEVICE_TYPE_ALL, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof of_context, &of_context, NULL), CL_SUCCESS);
    assert_ptr_equal(of_context, device);
    compute(context, device);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    assert_int_equal(clUnloadCompiler(), CL_SUCCESS);
}

static void extensions_are_ours(void **state)
{
    (void)state;
    assert_non_null(clGetExtensionFunctionAddress("clCreateCommandQueueWithPropertiesKHR"));
    assert_non_null(clGetExtensionFunctionAddressForPlatform(our_platform(), "clCreateCommandQueueWithPropertiesKHR"));
    assert_null(clGetExtensionFunctionAddress("clNoSuchFunctionTSL"));
}

/* The first platform of PoCL's library, opened without the loader. */
static cl_platform_id vendors_platform(void)
{
    char path[4096], library[4096] = "";
    FILE *file;
    void *handle;
    void *(*address)(const char *);
    clIcdGetPlatformIDsKHR_fn get;
    cl_platform_id platform = NULL;

    snprintf(path, sizeof path, "%s/vendors-pocl/pocl.icd", build_folder());
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(library, sizeof library, file));
    fclose(file);
    library[strcspn(library, "\n")] = '\0';
    handle = dlopen(library, RTLD_NOW);
    assert_non_null(handle);
    address = (void *(*)(const char *))dlsym(handle, "clGetExtensionFunctionAddress");
    assert_non_null(address);
    get = (clIcdGetPlatformIDsKHR_fn)address("clIcdGetPlatformIDsKHR");
    assert_non_null(get);
    assert_int_equal(get(1, &platform, NULL), CL_SUCCESS);
    return platform;
}

static void a_vendors_context_stays_the_vendors(void **state)
{
    cl_platform_id platform = vendors_platform();
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    char name[64];
    cl_device_id device;
    cl_context context;
    cl_int error;

    (void)state;
    assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL), CL_SUCCESS);
    assert_string_not_equal(name, "Tesela");
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    assert_ptr_equal(platform_of(device), platform);
    context = clCreateContext(properties, 1, &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    compute(context, device);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    context = clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    compute(context, device);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

/* A loader of ICD 2 takes the second word of marked objects for a table of its own. */
static void assert_marked_as_told(const void *handle)
{
    const intptr_t mark = sizeof(void *) == 4 ? (intptr_t)0x434C3331 : (intptr_t)0x4F50454E434C3331;
    const struct {
        const intptr_t *table;
        const void *data;
    } *words = handle;

    assert_int_equal(words->table[0] == mark, words->data != NULL);
    assert_int_equal(words->table[offsetof(cl_icd_dispatch, clUnloadCompiler) / sizeof(void *)] == mark,
                     words->data != NULL);
}

static void marks_are_where_a_loader_told_its_word(void **state)
{
    cl_context context = make_context();
    cl_command_queue queue = make_queue(context, 0);
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 64);

    (void)state;
    assert_marked_as_told(our_platform());
    assert_marked_as_told(our_device());
    assert_marked_as_told(context);
    assert_marked_as_told(queue);
    assert_marked_as_told(buffer);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_platform_is_the_only_one),
                                       cmocka_unit_test(every_platform_has_a_gpu_of_ours),
                                       cmocka_unit_test(no_platform_means_ours),
                                       cmocka_unit_test(extensions_are_ours),
                                       cmocka_unit_test(a_vendors_context_stays_the_vendors),
                                       cmocka_unit_test(marks_are_where_a_loader_told_its_word)};

    return cmocka_run_group_tests_name("layer", tests, NULL, NULL);
}
