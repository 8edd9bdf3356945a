/* Each error that the specification lists for calls of unsupported features (shared virtual memory where there is none,
 * pipes, intermediate languages, sub-groups, queues on the device), and for timers and clones. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_SVM=off */
#include "errors.h"

#define ROOM 256

static const char text[] = "kernel void set(global int *out) { *out = 1; }";
static cl_device_id device;
static cl_program program;
static cl_kernel kernel;
static char room[ROOM];
static void *pointers[1] = {room};

static int setup(void **state)
{
    const char *line = text;

    (void)state;
    device = our_device();
    begin_errors(0);
    program = clCreateProgramWithSource(context, 1, &line, NULL, &code);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    kernel = clCreateKernel(program, "set", &code);
    return code;
}

static int teardown(void **state)
{
    (void)state;
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    end_errors();
    return 0;
}

/* ---- Shared virtual memory, where it is switched off: CL_DEVICE_SVM_CAPABILITIES is 0 ---- */

#define NO_SVM(call, result)                                                                    \
    do {                                                                                        \
        E(call, CL_INVALID_OPERATION, "a device without it", result);                           \
        queue_is_wrong = true;                                                                  \
        E(call, CL_INVALID_COMMAND_QUEUE, "another object for a queue", result);                \
        queue_is_wrong = false;                                                                 \
        NEVER(call, CL_INVALID_CONTEXT, "there is nothing that one could wait before");         \
        NEVER(call, CL_INVALID_VALUE, "no pointer is any better than others");                  \
        NEVER(call, CL_INVALID_EVENT_WAIT_LIST, "there is nothing that one could wait before"); \
    } while (0)

static void test_svm(void **state)
{
    cl_device_svm_capabilities svm = 1;
    const void *moved[1] = {room};

    (void)state;
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL), CL_SUCCESS);
    assert_int_equal(svm, 0);
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0));
    assert_null(clSVMAlloc((cl_context)queue, CL_MEM_READ_WRITE, 64, 0));
    clSVMFree(context, NULL);
    NO_SVM(clEnqueueSVMFree, clEnqueueSVMFree(the_queue(), 1, pointers, NULL, NULL, n_list, list, NULL));
    NO_SVM(clEnqueueSVMMemcpy, clEnqueueSVMMemcpy(the_queue(), CL_TRUE, room, room + 64, 64, n_list, list, NULL));
    NEVER(clEnqueueSVMMemcpy, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "nothing is waited for");
    NEVER(clEnqueueSVMMemcpy, CL_MEM_COPY_OVERLAP, "nothing is copied");
    NO_SVM(clEnqueueSVMMemFill, clEnqueueSVMMemFill(the_queue(), room, room + 64, 4, 64, n_list, list, NULL));
    NO_SVM(clEnqueueSVMMap, clEnqueueSVMMap(the_queue(), CL_TRUE, CL_MAP_READ, room, 64, n_list, list, NULL));
    NEVER(clEnqueueSVMMap, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "nothing is waited for");
    NO_SVM(clEnqueueSVMUnmap, clEnqueueSVMUnmap(the_queue(), room, n_list, list, NULL));
    NO_SVM(clEnqueueSVMMigrateMem, clEnqueueSVMMigrateMem(the_queue(), 1, moved, NULL, 0, n_list, list, NULL));
    E(clSetKernelArgSVMPointer, CL_INVALID_KERNEL, "another object",
      clSetKernelArgSVMPointer((cl_kernel)queue, 0, room));
    E(clSetKernelArgSVMPointer, CL_INVALID_OPERATION, "no device with it", clSetKernelArgSVMPointer(kernel, 0, room));
    NEVER(clSetKernelArgSVMPointer, CL_INVALID_ARG_INDEX, "no argument can be set so");
    NEVER(clSetKernelArgSVMPointer, CL_INVALID_ARG_VALUE, "no argument can be set so");
    E(clSetKernelExecInfo, CL_INVALID_KERNEL, "another object",
      clSetKernelExecInfo((cl_kernel)queue, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    E(clSetKernelExecInfo, CL_INVALID_OPERATION, "no device with it",
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    NEVER(clSetKernelExecInfo, CL_INVALID_VALUE, "all that could be set is of shared virtual memory");
}

/* ---- Pipes, queues on the device, sub-groups ---- */

static void test_pipes(void **state)
{
    cl_bool has = CL_TRUE;
    cl_mem buffer = make_buffer(context, CL_MEM_READ_WRITE, 64);

    (void)state;
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_PIPE_SUPPORT, sizeof has, &has, NULL), CL_SUCCESS);
    assert_false(has);
    E(clCreatePipe, CL_INVALID_CONTEXT, "another object",
      OF(clCreatePipe((cl_context)queue, CL_MEM_READ_WRITE, 4, 4, NULL, &code)));
    E(clCreatePipe, CL_INVALID_OPERATION, "no device with them",
      OF(clCreatePipe(context, CL_MEM_READ_WRITE, 4, 4, NULL, &code)));
    NEVER(clCreatePipe, CL_INVALID_VALUE, "no flags are any better than others");
    NEVER(clCreatePipe, CL_INVALID_PIPE_SIZE, "no size is any better than others");
    NEVER(clCreatePipe, CL_MEM_OBJECT_ALLOCATION_FAILURE, "nothing is allocated");
    E(clGetPipeInfo, CL_INVALID_MEM_OBJECT, "a buffer", clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, ROOM, room, NULL));
    NEVER(clGetPipeInfo, CL_INVALID_VALUE, "there is no pipe to ask");
    clReleaseMemObject(buffer);
}

