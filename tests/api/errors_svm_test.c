/* Each error that the specification lists for calls of shared virtual memory. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl */
/* timeout: 120 */
#include "errors.h"

#include <CL/cl_tesela.h>

enum { SIZE = 4096 };

static const char text[] = "kernel void set(global int *out, int value, local int *room) { *out = value; }";
static cl_device_id members[8];
static cl_uint n_members;
static cl_context bare; /* of a device without such memory */
static cl_command_queue bare_queue;
static cl_program program, bare_program;
static cl_kernel kernel, bare_kernel;
static char *region, plain[SIZE];

static cl_kernel make_kernel(cl_context of, cl_program *built)
{
    const char *line = text;

    *built = clCreateProgramWithSource(of, 1, &line, NULL, &code);
    assert_int_equal(clBuildProgram(*built, 0, NULL, "", NULL, NULL), CL_SUCCESS);
    return clCreateKernel(*built, "set", &code);
}

static void make_bare(void)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};

    assert_int_equal(clCreateSubDevices(our_device(), by_member, 8, members, &n_members), CL_SUCCESS);
    for (cl_uint i = 0; i < n_members && !bare; i++) {
        cl_device_svm_capabilities has = 1;

        clGetDeviceInfo(members[i], CL_DEVICE_SVM_CAPABILITIES, sizeof has, &has, NULL);
        if (has)
            continue;
        bare = clCreateContext(NULL, 1, &members[i], NULL, NULL, &code);
        bare_queue = clCreateCommandQueueWithProperties(bare, members[i], NULL, &code);
    }
    assert_non_null(bare_queue);
}

static int setup(void **state)
{
    (void)state;
    begin_errors(0);
    make_bare();
    kernel = make_kernel(context, &program);
    bare_kernel = make_kernel(bare, &bare_program);
    region = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
    return !kernel || !bare_kernel || !region;
}

static int teardown(void **state)
{
    (void)state;
    clSVMFree(context, region);
    clReleaseKernel(kernel);
    clReleaseKernel(bare_kernel);
    clReleaseProgram(program);
    clReleaseProgram(bare_program);
    clReleaseCommandQueue(bare_queue);
    clReleaseContext(bare);
    for (cl_uint i = 0; i < n_members; i++)
        clReleaseDevice(members[i]);
    end_errors();
    return 0;
}

static void test_allocation(void **state)
{
    cl_ulong most = 0;
    char *aligned = clSVMAlloc(context, CL_MEM_WRITE_ONLY, 1, 128);

    (void)state;
    assert_non_null(aligned);
    clSVMFree(context, aligned);
    clGetDeviceInfo(our_device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    assert_null(clSVMAlloc(NULL, CL_MEM_READ_WRITE, SIZE, 0));
    assert_null(clSVMAlloc((cl_context)queue, CL_MEM_READ_WRITE, SIZE, 0));
    assert_null(clSVMAlloc(bare, CL_MEM_READ_WRITE, SIZE, 0));
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, SIZE, 0));
    assert_null(clSVMAlloc(context, CL_MEM_USE_HOST_PTR, SIZE, 0));
    assert_null(clSVMAlloc(context, CL_MEM_SVM_ATOMICS, SIZE, 0));
    assert_null(clSVMAlloc(context, CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, SIZE, 0));
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0));
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, most + 1, 0));
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE_MAX, 0));
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 3));
    assert_null(clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 4096));
    clSVMFree(NULL, region);
    clSVMFree(other, region);
    clSVMFree(context, NULL);
    clSVMFree(context, region + 1);
    clSVMFree(context, plain);
}

