/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: gpu TESELA_VENDORS={build}/vendors-pocl TESELA_DEVICE_TYPE=gpu */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-oclgrind */
/* variant: both TESELA_VENDORS={build}/vendors-pocl-oclgrind TESELA_MEMBERS=opencl TESELA_POLICY=round-robin */
/* variant: cpu TESELA_VENDORS={build}/vendors-oclgrind TESELA_MEMBERS=cpu,opencl TESELA_POLICY=round-robin */
/* any: */
/* timeout: 300 */
/*
 * Invalid launches are refused by the call itself, with the error that the specification names. Unusual but valid ones
 * (no work-items, a required size, offsets) run.
 */
#include "begin.h"

#include <stdint.h>

static const char source[] =
    "kernel void set(global int *out, int value)\n"
    "{\n"
    "    out[get_global_id(0) - get_global_offset(0)] = value + (int)get_global_id(0);\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void shaped(global int *out)\n"
    "{\n"
    "    out[get_global_id(0)] = (int)get_local_size(0);\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void tiled(global int *out)\n"
    "{\n"
    "    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (int)get_local_size(1);\n"
    "}\n"
    "kernel void locals(global int *out, local int *scratch) { scratch[0] = 1; out[0] = scratch[0]; }\n"
    "kernel void sizes(global int *out)\n"
    "{\n"
    "    out[get_global_id(0)] = (int)get_local_size(0);\n"
    "}\n"
    "kernel __attribute__((work_group_size_hint(2048, 1, 1))) void hinted(global int *out)\n"
    "{\n"
    "    out[get_global_id(0)] = (int)get_local_size(0);\n"
    "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_mem buffer;
static cl_kernel set, shaped, tiled, locals, sizes;

static int setup(void **state)
{
    const char *text = source;
    const cl_int value = 5;
    (void)state;

    context = make_context();
    queue = make_queue(context, 0);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_SUCCESS);
    buffer = make_buffer(context, CL_MEM_READ_WRITE, 65536);
    set = clCreateKernel(program, "set", NULL);
    shaped = clCreateKernel(program, "shaped", NULL);
    tiled = clCreateKernel(program, "tiled", NULL);
    locals = clCreateKernel(program, "locals", NULL);
    sizes = clCreateKernel(program, "sizes", NULL);
    clSetKernelArg(set, 0, sizeof buffer, &buffer);
    clSetKernelArg(set, 1, sizeof value, &value);
    clSetKernelArg(shaped, 0, sizeof buffer, &buffer);
    clSetKernelArg(tiled, 0, sizeof buffer, &buffer);
    clSetKernelArg(locals, 0, sizeof buffer, &buffer);
    return clSetKernelArg(sizes, 0, sizeof buffer, &buffer);
}

static int teardown(void **state)
{
    (void)state;
    clReleaseKernel(set);
    clReleaseKernel(shaped);
    clReleaseKernel(tiled);
    clReleaseKernel(locals);
    clReleaseKernel(sizes);
    clReleaseMemObject(buffer);
    return clReleaseProgram(program) || clReleaseCommandQueue(queue) || clReleaseContext(context);
}

static cl_int launch(cl_kernel kernel, size_t global, size_t local)
{
    return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local ? &local : NULL, 0, NULL, NULL);
}

static cl_int at(size_t index)
{
    cl_int value = -1;

    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4 * index, 4, &value, 0, NULL, NULL), CL_SUCCESS);
    return value;
}

/* ---- Handles ---- */

