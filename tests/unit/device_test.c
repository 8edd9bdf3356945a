/* The rules by which the virtual device's answers come from its members: docs/user/limits.md. */
/* variant: all */
/* variant: fastest TESELA_LIMITS=fastest TESELA_DEVICE_TYPE=accelerator */
#include "device/device.h"
#include "device/device_facts.h"

#include "base/settings.h"
#include "test.h"

#include <string.h>

/* ---- Members that answer from a list ---- */

struct answer {
    cl_device_info param; /* 0 ends the list */
    cl_ulong number;
    const char *text; /* if not NULL: the answer */
    const cl_name_version *names;
    size_t n_names;
    const size_t *sizes; /* three of them */
};

static cl_int give(const void *data, size_t data_size, size_t size, void *value, size_t *size_ret)
{
    const struct tsl_info info = {size, value, size_ret};

    return tsl_info_bytes(&info, data, data_size);
}

static cl_int answer(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    for (const struct answer *a = path->priv; a->param; a++) {
        if (a->param != param)
            continue;
        if (a->text)
            return give(a->text, strlen(a->text) + 1, size, value, size_ret);
        if (a->names)
            return give(a->names, a->n_names * sizeof *a->names, size, value, size_ret);
        if (a->sizes)
            return give(a->sizes, 3 * sizeof *a->sizes, size, value, size_ret);
        return give(&a->number, size < sizeof a->number ? size : sizeof a->number, size, value, size_ret);
    }
    return CL_INVALID_VALUE;
}

static const struct tsl_driver driver = {.name = "list", .info = answer};

