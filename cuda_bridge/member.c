/* Members: their context, errors, events, the clock. */
#include "cuda_bridge/member.h"
#include "cuda_bridge/ahead.h"
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/fence.h"
#include "cuda_bridge/host.h"
#include "cuda_bridge/memory.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/piece.h"
#include "cuda_bridge/pipeline.h"
#include "cuda_bridge/program.h"
#include "cuda_bridge/svm.h"
#include "cuda_bridge/warm.h"

#include "base/log.h"
#include "base/numa.h"
#include "base/settings.h"
#include "base/thread.h"
#include "driver/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How old the newest epoch may get: a float has 24 bits, so one second is told to 60 ns. */
#define EPOCH_AGE_NS UINT64_C(1000000000)

#define BETWEEN_TRIES 4

/* What stays in the pool of memory for the next allocation, at most, as a part of the whole. */
#define POOL_KEEPS 8
#define WARM_SIZE  ((size_t)1 << 20)

/* ---- Contexts and errors ----------------------------------------------------------------------------------------- */

/* The member that this thread is making ready. */
static _Thread_local struct tsl_cuda_member *preparing;

cl_int tsl_cuda_enter_open(struct tsl_cuda_member *member)
{
    if (tsl_member_is_lost(&member->base))
        return CL_DEVICE_NOT_AVAILABLE;
    return tsl_cuda_error(member, tsl_cu.cuCtxPushCurrent_v2(member->context));
}

cl_int tsl_cuda_enter(struct tsl_cuda_member *member)
{
    if (!tsl_member_is_ready(&member->base) && preparing != member && tsl_cuda_prepare(&member->base))
        return CL_DEVICE_NOT_AVAILABLE;
    return tsl_cuda_enter_open(member);
}

bool tsl_cuda_enter_anyway(struct tsl_cuda_member *member)
{
    return member->context && tsl_cu.cuCtxPushCurrent_v2(member->context) == CUDA_SUCCESS;
}

void tsl_cuda_leave(struct tsl_cuda_member *member)
{
    CUcontext context;

    (void)member;
    tsl_cu.cuCtxPopCurrent_v2(&context);
}

/* After these the context answers every call with the same error (CUDA Driver API, "Data types used by CUDA driver").
 */
static bool is_final(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED;
    }
}

static const char *words(CUresult result)
{
    const char *text = NULL;

    if (tsl_cu.cuGetErrorString(result, &text) || !text)
        return "no words for it";
    return text;
}

/* Calls that have to do with two members tell of the other's death, too: is it this context that is dead? */
static bool is_dead(struct tsl_cuda_member *member, CUresult result)
{
    CUcontext context;

    if (result == CUDA_ERROR_DEINITIALIZED || !member->memory_stream ||
        tsl_cu.cuCtxPushCurrent_v2(member->context) != CUDA_SUCCESS)
        return true;
    result = tsl_cu.cuStreamSynchronize(member->memory_stream); /* It is idle between calls. */
    tsl_cu.cuCtxPopCurrent_v2(&context);
    return result != CUDA_SUCCESS;
}

