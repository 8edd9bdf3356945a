/*
 * A STAND-IN FOR libcuda, for tests on machines without an NVIDIA GPU. It is no CUDA: it computes on the host, in the
 * order that CUDA's documentation allows, chosen by chance, and knows a few kernels by their names. It says nothing
 * about CUDA's own order, its errors or its speed; only a real GPU does.
 *
 * It watches its caller: every call needs a current context, handles must be alive, asynchronous copies must name
 * pinned memory, memory and modules may not go while work on them is on its way, gates and events must be valid.
 *
 * STANDIN_DEVICES: how many GPUs it shows (1). STANDIN_ISLAND: of so many that are neighbours each reaches the others'
 * memory (all). STANDIN_SEED: of the order of streams.
 */
#include "standin.h"
#include "compile_client/kernel_image.h"
#include "compile_client/ptx.h"
#include "cuda_bridge/types.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define MAX_DEVICES 4
#define MEMORY_SIZE ((size_t)256 << 20)
#define MAX_ARGS    8

/* ---- What there is; everything is guarded by `lock` -------------------------------------------------------------- */

enum thing_kind {
    MEMORY,
    PINNED,
    REGISTERED,
    STREAM,
    EVENT,
    MODULE,
    POOL,
    GRAPH,
    CHAIN,
    PAGES,
    RESERVED,
    MAPPED,
    TEXTURE
};

/* Anything with a handle. Never freed, so that a dead handle is known as such. */
struct thing {
    enum thing_kind kind;
    bool alive;
    int device;
    LIST_ENTRY(thing) link;
};

struct texture {
    struct thing thing;
    const char *begin;
};

static unsigned n_texels; /* read by textures */

struct range { /* MEMORY, PINNED; REGISTERED, whose memory is the caller's; RESERVED; MAPPED, which is in such */
    struct thing thing;
    char *begin;
    size_t size;
    const struct CUmemPoolHandle_st *pool; /* of MEMORY; NULL: managed */
    bool managed;                          /* the host's and all devices' */
    struct pages *pages;                   /* of MAPPED */
    unsigned reached_by;                   /* of MAPPED: bits of devices */
};

/* A device's memory without an address: it lives while it has a handle or is mapped. */
struct pages {
    struct thing thing; /* alive while it has a handle */
    size_t size;
    unsigned n_mapped;
};

struct CUevent_st {
    struct thing thing;
    bool times;
    uint64_t issued, done; /* numbers of records */
    uint64_t time_ns;
};

struct CUmod_st {
    struct thing thing;
    char *text;
    struct CUfunc_st *functions;
};

struct CUfunc_st {
    struct CUmod_st *module;
    const struct kernel *kernel;
    struct CUfunc_st *next;
};

struct CUmemPoolHandle_st {
    struct thing thing;
    unsigned reached_by;
};

#define MAX_NODES 64

/* Graphs here are chains of kernels. */
struct CUgraphNode_st {
    CUgraph graph;
    unsigned i;
};

struct CUgraph_st {
    struct thing thing;
    unsigned n;
    struct op *ops[MAX_NODES];
    struct CUgraphNode_st nodes[MAX_NODES];
};

struct CUgraphExec_st {
    struct thing thing;
    CUgraph of;
    unsigned n;
    struct op *ops[MAX_NODES];
};

enum op_kind { COPY, SET, LAUNCH, RECORD, WAIT_EVENT, WAIT_VALUE, WRITE_VALUE };

struct op {
    enum op_kind kind;
    CUDA_MEMCPY3D copy; /* all addresses in srcHost and dstHost */
    char *dst;
    size_t size, width, pitch, height;
    uint32_t value;
    CUevent event;
    uint64_t ticket;
    CUfunction function;
    unsigned grid[3], block[3], shared;
    uint64_t args[MAX_ARGS];
    struct tsl_ptx_launch hidden;
    STAILQ_ENTRY(op) next;
};

struct CUstream_st {
    struct thing thing;
    STAILQ_HEAD(, op) ops;
    bool destroyed;
    TAILQ_ENTRY(CUstream_st) link;
};

struct CUctx_st {
    int device;
    unsigned refs;
    CUresult sticky;
    bool started;
    pthread_t thread;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct CUctx_st contexts[MAX_DEVICES];
static LIST_HEAD(, thing) things = LIST_HEAD_INITIALIZER(things);
static TAILQ_HEAD(, CUstream_st) streams = TAILQ_HEAD_INITIALIZER(streams);
static size_t used[MAX_DEVICES];
static unsigned n_violations, n_alive;
static bool stopped, may_be_pageable;
static CUresult wild_error = CUDA_ERROR_ILLEGAL_ADDRESS;
static unsigned long seed = 1;

static _Thread_local CUcontext stack[16];
static _Thread_local unsigned depth;

#define MAX_NAMES 128
static struct {
    const char *name;
    unsigned n_calls, fail_at;
    CUresult result;
} names[MAX_NAMES];

static void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void violation(const char *format, ...)
{
    va_list args;

    n_violations++;
    fprintf(stderr, "stand-in for libcuda: ");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
}

static unsigned chance(unsigned n)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33) % n;
}

static unsigned name_index(const char *name)
{
    unsigned i = 0;

    while (names[i].name && strcmp(names[i].name, name))
        i++;
    names[i].name = name;
    return i;
}

/* Counts the call; the error to return in its place. */
static CUresult begin_locked(const char *name)
{
    unsigned i = name_index(name);

    names[i].n_calls++;
    if (names[i].fail_at && --names[i].fail_at == 0)
        return names[i].result;
    return CUDA_SUCCESS;
}

/* As begin_locked, for functions that need a current context; also gives its sticky error. */
static CUresult begin_in_context(const char *name, CUcontext *context)
{
    CUresult result = begin_locked(name);

    *context = depth ? stack[depth - 1] : NULL;
    if (!*context) {
        violation("%s is called without a current context", name);
        return 201;
    }
    if (!(*context)->refs)
        violation("%s is called in a context that was released", name);
    return result ? result : (*context)->sticky;
}

/* Every exported function's frame: the lock, the call's count, its failure. */
#define ENTER                                 \
    pthread_mutex_lock(&lock);                \
    CUresult result = begin_locked(__func__); \
    if (result) {                             \
        pthread_mutex_unlock(&lock);          \
        return result;                        \
    }

#define ENTER_CONTEXT                                       \
    pthread_mutex_lock(&lock);                              \
    CUcontext context;                                      \
    CUresult result = begin_in_context(__func__, &context); \
    (void)context;                                          \
    if (result) {                                           \
        pthread_mutex_unlock(&lock);                        \
        return result;                                      \
    }

#define LEAVE(value)                 \
    do {                             \
        CUresult left = (value);     \
        pthread_mutex_unlock(&lock); \
        return left;                 \
    } while (0)

