#include "opencl/icd.h"

#include "base/log.h"
#include "driver/report.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef void *(CL_API_CALL *extension_address_fn)(const char *name);
typedef cl_int(CL_API_CALL *platform_ids_fn)(cl_uint n, cl_platform_id *platforms, cl_uint *n_platforms);

static struct tsl_opencl_platform *known;
static unsigned current_probe;

/* One library while its platforms are being asked for. */
struct library {
    char *name;   /* owned, as the .icd file spells it; NULL: the file names none */
    char *icd;    /* owned, the .icd file's name, for messages */
    char *error;  /* owned: why there is no name or no handle, if known */
    void *handle; /* NULL: it could not be opened */
    platform_ids_fn platform_ids;
    tsl_opencl_address_fn address; /* NULL: not ICD 2 */
};

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

/* Some vendors forget the terminating NUL, or count more than they write. */
static char *string_of_size(size_t size)
{
    return size > 0 && size < INT_MAX ? calloc(1, size + 1) : NULL;
}

char *tsl_opencl_platform_string(const struct tsl_opencl_cl *cl, cl_platform_id platform, cl_platform_info param)
{
    size_t size = 0;
    char *text;

    if (cl->clGetPlatformInfo(platform, param, 0, NULL, &size))
        return NULL;
    text = string_of_size(size);
    if (text && cl->clGetPlatformInfo(platform, param, size, text, NULL)) {
        free(text);
        return NULL;
    }
    return text;
}

