/* The table, and the life of a member and its lanes. */
#include "base/numa.h"
#include "base/settings.h"
#include "cpu_device/fault.h"
#include "cpu_device/launch.h"
#include "cpu_device/operations.h"
#include "cpu_device/queue.h"
#include "cpu_device/team.h"
#include "cpu_device/work.h"
#include "driver/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What /proc/cpuinfo says of the first processor; NULL: nothing. */
static char *processor_says(const char *key)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256], *text = NULL;

    while (file && !text && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');

        if (strncmp(line, key, strlen(key)) || !colon)
            continue;
        colon[1 + strcspn(colon + 1, "\n")] = 0;
        text = strdup(colon + 1 + strspn(colon + 1, " "));
    }
    if (file)
        fclose(file);
    return text;
}

static char *processor_name(void)
{
    char *name = processor_says("model name");

    return name ? name : strdup("CPU");
}

/* As the OpenCL driver guesses for processors: units, times megahertz, times lanes. Its quirks say how much slower
 * other vendors' code for processors is than ours. */
static double rough_speed(unsigned n_threads)
{
    char *text = processor_says("cpu MHz");
    double megahertz = text ? strtod(text, NULL) : 0;

    free(text);
    return n_threads * (megahertz > 0 ? megahertz : 1000.0) * 8.0;
}

/* Groups of other sizes are other kinds of members: they take other times. */
static char *member_name(const struct cpu_place *place)
{
    char *processor = processor_name(), *name;

    if (!place->bound || !processor)
        return processor;
    if (asprintf(&name, "%s, %u thread%s", processor, place->n_threads, place->n_threads > 1 ? "s" : "") < 0)
        name = NULL;
    free(processor);
    return name;
}

static void find_numa_node(const struct cpu_place *place, struct tsl_identity *identity)
{
    int node = place->bound ? tsl_numa_node_of(&place->processors) : -1;

    identity->has_numa = node >= 0;
    identity->numa_node = node >= 0 ? (unsigned)node : 0;
}

static void find(unsigned number, tsl_found_fn *found, void *arg)
{
    struct tsl_path path = {.driver = &tsl_cpu_driver,
                            .type = CL_DEVICE_TYPE_CPU,
                            .identity = {.is_host_cpu = true},
                            .preference = tsl_settings()->cpu == TSL_CPU_BUILT_IN ? TSL_OWN_FIRST : TSL_OWN_LAST,
                            .turned_by = "TESELA_CPU=opencl",
                            .priv = (void *)(uintptr_t)number};
    struct cpu_place place;

    cpu_place_get(number, &place);
    cpu_place_complain(number, &place);
    find_numa_node(&place, &path.identity);
    snprintf(path.id, sizeof(path.id), "%s", cpu_place_id(number));
    path.platform_name = strdup("Tesela CPU");
    path.device_name = member_name(&place);
    path.driver_version = strdup(TESELA_VERSION);
    path.compiler = tsl_compile_identity();
    found(arg, &path);
}

static cl_int probe(tsl_found_fn *found, void *arg)
{
    const char *why;

    if (!tsl_compile_available(&why)) {
        /* No problem: a build without LLVM is made on purpose, and `tesela info` says so. */
        tsl_driver_report_empty("Tesela CPU", why);
        return CL_SUCCESS;
    }
    for (unsigned i = 0; i < cpu_place_count(); i++)
        find(i, found, arg);
    return CL_SUCCESS;
}

/* It is held for less than a sleep takes: a thread that finds it taken looks again for a while first. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t adaptive;

    pthread_mutexattr_init(&adaptive);
#ifdef __GLIBC__
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
}

/* Members with memory of their own have the host's in truth, so kernels of several can work on one piece of it at the
 * same time, and change it by the processors' atomic operations. */
static void join_domain(struct tsl_member_caps *caps)
{
    if (caps->zero_copy || cpu_place_count_apart() < 2)
        return;
    caps->domain = 1;
    caps->domain_atomics = true;
    caps->domain_granule = (size_t)sysconf(_SC_PAGESIZE);
}

static cl_int open_member(const struct tsl_path *path, struct tsl_member **member)
{
    struct cpu_member *m = aligned_alloc(_Alignof(struct cpu_member), sizeof(*m));
    cl_int error;

    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    memset(m, 0, sizeof(*m));
    m->base.driver = &tsl_cpu_driver;
    m->base.path = path;
    cpu_place_get(cpu_place_number(path), &m->place);
    m->base.caps =
        (struct tsl_member_caps){.zero_copy = tsl_settings()->zero_copy == TSL_ZERO_COPY_ON && !m->place.transfers,
                                 .zero_copy_images = true,
                                 .takes_parts = true,
                                 .gates = true,
                                 .ordered_lanes = true,
                                 .lanes_abreast = true,
                                 .profiles = true,
                                 .base_align = TSL_WG_ALIGN,
                                 .svm = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
                                 .svm_anywhere = true,
                                 .speed = rough_speed(m->place.n_threads)};
    m->base.caps.memory_size = cpu_place_memory(cpu_place_number(path));
    m->base.caps.max_alloc_size = m->base.caps.memory_size / 2;
    join_domain(&m->base.caps);
    m->n_threads = m->place.n_threads;
    m->ready_end = &m->ready;
    TAILQ_INIT(&m->gates);
    init_lock(&m->lock);
    pthread_cond_init(&m->done, NULL);
    tsl_pool_init(&m->tasks, sizeof(struct cpu_task));
    tsl_pool_init(&m->launches, cpu_launch_size());
    cpu_fault_install();
    error = cpu_team_start(m);
    if (error) {
        free(m);
        return error;
    }
    *member = &m->base;
    return CL_SUCCESS;
}

