/*
 * Versions, extensions and features of the virtual device: what all members have, out of what is known to work
 * through Tesela.
 */
#include "device/device_facts.h"
#include "driver/ask.h"

#include <CL/cl_tesela.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of extensions and features: those that need nothing of the host's side, so they work on every member if they work on
 * each, whatever moves between members. Of OpenCL C versions: all but 2.0, which promises things that we don't offer
 * (shared virtual memory, pipes, queues on the device).
 */
static const cl_name_version known_extensions[] = {
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_byte_addressable_store"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_global_int32_base_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_global_int32_extended_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_local_int32_base_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_local_int32_extended_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_int64_base_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_int64_extended_atomics"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_fp64"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_fp16"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_expect_assume"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_bit_ops"},
};
/* What Tesela does itself. */
static const cl_name_version own_extensions[] = {
    {CL_MAKE_VERSION(2, 0, 0), "cl_khr_icd"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_create_command_queue"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_device_uuid"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_suggested_local_work_size"},
    {CL_MAKE_VERSION(0, 1, 0), CL_TESELA_MEMBERS_EXTENSION_NAME},
    {CL_MAKE_VERSION(0, 1, 0), CL_TESELA_VARIANTS_EXTENSION_NAME},
    {CL_MAKE_VERSION(0, 1, 0), CL_TESELA_QUEUE_POLICY_EXTENSION_NAME},
};
static const cl_name_version il_extension = {CL_MAKE_VERSION(1, 0, 0), "cl_khr_il_program"};
static const cl_name_version pci_extension = {CL_MAKE_VERSION(1, 0, 0), "cl_khr_pci_bus_info"};

static const cl_name_version known_features[] = {
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_int64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_fp64"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_acq_rel"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_order_seq_cst"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_atomic_scope_device"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_generic_address_space"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_work_group_collective_functions"},
    {CL_MAKE_VERSION(3, 0, 0), TSL_FEATURE_VARIABLES},
};
/* Of images: what one member has is enough, as the images and the kernels that ask for it go there. */
static const cl_name_version image_extensions[] = {
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_3d_image_writes"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_depth_images"},
    {CL_MAKE_VERSION(1, 0, 0), "cl_khr_image2d_from_buffer"},
};
static const cl_name_version image_features[] = {
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_images"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_3d_image_writes"},
    {CL_MAKE_VERSION(3, 0, 0), "__opencl_c_read_write_images"},
};
static const cl_name_version known_c_versions[] = {
    {CL_MAKE_VERSION(1, 0, 0), "OpenCL C"},
    {CL_MAKE_VERSION(1, 1, 0), "OpenCL C"},
    {CL_MAKE_VERSION(1, 2, 0), "OpenCL C"},
    {CL_MAKE_VERSION(3, 0, 0), "OpenCL C"},
};
/* Intermediate languages: programs in them run on the members that take them. */
static const cl_name_version known_ils[] = {
    {CL_MAKE_VERSION(1, 0, 0), "SPIR-V"}, {CL_MAKE_VERSION(1, 1, 0), "SPIR-V"}, {CL_MAKE_VERSION(1, 2, 0), "SPIR-V"},
    {CL_MAKE_VERSION(1, 3, 0), "SPIR-V"}, {CL_MAKE_VERSION(1, 4, 0), "SPIR-V"}, {CL_MAKE_VERSION(1, 5, 0), "SPIR-V"},
    {CL_MAKE_VERSION(1, 6, 0), "SPIR-V"},
};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- What one member says ---- */

static bool has_extension(const struct tsl_member *member, const cl_name_version *wanted)
{
    size_t size;
    char *text = tsl_member_ask(member, CL_DEVICE_EXTENSIONS, &size);
    char *rest, *word;
    bool found = false;

    for (word = text ? strtok_r(text, " ", &rest) : NULL; word && !found; word = strtok_r(NULL, " ", &rest))
        found = strcmp(word, wanted->name) == 0;
    free(text);
    return found;
}

/* Is the version in an array of cl_name_version? */
static bool is_listed(const cl_name_version *items, size_t size, cl_version wanted)
{
    for (size_t i = 0; i < size / sizeof *items; i++)
        if (items[i].version >> CL_VERSION_PATCH_BITS == wanted >> CL_VERSION_PATCH_BITS)
            return true;
    return false;
}