static void init_thing(struct thing *thing, enum thing_kind kind, int device)
{
    thing->kind = kind;
    thing->alive = true;
    thing->device = device;
    n_alive++;
    LIST_INSERT_HEAD(&things, thing, link);
}

static bool check(struct thing *thing, enum thing_kind kind, const char *function)
{
    if (thing && thing->alive && thing->kind == kind)
        return true;
    violation("%s is given a handle that is %s", function, !thing ? "NULL" : "dead or of another kind");
    return false;
}

static void end_thing(struct thing *thing)
{
    thing->alive = false;
    n_alive--;
}

/* The range that has all these bytes. */
static struct range *find_range(enum thing_kind kind, const char *begin, size_t size)
{
    struct thing *thing;

    LIST_FOREACH(thing, &things, link)
    {
        struct range *range = (struct range *)thing;

        if (thing->kind == kind && thing->alive && begin >= range->begin && begin + size <= range->begin + range->size)
            return range;
    }
    return NULL;
}

/* Device memory at an address: an allocation's, or what is mapped there. */
static struct range *find_memory_at(const char *at)
{
    struct range *range = find_range(MEMORY, at, 1);

    return range ? range : find_range(MAPPED, at, 1);
}

static bool lets_in(const struct range *range, int device)
{
    if (range->thing.kind == MAPPED)
        return range->reached_by >> device & 1;
    return range->managed || range->pool->reached_by >> device & 1;
}

/* All of this is device memory, though of several pieces that are mapped side by side, and the device may reach it. */
static void check_memory(int device, const char *begin, size_t size, const char *function)
{
    const char *end = begin + size;

    while (begin < end) {
        const struct range *range = find_memory_at(begin);

        if (!range || (range->thing.kind == MEMORY && end > range->begin + range->size)) {
            violation("%s names device memory that isn't there", function);
            return;
        }
        if (!lets_in(range, device))
            violation("%s names memory of another device, which isn't let in", function);
        begin = range->begin + range->size;
    }
}

static const struct range *find_pinned(const char *begin, size_t size)
{
    const struct range *range = find_range(PINNED, begin, size);

    return range ? range : find_range(REGISTERED, begin, size);
}

/* ---- Kernels that it knows --------------------------------------------------------------------------------------- */

/* One work-item of tests/cuda/kernels.cl. id, local and group as the kernel's ABI says. */
struct item {
    const struct op *op;
    uint64_t id[3], group[3];
    unsigned local[3];
    char *shared;
};

static void vector_add(const struct item *i)
{
    const int *a = (const int *)i->op->args[0], *b = (const int *)i->op->args[1];
    int *out = (int *)i->op->args[2];

    out[i->id[0]] = (int)((unsigned)a[i->id[0]] + (unsigned)b[i->id[0]]); /* It wraps, as on a GPU. */
}

static void tell_ids(const struct item *i)
{
    const struct tsl_ptx_launch *h = &i->op->hidden;
    uint64_t x = i->id[0] - h->global_offset[0], y = i->id[1] - h->global_offset[1], z = i->id[2] - h->global_offset[2];
    uint64_t *out = (uint64_t *)i->op->args[0] + 8 * (x + h->global_size[0] * (y + h->global_size[1] * z));

    out[0] = i->id[0];
    out[1] = i->id[1];
    out[2] = i->id[2];
    out[3] = i->group[0] + 1000 * i->group[1] + 1000000 * i->group[2];
    out[4] = i->local[0] + 1000 * i->local[1] + 1000000 * i->local[2];
    out[5] = i->op->block[0] + 1000 * i->op->block[1] + 1000000 * i->op->block[2];
    out[6] = h->num_groups[0] + 1000 * h->num_groups[1] + 1000000 * h->num_groups[2];
    out[7] += h->work_dim;
}

static void add_value(const struct item *i)
{
    ((int *)i->op->args[0])[i->id[0]] += (int)i->op->args[1];
}

/* The last work-item does it for its group: the others have been by then. */
static void reverse(const struct item *i)
{
    int *data = (int *)i->op->args[0], *local = (int *)(i->shared + (uint32_t)i->op->args[1]);
    int *second = (int *)(i->shared + (uint32_t)i->op->args[2]);
    unsigned n = i->op->block[0], last = n - 1;

    local[i->local[0]] = data[i->id[0]];
    second[i->local[0]] = 1000;
    for (unsigned k = 0; i->local[0] == last && k < n; k++)
        data[i->id[0] - last + k] = local[last - k] + second[k];
}

/* Of images of 32-bit pixels: the description that each argument points to says where the pixels are. The sampler is
 * what is added. */
static void image_add(const struct item *i)
{
    const struct tsl_kc_image *from = (const struct tsl_kc_image *)i->op->args[0];
    const struct tsl_kc_image *to = (const struct tsl_kc_image *)i->op->args[1];
    uint64_t at = i->id[0] * from->element_size, row = i->id[1];

    *(uint32_t *)(to->data + row * to->row_pitch + at) =
        *(const uint32_t *)(from->data + row * from->row_pitch + at) + (uint32_t)i->op->args[2];
}

/* The same by the texture object of the description. */
static void image_add_textures(const struct item *i)
{
    const struct tsl_kc_image *from = (const struct tsl_kc_image *)i->op->args[0];
    const struct tsl_kc_image *to = (const struct tsl_kc_image *)i->op->args[1];
    uint64_t at = i->id[0] * from->element_size, row = i->id[1];
    struct texture *texture = (struct texture *)from->texture;

    if (!check(&texture->thing, TEXTURE, __func__))
        return;
    n_texels++;
    *(uint32_t *)(to->data + row * to->row_pitch + at) =
        ((const uint32_t *)texture->begin)[from->first_texel + row * from->row_texels + i->id[0]] +
        (uint32_t)i->op->args[2];
}

static void nothing(const struct item *i)
{
    (void)i;
}

static void wild(const struct item *i)
{
    contexts[i->op->function->module->thing.device].sticky = wild_error;
}

static const struct kernel {
    const char *name;
    unsigned n_args;
    unsigned sizes[MAX_ARGS];
    unsigned memories; /* bits of arguments that are addresses */
    void (*run)(const struct item *item);
} kernels[] = {
    {"vector_add", 3, {8, 8, 8}, 7, vector_add},
    {"tell_ids", 1, {8}, 1, tell_ids},
    {"add_value", 2, {8, 4}, 1, add_value},
    {"reverse", 3, {8, 4, 4}, 1, reverse},
    {"image_add", 3, {8, 8, 8}, 3, image_add},
    {"image_add$textures", 3, {8, 8, 8}, 3, image_add_textures},
    {"nothing", 0, {0}, 0, nothing},
    {"wild", 1, {8}, 0, wild},
};