static void wrong_handles_are_refused(void **state)
{
    const size_t one = 1;
    cl_event wrong = (cl_event)buffer, event;
    cl_context other = make_context();
    cl_command_queue other_queue = make_queue(other, 0);
    cl_event other_event = make_user_event(other);
    (void)state;

    assert_int_equal(clEnqueueNDRangeKernel(NULL, set, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueNDRangeKernel(queue, NULL, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
    assert_int_equal(clEnqueueNDRangeKernel(queue, (cl_kernel)buffer, 1, NULL, &one, NULL, 0, NULL, NULL),
                     CL_INVALID_KERNEL);
    assert_int_equal(clEnqueueNDRangeKernel(other_queue, set, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, &one, NULL, 1, NULL, &event),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, &one, NULL, 0, &wrong, &event),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, &one, NULL, 1, &wrong, &event),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, &one, NULL, 1, &other_event, &event),
                     CL_INVALID_CONTEXT);
    assert_int_equal(clEnqueueTask(queue, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
    clSetUserEventStatus(other_event, CL_COMPLETE);
    clReleaseEvent(other_event);
    clReleaseCommandQueue(other_queue);
    clReleaseContext(other);
}

/* ---- Sizes ---- */

static void wrong_sizes_are_refused(void **state)
{
    const size_t one = 1, huge[3] = {SIZE_MAX, 1, 1}, zero = 0;
    size_t max_group, max_items[3];
    (void)state;

    clGetDeviceInfo(our_device(), CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof max_items, max_items, NULL);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 0, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 4, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, huge, &one, NULL, 0, NULL, NULL), CL_INVALID_GLOBAL_OFFSET);
    assert_int_equal(launch(set, 64, 48), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, &one, &zero, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    clGetKernelWorkGroupInfo(set, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof max_group, &max_group, NULL);
    assert_int_equal(launch(set, 1 << 20, 1 << 20), CL_INVALID_WORK_ITEM_SIZE);
    assert_int_equal(launch(set, max_group, max_group), CL_SUCCESS);
    /* Each dimension fits, the group doesn't. */
    for (size_t edge = 1; edge <= max_items[0] && edge <= max_items[1]; edge *= 2) {
        const size_t plane[2] = {edge, edge};

        if (edge > max_items[0] / 2)
            assert_int_equal(clEnqueueNDRangeKernel(queue, set, 2, NULL, plane, plane, 0, NULL, NULL),
                             CL_INVALID_WORK_GROUP_SIZE);
    }
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void a_required_size_is_kept(void **state)
{
    (void)state;
    assert_int_equal(launch(shaped, 64, 16), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(shaped, 60, 0), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueTask(queue, shaped, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(shaped, 64, 8), CL_SUCCESS);
    assert_int_equal(at(63), 8);
    assert_int_equal(launch(shaped, 32, 0), CL_SUCCESS);
    assert_int_equal(at(31), 8);
}

static void a_required_size_of_more_dimensions_is_kept(void **state)
{
    const size_t global[2] = {8, 4};
    (void)state;

    assert_int_equal(launch(tiled, 8, 0), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(launch(tiled, 8, 4), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(queue, tiled, 2, NULL, global, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(at(31), 2);
}

static void offsets_reach_the_kernel(void **state)
{
    const size_t offset = 1000, n = 16;
    (void)state;

    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, &offset, &n, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(at(3), 5 + 1003);
}

/* ---- No work-items ---- */

static void no_work_items_is_a_command_like_others(void **state)
{
    const size_t zero = 0, plane[2] = {4, 0};
    cl_event gate = make_user_event(context), event;
    cl_command_type type;
    cl_int status;
    (void)state;

    assert_int_equal(launch(set, 1, 0), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, NULL, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 2, NULL, plane, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, set, 1, NULL, &zero, NULL, 1, &gate, &event), CL_SUCCESS);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
    assert_int_equal(type, CL_COMMAND_NDRANGE_KERNEL);
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL),
                     CL_SUCCESS);
    assert_int_not_equal(status, CL_COMPLETE);
    clSetUserEventStatus(gate, CL_COMPLETE);
    assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
    assert_int_equal(at(0), 5);
    clReleaseEvent(event);
    clReleaseEvent(gate);
}

/* ---- Arguments ---- */

static void a_missing_argument_is_refused(void **state)
{
    cl_kernel kernel = clCreateKernel(program, "set", NULL);
    const size_t zero = 0;
    (void)state;

    assert_int_equal(launch(kernel, 1, 0), CL_INVALID_KERNEL_ARGS);
    clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    assert_int_equal(launch(kernel, 1, 0), CL_INVALID_KERNEL_ARGS);
    assert_int_equal(clEnqueueTask(queue, kernel, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &zero, NULL, 0, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    clReleaseKernel(kernel);
}

static void too_much_local_memory_is_refused(void **state)
{
    cl_ulong size;
    (void)state;

    assert_int_equal(clSetKernelArg(locals, 1, 64, NULL), CL_SUCCESS);
    assert_int_equal(launch(locals, 1, 1), CL_SUCCESS);
    assert_int_equal(at(0), 1);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_LOCAL_MEM_SIZE, sizeof size, &size, NULL), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(locals, 1, (size_t)1 << 40, NULL), CL_SUCCESS);
    assert_int_equal(launch(locals, 1, 1), CL_OUT_OF_RESOURCES);
}

static void a_misaligned_sub_buffer_is_refused(void **state)
{
    cl_uint align; /* bits */
    cl_buffer_region region = {.size = 256};
    cl_kernel kernel = clCreateKernel(program, "sizes", NULL);
    cl_mem sub;
    cl_int error;
    (void)state;

    clGetDeviceInfo(our_device(), CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align, &align, NULL);
    region.origin = align / 8;
    sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof sub, &sub), CL_SUCCESS);
    assert_int_equal(launch(kernel, 4, 2), CL_SUCCESS);
    assert_int_equal(at(region.origin / 4), 2);
    clReleaseMemObject(sub);
    /* Where such a sub-buffer can be made at all, no kernel takes it. */
    region.origin = 4;
    sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (sub) {
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof sub, &sub), CL_SUCCESS);
        error = launch(kernel, 4, 2);
        clReleaseMemObject(sub);
    }
    assert_int_equal(error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    clReleaseKernel(kernel);
}

