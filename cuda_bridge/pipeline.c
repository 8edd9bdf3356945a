/*
 * Big transfers between the application's pageable memory and a device: cut into chunks, which several threads copy
 * through pinned slots of their own, two each, so that copying on the host and on the bus overlap. CUDA's own way
 * for such memory uses one thread and reaches a fifth (writes) and two fifths (reads) of the bus.
 *
 * Also transfers between two devices that can't reach each other's memory: chunks go from the one to a slot and from
 * there to the other, by streams of both, so that both ways of the bus are used at once and no thread copies anything.
 *
 * Started on demand and kept, one thread more for so many bytes that went through: to pin the memory of all takes
 * longer than a short program's transfers. Threads ask CUDA and wait for it; they take no lock but the pipeline's and,
 * at a transfer's end, the lane's and the member's. They run where the system puts them (no node is preferred).
 */
#include "cuda_bridge/pipeline.h"
#include "cuda_bridge/lane.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/piece.h"
#include "cuda_bridge/pin.h"
#include "cuda_bridge/work.h"

#include "driver/box.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 12
#define SLOT_SIZE   ((size_t)4 << 20)
#define CHUNK_MIN   ((size_t)256 << 10)
#define SMALL_MAX   ((size_t)1 << 20) /* chunks at the ends of large transfers: less costs more than it gains */
#define CHUNK_UNIT  ((size_t)64 << 10)
#define THREAD_FROM ((size_t)8 << 20)

/* A thread that looks whether a transfer can begin does so without a pause at first, then so often. */
#define SPIN_NS 20000
#define LOOK_NS 100000

struct job {
    struct tsl_cuda_lane *lane; /* a reference, which tsl_cuda_lane_piped() drops */
    struct tsl_copy copy;
    CUevent after;            /* behind what the lane's stream had before: nothing begins until it is there */
    uint64_t due_number;      /* what is due up to this one came before it */
    bool looked, begun;       /* whether a thread has looked at that without a pause, and it is there */
    size_t size, taken, left; /* bytes: of all, in chunks that a thread has or had, not known to have arrived */
    bool linear;              /* chunks are ranges of bytes, of `least` or more; else of rows: */
    size_t least;
    size_t width, rows;           /* of a chunk, at most */
    size_t n_columns, n_row_sets; /* chunks of a slice are n_columns * n_row_sets */
    size_t n_chunks, n_taken;
    cl_int error;
    TAILQ_ENTRY(job) link; /* while chunks are left to take */
};

struct slot {
    void *host;
    CUevent event;     /* of the pipeline's member */
    CUevent far_event; /* of the other device of a transfer between two; NULL: none */
    struct job *job;   /* NULL: free */
    struct tsl_copy part;
};

/* A stream of another member, while chunks from or to it are on their way. */
struct far {
    struct tsl_cuda_member *member; /* NULL: none */
    CUstream stream;
};

struct worker {
    struct tsl_cuda_pipeline *pipeline;
    pthread_t thread;
    CUstream stream;
    struct far far;
    struct slot slots[2];
    unsigned next; /* slot to use next: the older one */
};

struct tsl_cuda_pipeline {
    struct tsl_cuda_member *member;
    struct tsl_lock lock; /* guards the jobs and their counts; n_workers is written under both locks */
    pthread_cond_t wake;
    TAILQ_HEAD(, job) jobs;
    bool looking; /* a thread looks now and then whether one can begin; the others sleep */
    bool closing;
    size_t size;           /* of all jobs so far; under the member's pipeline_lock */
    unsigned most_workers; /* likewise */
    unsigned n_workers;
    struct worker workers[MAX_THREADS];
    unsigned n_blocks;
    struct tsl_cuda_pinned blocks[MAX_THREADS]; /* which the workers' slots are parts of */
};

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t bytes_of(const struct tsl_copy *copy)
{
    return copy->region[0] * copy->region[1] * copy->region[2];
}

