/* The device: it is found, answers every query of OpenCL 3.0, and its answers are consistent. */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl */
/* variant: gpu TESELA_VENDORS={build}/vendors-pocl TESELA_DEVICE_TYPE=gpu */
/* variant: cpu TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu */
/* variant: copies TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_ZERO_COPY=off */
/* variant: named TESELA_VENDORS={build}/vendors-none TESELA_MEMBERS=cpu TESELA_DEVICE_NAME=fastest */
/* variant: pocl-oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind */
/* variant: beside TESELA_VENDORS={build}/vendors */
/* any: */

#include "device_queries.h"

#include <CL/cl_tesela.h>
#include <stdlib.h>

/* ---- Finding it ---- */

static void every_type_finds_it(void **state)
{
    static const cl_device_type types[] = {
        CL_DEVICE_TYPE_DEFAULT,     CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
        CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_CUSTOM,
    };
    (void)state;

    for (size_t i = 0; i < LENGTH(types); i++) {
        cl_device_id device = NULL;
        cl_uint n = 0;

        assert_int_equal(clGetDeviceIDs(our_platform(), types[i], 1, &device, &n), CL_SUCCESS);
        assert_int_equal(n, 1);
        assert_ptr_equal(device, our_device());
    }
}

static void what_is_no_request_is_refused(void **state)
{
    cl_platform_id platform = our_platform();
    cl_device_id device;
    cl_uint n;
    (void)state;

    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 1, &device, &n), CL_DEVICE_NOT_FOUND);
    assert_int_equal(clGetDeviceIDs(platform, (cl_device_type)-1, 1, &device, &n), CL_SUCCESS); /* an int's ALL */
    assert_int_equal(clGetDeviceIDs(platform, 0, 1, &device, &n), CL_INVALID_DEVICE_TYPE);
    assert_int_equal(clGetDeviceIDs(platform, 1 << 7, 1, &device, &n), CL_INVALID_DEVICE_TYPE);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &device, &n), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceIDs((cl_platform_id)our_device(), CL_DEVICE_TYPE_ALL, 1, &device, &n),
                     CL_INVALID_PLATFORM);
}

/* ---- Queries ---- */

static bool members_are_cpus(void)
{
    static const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_device_id subs[64];
    bool all = true;
    cl_uint n;

    assert_int_equal(clCreateSubDevices(our_device(), by_member, LENGTH(subs), subs, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n; i++) {
        cl_device_type type = 0;

        assert_int_equal(clGetDeviceInfo(subs[i], CL_DEVICE_TYPE, sizeof type, &type, NULL), CL_SUCCESS);
        all &= type == CL_DEVICE_TYPE_CPU;
        assert_int_equal(clReleaseDevice(subs[i]), CL_SUCCESS);
    }
    return all;
}

/* Programs tune themselves by it, and those for GPUs expect no group that no GPU takes. */
static void its_type_suits_what_it_takes(void **state)
{
    cl_device_type type = number(CL_DEVICE_TYPE);
    size_t sizes[3];
    (void)state;

    if (getenv("TESELA_DEVICE_TYPE"))
        assert_int_equal(type, CL_DEVICE_TYPE_GPU);
    else if (members_are_cpus()) /* Programs look into what they lent a CPU. */
        assert_int_equal(type, number(CL_DEVICE_HOST_UNIFIED_MEMORY) ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU);
    assert_true(type == CL_DEVICE_TYPE_GPU || type == CL_DEVICE_TYPE_CPU || type == CL_DEVICE_TYPE_ACCELERATOR);
    if (type != CL_DEVICE_TYPE_GPU)
        return;
    assert_in_range(number(CL_DEVICE_MAX_WORK_GROUP_SIZE), 1, 1024);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL),
                     CL_SUCCESS);
    for (int d = 0; d < 3; d++)
        assert_in_range(sizes[d], 1, 1024);
}

/* Every processor that we run on has registers of 16 bytes at least. */
static void the_widths_of_a_cpu_are_its_registers(void **state)
{
    (void)state;
    if (number(CL_DEVICE_TYPE) != CL_DEVICE_TYPE_CPU)
        return;
    assert_int_equal(number(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR), 16);
    assert_in_range(number(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT), 4, 16);
    assert_in_range(number(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT), 4, 16);
    assert_in_range(number(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG), 2, 8);
}

