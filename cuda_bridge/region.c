/*
 * Memory of the application's that is pinned where it lies, so that transfers from and to it need no thread of ours.
 *
 * Only whole pages are: what shares a page with something else is the application's to pin, or another buffer's. So
 * the list says what is pinned by us; CUDA, which is asked of all other memory, might count the rest of a page, too.
 */
#include "cuda_bridge/region.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/pipeline.h"

#include <stdlib.h>
#include <unistd.h>

#define PART 4 /* of the machine's memory may be pinned so, by all members together */

/* A transfer that was submitted. */
struct use {
    struct tsl_cuda_member *member;
    CUevent event; /* behind it */
    STAILQ_ENTRY(use) next;
};

/* Everything but the constants is guarded by `lock`. */
struct tsl_cuda_region {
    struct tsl_cuda_member *member; /* by which CUDA pinned it */
    uintptr_t begin, end;           /* whole pages */
    bool leaving;                   /* no more transfers, and soon it isn't pinned any more */
    bool gone;                      /* it isn't any more, and not in the list */
    unsigned n_users;               /* threads that are submitting a transfer */
    STAILQ_HEAD(, use) uses;        /* oldest first */
    LIST_ENTRY(tsl_cuda_region) link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(, tsl_cuda_region) regions = LIST_HEAD_INITIALIZER(regions);
static atomic_uint n_regions; /* in the list; written under lock */
static unsigned n_pinning;    /* threads that are pinning what is in the list already, or unpinning it */
static size_t pinned_size;    /* bytes of all in the list */

static struct tsl_cuda_region *find_locked(uintptr_t begin, uintptr_t end)
{
    struct tsl_cuda_region *region;