static const cl_name_version features[] = {
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_images"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_program_scope_global_variables"},
};
static const cl_name_version c_versions[] = {
    {CL_MAKE_VERSION(1, 0, 0), "OpenCL C"}, {CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
    {CL_MAKE_VERSION(1, 2, 0), "OpenCL C"}, {CL_MAKE_VERSION(2, 0, 0), "OpenCL C"},
    {CL_MAKE_VERSION(3, 0, 5), "OpenCL C"},
};

static const struct answer big_answers[] = {
    {CL_DEVICE_MAX_COMPUTE_UNITS, 100, 0, 0, 0, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 1, 0, 0, 0, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4, 0, 0, 0, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 2, 0, 0, 0, 0},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, 1024, 0, 0, 0, 0},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, 0, 0, 0, 0, (const size_t[]){1024, 64, 1024}},
    {CL_DEVICE_LOCAL_MEM_SIZE, 48 << 10, 0, 0, 0, 0},
    {CL_DEVICE_LOCAL_MEM_TYPE, CL_LOCAL, 0, 0, 0, 0},
    {CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_FMA, 0, 0, 0, 0},
    {CL_DEVICE_DOUBLE_FP_CONFIG, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_FMA, 0, 0, 0, 0},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 32, 0, 0, 0, 0},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE, 0, 0, 0, 0},
    {CL_DEVICE_AVAILABLE, CL_TRUE, 0, 0, 0, 0},
    {CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE, 0, 0, 0, 0},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, 0x7f, 0, 0, 0, 0},
    {CL_DEVICE_VERSION, 0, "OpenCL 3.0 big", 0, 0, 0},
    {CL_DEVICE_OPENCL_C_VERSION, 0, "OpenCL C 2.0 big", 0, 0, 0},
    {CL_DEVICE_EXTENSIONS, 0, "cl_khr_fp64 cl_big_secret cl_khr_fp16 cl_khr_byte_addressable_store", 0, 0, 0},
    {CL_DEVICE_OPENCL_C_FEATURES, 0, 0, features, 4, 0},
    {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, 65536, 0, 0, 0, 0},
    {CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0, 0, c_versions, 5, 0},
    {0, 0, 0, 0, 0, 0},
};
static const struct answer small_answers[] = {
    {CL_DEVICE_MAX_COMPUTE_UNITS, 4, 0, 0, 0, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 8, 0, 0, 0, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 16, 0, 0, 0, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 0, 0, 0, 0, 0},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, 4096, 0, 0, 0, 0},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, 0, 0, 0, 0, (const size_t[]){512, 4096, 4096}},
    {CL_DEVICE_LOCAL_MEM_SIZE, 512 << 10, 0, 0, 0, 0},
    {CL_DEVICE_LOCAL_MEM_TYPE, CL_GLOBAL, 0, 0, 0, 0},
    {CL_DEVICE_SINGLE_FP_CONFIG, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM, 0, 0, 0, 0},
    {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 8, 0, 0, 0, 0},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, CL_TRUE, 0, 0, 0, 0},
    {CL_DEVICE_AVAILABLE, CL_TRUE, 0, 0, 0, 0},
    /* An OpenCL 1.2 device, which knows neither features nor lists of versions. The second extension has a known one's
     * name at its beginning. */
    {CL_DEVICE_VERSION, 0, "OpenCL 1.2 small", 0, 0, 0},
    {CL_DEVICE_PROFILE, 0, "FULL_PROFILE", 0, 0, 0},
    {CL_DEVICE_OPENCL_C_VERSION, 0, "OpenCL C 1.2 ", 0, 0, 0},
    {CL_DEVICE_EXTENSIONS, 0, " cl_khr_byte_addressable_store  cl_khr_fp16_extras cl_big_secret ", 0, 0, 0},
    {0, 0, 0, 0, 0, 0},
};
static const struct answer old_answers[] = {
    {CL_DEVICE_VERSION, 0, "OpenCL 1.1 old", 0, 0, 0},
    {CL_DEVICE_OPENCL_C_VERSION, 0, "OpenCL C 1.1 ", 0, 0, 0},
    {0, 0, 0, 0, 0, 0},
};
static const struct answer board_answers[] = {
    {CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE, 0, 0, 0, 0}, {CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 0, 0, 0, 0},
    {CL_DEVICE_VERSION, 0, "OpenCL 1.0 board", 0, 0, 0},  {CL_DEVICE_OPENCL_C_VERSION, 0, "OpenCL C 1.0 ", 0, 0, 0},
    {CL_DEVICE_EXTENSIONS, 0, "cl_khr_icd", 0, 0, 0},     {0, 0, 0, 0, 0, 0},
};
/* Two with images: both what the other lacks. */
static const struct answer flat_answers[] = {
    {CL_DEVICE_VERSION, 0, "OpenCL 1.2 flat", 0, 0, 0}, {CL_DEVICE_EXTENSIONS, 0, "cl_khr_depth_images", 0, 0, 0},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, 64, 0, 0, 0, 0},    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 0, 0, 0, 0, 0},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 0, 0, 0, 0, 0},   {0, 0, 0, 0, 0, 0},
};
static const struct answer deep_answers[] = {
    {CL_DEVICE_VERSION, 0, "OpenCL 1.2 deep", 0, 0, 0},
    {CL_DEVICE_EXTENSIONS, 0, "cl_khr_3d_image_writes cl_khr_image2d_from_buffer", 0, 0, 0},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, 128, 0, 0, 0, 0},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 32, 0, 0, 0, 0},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 16, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0},
};

static const struct tsl_path flat_path = {.priv = (void *)flat_answers};
static const struct tsl_path deep_path = {.priv = (void *)deep_answers};
static const struct tsl_path board_path = {.priv = (void *)board_answers, .type = CL_DEVICE_TYPE_ACCELERATOR};
static const struct tsl_path big_path = {.priv = (void *)big_answers, .type = CL_DEVICE_TYPE_GPU};
static const struct tsl_path small_path = {.priv = (void *)small_answers, .type = CL_DEVICE_TYPE_CPU};
static const struct tsl_path old_path = {.priv = (void *)old_answers};
static struct tsl_member big = {
    .driver = &driver,
    .path = &big_path,
    .caps = {.memory_size = 80ull << 30, .max_alloc_size = 20ull << 30, .base_align = 512, .speed = 10}};
static struct tsl_member small = {
    .driver = &driver,
    .path = &small_path,
    .caps = {
        .memory_size = 16ull << 30, .max_alloc_size = 8ull << 30, .base_align = 128, .speed = 1, .zero_copy = true}};