static bool has_images(const struct tsl_member *member)
{
    return member->caps.images.n_read_args > 0;
}

/* Features have names since 3.0; some of them are older than that. Programs meet them under those names on older
 * members, too (program/dialect.h). */
static bool older_has_feature(const struct tsl_member *member, const char *name)
{
    static const cl_name_version fp64 = {0, "cl_khr_fp64"}, writes_3d = {0, "cl_khr_3d_image_writes"};
    size_t size;
    char *profile;
    bool full;

    if (strcmp(name, "__opencl_c_fp64") == 0)
        return has_extension(member, &fp64);
    if (strcmp(name, "__opencl_c_3d_image_writes") == 0)
        return has_extension(member, &writes_3d);
    if (strcmp(name, "__opencl_c_images") == 0)
        return has_images(member);
    if (strcmp(name, TSL_FEATURE_VARIABLES) == 0)
        return tsl_member_has_variables(member);
    profile = tsl_member_ask(member, CL_DEVICE_PROFILE, &size);
    full = profile && strcmp(profile, "FULL_PROFILE") == 0;
    free(profile);
    return full && strcmp(name, "__opencl_c_int64") == 0;
}

static bool has_feature(const struct tsl_member *member, const cl_name_version *wanted)
{
    return tsl_member_knows_3(member) ? tsl_member_lists_feature(member, wanted->name)
                                      : older_has_feature(member, wanted->name);
}

/* Devices before OpenCL 3.0 name the newest version only, and have all before. They take programs in OpenCL C 3.0 as
 * such in 1.2 (program/dialect.h), and are left out of those that they can't compile. */
static bool older_has_c_version(const struct tsl_member *member, const cl_name_version *wanted)
{
    cl_version newest = tsl_member_version(member, CL_DEVICE_OPENCL_C_VERSION, "OpenCL C ");

    return newest >= wanted->version ||
           (wanted->version == CL_MAKE_VERSION(3, 0, 0) && newest >= CL_MAKE_VERSION(1, 2, 0));
}

static bool has_c_version(const struct tsl_member *member, const cl_name_version *wanted)
{
    size_t size;
    cl_name_version *items;
    bool found;

    if (!tsl_member_knows_3(member))
        return older_has_c_version(member, wanted);
    items = tsl_member_ask(member, CL_DEVICE_OPENCL_C_ALL_VERSIONS, &size);
    found = items && is_listed(items, size, wanted->version);
    free(items);
    return found;
}

#define IL_ROOM (CL_NAME_VERSION_MAX_NAME_SIZE + 12)

/* "SPIR-V_1.2"; text: IL_ROOM bytes. */
static void il_text(const cl_name_version *il, char *text)
{
    snprintf(text, IL_ROOM, "%s_%u.%u", il->name, CL_VERSION_MAJOR(il->version), CL_VERSION_MINOR(il->version));
}

/* The text of CL_DEVICE_IL_VERSION tells it of all versions of OpenCL. */
static bool has_il(const struct tsl_member *member, const cl_name_version *wanted)
{
    char name[IL_ROOM];
    size_t size;
    char *text = tsl_member_ask(member, CL_DEVICE_IL_VERSION, &size);
    char *rest, *word;
    bool found = false;

    il_text(wanted, name);
    for (word = text ? strtok_r(text, " ", &rest) : NULL; word && !found; word = strtok_r(NULL, " ", &rest))
        found = strcmp(word, name) == 0;
    free(text);
    return found;
}

bool tsl_names_takes_il(const struct tsl_member *member)
{
    for (size_t i = 0; i < LENGTH(known_ils); i++)
        if (has_il(member, &known_ils[i]))
            return true;
    return false;
}

/* ---- What all have, or one ---- */

typedef bool has_fn(const struct tsl_member *member, const cl_name_version *wanted);

struct group {
    struct tsl_member *const *members;
    unsigned n;
};

static unsigned count(const struct group *members, has_fn *has, const cl_name_version *wanted)
{
    unsigned n = 0;

    for (unsigned i = 0; i < members->n; i++)
        n += has(members->members[i], wanted);
    return n;
}

