/* The dispatch table: every slot leads somewhere, and survives a call without a single valid argument. */
#include "dispatch.h"
#include "icd2.h"

#include "test.h"

#include <stdbool.h>
#include <string.h>

typedef intptr_t slot_fn(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                         intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

static slot_fn *slot(size_t i)
{
    slot_fn *function;

    memcpy(&function, (const char *)&tsl_dispatch_table + i * sizeof function, sizeof function);
    return function;
}

#define INDEX(name) (offsetof(struct tsl_dispatch, name) / sizeof(void *))

/* Those that return a handle or an address, or nothing; the others return an error code. */
static bool returns_pointer(size_t i)
{
    static const size_t slots[] = {
        INDEX(clCreateContext),
        INDEX(clCreateContextFromType),
        INDEX(clCreateCommandQueue),
        INDEX(clCreateBuffer),
        INDEX(clCreateImage2D),
        INDEX(clCreateImage3D),
        INDEX(clCreateSampler),
        INDEX(clCreateProgramWithSource),
        INDEX(clCreateProgramWithBinary),
        INDEX(clCreateKernel),
        INDEX(clEnqueueMapBuffer),
        INDEX(clEnqueueMapImage),
        INDEX(clGetExtensionFunctionAddress),
        INDEX(clCreateFromGLBuffer),
        INDEX(clCreateFromGLTexture2D),
        INDEX(clCreateFromGLTexture3D),
        INDEX(clCreateFromGLRenderbuffer),
        INDEX(clCreateFromD3D10BufferKHR),
        INDEX(clCreateFromD3D10Texture2DKHR),
        INDEX(clCreateFromD3D10Texture3DKHR),
        INDEX(clCreateSubBuffer),
        INDEX(clCreateUserEvent),
        INDEX(clCreateEventFromGLsyncKHR),
        INDEX(clCreateImage),
        INDEX(clCreateProgramWithBuiltInKernels),
        INDEX(clLinkProgram),
        INDEX(clGetExtensionFunctionAddressForPlatform),
        INDEX(clCreateFromGLTexture),
        INDEX(clCreateFromD3D11BufferKHR),
        INDEX(clCreateFromD3D11Texture2DKHR),
        INDEX(clCreateFromD3D11Texture3DKHR),
        INDEX(clCreateFromDX9MediaSurfaceKHR),
        INDEX(clCreateFromEGLImageKHR),
        INDEX(clCreateEventFromEGLSyncKHR),
        INDEX(clCreateCommandQueueWithProperties),
        INDEX(clCreatePipe),
        INDEX(clSVMAlloc),
        INDEX(clCreateSamplerWithProperties),
        INDEX(clCloneKernel),
        INDEX(clCreateProgramWithIL),
        INDEX(clCreateBufferWithProperties),
        INDEX(clCreateImageWithProperties),
    };

    for (size_t k = 0; k < sizeof slots / sizeof *slots; k++)
        if (slots[k] == i)
            return true;
    return false;
}

/* On this machine's calling convention a function ignores arguments that it doesn't have. */
static intptr_t call_without_arguments(size_t i)
{
    return slot(i)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void no_slot_is_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < TSL_N_SLOTS; i++)
        if (!slot(i))
            fail_msg("slot %zu is NULL", i + 1);
}

/* What no loader calls: the mark of ICD 2 is there. */
static bool is_mark(size_t i)
{
    return i == INDEX(clGetPlatformIDs) || i == INDEX(clUnloadCompiler);
}

static void two_slots_are_marked(void **state)
{
    (void)state;
    for (size_t i = 0; i < TSL_N_SLOTS; i++)
        assert_int_equal((intptr_t)slot(i) == CL_ICD2_TAG_KHR, is_mark(i));
}

static void every_slot_refuses_null(void **state)
{
    (void)state;
    for (size_t i = 0; i < TSL_N_SLOTS; i++) {
        intptr_t result;

        if (i == INDEX(clSVMFree) || is_mark(i))
            continue;
        result = call_without_arguments(i);
        if (returns_pointer(i) && result != 0)
            fail_msg("slot %zu gives %p for NULL", i + 1, (void *)result);
        if (!returns_pointer(i) && (cl_int)result >= 0)
            fail_msg("slot %zu returns %d for NULL", i + 1, (int)result);
    }
}

static void extension_functions_are_found_by_name(void **state)
{
    cl_platform_id platform;
    clIcdGetPlatformIDsKHR_fn get =
        (clIcdGetPlatformIDsKHR_fn)tsl_dispatch_table.clGetExtensionFunctionAddress("clIcdGetPlatformIDsKHR");
    (void)state;

    assert_non_null(get);
    assert_int_equal(get(1, &platform, NULL), CL_SUCCESS);
    assert_ptr_equal(
        tsl_dispatch_table.clGetExtensionFunctionAddressForPlatform(platform, "clGetKernelSuggestedLocalWorkSizeKHR"),
        tsl_dispatch_table.clGetKernelSuggestedLocalWorkSize);
    assert_null(tsl_dispatch_table.clGetExtensionFunctionAddress("clNoSuchFunctionTSL"));
    assert_null(tsl_dispatch_table.clGetExtensionFunctionAddressForPlatform(NULL, "clIcdGetPlatformIDsKHR"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_slot_is_empty),
        cmocka_unit_test(two_slots_are_marked),
        cmocka_unit_test(every_slot_refuses_null),
        cmocka_unit_test(extension_functions_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