/* Is it the fault of a kernel? */
static bool is_fault(CUresult result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT ||
           (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

static void lose(struct tsl_cuda_member *member, CUresult result)
{
    char why[256];

    snprintf(why, sizeof(why), "CUDA error %u, %s", result, words(result));
    member->base.lost_by_work = is_fault(result);
    /* When the process ends CUDA is gone before us: that is not worth a message. */
    tsl_member_lose(&member->base, result == CUDA_ERROR_DEINITIALIZED ? NULL : why);
}

cl_int tsl_cuda_error(struct tsl_cuda_member *member, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return CL_SUCCESS;
    if (is_final(result) && is_dead(member, result)) {
        lose(member, result);
        return CL_DEVICE_NOT_AVAILABLE;
    }
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s: CUDA error %u, %s", member->base.path->id, result, words(result));
    switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
        return CL_INVALID_VALUE;
    default:
        return CL_OUT_OF_RESOURCES;
    }
}

/* ---- Next to the GPU --------------------------------------------------------------------------------------------- */

bool tsl_cuda_thread_start(struct tsl_cuda_member *member, pthread_t *thread, void *(*run)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    bool started;

    if (pthread_attr_init(&attributes))
        return false;
    tsl_numa_thread(&attributes, tsl_path_numa_node(member->base.path));
    started = tsl_thread_start(thread, &attributes, run, arg) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

CUevent tsl_cuda_event_get(struct tsl_cuda_member *member, bool times, CUresult *result)
{
    struct tsl_cuda_events *free_ones = &member->free_events[times];
    CUevent event = NULL;

    *result = CUDA_SUCCESS;
    tsl_spin_take(&member->pool_lock);
    if (free_ones->n)
        event = free_ones->events[--free_ones->n];
    tsl_spin_give(&member->pool_lock);
    if (!event)
        *result = tsl_cu.cuEventCreate(&event, times ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
    return *result ? NULL : event;
}

static bool make_room_locked(struct tsl_cuda_events *list)
{
    unsigned room = list->room ? 2 * list->room : 64;
    CUevent *events;

    if (list->n < list->room)
        return true;
    events = realloc(list->events, room * sizeof(*events));
    if (!events)
        return false;
    list->events = events;
    list->room = room;
    return true;
}

void tsl_cuda_event_put(struct tsl_cuda_member *member, bool times, CUevent event)
{
    struct tsl_cuda_events *list = &member->free_events[times];
    bool kept;

    if (!event)
        return;
    tsl_spin_take(&member->pool_lock);
    kept = make_room_locked(list);
    if (kept)
        list->events[list->n++] = event;
    tsl_spin_give(&member->pool_lock);
    if (!kept && !tsl_cuda_enter(member)) {
        tsl_cu.cuEventDestroy_v2(event);
        tsl_cuda_leave(member);
    }
}

static void destroy_events(struct tsl_cuda_member *member)
{
    for (int times = 0; times < 2; times++) {
        struct tsl_cuda_events *list = &member->free_events[times];

        for (unsigned i = 0; i < list->n; i++)
            tsl_cu.cuEventDestroy_v2(list->events[i]);
        free(list->events);
    }
}

/* ---- The clock --------------------------------------------------------------------------------------------------- */

/* A sighting of this width is good enough; so many are tried at most. */
#define SHARP_NS  UINT64_C(200000)
#define MAX_LOOKS 16

/* So long a submission waits for the device to show its clock once more. */
#define PATIENCE_NS UINT64_C(5000000)

static void drop_epoch(struct tsl_cuda_member *member, struct tsl_cuda_epoch *epoch)
{
    bool last;

    tsl_spin_take(&member->pool_lock);
    last = --epoch->refs == 0;
    tsl_spin_give(&member->pool_lock);
    if (!last)
        return;
    tsl_cuda_event_put(member, true, epoch->event);
    free(epoch);
}

void tsl_cuda_epoch_put(struct tsl_cuda_member *member, struct tsl_cuda_epoch *epoch)
{
    if (epoch)
        drop_epoch(member, epoch);
}

/* Records an event on the idle stream and looks until it is there: the device's clock showed that moment in between.
 * CUDA_ERROR_NOT_READY: the device stands still, or is another process's for a while. Nobody waits for that who has an
 * older epoch. */
static CUresult see_once(struct tsl_cuda_member *member, struct tsl_cuda_epoch *epoch, uint64_t *before,
                         uint64_t *after)
{
    CUresult result;

    *before = tsl_clock_ns();
    result = tsl_cu.cuEventRecord(epoch->event, member->clock_stream);
    while (!result && (result = tsl_cu.cuEventQuery(epoch->event)) == CUDA_ERROR_NOT_READY &&
           (!member->epoch || tsl_clock_ns() - *before < PATIENCE_NS))
        result = CUDA_SUCCESS, sched_yield();
    *after = tsl_clock_ns();
    return result;
}

/* The narrowest sighting of some: where this thread lost its processor in between, it looks again. */
static CUresult see(struct tsl_cuda_member *member, struct tsl_cuda_epoch *epoch, uint64_t *before, uint64_t *after)
{
    CUresult result = CUDA_SUCCESS;

    *before = *after = 0;
    for (int i = 0; i < MAX_LOOKS && !result && (!i || *after - *before > SHARP_NS); i++)
        result = see_once(member, epoch, before, after);
    return result;
}

/* How far apart two events are with nothing between them: the least of some tries. */
static double look_between(struct tsl_cuda_member *member, CUevent first)
{
    double least = 0;
    CUresult result;
    CUevent second = tsl_cuda_event_get(member, true, &result);

    for (int i = 0; i < BETWEEN_TRIES && !result; i++) {
        float milliseconds = 0;

        result = tsl_cu.cuEventRecord(first, member->clock_stream);
        if (!result)
            result = tsl_cu.cuEventRecord(second, member->clock_stream);
        if (!result)
            result = tsl_cu.cuStreamSynchronize(member->clock_stream);
        if (!result)
            result = tsl_cu.cuEventElapsedTime(&milliseconds, first, second);
        if (!i || (double)milliseconds * 1e6 < least)
            least = (double)milliseconds * 1e6;
    }
    tsl_cuda_event_put(member, true, second);
    return result ? 0 : least;
}

static struct tsl_cuda_epoch *new_epoch(struct tsl_cuda_member *member)
{
    struct tsl_cuda_epoch *epoch = calloc(1, sizeof(*epoch)), *old = member->epoch;
    float milliseconds = 0;
    uint64_t before, after;
    CUresult result;

    if (!epoch)
        return NULL;
    epoch->event = tsl_cuda_event_get(member, true, &result);
    if (!result && !old)
        member->between_ns = look_between(member, epoch->event);
    if (!result)
        result = see(member, epoch, &before, &after);
    if (!result && old)
        result = tsl_cu.cuEventElapsedTime(&milliseconds, old->event, epoch->event);
    if (result) {
        if (result != CUDA_ERROR_NOT_READY)
            tsl_cuda_error(member, result);
        tsl_cuda_event_put(member, true, epoch->event);
        free(epoch);
        return NULL;
    }
    epoch->device_ns = (old ? old->device_ns : before) + (uint64_t)((double)milliseconds * 1e6);
    epoch->refs = 1;
    tsl_clock_map_feed(&member->clock, epoch->device_ns, before, after);
    return epoch;
}

struct tsl_cuda_epoch *tsl_cuda_epoch_get(struct tsl_cuda_member *member)
{
    struct tsl_cuda_epoch *epoch, *old = NULL;

    pthread_mutex_lock(&member->clock_lock);
    epoch = member->epoch;
    if (!epoch || tsl_clock_ns() - member->looked_ns > EPOCH_AGE_NS) {
        struct tsl_cuda_epoch *newer = new_epoch(member);

        member->looked_ns = tsl_clock_ns();
        if (newer) {
            old = epoch;
            epoch = member->epoch = newer;
        }
    }
    if (epoch) {
        tsl_spin_take(&member->pool_lock);
        epoch->refs++;
        tsl_spin_give(&member->pool_lock);
    }
    pthread_mutex_unlock(&member->clock_lock);
    tsl_cuda_epoch_put(member, old);
    return epoch;
}

/* When memory of the application's is pinned where it lies. To pin it and let it go takes 0.2 ms and 40 to 60 us for
 * each MiB (H200), in which CUDA lets no launch through; that pays after 4 transfers of 1 to 16 MiB, 6 of 64 MiB and 10
 * of 256 MiB. But by processor time, and where others keep the processors busy, it pays after one at all sizes; so 4
 * (docs/lab/experiments.md, "Memory that the program lends"). */
#define REGISTER_FROM  ((size_t)1 << 20)
#define REGISTER_AFTER 4

#define FIRST_LAUNCH_NS 1e6 /* with code that CUDA has made before, as measured (H200: half of that) */

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static void fill_caps(const struct tsl_cuda_gpu *gpu, struct tsl_member_caps *caps)
{
    *caps = (struct tsl_member_caps){
        .gates = true,
        .gates_ahead = true,
        .pins_host = tsl_settings()->pinned != TSL_PINNED_OFF,
        .pins_at_once = true,
        .register_from = tsl_settings()->pinned != TSL_PINNED_OFF ? REGISTER_FROM : 0,
        .register_after = REGISTER_AFTER,
        .ordered_lanes = true,
        .lanes_abreast = true,
        .profiles = true,
        .memory_size = gpu->memory_size,
        .max_alloc_size = gpu->max_alloc_size,
        .base_align = 128,
        .svm = gpu->managed ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER : 0,
        .svm_is_mem = gpu->managed,
        .takes_parts = true,
        .domain = gpu->domain,
        .domain_atomics = gpu->domain_atomics,
        .domain_granule = gpu->domain_granule,
        .first_launch_ns = FIRST_LAUNCH_NS,
        .fill_items = (uint32_t)(gpu->n_units * gpu->unit_items),
        /* As the OpenCL driver guesses for GPUs: units times megahertz times lanes. */
        .speed = (double)gpu->n_units * gpu->clock_khz / 1000.0 * 64.0,
    };
}

static void init_locks(struct tsl_cuda_member *m)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&m->memory_lock, NULL);
    pthread_mutex_init(&m->clock_lock, NULL);
    pthread_mutex_init(&m->dues_lock, NULL);
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->pipeline_lock, NULL);
    pthread_mutex_init(&m->ready_lock, NULL);
    pthread_mutex_init(&m->late_lock, NULL);
    pthread_cond_init(&m->late_loaded, NULL);
    LIST_INIT(&m->late);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->changed, &attr);
    pthread_cond_init(&m->kicked, &attr);
    pthread_condattr_destroy(&attr);
    TAILQ_INIT(&m->dues);
    TAILQ_INIT(&m->held);
    STAILQ_INIT(&m->watches);
    tsl_clock_map_init(&m->clock);
}