static void run_block(const struct op *op, const unsigned block[3])
{
    static char shared[65536];
    struct item item = {.op = op, .shared = shared};
    unsigned n = op->block[0] * op->block[1] * op->block[2];

    memset(shared, 0xa5, sizeof(shared));
    for (unsigned i = 0; i < n; i++) {
        item.local[0] = i % op->block[0];
        item.local[1] = i / op->block[0] % op->block[1];
        item.local[2] = i / op->block[0] / op->block[1];
        for (int d = 0; d < 3; d++) {
            item.group[d] = op->hidden.group_begin[d] + block[d];
            item.id[d] = op->hidden.first_id[d] + (uint64_t)block[d] * op->block[d] + item.local[d];
        }
        op->function->kernel->run(&item);
    }
}

static void run_launch(const struct op *op)
{
    for (unsigned z = 0; z < op->grid[2]; z++)
        for (unsigned y = 0; y < op->grid[1]; y++)
            for (unsigned x = 0; x < op->grid[0]; x++)
                run_block(op, (const unsigned[3]){x, y, z});
}

/* ---- Running what streams hold ----------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void run_copy(const CUDA_MEMCPY3D *c)
{
    for (size_t z = 0; z < c->Depth; z++)
        for (size_t y = 0; y < c->Height; y++)
            memmove((char *)c->dstHost + (z * c->dstHeight + y) * c->dstPitch,
                    (const char *)c->srcHost + (z * c->srcHeight + y) * c->srcPitch, c->WidthInBytes);
}

static void run_set(const struct op *op)
{
    for (size_t y = 0; y < op->height; y++)
        for (size_t x = 0; x < op->size; x += op->width)
            memcpy(op->dst + y * op->pitch + x, &op->value, op->width);
}

static bool can_run(const struct op *op)
{
    if (op->kind == WAIT_EVENT)
        return op->event->done >= op->ticket;
    if (op->kind == WAIT_VALUE)
        return (int32_t)(__atomic_load_n((uint32_t *)op->dst, __ATOMIC_ACQUIRE) - op->value) >= 0;
    return true;
}

static void run_op(const struct op *op)
{
    switch (op->kind) {
    case COPY:
        run_copy(&op->copy);
        break;
    case SET:
        run_set(op);
        break;
    case LAUNCH:
        run_launch(op);
        break;
    case RECORD:
        if (op->ticket > op->event->done)
            op->event->done = op->ticket;
        op->event->time_ns = now_ns();
        break;
    case WRITE_VALUE:
        __atomic_store_n((uint32_t *)op->dst, op->value, __ATOMIC_RELEASE);
        break;
    default:
        break;
    }
}

/* Runs the first of one stream, by chance. False: none can go on. */
static bool step_locked(int device)
{
    struct CUstream_st *stream, *chosen = NULL;
    unsigned n = 0;
    struct op *op;

    TAILQ_FOREACH(stream, &streams, link)
    if (stream->thing.device == device && !STAILQ_EMPTY(&stream->ops) && can_run(STAILQ_FIRST(&stream->ops)) &&
        chance(++n) == 0)
        chosen = stream;
    if (!chosen || stopped)
        return false;
    op = STAILQ_FIRST(&chosen->ops);
    if (!contexts[device].sticky)
        run_op(op);
    STAILQ_REMOVE_HEAD(&chosen->ops, next);
    free(op);
    if (chosen->destroyed && STAILQ_EMPTY(&chosen->ops))
        TAILQ_REMOVE(&streams, chosen, link);
    return true;
}

static void *run_device(void *arg)
{
    struct CUctx_st *context = arg;

    pthread_mutex_lock(&lock);
    while (context->refs) {
        struct timespec soon;

        if (step_locked(context->device)) {
            pthread_cond_broadcast(&changed);
            if (chance(4) == 0) {
                pthread_mutex_unlock(&lock);
                sched_yield();
                pthread_mutex_lock(&lock);
            }
            continue;
        }
        /* Flags are written by stores, of which nobody tells. */
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 50000;
        if (soon.tv_nsec >= 1000000000) {
            soon.tv_nsec -= 1000000000;
            soon.tv_sec++;
        }
        pthread_cond_timedwait(&changed, &lock, &soon);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct op *new_op(enum op_kind kind)
{
    struct op *op = calloc(1, sizeof(*op));

    if (!op)
        abort();
    op->kind = kind;
    return op;
}

static CUresult push(CUstream stream, struct op *op, const char *function)
{
    if (!check(&stream->thing, STREAM, function)) {
        free(op);
        return 400;
    }
    STAILQ_INSERT_TAIL(&stream->ops, op, next);
    pthread_cond_broadcast(&changed);
    return CUDA_SUCCESS;
}

static bool touches(const struct op *op, const char *begin, size_t size)
{
    const char *end = begin + size, *dst = op->copy.dstHost, *src = op->copy.srcHost;

    if (op->kind == COPY)
        return (dst >= begin && dst < end) || (src >= begin && src < end);
    if (op->kind == SET || op->kind == WAIT_VALUE || op->kind == WRITE_VALUE)
        return op->dst >= begin && op->dst < end;
    for (unsigned i = 0; op->kind == LAUNCH && i < op->function->kernel->n_args; i++)
        if (op->function->kernel->memories >> i & 1 && (char *)op->args[i] >= begin && (char *)op->args[i] < end)
            return true;
    return false;
}

static bool in_use(const char *begin, size_t size)
{
    struct CUstream_st *stream;
    struct op *op;

    TAILQ_FOREACH(stream, &streams, link)
    STAILQ_FOREACH(op, &stream->ops, next)
    if (touches(op, begin, size))
        return true;
    return false;
}

/* ---- For tests --------------------------------------------------------------------------------------------------- */

EXPORT standin_violations_fn standin_violations;
EXPORT standin_calls_fn standin_calls;
EXPORT standin_fail_fn standin_fail;
EXPORT standin_stop_fn standin_stop;
EXPORT standin_alive_fn standin_alive;
EXPORT standin_texels_fn standin_texels;
EXPORT standin_pageable_fn standin_pageable;
EXPORT standin_wild_fn standin_wild;
EXPORT standin_pin_policy_fn standin_pin_policy;

unsigned standin_violations(void)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = n_violations;
    pthread_mutex_unlock(&lock);
    return n;
}

unsigned standin_calls(const char *name)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = names[name_index(name)].n_calls;
    pthread_mutex_unlock(&lock);
    return n;
}

void standin_fail(const char *name, unsigned n, unsigned error)
{
    pthread_mutex_lock(&lock);
    names[name_index(name)].fail_at = n;
    names[name_index(name)].result = error;
    pthread_mutex_unlock(&lock);
}

void standin_stop(bool stop)
{
    pthread_mutex_lock(&lock);
    stopped = stop;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

unsigned standin_texels(void)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = n_texels;
    pthread_mutex_unlock(&lock);
    return n;
}

unsigned standin_alive(void)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = n_alive;
    pthread_mutex_unlock(&lock);
    return n;
}