static void test_frees(void **state)
{
    void *pointers[1] = {plain};

    (void)state;
    WAIT_LISTS(clEnqueueSVMFree, clEnqueueSVMFree(the_queue(), 1, pointers, NULL, NULL, n_list, list, NULL));
    E(clEnqueueSVMFree, CL_INVALID_OPERATION, "a device without it",
      clEnqueueSVMFree(bare_queue, 1, pointers, NULL, NULL, 0, NULL, NULL));
    E(clEnqueueSVMFree, CL_INVALID_VALUE, "pointers without a list",
      clEnqueueSVMFree(queue, 1, NULL, NULL, NULL, 0, NULL, NULL));
    E(clEnqueueSVMFree, CL_INVALID_VALUE, "a list of none",
      clEnqueueSVMFree(queue, 0, pointers, NULL, NULL, 0, NULL, NULL));
    /* What is none of ours stays. */
    assert_int_equal(clEnqueueSVMFree(queue, 1, pointers, NULL, NULL, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clFinish(queue), CL_SUCCESS);
}

static void test_copies(void **state)
{
    (void)state;
    WAIT_LISTS(clEnqueueSVMMemcpy, clEnqueueSVMMemcpy(the_queue(), CL_TRUE, region, plain, 64, n_list, list, NULL));
    AFTER_FAILED(clEnqueueSVMMemcpy, clEnqueueSVMMemcpy(queue, CL_TRUE, region, plain, 64, n_list, list, NULL));
    AFTER_FAILED(clEnqueueSVMMemcpy, clEnqueueSVMMemcpy(queue, CL_TRUE, plain, region, 64, n_list, list, NULL));
    E(clEnqueueSVMMemcpy, CL_INVALID_OPERATION, "a device without it",
      clEnqueueSVMMemcpy(bare_queue, CL_TRUE, plain, plain + 64, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemcpy, CL_INVALID_VALUE, "no target",
      clEnqueueSVMMemcpy(queue, CL_TRUE, NULL, plain, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemcpy, CL_INVALID_VALUE, "no source",
      clEnqueueSVMMemcpy(queue, CL_TRUE, region, NULL, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemcpy, CL_MEM_COPY_OVERLAP, "a byte in common",
      clEnqueueSVMMemcpy(queue, CL_TRUE, region, region + 63, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemcpy, CL_INVALID_VALUE, "more than the region has",
      clEnqueueSVMMemcpy(queue, CL_TRUE, region + SIZE - 32, plain, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemcpy, CL_MEM_COPY_OVERLAP, "all memory",
      clEnqueueSVMMemcpy(queue, CL_TRUE, plain, plain + 64, SIZE_MAX, 0, NULL, NULL));
    E(clEnqueueSVMMemcpy, CL_INVALID_VALUE, "beyond the last address",
      clEnqueueSVMMemcpy(queue, CL_TRUE, plain, (char *)UINTPTR_MAX - 8, 64, 0, NULL, NULL));
    assert_int_equal(clEnqueueSVMMemcpy(queue, CL_TRUE, region, region + 64, 64, 0, NULL, NULL), CL_SUCCESS);
}

static void test_fills(void **state)
{
    const cl_int four = 4;

    (void)state;
    WAIT_LISTS(clEnqueueSVMMemFill, clEnqueueSVMMemFill(the_queue(), region, &four, 4, 64, n_list, list, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_OPERATION, "a device without it",
      clEnqueueSVMMemFill(bare_queue, plain, &four, 4, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "nowhere", clEnqueueSVMMemFill(queue, NULL, &four, 4, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "no pattern",
      clEnqueueSVMMemFill(queue, region, NULL, 4, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "a pattern of three bytes",
      clEnqueueSVMMemFill(queue, region, &four, 3, 63, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "a pattern of none",
      clEnqueueSVMMemFill(queue, region, &four, 0, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "a pattern too large",
      clEnqueueSVMMemFill(queue, region, plain, 256, 256, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "half a pattern",
      clEnqueueSVMMemFill(queue, region, &four, 4, 62, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "not at a multiple of it",
      clEnqueueSVMMemFill(queue, region + 2, &four, 4, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "more than the region has",
      clEnqueueSVMMemFill(queue, region + SIZE - 32, &four, 4, 64, 0, NULL, NULL));
    E(clEnqueueSVMMemFill, CL_INVALID_VALUE, "beyond the last address",
      clEnqueueSVMMemFill(queue, plain, &four, 4, SIZE_MAX - 3, 0, NULL, NULL));
}

static void test_maps(void **state)
{
    (void)state;
    WAIT_LISTS(clEnqueueSVMMap, clEnqueueSVMMap(the_queue(), CL_TRUE, CL_MAP_READ, region, 64, n_list, list, NULL));
    AFTER_FAILED(clEnqueueSVMMap, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, region, 64, n_list, list, NULL));
    E(clEnqueueSVMMap, CL_INVALID_OPERATION, "a device without it",
      clEnqueueSVMMap(bare_queue, CL_TRUE, CL_MAP_READ, region, 64, 0, NULL, NULL));
    E(clEnqueueSVMMap, CL_INVALID_VALUE, "nothing",
      clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, NULL, 64, 0, NULL, NULL));
    E(clEnqueueSVMMap, CL_INVALID_VALUE, "no bytes",
      clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, region, 0, 0, NULL, NULL));
    E(clEnqueueSVMMap, CL_INVALID_VALUE, "no flags of a map",
      clEnqueueSVMMap(queue, CL_TRUE, (cl_map_flags)1 << 20, region, 64, 0, NULL, NULL));
    E(clEnqueueSVMMap, CL_INVALID_VALUE, "memory that isn't shared",
      clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, plain, 64, 0, NULL, NULL));
    E(clEnqueueSVMMap, CL_INVALID_VALUE, "more than the region has",
      clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, region + 1, SIZE, 0, NULL, NULL));
    WAIT_LISTS(clEnqueueSVMUnmap, clEnqueueSVMUnmap(the_queue(), region, n_list, list, NULL));
    E(clEnqueueSVMUnmap, CL_INVALID_OPERATION, "a device without it",
      clEnqueueSVMUnmap(bare_queue, region, 0, NULL, NULL));
    E(clEnqueueSVMUnmap, CL_INVALID_VALUE, "nothing", clEnqueueSVMUnmap(queue, NULL, 0, NULL, NULL));
    E(clEnqueueSVMUnmap, CL_INVALID_VALUE, "what isn't mapped", clEnqueueSVMUnmap(queue, region, 0, NULL, NULL));
    E(clEnqueueSVMUnmap, CL_INVALID_VALUE, "memory that isn't shared", clEnqueueSVMUnmap(queue, plain, 0, NULL, NULL));
}

static void test_migrations(void **state)
{
    const void *pointers[1] = {region}, *wrong[1] = {plain}, *none[1] = {NULL};
    const size_t sizes[1] = {SIZE}, more[1] = {SIZE + 1}, whole[1] = {0};

    (void)state;
    WAIT_LISTS(clEnqueueSVMMigrateMem, clEnqueueSVMMigrateMem(the_queue(), 1, pointers, sizes, 0, n_list, list, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_OPERATION, "a device without it",
      clEnqueueSVMMigrateMem(bare_queue, 1, pointers, sizes, 0, 0, NULL, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_VALUE, "none",
      clEnqueueSVMMigrateMem(queue, 0, pointers, NULL, 0, 0, NULL, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_VALUE, "no list",
      clEnqueueSVMMigrateMem(queue, 1, NULL, NULL, 0, 0, NULL, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_VALUE, "NULL in it",
      clEnqueueSVMMigrateMem(queue, 1, none, NULL, 0, 0, NULL, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_VALUE, "memory that isn't shared",
      clEnqueueSVMMigrateMem(queue, 1, wrong, NULL, 0, 0, NULL, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_VALUE, "more than the region has",
      clEnqueueSVMMigrateMem(queue, 1, pointers, more, 0, 0, NULL, NULL));
    E(clEnqueueSVMMigrateMem, CL_INVALID_VALUE, "no flags of a migration",
      clEnqueueSVMMigrateMem(queue, 1, pointers, NULL, 1 << 20, 0, NULL, NULL));
    assert_int_equal(clEnqueueSVMMigrateMem(queue, 1, pointers, whole, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void test_kernels(void **state)
{
    void *pointers[2] = {region, region + 100}, *wrong[1] = {plain};
    const cl_bool yes = CL_TRUE, no = CL_FALSE;

    (void)state;
    E(clSetKernelArgSVMPointer, CL_INVALID_KERNEL, "another object",
      clSetKernelArgSVMPointer((cl_kernel)queue, 0, region));
    E(clSetKernelArgSVMPointer, CL_INVALID_OPERATION, "no device with it",
      clSetKernelArgSVMPointer(bare_kernel, 0, region));
    E(clSetKernelArgSVMPointer, CL_INVALID_ARG_INDEX, "beyond the last", clSetKernelArgSVMPointer(kernel, 3, region));
    E(clSetKernelArgSVMPointer, CL_INVALID_ARG_VALUE, "memory that isn't shared",
      clSetKernelArgSVMPointer(kernel, 0, plain));
    E(clSetKernelArgSVMPointer, CL_INVALID_ARG_VALUE, "just behind it",
      clSetKernelArgSVMPointer(kernel, 0, region + SIZE));
    E(clSetKernelArgSVMPointer, CL_INVALID_ARG_VALUE, "no pointer", clSetKernelArgSVMPointer(kernel, 1, region));
    E(clSetKernelArgSVMPointer, CL_INVALID_ARG_VALUE, "local memory", clSetKernelArgSVMPointer(kernel, 2, region));
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, region + SIZE - 1), CL_SUCCESS);
    assert_int_equal(clSetKernelArgSVMPointer(kernel, 0, NULL), CL_SUCCESS);
    E(clSetKernelExecInfo, CL_INVALID_KERNEL, "another object",
      clSetKernelExecInfo((cl_kernel)queue, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    E(clSetKernelExecInfo, CL_INVALID_OPERATION, "no device with it",
      clSetKernelExecInfo(bare_kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
    E(clSetKernelExecInfo, CL_INVALID_VALUE, "no such information",
      clSetKernelExecInfo(kernel, 0x1234, sizeof pointers, pointers));
    E(clSetKernelExecInfo, CL_INVALID_VALUE, "half a pointer",
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 4, pointers));
    E(clSetKernelExecInfo, CL_INVALID_VALUE, "no pointers",
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, NULL));
    E(clSetKernelExecInfo, CL_INVALID_VALUE, "memory that isn't shared",
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof wrong, wrong));
    E(clSetKernelExecInfo, CL_INVALID_VALUE, "no truth value",
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 1, &yes));
    E(clSetKernelExecInfo, CL_INVALID_OPERATION, "memory of the system's, which isn't shared",
      clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes));
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof no, &no),
                     CL_SUCCESS);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers), CL_SUCCESS);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL), CL_SUCCESS);
}

/* ---- All ---- */

#define COMMAND                                                                          \
    "CL_INVALID_COMMAND_QUEUE CL_INVALID_OPERATION CL_INVALID_CONTEXT CL_INVALID_VALUE " \
    "CL_INVALID_EVENT_WAIT_LIST"

static void test_all_are_met(void **state)
{
    static const char *const rows[] = {
        "clEnqueueSVMFree " COMMAND,
        "clEnqueueSVMMemcpy CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST CL_MEM_COPY_OVERLAP " COMMAND,
        "clEnqueueSVMMemFill " COMMAND,
        "clEnqueueSVMMap CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST " COMMAND,
        "clEnqueueSVMUnmap " COMMAND,
        "clEnqueueSVMMigrateMem " COMMAND,
        "clSetKernelArgSVMPointer CL_INVALID_KERNEL CL_INVALID_OPERATION CL_INVALID_ARG_INDEX CL_INVALID_ARG_VALUE",
        "clSetKernelExecInfo CL_INVALID_KERNEL CL_INVALID_OPERATION CL_INVALID_VALUE",
    };

    (void)state;
    check_list(rows, LENGTH(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation), cmocka_unit_test(test_frees),       cmocka_unit_test(test_copies),
        cmocka_unit_test(test_fills),      cmocka_unit_test(test_maps),        cmocka_unit_test(test_migrations),
        cmocka_unit_test(test_kernels),    cmocka_unit_test(test_all_are_met),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
