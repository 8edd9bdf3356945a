/*
 * Pinned memory. CUDA clears the pages of its own by one thread and one by one: 2 to 3 GB/s. So large memory is mapped
 * here, as huge pages where there are such, which several threads touch, and registered. That is six times as fast
 * (docs/lab/cuda.md). Where CUDA doesn't register it, as on systems with little of its driver, its own is taken.
 */
#include "cuda_bridge/pin.h"
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/member.h"

#include "base/numa.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAP_FROM     ((size_t)2 << 20)
#define HUGE_PAGE    ((size_t)2 << 20)
#define PART_SIZE    ((size_t)4 << 20) /* for a thread at least: to start one takes as long as to clear a tenth of it */
#define MOST_THREADS 8u

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* The system clears pages as they are touched first. */
struct part {
    char *begin, *end;
    pthread_t thread;
    bool started;
};

static void *touch(void *arg)
{
    const struct part *part = arg;
    long page = sysconf(_SC_PAGESIZE);

    for (volatile char *at = part->begin; at < part->end; at += page)
        *at = 0;
    return NULL;
}

static unsigned count_parts(size_t size)
{
    size_t n = size / PART_SIZE;

    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

static void touch_all(struct tsl_cuda_member *member, char *begin, size_t size)
{
    struct part parts[MOST_THREADS];
    unsigned n = count_parts(size);
    size_t each = (size / n + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;

    for (unsigned i = 0; i < n; i++) {
        size_t from = i * each < size ? i * each : size, to = from + each < size ? from + each : size;
        parts[i] = (struct part){.begin = begin + from, .end = begin + to};
        parts[i].started = i > 0 && tsl_cuda_thread_start(member, &parts[i].thread, touch, &parts[i]);
    }
    for (unsigned i = 0; i < n; i++)
        if (!parts[i].started)
            touch(&parts[i]);
    for (unsigned i = 0; i < n; i++)
        if (parts[i].started)
            pthread_join(parts[i].thread, NULL);
}

/* At a multiple of HUGE_PAGE; NULL: none. A process that is forked off doesn't get it: the GPU would go on with one of
 * two copies. */
static char *map(size_t size)
{
    size_t room = size + HUGE_PAGE;
    char *pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)pages % HUGE_PAGE;
    if (before)
        munmap(pages, before);
    munmap(pages + before + size, HUGE_PAGE - before);
    madvise(pages + before, size, MADV_HUGEPAGE); /* Small pages do where there are no huge ones. */
    madvise(pages + before, size, MADV_DONTFORK);
    return pages + before;
}

/* ---- The doors --------------------------------------------------------------------------------------------------- */

static bool map_and_register(struct tsl_cuda_member *member, struct tsl_cuda_pinned *pinned)
{
    char *pages = map(pinned->size);

    if (!pages)
        return false;
    touch_all(member, pages, pinned->size);
    if (tsl_cu.cuMemHostRegister_v2(pages, pinned->size, CU_MEMHOSTREGISTER_PORTABLE)) {
        munmap(pages, pinned->size);
        return false;
    }
    pinned->at = pages;
    return true;
}

/* Pages are allocated by the policy of the calling thread, which the threads that it starts inherit. */
CUresult tsl_cuda_pin(struct tsl_cuda_member *member, size_t size, struct tsl_cuda_pinned *pinned)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct tsl_numa_policy before;
    CUresult result = CUDA_SUCCESS;

    *pinned = (struct tsl_cuda_pinned){.size = (size + page - 1) / page * page};
    tsl_numa_prefer(tsl_path_numa_node(member->base.path), &before);
    pinned->mapped = size >= MAP_FROM && map_and_register(member, pinned);
    if (!pinned->mapped)
        result = tsl_cu.cuMemHostAlloc(&pinned->at, size, CU_MEMHOSTALLOC_PORTABLE);
    tsl_numa_restore(&before);
    return result;
}

void tsl_cuda_unpin(const struct tsl_cuda_pinned *pinned)
{
    if (!pinned->at)
        return;
    if (!pinned->mapped) {
        tsl_cu.cuMemFreeHost(pinned->at);
        return;
    }
    tsl_cu.cuMemHostUnregister(pinned->at);
    munmap(pinned->at, pinned->size);
}