void standin_pageable(bool may)
{
    pthread_mutex_lock(&lock);
    may_be_pageable = may;
    pthread_mutex_unlock(&lock);
}

void standin_wild(unsigned error)
{
    pthread_mutex_lock(&lock);
    wild_error = error;
    pthread_mutex_unlock(&lock);
}

static atomic_int pin_policy = STANDIN_NO_POLICY;

static void note_policy(void)
{
    int mode;

    atomic_store(&pin_policy, syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) ? STANDIN_NO_POLICY : mode);
}

int standin_pin_policy(void)
{
    return atomic_load(&pin_policy);
}

/* ---- CUDA: devices and contexts ---------------------------------------------------------------------------------- */

static int n_devices(void)
{
    const char *text = getenv("STANDIN_DEVICES");
    int n = text ? atoi(text) : 1;

    return n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : n;
}

static bool reaches(CUdevice device, CUdevice peer)
{
    const char *text = getenv("STANDIN_ISLAND");
    int n = text ? atoi(text) : MAX_DEVICES;

    return device != peer && device / n == peer / n;
}

EXPORT CUresult cuInit(unsigned int flags);
CUresult cuInit(unsigned int flags)
{
    const char *text = getenv("STANDIN_SEED");

    ENTER
    if (text)
        seed = strtoul(text, NULL, 10);
    LEAVE(flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

EXPORT CUresult cuDriverGetVersion(int *version);
CUresult cuDriverGetVersion(int *version)
{
    ENTER
    *version = 13000;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **text);
CUresult cuGetErrorName(CUresult error, const char **text)
{
    *text = error ? "an error's name" : "CUDA_SUCCESS";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text =
        error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "an error of the stand-in";
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetCount(int *count)
{
    ENTER
    *count = n_devices();
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER
    *device = ordinal;
    LEAVE(ordinal < n_devices() ? CUDA_SUCCESS : 101);
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    ENTER
    snprintf(name, (size_t)length, "stand-in GPU %d", device);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    ENTER
    memset(uuid, 0x40 + device, sizeof(*uuid));
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 20},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
        {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
        {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    };

    ENTER
    *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? 0xf0 + device : 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].attribute == attribute)
            *value = rows[i].value;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    ENTER(void) device;
    *bytes = MEMORY_SIZE;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    ENTER
    *can = reaches(device, peer);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to);
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to)
{
    ENTER
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED && reaches(from, to);
    LEAVE(from == to ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    struct CUctx_st *c = &contexts[device];
    const char *slow = getenv("STANDIN_OPEN_MS");

    if (slow)
        usleep((useconds_t)atoi(slow) * 1000);
    ENTER
    c->device = device;
    if (!c->refs++) {
        c->sticky = CUDA_SUCCESS;
        c->started = pthread_create(&c->thread, NULL, run_device, c) == 0;
    }
    *context = c;
    LEAVE(CUDA_SUCCESS);
}

/* What a context had not done is never done: its memory is its owners' again. */
static void drop_ops_locked(int device)
{
    struct CUstream_st *stream;
    struct op *op;

    TAILQ_FOREACH(stream, &streams, link)
    if (stream->thing.device == device)
        while ((op = STAILQ_FIRST(&stream->ops))) {
            STAILQ_REMOVE_HEAD(&stream->ops, next);
            free(op);
        }
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    struct CUctx_st *c = &contexts[device];
    bool last;

    pthread_mutex_lock(&lock);
    begin_locked(__func__);
    last = --c->refs == 0;
    if (last)
        drop_ops_locked(device);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (last && c->started)
        pthread_join(c->thread, NULL);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER
    if (depth == 16)
        violation("contexts are pushed and not popped");
    else
        stack[depth++] = context;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    ENTER
    if (!depth) {
        violation("no context is there to pop");
        LEAVE(201);
    }
    *context = stack[--depth];
    LEAVE(CUDA_SUCCESS);
}

/* For tests that look whether the application's own context is current again. */
EXPORT CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

/* A context of the application's own: nothing works in it here. */
EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    struct CUctx_st *made = calloc(1, sizeof(*made));

    (void)flags;
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->device = device;
    *context = made;
    return cuCtxPushCurrent_v2(made);
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUcontext top = NULL;

    cuCtxGetCurrent(&top);
    if (top == context)
        cuCtxPopCurrent_v2(&top);
    free(context);
    return CUDA_SUCCESS;
}

/* ---- CUDA: streams and events ------------------------------------------------------------------------------------ */

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    (void)priority;
    return cuStreamCreate(stream, flags);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    struct CUstream_st *made;

    ENTER_CONTEXT
    if (flags != CU_STREAM_NON_BLOCKING)
        violation("a stream waits for the application's default stream");
    made = calloc(1, sizeof(*made));
    if (!made)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    init_thing(&made->thing, STREAM, context->device);
    STAILQ_INIT(&made->ops);
    TAILQ_INSERT_TAIL(&streams, made, link);
    *stream = made;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamDestroy_v2(CUstream stream)
{
    ENTER_CONTEXT
    if (!check(&stream->thing, STREAM, __func__))
        LEAVE(400);
    end_thing(&stream->thing);
    stream->destroyed = true;
    if (STAILQ_EMPTY(&stream->ops))
        TAILQ_REMOVE(&streams, stream, link);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream)
{
    ENTER_CONTEXT
    if (!check(&stream->thing, STREAM, __func__))
        LEAVE(400);
    while (!STAILQ_EMPTY(&stream->ops))
        pthread_cond_wait(&changed, &lock);
    LEAVE(context->sticky);
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    struct op *op;

    ENTER_CONTEXT(void) flags;
    if (!check(&event->thing, EVENT, __func__))
        LEAVE(400);
    op = new_op(WAIT_EVENT);
    op->event = event;
    op->ticket = event->issued;
    LEAVE(push(stream, op, __func__));
}

EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    struct op *op;

    ENTER_CONTEXT
    if (flags != CU_STREAM_WAIT_VALUE_GEQ || !find_range(PINNED, (char *)address, 4))
        violation("%s waits in another way, or not on pinned memory", __func__);
    op = new_op(WAIT_VALUE);
    op->dst = (char *)address;
    op->value = value;
    LEAVE(push(stream, op, __func__));
}

EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags);
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags)
{
    struct op *op;

    ENTER_CONTEXT
    if (flags || !find_range(PINNED, (char *)address, 4))
        violation("%s writes in another way, or not to pinned memory", __func__);
    op = new_op(WRITE_VALUE);
    op->dst = (char *)address;
    op->value = value;
    LEAVE(push(stream, op, __func__));
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    struct CUevent_st *made;

    ENTER_CONTEXT
    made = calloc(1, sizeof(*made));
    if (!made)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    init_thing(&made->thing, EVENT, context->device);
    made->times = !(flags & CU_EVENT_DISABLE_TIMING);
    *event = made;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventDestroy_v2(CUevent event)
{
    ENTER_CONTEXT
    if (!check(&event->thing, EVENT, __func__))
        LEAVE(400);
    end_thing(&event->thing);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    struct op *op;

    ENTER_CONTEXT
    if (!check(&event->thing, EVENT, __func__))
        LEAVE(400);
    if (event->thing.device != stream->thing.device)
        violation("an event is recorded in a stream of another device");
    op = new_op(RECORD);
    op->event = event;
    op->ticket = ++event->issued;
    LEAVE(push(stream, op, __func__));
}

EXPORT CUresult cuEventQuery(CUevent event);
CUresult cuEventQuery(CUevent event)
{
    ENTER_CONTEXT
    if (!check(&event->thing, EVENT, __func__))
        LEAVE(400);
    LEAVE(event->done >= event->issued ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

EXPORT CUresult cuEventSynchronize(CUevent event);
CUresult cuEventSynchronize(CUevent event)
{
    ENTER_CONTEXT
    if (!check(&event->thing, EVENT, __func__))
        LEAVE(400);
    while (event->done < event->issued && !context->sticky)
        pthread_cond_wait(&changed, &lock);
    LEAVE(context->sticky);
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    ENTER_CONTEXT
    if (!check(&start->thing, EVENT, __func__) || !check(&end->thing, EVENT, __func__) || !start->times || !end->times)
        LEAVE(400);
    if (start->done < start->issued || end->done < end->issued)
        LEAVE(CUDA_ERROR_NOT_READY);
    *milliseconds = (float)((double)(int64_t)(end->time_ns - start->time_ns) / 1e6);
    LEAVE(CUDA_SUCCESS);
}

/* ---- CUDA: memory ------------------------------------------------------------------------------------------------ */

EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props);
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    struct CUmemPoolHandle_st *made;

    ENTER
    made = calloc(1, sizeof(*made));
    if (!made || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        free(made);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    init_thing(&made->thing, POOL, props->location.id);
    made->reached_by = 1u << props->location.id;
    *pool = made;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    ENTER
    if (!check(&pool->thing, POOL, __func__))
        LEAVE(400);
    end_thing(&pool->thing);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    ENTER(void) value;
    LEAVE(check(&pool->thing, POOL, __func__) && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
              ? CUDA_SUCCESS
              : CUDA_ERROR_INVALID_VALUE);
}

EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    ENTER
    if (!check(&pool->thing, POOL, __func__) || count != 1)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    pool->reached_by |= 1u << map->location.id;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep)
{
    ENTER(void) bytes_to_keep;
    LEAVE(check(&pool->thing, POOL, __func__) ? CUDA_SUCCESS : 400);
}

static struct range *add_range(enum thing_kind kind, int device, size_t size)
{
    struct range *range = calloc(1, sizeof(*range));

    if (!range)
        return NULL;
    range->begin = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    range->size = size;
    if (!range->begin) {
        free(range);
        return NULL;
    }
    memset(range->begin, 0xcb, size);
    init_thing(&range->thing, kind, device);
    return range;
}

EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    struct range *range;

    ENTER_CONTEXT
    if (!check(&pool->thing, POOL, __func__) || !check(&stream->thing, STREAM, __func__))
        LEAVE(400);
    if (used[context->device] + bytes > MEMORY_SIZE)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    range = add_range(MEMORY, context->device, bytes);
    if (!range)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    range->pool = pool;
    used[context->device] += bytes;
    *address = (CUdeviceptr)range->begin;
    LEAVE(CUDA_SUCCESS);
}

static void free_range(struct range *range, const char *function)
{
    if (in_use(range->begin, range->size))
        violation("%s of memory that work on its way uses", function);
    end_thing(&range->thing);
    free(range->begin);
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    struct range *range;

    ENTER_CONTEXT(void) stream;
    range = find_range(MEMORY, (char *)address, 1);
    if (!range || range->begin != (char *)address || range->managed) {
        violation("%s of what is no memory", __func__);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    used[range->thing.device] -= range->size;
    free_range(range, __func__);
    LEAVE(CUDA_SUCCESS);
}

/* Managed memory is memory of a device's that the host may touch, too. */
EXPORT CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags);
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
    struct range *range;

    ENTER_CONTEXT
    if (flags != CU_MEM_ATTACH_GLOBAL)
        violation("managed memory is not for all streams");
    range = add_range(MEMORY, context->device, bytes);
    if (!range)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    range->managed = true;
    *address = (CUdeviceptr)range->begin;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemFree_v2(CUdeviceptr address)
{
    struct range *range;

    ENTER_CONTEXT
    range = find_range(MEMORY, (char *)address, 1);
    if (!range || range->begin != (char *)address || !range->managed) {
        violation("%s of what isn't managed memory", __func__);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    free_range(range, __func__);
    LEAVE(CUDA_SUCCESS);
}

/* ---- CUDA: memory without an address, and addresses ---- */

#define GRANULE ((size_t)64 << 10)

EXPORT CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                              CUmemAllocationGranularity_flags option);
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    ENTER(void) option;
    *granularity = GRANULE;
    LEAVE(prop->type == CU_MEM_ALLOCATION_TYPE_PINNED && prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE
              ? CUDA_SUCCESS
              : CUDA_ERROR_INVALID_VALUE);
}

EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                                    unsigned long long flags);
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags)
{
    struct range *range;

    ENTER
    if (!bytes || bytes % GRANULE || alignment || wanted || flags || !(range = calloc(1, sizeof(*range))))
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    range->begin = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range->begin == MAP_FAILED) {
        free(range);
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    }
    range->size = bytes;
    init_thing(&range->thing, RESERVED, -1);
    *address = (CUdeviceptr)range->begin;
    LEAVE(CUDA_SUCCESS);
}

/* The first piece that is mapped somewhere in there. */
static struct range *find_mapped(const char *begin, size_t size)
{
    struct thing *thing;

    LIST_FOREACH(thing, &things, link)
    {
        struct range *range = (struct range *)thing;

        if (thing->kind == MAPPED && thing->alive && range->begin < begin + size && begin < range->begin + range->size)
            return range;
    }
    return NULL;
}

EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    struct range *range;

    ENTER
    range = find_range(RESERVED, (char *)address, bytes);
    if (!range || range->size != bytes || find_mapped(range->begin, bytes)) {
        violation("%s of what isn't reserved, or still mapped", __func__);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    end_thing(&range->thing);
    munmap(range->begin, bytes);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                            unsigned long long flags);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    struct pages *pages;

    ENTER
    if (!bytes || bytes % GRANULE || flags || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    if (used[prop->location.id] + bytes > MEMORY_SIZE || !(pages = calloc(1, sizeof(*pages))))
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    init_thing(&pages->thing, PAGES, prop->location.id);
    pages->size = bytes;
    used[prop->location.id] += bytes;
    *handle = (CUmemGenericAllocationHandle)(uintptr_t)pages;
    LEAVE(CUDA_SUCCESS);
}