static void test_device_queues(void **state)
{
    cl_device_id wrong = (cl_device_id)queue;

    (void)state;
    E(clSetDefaultDeviceCommandQueue, CL_INVALID_CONTEXT, "another object",
      clSetDefaultDeviceCommandQueue((cl_context)queue, device, queue));
    E(clSetDefaultDeviceCommandQueue, CL_INVALID_DEVICE, "another object",
      clSetDefaultDeviceCommandQueue(context, wrong, queue));
    E(clSetDefaultDeviceCommandQueue, CL_INVALID_OPERATION, "a device without them",
      clSetDefaultDeviceCommandQueue(context, device, queue));
    NEVER(clSetDefaultDeviceCommandQueue, CL_INVALID_COMMAND_QUEUE, "there are none on the device");
}

#define SUB_GROUPS(of, on) \
    clGetKernelSubGroupInfo(of, on, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL, sizeof(size_t), room, NULL)

static void test_sub_groups(void **state)
{
    (void)state;
    E(clGetKernelSubGroupInfo, CL_INVALID_KERNEL, "another object", SUB_GROUPS((cl_kernel)queue, device));
    E(clGetKernelSubGroupInfo, CL_INVALID_DEVICE, "another object", SUB_GROUPS(kernel, (cl_device_id)queue));
    E(clGetKernelSubGroupInfo, CL_INVALID_OPERATION, "a device without them", SUB_GROUPS(kernel, device));
    E(clGetKernelSubGroupInfo, CL_INVALID_OPERATION, "the only device", SUB_GROUPS(kernel, NULL));
    NEVER(clGetKernelSubGroupInfo, CL_INVALID_VALUE, "nothing can be asked");
}

/* ---- Intermediate languages: CL_DEVICE_IL_VERSION is "" ---- */

static void CL_CALLBACK gone(cl_program of, void *data)
{
    (void)of;
    (void)data;
}

static void test_languages(void **state)
{
    size_t size = 7;

    (void)state;
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_IL_VERSION, ROOM, room, NULL), CL_SUCCESS);
    assert_string_equal(room, "");
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_ILS_WITH_VERSION, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, 0);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_IL, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, 0);
    E(clCreateProgramWithIL, CL_INVALID_CONTEXT, "another object",
      OF(clCreateProgramWithIL((cl_context)queue, room, ROOM, &code)));
    E(clCreateProgramWithIL, CL_INVALID_OPERATION, "no device that takes one",
      OF(clCreateProgramWithIL(context, room, ROOM, &code)));
    NEVER(clCreateProgramWithIL, CL_INVALID_VALUE, "no module is any better than others");
    E(clSetProgramSpecializationConstant, CL_INVALID_PROGRAM, "another object",
      clSetProgramSpecializationConstant((cl_program)queue, 0, 4, room));
    E(clSetProgramSpecializationConstant, CL_INVALID_OPERATION, "no device that takes one",
      clSetProgramSpecializationConstant(program, 0, 4, room));
    NEVER(clSetProgramSpecializationConstant, CL_COMPILER_NOT_AVAILABLE, "there is no such program");
    NEVER(clSetProgramSpecializationConstant, CL_INVALID_SPEC_ID, "there is no such program");
    NEVER(clSetProgramSpecializationConstant, CL_INVALID_VALUE, "there is no such program");
    E(clSetProgramReleaseCallback, CL_INVALID_PROGRAM, "another object",
      clSetProgramReleaseCallback((cl_program)queue, gone, NULL));
    E(clSetProgramReleaseCallback, CL_INVALID_OPERATION, "no device that takes one",
      clSetProgramReleaseCallback(program, gone, NULL));
    E(clSetProgramReleaseCallback, CL_INVALID_VALUE, "no callback", clSetProgramReleaseCallback(program, NULL, NULL));
}

