/*
 * Big transfers between pageable memory of the host and a device's own: cut into chunks, which threads of ours copy
 * through slots of pinned memory (CL_MEM_ALLOC_HOST_PTR, mapped for good), two for each thread and by a queue of its
 * own, so that copying on the host and on the bus overlap. Vendors' own ways for such memory mostly use one thread.
 *
 * In the lane stand two marks: the first tells when all before it is done; the second waits for a gate, which the last
 * chunk opens, and gives the fence. So lanes keep their order, and nobody who submits ever waits.
 *
 * Which way is faster is measured, for each direction: the first big transfer goes through the slots, the second one as
 * the vendor does it (by one blocking call of a thread of ours), then all go the faster way.
 *
 * Threads start at the first such transfer and end with the member. stage->lock is a leaf: vendors' callbacks take it.
 */
#include "opencl/stage.h"
#include "opencl/fence.h"
#include "opencl/gate.h"
#include "opencl/operations.h"

#include "base/log.h"
#include "base/numa.h"
#include "base/settings.h"
#include "base/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define MAX_THREADS 8u
#define SLOT_SIZE   ((size_t)2 << 20)
#define CHUNK_MIN   ((size_t)32 << 10)

/* From where on handing a transfer over is worth it; tests that force it have less patience. */
#define SIZE_AUTO   ((size_t)4 << 20)
#define SIZE_FORCED ((size_t)64 << 10)

enum way { WAY_SLOTS, WAY_VENDOR, N_WAYS };

struct job {
    TAILQ_ENTRY(job) link;
    struct tsl_opencl_stage *stage;
    cl_mem buffer;
    size_t offset, size; /* in the buffer; bytes */
    char *host;
    bool up; /* to the device */
    enum way way;
    struct tsl_fence *after; /* owned: complete when it may begin */
    struct tsl_fence *gate;  /* owned: it ends there */
    size_t chunk, n_taken, n_left;
    cl_int error;
    uint64_t begin_ns;
};

TAILQ_HEAD(job_list, job);

struct slot {
    char *host; /* pinned */
    struct tsl_mem *mem;
    cl_event event;
    struct job *job; /* NULL: free */
    size_t chunk;
};

struct worker {
    struct tsl_opencl_stage *stage;
    pthread_t thread;
    cl_command_queue queue;
    struct slot slots[2];
    unsigned next; /* slot to use next: the older one */
};

struct tsl_opencl_stage {
    struct tsl_opencl_member *member;
    pthread_mutex_t lock; /* guards all below but the workers */
    pthread_cond_t wake;
    struct job_list jobs; /* that may begin, while they have chunks that no worker has taken */
    bool closing;
    bool tried[2][N_WAYS];       /* by direction (up: 1) */
    double bandwidth[2][N_WAYS]; /* bytes a ns, of the last transfer; 0: unknown */
    unsigned n_workers;
    struct worker workers[MAX_THREADS];
};

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

static size_t n_chunks(const struct job *job)
{
    return (job->size + job->chunk - 1) / job->chunk;
}

/* Small enough that every thread gets some, large enough to be worth it. */
static size_t chunk_size(size_t size, unsigned n_workers)
{
    size_t chunk = size / (4 * n_workers) / 4096 * 4096;
    return chunk < CHUNK_MIN ? CHUNK_MIN : chunk > SLOT_SIZE ? SLOT_SIZE : chunk;
}

static size_t size_of(const struct job *job, size_t chunk)
{
    size_t begin = chunk * job->chunk;
    return job->size - begin < job->chunk ? job->size - begin : job->chunk;
}

static cl_int transfer(struct worker *w, const struct job *job, size_t chunk, void *host, cl_event *event)
{
    const struct tsl_opencl_cl *cl = w->stage->member->cl;
    size_t at = job->offset + chunk * job->chunk;
    cl_bool blocking = event ? CL_FALSE : CL_TRUE;

    return job->up ? cl->clEnqueueWriteBuffer(w->queue, job->buffer, blocking, at, size_of(job, chunk), host, 0, NULL,
                                              event)
                   : cl->clEnqueueReadBuffer(w->queue, job->buffer, blocking, at, size_of(job, chunk), host, 0, NULL,
                                             event);
}

/* ---- Which way --------------------------------------------------------------------------------------------------- */