/* Names with room for so many; NULL when out of memory. */
static struct tsl_names *make_names(size_t n)
{
    struct tsl_names *names = malloc(sizeof *names + n * sizeof *names->items);

    if (names)
        names->n = 0;
    return names;
}

/* Adds those of the n_known that so many members have at least. */
static void add_known(struct tsl_names *names, const cl_name_version *known, size_t n_known, has_fn *has,
                      const struct group *members, unsigned least)
{
    for (size_t i = 0; names && members->n > 0 && i < n_known; i++)
        if (count(members, has, &known[i]) >= least)
            names->items[names->n++] = known[i];
}

/* ---- Built-in kernels: what one has is enough, as its programs run there ---- */

char *tsl_names_built_ins(const struct tsl_member *member)
{
    size_t size;

    return tsl_member_ask(member, CL_DEVICE_BUILT_IN_KERNELS, &size);
}

static bool has_name(const struct tsl_names *names, const char *name)
{
    for (unsigned i = 0; i < names->n; i++)
        if (strcmp(names->items[i].name, name) == 0)
            return true;
    return false;
}

/* The version that the member gives a kernel; 0 where it gives none. */
static cl_version built_in_version(const struct tsl_member *member, const char *name)
{
    size_t size = 0;
    cl_name_version *items =
        tsl_member_knows_3(member) ? tsl_member_ask(member, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, &size) : NULL;
    cl_version version = 0;

    for (size_t i = 0; items && i < size / sizeof *items; i++)
        if (strncmp(items[i].name, name, CL_NAME_VERSION_MAX_NAME_SIZE) == 0)
            version = items[i].version;
    free(items);
    return version;
}