static void finish_locks(struct tsl_cuda_member *m)
{
    tsl_clock_map_finish(&m->clock);
    pthread_cond_destroy(&m->kicked);
    pthread_cond_destroy(&m->changed);
    pthread_cond_destroy(&m->late_loaded);
    pthread_mutex_destroy(&m->late_lock);
    pthread_mutex_destroy(&m->ready_lock);
    pthread_mutex_destroy(&m->pipeline_lock);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->dues_lock);
    pthread_mutex_destroy(&m->clock_lock);
    pthread_mutex_destroy(&m->memory_lock);
}

static CUresult create_pool(struct tsl_cuda_member *m)
{
    const CUmemPoolProps props = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = m->gpu->device},
    };
    uint64_t keeps = m->gpu->memory_size / POOL_KEEPS;
    CUresult result = tsl_cu.cuMemPoolCreate(&m->pool, &props);

    if (result)
        m->pool = NULL;
    else
        result = tsl_cu.cuMemPoolSetAttribute(m->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keeps);
    return result;
}

/* The first allocation takes 10 ms, which programs would see in their first transfer. A GPU without room is open, too.
 */
static void warm_pool(struct tsl_cuda_member *m)
{
    CUdeviceptr address;

    if (!tsl_cu.cuMemAllocFromPoolAsync(&address, WARM_SIZE, m->pool, m->memory_stream))
        tsl_cu.cuMemFreeAsync(address, m->memory_stream);
}