static enum way choose_locked(struct tsl_opencl_stage *s, bool up)
{
    if (tsl_settings()->staging == TSL_STAGING_ON)
        return WAY_SLOTS;
    for (int way = 0; way < N_WAYS; way++)
        if (!s->tried[up][way]) {
            s->tried[up][way] = true;
            return (enum way)way;
        }
    return s->bandwidth[up][WAY_VENDOR] > s->bandwidth[up][WAY_SLOTS] ? WAY_VENDOR : WAY_SLOTS;
}

static void learn_locked(struct tsl_opencl_stage *s, const struct job *job)
{
    uint64_t ns = tsl_clock_ns() - job->begin_ns;
    double *known = &s->bandwidth[job->up][job->way];
    bool first = *known == 0.0;

    if (job->error || ns == 0)
        return;
    *known = (double)job->size / (double)ns;
    if (first)
        tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_INFO, "%s: %zu bytes %s the device %s: %.1f GB/s", s->member->base.path->id,
                job->size, job->up ? "to" : "from",
                job->way == WAY_SLOTS ? "through pinned memory" : "as the vendor copies", *known);
}

/* ---- A worker ---------------------------------------------------------------------------------------------------- */

static void end_job(struct job *job)
{
    tsl_opencl_give(); /* What was copied is given to the threads that wait for the fence. */
    tsl_opencl_gate_open(job->gate, job->error);
    tsl_fence_unref(job->gate);
    tsl_fence_unref(job->after);
    free(job);
}

/* One chunk less; the last one ends the job. */
static void count_down(struct tsl_opencl_stage *s, struct job *job, cl_int error)
{
    bool last;

    pthread_mutex_lock(&s->lock);
    if (error && !job->error)
        job->error = error;
    last = --job->n_left == 0;
    if (last)
        learn_locked(s, job);
    pthread_mutex_unlock(&s->lock);
    if (last)
        end_job(job);
}

static cl_int await(struct worker *w, struct slot *slot)
{
    const struct tsl_opencl_cl *cl = w->stage->member->cl;
    cl_int status;

    cl->clWaitForEvents(1, &slot->event);
    status = tsl_opencl_event_status(cl, slot->event);
    if (status > 0) { /* The wait failed: nothing may be under way when the slot is used again. */
        cl->clFinish(w->queue);
        status = tsl_opencl_event_status(cl, slot->event);
    }
    cl->clReleaseEvent(slot->event);
    slot->event = NULL;
    return status > 0 ? CL_OUT_OF_RESOURCES : status;
}

static void end_chunk(struct worker *w, struct slot *slot)
{
    struct job *job = slot->job;
    cl_int error = await(w, slot);

    if (!error && !job->up)
        memcpy(job->host + slot->chunk * job->chunk, slot->host, size_of(job, slot->chunk));
    slot->job = NULL;
    count_down(w->stage, job, error);
}

static void begin_chunk(struct worker *w, struct job *job, size_t chunk)
{
    struct slot *slot = &w->slots[w->next];
    cl_int error;

    if (slot->job)
        end_chunk(w, slot);
    if (job->up)
        memcpy(slot->host, job->host + chunk * job->chunk, size_of(job, chunk));
    error = transfer(w, job, chunk, slot->host, &slot->event);
    if (!error)
        error = w->stage->member->cl->clFlush(w->queue);
    if (error && slot->event)
        await(w, slot);
    if (error) {
        count_down(w->stage, job, error);
        return;
    }
    slot->job = job;
    slot->chunk = chunk;
    w->next ^= 1;
}

/* A chunk that a worker took. */
struct piece {
    struct job *job;
    size_t chunk;
    cl_int error; /* of what it came after, or of another chunk */
};

static void work_on(struct worker *w, const struct piece *piece)
{
    struct job *job = piece->job;
    size_t chunk = piece->chunk;

    if (piece->error)
        count_down(w->stage, job, piece->error);
    else if (job->way == WAY_VENDOR)
        count_down(w->stage, job, transfer(w, job, chunk, job->host, NULL));
    else
        begin_chunk(w, job, chunk);
}