/* ---- Timers and clones ---- */

static void test_timers(void **state)
{
    cl_ulong at, host;

    (void)state;
    E(clGetHostTimer, CL_INVALID_DEVICE, "another object", clGetHostTimer((cl_device_id)queue, &host));
    E(clGetHostTimer, CL_INVALID_VALUE, "no place", clGetHostTimer(device, NULL));
    NEVER(clGetHostTimer, CL_INVALID_OPERATION, "the platform has a host timer");
    E(clGetDeviceAndHostTimer, CL_INVALID_DEVICE, "another object",
      clGetDeviceAndHostTimer((cl_device_id)queue, &at, &host));
    E(clGetDeviceAndHostTimer, CL_INVALID_VALUE, "no place", clGetDeviceAndHostTimer(device, NULL, &host));
    E(clGetDeviceAndHostTimer, CL_INVALID_VALUE, "no place for the host's", clGetDeviceAndHostTimer(device, &at, NULL));
    NEVER(clGetDeviceAndHostTimer, CL_INVALID_OPERATION, "the platform has a host timer");
    E(clCloneKernel, CL_INVALID_KERNEL, "another object", OF(clCloneKernel((cl_kernel)queue, &code)));
}

/* ---- All ---- */

#define SVM                                                                              \
    "CL_INVALID_COMMAND_QUEUE CL_INVALID_OPERATION CL_INVALID_CONTEXT CL_INVALID_VALUE " \
    "CL_INVALID_EVENT_WAIT_LIST"

static void test_all_are_met(void **state)
{
    static const char *const rows[] = {
        "clEnqueueSVMFree CL_INVALID_COMMAND_QUEUE CL_INVALID_OPERATION CL_INVALID_VALUE CL_INVALID_EVENT_WAIT_LIST",
        "clEnqueueSVMMemcpy CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST CL_MEM_COPY_OVERLAP " SVM,
        "clEnqueueSVMMemFill " SVM,
        "clEnqueueSVMMap CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST " SVM,
        "clEnqueueSVMUnmap " SVM,
        "clEnqueueSVMMigrateMem " SVM,
        "clSetKernelArgSVMPointer CL_INVALID_KERNEL CL_INVALID_OPERATION CL_INVALID_ARG_INDEX CL_INVALID_ARG_VALUE",
        "clSetKernelExecInfo CL_INVALID_KERNEL CL_INVALID_OPERATION CL_INVALID_VALUE",
        "clCreatePipe CL_INVALID_CONTEXT CL_INVALID_OPERATION CL_INVALID_VALUE CL_INVALID_PIPE_SIZE "
        "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "clGetPipeInfo CL_INVALID_MEM_OBJECT CL_INVALID_VALUE",
        "clSetDefaultDeviceCommandQueue CL_INVALID_CONTEXT CL_INVALID_DEVICE CL_INVALID_OPERATION "
        "CL_INVALID_COMMAND_QUEUE",
        "clGetKernelSubGroupInfo CL_INVALID_KERNEL CL_INVALID_DEVICE CL_INVALID_OPERATION CL_INVALID_VALUE",
        "clCreateProgramWithIL CL_INVALID_CONTEXT CL_INVALID_OPERATION CL_INVALID_VALUE",
        "clSetProgramSpecializationConstant CL_INVALID_PROGRAM CL_INVALID_OPERATION CL_COMPILER_NOT_AVAILABLE "
        "CL_INVALID_SPEC_ID CL_INVALID_VALUE",
        "clSetProgramReleaseCallback CL_INVALID_PROGRAM CL_INVALID_OPERATION CL_INVALID_VALUE",
        "clGetHostTimer CL_INVALID_DEVICE CL_INVALID_VALUE CL_INVALID_OPERATION",
        "clGetDeviceAndHostTimer CL_INVALID_DEVICE CL_INVALID_VALUE CL_INVALID_OPERATION",
        "clCloneKernel CL_INVALID_KERNEL",
    };

    (void)state;
    check_list(rows, LENGTH(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svm),         cmocka_unit_test(test_pipes),     cmocka_unit_test(test_device_queues),
        cmocka_unit_test(test_sub_groups),  cmocka_unit_test(test_languages), cmocka_unit_test(test_timers),
        cmocka_unit_test(test_all_are_met),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
