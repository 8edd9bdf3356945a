/*
 * The prelude and the -cl-std with which a program reaches a member's compiler.
 */
#include "program/dialect.h"
#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Macros that compilers define even if their device doesn't report them (as Clang for SPIR does). */
static const char *const known_macros[] = {
    "__opencl_c_3d_image_writes",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_device_enqueue",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_images",
    "__opencl_c_int64",
    "__opencl_c_integer_dot_product_input_4x8bit",
    "__opencl_c_integer_dot_product_input_4x8bit_packed",
    "__opencl_c_pipes",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_read_write_images",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
    "cl_khr_3d_image_writes",
    "cl_khr_byte_addressable_store",
    "cl_khr_depth_images",
    "cl_khr_device_enqueue_local_arg_types",
    "cl_khr_expect_assume",
    "cl_khr_extended_bit_ops",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_integer_dot_product",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_select_fprounding_mode",
    "cl_khr_spir",
    "cl_khr_srgb_image_writes",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroups",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_amd_media_ops",
    "cl_amd_media_ops2",
    "cl_intel_device_side_avc_motion_estimation",
    "cl_intel_planar_yuv",
    "cl_intel_subgroups",
    "cl_intel_subgroups_short",
};

#define N_KNOWN (sizeof(known_macros) / sizeof(known_macros[0]))

/* ---- Asking devices ---------------------------------------------------------------------------------------------- */

/* The device that is asked: the virtual one, or a member by its path. */
struct asked {
    struct tsl_device *device;
    const struct tsl_path *path;
};

static cl_int ask(const struct asked *asked, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    if (asked->device)
        return tsl_device_info(asked->device, param, size, value, size_ret);
    return asked->path->driver->info(asked->path, param, size, value, size_ret);
}

/* The value with a 0 behind it (heap); NULL if there is none. */
static void *ask_heap(const struct asked *asked, cl_device_info param, size_t *size)
{
    char *value;

    *size = 0;
    if (ask(asked, param, 0, NULL, size) != CL_SUCCESS || *size == 0)
        return NULL;
    value = malloc(*size + 1);
    if (value && ask(asked, param, *size, value, NULL) == CL_SUCCESS) {
        value[*size] = 0;
        return value;
    }
    free(value);
    *size = 0;
    return NULL;
}

static bool ask_bool(const struct asked *asked, cl_device_info param)
{
    cl_bool value = CL_FALSE;

    return ask(asked, param, sizeof(value), &value, NULL) == CL_SUCCESS && value != CL_FALSE;
}

/* "OpenCL 3.0 …" and "OpenCL C 1.2 …" as 300 and 120; 0 if unknown. */
static unsigned ask_version(const struct asked *asked, cl_device_info param)
{
    size_t size;
    char *text = ask_heap(asked, param, &size);
    unsigned major = 0, minor = 0;

    if (text && sscanf(text, "OpenCL C %u.%u", &major, &minor) != 2)
        sscanf(text, "OpenCL %u.%u", &major, &minor);
    free(text);
    return 100 * major + 10 * minor;
}

/* The newest OpenCL C that the device compiles. Devices older than 3.0 aren't asked with queries of 3.0: some answer
 * rubbish. */
static unsigned ask_newest_std(const struct asked *asked)
{
    unsigned newest = ask_version(asked, CL_DEVICE_OPENCL_C_VERSION);
    cl_name_version *all;
    size_t size;

    if (ask_version(asked, CL_DEVICE_VERSION) < 300)
        return newest;
    all = ask_heap(asked, CL_DEVICE_OPENCL_C_ALL_VERSIONS, &size);
    for (size_t i = 0; i < size / sizeof(*all); i++) {
        unsigned std = 100 * CL_VERSION_MAJOR(all[i].version) + 10 * CL_VERSION_MINOR(all[i].version);

        if (std > newest)
            newest = std;
    }
    free(all);
    return newest;
}

/* ---- Lists of macros --------------------------------------------------------------------------------------------- */

/* The macros that a device's extensions and features stand for, each between blanks: " cl_khr_fp64 __opencl_c_fp64 ".
 */
static char *ask_macros(const struct asked *asked)
{
    struct tsl_writer list = {0};
    size_t size;
    char *extensions = ask_heap(asked, CL_DEVICE_EXTENSIONS, &size);
    cl_name_version *features = NULL;

    tsl_write_raw(&list, " ", 1);
    if (extensions)
        tsl_write_raw(&list, extensions, strlen(extensions));
    size = 0;
    if (ask_version(asked, CL_DEVICE_VERSION) >= 300)
        features = ask_heap(asked, CL_DEVICE_OPENCL_C_FEATURES, &size);
    for (size_t i = 0; i < size / sizeof(*features); i++) {
        tsl_write_raw(&list, " ", 1);
        tsl_write_raw(&list, features[i].name, strnlen(features[i].name, CL_NAME_VERSION_MAX_NAME_SIZE));
    }
    free(extensions);
    free(features);
    tsl_write_raw(&list, " ", 2);
    if (!list.failed)
        return (char *)list.data;
    free(list.data);
    return NULL;
}

