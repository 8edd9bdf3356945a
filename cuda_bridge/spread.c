/*
 * Memory that is spread over the GPUs of a domain: one range of addresses, into which a piece of each GPU's memory is
 * mapped, and of which all these GPUs have access. Pieces are few and large, because to map one takes about 0.1 ms,
 * whatever its size.
 *
 * Streams don't order the mapping. To take pages away while a stream has work on them would end the context, and with
 * it all of the process's. No such work is left when the core frees memory; that isn't trusted here. A range knows
 * which lanes were given work on it, and up to which of their events. Those that the host has not seen the end of are
 * waited for.
 */
#include "cuda_bridge/spread.h"
#include "cuda_bridge/lane.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"

#include "driver/box.h"
#include "driver/spread.h"

#include <stdlib.h>

/* A lane that was given work on the range: all of it is over when its event of that number is. */
struct use {
    struct tsl_cuda_lane *lane; /* a reference */
    uint64_t sent;
    SLIST_ENTRY(use) next;
};

struct part {
    struct tsl_cuda_member *member;
    CUdeviceptr begin, end; /* equal: none of the pages */
};

struct tsl_cuda_spread {
    CUdeviceptr begin;
    size_t size;          /* whole pages */
    atomic_uint refs;     /* members that have not freed it */
    struct tsl_spin lock; /* a leaf; guards uses */
    SLIST_HEAD(, use) uses;
    unsigned n;
    struct part parts[]; /* in the order of addresses */
};

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* What the member's pool keeps unused may be what is lacking. Entered. */
static CUresult create(struct tsl_cuda_member *m, size_t size, CUmemGenericAllocationHandle *handle)
{
    const CUmemAllocationProp prop = tsl_cuda_pages_of(m->gpu);
    CUresult result = tsl_cu.cuMemCreate(handle, size, &prop, 0);

    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return result;
    pthread_mutex_lock(&m->memory_lock);
    tsl_cu.cuStreamSynchronize(m->memory_stream);
    tsl_cu.cuMemPoolTrimTo(m->pool, 0);
    pthread_mutex_unlock(&m->memory_lock);
    return tsl_cu.cuMemCreate(handle, size, &prop, 0);
}

/* The pages live as long as they are mapped: the handle isn't needed after that. Entered. */
static CUresult map_part(const struct part *part)
{
    size_t size = part->end - part->begin;
    CUmemGenericAllocationHandle handle;
    CUresult result = create(part->member, size, &handle);

    if (result)
        return result;
    result = tsl_cu.cuMemMap(part->begin, size, 0, handle, 0);
    tsl_cu.cuMemRelease(handle);
    return result;
}

static cl_int map_one(const struct part *part)
{
    CUresult result;
    cl_int error;

    if (part->begin == part->end)
        return CL_SUCCESS;
    error = tsl_cuda_enter(part->member);
    if (error)
        return error;
    result = map_part(part);
    tsl_cuda_leave(part->member);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? CL_MEM_OBJECT_ALLOCATION_FAILURE : tsl_cuda_error(part->member, result);
}

/* All in one call: if one GPU is left out, the others may wait for ever. Entered. */
static CUresult give_access(struct tsl_cuda_spread *s)
{
    CUmemAccessDesc access[TSL_MAX_MEMBERS];

    for (unsigned i = 0; i < s->n; i++)
        access[i] = (CUmemAccessDesc){
            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = s->parts[i].member->gpu->device},
            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
    return tsl_cu.cuMemSetAccess(s->begin, s->size, access, s->n);
}

/* Of the first n parts; the range goes as well. Entered, in any member's context. */
static void take_back(const struct tsl_cuda_spread *s, unsigned n)
{
    size_t mapped = n ? s->parts[n - 1].end - s->begin : 0;

    if (mapped)
        tsl_cu.cuMemUnmap(s->begin, mapped);
    tsl_cu.cuMemAddressFree(s->begin, s->size);
}

/* Enters a member's context, the first that can be entered. NULL: there is none. */
static struct tsl_cuda_member *enter_any(const struct tsl_cuda_spread *s)
{
    for (unsigned i = 0; i < s->n; i++)
        if (!tsl_cuda_enter(s->parts[i].member))
            return s->parts[i].member;
    for (unsigned i = 0; i < s->n; i++)
        if (tsl_cuda_enter_anyway(s->parts[i].member))
            return s->parts[i].member;
    return NULL;
}

