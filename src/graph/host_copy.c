/* The memory of the host's copy of an object. */
#include "graph/host_copy.h"

#include "base/fork.h"
#include "base/lock.h"
#include "base/numa.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* So many bytes behind the last one can be read: compilers of processors load a whole vector where a kernel asks for a
 * part of it (PoCL 7.1 two floats for the last one of a buffer). */
#define TAIL ((size_t)128)

/* Linux aligns a mapping to this only if its size is a multiple, too. */
#define HUGE_PAGE ((size_t)2 << 20)

/* From here on the host's copy has pages of its own. A process has only so many mappings. */
#define OWN_PAGES ((size_t)128 << 10)

/* The alignment that members ask of memory on which they work themselves; a cache line at least. */
static size_t alignment(const struct tsl_context *context)
{
    size_t align = 64;
    for (unsigned i = 0; i < context->n_members; i++)
        if (context->members[i]->caps.base_align > align)
            align = context->members[i]->caps.base_align;
    return align;
}

/* Processors hold a load back behind an earlier store if their addresses differ by a multiple of this, or seem to: on
 * Intel's a stencil from one buffer to another took four times as long where both began at pages (experiments.md). So
 * the copies on which kernels work begin apart: any two of three, one after the other, by two of sixteen slots. */
#define APART    ((size_t)4 << 10)
#define SLOT     ((size_t)256)
#define SLOTS_ON 7u

static size_t room_to_shift(const struct tsl_data *data)
{
    const struct tsl_context *context = data->context;
    bool works = false;
    for (unsigned i = 0; i < context->n_members; i++)
        works |= context->members[i]->caps.zero_copy;
    return works && data->size >= APART ? APART : 0;
}

static size_t slot_size(const struct tsl_context *context)
{
    size_t slot = alignment(context) > SLOT ? alignment(context) : SLOT;
    for (unsigned i = 0; i < context->n_members; i++)
        if (context->members[i]->caps.dma_align > slot)
            slot = context->members[i]->caps.dma_align;
    return slot;
}

/* Where the copy begins in memory that has `room` bytes more than the copy needs. Sets host_shift. */
static char *begin_apart(struct tsl_data *data, void *memory, size_t room)
{
    static atomic_uint turn;
    if (room) {
        size_t slot = atomic_fetch_add_explicit(&turn, SLOTS_ON, memory_order_relaxed);
        data->host_shift = (slot * slot_size(data->context) - (uintptr_t)memory) % room;
    }
    return (char *)memory + data->host_shift;
}

/* The bytes that stay mapped for a copy that has pages of its own. */
static size_t mapping_size(const struct tsl_data *data)
{
    return round_up(data->size + room_to_shift(data) + TAIL, (size_t)sysconf(_SC_PAGESIZE));
}

/* Pages of its own, at a multiple of HUGE_PAGE if it has so many. */
static char *map_pages(const struct tsl_data *data)
{
    size_t size = mapping_size(data), first = data->size < HUGE_PAGE ? size : round_up(size, HUGE_PAGE);
    char *pages = mmap(NULL, first, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (first > size)
        munmap(pages + size, first - size); /* Else the few bytes at the end would take a huge page. */
    madvise(pages, size, MADV_HUGEPAGE); /* Copies are an eighth faster. Small pages do where there are no huge ones. */
    tsl_numa_memory(pages, size);
    return pages;
}

/* Not of one that isn't ready: the graph's lock would be held meanwhile. */
static bool may_pin(const struct tsl_member *member, bool at_once)
{
    return member->caps.pins_host && (!at_once || member->caps.pins_at_once) && !tsl_member_is_lost(member) &&
           tsl_member_is_ready(member);
}

/* Memory that a member pins, and that is aligned as all members ask; NULL: none. at_once: of members that can always
 * say, which is asked under the graph's lock, too. */
static struct tsl_mem *pin(const struct tsl_context *context, size_t size, bool at_once, void **host)
{
    for (unsigned i = 0; i < context->n_members && !tsl_forked(); i++) {
        struct tsl_member *member = context->members[i];
        struct tsl_mem *mem;
        if (!may_pin(member, at_once) || member->driver->host_alloc(member, size, host, &mem))
            continue;
        if ((uintptr_t)*host % alignment(context) == 0)
            return mem;
        member->driver->mem_free(mem);
    }
    return NULL;
}

/* From here on the speed of transfers counts; smaller copies aren't worth a vendor's buffer. */
#define PIN_FROM ((size_t)1 << 20)

/* Pinned memory comes in pieces of a few sizes: a small copy with room to shift would often need the next size. */
static size_t pinned_room(const struct tsl_data *data)
{
    return data->size < PIN_FROM ? 0 : room_to_shift(data);
}

static char *allocate_host(struct tsl_data *data)
{
    size_t align = alignment(data->context), room = room_to_shift(data);
    void *memory;
    data->pinned = pin(data->context, data->size + pinned_room(data), true, &memory);
    if (data->pinned)
        return begin_apart(data, memory, pinned_room(data));
    memory = data->size < OWN_PAGES ? aligned_alloc(align, round_up(data->size + room, align)) : map_pages(data);
    return memory ? begin_apart(data, memory, room) : NULL;
}

/* Nanoseconds a byte, as measured: pages are cleared, and pinned where a member does that. */
#define MAKE_NS 0.1

double tsl_host_copy_ns(const struct tsl_data *data)
{
    return data->host ? 0 : (double)data->size * MAKE_NS;
}

void tsl_host_copy_free(struct tsl_data *data)
{
    if (data->pinned) {
        data->pinned->member->driver->mem_free(data->pinned);
        return;
    }
    if (data->size < OWN_PAGES)
        free(data->host - data->host_shift);
    else
        munmap(data->host - data->host_shift, mapping_size(data));
}

/* A large copy has whole pages: aligned for the DMA of every device, and taken from the system only when touched. */
char *tsl_data_host(struct tsl_data *data)
{
    if (data->host)
        return data->host;
    data->host = allocate_host(data);
    data->host_owned = data->host != NULL;
    return data->host;
}

void tsl_data_pin(struct tsl_data *data)
{
    struct tsl_graph *graph = data->context->graph;
    void *host;
    if (data->size < PIN_FROM || tsl_forked())
        return;
    tsl_lock_take(&graph->lock);
    bool late = data->host;
    tsl_lock_give(&graph->lock);
    struct tsl_mem *mem = late ? NULL : pin(data->context, data->size + pinned_room(data), false, &host);
    if (!mem)
        return;
    tsl_lock_take(&graph->lock);
    late = data->host;
    if (!late) {
        data->host = begin_apart(data, host, pinned_room(data));
        data->host_owned = true;
        data->pinned = mem;
    }
    tsl_lock_give(&graph->lock);
    if (late)
        mem->member->driver->mem_free(mem);
}