/* The next chunk that no worker has; else, if `busy`, NULL at once; else it waits. False: the thread is to end. */
static bool next_chunk(struct tsl_opencl_stage *s, bool busy, struct piece *piece)
{
    struct job *job;

    pthread_mutex_lock(&s->lock);
    while (!(job = TAILQ_FIRST(&s->jobs)) && !busy && !s->closing)
        pthread_cond_wait(&s->wake, &s->lock);
    piece->job = job;
    if (job) {
        if (!job->begin_ns)
            job->begin_ns = tsl_clock_ns();
        piece->error = job->error;
        piece->chunk = job->n_taken++;
        if (job->n_taken == n_chunks(job))
            TAILQ_REMOVE(&s->jobs, job, link);
    }
    pthread_mutex_unlock(&s->lock);
    return job || busy;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    struct piece piece;

    pthread_setname_np(pthread_self(), "tesela-copy");
    while (next_chunk(w->stage, w->slots[0].job || w->slots[1].job, &piece)) {
        struct slot *older = &w->slots[w->next];

        if (piece.job)
            work_on(w, &piece);
        else
            end_chunk(w, older->job ? older : &w->slots[w->next ^ 1]);
    }
    return NULL;
}

/* ---- Making it --------------------------------------------------------------------------------------------------- */

static void finish_worker(struct tsl_opencl_member *m, struct worker *w)
{
    for (int i = 0; i < 2; i++)
        if (w->slots[i].mem)
            tsl_opencl_mem_free(w->slots[i].mem);
    if (w->queue)
        tsl_opencl_release(m, TSL_OPENCL_QUEUE, w->queue);
    *w = (struct worker){0};
}

static bool init_worker(struct tsl_opencl_stage *s, struct worker *w)
{
    struct tsl_opencl_member *m = s->member;
    cl_int error = CL_SUCCESS;

    w->stage = s;
    for (int i = 0; i < 2 && !error; i++)
        error = tsl_opencl_host_alloc(&m->base, SLOT_SIZE, (void **)&w->slots[i].host, &w->slots[i].mem);
    if (!error)
        w->queue = m->cl->clCreateCommandQueue(m->context, m->device->id, 0, &error);
    return !error && w->queue;
}

static bool start_worker(struct tsl_opencl_stage *s)
{
    struct worker *w = &s->workers[s->n_workers];
    bool started = false;
    pthread_attr_t attributes;

    if (init_worker(s, w)) {
        pthread_attr_init(&attributes);
        tsl_numa_thread(&attributes, tsl_path_numa_node(s->member->base.path));
        started = tsl_thread_start(&w->thread, &attributes, run, w) == 0;
        pthread_attr_destroy(&attributes);
    }
    if (started)
        s->n_workers++;
    else
        finish_worker(s->member, w);
    return started;
}

/* Half of the processors: the application has work of its own. */
static unsigned wanted_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN) / 2;

    return n < 1 ? 1 : n > (long)MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static struct tsl_opencl_stage *create(struct tsl_opencl_member *m)
{
    struct tsl_opencl_stage *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->member = m;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
    TAILQ_INIT(&s->jobs);
    /* With fewer threads than wanted it is only slower. */
    for (unsigned n = wanted_threads(); n > 0 && start_worker(s); n--)
        ;
    if (s->n_workers)
        return s;
    tsl_log(TSL_LOG_IN_OPENCL, TSL_LOG_WARN,
            "%s: no pinned memory or no thread for big transfers, so the vendor copies", m->base.path->id);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

void tsl_opencl_stage_destroy(struct tsl_opencl_member *m)
{
    struct tsl_opencl_stage *s = m->stage;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->n_workers; i++)
        pthread_join(s->workers[i].thread, NULL);
    for (unsigned i = 0; i < s->n_workers; i++)
        finish_worker(m, &s->workers[i]);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
    m->stage = NULL;
}

static struct tsl_opencl_stage *stage_of(struct tsl_opencl_member *m)
{
    pthread_mutex_lock(&m->stage_lock);
    if (!m->stage && !m->no_stage)
        m->stage = create(m);
    m->no_stage = !m->stage;
    pthread_mutex_unlock(&m->stage_lock);
    return m->stage;
}

/* ---- What is pinned already -------------------------------------------------------------------------------------- */

void tsl_opencl_note_pinned(struct tsl_opencl_member *m, struct tsl_opencl_mem *mem, bool pinned)
{
    pthread_mutex_lock(&m->pinned_lock);
    if (pinned)
        LIST_INSERT_HEAD(&m->pinned, mem, pinned);
    else
        LIST_REMOVE(mem, pinned);
    pthread_mutex_unlock(&m->pinned_lock);
}