static void destroy_things(struct tsl_cuda_member *m)
{
    if (m->memory_stream)
        tsl_cu.cuStreamDestroy_v2(m->memory_stream);
    if (m->clock_stream)
        tsl_cu.cuStreamDestroy_v2(m->clock_stream);
    if (m->pool)
        tsl_cu.cuMemPoolDestroy(m->pool);
    m->memory_stream = m->clock_stream = NULL;
    m->pool = NULL;
}

/* Why a member couldn't be made ready: a part of a sentence. */
struct why {
    char words[256];
};

/* The error of a call without which the member can't be opened. */
static cl_int say_why(const char *call, CUresult result, struct why *why)
{
    if (!result)
        return CL_SUCCESS;
    snprintf(why->words, sizeof(why->words), "%s: CUDA error %u, %s", call, result, words(result));
    return CL_OUT_OF_RESOURCES;
}

static cl_int make_things(struct tsl_cuda_member *m, struct why *why)
{
    cl_int error = tsl_cuda_enter_open(m);

    if (error)
        return error;
    error = say_why("cuMemPoolCreate", create_pool(m), why);
    if (!error)
        error = say_why("cuStreamCreate", tsl_cu.cuStreamCreate(&m->memory_stream, CU_STREAM_NON_BLOCKING), why);
    if (!error)
        error = say_why("cuStreamCreate", tsl_cu.cuStreamCreate(&m->clock_stream, CU_STREAM_NON_BLOCKING), why);
    if (!error)
        warm_pool(m);
    else
        destroy_things(m);
    tsl_cuda_leave(m);
    return error;
}

static cl_int make_context(struct tsl_cuda_member *m, struct why *why)
{
    CUcontext context = NULL;
    CUresult result = tsl_cu.cuDevicePrimaryCtxRetain(&context, m->gpu->device);
    cl_int error;

    if (result)
        return say_why("cuDevicePrimaryCtxRetain", result, why);
    m->context = context;
    error = make_things(m, why);
    if (error) {
        m->context = NULL;
        tsl_cu.cuDevicePrimaryCtxRelease_v2(m->gpu->device);
    }
    return error;
}