static void give_back(const struct tsl_cuda_spread *s, unsigned n)
{
    struct tsl_cuda_member *member = enter_any(s);

    if (!member)
        return;
    take_back(s, n);
    tsl_cuda_leave(member);
}

/* ---- Allocation -------------------------------------------------------------------------------------------------- */

static CUresult reserve(struct tsl_cuda_spread *s)
{
    return tsl_cu.cuMemAddressReserve(&s->begin, s->size, 0, 0, 0);
}

/* One of CUDA's calls that are of no GPU, in the first one's context. */
static cl_int in_first(struct tsl_cuda_spread *s, CUresult call(struct tsl_cuda_spread *s))
{
    struct tsl_cuda_member *first = s->parts[0].member;
    CUresult result;
    cl_int error = tsl_cuda_enter(first);

    if (error)
        return error;
    result = call(s);
    tsl_cuda_leave(first);
    return tsl_cuda_error(first, result);
}

/* The parts' ends as distances from the beginning of the range, in whole pages. */
static void lay_out(struct tsl_cuda_spread *s, const struct tsl_spread_request *request)
{
    size_t granule = request->members[0]->caps.domain_granule;

    for (unsigned i = 0; i < s->n; i++) {
        s->parts[i].member = tsl_cuda_member(request->members[i]);
        s->parts[i].begin = s->size;
        s->size += (request->sizes[i] + granule - 1) / granule * granule;
        s->parts[i].end = s->size;
    }
}

static cl_int map_all(struct tsl_cuda_spread *s, unsigned *full)
{
    cl_int error = in_first(s, reserve);
    unsigned n = 0;

    if (error)
        return error;
    for (unsigned i = 0; i < s->n; i++) {
        s->parts[i].begin += s->begin;
        s->parts[i].end += s->begin;
    }
    while (n < s->n && !(error = map_one(&s->parts[n])))
        n++;
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
        *full = n;
    if (!error)
        error = in_first(s, give_access);
    if (error)
        give_back(s, n);
    return error;
}

static cl_int make(const struct tsl_spread_request *request, struct tsl_cuda_spread **spread, unsigned *full)
{
    struct tsl_cuda_spread *made = calloc(1, sizeof(*made) + request->n * sizeof(made->parts[0]));
    cl_int error;

    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    made->n = request->n;
    atomic_init(&made->refs, request->n);
    SLIST_INIT(&made->uses);
    lay_out(made, request);
    error = map_all(made, full);
    if (error)
        free(made);
    else
        *spread = made;
    return error;
}

/* NULL without memory for one of them. */
static struct tsl_cuda_mem **new_mems(unsigned n)
{
    struct tsl_cuda_mem **mems = calloc(n, sizeof(*mems));
    unsigned i = 0;

    while (mems && i < n && (mems[i] = calloc(1, sizeof(*mems[i]))))
        i++;
    if (mems && i == n)
        return mems;
    while (mems && i-- > 0)
        free(mems[i]);
    free(mems);
    return NULL;
}

cl_int tsl_cuda_spread_alloc(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full)
{
    struct tsl_cuda_spread *spread = NULL;
    struct tsl_cuda_mem **made;
    size_t size;
    cl_int error = tsl_spread_check(request, &size);

    if (error)
        return error;
    made = new_mems(request->n);
    if (!made)
        return CL_OUT_OF_HOST_MEMORY;
    error = make(request, &spread, full);
    for (unsigned i = 0; i < request->n; i++) {
        if (!spread) {
            free(made[i]);
            continue;
        }
        made[i]->base = (struct tsl_mem){.member = request->members[i], .size = size};
        made[i]->address = spread->begin;
        made[i]->spread = spread;
        made[i]->spread_owner = true;
        mems[i] = &made[i]->base;
    }
    free(made);
    return error;
}

/* ---- Work on it -------------------------------------------------------------------------------------------------- */

static bool meets_lost(const struct tsl_cuda_spread *s, CUdeviceptr begin, CUdeviceptr end)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->parts[i].begin < end && begin < s->parts[i].end && tsl_member_is_lost(&s->parts[i].member->base))
            return true;
    return false;
}

/* A lane's entry that isn't needed any more serves for another. Takes over the reference of what was there. */
static bool note_locked(struct tsl_cuda_spread *s, struct tsl_cuda_lane *lane, struct tsl_cuda_lane **old)
{
    struct use *use, *stale = NULL;

    SLIST_FOREACH(use, &s->uses, next)
    {
        if (use->lane == lane)
            break;
        if (tsl_cuda_lane_has_seen(use->lane, use->sent))
            stale = use;
    }
    if (!use && stale) {
        use = stale;
        *old = use->lane;
        use->lane = lane;
        atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
    }
    if (use)
        use->sent = lane->sent + 1;
    return use != NULL;
}