/* That of the PCI vendor whom the fastest member, here one of them, names; else our own. */
static void assert_vendors_number(void)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    cl_uint found = (cl_uint)number(CL_DEVICE_VENDOR_ID), theirs = 0, n = 0;
    cl_device_id subs[8];
    bool is_one = false;

    assert_int_equal(clCreateSubDevices(our_device(), by_member, 8, subs, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n && i < 8; i++) {
        assert_int_equal(clGetDeviceInfo(subs[i], CL_DEVICE_VENDOR_ID, sizeof theirs, &theirs, NULL), CL_SUCCESS);
        is_one |= theirs == found && theirs > 0 && theirs <= 0xffff;
        assert_int_equal(clReleaseDevice(subs[i]), CL_SUCCESS);
    }
    assert_true(is_one || found == 0x54534c);
}

/* By TESELA_DEVICE_NAME those of the only member, whose sub-device has the same vendor and a longer name. */
static void has_the_name_that_it_should(void **state)
{
    const cl_device_partition_property by_member[] = {CL_DEVICE_PARTITION_BY_MEMBER_TESELA, 0};
    char text[1000], own[1000];
    cl_device_id sub;
    cl_uint number_of_vendor;
    (void)state;

    get_text(CL_DEVICE_NAME, text);
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_VENDOR, 1, own, NULL), CL_INVALID_VALUE);
    if (!getenv("TESELA_DEVICE_NAME")) {
        assert_string_equal(text, "Tesela virtual device");
        get_text(CL_DEVICE_VENDOR, text);
        assert_string_equal(text, "Tesela");
        assert_vendors_number();
        return;
    }
    assert_int_equal(clCreateSubDevices(our_device(), by_member, 1, &sub, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceInfo(sub, CL_DEVICE_NAME, sizeof own, own, NULL), CL_SUCCESS);
    assert_memory_equal(text, own, strlen(text));
    get_text(CL_DEVICE_VENDOR, text);
    assert_int_equal(clGetDeviceInfo(sub, CL_DEVICE_VENDOR, sizeof own, own, NULL), CL_SUCCESS);
    assert_string_equal(text, own);
    assert_int_equal(clGetDeviceInfo(sub, CL_DEVICE_VENDOR_ID, sizeof number_of_vendor, &number_of_vendor, NULL),
                     CL_SUCCESS);
    assert_int_equal(number(CL_DEVICE_VENDOR_ID), number_of_vendor);
    assert_int_equal(clReleaseDevice(sub), CL_SUCCESS);
}

static void says_what_it_is(void **state)
{
    char text[1000];
    (void)state;

    assert_ptr_equal((void *)number(CL_DEVICE_PLATFORM), our_platform());
    get_text(CL_DEVICE_VERSION, text);
    assert_memory_equal(text, "OpenCL 3.0 Tesela ", 18);
    get_text(CL_DEVICE_OPENCL_C_VERSION, text);
    assert_memory_equal(text, "OpenCL C 1.", 11);
    assert_int_equal(number(CL_DEVICE_NUMERIC_VERSION), CL_MAKE_VERSION(3, 0, 0));
    assert_int_equal(number(CL_DEVICE_PARENT_DEVICE), 0);
    assert_int_equal(number(CL_DEVICE_REFERENCE_COUNT), 1);
}

