/* Paths and members: finding devices, opening one, asking it. */
#include "opencl/member.h"
#include "opencl/fence.h"
#include "opencl/gate.h"
#include "opencl/identity.h"
#include "opencl/image.h"
#include "opencl/operations.h"
#include "opencl/stage.h"
#include "opencl/svm.h"

#include "base/info.h"
#include "base/log.h"
#include "base/settings.h"
#include "driver/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Probe ------------------------------------------------------------------------------------------------------- */

struct probe {
    tsl_found_fn *found;
    void *arg;
    unsigned n_platforms;
};

/* A number of any of clGetDeviceInfo's widths; 0 if the device doesn't tell. */
static cl_ulong number(const struct tsl_opencl_device *device, cl_device_info param)
{
    union {
        cl_ulong wide;
        cl_uint narrow;
    } value = {.wide = 0};
    size_t size = 0;

    if (device->cl.clGetDeviceInfo(device->id, param, sizeof(value), &value, &size))
        return 0;
    return size == sizeof(cl_uint) ? value.narrow : value.wide;
}

/* Why the device can't serve, as a constant sentence; NULL: it can. */
static const char *why_not(const struct tsl_opencl_device *device, cl_device_type type)
{
    const cl_bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    if (device->version < 110)
        return "it speaks OpenCL 1.0 only, and has no user events and callbacks of events (1.1), which Tesela needs";
    if (type & CL_DEVICE_TYPE_CUSTOM)
        return "it is a custom device, which can't be programmed in OpenCL C";
    if (number(device, CL_DEVICE_ADDRESS_BITS) != 8 * sizeof(void *))
        return "its addresses have another width than the host's";
    if (number(device, CL_DEVICE_ENDIAN_LITTLE) != little)
        return "its byte order is not the host's";
    if (!number(device, CL_DEVICE_AVAILABLE))
        return "it says that it is not available";
    return NULL;
}

static unsigned version_of(const struct tsl_opencl_platform *platform, cl_device_id id)
{
    char *text = tsl_opencl_device_string(&platform->cl, id, CL_DEVICE_VERSION);
    unsigned version = text ? tsl_opencl_version(text) : 0;

    free(text);
    return version == 100 && platform->modest ? platform->version : version;
}

static void show_device(const struct probe *probe, struct tsl_opencl_platform *platform, cl_device_id id,
                        unsigned index)
{
    struct tsl_path path = {.driver = &tsl_opencl_driver};
    char *extensions = tsl_opencl_device_string(&platform->cl, id, CL_DEVICE_EXTENSIONS);
    struct tsl_opencl_device *device;
    const char *reason;

    path.device_name = tsl_opencl_device_string(&platform->cl, id, CL_DEVICE_NAME);
    if (!path.device_name)
        path.device_name = strdup("without a name");
    device = path.device_name ? tsl_opencl_device(platform, id, version_of(platform, id), path.device_name) : NULL;
    if (!device) {
        free(path.device_name);
        free(extensions);
        return;
    }
    snprintf(path.id, sizeof(path.id), "%s:%u.%u", tsl_opencl_driver.name, probe->n_platforms, index);
    path.platform_name = strdup(platform->name);
    path.driver_version = tsl_opencl_device_string(&platform->cl, id, CL_DRIVER_VERSION);
    if (!path.driver_version)
        path.driver_version = strdup("");
    path.type = number(device, CL_DEVICE_TYPE);
    tsl_opencl_identity(&device->cl, id, path.type, extensions ? extensions : "", &path.identity);
    path.preference = device->quirks.preference;
    reason = why_not(device, path.type);
    path.why_not = reason ? strdup(reason) : NULL;
    path.priv = device;
    free(extensions);
    probe->found(probe->arg, &path);
}

static void show_platform(void *arg, struct tsl_opencl_platform *platform)
{
    struct probe *probe = arg;
    cl_device_id *ids = NULL;
    cl_uint n = 0;
    cl_int error = platform->cl.clGetDeviceIDs(platform->id, CL_DEVICE_TYPE_ALL, 0, NULL, &n);

    if (!error && n) {
        ids = calloc(n, sizeof(*ids));
        error =
            ids ? platform->cl.clGetDeviceIDs(platform->id, CL_DEVICE_TYPE_ALL, n, ids, NULL) : CL_OUT_OF_HOST_MEMORY;
    }
    if (error == CL_DEVICE_NOT_FOUND || (!error && !n))
        tsl_driver_report_empty(platform->name, "it shows no device: its hardware isn't there, or isn't for this user");
    else if (error)
        tsl_driver_report_problem("platform %s could not list its devices (error %d)", platform->name, error);
    for (cl_uint i = 0; !error && i < n; i++)
        if (ids[i])
            show_device(probe, platform, ids[i], i);
    free(ids);
    probe->n_platforms++;
}