static size_t in_bounds(size_t chunk, size_t least, size_t most)
{
    chunk = chunk / CHUNK_UNIT * CHUNK_UNIT;
    return chunk < least ? least : chunk > most ? most : chunk;
}

/* Chunks get smaller towards the end, so that no thread is left with a large one when the others have nothing to do;
 * less so those that the host fills, which the bus brings away by itself. But those are small at the beginning, as the
 * bus waits for the first. */
static size_t next_size(const struct job *job, unsigned n_workers)
{
    size_t rest = job->size - job->taken, size = rest / n_workers / (job->copy.src.mem ? 2 : 1);
    size_t first = job->copy.src.mem ? SLOT_SIZE : job->least + job->taken / n_workers;

    size = in_bounds(size < first ? size : first, job->least, SLOT_SIZE);
    return size < rest ? size : rest;
}

static void cut(struct job *job, unsigned n_workers)
{
    const size_t *region = job->copy.region;
    size_t chunk;

    job->size = job->left = bytes_of(&job->copy);
    job->linear = tsl_copy_is_linear(&job->copy);
    job->least = in_bounds(job->size / 16, CHUNK_MIN, SMALL_MAX);
    chunk = in_bounds(job->size / (2 * n_workers), CHUNK_MIN, SLOT_SIZE);
    job->width = region[0] < chunk ? region[0] : chunk;
    job->rows = chunk / job->width < region[1] ? chunk / job->width : region[1];
    job->n_columns = ceil_div(region[0], job->width);
    job->n_row_sets = ceil_div(region[1], job->rows);
    job->n_chunks = job->n_columns * job->n_row_sets * region[2];
}

/* A chunk as a copy of its own, of rows in one slice. */
static struct tsl_copy chunk_of(const struct job *job, size_t chunk)
{
    size_t column = chunk % job->n_columns, set = chunk / job->n_columns % job->n_row_sets;
    size_t slice = chunk / job->n_columns / job->n_row_sets;
    size_t x = column * job->width, y = set * job->rows;
    struct tsl_copy part = job->copy;

    part.region[0] = job->copy.region[0] - x < job->width ? job->copy.region[0] - x : job->width;
    part.region[1] = job->copy.region[1] - y < job->rows ? job->copy.region[1] - y : job->rows;
    part.region[2] = 1;
    part.dst.offset += x + y * part.dst.row_pitch + slice * part.dst.slice_pitch;
    part.src.offset += x + y * part.src.row_pitch + slice * part.src.slice_pitch;
    return part;
}

static struct tsl_copy range_of(const struct job *job, size_t size)
{
    struct tsl_copy part = job->copy;

    part.region[0] = size;
    part.region[1] = part.region[2] = 1;
    part.dst.offset += job->taken;
    part.src.offset += job->taken;
    return part;
}

/* The next one, which is there. */
static struct tsl_copy take(struct job *job, unsigned n_workers)
{
    struct tsl_copy part = job->linear ? range_of(job, next_size(job, n_workers)) : chunk_of(job, job->n_taken++);

    job->taken += bytes_of(&part);
    return part;
}

static struct tsl_place packed(void *host, const struct tsl_copy *part)
{
    return (struct tsl_place){.host = host, .row_pitch = part->region[0]};
}

/* ---- Between two devices ----------------------------------------------------------------------------------------- */

static CUresult make_far(struct worker *w)
{
    CUresult result = tsl_cu.cuStreamCreate(&w->far.stream, CU_STREAM_NON_BLOCKING);

    for (int i = 0; i < 2 && !result; i++)
        result = tsl_cu.cuEventCreate(&w->slots[i].far_event, CU_EVENT_DISABLE_TIMING);
    return result;
}