static void close_member(struct tsl_member *member)
{
    struct cpu_member *m = cpu_member_of(member);

    cpu_team_stop(m);
    while (m->helpers) {
        struct cpu_worker *next = m->helpers->next;

        cpu_worker_finish(m->helpers);
        free(m->helpers);
        m->helpers = next;
    }
    tsl_pool_finish(&m->tasks);
    tsl_pool_finish(&m->launches);
    pthread_cond_destroy(&m->done);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static cl_int lane_create(struct tsl_member *member, unsigned use, struct tsl_lane **lane)
{
    struct cpu_lane *l = calloc(1, sizeof(*l));

    if (!l)
        return CL_OUT_OF_HOST_MEMORY;
    l->base.member = member;
    l->profile = use & TSL_LANE_PROFILES;
    atomic_init(&l->refs, 1);
    *lane = &l->base;
    return CL_SUCCESS;
}

void cpu_lane_unref(struct cpu_lane *lane)
{
    if (atomic_fetch_sub(&lane->refs, 1) == 1)
        free(lane);
}

static void lane_free(struct tsl_lane *lane)
{
    struct cpu_lane *l = (struct cpu_lane *)lane;
    struct cpu_member *member = cpu_member_of(lane->member);
    struct cpu_task *last;

    pthread_mutex_lock(&member->lock);
    last = l->last;
    l->last = NULL;
    pthread_mutex_unlock(&member->lock);
    cpu_wake(member);
    if (last)
        tsl_fence_unref(&last->fence);
    cpu_lane_unref(l);
}

static cl_int flush(struct tsl_lane *lane)
{
    cpu_wake(cpu_member_of(lane->member));
    return CL_SUCCESS;
}

static cl_int finish(struct tsl_lane *lane)
{
    struct cpu_lane *l = (struct cpu_lane *)lane;
    struct cpu_member *member = cpu_member_of(lane->member);
    struct cpu_task *last;
    cl_int error;

    pthread_mutex_lock(&member->lock);
    last = l->last;
    if (last)
        tsl_fence_ref(&last->fence);
    pthread_mutex_unlock(&member->lock);
    if (last) {
        cpu_wait_task(last);
        tsl_fence_unref(&last->fence);
    }
    pthread_mutex_lock(&member->lock);
    error = l->error;
    l->error = CL_SUCCESS;
    pthread_mutex_unlock(&member->lock);
    return error;
}

static cl_int mark(struct tsl_lane *lane, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct cpu_task *task = cpu_task_create(cpu_member_of(lane->member), CPU_MARK);

    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    return cpu_submit(lane, task, waits, fence);
}

/* Both are of this driver, and all memory is the process'. */
static bool can_copy_peer(struct tsl_member *from, struct tsl_member *to)
{
    (void)from;
    (void)to;
    return true;
}

static bool can_wait(struct tsl_member *member, const struct tsl_fence *fence)
{
    return fence->driver == &tsl_cpu_driver && fence->member == member;
}

const struct tsl_driver tsl_cpu_driver = {
    .name = "cpu",
    .probe = probe,
    .open = open_member,
    .close = close_member,
    .info = cpu_info,
    .lane_create = lane_create,
    .lane_free = lane_free,
    .flush = flush,
    .finish = finish,
    .mem_alloc = cpu_mem_alloc,
    .spread_alloc = cpu_spread_alloc,
    .mem_sub = cpu_mem_sub,
    .mem_free = cpu_mem_free,
    .image_formats = cpu_image_formats,
    .image_alloc = cpu_image_alloc,
    .image_of = cpu_image_of,
    .can_copy_peer = can_copy_peer,
    .copy = cpu_copy,
    .gather = cpu_gather,
    .fill = cpu_fill,
    .combine = cpu_combine,
    .can_combine = cpu_can_combine,
    .launch = cpu_launch,
    .mark = mark,
    .fence_status = cpu_fence_status,
    .fence_wait = cpu_fence_wait,
    .fence_notify = cpu_fence_notify,
    .fence_times = cpu_fence_times,
    .fence_free = cpu_fence_free,
    .can_wait = can_wait,
    .gate_create = cpu_gate_create,
    .gate_open = cpu_gate_open,
    .gate_by = cpu_gate_by,
    .fence_is_sure = cpu_fence_is_sure,
    .build = cpu_build,
    .compile = cpu_compile,
    .link = cpu_link,
    .program_binary = cpu_program_binary,
    .program_free = cpu_program_free,
    .program_variables = cpu_program_variables,
    .program_kernels = cpu_program_kernels,
    .kernel_create = cpu_kernel_create,
    .substitute = cpu_substitute,
    .kernel_free = cpu_kernel_free,
    .windows_ok = cpu_windows_ok,
};