static bool list_has(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = list; (at = strstr(at, name)); at += n)
        if (at[-1] == ' ' && (at[n] == ' ' || at[n] == 0))
            return true;
    return false;
}

/* May the name stand behind #undef? A device may report anything. */
static bool is_identifier(const char *name)
{
    const char *at = name;

    while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' || (*at >= '0' && *at <= '9'))
        at++;
    return name[0] && !(name[0] >= '0' && name[0] <= '9') && !*at;
}

/* ---- The prelude ------------------------------------------------------------------------------------------------- */

struct prelude {
    const struct tsl_build_options *options;
    struct tsl_writer text;
};

static void put(struct prelude *prelude, const char *text)
{
    tsl_write_raw(&prelude->text, text, strlen(text));
}

/* Macros that the application defines itself stay as it says. */
static bool is_ours(const struct prelude *prelude, const char *name)
{
    return is_identifier(name) && !tsl_build_options_name_macro(prelude->options, name);
}

static void put_undef(struct prelude *prelude, const char *name)
{
    if (!is_ours(prelude, name))
        return;
    put(prelude, "#undef ");
    put(prelude, name);
    put(prelude, "\n");
}

static void put_define(struct prelude *prelude, const char *name, const char *value)
{
    if (!is_ours(prelude, name))
        return;
    put_undef(prelude, name);
    put(prelude, "#define ");
    put(prelude, name);
    put(prelude, " ");
    put(prelude, value);
    put(prelude, "\n");
}

static bool is_feature(const char *name)
{
    return strncmp(name, "__opencl_c_", 11) == 0;
}

/* In OpenCL C 2.0 and C++ for OpenCL compilers define the features of 3.0 for themselves, as Clang finds its own
 * functions by them. */
static bool has_own_features(const struct tsl_build_options *options)
{
    return options->std ? options->std >= 200 && options->std < 300 : options->std_begin != options->std_end;
}

/* Undefines a macro unless the virtual device promises it. Features came with OpenCL C 3.0: programs in OpenCL C 1
 * don't see them, whatever compilers define. */
static void put_undef_unless(struct prelude *prelude, const char *name, const char *promised)
{
    if (is_feature(name) && has_own_features(prelude->options))
        return;
    if (!list_has(promised, name) || (is_feature(name) && prelude->options->std < 300))
        put_undef(prelude, name);
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (strcmp(known_macros[i], name) == 0)
            return true;
    return false;
}