static struct tsl_member board = {.driver = &driver, .path = &board_path, .caps = {.speed = 0.1}};
static struct tsl_member flat = {
    .driver = &driver, .path = &flat_path, .caps = {.speed = 2, .images = {.n_read_args = 64}}};
static struct tsl_member deep = {
    .driver = &driver, .path = &deep_path, .caps = {.speed = 1, .images = {.n_read_args = 128}}};
static struct tsl_member old = {.driver = &driver, .path = &old_path, .caps = {.speed = 1}};

static struct tsl_device_facts *facts_of(struct tsl_member *a, struct tsl_member *b)
{
    struct tsl_member *const members[] = {a, b};
    struct tsl_device_facts *facts = tsl_device_facts_create(members, b ? 2 : a ? 1 : 0);

    assert_non_null(facts);
    return facts;
}

static cl_ulong number(const struct tsl_device_facts *facts, cl_device_info param)
{
    const struct tsl_number_row *row = tsl_number_row(param);

    assert_non_null(row);
    return tsl_number_value(row, facts);
}

static void assert_names(const struct tsl_names *names, const char *expected)
{
    const struct tsl_info size_only = {0, NULL, &(size_t){0}};
    char text[1000];
    const struct tsl_info info = {sizeof text, text, NULL};

    assert_int_equal(tsl_names_answer_text(names, ' ', &size_only), CL_SUCCESS);
    assert_int_equal(*size_only.size_ret, strlen(expected) + 1);
    assert_int_equal(tsl_names_answer_text(names, ' ', &info), CL_SUCCESS);
    assert_string_equal(text, expected);
}

#define OWN                                                                                 \
    "cl_khr_icd cl_khr_extended_versioning cl_khr_create_command_queue cl_khr_device_uuid " \
    "cl_khr_suggested_local_work_size cl_tesela_members cl_tesela_variants cl_tesela_queue_policy"

/* ---- Tests ---- */

static void numbers_follow_their_rules(void **state)
{
    struct tsl_device_facts *facts = facts_of(&big, &small);
    (void)state;

    assert_int_equal(number(facts, CL_DEVICE_MAX_COMPUTE_UNITS), 104);
    assert_int_equal(number(facts, CL_DEVICE_MAX_WORK_GROUP_SIZE), 1024);
    assert_int_equal(facts->work_item_sizes[0], 512);
    assert_int_equal(facts->work_item_sizes[1], 64);
    assert_int_equal(facts->work_item_sizes[2], 1024);
    assert_int_equal(number(facts, CL_DEVICE_LOCAL_MEM_SIZE), 48 << 10);
    assert_int_equal(number(facts, CL_DEVICE_LOCAL_MEM_TYPE), CL_GLOBAL);
    assert_int_equal(number(facts, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 32);
    assert_int_equal(number(facts, CL_DEVICE_HOST_UNIFIED_MEMORY), CL_FALSE);
    assert_int_equal(number(facts, CL_DEVICE_AVAILABLE), CL_TRUE);
    assert_int_equal(number(facts, CL_DEVICE_SINGLE_FP_CONFIG), CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN);
    tsl_device_facts_destroy(facts);
}

static void a_member_with_copies_has_no_unified_memory(void **state)
{
    struct tsl_member member = small;
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        member.caps.zero_copy = i;
        struct tsl_device_facts *facts = facts_of(&member, NULL);
        assert_int_equal(number(facts, CL_DEVICE_HOST_UNIFIED_MEMORY), i ? CL_TRUE : CL_FALSE);
        tsl_device_facts_destroy(facts);
    }
}

static void memory_is_what_the_drivers_allocate_by(void **state)
{
    struct tsl_device_facts *facts = facts_of(&big, &small);
    (void)state;

    assert_int_equal(number(facts, CL_DEVICE_GLOBAL_MEM_SIZE), 16ull << 30);
    assert_int_equal(number(facts, CL_DEVICE_MAX_MEM_ALLOC_SIZE), 8ull << 30);
    assert_int_equal(number(facts, CL_DEVICE_MEM_BASE_ADDR_ALIGN), 512 * 8);
    tsl_device_facts_destroy(facts);
}