static void end_pages(struct pages *pages)
{
    if (!pages->thing.alive && !pages->n_mapped)
        used[pages->thing.device] -= pages->size;
}

EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct pages *pages = (struct pages *)(uintptr_t)handle;

    ENTER
    if (!check(&pages->thing, PAGES, __func__))
        LEAVE(400);
    end_thing(&pages->thing);
    end_pages(pages);
    LEAVE(CUDA_SUCCESS);
}

/* Two mappings of the same pages aren't two places with the same bytes here, so they are refused. */
EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags);
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    struct pages *pages = (struct pages *)(uintptr_t)handle;
    struct range *range;

    ENTER
    if (!check(&pages->thing, PAGES, __func__) || bytes != pages->size || offset || flags || pages->n_mapped ||
        !find_range(RESERVED, (char *)address, bytes) || find_mapped((char *)address, bytes) ||
        !(range = calloc(1, sizeof(*range))))
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    range->begin = (char *)address;
    range->size = bytes;
    range->pages = pages;
    pages->n_mapped++;
    init_thing(&range->thing, MAPPED, pages->thing.device);
    LEAVE(CUDA_SUCCESS);
}

/* The range must be what was mapped, in one piece or in several that lie side by side. */
EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    struct range *range;
    size_t found = 0;

    ENTER
    if (in_use((char *)address, bytes))
        violation("%s of memory that work on its way uses", __func__);
    while ((range = find_mapped((char *)address, bytes))) {
        found += range->size;
        end_thing(&range->thing);
        range->pages->n_mapped--;
        end_pages(range->pages);
    }
    if (found != bytes)
        violation("%s of what isn't mapped", __func__);
    mmap((char *)address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    LEAVE(found == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* All of it must be mapped. */
EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *map, size_t count);
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *map, size_t count)
{
    struct thing *thing;
    size_t found = 0;
    unsigned who = 0;

    ENTER
    for (size_t i = 0; i < count; i++)
        who |= map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? 1u << map[i].location.id : 0;
    LIST_FOREACH(thing, &things, link)
    {
        struct range *range = (struct range *)thing;

        if (thing->kind != MAPPED || !thing->alive || range->begin < (char *)address ||
            range->begin + range->size > (char *)address + bytes)
            continue;
        range->reached_by |= who;
        found += range->size;
    }
    if (found != bytes || mprotect((char *)address, bytes, PROT_READ | PROT_WRITE))
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags);
CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
    struct range *range;

    ENTER_CONTEXT
    note_policy();
    if (!(flags & CU_MEMHOSTALLOC_PORTABLE))
        violation("pinned memory is for one device alone");
    range = add_range(PINNED, context->device, bytes);
    if (!range)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    *address = range->begin;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemFreeHost(void *address);
CUresult cuMemFreeHost(void *address)
{
    struct range *range;

    ENTER_CONTEXT
    range = find_range(PINNED, address, 1);
    if (!range || range->begin != address) {
        violation("%s of what isn't pinned", __func__);
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    }
    free_range(range, __func__);
    LEAVE(CUDA_SUCCESS);
}

/* Memory that isn't there any more can't be told from other memory but by the system. */
static bool is_there(const char *begin, size_t size)
{
    return msync((void *)(uintptr_t)begin, size, MS_ASYNC) == 0;
}

static bool overlaps_pinned(const char *begin, size_t size)
{
    struct thing *thing;

    LIST_FOREACH(thing, &things, link)
    {
        const struct range *range = (const struct range *)thing;

        if (thing->alive && (thing->kind == PINNED || thing->kind == REGISTERED) &&
            begin < range->begin + range->size && range->begin < begin + size)
            return true;
    }
    return false;
}

/* Parts of pages are a violation, though not by CUDA: their other parts may be anybody's. */
EXPORT CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags);
CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
    struct range *range;

    ENTER_CONTEXT
    if (!(flags & CU_MEMHOSTREGISTER_PORTABLE))
        violation("memory is registered for one device alone");
    if ((uintptr_t)address % 4096 || bytes % 4096 || !bytes || !is_there(address, bytes))
        violation("%s of what isn't whole pages", __func__);
    if (overlaps_pinned(address, bytes))
        LEAVE(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    range = calloc(1, sizeof(*range));
    if (!range)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    range->begin = address;
    range->size = bytes;
    init_thing(&range->thing, REGISTERED, context->device);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuMemHostUnregister(void *address);
CUresult cuMemHostUnregister(void *address)
{
    struct range *range;

    ENTER_CONTEXT
    range = find_range(REGISTERED, address, 1);
    if (!range || range->begin != address) {
        violation("%s of what isn't registered", __func__);
        LEAVE(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    }
    if (in_use(range->begin, range->size))
        violation("%s of memory that work on its way uses", __func__);
    if (!is_there(range->begin, range->size))
        violation("memory was freed while it was registered");
    end_thing(&range->thing);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address);
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    ENTER
    if (attribute != CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    if (find_pinned((char *)address, 1))
        *(CUmemorytype *)data = CU_MEMORYTYPE_HOST;
    else if (find_memory_at((char *)address))
        *(CUmemorytype *)data = CU_MEMORYTYPE_DEVICE;
    else
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    LEAVE(CUDA_SUCCESS);
}

/* ---- CUDA: copies and sets --------------------------------------------------------------------------------------- */

static bool is_known(const char *at)
{
    return find_pinned(at, 1) || find_memory_at(at);
}

static void check_side(CUcontext context, const char *begin, size_t size, bool host, const char *function)
{
    if (!host)
        check_memory(context->device, begin, size, function);
    else if (!find_pinned(begin, size) && !may_be_pageable)
        violation("%s names host memory that isn't pinned", function);
}

/* Copies from and to memory that isn't pinned are waited for, as CUDA may. */
static CUresult push_copy(CUstream stream, const CUDA_MEMCPY3D *copy, const char *function)
{
    bool waits = may_be_pageable && (!is_known(copy->dstHost) || !is_known(copy->srcHost));
    struct op *op = new_op(COPY);
    CUresult result;

    op->copy = *copy;
    result = push(stream, op, function);
    while (waits && !result && !STAILQ_EMPTY(&stream->ops))
        pthread_cond_wait(&changed, &lock);
    return result;
}

static CUresult push_linear(char *dst, const char *src, size_t size, CUstream stream, const char *function)
{
    return push_copy(stream,
                     &(CUDA_MEMCPY3D){.dstHost = dst, .srcHost = src, .WidthInBytes = size, .Height = 1, .Depth = 1},
                     function);
}

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT
    check_side(context, (char *)dst, bytes, false, __func__);
    check_side(context, src, bytes, true, __func__);
    LEAVE(push_linear((char *)dst, src, bytes, stream, __func__));
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT
    check_side(context, dst, bytes, true, __func__);
    check_side(context, (char *)src, bytes, false, __func__);
    LEAVE(push_linear(dst, (char *)src, bytes, stream, __func__));
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    ENTER_CONTEXT
    check_side(context, (char *)dst, bytes, false, __func__);
    check_side(context, (char *)src, bytes, false, __func__);
    LEAVE(push_linear((char *)dst, (char *)src, bytes, stream, __func__));
}

EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context,
                                  size_t bytes, CUstream stream);
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, size_t bytes,
                           CUstream stream)
{
    struct range *to, *from;

    ENTER_CONTEXT
    to = find_range(MEMORY, (char *)dst, bytes);
    from = find_range(MEMORY, (char *)src, bytes);
    if (!to || !from || to->thing.device != dst_context->device || from->thing.device != src_context->device)
        violation("%s names memory that isn't there, or of another context", __func__);
    LEAVE(push_linear((char *)dst, (char *)src, bytes, stream, __func__));
}