/* OpenCL 3.0, table 5, for the full profile. */
static void keeps_the_minimums(void **state)
{
    cl_ulong global = number(CL_DEVICE_GLOBAL_MEM_SIZE);
    cl_ulong largest = global / 4 < 1 << 30 ? global / 4 : 1 << 30;
    (void)state;

    assert_true(number(CL_DEVICE_MAX_COMPUTE_UNITS) >= 1);
    assert_true(number(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) >= 3);
    assert_true(number(CL_DEVICE_MAX_WORK_GROUP_SIZE) >= 1);
    assert_true(number(CL_DEVICE_MAX_MEM_ALLOC_SIZE) >= (largest > 32 << 20 ? largest : 32 << 20));
    assert_true(number(CL_DEVICE_MAX_MEM_ALLOC_SIZE) <= global);
    assert_true(number(CL_DEVICE_MAX_PARAMETER_SIZE) >= 1024);
    assert_true(number(CL_DEVICE_MEM_BASE_ADDR_ALIGN) >= 8 * sizeof(cl_long16));
    assert_true(number(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >= 64 << 10);
    assert_true(number(CL_DEVICE_MAX_CONSTANT_ARGS) >= 8);
    assert_true(number(CL_DEVICE_LOCAL_MEM_SIZE) >= 32 << 10);
    assert_true(number(CL_DEVICE_PRINTF_BUFFER_SIZE) >= 1 << 20);
    assert_true(number(CL_DEVICE_AVAILABLE));
    assert_true(number(CL_DEVICE_COMPILER_AVAILABLE));
    assert_true(number(CL_DEVICE_LINKER_AVAILABLE));
    assert_true(number(CL_DEVICE_ENDIAN_LITTLE));
    assert_true(number(CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_ROUND_TO_NEAREST);
    assert_true(number(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES) & CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
    assert_true(number(CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_KERNEL);
    assert_true(number(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) & CL_QUEUE_PROFILING_ENABLE);
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += length)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* What depends on each other is not contradictory. */
static void answers_fit_together(void **state)
{
    cl_name_version versions[64];
    size_t sizes[3], size;
    char text[1000];
    (void)state;

    get_text(CL_DEVICE_EXTENSIONS, text);
    assert_true(has_word(text, "cl_khr_icd"));
    assert_int_equal(has_word(text, "cl_khr_fp64"), number(CL_DEVICE_DOUBLE_FP_CONFIG) != 0);
    assert_int_equal(has_word(text, "cl_khr_fp64"), number(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE) != 0);
    assert_int_equal(has_word(text, "cl_khr_fp16"), number(CL_DEVICE_HALF_FP_CONFIG) != 0);
    assert_false(has_word(text, "cl_khr_gl_sharing"));
    assert_false(has_word(text, "cl_khr_subgroups"));
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof versions, versions, &size),
                     CL_SUCCESS);
    for (size_t i = 0; i < size / sizeof *versions; i++)
        assert_true(has_word(text, versions[i].name));
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL),
                     CL_SUCCESS);
    for (int d = 0; d < 3; d++)
        assert_true(sizes[d] >= 1);
    assert_int_equal(number(CL_DEVICE_IMAGE_SUPPORT), number(CL_DEVICE_MAX_READ_IMAGE_ARGS) != 0);
    assert_int_equal(number(CL_DEVICE_IMAGE_SUPPORT), number(CL_DEVICE_IMAGE2D_MAX_WIDTH) != 0);
    assert_false(number(CL_DEVICE_SVM_CAPABILITIES) & (CL_DEVICE_SVM_FINE_GRAIN_SYSTEM | CL_DEVICE_SVM_ATOMICS));
}

static void basics_of_all_members_are_reported(void **state)
{
    cl_name_version versions[16];
    char text[1000];
    size_t size;
    (void)state;

    get_text(CL_DEVICE_EXTENSIONS, text);
    assert_true(has_word(text, "cl_khr_byte_addressable_store"));
    assert_true(has_word(text, "cl_khr_global_int32_base_atomics"));
    assert_true(has_word(text, "cl_khr_local_int32_extended_atomics"));
    assert_int_equal(clGetDeviceInfo(our_device(), CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof versions, versions, &size),
                     CL_SUCCESS);
    assert_true(size >= 3 * sizeof *versions);
    assert_int_equal(versions[2].version, CL_MAKE_VERSION(1, 2, 0));
}

/* ---- Lives and parts ---- */

static void roots_are_not_counted(void **state)
{
    cl_device_id device = our_device();
    (void)state;

    assert_int_equal(clRetainDevice(device), CL_SUCCESS);
    assert_int_equal(number(CL_DEVICE_REFERENCE_COUNT), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(clReleaseDevice(device), CL_SUCCESS);
    assert_int_equal(number(CL_DEVICE_REFERENCE_COUNT), 1);
    assert_int_equal(clRetainDevice((cl_device_id)our_platform()), CL_INVALID_DEVICE);
    assert_int_equal(clReleaseDevice((cl_device_id)our_platform()), CL_INVALID_DEVICE);
    assert_int_equal(clGetDeviceInfo((cl_device_id)our_platform(), CL_DEVICE_NAME, 0, NULL, NULL), CL_INVALID_DEVICE);
}

static void is_partitioned_by_member_alone(void **state)
{
    static const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint n = 77;
    (void)state;

    assert_int_equal(number(CL_DEVICE_PARTITION_PROPERTIES), CL_DEVICE_PARTITION_BY_MEMBER_TESELA);
    assert_int_equal(clCreateSubDevices(our_device(), equally, 0, NULL, &n), CL_INVALID_VALUE);
    assert_int_equal(clCreateSubDevices((cl_device_id)our_platform(), equally, 0, NULL, &n), CL_INVALID_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_finds_it),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(every_query_is_answered),
        cmocka_unit_test(its_type_suits_what_it_takes),
        cmocka_unit_test(the_widths_of_a_cpu_are_its_registers),
        cmocka_unit_test(has_the_name_that_it_should),
        cmocka_unit_test(says_what_it_is),
        cmocka_unit_test(keeps_the_minimums),
        cmocka_unit_test(answers_fit_together),
        cmocka_unit_test(basics_of_all_members_are_reported),
        cmocka_unit_test(roots_are_not_counted),
        cmocka_unit_test(is_partitioned_by_member_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