/* Who can't tell has no double, the least atomics, and the constant memory that every device must have. */
static void silence_counts_as_the_least(void **state)
{
    struct tsl_device_facts *facts = facts_of(&big, &small);
    (void)state;

    assert_int_equal(number(facts, CL_DEVICE_DOUBLE_FP_CONFIG), 0);
    assert_int_equal(number(facts, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES),
                     CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP);
    assert_int_equal(number(facts, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE), 64 << 10);
    tsl_device_facts_destroy(facts);
}

static void names_are_what_all_have(void **state)
{
    struct tsl_device_facts *facts = facts_of(&big, &small);
    (void)state;

    assert_names(facts->extensions, OWN " cl_khr_byte_addressable_store");
    /* The small one is older than features' names, and compiles OpenCL C 3.0 as 1.2. */
    assert_names(facts->c_features, "__opencl_c_int64");
    assert_int_equal(facts->c_versions->n, 4);
    assert_int_equal(facts->c_versions->items[3].version, CL_MAKE_VERSION(3, 0, 0));
    assert_int_equal(facts->c_version, CL_MAKE_VERSION(1, 2, 0));
    assert_int_equal(facts->version, CL_MAKE_VERSION(3, 0, 0));
    tsl_device_facts_destroy(facts);
}

/* What runs no source doesn't say how that may be written; what is launched there counts. */
static void the_language_is_that_of_compilers(void **state)
{
    struct tsl_device_facts *one = facts_of(&big, NULL), *two = facts_of(&big, &board), *alone = facts_of(&board, NULL);
    (void)state;

    assert_int_equal(two->version, CL_MAKE_VERSION(3, 0, 0));
    assert_int_equal(two->c_version, one->c_version);
    assert_int_equal(two->extensions->n, one->extensions->n);
    assert_int_equal(two->c_features->n, one->c_features->n);
    assert_int_equal(number(two, CL_DEVICE_DOUBLE_FP_CONFIG), number(one, CL_DEVICE_DOUBLE_FP_CONFIG));
    assert_int_not_equal(number(two, CL_DEVICE_DOUBLE_FP_CONFIG), 0);
    assert_int_equal(number(two, CL_DEVICE_MAX_WORK_GROUP_SIZE), 8);
    assert_int_equal(number(two, CL_DEVICE_COMPILER_AVAILABLE), CL_TRUE);
    assert_int_equal(alone->version, CL_MAKE_VERSION(1, 0, 0));
    assert_int_equal(number(alone, CL_DEVICE_DOUBLE_FP_CONFIG), 0);
    tsl_device_facts_destroy(one);
    tsl_device_facts_destroy(two);
    tsl_device_facts_destroy(alone);
}

/* An image goes to the members that have its like, so one of them is enough. */
static void images_are_what_one_has(void **state)
{
    struct tsl_device_facts *facts = facts_of(&flat, &deep);
    (void)state;

    assert_names(facts->extensions, OWN " cl_khr_3d_image_writes cl_khr_depth_images cl_khr_image2d_from_buffer");
    assert_int_equal(number(facts, CL_DEVICE_MAX_READ_IMAGE_ARGS), 64);
    assert_int_equal(number(facts, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS), 32);
    assert_int_equal(number(facts, CL_DEVICE_IMAGE_PITCH_ALIGNMENT), 16);
    tsl_device_facts_destroy(facts);
    facts = facts_of(&flat, &small);
    assert_int_equal(number(facts, CL_DEVICE_IMAGE_PITCH_ALIGNMENT), 0);
    tsl_device_facts_destroy(facts);
}

