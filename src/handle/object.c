#include "handle/object.h"

#include "base/lock.h"
#include "dispatch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Memory of one kind of object: slabs that are never given back, cut into slots of one size. Free slots wait in a
 * queue, so that the one freed longest ago is used next, and there are always so many of them that a handle stays
 * dead for a while after its release, whatever the application creates.
 */
#define ALIGNMENT  64  /* slots don't share cache lines: threads count references of neighbours */
#define FIRST_SLAB 128 /* slots */
#define MIN_FREE   32  /* slots */
#define MAX_SLABS  48  /* each has twice the slots of the one before: memory ends first */

struct slot {
    struct slot *next; /* of the free slots; under the pool's lock */
    struct pool *pool;
    tsl_destroy_fn *destroy;
    struct tsl_object object; /* the beginning of the object; the rest follows */
};

struct slab {
    char *begin;
    size_t n_slots;
};

struct pool {
    struct tsl_lock lock; /* a leaf; guards all that follows */

    size_t stride; /* bytes from one slot to the next; 0 before the first slab */
    struct slab slabs[MAX_SLABS];
    unsigned n_slabs;
    struct slot *first_free; /* undefined while n_free is 0 */
    struct slot *last_free;
    size_t n_free;
    size_t n_live;
};

static struct pool pools[TSL_N_KINDS] = {[0 ... TSL_N_KINDS - 1] = {.lock = {PTHREAD_MUTEX_INITIALIZER}}};

static struct pool *pool_of(enum tsl_kind kind)
{
    return &pools[((unsigned)kind - TSL_PLATFORM) / 2];
}

static struct slot *slot_of(struct tsl_object *object)
{
    return (struct slot *)((char *)object - offsetof(struct slot, object));
}

/* A forked child may still release its parent's objects, so no lock may be held at the fork by a thread that the child
 * doesn't have. */
static void before_fork(void) TSL_UNCHECKED
{
    for (int i = 0; i < TSL_N_KINDS; i++)
        tsl_lock_take(&pools[i].lock);
}

static void after_fork(void) TSL_UNCHECKED
{
    for (int i = 0; i < TSL_N_KINDS; i++)
        tsl_lock_give(&pools[i].lock);
}

static void prepare_for_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- Words read through stale handles: at any time, by any thread, also in free slots. ---- */

static uint32_t kind_load(const struct tsl_object *object)
{
    /* Acquire pairs with the release in tsl_object_create: a reader that sees the tag sees the object. */
    return atomic_load_explicit(&object->kind, memory_order_acquire);
}

/* Loaders and stale handles read these two words while a slot is reused, hence the atomic accesses. A reader that sees
 * the marked table sees the loader's word as well, hence the order. */
void tsl_object_set_dispatch(struct tsl_object *object, const struct tsl_dispatch *dispatch, void *data)
{
    __atomic_store_n(&object->dispatch_data, data, __ATOMIC_RELAXED);
    __atomic_store_n(&object->dispatch, dispatch, __ATOMIC_RELEASE);
}

static void inherit_dispatch(struct tsl_object *object, const struct tsl_object *parent)
{
    const struct tsl_dispatch *dispatch = __atomic_load_n(&parent->dispatch, __ATOMIC_ACQUIRE);

    tsl_object_set_dispatch(object, dispatch, __atomic_load_n(&parent->dispatch_data, __ATOMIC_RELAXED));
}

/* ---- Slots ---- */

static void put_free_locked(struct pool *pool, struct slot *slot) TSL_REQUIRES(pool->lock)
{
    slot->next = NULL;
    if (pool->n_free++ == 0)
        pool->first_free = slot;
    else
        pool->last_free->next = slot;
    pool->last_free = slot;
}

static struct slot *take_free_locked(struct pool *pool) TSL_REQUIRES(pool->lock)
{
    struct slot *slot = pool->first_free;

    pool->first_free = slot->next;
    pool->n_free--;
    return slot;
}

static bool grow_locked(struct pool *pool) TSL_REQUIRES(pool->lock)
{
    size_t n_slots = (size_t)FIRST_SLAB << pool->n_slabs;
    char *begin;

    if (pool->n_slabs == MAX_SLABS || n_slots > SIZE_MAX / 2 / pool->stride)
        return false;
    begin = aligned_alloc(ALIGNMENT, n_slots * pool->stride);
    if (!begin)
        return false;
    memset(begin, 0, n_slots * pool->stride);
    for (size_t i = 0; i < n_slots; i++) {
        struct slot *slot = (struct slot *)(begin + i * pool->stride);

        slot->pool = pool;
        tsl_object_set_dispatch(&slot->object, &tsl_dispatch_table, NULL);
        put_free_locked(pool, slot);
    }
    pool->slabs[pool->n_slabs].begin = begin;
    pool->slabs[pool->n_slabs++].n_slots = n_slots;
    return true;
}