char *tsl_opencl_device_string(const struct tsl_opencl_cl *cl, cl_device_id device, cl_device_info param)
{
    size_t size = 0;
    char *text;

    if (cl->clGetDeviceInfo(device, param, 0, NULL, &size))
        return NULL;
    text = string_of_size(size);
    if (text && cl->clGetDeviceInfo(device, param, size, text, NULL)) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- Are we it? -------------------------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Is the code at this address part of the file that we are part of? */
static bool is_our_file(const void *address)
{
    Dl_info own, other;

    return dladdr(&current_probe, &own) && dladdr(address, &other) &&
           (own.dli_fbase == other.dli_fbase || same_file(own.dli_fname, other.dli_fname));
}

/* A copy of our library is another file, but shows the same platform. */
static bool is_our_platform(const struct tsl_opencl_cl *cl, cl_platform_id id, const char *name)
{
    char *suffix = tsl_opencl_platform_string(cl, id, CL_PLATFORM_ICD_SUFFIX_KHR);
    bool ours = !strcmp(name, "Tesela") || (suffix && !strcmp(suffix, "TSL"));

    free(suffix);
    return ours;
}

/* ---- Platforms --------------------------------------------------------------------------------------------------- */

static struct tsl_opencl_platform *known_platform(cl_platform_id id)
{
    struct tsl_opencl_platform *platform = known;

    while (platform && platform->id != id)
        platform = platform->next;
    return platform;
}

/* A library may have platforms of both kinds; those of ICD 1 are not asked for addresses. */
static tsl_opencl_address_fn address_of(const struct library *library, cl_platform_id id)
{
    return tsl_opencl_is_icd2(id) ? library->address : NULL;
}

/* Takes the name. */
static struct tsl_opencl_platform *add_platform(const struct library *library, cl_platform_id id, unsigned said,
                                                char *name)
{
    unsigned version = tsl_opencl_cl_version(id, address_of(library, id), said);
    struct tsl_opencl_platform *platform = calloc(1, sizeof(*platform));
    const char *missing;

    if (!platform)
        goto no_platform;
    platform->id = id;
    platform->version = version;
    platform->modest = version > said;
    platform->name = name;
    tsl_opencl_cl_fill(&platform->cl, id, address_of(library, id), version);
    missing = tsl_opencl_cl_missing(&platform->cl);
    if (version < 110 || missing) {
        tsl_driver_report_problem("%s: platform \"%s\" lacks %s, which Tesela needs", library->icd, name,
                                  missing ? missing : "OpenCL 1.1");
        goto not_usable;
    }
    platform->next = known;
    known = platform;
    return platform;

not_usable:
    free(platform);
no_platform:
    free(name);
    return NULL;
}

/* What must be known before the whole table can be read: the functions of OpenCL 1.0, which every table has. */
static struct tsl_opencl_platform *meet_platform(const struct library *library, cl_platform_id id)
{
    struct tsl_opencl_cl first;
    char *name, *version;
    unsigned number;

    tsl_opencl_cl_fill(&first, id, address_of(library, id), 100);
    if (!first.clGetPlatformInfo) {
        tsl_driver_report_problem("%s: a platform of %s has no clGetPlatformInfo", library->icd, library->name);
        return NULL;
    }
    name = tsl_opencl_platform_string(&first, id, CL_PLATFORM_NAME);
    if (!name) {
        tsl_driver_report_problem("%s: a platform of %s has no name", library->icd, library->name);
        return NULL;
    }
    if (is_our_platform(&first, id, name)) {
        free(name);
        return NULL;
    }
    version = tsl_opencl_platform_string(&first, id, CL_PLATFORM_VERSION);
    number = version ? tsl_opencl_version(version) : 0;
    free(version);
    return add_platform(library, id, number, name);
}

static bool has_table(const struct library *library, cl_platform_id id)
{
    return id && *(void **)id && (library->address || !tsl_opencl_is_icd2(id));
}

static void show_platform(const struct library *library, cl_platform_id id, tsl_opencl_platform_fn *fn, void *arg)
{
    struct tsl_opencl_platform *platform;

    if (!has_table(library, id)) {
        tsl_driver_report_problem("%s: a platform of %s has no dispatch table", library->icd, library->name);
        return;
    }
    platform = known_platform(id);
    if (!platform)
        platform = meet_platform(library, id);
    if (!platform || platform->probe == current_probe)
        return;
    platform->probe = current_probe;
    fn(arg, platform);
}

static void show_platforms(const struct library *library, tsl_opencl_platform_fn *fn, void *arg)
{
    cl_platform_id *ids = NULL;
    cl_uint n = 0;
    cl_int error = library->platform_ids(0, NULL, &n);

    /* No platform is how a vendor says that its hardware isn't there: nothing is wrong. */
    if (error == CL_PLATFORM_NOT_FOUND_KHR || (!error && !n)) {
        tsl_driver_report_empty(library->icd,
                                "its library shows no platform: its hardware isn't there, or isn't for this user");
        return;
    }
    if (!error)
        ids = calloc(n, sizeof(*ids));
    if (ids)
        error = library->platform_ids(n, ids, NULL);
    if (error || !ids)
        tsl_driver_report_problem("%s: %s could not list its platforms (error %d)", library->icd, library->name, error);
    for (cl_uint i = 0; !error && ids && i < n; i++)
        show_platform(library, ids[i], fn, arg);
    free(ids);
}

/* ---- Libraries --------------------------------------------------------------------------------------------------- */

/* A pointer to a function out of one to data, as POSIX promises that it works. */
#define TO_FUNCTION(function, address) (*(void **)&(function) = (address))

/* The first line without blanks at its ends. */
static char *first_line(const char *file)
{
    FILE *stream = fopen(file, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t length = stream ? getline(&line, &size, stream) : -1;

    if (stream)
        fclose(stream);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    if (length > 0) {
        size_t blanks = strspn(line, " \t");

        memmove(line, line + blanks, (size_t)length - blanks + 1);
        if (*line)
            return line;
    }
    free(line);
    return NULL;
}

/* The library that the file names is opened, and not asked for anything. */
static void open_library(struct library *library, const char *folder)
{
    char *file;

    if (!library->icd || asprintf(&file, "%s/%s", folder, library->icd) < 0)
        return;
    errno = 0;
    library->name = first_line(file);
    free(file);
    if (!library->name) {
        library->error = errno ? strdup(strerror(errno)) : NULL;
        return;
    }
    /* Lazily, as Debian's loader: a function that the library lacks may never be called. */
    library->handle = dlopen(library->name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!library->handle) {
        const char *error = dlerror();

        library->error = error ? strdup(error) : NULL;
    }
}

/* dlerror() has no codes: its text alone tells a library that isn't there from one that doesn't fit. */
static void tell_unopened(const struct library *library, const char *folder)
{
    const char *error = library->error;
    bool missing = error && strstr(error, "cannot open shared object");

    if (!library->name)
        tsl_driver_report_trouble(TSL_TROUBLE_NO_LIBRARY, "%s/%s names no library%s%s", folder, library->icd,
                                  error ? ": " : "", error ? error : "");
    else
        tsl_driver_report_trouble(missing ? TSL_TROUBLE_NO_LIBRARY : TSL_TROUBLE_UNFIT, "%s: %s", library->icd,
                                  error ? error : "its library could not be loaded");
}

static void ask_library(struct library *library, tsl_opencl_platform_fn *fn, void *arg)
{
    extension_address_fn extension_address;

    TO_FUNCTION(extension_address, dlsym(library->handle, "clGetExtensionFunctionAddress"));
    if (!extension_address) {
        tsl_driver_report_problem("%s: %s is not an OpenCL ICD", library->icd, library->name);
        return;
    }
    if (is_our_file(*(void **)&extension_address))
        return;
    TO_FUNCTION(library->platform_ids, extension_address("clIcdGetPlatformIDsKHR"));
    TO_FUNCTION(library->address, extension_address("clIcdGetFunctionAddressForPlatformKHR"));
    if (!library->platform_ids) {
        tsl_driver_report_problem("%s: %s is not an OpenCL ICD", library->icd, library->name);
        return;
    }
    show_platforms(library, fn, arg);
}

static void drop_library(struct library *library)
{
    free(library->name);
    free(library->icd);
    free(library->error);
}

static int is_icd(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 4 && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - 4, ".icd");
}

/* In the order of bytes: alphasort() goes by the locale, and the members' ids must not. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* All libraries are opened before the first is asked, as loaders do. Two vendors may need two versions of one library,
 * whose inline variables are one for the whole process: Clang's, when it has been used before the other version came,
 * ends the process at its exit (PoCL 7 with Clang 19, Mesa 22 with Clang 15). */
static void show_libraries(struct library *libraries, int n, const char *folder, tsl_opencl_platform_fn *fn, void *arg)
{
    for (int i = 0; i < n; i++)
        open_library(&libraries[i], folder);
    for (int i = 0; i < n; i++) {
        if (libraries[i].handle)
            ask_library(&libraries[i], fn, arg);
        else if (libraries[i].icd)
            tell_unopened(&libraries[i], folder);
        drop_library(&libraries[i]);
    }
}

void tsl_opencl_platforms(const char *folder, tsl_opencl_platform_fn *fn, void *arg)
{
    struct dirent **entries;
    struct library *libraries;
    int n = scandir(folder, &entries, is_icd, by_name);

    current_probe++;
    if (n < 0) {
        tsl_driver_report_trouble(TSL_TROUBLE_NO_VENDORS, "the folder of vendors, %s, could not be read: %s", folder,
                                  strerror(errno));
        return;
    }
    if (n == 0)
        tsl_driver_report_trouble(TSL_TROUBLE_NO_VENDORS, "the folder of vendors, %s, has no .icd file in it", folder);
    libraries = calloc((size_t)n + 1, sizeof(*libraries));
    for (int i = 0; i < n; i++) {
        if (libraries)
            libraries[i].icd = strdup(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (libraries)
        show_libraries(libraries, n, folder, fn, arg);
    free(libraries);
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

struct tsl_opencl_device *tsl_opencl_device(struct tsl_opencl_platform *platform, cl_device_id id,
                                            unsigned device_version, const char *device_name)
{
    struct tsl_opencl_device *device = platform->devices;

    while (device && device->id != id)
        device = device->next;
    if (device)
        return device;
    device = calloc(1, sizeof(*device));
    if (!device)
        return NULL;
    device->id = id;
    device->platform = platform;
    device->version = device_version < platform->version ? device_version : platform->version;
    device->cl = platform->cl;
    tsl_opencl_cl_limit(&device->cl, device->version);
    device->quirks = tsl_opencl_quirks(platform->name, device_name);
    device->was_changed = tsl_opencl_is_changed();
    pthread_mutex_init(&device->lock, NULL);
    device->next = platform->devices;
    platform->devices = device;
    return device;
}