static size_t extent(size_t pitch, size_t height, const CUDA_MEMCPY3D *c)
{
    return ((c->Depth - 1) * height + c->Height - 1) * pitch + c->WidthInBytes;
}

EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    CUDA_MEMCPY3D c = *copy;

    ENTER_CONTEXT
    if (c.srcMemoryType == CU_MEMORYTYPE_UNIFIED)
        c.srcHost = (void *)c.srcDevice;
    if (c.dstMemoryType == CU_MEMORYTYPE_UNIFIED)
        c.dstHost = (void *)c.dstDevice;
    if (!c.WidthInBytes || !c.Height || !c.Depth || c.srcPitch < c.WidthInBytes || c.dstPitch < c.WidthInBytes ||
        (c.Depth > 1 && (c.srcHeight < c.Height || c.dstHeight < c.Height)))
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    check_side(context, c.dstHost, extent(c.dstPitch, c.dstHeight, &c), c.dstMemoryType == CU_MEMORYTYPE_HOST,
               __func__);
    check_side(context, c.srcHost, extent(c.srcPitch, c.srcHeight, &c), c.srcMemoryType == CU_MEMORYTYPE_HOST,
               __func__);
    LEAVE(push_copy(stream, &c, __func__));
}

static CUresult push_set(CUdeviceptr dst, size_t pitch, uint32_t value, size_t width, size_t n, size_t height,
                         CUstream stream, const char *function)
{
    struct op *op = new_op(SET);

    if (dst % width || pitch % width)
        violation("%s of memory that isn't aligned", function);
    check_side(&contexts[stream->thing.device], (char *)dst, (height - 1) * pitch + n * width, false, function);
    op->dst = (char *)dst;
    op->pitch = pitch;
    op->value = value;
    op->width = width;
    op->size = n * width;
    op->height = height;
    return push(stream, op, function);
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream);
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream)
{
    ENTER_CONTEXT
    LEAVE(push_set(dst, 0, value, 1, n, 1, stream, __func__));
}

EXPORT CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t n, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t n, CUstream stream)
{
    ENTER_CONTEXT
    LEAVE(push_set(dst, 0, value, 2, n, 1, stream, __func__));
}

EXPORT CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t n, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t n, CUstream stream)
{
    ENTER_CONTEXT
    LEAVE(push_set(dst, 0, value, 4, n, 1, stream, __func__));
}

EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height,
                                  CUstream stream);
CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream)
{
    ENTER_CONTEXT
    LEAVE(push_set(dst, pitch, value, 1, width, height, stream, __func__));
}

EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height,
                                   CUstream stream);
CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream)
{
    ENTER_CONTEXT
    LEAVE(push_set(dst, pitch, value, 2, width, height, stream, __func__));
}

EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height,
                                   CUstream stream);
CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height,
                            CUstream stream)
{
    ENTER_CONTEXT
    LEAVE(push_set(dst, pitch, value, 4, width, height, stream, __func__));
}

/* ---- CUDA: textures ---------------------------------------------------------------------------------------------- */

/* Would CUDA take it? Both kinds of memory begin with the address. */
static bool has_texture_memory(const CUDA_RESOURCE_DESC *memory, const CUDA_TEXTURE_DESC *how)
{
    if (memory->res.linear.devPtr % 512)
        return false;
    if (memory->resType == CU_RESOURCE_TYPE_LINEAR)
        return how->filterMode == CU_TR_FILTER_MODE_POINT;
    return memory->resType == CU_RESOURCE_TYPE_PITCH2D && !(how->flags & CU_TRSF_READ_AS_INTEGER) &&
           how->addressMode[0] == CU_TR_ADDRESS_MODE_BORDER && how->addressMode[1] == CU_TR_ADDRESS_MODE_BORDER &&
           memory->res.pitch2D.pitchInBytes % 32 == 0 && memory->res.pitch2D.height <= 65000;
}

/* Of a part of it that must be there. */
static size_t texture_size(const CUDA_RESOURCE_DESC *memory)
{
    return memory->resType == CU_RESOURCE_TYPE_LINEAR
               ? memory->res.linear.sizeInBytes
               : memory->res.pitch2D.pitchInBytes * (memory->res.pitch2D.height - 1);
}

EXPORT CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *memory, const CUDA_TEXTURE_DESC *how,
                                  const CUDA_RESOURCE_VIEW_DESC *view);
CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *memory, const CUDA_TEXTURE_DESC *how,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct texture *made;
    size_t size;

    ENTER_CONTEXT
    if (!has_texture_memory(memory, how) || view)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    size = texture_size(memory);
    check_memory(context->device, (char *)memory->res.linear.devPtr, size, __func__);
    made = calloc(1, sizeof(*made));
    if (!made)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    init_thing(&made->thing, TEXTURE, context->device);
    made->begin = (char *)memory->res.linear.devPtr;
    *object = (CUtexObject)(uintptr_t)made;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuTexObjectDestroy(CUtexObject object);
CUresult cuTexObjectDestroy(CUtexObject object)
{
    struct texture *texture = (struct texture *)(uintptr_t)object;

    ENTER_CONTEXT
    if (!check(&texture->thing, TEXTURE, __func__))
        LEAVE(400);
    end_thing(&texture->thing);
    LEAVE(CUDA_SUCCESS);
}

/* ---- CUDA: programs ---------------------------------------------------------------------------------------------- */