static struct slot *take_slot(struct pool *pool, size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct slot *slot = NULL;

    pthread_once(&once, prepare_for_forks);
    tsl_lock_take(&pool->lock);
    if (pool->stride == 0)
        pool->stride = (offsetof(struct slot, object) + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    /* Out of memory, a slot that was freed lately is better than none. */
    if (pool->n_free >= MIN_FREE || grow_locked(pool) || pool->n_free > 0) {
        slot = take_free_locked(pool);
        pool->n_live++;
    }
    tsl_lock_give(&pool->lock);
    return slot;
}

static void give_slot(struct slot *slot)
{
    struct pool *pool = slot->pool;

    tsl_lock_take(&pool->lock);
    put_free_locked(pool, slot);
    pool->n_live--;
    tsl_lock_give(&pool->lock);
}

/* ---- Life ---- */

void *tsl_object_create(enum tsl_kind kind, size_t size, const struct tsl_object *parent, tsl_destroy_fn *destroy)
{
    struct slot *slot = take_slot(pool_of(kind), size);
    struct tsl_object *object;

    if (!slot)
        return NULL;
    object = &slot->object;
    slot->destroy = destroy;
    memset(object + 1, 0, size - sizeof *object);
    if (parent)
        inherit_dispatch(object, parent);
    else
        tsl_object_set_dispatch(object, &tsl_dispatch_table, NULL);
    atomic_store_explicit(&object->users, 1, memory_order_relaxed);
    atomic_store_explicit(&object->visible, 1, memory_order_relaxed);
    atomic_store_explicit(&object->refs, 1, memory_order_relaxed);
    atomic_store_explicit(&object->kind, kind, memory_order_release);
    return object;
}

bool tsl_object_is(const void *handle, enum tsl_kind kind)
{
    const struct tsl_object *object = handle;
    const struct tsl_dispatch *dispatch = object ? __atomic_load_n(&object->dispatch, __ATOMIC_RELAXED) : NULL;

    return object && (dispatch == &tsl_dispatch_table || dispatch == &tsl_dispatch_plain_table) &&
           kind_load(object) == (uint32_t)kind;
}

static bool is_object_locked(const struct pool *pool, uintptr_t address) TSL_REQUIRES(pool->lock)
{
    for (unsigned i = 0; i < pool->n_slabs; i++) {
        size_t offset = address - (uintptr_t)pool->slabs[i].begin;

        if (offset < pool->slabs[i].n_slots * pool->stride)
            return offset % pool->stride == offsetof(struct slot, object);
    }
    return false;
}

bool tsl_object_is_address(const void *address, enum tsl_kind kind)
{
    struct pool *pool = pool_of(kind);
    bool ours;

    tsl_lock_take(&pool->lock);
    ours = is_object_locked(pool, (uintptr_t)address);
    tsl_lock_give(&pool->lock);
    return ours && kind_load(address) == (uint32_t)kind;
}

size_t tsl_object_live(enum tsl_kind kind)
{
    struct pool *pool = pool_of(kind);
    size_t n;

    tsl_lock_take(&pool->lock);
    n = pool->n_live;
    tsl_lock_give(&pool->lock);
    return n;
}

/* ---- Counts ---- */

/*
 * Counting down takes release and acquire: all uses by earlier holders happen before what the last holder does next.
 * Neither direction passes 0, so that an application that releases too often, or races with its own release, harms
 * nothing but itself. Both return the count before.
 */
static unsigned count_up(atomic_uint *count)
{
    unsigned old = atomic_load_explicit(count, memory_order_relaxed);

    while (old > 0 &&
           !atomic_compare_exchange_weak_explicit(count, &old, old + 1, memory_order_relaxed, memory_order_relaxed))
        continue;
    return old;
}

static unsigned count_down(atomic_uint *count)
{
    unsigned old = atomic_load_explicit(count, memory_order_relaxed);

    while (old > 0 &&
           !atomic_compare_exchange_weak_explicit(count, &old, old - 1, memory_order_acq_rel, memory_order_relaxed))
        continue;
    return old;
}

void tsl_object_retain(struct tsl_object *object)
{
    /* From 0: the application reached the object through a child, and now holds it itself again. */
    if (atomic_fetch_add_explicit(&object->users, 1, memory_order_relaxed) == 0)
        tsl_object_show(object);
}

bool tsl_object_release(struct tsl_object *object)
{
    unsigned old = count_down(&object->users);

    if (old == 1)
        tsl_object_hide(object);
    return old > 0;
}

cl_uint tsl_object_users(const struct tsl_object *object)
{
    return atomic_load_explicit(&object->users, memory_order_relaxed);
}

void tsl_object_show(struct tsl_object *object)
{
    count_up(&object->visible);
}

bool tsl_object_try_show(struct tsl_object *object)
{
    return count_up(&object->visible) > 0;
}

void tsl_object_hide(struct tsl_object *object)
{
    if (object && count_down(&object->visible) == 1) {
        atomic_store_explicit(&object->kind, TSL_DEAD, memory_order_relaxed);
        tsl_object_unref(object);
    }
}

bool tsl_object_try_ref(struct tsl_object *object)
{
    return count_up(&object->refs) > 0;
}

bool tsl_object_dying(struct tsl_object *object)
{
    return atomic_load(&object->refs) == 0;
}

void tsl_object_ref(struct tsl_object *object)
{
    count_up(&object->refs);
}

void tsl_object_unref(struct tsl_object *object)
{
    if (!object || count_down(&object->refs) != 1)
        return;
    slot_of(object)->destroy(object);
    give_slot(slot_of(object));
}