cl_int tsl_opencl_probe(tsl_found_fn *found, void *arg)
{
    struct probe probe = {.found = found, .arg = arg};

    tsl_opencl_platforms(tsl_settings()->vendors, show_platform, &probe);
    return CL_SUCCESS;
}

cl_int tsl_opencl_info(const struct tsl_path *path, cl_device_info param, size_t size, void *value, size_t *size_ret)
{
    struct tsl_opencl_device *device = path->priv;
    cl_int error;

    if ((device->quirks.no_builtins || !device->cl.clCreateProgramWithBuiltInKernels) &&
        (param == CL_DEVICE_BUILT_IN_KERNELS || param == CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION))
        return CL_INVALID_VALUE;
    if (param == CL_DEVICE_IL_VERSION && !device->cl.clCreateProgramWithIL)
        return CL_INVALID_VALUE;
    if (param == CL_DEVICE_IMAGE_SUPPORT && !tsl_opencl_has_images(device)) {
        const struct tsl_info info = {size, value, size_ret};

        return tsl_info_uint(&info, CL_FALSE);
    }
    tsl_opencl_enter(device);
    error = device->cl.clGetDeviceInfo(device->id, param, size, value, size_ret);
    tsl_opencl_leave(device);
    return error;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

/* The vendor's own words about what went wrong in the context; called from any thread of it. */
static void CL_CALLBACK context_error(const char *text, const void *data, size_t size, void *arg)
{
    (void)data;
    (void)size;
    tsl_opencl_take();
    tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_WARN, "%s: %s", (const char *)arg, text ? text : "an error without words");
}

static cl_int create_context(struct tsl_opencl_member *m)
{
    const struct tsl_opencl_device *device = m->device;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform->id, 0};
    cl_int error = CL_SUCCESS;

    tsl_opencl_give();
    m->context = m->cl->clCreateContext(properties, 1, &device->id, context_error, (void *)m->base.path->id, &error);
    /* Some vendors give both an error and something that isn't to be touched. */
    if (error)
        return error;
    return m->context ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/* In units, times megahertz: a guess until something is measured. GPUs have more lanes in a unit. */
static double rough_speed(const struct tsl_opencl_device *device, cl_device_type type)
{
    double units = (double)number(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    double clock = (double)number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    double width = type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR) ? 8.0 : 64.0;

    return (units > 0 ? units : 1.0) * (clock > 0 ? clock : 1000.0) * width * device->quirks.speed;
}

/* What FPGAs' direct memory access takes (Alonso 2023, 4.2.4). */
#define DMA_ALIGN 64u

/* OpenCL has no question for it: AMD's units run some 2000. Where they run fewer, cuts of launches that are smaller
 * than this are tried before they are trusted. */
#define UNIT_ITEMS 2048u

static bool may_have_gates(const struct tsl_opencl_quirks *quirks)
{
    return !quirks->no_gates || tsl_settings()->gates == TSL_GATES_ON;
}