static bool is_pinned(struct tsl_opencl_member *m, const char *host)
{
    const struct tsl_opencl_mem *mem;
    bool found = false;

    pthread_mutex_lock(&m->pinned_lock);
    LIST_FOREACH(mem, &m->pinned, pinned)
    found |= host >= (char *)mem->mapped && host < (char *)mem->mapped + mem->base.size;
    pthread_mutex_unlock(&m->pinned_lock);
    return found;
}

/* ---- Transfers --------------------------------------------------------------------------------------------------- */

bool tsl_opencl_wants_stage(const struct tsl_opencl_lane *lane, const struct tsl_copy *copy)
{
    struct tsl_opencl_member *m = tsl_opencl_member(lane->base.member);
    const struct tsl_place *host = copy->src.mem ? &copy->dst : &copy->src;
    struct tsl_mem *mem = copy->src.mem ? copy->src.mem : copy->dst.mem;

    return m->stage_size && copy->region[0] * copy->region[1] * copy->region[2] >= m->stage_size && !lane->profile &&
           !host->mem && !tsl_opencl_mem(mem)->is_image && !is_pinned(m, (char *)host->host + host->offset);
}

size_t tsl_opencl_stage_size(const struct tsl_opencl_member *m)
{
    enum tsl_staging staging = tsl_settings()->staging;
    bool can = !m->base.caps.zero_copy && m->base.caps.gates && m->cl->clEnqueueMapBuffer &&
               m->cl->clEnqueueUnmapMemObject && m->cl->clCreateCommandQueue;

    if (!can || staging == TSL_STAGING_OFF)
        return 0;
    if (staging == TSL_STAGING_ON)
        return SIZE_FORCED;
    return m->base.path->type & CL_DEVICE_TYPE_GPU ? SIZE_AUTO : 0;
}

/* In a vendor's callback, or not: what came before is done. */
static void begin(void *arg, cl_int status)
{
    struct job *job = arg;
    struct tsl_opencl_stage *s = job->stage;

    pthread_mutex_lock(&s->lock);
    job->error = status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
    job->way = choose_locked(s, job->up);
    job->chunk = job->way == WAY_SLOTS ? chunk_size(job->size, s->n_workers) : job->size;
    job->n_left = n_chunks(job);
    TAILQ_INSERT_TAIL(&s->jobs, job, link);
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

static struct job *new_job(struct tsl_opencl_stage *s, const struct tsl_copy *copy)
{
    struct job *job = calloc(1, sizeof(*job));
    const struct tsl_place *host = copy->src.mem ? &copy->dst : &copy->src;
    const struct tsl_place *device = copy->src.mem ? &copy->src : &copy->dst;

    if (!job)
        return NULL;
    job->stage = s;
    job->buffer = tsl_opencl_mem(device->mem)->buffer;
    job->offset = device->offset;
    job->size = copy->region[0] * copy->region[1] * copy->region[2];
    job->host = (char *)host->host + host->offset;
    job->up = !copy->src.mem;
    return job;
}

/* The two marks. On an error the lane is as it was, but for a mark. */
static cl_int put_marks(struct tsl_lane *lane, const struct tsl_waits *waits, struct job *job, struct tsl_fence **fence)
{
    cl_int error = tsl_opencl_mark(lane, waits, &job->after);

    if (error)
        return error;
    error = tsl_opencl_gate_create(lane->member, &job->gate);
    if (!error) {
        struct tsl_waits gate = {.n = 1, .fences = &job->gate};

        error = tsl_opencl_mark(lane, &gate, fence);
    }
    if (!error)
        return CL_SUCCESS;
    if (job->gate) {
        tsl_opencl_gate_open(job->gate, CL_COMPLETE);
        tsl_fence_unref(job->gate);
    }
    tsl_fence_unref(job->after);
    return error;
}

bool tsl_opencl_stage_copy(struct tsl_lane *lane, const struct tsl_copy *copy, const struct tsl_waits *waits,
                           struct tsl_fence **fence)
{
    struct tsl_opencl_stage *s = stage_of(tsl_opencl_member(lane->member));
    struct job *job = s ? new_job(s, copy) : NULL;
    struct tsl_fence *after;

    if (!job)
        return false;
    if (put_marks(lane, waits, job, fence)) {
        free(job);
        return false;
    }
    after = tsl_fence_ref(job->after); /* The job may end at once. */
    if (tsl_opencl_fence_notify(after, begin, job) != CL_SUCCESS)
        begin(job, tsl_opencl_fence_wait(after));
    tsl_fence_unref(after);
    return true;
}