/* False when out of memory. The names of *list are cut up. */
static bool add_built_ins(struct tsl_names **names, const struct tsl_member *member, char *list)
{
    char *rest = NULL;

    for (char *name = strtok_r(list, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
        struct tsl_names *more;

        if (strlen(name) >= CL_NAME_VERSION_MAX_NAME_SIZE || has_name(*names, name))
            continue;
        more = realloc(*names, sizeof *more + ((*names)->n + 1) * sizeof *more->items);
        if (!more)
            return false;
        *names = more;
        more->items[more->n].version = built_in_version(member, name);
        strcpy(more->items[more->n++].name, name);
    }
    return true;
}

static struct tsl_names *collect_built_ins(struct tsl_member *const *members, unsigned n)
{
    struct tsl_names *names = calloc(1, sizeof *names);

    for (unsigned i = 0; names && i < n; i++) {
        char *list = tsl_names_built_ins(members[i]);

        if (list && !add_built_ins(&names, members[i], list)) {
            free(names);
            names = NULL;
        }
        free(list);
    }
    return names;
}

/* Without a member that really compiles it there is no OpenCL C 3.0, which stands last, and there are no features. */
static void forget_3(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    struct tsl_names *versions = facts->c_versions;

    for (unsigned i = 0; i < n; i++)
        if (tsl_member_knows_3(members[i]))
            return;
    if (versions->n > 0 && versions->items[versions->n - 1].version == CL_MAKE_VERSION(3, 0, 0))
        versions->n--;
    facts->c_features->n = 0;
}

/* OpenCL 3.0 asks for OpenCL C 3.0, which one member must have, and for nothing else that OpenCL 1.2 hasn't; older
 * members keep us at what they have. */
static cl_version common_version(struct tsl_member *const *members, unsigned n)
{
    cl_version version = n > 0 ? CL_MAKE_VERSION(1, 2, 0) : CL_MAKE_VERSION(3, 0, 0);

    for (unsigned i = 0; i < n; i++)
        if (tsl_member_knows_3(members[i]))
            version = CL_MAKE_VERSION(3, 0, 0);
    for (unsigned i = 0; i < n; i++) {
        cl_version own = tsl_member_version(members[i], CL_DEVICE_VERSION, "OpenCL ");

        if (own < CL_MAKE_VERSION(1, 2, 0) && own < version)
            version = own;
    }
    return version ? version : CL_MAKE_VERSION(1, 0, 0);
}

/* OpenCL C 3.0 isn't backwards compatible with all that came before (OpenCL 3.0, CL_DEVICE_OPENCL_C_VERSION). */
static cl_version backwards_compatible(const struct tsl_names *c_versions)
{
    cl_version version = CL_MAKE_VERSION(1, 0, 0);

    for (unsigned i = 0; i < c_versions->n; i++)
        if (c_versions->items[i].version > version && c_versions->items[i].version < CL_MAKE_VERSION(3, 0, 0))
            version = c_versions->items[i].version;
    return version;
}

/* Those that have images; how many. */
static unsigned find_images(struct tsl_member *const *members, unsigned n, struct tsl_member **some)
{
    unsigned n_some = 0;

    for (unsigned i = 0; i < n; i++)
        if (has_images(members[i]))
            some[n_some++] = members[i];
    return n_some;
}

bool tsl_names_fill(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n)
{
    struct tsl_member *compiling[TSL_MAX_MEMBERS], *some[TSL_MAX_MEMBERS];
    const struct group all = {compiling, tsl_members_that_compile(members, n, compiling)};
    const struct group with_images = {some, find_images(members, n, some)};

    const struct group every = {members, n};

    facts->extensions = make_names(LENGTH(own_extensions) + LENGTH(known_extensions) + LENGTH(image_extensions) + 2);
    facts->ils = make_names(LENGTH(known_ils));
    add_known(facts->ils, known_ils, LENGTH(known_ils), has_il, &every, 1);
    facts->c_features = make_names(LENGTH(known_features) + LENGTH(image_features));
    facts->c_versions = make_names(LENGTH(known_c_versions));
    for (size_t i = 0; facts->extensions && i < LENGTH(own_extensions); i++)
        facts->extensions->items[facts->extensions->n++] = own_extensions[i];
    if (facts->extensions && facts->has_pci)
        facts->extensions->items[facts->extensions->n++] = pci_extension;
    if (facts->extensions && facts->ils && facts->ils->n > 0)
        facts->extensions->items[facts->extensions->n++] = il_extension;
    add_known(facts->extensions, known_extensions, LENGTH(known_extensions), has_extension, &all, all.n);
    add_known(facts->extensions, image_extensions, LENGTH(image_extensions), has_extension, &with_images, 1);
    add_known(facts->c_features, known_features, LENGTH(known_features), has_feature, &all, all.n);
    add_known(facts->c_features, image_features, LENGTH(image_features), has_feature, &with_images, 1);
    add_known(facts->c_versions, known_c_versions, LENGTH(known_c_versions), has_c_version, &all, all.n);
    facts->built_ins = collect_built_ins(members, n);
    if (!facts->extensions || !facts->c_features || !facts->c_versions || !facts->built_ins || !facts->ils)
        return false;
    forget_3(facts, all.members, all.n);
    facts->version = common_version(all.members, all.n);
    facts->c_version = backwards_compatible(facts->c_versions);
    return true;
}

/* ---- Answers ---- */

cl_int tsl_names_answer_text(const struct tsl_names *names, char separator, const struct tsl_info *info)
{
    char *text = malloc(names->n * CL_NAME_VERSION_MAX_NAME_SIZE + 1);
    char *end = text;
    cl_int error;

    if (!text)
        return CL_OUT_OF_HOST_MEMORY;
    *text = '\0';
    for (unsigned i = 0; i < names->n; i++) {
        if (i)
            *end++ = separator;
        end += sprintf(end, "%s", names->items[i].name);
    }
    error = tsl_info_string(info, text);
    free(text);
    return error;
}

cl_int tsl_names_answer_ils(const struct tsl_names *names, const struct tsl_info *info)
{
    char text[LENGTH(known_ils) * IL_ROOM] = "", *end = text;

    for (unsigned i = 0; i < names->n; i++) {
        if (i)
            *end++ = ' ';
        il_text(&names->items[i], end);
        end += strlen(end);
    }
    return tsl_info_string(info, text);
}

cl_int tsl_names_answer_versions(const struct tsl_names *names, const struct tsl_info *info)
{
    return tsl_info_bytes(info, names->items, names->n * sizeof *names->items);
}