/* ---- Sizes that nobody gives ---- */

/* Programs size local memory by what they are told, whichever member runs the launch. */
static void groups_are_never_larger_than_was_told(void **state)
{
    static const char *const names[] = {"sizes", "hinted"};
    const size_t globals[] = {1031, 2048, 3000, 4096};
    size_t of_device = 0;
    (void)state;

    clGetDeviceInfo(our_device(), CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof of_device, &of_device, NULL);
    for (unsigned k = 0; k < LENGTH(names); k++) {
        cl_int error;
        cl_kernel kernel = clCreateKernel(program, names[k], &error);
        size_t most = 0;

        assert_int_equal(error, CL_SUCCESS);
        assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
        clGetKernelWorkGroupInfo(kernel, NULL, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
        assert_in_range(most, 1, of_device);
        for (unsigned i = 0; i < 3 * LENGTH(globals); i++) {
            assert_int_equal(launch(kernel, globals[i / 3], 0), CL_SUCCESS);
            assert_in_range(at(globals[i / 3] - 1), 1, most);
        }
        clReleaseKernel(kernel);
    }
}

/* What is suggested is what a launch without a size then has, on whichever member. */
static void a_suggestion_is_what_a_launch_gets(void **state)
{
    clGetKernelSuggestedLocalWorkSizeKHR_fn suggest =
        (clGetKernelSuggestedLocalWorkSizeKHR_fn)clGetExtensionFunctionAddressForPlatform(
            our_platform(), "clGetKernelSuggestedLocalWorkSizeKHR");
    const size_t globals[] = {1, 2, 7, 64, 97, 1000, 4096};
    size_t local = 0, zero = 0;
    (void)state;

    assert_non_null(suggest);
    for (unsigned i = 0; i < 2 * LENGTH(globals); i++) {
        size_t n = globals[i / 2];

        assert_int_equal(suggest(queue, sizes, 1, NULL, &n, &local), CL_SUCCESS);
        assert_int_equal(n % local, 0);
        assert_int_equal(launch(sizes, n, 0), CL_SUCCESS);
        assert_int_equal(at(n - 1), local);
    }
    assert_int_equal(suggest(queue, sizes, 1, NULL, &zero, &local), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(suggest(queue, sizes, 1, NULL, NULL, &local), CL_INVALID_GLOBAL_WORK_SIZE);
    assert_int_equal(suggest(queue, sizes, 1, NULL, globals, NULL), CL_INVALID_VALUE);
    assert_int_equal(suggest(queue, sizes, 7, NULL, globals, &local), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(suggest(NULL, sizes, 1, NULL, globals, &local), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(suggest(queue, NULL, 1, NULL, globals, &local), CL_INVALID_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_handles_are_refused),
        cmocka_unit_test(wrong_sizes_are_refused),
        cmocka_unit_test(a_required_size_is_kept),
        cmocka_unit_test(a_required_size_of_more_dimensions_is_kept),
        cmocka_unit_test(offsets_reach_the_kernel),
        cmocka_unit_test(no_work_items_is_a_command_like_others),
        cmocka_unit_test(a_missing_argument_is_refused),
        cmocka_unit_test(too_much_local_memory_is_refused),
        cmocka_unit_test(a_misaligned_sub_buffer_is_refused),
        cmocka_unit_test(groups_are_never_larger_than_was_told),
        cmocka_unit_test(a_suggestion_is_what_a_launch_gets),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