/* The same of the same members, another of others; the driver's is another than the device's. */
static void uuids_tell_devices_apart(void **state)
{
    struct tsl_device_facts *both = facts_of(&big, &small), *again = facts_of(&big, &small),
                            *one = facts_of(&big, NULL);
    (void)state;

    assert_memory_equal(both->uuid, again->uuid, CL_UUID_SIZE_KHR);
    assert_memory_not_equal(both->uuid, one->uuid, CL_UUID_SIZE_KHR);
    assert_memory_not_equal(both->uuid, both->driver_uuid, CL_UUID_SIZE_KHR);
    assert_memory_equal(both->driver_uuid, one->driver_uuid, CL_UUID_SIZE_KHR);
    tsl_device_facts_destroy(both);
    tsl_device_facts_destroy(again);
    tsl_device_facts_destroy(one);
}

/* Who keeps binaries by it makes new ones when a member or its driver is another. */
static void the_drivers_version_tells_members_apart(void **state)
{
    struct tsl_path newer = *small.path, rebuilt = *small.path;
    struct tsl_member renewed = small, recompiled = small;
    struct tsl_device_facts *both = facts_of(&big, &small), *again = facts_of(&big, &small),
                            *one = facts_of(&big, NULL), *other, *compiled;
    (void)state;

    rebuilt.compiler = 1;
    recompiled.path = &rebuilt;
    compiled = facts_of(&big, &recompiled);
    newer.driver_version = "another";
    renewed.path = &newer;
    other = facts_of(&big, &renewed);
    assert_int_equal(strncmp(both->driver_version, TESELA_VERSION " (", strlen(TESELA_VERSION " (")), 0);
    assert_string_equal(both->driver_version, again->driver_version);
    assert_string_not_equal(both->driver_version, one->driver_version);
    assert_string_not_equal(both->driver_version, other->driver_version);
    assert_string_not_equal(both->driver_version, compiled->driver_version);
    tsl_device_facts_destroy(compiled);
    tsl_device_facts_destroy(both);
    tsl_device_facts_destroy(again);
    tsl_device_facts_destroy(one);
    tsl_device_facts_destroy(other);
}

static bool reports_pci(const struct tsl_identity *a, const struct tsl_identity *b)
{
    struct tsl_path first = *big.path, second = *small.path;
    struct tsl_member one = big, two = small;
    struct tsl_device_facts *facts;
    bool has;

    first.identity = *a;
    second.identity = *b;
    one.path = &first;
    two.path = &second;
    facts = facts_of(&one, &two);
    has = facts->has_pci;
    for (unsigned i = 0, found = 0; i < facts->extensions->n; i++) {
        found += !strcmp(facts->extensions->items[i].name, "cl_khr_pci_bus_info");
        if (i + 1 == facts->extensions->n)
            assert_int_equal(found, has);
    }
    if (has)
        assert_int_equal(facts->pci.pci_bus, a->pci_bus);
    tsl_device_facts_destroy(facts);
    return has;
}

/* Only where all members are one and the same card. */
static void one_card_has_an_address(void **state)
{
    const struct tsl_identity none = {0}, here = {.has_pci = true, .pci_bus = 3},
                              there = {.has_pci = true, .pci_bus = 3, .pci_function = 1};

    (void)state;
    assert_true(reports_pci(&here, &here));
    assert_false(reports_pci(&here, &there));
    assert_false(reports_pci(&here, &none));
    assert_false(reports_pci(&none, &none));
}

static void opencl_c_3_needs_a_member_that_has_it(void **state)
{
    struct tsl_device_facts *facts = facts_of(&small, NULL);
    (void)state;

    assert_names(facts->c_features, "");
    assert_int_equal(facts->c_versions->n, 3);
    assert_int_equal(facts->version, CL_MAKE_VERSION(1, 2, 0));
    tsl_device_facts_destroy(facts);
}

/* Not even alone may a member bring what Tesela doesn't know to work through it. */
static void only_known_names_pass(void **state)
{
    struct tsl_device_facts *facts = facts_of(&big, NULL);
    (void)state;

    assert_names(facts->extensions, OWN " cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_fp16");
    assert_names(facts->c_features, "__opencl_c_int64 __opencl_c_fp64 __opencl_c_program_scope_global_variables");
    assert_int_equal(facts->c_versions->n, 4);
    assert_int_equal(facts->c_versions->items[3].version, CL_MAKE_VERSION(3, 0, 0));
    assert_int_equal(facts->c_version, CL_MAKE_VERSION(1, 2, 0));
    assert_int_equal(number(facts, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES), 0x3f);
    tsl_device_facts_destroy(facts);
}