/* Nothing of it is on its way any more. */
static void drop_far(struct worker *w)
{
    bool entered = w->far.member && tsl_cuda_enter_anyway(w->far.member);

    for (int i = 0; i < 2; i++) {
        if (entered && w->slots[i].far_event)
            tsl_cu.cuEventDestroy_v2(w->slots[i].far_event);
        w->slots[i].far_event = NULL;
    }
    if (entered && w->far.stream)
        tsl_cu.cuStreamDestroy_v2(w->far.stream);
    if (entered)
        tsl_cuda_leave(w->far.member);
    w->far = (struct far){.member = NULL};
}

/* If the other slot has a transfer of another job on its way, that is with another device. */
static CUresult have_far(struct worker *w, struct tsl_cuda_member *member)
{
    CUresult result;

    if (w->far.member == member)
        return CUDA_SUCCESS;
    if (w->far.member)
        tsl_cu.cuStreamSynchronize(w->far.stream);
    drop_far(w);
    result = tsl_cu.cuCtxPushCurrent_v2(member->context);
    if (result)
        return result;
    w->far.member = member;
    result = make_far(w);
    tsl_cuda_leave(member);
    if (result)
        drop_far(w);
    return result;
}

/* One of the two legs, in the context of the device whose memory it is; behind `after` unless that is NULL. */
static CUresult leg(struct worker *w, const struct tsl_copy *part, struct tsl_cuda_member *member, CUevent after,
                    CUevent event)
{
    CUstream stream = member == w->far.member ? w->far.stream : w->stream;
    CUresult result = tsl_cu.cuCtxPushCurrent_v2(member->context);

    if (result)
        return result;
    if (after)
        result = tsl_cu.cuStreamWaitEvent(stream, after, 0);
    if (!result)
        result = tsl_cuda_copy_box(&part->dst, &part->src, part->region, stream);
    if (!result)
        result = tsl_cu.cuEventRecord(event, stream);
    tsl_cuda_leave(member);
    return result;
}

static CUresult begin_both(struct worker *w, struct slot *slot, const struct tsl_copy *part)
{
    struct tsl_cuda_member *own = w->pipeline->member, *from = tsl_cuda_member(part->src.mem->member);
    struct tsl_cuda_member *to = tsl_cuda_member(part->dst.mem->member);
    struct tsl_place side = packed(slot->host, part);
    struct tsl_copy fetch = *part, bring = *part;
    CUresult result = have_far(w, from == own ? to : from);

    fetch.dst = bring.src = side;
    if (!result)
        result = leg(w, &fetch, from, NULL, from == own ? slot->event : slot->far_event);
    if (!result)
        result = leg(w, &bring, to, from == own ? slot->event : slot->far_event,
                     from == own ? slot->far_event : slot->event);
    return result;
}

/* ---- A worker ---------------------------------------------------------------------------------------------------- */

static CUresult begin_chunk(struct worker *w, struct slot *slot)
{
    const struct tsl_copy *part = &slot->part;
    struct tsl_place side = packed(slot->host, part);
    CUresult result;

    if (part->src.mem && part->dst.mem)
        return begin_both(w, slot, part);
    if (!part->src.mem)
        tsl_cuda_pack(slot->host, &part->src, part->region);
    result = part->src.mem ? tsl_cuda_copy_box(&side, &part->src, part->region, w->stream)
                           : tsl_cuda_copy_box(&part->dst, &side, part->region, w->stream);
    return result ? result : tsl_cu.cuEventRecord(slot->event, w->stream);
}

/* The end of a fence tells of all that came before in its lane. */
static void do_earlier_dues(struct tsl_cuda_pipeline *p, const struct job *job)
{
    if (job->due_number)
        tsl_cuda_dues_run(p->member, job->due_number);
    if (atomic_load(&job->lane->prints)) /* It waits for nothing, but CUDA writes out what kernels have printed. */
        tsl_cu.cuEventSynchronize(job->after);
}

static void finish_job(struct tsl_cuda_pipeline *p, struct job *job)
{
    do_earlier_dues(p, job);
    tsl_cuda_event_put(p->member, false, job->after);
    tsl_cuda_lane_piped(job->lane, job->error);
    free(job);
}

