/*
 * Pinned host memory that the core puts its host copies into: what is there goes straight between the host and the GPU,
 * at the bus's full speed, and GPUs' copies of it need no thread of ours. Small ones are pieces; others are kept for
 * the next that fits: pinning takes as long as several transfers, and giving back waits for the device.
 */
#include "cuda_bridge/host.h"
#include "cuda_bridge/ahead.h"
#include "cuda_bridge/bridge.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/piece.h"

#include <stdlib.h>
#include <unistd.h>

#define UNIT      ((size_t)64 << 10)           /* sizes are rounded up to this */
#define SMALL_MAX ((size_t)16 << 20)           /* bytes of pieces that may be in use so: transfers need some, too */
#define LARGEST   (((size_t)512 << 20) + UNIT) /* the core asks for a bit more than a buffer has */
#define PART      16                           /* of the machine's memory may be pinned so ... */
#define ALL_MAX   ((size_t)2 << 30)
#define KEPT_PART 4 /* of that may be kept unused */

/* A piece of pinned memory that the core has, or may get again. */
struct tsl_cuda_host {
    struct tsl_cuda_member *member;
    void *at;
    struct tsl_cuda_piece *piece; /* NULL: pinned by itself: */
    struct tsl_cuda_pinned pinned;
    size_t size;
    struct tsl_cuda_host *next; /* in host_free */
};

static size_t most_once(void)
{
    size_t part = (size_t)sysconf(_SC_PHYS_PAGES) / PART * (size_t)sysconf(_SC_PAGESIZE);

    return part < ALL_MAX ? part : ALL_MAX;
}

static size_t most(void)
{
    static _Atomic size_t known;
    size_t size = atomic_load(&known);

    if (!size)
        atomic_store(&known, size = most_once());
    return size;
}

/* Takes memory that was given back and isn't much too large; NULL: there is none. */
static struct tsl_cuda_host *take(struct tsl_cuda_member *member, size_t size)
{
    struct tsl_cuda_host **at, *host;

    tsl_spin_take(&member->pool_lock);
    at = &member->host_free;
    while (*at && ((*at)->size < size || (*at)->size > size + size / 4))
        at = &(*at)->next;
    host = *at;
    if (host) {
        *at = host->next;
        member->host_kept -= host->size;
    }
    tsl_spin_give(&member->pool_lock);
    return host;
}

/* Counts bytes as used, if they aren't too many then. */
static bool count(struct tsl_cuda_member *member, size_t *sum, size_t size, size_t max)
{
    bool room;

    tsl_spin_take(&member->pool_lock);
    room = *sum <= max && size <= max - *sum;
    if (room)
        *sum += size;
    tsl_spin_give(&member->pool_lock);
    return room;
}

static void count_back(struct tsl_cuda_member *member, size_t *sum, size_t size)
{
    tsl_spin_take(&member->pool_lock);
    *sum -= size;
    tsl_spin_give(&member->pool_lock);
}

/* Sets host->at; false: none to be had. */
static bool get_piece(struct tsl_cuda_member *member, struct tsl_cuda_host *host)
{
    if (!count(member, &member->host_small, host->size, SMALL_MAX))
        return false;
    host->piece = tsl_cuda_piece_get(member, host->size);
    if (!host->piece) {
        count_back(member, &member->host_small, host->size);
        return false;
    }
    host->at = host->piece->host;
    return true;
}

static bool pin(struct tsl_cuda_member *member, struct tsl_cuda_host *host)
{
    if (!count(member, &member->host_large, host->size, most()))
        return false;
    if (!tsl_cuda_pin(member, host->size, &host->pinned)) {
        host->at = host->pinned.at;
        return true;
    }
    count_back(member, &member->host_large, host->size);
    return false;
}

static bool get(struct tsl_cuda_member *member, struct tsl_cuda_host *host)
{
    bool got;

    if (tsl_cuda_enter(member))
        return false;
    got = host->size <= TSL_CUDA_PIECE_MAX ? get_piece(member, host) : pin(member, host);
    tsl_cuda_leave(member);
    return got;
}

static struct tsl_cuda_host *make(struct tsl_cuda_member *member, size_t size)
{
    struct tsl_cuda_host *host = calloc(1, sizeof(*host));
    bool made = false;

    if (!host)
        return NULL;
    host->member = member;
    host->size = size;
    /* The graph's lock may be held, which threads that open gates may want, too. */
    if (tsl_cuda_pinning_begin(member)) {
        made = get(member, host);
        tsl_cuda_pinning_end(member);
    }
    if (made)
        return host;
    free(host);
    return NULL;
}

static struct tsl_cuda_host *find(struct tsl_cuda_member *member, size_t size)
{
    struct tsl_cuda_host *host;

    if (size > LARGEST)
        return NULL;
    if (size <= TSL_CUDA_PIECE_MAX)
        return make(member, size);
    size = (size + UNIT - 1) / UNIT * UNIT;
    host = take(member, size);
    return host ? host : make(member, size);
}

cl_int tsl_cuda_host_alloc(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem)
{
    struct tsl_cuda_mem *made;

    if (tsl_member_is_lost(member))
        return CL_DEVICE_NOT_AVAILABLE;
    made = calloc(1, sizeof(*made));
    if (made)
        made->host = find(tsl_cuda_member(member), size);
    if (!made || !made->host) {
        free(made);
        return CL_OUT_OF_HOST_MEMORY;
    }
    made->base = (struct tsl_mem){.member = member, .size = size};
    *host = made->host->at;
    *mem = &made->base;
    return CL_SUCCESS;
}

static bool keeps_too_much(struct tsl_cuda_member *member)
{
    bool much;

    tsl_spin_take(&member->pool_lock);
    much = member->host_kept > most() / KEPT_PART;
    tsl_spin_give(&member->pool_lock);
    return much;
}

void tsl_cuda_host_free(struct tsl_cuda_host *host)
{
    struct tsl_cuda_member *member = host->member;

    if (host->piece) {
        tsl_cuda_piece_put(member, host->piece);
        count_back(member, &member->host_small, host->size);
        free(host);
        return;
    }
    tsl_spin_take(&member->pool_lock);
    host->next = member->host_free;
    member->host_free = host;
    member->host_kept += host->size;
    tsl_spin_give(&member->pool_lock);
    if (keeps_too_much(member))
        tsl_cuda_bridge_trim(member);
}

/* The longest unused of too much. */
static struct tsl_cuda_host *take_last(struct tsl_cuda_member *member)
{
    struct tsl_cuda_host **at, *last = NULL;

    tsl_spin_take(&member->pool_lock);
    at = &member->host_free;
    while (*at && (*at)->next)
        at = &(*at)->next;
    if (member->host_kept > most() / KEPT_PART && *at) {
        last = *at;
        *at = NULL;
        member->host_kept -= last->size;
        member->host_large -= last->size;
    }
    tsl_spin_give(&member->pool_lock);
    return last;
}

void tsl_cuda_hosts_trim(struct tsl_cuda_member *member)
{
    struct tsl_cuda_host *host;

    while (keeps_too_much(member) && !tsl_cuda_enter(member)) {
        host = take_last(member);
        if (host)
            tsl_cuda_unpin(&host->pinned);
        tsl_cuda_leave(member);
        free(host);
    }
}

void tsl_cuda_hosts_finish(struct tsl_cuda_member *member)
{
    struct tsl_cuda_host *host;

    while ((host = member->host_free)) {
        member->host_free = host->next;
        tsl_cuda_unpin(&host->pinned);
        free(host);
    }
}