static void an_old_member_lowers_the_version(void **state)
{
    struct tsl_device_facts *facts = facts_of(&big, &old);
    (void)state;

    assert_int_equal(facts->version, CL_MAKE_VERSION(1, 1, 0));
    assert_int_equal(facts->c_version, CL_MAKE_VERSION(1, 1, 0));
    tsl_device_facts_destroy(facts);
}

static void no_member_leaves_a_device_that_is_not_available(void **state)
{
    struct tsl_device_facts *facts = facts_of(NULL, NULL);
    (void)state;

    assert_int_equal(number(facts, CL_DEVICE_AVAILABLE), CL_FALSE);
    assert_int_equal(number(facts, CL_DEVICE_GLOBAL_MEM_SIZE), 0);
    assert_int_equal(facts->work_item_sizes[0], 1);
    assert_names(facts->extensions, OWN);
    tsl_device_facts_destroy(facts);
}

/* Where one member hasn't any, programs aren't told of those that run on the others. */
static void variables_are_what_all_have(void **state)
{
    struct tsl_device_facts *one = facts_of(&big, NULL), *two = facts_of(&big, &small);
    (void)state;

    assert_names(one->c_features, "__opencl_c_int64 __opencl_c_fp64 __opencl_c_program_scope_global_variables");
    assert_int_equal(number(one, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE), 65536);
    assert_names(two->c_features, "__opencl_c_int64");
    assert_int_equal(number(two, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE), 0);
    tsl_device_facts_destroy(one);
    tsl_device_facts_destroy(two);
}

static void the_fastest_alone_counts(void **state)
{
    struct tsl_device_facts *facts = facts_of(&small, &big);
    (void)state;

    assert_int_equal(number(facts, CL_DEVICE_MAX_COMPUTE_UNITS), 100);
    assert_int_equal(number(facts, CL_DEVICE_GLOBAL_MEM_SIZE), 80ull << 30);
    assert_names(facts->c_features, "__opencl_c_int64 __opencl_c_fp64 __opencl_c_program_scope_global_variables");
    tsl_device_facts_destroy(facts);
}

static void type_is(struct tsl_member *a, struct tsl_member *b, cl_device_type expected)
{
    struct tsl_device_facts *facts = facts_of(a, b);

    assert_int_equal(facts->type, expected);
    tsl_device_facts_destroy(facts);
}

static void the_type_is_that_of_the_fastest(void **state)
{
    struct tsl_path many = *small.path;
    struct tsl_member crowd = small;
    (void)state;

    type_is(&small, NULL, CL_DEVICE_TYPE_CPU);
    type_is(&small, &board, CL_DEVICE_TYPE_CPU); /* which runs no program of source */
    type_is(&small, &big, CL_DEVICE_TYPE_GPU);
    type_is(&board, NULL, CL_DEVICE_TYPE_ACCELERATOR);
    type_is(NULL, NULL, CL_DEVICE_TYPE_GPU);
    /* One bit, even of a device that is everything (oclgrind's). */
    many.type = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_DEFAULT;
    crowd.path = &many;
    type_is(&crowd, NULL, CL_DEVICE_TYPE_GPU);
    assert_int_equal(tsl_device_info(tsl_device_root(), CL_DEVICE_TYPE, 0, NULL, NULL), CL_SUCCESS);
}

/* Programs look into what they lent a CPU without a map. */
static void a_cpu_with_copies_says_that_it_is_a_gpu(void **state)
{
    struct tsl_member copying = small, slow = small, fast = small;
    (void)state;

    copying.caps.zero_copy = false;
    type_is(&copying, NULL, CL_DEVICE_TYPE_GPU);
    fast.caps.speed = 2;
    type_is(&fast, &slow, CL_DEVICE_TYPE_CPU);
    type_is(&fast, &copying, CL_DEVICE_TYPE_GPU);
    fast.caps.speed = 20;
    type_is(&fast, &big, CL_DEVICE_TYPE_GPU);
}