/* One chunk less; the last one ends the job. */
static void count_down(struct tsl_cuda_pipeline *p, struct job *job, size_t size, CUresult result)
{
    cl_int error = tsl_cuda_error(p->member, result);
    bool last;

    tsl_lock_take(&p->lock);
    if (error && !job->error)
        job->error = error;
    job->left -= size;
    last = job->left == 0;
    tsl_lock_give(&p->lock);
    if (last)
        finish_job(p, job);
}

/* Before its job may end, and the other member may be closed. */
static void free_slot(struct worker *w, struct slot *slot)
{
    slot->job = NULL;
    if (!w->slots[0].job && !w->slots[1].job)
        drop_far(w);
}

static void end_chunk(struct worker *w, struct slot *slot)
{
    const struct tsl_copy *part = &slot->part;
    bool ends_far = part->dst.mem && part->dst.mem->member != &w->pipeline->member->base;
    CUresult result = tsl_cu.cuEventSynchronize(ends_far ? slot->far_event : slot->event);
    struct job *job = slot->job;

    if (!result && part->src.mem && !part->dst.mem)
        tsl_cuda_unpack(&part->dst, slot->host, part->region);
    free_slot(w, slot);
    count_down(w->pipeline, job, bytes_of(part), result);
}

/* Has all that came before it in its lane ended? A worker's stream never waits: transfers of other lanes would stand
 * behind. */
static bool has_begun(struct tsl_cuda_pipeline *p, struct job *job) TSL_REQUIRES(p->lock)
{
    if (job->begun)
        return true;
    job->begun = tsl_cu.cuEventQuery(job->after) != CUDA_ERROR_NOT_READY;
    if (job->begun)
        pthread_cond_broadcast(&p->wake);
    return job->begun;
}

/* The next chunk that no worker has. *waiting: there are jobs that can't begin yet. */
static struct job *take_chunk_locked(struct tsl_cuda_pipeline *p, struct tsl_copy *part, bool *waiting)
    TSL_REQUIRES(p->lock)
{
    struct job *job = TAILQ_FIRST(&p->jobs);

    *waiting = job != NULL;
    while (job && !has_begun(p, job))
        job = TAILQ_NEXT(job, link);
    if (!job)
        return NULL;
    *part = take(job, p->n_workers);
    if (job->taken == job->size)
        TAILQ_REMOVE(&p->jobs, job, link);
    return job;
}

/* A job that no worker has looked at yet; NULL: there is none. */
static struct job *new_job(struct tsl_cuda_pipeline *p) TSL_REQUIRES(p->lock)
{
    struct job *job = TAILQ_FIRST(&p->jobs);

    while (job && job->looked)
        job = TAILQ_NEXT(job, link);
    return job;
}

/* Looks for a while whether it can begin; the lock is given meanwhile. Another thread may begin and end it: then this
 * one looks at an event that is in the pool, or another's. */
static void look_at(struct tsl_cuda_pipeline *p, struct job *job) TSL_REQUIRES(p->lock) TSL_UNCHECKED
{
    CUevent after = job->after;
    uint64_t until;

    job->looked = true;
    tsl_lock_give(&p->lock);
    until = tsl_clock_ns() + SPIN_NS;
    while (tsl_cu.cuEventQuery(after) == CUDA_ERROR_NOT_READY && tsl_clock_ns() < until)
        ;
    tsl_lock_take(&p->lock);
}

static void rest(struct tsl_cuda_pipeline *p) TSL_REQUIRES(p->lock) TSL_UNCHECKED
{
    struct timespec until = tsl_clock_until(LOOK_NS);

    pthread_cond_timedwait(&p->wake, &p->lock.mutex, &until);
}

