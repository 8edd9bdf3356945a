/* Meeting vendors: which slots of a dispatch table are believed, what a device's identity is read from, and which
 * quirks go with which names. All with made-up vendors; the real ones are in vendor_test.c. */
#include "opencl/identity.h"
#include "opencl/quirks.h"

#include "test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct _cl_platform_id {
    const void *table;
};

static void *some_function(void)
{
    return NULL;
}

/* A table of which every slot up to `end` leads somewhere, and the byte behind it isn't readable. */
static void *table_ending_at(size_t end, void **pages, size_t *pages_size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (end + page - 1) / page * page;
    char *memory;

    *pages_size = size + page;
    memory = mmap(NULL, *pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    *pages = memory;
    assert_int_equal(mprotect(memory + size, page, PROT_NONE), 0);
    for (size_t at = size - end; at < size; at += sizeof(void *))
        *(void **)(memory + at) = (void *)some_function;
    return memory + size - end;
}

static void a_short_table_is_not_read_past_its_end(void **state)
{
    size_t pages_size;
    void *pages;
    /* OpenCL 1.2 ends here; so does oclgrind's table, as far as it is its own. */
    struct _cl_platform_id platform = {
        table_ending_at(offsetof(cl_icd_dispatch, clCreateCommandQueueWithProperties), &pages, &pages_size)};
    struct tsl_opencl_cl cl;

    (void)state;
    assert_false(tsl_opencl_is_icd2(&platform));
    tsl_opencl_cl_fill(&cl, &platform, NULL, 120);
    assert_non_null(cl.clEnqueueFillBuffer);
    assert_null(cl.clCreateCommandQueueWithProperties);
    assert_null(cl.clGetDeviceAndHostTimer);
    assert_null(tsl_opencl_cl_missing(&cl));
    tsl_opencl_cl_fill(&cl, &platform, NULL, 110);
    assert_null(cl.clEnqueueFillBuffer);
    assert_non_null(cl.clCreateUserEvent);
    munmap(pages, pages_size);
}

/* What lies behind OpenCL 1.0's end may be unreadable, or functions of other names. Those that have the right names are
 * the test FPGA's (api.fpga.old). */
static void one_that_says_1_0_is_believed_unless_its_functions_are_named(void **state)
{
    size_t pages_size;
    void *pages;
    struct _cl_platform_id platform = {
        table_ending_at(offsetof(cl_icd_dispatch, clSetEventCallback), &pages, &pages_size)};

    (void)state;
    assert_int_equal(tsl_opencl_cl_version(&platform, NULL, 100), 100);
    munmap(pages, pages_size);
    platform.table = table_ending_at(sizeof(cl_icd_dispatch), &pages, &pages_size);
    assert_int_equal(tsl_opencl_cl_version(&platform, NULL, 100), 100);
    assert_int_equal(tsl_opencl_cl_version(&platform, NULL, 120), 120);
    munmap(pages, pages_size);
}

static void a_device_older_than_its_platform_loses_functions(void **state)
{
    static cl_icd_dispatch table;
    struct _cl_platform_id platform = {&table};
    struct tsl_opencl_cl cl;

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(void *); i++)
        ((void **)&table)[i] = (void *)some_function;
    tsl_opencl_cl_fill(&cl, &platform, NULL, 300);
    assert_non_null(cl.clEnqueueFillBuffer);
    tsl_opencl_cl_limit(&cl, 110);
    assert_null(cl.clEnqueueFillBuffer);
    assert_null(tsl_opencl_cl_missing(&cl));
    memset(&table.clBuildProgram, 0, sizeof(void *));
    tsl_opencl_cl_fill(&cl, &platform, NULL, 300);
    assert_string_equal(tsl_opencl_cl_missing(&cl), "clBuildProgram");
}

static const char *last_asked;

static void *CL_API_CALL address_of(cl_platform_id platform, const char *name)
{
    assert_non_null(platform);
    last_asked = name;
    return strcmp(name, "clFlush") ? (void *)some_function : NULL;
}

static void an_icd_2_vendor_is_asked_for_each_function(void **state)
{
    static cl_icd_dispatch table;
    struct _cl_platform_id platform = {&table};
    intptr_t tag = CL_ICD2_TAG_KHR;
    struct tsl_opencl_cl cl;

    (void)state;
    assert_false(tsl_opencl_is_icd2(&platform));
    memcpy(&table.clGetPlatformIDs, &tag, sizeof(tag));
    assert_false(tsl_opencl_is_icd2(&platform));
    memcpy(&table.clUnloadCompiler, &tag, sizeof(tag));
    assert_true(tsl_opencl_is_icd2(&platform));
    tsl_opencl_cl_fill(&cl, &platform, address_of, 300);
    assert_non_null(last_asked);
    assert_true((void *)cl.clFinish == (void *)some_function);
    assert_null(cl.clFlush);
    assert_string_equal(tsl_opencl_cl_missing(&cl), "clFlush");
}

static void versions_are_numbers(void **state)
{
    (void)state;
    assert_int_equal(tsl_opencl_version("OpenCL 1.2 (Oclgrind 21.10)"), 120);
    assert_int_equal(tsl_opencl_version("OpenCL 3.0 PoCL 3.1+debian"), 300);
    assert_int_equal(tsl_opencl_version("OpenCL 1.0"), 100);
    assert_int_equal(tsl_opencl_version("OpenGL 4.5"), 0);
    assert_int_equal(tsl_opencl_version("OpenCL x"), 0);
    assert_int_equal(tsl_opencl_version(""), 0);
}

/* ---- Identity ---------------------------------------------------------------------------------------------------- */