/* ready_lock is held. What was made stays until the member is closed, also if its programs can't be loaded. */
static cl_int make_ready_locked(struct tsl_cuda_member *m, struct why *why)
{
    cl_int error = make_context(m, why);

    if (error)
        return error;
    tsl_cuda_peers_join(m);
    preparing = m;
    error = tsl_cuda_programs_catch_up(m);
    preparing = NULL;
    if (error)
        snprintf(why->words, sizeof(why->words), "its programs can't be loaded (error %d)", error);
    return error;
}

static cl_int make_ready(struct tsl_cuda_member *m, struct why *why)
{
    cl_int error = CL_SUCCESS;

    pthread_mutex_lock(&m->ready_lock);
    if (!tsl_member_is_ready(&m->base)) {
        error = tsl_member_is_lost(&m->base) ? CL_DEVICE_NOT_AVAILABLE : make_ready_locked(m, why);
    }
    pthread_mutex_unlock(&m->ready_lock);
    return error;
}

cl_int tsl_cuda_prepare(struct tsl_member *member)
{
    struct why why = {"no words for it"};
    char sentence[sizeof(why) + 32];

    if (!tsl_member_is_ready(member))
        tsl_cuda_warm_others(tsl_cuda_member(member));
    if (make_ready(tsl_cuda_member(member), &why) == CL_SUCCESS)
        return CL_SUCCESS;
    snprintf(sentence, sizeof(sentence), "it could not be opened (%s)", why.words);
    tsl_member_lose(member, sentence);
    return CL_DEVICE_NOT_AVAILABLE;
}

static void free_member(struct tsl_cuda_member *m)
{
    if (m->context)
        tsl_cu.cuDevicePrimaryCtxRelease_v2(m->gpu->device);
    tsl_combine_kernels_finish(&m->combine);
    tsl_gather_kernels_finish(&m->gather);
    finish_locks(m);
    free(atomic_load(&m->base.lost_why));
    free(m);
}

/* A GPU that may be another process's is made ready at once: the program isn't told of one that it can't have. */
cl_int tsl_cuda_open(const struct tsl_path *path, struct tsl_member **member)
{
    struct tsl_cuda_member *m = calloc(1, sizeof(*m));
    struct why why = {""};
    cl_int error;

    if (!m)
        return CL_OUT_OF_HOST_MEMORY;
    m->base.driver = &tsl_cuda_driver;
    m->base.path = path;
    m->gpu = path->priv;
    fill_caps(m->gpu, &m->base.caps);
    atomic_store(&m->base.unready, true);
    init_locks(m);
    tsl_cuda_pieces_init(m);
    tsl_combine_kernels_init(&m->combine);
    tsl_gather_kernels_init(&m->gather);
    tsl_cuda_warm_init(m);
    tsl_cuda_take_slot(m);
    error = m->gpu->exclusive ? make_ready(m, &why) : CL_SUCCESS;
    if (error) {
        tsl_driver_report_why("%s", why.words);
        tsl_cuda_give_slot(m);
        free_member(m);
        return error;
    }
    *member = &m->base;
    return CL_SUCCESS;
}

/* What was made when the member was made ready, and since. */
static void destroy_all(struct tsl_cuda_member *m)
{
    bool entered;

    tsl_cuda_bridge_stop(m);
    entered = tsl_cuda_enter_anyway(m); /* Our own memory is freed in any case. */
    tsl_cuda_pipeline_destroy(m->pipeline);
    tsl_cuda_give_slot(m);
    tsl_cuda_dues_run(m, UINT64_MAX);
    tsl_cuda_fences_finish(m);
    tsl_cuda_epoch_put(m, m->epoch);
    tsl_cuda_hosts_finish(m);
    tsl_cuda_svm_finish(m);
    tsl_cuda_words_finish(m);
    tsl_cuda_pieces_finish(m);
    destroy_events(m);
    destroy_things(m);
    if (entered)
        tsl_cuda_leave(m);
}

void tsl_cuda_close(struct tsl_member *member)
{
    struct tsl_cuda_member *m = tsl_cuda_member(member);

    tsl_cuda_warm_finish();
    tsl_combine_kernels_finish(&m->combine);
    tsl_gather_kernels_finish(&m->gather);
    destroy_all(m);
    if (m->context)
        tsl_cu.cuDevicePrimaryCtxRelease_v2(m->gpu->device);
    finish_locks(m);
    free(m);
}