static void pause_locked(struct tsl_cuda_pipeline *p, bool waiting) TSL_REQUIRES(p->lock) TSL_UNCHECKED
{
    struct job *job;

    if (!waiting || p->looking) {
        tsl_lock_wait(&p->lock, &p->wake);
        return;
    }
    p->looking = true;
    job = new_job(p);
    if (job)
        look_at(p, job);
    else
        rest(p);
    p->looking = false;
}

/* What to do next: a chunk; else, if `busy`, NULL at once; else it waits. False: it is to end. */
static bool next_chunk(struct tsl_cuda_pipeline *p, bool busy, struct job **job, struct tsl_copy *part)
{
    bool go, waiting;

    tsl_lock_take(&p->lock);
    while (!(*job = take_chunk_locked(p, part, &waiting)) && !busy && !p->closing)
        pause_locked(p, waiting);
    go = *job || busy;
    tsl_lock_give(&p->lock);
    return go;
}

static void work_on(struct worker *w, struct job *job, const struct tsl_copy *part)
{
    struct slot *slot = &w->slots[w->next];
    CUresult result;

    if (slot->job)
        end_chunk(w, slot);
    slot->job = job;
    slot->part = *part;
    result = begin_chunk(w, slot);
    if (result) {
        tsl_cu.cuStreamSynchronize(w->stream);
        if (w->far.stream)
            tsl_cu.cuStreamSynchronize(w->far.stream);
        free_slot(w, slot);
        count_down(w->pipeline, job, bytes_of(part), result);
        return;
    }
    w->next ^= 1;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    struct tsl_cuda_pipeline *p = w->pipeline;
    struct job *job;
    struct tsl_copy part;

    tsl_cu.cuCtxPushCurrent_v2(p->member->context);
    while (next_chunk(p, w->slots[0].job || w->slots[1].job, &job, &part)) {
        struct slot *older = &w->slots[w->next];

        if (job)
            work_on(w, job, &part);
        else if (older->job)
            end_chunk(w, older);
        else
            end_chunk(w, &w->slots[w->next ^ 1]);
    }
    return NULL;
}

/* ---- Making it --------------------------------------------------------------------------------------------------- */

static void finish_worker(struct worker *w)
{
    for (int i = 0; i < 2; i++)
        if (w->slots[i].event)
            tsl_cu.cuEventDestroy_v2(w->slots[i].event);
    if (w->stream)
        tsl_cu.cuStreamDestroy_v2(w->stream);
}

/* slots: pinned memory for them. */
static CUresult init_worker(struct tsl_cuda_pipeline *p, struct worker *w, char *slots)
{
    CUresult result = tsl_cu.cuStreamCreate(&w->stream, CU_STREAM_NON_BLOCKING);

    w->pipeline = p;
    for (size_t i = 0; i < 2 && !result; i++) {
        w->slots[i].host = slots + i * SLOT_SIZE;
        result = tsl_cu.cuEventCreate(&w->slots[i].event, CU_EVENT_DISABLE_TIMING);
    }
    return result;
}

/* What it needs of CUDA is made here, as exit doesn't wait for these threads, and so they mustn't be in CUDA then
 * without a transfer. */
static bool start_worker(struct tsl_cuda_pipeline *p, char *slots)
{
    struct worker *w = &p->workers[p->n_workers];

    if (init_worker(p, w, slots) || !tsl_cuda_thread_start(p->member, &w->thread, run, w)) {
        finish_worker(w);
        *w = (struct worker){.pipeline = NULL};
        return false;
    }
    pthread_setname_np(w->thread, "tesela-copy");
    tsl_lock_take(&p->lock);
    p->n_workers++;
    tsl_lock_give(&p->lock);
    return true;
}

/* Half of the processors: the application has work of its own. */
static unsigned wanted_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN) / 2;

    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static struct tsl_cuda_pipeline *create(struct tsl_cuda_member *member)
{
    struct tsl_cuda_pipeline *p = calloc(1, sizeof(*p));
    pthread_condattr_t attr;

    if (!p)
        return NULL;
    p->member = member;
    tsl_lock_init(&p->lock);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &attr);
    pthread_condattr_destroy(&attr);
    TAILQ_INIT(&p->jobs);
    p->most_workers = wanted_threads();
    return p;
}