static void unified_memory_is_what_all_have(void **state)
{
    struct tsl_member fast = small, copying = small;
    struct tsl_device_facts *facts;
    (void)state;

    fast.caps.speed = 2;
    copying.caps.zero_copy = false;
    facts = facts_of(&fast, &copying);
    assert_int_equal(number(facts, CL_DEVICE_HOST_UNIFIED_MEMORY), CL_FALSE);
    tsl_device_facts_destroy(facts);
    facts = facts_of(&fast, &small);
    assert_int_equal(number(facts, CL_DEVICE_HOST_UNIFIED_MEMORY), CL_TRUE);
    tsl_device_facts_destroy(facts);
}

static void the_widths_are_the_fastests(void **state)
{
    struct tsl_device_facts *facts = facts_of(&small, &big);
    (void)state;

    assert_int_equal(number(facts, CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT), 1);
    assert_int_equal(number(facts, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR), 4);
    /* The other has no double, so the device has none. */
    assert_int_equal(number(facts, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE), 0);
    tsl_device_facts_destroy(facts);
}

/* Programs for GPUs stop at 1024, and leave out what a larger group has beyond. */
static void groups_suit_the_type(void **state)
{
    struct tsl_device_facts *cpu = facts_of(&small, NULL), *gpu;
    struct tsl_path path = *small.path;
    struct tsl_member wide = small;
    (void)state;

    path.type = CL_DEVICE_TYPE_GPU;
    wide.path = &path;
    gpu = facts_of(&wide, NULL);
    assert_int_equal(number(cpu, CL_DEVICE_MAX_WORK_GROUP_SIZE), 4096);
    assert_int_equal(cpu->work_item_sizes[1], 4096);
    assert_int_equal(number(gpu, CL_DEVICE_MAX_WORK_GROUP_SIZE), 1024);
    assert_int_equal(gpu->work_item_sizes[0], 512);
    assert_int_equal(gpu->work_item_sizes[1], 1024);
    tsl_device_facts_destroy(cpu);
    tsl_device_facts_destroy(gpu);
}

static void the_type_is_the_settings(void **state)
{
    (void)state;
    type_is(&big, &small, CL_DEVICE_TYPE_ACCELERATOR);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(numbers_follow_their_rules),
        cmocka_unit_test(a_member_with_copies_has_no_unified_memory),
        cmocka_unit_test(memory_is_what_the_drivers_allocate_by),
        cmocka_unit_test(silence_counts_as_the_least),
        cmocka_unit_test(names_are_what_all_have),
        cmocka_unit_test(variables_are_what_all_have),
        cmocka_unit_test(the_language_is_that_of_compilers),
        cmocka_unit_test(images_are_what_one_has),
        cmocka_unit_test(uuids_tell_devices_apart),
        cmocka_unit_test(the_drivers_version_tells_members_apart),
        cmocka_unit_test(one_card_has_an_address),
        cmocka_unit_test(opencl_c_3_needs_a_member_that_has_it),
        cmocka_unit_test(only_known_names_pass),
        cmocka_unit_test(an_old_member_lowers_the_version),
        cmocka_unit_test(no_member_leaves_a_device_that_is_not_available),
        cmocka_unit_test(the_type_is_that_of_the_fastest),
        cmocka_unit_test(a_cpu_with_copies_says_that_it_is_a_gpu),
        cmocka_unit_test(unified_memory_is_what_all_have),
        cmocka_unit_test(the_widths_are_the_fastests),
        cmocka_unit_test(groups_suit_the_type),
    };
    const struct CMUnitTest fastest[] = {
        cmocka_unit_test(the_fastest_alone_counts),
        cmocka_unit_test(unified_memory_is_what_all_have),
        cmocka_unit_test(the_type_is_the_settings),
        cmocka_unit_test(no_member_leaves_a_device_that_is_not_available),
    };

    if (tsl_settings()->limits == TSL_LIMITS_FASTEST)
        return cmocka_run_group_tests(fastest, NULL, NULL);
    return cmocka_run_group_tests(all, NULL, NULL);
}