static const struct answer {
    cl_device_info param;
    size_t size;
    const void *value;
} * answers;

static cl_int CL_API_CALL answer(cl_device_id device, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    (void)device;
    for (const struct answer *a = answers; a->size; a++) {
        if (a->param != param)
            continue;
        assert_true(size >= a->size);
        memcpy(value, a->value, a->size);
        *size_ret = a->size;
        return CL_SUCCESS;
    }
    return CL_INVALID_VALUE;
}

static struct tsl_identity identity(cl_device_type type, const char *extensions, const struct answer *list)
{
    struct tsl_opencl_cl cl = {.clGetDeviceInfo = answer};
    struct tsl_identity result;

    answers = list;
    tsl_opencl_identity(&cl, NULL, type, extensions, &result);
    return result;
}

static void expect_pci(const struct tsl_identity *i, unsigned domain, unsigned bus, unsigned device, unsigned function)
{
    assert_true(i->has_pci);
    assert_int_equal(i->pci_domain, domain);
    assert_int_equal(i->pci_bus, bus);
    assert_int_equal(i->pci_device, device);
    assert_int_equal(i->pci_function, function);
}

static void addresses_are_read_from_each_vendors_query(void **state)
{
    cl_device_pci_bus_info_khr khr = {1, 2, 3, 4};
    cl_device_topology_amd amd = {
        .pcie = {.type = CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD, .bus = (cl_char)0xc1, .function = 1}};
    cl_uint bus = 0x17, slot = (3 << 3) | 1, domain = 0x10000;
    cl_bool yes = CL_TRUE;
    const struct answer khr_says[] = {{CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(khr), &khr}, {.size = 0}};
    const struct answer amd_says[] = {{CL_DEVICE_TOPOLOGY_AMD, sizeof(amd), &amd}, {.size = 0}};
    const struct answer nv_says[] = {{0x4008, 4, &bus}, {0x4009, 4, &slot}, {0x400A, 4, &domain}, {.size = 0}};
    const struct answer intel_says[] = {{CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(yes), &yes}, {.size = 0}};
    struct tsl_identity i;

    (void)state;
    i = identity(CL_DEVICE_TYPE_GPU, "cl_khr_fp64 cl_khr_pci_bus_info", khr_says);
    expect_pci(&i, 1, 2, 3, 4);
    i = identity(CL_DEVICE_TYPE_GPU, "cl_amd_device_attribute_query cl_khr_fp64", amd_says);
    expect_pci(&i, 0, 0xc1, 0, 1);
    i = identity(CL_DEVICE_TYPE_GPU, "cl_nv_device_attribute_query", nv_says);
    expect_pci(&i, 0x10000, 0x17, 3, 1);
    i = identity(CL_DEVICE_TYPE_GPU, "cl_intel_device_attribute_query", intel_says);
    expect_pci(&i, 0, 0, 2, 0);
    /* Not asked without its extension: vendors have died of less. */
    i = identity(CL_DEVICE_TYPE_GPU, "cl_khr_pci_bus_info2", khr_says);
    assert_false(i.has_pci);
}

static void a_uuid_counts_unless_it_is_zero(void **state)
{
    uint8_t some[CL_UUID_SIZE_KHR] = {1, 2, 3}, zero[CL_UUID_SIZE_KHR] = {0};
    const struct answer some_says[] = {{CL_DEVICE_UUID_KHR, sizeof(some), some}, {.size = 0}};
    const struct answer zero_says[] = {{CL_DEVICE_UUID_KHR, sizeof(zero), zero}, {.size = 0}};
    struct tsl_identity i = identity(CL_DEVICE_TYPE_GPU, "cl_khr_device_uuid", some_says);

    (void)state;
    assert_true(i.has_uuid);
    assert_memory_equal(i.uuid, some, sizeof(some));
    assert_false(i.is_host_cpu);
    i = identity(CL_DEVICE_TYPE_CPU, "cl_khr_device_uuid", zero_says);
    assert_false(i.has_uuid);
    assert_true(i.is_host_cpu);
}

static void quirks_go_by_names(void **state)
{
    struct tsl_opencl_quirks basic = tsl_opencl_quirks("Portable Computing Language", "basic-skylake");
    struct tsl_opencl_quirks pthread = tsl_opencl_quirks("Portable Computing Language", "pthread-skylake");
    struct tsl_opencl_quirks rusticl = tsl_opencl_quirks("rusticl", "llvmpipe (LLVM 15.0.6, 256 bits)");
    struct tsl_opencl_quirks oclgrind = tsl_opencl_quirks("Oclgrind", "Oclgrind Simulator");
    struct tsl_opencl_quirks other = tsl_opencl_quirks("NVIDIA CUDA", "NVIDIA H200");

    (void)state;
    assert_true(basic.synchronous && oclgrind.synchronous);
    assert_false(pthread.synchronous || rusticl.synchronous || other.synchronous);
    assert_true(pthread.preference > rusticl.preference && rusticl.preference > oclgrind.preference);
    assert_true(other.preference > rusticl.preference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_table_is_not_read_past_its_end),
        cmocka_unit_test(one_that_says_1_0_is_believed_unless_its_functions_are_named),
        cmocka_unit_test(a_device_older_than_its_platform_loses_functions),
        cmocka_unit_test(an_icd_2_vendor_is_asked_for_each_function),
        cmocka_unit_test(versions_are_numbers),
        cmocka_unit_test(addresses_are_read_from_each_vendors_query),
        cmocka_unit_test(a_uuid_counts_unless_it_is_zero),
        cmocka_unit_test(quirks_go_by_names),
    };

    return cmocka_run_group_tests_name("vendor icd", tests, NULL, NULL);
}