void tsl_cuda_pipeline_destroy(struct tsl_cuda_pipeline *pipeline)
{
    if (!pipeline)
        return;
    tsl_lock_take(&pipeline->lock);
    pipeline->closing = true;
    pthread_cond_broadcast(&pipeline->wake);
    tsl_lock_give(&pipeline->lock);
    for (unsigned i = 0; i < pipeline->n_workers; i++)
        pthread_join(pipeline->workers[i].thread, NULL);
    for (unsigned i = 0; i < pipeline->n_workers; i++)
        finish_worker(&pipeline->workers[i]);
    for (unsigned i = 0; i < pipeline->n_blocks; i++)
        tsl_cuda_unpin(&pipeline->blocks[i]);
    pthread_cond_destroy(&pipeline->wake);
    tsl_lock_finish(&pipeline->lock);
    free(pipeline);
}

/* With slots of one block, which is sooner pinned than many. */
static bool start_workers(struct tsl_cuda_pipeline *p, unsigned n)
{
    struct tsl_cuda_pinned *block = &p->blocks[p->n_blocks];

    if (tsl_cuda_pin(p->member, n * 2 * SLOT_SIZE, block))
        return false;
    unsigned started = 0;
    while (started < n && start_worker(p, (char *)block->at + started * 2 * SLOT_SIZE))
        started++;
    if (started)
        p->n_blocks++;
    else
        tsl_cuda_unpin(block);
    return started == n;
}

/* With fewer threads than wanted it is only slower. */
static void grow(struct tsl_cuda_pipeline *p, size_t size)
{
    p->size += size;
    size_t wanted = p->size < THREAD_FROM ? 1 : p->size / THREAD_FROM;
    wanted = wanted < p->most_workers ? wanted : p->most_workers;
    if (wanted > p->n_workers && !start_workers(p, (unsigned)wanted - p->n_workers) && p->n_workers)
        p->most_workers = p->n_workers;
}

/* For a transfer of so many bytes. */
static struct tsl_cuda_pipeline *pipeline_for(struct tsl_cuda_member *member, size_t size)
{
    struct tsl_cuda_pipeline *pipeline;

    pthread_mutex_lock(&member->pipeline_lock);
    if (!member->pipeline)
        member->pipeline = create(member);
    pipeline = member->pipeline;
    if (pipeline)
        grow(pipeline, size);
    bool works = pipeline && pipeline->n_workers;
    pthread_mutex_unlock(&member->pipeline_lock);
    return works ? pipeline : NULL;
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

static void add(struct tsl_cuda_pipeline *p, struct job *job)
{
    tsl_lock_take(&p->lock);
    cut(job, p->n_workers);
    TAILQ_INSERT_TAIL(&p->jobs, job, link);
    pthread_cond_broadcast(&p->wake);
    tsl_lock_give(&p->lock);
}

cl_int tsl_cuda_pipe(struct tsl_cuda_lane *lane, const struct tsl_copy *copy)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    struct tsl_cuda_pipeline *p = pipeline_for(member, bytes_of(copy));
    struct job *job = p ? calloc(1, sizeof(*job)) : NULL;
    CUresult result;

    if (!job)
        return CL_OUT_OF_HOST_MEMORY;
    job->lane = lane;
    job->copy = *copy;
    job->after = tsl_cuda_event_get(member, false, &result);
    if (!result)
        result = tsl_cu.cuEventRecord(job->after, lane->stream);
    if (result) {
        tsl_cuda_event_put(member, false, job->after);
        free(job);
        return tsl_cuda_error(member, result);
    }
    job->due_number = tsl_cuda_dues_now(member);
    atomic_fetch_add_explicit(&lane->refs, 1, memory_order_relaxed);
    add(p, job);
    return TSL_CUDA_PIPED;
}