static void fill_caps(const struct tsl_opencl_device *device, cl_device_type type, struct tsl_member_caps *caps)
{
    cl_command_queue_properties queue = number(device, CL_DEVICE_QUEUE_PROPERTIES);
    cl_ulong align = number(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;

    *caps = (struct tsl_member_caps){
        .submits_block = device->quirks.synchronous,
        .gates = !device->quirks.synchronous && may_have_gates(&device->quirks),
        .ordered_lanes = true,
        .profiles = (queue & CL_QUEUE_PROFILING_ENABLE) && !device->quirks.no_times,
        .memory_size = number(device, CL_DEVICE_GLOBAL_MEM_SIZE),
        .max_alloc_size = number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        .base_align = align ? align : 1,
        .dma_align = type & CL_DEVICE_TYPE_ACCELERATOR ? DMA_ALIGN : 0,
        .access_holds = device->quirks.access_holds,
        .fill_items =
            type & CL_DEVICE_TYPE_GPU ? (uint32_t)number(device, CL_DEVICE_MAX_COMPUTE_UNITS) * UNIT_ITEMS : 0,
        .speed = rough_speed(device, type),
    };
}

static void init_locks(struct tsl_opencl_member *m)
{
    pthread_mutex_init(&m->gates_lock, NULL);
    pthread_mutex_init(&m->notices_lock, NULL);
    pthread_mutex_init(&m->pool_lock, NULL);
    pthread_mutex_init(&m->samplers_lock, NULL);
    pthread_mutex_init(&m->stage_lock, NULL);
    pthread_mutex_init(&m->pinned_lock, NULL);
    LIST_INIT(&m->pinned);
    tsl_combine_kernels_init(&m->combine);
}

static void destroy_locks(struct tsl_opencl_member *m)
{
    pthread_mutex_destroy(&m->gates_lock);
    pthread_mutex_destroy(&m->notices_lock);
    pthread_mutex_destroy(&m->pool_lock);
    pthread_mutex_destroy(&m->samplers_lock);
    pthread_mutex_destroy(&m->stage_lock);
    pthread_mutex_destroy(&m->pinned_lock);
}

/* A first sighting, where the vendor gives one; otherwise each profiled event brings its own. */
static void see_clock(struct tsl_opencl_member *m)
{
    cl_ulong device_ns, host_ns;
    uint64_t before = tsl_clock_ns();

    /* Its host time is of a clock that the vendor chose, so only the moment counts. */
    if (m->cl->clGetDeviceAndHostTimer && !m->cl->clGetDeviceAndHostTimer(m->device->id, &device_ns, &host_ns) &&
        device_ns)
        tsl_clock_map_feed(&m->clock, device_ns, before, tsl_clock_ns());
}

/* What isn't a GPU may have no DMA, or wants nothing but its alignment. */
static bool pins_host(const struct tsl_opencl_member *m)
{
    enum tsl_pinned pinned = tsl_settings()->pinned;
    bool wanted = pinned == TSL_PINNED_ON || (pinned == TSL_PINNED_AUTO && (m->base.path->type & CL_DEVICE_TYPE_GPU));

    return wanted && !m->base.caps.zero_copy && m->cl->clEnqueueMapBuffer && m->cl->clEnqueueUnmapMemObject;
}

cl_int tsl_opencl_open(const struct tsl_path *path, struct tsl_member **member)
{
    struct tsl_opencl_device *device = path->priv;
    struct tsl_opencl_member *m = calloc(1, sizeof(*m));
    cl_int error;

    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->base.driver = &tsl_opencl_driver;
    m->base.path = path;
    m->device = device;
    m->cl = &device->cl;
    tsl_opencl_enter(device);
    fill_caps(device, path->type, &m->base.caps);
    tsl_opencl_svm_caps(device, &m->base.caps);
    error = create_context(m);
    if (!error && tsl_settings()->zero_copy == TSL_ZERO_COPY_ON)
        m->base.caps.zero_copy = tsl_opencl_shares_memory(m);
    m->base.caps.pins_host = pins_host(m);
    m->stage_size = tsl_opencl_stage_size(m);
    if (!error)
        tsl_opencl_try_views(m);
    tsl_opencl_leave(device);
    if (error) {
        free(m);
        return error;
    }
    init_locks(m);
    tsl_opencl_collect_init(m);
    tsl_clock_map_init(&m->clock);
    see_clock(m);
    *member = &m->base;
    return CL_SUCCESS;
}

/* OpenCL 3.0's own errors, of which programs know the names, without those of extensions. */
static bool is_named(cl_int error)
{
    return (error <= CL_DEVICE_NOT_FOUND && error >= CL_KERNEL_ARG_INFO_NOT_AVAILABLE) ||
           (error <= CL_INVALID_VALUE && error >= CL_MAX_SIZE_RESTRICTION_EXCEEDED);
}

/* NVIDIA says -9999 of a kernel that left its memory, for example. */
static cl_int name(const struct tsl_opencl_member *member, cl_int error)
{
    tsl_log_once(TSL_LOG_IN_OPENCL, TSL_LOG_ERROR,
                 "%s: %s returned %d, which is no error of OpenCL's. The program is told CL_OUT_OF_RESOURCES",
                 member->base.path->id, member->base.path->platform_name, error);
    return CL_OUT_OF_RESOURCES;
}

cl_int tsl_opencl_error(struct tsl_opencl_member *member, cl_int error)
{
    if (error >= 0)
        return error;
    if (!is_named(error))
        error = name(member, error);
    if (error == CL_DEVICE_NOT_AVAILABLE)
        tsl_member_lose(&member->base, "its OpenCL says that the device is not available");
    return tsl_member_is_lost(&member->base) ? CL_DEVICE_NOT_AVAILABLE : error;
}

static void release_samplers(struct tsl_opencl_member *m)
{
    cl_sampler *sampler = &m->samplers[0][0][0];

    for (size_t i = 0; i < sizeof(m->samplers) / sizeof(*sampler); i++)
        if (sampler[i])
            m->cl->clReleaseSampler(sampler[i]);
}

void tsl_opencl_close(struct tsl_member *member)
{
    struct tsl_opencl_member *m = tsl_opencl_member(member);

    tsl_combine_kernels_finish(&m->combine);
    tsl_opencl_stage_destroy(m);
    tsl_opencl_fences_finish(m);
    tsl_opencl_collect_last(m);
    tsl_opencl_enter(m->device);
    release_samplers(m);
    m->cl->clReleaseContext(m->context);
    tsl_opencl_leave(m->device);
    tsl_clock_map_finish(&m->clock);
    destroy_locks(m);
    free(m);
}