/* Does the text define this kernel? */
static bool has_entry(const char *text, const char *name)
{
    char entry[80];

    snprintf(entry, sizeof(entry), ".entry %s(", name);
    return strstr(text, entry) != NULL;
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options,
                                   void **values);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n, CUjit_option *options, void **values)
{
    struct CUmod_st *made;

    ENTER_CONTEXT
    if (!strstr(image, ".version")) {
        for (unsigned i = 0; i < n; i++)
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
                strcpy(values[i], "stand-in: this is no PTX");
        LEAVE(CUDA_ERROR_INVALID_PTX);
    }
    made = calloc(1, sizeof(*made));
    if (!made)
        LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
    init_thing(&made->thing, MODULE, context->device);
    made->text = strdup(image);
    *module = made;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleUnload(CUmodule module)
{
    struct CUstream_st *stream;
    struct op *op;

    ENTER_CONTEXT
    if (!check(&module->thing, MODULE, __func__))
        LEAVE(400);
    TAILQ_FOREACH(stream, &streams, link)
    STAILQ_FOREACH(op, &stream->ops, next)
    if (op->kind == LAUNCH && op->function->module == module)
        violation("%s while a kernel of it is on its way", __func__);
    end_thing(&module->thing);
    free(module->text);
    module->text = NULL;
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER_CONTEXT
    if (!check(&module->thing, MODULE, __func__))
        LEAVE(400);
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        if (strcmp(kernels[i].name, name) || !has_entry(module->text, name))
            continue;
        *function = calloc(1, sizeof(**function));
        if (!*function)
            LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
        **function = (struct CUfunc_st){.module = module, .kernel = &kernels[i], .next = module->functions};
        module->functions = *function;
        LEAVE(CUDA_SUCCESS);
    }
    LEAVE(CUDA_ERROR_NOT_FOUND);
}

EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function);
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    ENTER_CONTEXT
    if (!check(&function->module->thing, MODULE, __func__))
        LEAVE(400);
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 512 : 0;
    LEAVE(CUDA_SUCCESS);
}

static void read_args(struct op *op, void **parameters)
{
    const struct kernel *kernel = op->function->kernel;

    for (unsigned i = 0; i < kernel->n_args; i++) {
        memcpy(&op->args[i], parameters[i], kernel->sizes[i]);
        if (kernel->memories >> i & 1 && op->args[i])
            check_memory(op->function->module->thing.device, (char *)op->args[i], 1, kernel->name);
    }
    memcpy(&op->hidden, parameters[kernel->n_args], sizeof(op->hidden));
}

/* NULL: it is refused. */
static struct op *new_launch(const CUDA_KERNEL_NODE_PARAMS *p, const char *function)
{
    struct op *op;

    if (p->extra || !check(&p->func->module->thing, MODULE, function))
        return NULL;
    if (!p->gridDimX || !p->gridDimY || !p->gridDimZ || p->gridDimY > 65535 || p->gridDimZ > 65535 || !p->blockDimX ||
        !p->blockDimY || !p->blockDimZ || p->blockDimX * p->blockDimY * p->blockDimZ > 512 || p->sharedMemBytes > 49152)
        return NULL;
    op = new_op(LAUNCH);
    op->function = p->func;
    op->grid[0] = p->gridDimX, op->grid[1] = p->gridDimY, op->grid[2] = p->gridDimZ;
    op->block[0] = p->blockDimX, op->block[1] = p->blockDimY, op->block[2] = p->blockDimZ;
    op->shared = p->sharedMemBytes;
    read_args(op, p->kernelParams);
    return op;
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z,
                               unsigned int shared_bytes, CUstream stream, void **parameters, void **extra);
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void **parameters, void **extra)
{
    const CUDA_KERNEL_NODE_PARAMS p = {function, grid_x,       grid_y,     grid_z, block_x, block_y,
                                       block_z,  shared_bytes, parameters, extra,  NULL,    NULL};
    struct op *op;

    ENTER_CONTEXT
    op = new_launch(&p, __func__);
    LEAVE(op ? push(stream, op, __func__) : CUDA_ERROR_INVALID_VALUE);
}

EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned int flags);
CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    ENTER_CONTEXT
    if (flags || !(*graph = calloc(1, sizeof(**graph))))
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    init_thing(&(*graph)->thing, GRAPH, context->device);
    LEAVE(CUDA_SUCCESS);
}

static void free_ops(struct op **ops, unsigned n)
{
    while (n-- > 0)
        free(ops[n]);
}

EXPORT CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphDestroy(CUgraph graph)
{
    ENTER_CONTEXT
    if (!check(&graph->thing, GRAPH, __func__))
        LEAVE(400);
    free_ops(graph->ops, graph->n);
    end_thing(&graph->thing);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n_before,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n_before,
                                 const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct op *op;

    ENTER_CONTEXT
    if (!check(&graph->thing, GRAPH, __func__) || graph->n == MAX_NODES)
        LEAVE(400);
    if (n_before != (graph->n ? 1 : 0) || (n_before && (before[0]->graph != graph || before[0]->i != graph->n - 1)))
        violation("this stand-in knows graphs that are chains, and no others");
    op = new_launch(parameters, __func__);
    if (!op)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    graph->nodes[graph->n] = (struct CUgraphNode_st){graph, graph->n};
    *node = &graph->nodes[graph->n];
    graph->ops[graph->n++] = op;
    LEAVE(CUDA_SUCCESS);
}

static struct op *copy_op(const struct op *op)
{
    struct op *copy = new_op(op->kind);

    *copy = *op;
    return copy;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    ENTER_CONTEXT
    if (flags || !check(&graph->thing, GRAPH, __func__) || !(*exec = calloc(1, sizeof(**exec))))
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    init_thing(&(*exec)->thing, CHAIN, context->device);
    (*exec)->of = graph;
    (*exec)->n = graph->n;
    for (unsigned i = 0; i < graph->n; i++)
        (*exec)->ops[i] = copy_op(graph->ops[i]);
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS *parameters);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    struct op *op;

    ENTER_CONTEXT
    if (!check(&exec->thing, CHAIN, __func__) || node->graph != exec->of || node->i >= exec->n)
        LEAVE(400);
    op = new_launch(parameters, __func__);
    if (!op)
        LEAVE(CUDA_ERROR_INVALID_VALUE);
    free(exec->ops[node->i]);
    exec->ops[node->i] = op;
    LEAVE(CUDA_SUCCESS);
}

/* What is launched are copies: what is set later is for later launches. */
EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    ENTER_CONTEXT
    if (!check(&exec->thing, CHAIN, __func__) || !check(&stream->thing, STREAM, __func__))
        LEAVE(400);
    for (unsigned i = 0; i < exec->n; i++) {
        if (!check(&exec->ops[i]->function->module->thing, MODULE, __func__))
            LEAVE(400);
        push(stream, copy_op(exec->ops[i]), __func__);
    }
    LEAVE(CUDA_SUCCESS);
}

EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    ENTER_CONTEXT
    if (!check(&exec->thing, CHAIN, __func__))
        LEAVE(400);
    free_ops(exec->ops, exec->n);
    end_thing(&exec->thing);
    LEAVE(CUDA_SUCCESS);
}