    LIST_FOREACH(region, &regions, link)
    if (region->begin < end && begin < region->end)
        return region;
    return NULL;
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

bool tsl_cuda_region_meets(const void *begin, size_t size)
{
    bool meets;

    if (!atomic_load_explicit(&n_regions, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&lock);
    meets = find_locked((uintptr_t)begin, (uintptr_t)begin + size);
    pthread_mutex_unlock(&lock);
    return meets;
}

struct tsl_cuda_region *tsl_cuda_region_use(const void *begin, size_t size, size_t *before, size_t *behind)
{
    uintptr_t at = (uintptr_t)begin, end = at + size;
    struct tsl_cuda_region *region;

    if (!atomic_load_explicit(&n_regions, memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&lock);
    region = find_locked(at, end);
    if (region && region->leaving)
        region = NULL;
    if (region) {
        region->n_users++;
        *before = at < region->begin ? region->begin - at : 0;
        *behind = end > region->end ? end - region->end : 0;
    }
    pthread_mutex_unlock(&lock);
    return region;
}

static struct use *take_oldest(struct tsl_cuda_region *region)
{
    struct use *use;

    pthread_mutex_lock(&lock);
    use = STAILQ_FIRST(&region->uses);
    if (use)
        STAILQ_REMOVE_HEAD(&region->uses, next);
    pthread_mutex_unlock(&lock);
    return use;
}

static void drop(struct use *use)
{
    tsl_cuda_event_put(use->member, false, use->event);
    free(use);
}

/* Forgets the oldest transfers as far as they are over. Entered. */
static void forget_old(struct tsl_cuda_region *region)
{
    struct use *use;

    while ((use = take_oldest(region)) && tsl_cu.cuEventQuery(use->event) != CUDA_ERROR_NOT_READY)
        drop(use);
    if (!use)
        return;
    pthread_mutex_lock(&lock);
    STAILQ_INSERT_HEAD(&region->uses, use, next);
    pthread_mutex_unlock(&lock);
}

/* An event behind what the stream has; NULL: there is none to be had. */
static struct use *record(struct tsl_cuda_lane *lane)
{
    struct use *use = calloc(1, sizeof(*use));
    CUresult result;

    if (!use)
        return NULL;
    use->member = tsl_cuda_member(lane->base.member);
    use->event = tsl_cuda_event_get(use->member, false, &result);
    if (!result)
        result = tsl_cu.cuEventRecord(use->event, lane->stream);
    if (!result)
        return use;
    drop(use);
    return NULL;
}

void tsl_cuda_region_used(struct tsl_cuda_region *region, struct tsl_cuda_lane *lane, bool submitted)
{
    struct use *use = submitted ? record(lane) : NULL;

    if (submitted && !use)
        tsl_cu.cuStreamSynchronize(lane->stream);
    forget_old(region);
    pthread_mutex_lock(&lock);
    if (use)
        STAILQ_INSERT_TAIL(&region->uses, use, next);
    region->n_users--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

/* Takes it out of the list, once nothing uses it; the lock is given meanwhile. */
static void end_locked(struct tsl_cuda_region *region)
{
    struct use *use;
    bool entered;

    region->leaving = true;
    while (region->n_users)
        pthread_cond_wait(&changed, &lock);
    n_pinning++;
    pthread_mutex_unlock(&lock);
    entered = tsl_cuda_enter_anyway(region->member);
    while ((use = STAILQ_FIRST(&region->uses))) {
        STAILQ_REMOVE_HEAD(&region->uses, next);
        if (entered)
            tsl_cu.cuEventSynchronize(use->event);
        drop(use);
    }
    if (entered) {
        tsl_cu.cuMemHostUnregister((void *)region->begin);
        tsl_cuda_leave(region->member);
    }
    pthread_mutex_lock(&lock);
    n_pinning--;
    LIST_REMOVE(region, link);
    atomic_fetch_sub(&n_regions, 1);
    pinned_size -= region->end - region->begin;
    region->gone = true;
    pthread_cond_broadcast(&changed);
}

void tsl_cuda_region_free(struct tsl_cuda_region *region)
{
    pthread_mutex_lock(&lock);
    while (region->leaving && !region->gone) /* A fork has that done. */
        pthread_cond_wait(&changed, &lock);
    if (!region->gone)
        end_locked(region);
    pthread_mutex_unlock(&lock);
    free(region);
}

/* After a fork parent and child share pages until one of them writes; the writer then gets another page than the one
 * that was pinned, and the GPU would go on with the old one, unless the system is told to keep it. */
static void before_fork(void)
{
    struct tsl_cuda_region *region;

    pthread_mutex_lock(&lock);
    while ((region = LIST_FIRST(&regions)) || n_pinning) {
        if (region && !region->leaving)
            end_locked(region);
        else
            pthread_cond_wait(&changed, &lock);
    }
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void prepare_for_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static size_t most(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) / PART * (size_t)sysconf(_SC_PAGESIZE);
}

/* In the list, as leaving: it is not used yet. */
static bool announce(struct tsl_cuda_region *region)
{
    size_t size = region->end - region->begin;
    bool may;

    pthread_mutex_lock(&lock);
    may = !find_locked(region->begin, region->end) && size <= most() && pinned_size <= most() - size;
    if (may) {
        region->leaving = true;
        LIST_INSERT_HEAD(&regions, region, link);
        atomic_fetch_add(&n_regions, 1);
        pinned_size += size;
        n_pinning++;
    }
    pthread_mutex_unlock(&lock);
    return may;
}

static void settle(struct tsl_cuda_region *region, bool pinned)
{
    pthread_mutex_lock(&lock);
    n_pinning--;
    region->leaving = false;
    if (!pinned) {
        LIST_REMOVE(region, link);
        atomic_fetch_sub(&n_regions, 1);
        pinned_size -= region->end - region->begin;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static bool pin(struct tsl_cuda_region *region)
{
    size_t size = region->end - region->begin;
    bool pinned;

    if (tsl_cuda_enter(region->member))
        return false;
    pinned = !tsl_cuda_is_pinned_at((void *)region->begin) && !tsl_cuda_is_pinned_at((void *)(region->end - 1)) &&
             !tsl_cu.cuMemHostRegister_v2((void *)region->begin, size, CU_MEMHOSTREGISTER_PORTABLE);
    tsl_cuda_leave(region->member);
    return pinned;
}

static struct tsl_cuda_region *make(struct tsl_cuda_member *member, uintptr_t begin, uintptr_t end)
{
    struct tsl_cuda_region *region = calloc(1, sizeof(*region));
    bool pinned;

    if (!region)
        return NULL;
    region->member = member;
    region->begin = begin;
    region->end = end;
    STAILQ_INIT(&region->uses);
    if (announce(region)) {
        pinned = pin(region);
        settle(region, pinned);
        if (pinned)
            return region;
    }
    free(region);
    return NULL;
}

cl_int tsl_cuda_host_register(struct tsl_member *member, void *host, size_t size, struct tsl_mem **mem)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)host + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)host + size) / page * page;
    struct tsl_cuda_mem *made;

    if (begin >= end)
        return CL_INVALID_VALUE;
    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    made = calloc(1, sizeof(*made));
    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_once(&once, prepare_for_forks);
    made->region = make(tsl_cuda_member(member), begin, end);
    if (!made->region) {
        free(made);
        return CL_OUT_OF_RESOURCES;
    }
    made->base = (struct tsl_mem){.member = member, .size = size};
    *mem = &made->base;
    return CL_SUCCESS;
}