static cl_int note(struct tsl_cuda_spread *s, struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_lane *old = NULL;
    struct use *use;
    bool noted;

    tsl_spin_take(&s->lock);
    noted = note_locked(s, lane, &old);
    tsl_spin_give(&s->lock);
    if (old)
        tsl_cuda_lane_unref(old);
    if (noted)
        return CL_SUCCESS;
    use = malloc(sizeof(*use));
    if (!use)
        return CL_OUT_OF_HOST_MEMORY;
    *use = (struct use){.lane = lane, .sent = lane->sent + 1};
    atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
    tsl_spin_take(&s->lock);
    SLIST_INSERT_HEAD(&s->uses, use, next); /* No other thread has the lane's lock. */
    tsl_spin_give(&s->lock);
    return CL_SUCCESS;
}

static cl_int use_place(struct tsl_cuda_lane *lane, const struct tsl_place *place, const size_t region[3])
{
    const struct tsl_cuda_mem *mem = place->mem ? tsl_cuda_mem(place->mem) : NULL;
    CUdeviceptr begin;

    if (!mem || !mem->spread)
        return CL_SUCCESS;
    begin = mem->address + place->offset;
    if (meets_lost(mem->spread, begin, begin + tsl_place_span(place, region)))
        return CL_OUT_OF_RESOURCES;
    return note(mem->spread, lane);
}

/* A launch may touch anything of what it is given. */
static cl_int use_arg(struct tsl_cuda_lane *lane, const struct tsl_bound_arg *arg)
{
    struct tsl_cuda_spread *s = arg->kind == TSL_ARG_MEM && arg->mem ? tsl_cuda_mem(arg->mem)->spread : NULL;

    if (!s)
        return CL_SUCCESS;
    return meets_lost(s, s->begin, s->begin + s->size) ? CL_OUT_OF_RESOURCES : note(s, lane);
}

static cl_int use_args(struct tsl_cuda_lane *lane, const struct tsl_bound_args *args)
{
    cl_int error = CL_SUCCESS;

    for (cl_uint i = 0; i < args->n && !error; i++)
        error = use_arg(lane, &args->args[i]);
    return error;
}

cl_int tsl_cuda_spread_use(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work)
{
    cl_int error;

    switch (work->kind) {
    case TSL_CUDA_COPY:
        error = use_place(lane, &work->copy.src, work->copy.region);
        return error ? error : use_place(lane, &work->copy.dst, work->copy.region);
    case TSL_CUDA_FILL:
        return use_place(lane, &work->fill.dst, work->fill.region);
    case TSL_CUDA_LAUNCH:
        return use_args(lane, work->launch.bound);
    default:
        return CL_SUCCESS;
    }
}

bool tsl_cuda_spread_reaches(const struct tsl_cuda_mem *mem, const struct tsl_cuda_member *member)
{
    const struct tsl_cuda_spread *s = mem->spread;

    if (!s)
        return true;
    for (unsigned i = 0; i < s->n; i++)
        if (s->parts[i].member == member)
            return true;
    return false;
}

/* ---- Giving back ------------------------------------------------------------------------------------------------- */

/* Waits for all that the lane's stream has, unless the use is known to be over. */
static void end_use(struct use *use)
{
    struct tsl_cuda_member *member = tsl_cuda_member(use->lane->base.member);

    if (!tsl_cuda_lane_has_seen(use->lane, use->sent) && !tsl_cuda_flush(&use->lane->base) && !tsl_cuda_enter(member)) {
        tsl_cuda_error(member, tsl_cu.cuStreamSynchronize(use->lane->stream));
        tsl_cuda_leave(member);
    }
    tsl_cuda_lane_unref(use->lane);
    free(use);
}

void tsl_cuda_spread_put(struct tsl_cuda_spread *spread)
{
    struct use *use;

    /* As in tsl_fence_unref(). */
    if (atomic_fetch_sub_explicit(&spread->refs, 1, memory_order_acq_rel) != 1)
        return;
    while ((use = SLIST_FIRST(&spread->uses))) {
        SLIST_REMOVE_HEAD(&spread->uses, next);
        end_use(use);
    }
    give_back(spread, spread->n);
    free(spread);
}