/* Undefines all that the member's compiler may define and the virtual device doesn't promise. macros is cut up. */
static void put_undefs(struct prelude *prelude, char *macros, const char *promised)
{
    static const char generic[] = "__opencl_c_generic_address_space";
    char *rest = NULL;

    for (size_t i = 0; i < N_KNOWN; i++)
        put_undef_unless(prelude, known_macros[i], promised);
    for (char *name = strtok_r(macros, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (!is_known(name))
            put_undef_unless(prelude, name, promised);
    /* Without the generic address space, Clang declares functions for each address space by this name alone. */
    if (prelude->options->std >= 300 && !list_has(promised, generic) && is_ours(prelude, generic))
        put_define(prelude, "__opencl_c_named_address_space_builtins", "1");
}

/* A member that compiles an older version claims the version that was asked for, with the promised features: what it
 * really lacks is an error of its compiler. */
static void put_version(struct prelude *prelude, unsigned std, char *promised)
{
    char value[16], *rest = NULL;

    snprintf(value, sizeof(value), "%u", std);
    put_define(prelude, "__OPENCL_C_VERSION__", value);
    put_define(prelude, "CL_VERSION_2_0", "200");
    if (std < 300)
        return;
    put_define(prelude, "CL_VERSION_3_0", "300");
    for (char *name = strtok_r(promised, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (is_feature(name))
            put_define(prelude, name, "1");
}

/* Defines the features that the device promises for another member's sake: all members compile one text. What this
 * member really lacks is an error of its compiler here, too. */
static void put_lacking(struct prelude *prelude, const char *macros, const char *promised)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (is_feature(known_macros[i]) && list_has(promised, known_macros[i]) && !list_has(macros, known_macros[i]))
            put_define(prelude, known_macros[i], "1");
}

/* Some compilers take a newer OpenCL C than they should without -cl-std. They may (PoCL 6.0 has no wait_group_events in
 * an older one), but the program sees the same version on all members. */
static void put_default_version(struct prelude *prelude, unsigned std)
{
    char line[64];

    if (!is_ours(prelude, "__OPENCL_C_VERSION__"))
        return;
    snprintf(line, sizeof(line), "#if __OPENCL_C_VERSION__ > %u\n", std);
    put(prelude, line);
    snprintf(line, sizeof(line), "%u", std);
    put_define(prelude, "__OPENCL_C_VERSION__", line);
    put(prelude, "#endif\n");
}

static void put_device(struct prelude *prelude, const struct asked *device, const struct asked *member)
{
    unsigned promised = ask_version(device, CL_DEVICE_VERSION);
    char value[16];

    if (promised && promised != ask_version(member, CL_DEVICE_VERSION)) {
        snprintf(value, sizeof(value), "%u", promised);
        put_define(prelude, "__OPENCL_VERSION__", value);
    }
    if (!ask_bool(device, CL_DEVICE_IMAGE_SUPPORT))
        put_undef(prelude, "__IMAGE_SUPPORT__");
}

/* Editors put it before a text; compilers accept it only at the beginning. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

#define MARK_SIZE (sizeof(byte_order_mark) - 1)

/* Adds the source; its first line is line 1, whatever stands before it. */
static void put_source(struct prelude *prelude, const char *source, size_t size)
{
    size_t mark = 0;

    if (prelude->text.size) {
        put(prelude, "#line 1\n");
        if (size >= MARK_SIZE && memcmp(source, byte_order_mark, MARK_SIZE) == 0)
            mark = MARK_SIZE;
    }
    tsl_write_raw(&prelude->text, source + mark, size - mark);
    tsl_write_u8(&prelude->text, 0);
}

char *tsl_dialect_source(struct tsl_device *device, const struct tsl_path *path,
                         const struct tsl_build_options *options, const struct tsl_dialect *dialect, const char *source,
                         size_t *size)
{
    const struct asked virtual = {.device = device}, member = {.path = path};
    struct prelude prelude = {.options = options};
    char *promised = ask_macros(&virtual), *macros = ask_macros(&member);

    if (promised && macros) {
        if (options->std >= 300 && !dialect->translated)
            put_lacking(&prelude, macros, promised);
        put_undefs(&prelude, macros, promised);
        put_device(&prelude, &virtual, &member);
        if (dialect->translated)
            put_version(&prelude, options->std, promised);
        if (dialect->meant)
            put_default_version(&prelude, dialect->meant);
        put_source(&prelude, source, *size);
    }
    free(macros);
    free(promised);
    if (prelude.text.failed || !prelude.text.size) {
        free(prelude.text.data);
        return NULL;
    }
    *size = prelude.text.size - 1;
    return (char *)prelude.text.data;
}

/* ---- The version ------------------------------------------------------------------------------------------------- */

/* Launches with remainders came with OpenCL 2.0, and are the device's choice since 3.0 (OpenCL 3.0, 5.10). */
static bool has_remainders(const struct asked *asked)
{
    unsigned version = ask_version(asked, CL_DEVICE_VERSION);

    if (version >= 300)
        return ask_bool(asked, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT);
    return version >= 200;
}

bool tsl_dialect_has_remainders(struct tsl_device *device)
{
    return has_remainders(&(struct asked){.device = device});
}

bool tsl_dialect_il_has_remainders(const struct tsl_path *path, const struct tsl_build_options *options)
{
    return !options->uniform && has_remainders(&(struct asked){.path = path});
}

/* Without -cl-std the version is the newest OpenCL C 1 (OpenCL 3.0, 5.8.6.5). */
static unsigned default_std(const struct tsl_build_options *options, unsigned newest)
{
    if (options->std_begin != options->std_end)
        return 0; /* given, or C++ for OpenCL */
    return newest && newest < 120 ? newest : 120;
}

void tsl_dialect_choose(struct tsl_device *device, const struct tsl_path *path, const struct tsl_build_options *options,
                        struct tsl_dialect *dialect)
{
    const struct asked virtual = {.device = device}, member = {.path = path};
    unsigned newest = ask_newest_std(&member);

    *dialect = (struct tsl_dialect){.std = options->std, .meant = default_std(options, newest)};
    if (newest && options->std > newest) {
        dialect->std = newest;
        dialect->translated = true;
    }
    if (dialect->std < 200 || options->uniform || !has_remainders(&member))
        return;
    dialect->non_uniform = has_remainders(&virtual);
    dialect->kept_uniform = !dialect->non_uniform;
}
