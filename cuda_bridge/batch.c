/*
 * Launches as graphs of CUDA's, which tell a GPU of a kernel sooner than cuLaunchKernel does (H200: 1.4 µs of the
 * processor's time instead of 3 to 4). Graphs are made once; their kernels and arguments are set anew each time.
 *
 * One by one: a launch whose like was seen some times before is a graph of one node.
 *
 * Small kernels in quick succession: a chain of them costs the processor even less for each. So where kernels without
 * fences follow each other quickly, and the GPU waits for the host rather than the host for it, a lane saves them until
 * there are enough for a chain.
 *
 * What is saved goes on its way with the next flush, with whatever else comes to the lane, and when a chain is full. As
 * little work waits so as is never worth mentioning: only launches whose like went the ordinary way just before, and
 * none while that isn't through with.
 */
#include "cuda_bridge/batch.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/program.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define STREAK   16 /* quick launches before any is saved ... */
#define LOOK_AT  8  /* ... when the first so many must be done */
#define PATIENCE 4  /* launches in a row that may come late before no more are saved */
#define AHEAD    8  /* whole chains that may be on their way: more, and the GPU is what is slow */
#define WHOLE    32
#define PART     8 /* kernels of a chain, if there aren't enough for a whole one */

uint64_t tsl_cuda_quick_ns = 20000;

struct known;

/* Launches with more are not saved. */
#define SAVED_ARGS  16
#define SAVED_BYTES 256

struct saved {
    CUfunction function;
    struct known *known; /* stays: nothing is noted while something is saved */
    struct tsl_cuda_grid grid;
    unsigned shared_size, n_args;
    uint16_t at[SAVED_ARGS];
    _Alignas(16) unsigned char bytes[SAVED_BYTES];
};

struct shape {
    CUfunction function;
    uint64_t module; /* its number: CUDA may give the same address to a later one's function */
    unsigned grid[3], block[3], shared_size;
};

struct chain {
    unsigned n;
    bool broken; /* can't be made */
    CUgraph graph;
    CUgraphExec exec; /* NULL: not made yet */
    CUgraphNode *nodes;
};

/* A launch that went the ordinary way, so that CUDA takes it, and that will be done as a graph, if it comes often. */
struct known {
    struct shape shape;
    unsigned n_seen;
    struct chain alone;
    CUgraphNode node;
};

#define KNOWN 16 /* of a lane: if more take turns, each is forgotten before it is seen often enough */
#define OFTEN 2
#define ALONE 512 /* of a member: each takes 112 KiB of the GPU's memory (H200) */

struct tsl_cuda_batch {
    bool saves;
    unsigned streak, n_late;
    uint64_t last_ns; /* of the last launch */
    CUevent looked;   /* behind the streak's launch LOOK_AT */
    struct known known[KNOWN];
    unsigned next_known;
    struct chain whole, part;
    CUgraphNode whole_nodes[WHOLE], part_nodes[PART];
    CUevent ahead[AHEAD];
    unsigned n_chains;
    cl_int error; /* of saved launches, not told yet */
    unsigned n;
    struct saved saved[WHOLE];
};

/* ---- Chains ------------------------------------------------------------------------------------------------------ */

/* args: the values' addresses, the hidden argument's among them. */
static CUDA_KERNEL_NODE_PARAMS node_of(CUfunction function, const struct tsl_cuda_grid *grid, unsigned shared_size,
                                       void **args)
{
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = function,
        .gridDimX = grid->count[0],
        .gridDimY = grid->count[1],
        .gridDimZ = grid->count[2],
        .blockDimX = grid->block[0],
        .blockDimY = grid->block[1],
        .blockDimZ = grid->block[2],
        .sharedMemBytes = shared_size,
        .kernelParams = args,
    };
}

static CUDA_KERNEL_NODE_PARAMS saved_node(struct saved *s, void **args)
{
    for (unsigned i = 0; i < s->n_args; i++)
        args[i] = s->bytes + s->at[i];
    args[s->n_args] = &s->grid.hidden;
    return node_of(s->function, &s->grid, s->shared_size, args);
}

static void destroy(struct chain *chain)
{
    if (chain->exec)
        tsl_cu.cuGraphExecDestroy(chain->exec);
    if (chain->graph)
        tsl_cu.cuGraphDestroy(chain->graph);
    chain->exec = NULL;
    chain->graph = NULL;
}

static CUresult make(struct chain *chain, const CUDA_KERNEL_NODE_PARAMS *nodes)
{
    CUresult result = tsl_cu.cuGraphCreate(&chain->graph, 0);

    for (unsigned i = 0; i < chain->n && !result; i++)
        result = tsl_cu.cuGraphAddKernelNode_v2(&chain->nodes[i], chain->graph, i ? &chain->nodes[i - 1] : NULL,
                                                i ? 1 : 0, &nodes[i]);
    if (!result)
        result = tsl_cu.cuGraphInstantiateWithFlags(&chain->exec, chain->graph, 0);
    if (result) {
        chain->exec = NULL;
        destroy(chain);
        chain->broken = true;
    }
    return result;
}

/* Launches that run already keep their parameters. */
static CUresult set(struct chain *chain, const CUDA_KERNEL_NODE_PARAMS *nodes)
{
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < chain->n && !result; i++)
        result = tsl_cu.cuGraphExecKernelNodeSetParams_v2(chain->exec, chain->nodes[i], &nodes[i]);
    return result;
}

/* False: nothing was sent. */
static bool send_chain(struct tsl_cuda_lane *lane, struct chain *chain, const CUDA_KERNEL_NODE_PARAMS *nodes)
{
    if (chain->broken)
        return false;
    if (chain->exec ? set(chain, nodes) : make(chain, nodes))
        return false;
    return tsl_cu.cuGraphLaunch(chain->exec, lane->stream) == CUDA_SUCCESS;
}

static bool send_saved(struct tsl_cuda_lane *lane, struct chain *chain, struct saved *s)
{
    void *args[WHOLE][SAVED_ARGS + 1];
    CUDA_KERNEL_NODE_PARAMS nodes[WHOLE];

    for (unsigned i = 0; i < chain->n; i++)
        nodes[i] = saved_node(&s[i], args[i]);
    return send_chain(lane, chain, nodes);
}

/* ---- What is known ----------------------------------------------------------------------------------------------- */

static struct shape shape_of(const struct tsl_cuda_launch *launch, const struct tsl_cuda_grid *grid)
{
    const struct tsl_cuda_kernel *kernel = launch->kernel;
    struct shape shape = {
        .function = tsl_cuda_launch_function(launch), .module = kernel->module, .shared_size = launch->shared_size};

    memcpy(shape.grid, grid->count, sizeof(shape.grid));
    memcpy(shape.block, grid->block, sizeof(shape.block));
    return shape;
}

static bool is_like(const struct shape *a, const struct shape *b)
{
    return a->function == b->function && a->module == b->module && a->shared_size == b->shared_size &&
           !memcmp(a->grid, b->grid, sizeof(a->grid)) && !memcmp(a->block, b->block, sizeof(a->block));
}

/* NULL: it isn't. */
static struct known *find(struct tsl_cuda_batch *b, const struct shape *shape)
{
    for (unsigned i = 0; i < KNOWN; i++)
        if (is_like(&b->known[i].shape, shape))
            return &b->known[i];
    return NULL;
}

static void forget(struct tsl_cuda_member *member, struct known *known)
{
    if (known->alone.exec)
        atomic_fetch_sub_explicit(&member->n_alone, 1, memory_order_relaxed);
    destroy(&known->alone);
}

/* Notes a shape of launch, in the place of the one that was noted the longest ago. */
static void note(struct tsl_cuda_member *member, struct tsl_cuda_batch *b, const struct shape *shape)
{
    struct known *known = &b->known[b->next_known++ % KNOWN];

    forget(member, known);
    *known = (struct known){.shape = *shape, .alone = {.n = 1, .nodes = &known->node}};
}

/* Is there a graph for it, or will there be one? */
static bool may_be_alone(struct tsl_cuda_member *member, struct known *known)
{
    if (known->alone.exec)
        return true;
    if (known->alone.broken || ++known->n_seen <= OFTEN)
        return false;
    if (atomic_fetch_add_explicit(&member->n_alone, 1, memory_order_relaxed) < ALONE)
        return true;
    atomic_fetch_sub_explicit(&member->n_alone, 1, memory_order_relaxed);
    return false;
}

/* As a graph of its own, if it is one that comes often. False: it wasn't sent. */
static bool send_alone(struct tsl_cuda_lane *lane, struct known *known, const CUDA_KERNEL_NODE_PARAMS *node)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);

    if (!may_be_alone(member, known))
        return false;
    if (send_chain(lane, &known->alone, node))
        return true;
    destroy(&known->alone);
    known->alone.broken = true;
    atomic_fetch_sub_explicit(&member->n_alone, 1, memory_order_relaxed);
    return false;
}

/* known: NULL if it isn't. */
static CUresult send_one(struct tsl_cuda_lane *lane, struct known *known, const CUDA_KERNEL_NODE_PARAMS *node)
{
    if (known && send_alone(lane, known, node))
        return CUDA_SUCCESS;
    return tsl_cu.cuLaunchKernel(node->func, node->gridDimX, node->gridDimY, node->gridDimZ, node->blockDimX,
                                 node->blockDimY, node->blockDimZ, node->sharedMemBytes, lane->stream,
                                 node->kernelParams, NULL);
}

static CUresult send_one_saved(struct tsl_cuda_lane *lane, struct saved *s)
{
    void *args[SAVED_ARGS + 1];
    CUDA_KERNEL_NODE_PARAMS node = saved_node(s, args);

    return send_one(lane, s->known, &node);
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static void stop_saving(struct tsl_cuda_batch *b)
{
    b->saves = false;
    b->streak = b->n_late = 0;
}

/* Notes a whole chain; if one of long ago isn't through, the GPU is what is slow, and nothing is won by saving. */
static void count_chain(struct tsl_cuda_lane *lane, struct tsl_cuda_batch *b)
{
    CUevent *event = &b->ahead[b->n_chains++ % AHEAD];
    CUresult result = CUDA_SUCCESS;

    if (!*event)
        *event = tsl_cuda_event_get(tsl_cuda_member(lane->base.member), false, &result);
    else if (tsl_cu.cuEventQuery(*event) != CUDA_SUCCESS)
        stop_saving(b);
    if (*event)
        tsl_cu.cuEventRecord(*event, lane->stream);
}

static CUresult send_all(struct tsl_cuda_lane *lane, struct tsl_cuda_batch *b)
{
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < b->n && !result;) {
        if (b->n - i == WHOLE && send_saved(lane, &b->whole, b->saved)) {
            count_chain(lane, b);
            i += WHOLE;
        } else if (b->n - i >= PART && send_saved(lane, &b->part, b->saved + i)) {
            i += PART;
        } else {
            result = send_one_saved(lane, &b->saved[i++]);
        }
    }
    return result;
}

void tsl_cuda_batch_send(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    struct tsl_cuda_batch *b = lane->batch;
    CUresult result;

    if (!b || !b->n)
        return;
    result = send_all(lane, b);
    b->n = 0;
    if (!result)
        return;
    /* Their like was taken before, so this is about the GPU rather than about them. */
    b->error = tsl_cuda_error(member, result);
    tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR, "%s: kernels that were to be launched together were not (error %d)",
            lane->base.member->path->id, b->error);
    stop_saving(b);
}

void tsl_cuda_batch_drop(struct tsl_cuda_lane *lane, cl_int error)
{
    struct tsl_cuda_batch *b = lane->batch;

    if (!b || !b->n)
        return;
    b->n = 0;
    b->error = error;
}

bool tsl_cuda_batch_has(const struct tsl_cuda_lane *lane)
{
    return lane->batch && lane->batch->n;
}

cl_int tsl_cuda_batch_error(struct tsl_cuda_lane *lane)
{
    cl_int error = lane->batch ? lane->batch->error : CL_SUCCESS;

    if (error)
        lane->batch->error = CL_SUCCESS;
    return error;
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

/* Is it soon enough after the launch before? */
static bool is_quick(struct tsl_cuda_batch *b)
{
    uint64_t now = tsl_clock_ns();
    bool quick = now - b->last_ns < tsl_cuda_quick_ns;

    b->last_ns = now;
    return quick;
}

static bool copy_args(struct saved *s, const struct tsl_cuda_launch *launch)
{
    size_t end = 0;

    if (launch->n_args > SAVED_ARGS)
        return false;
    for (cl_uint i = 0; i < launch->n_args; i++) {
        size_t size = launch->sizes[i] ? launch->sizes[i] : sizeof(uint64_t);
        size_t at = size > sizeof(uint64_t) ? (end + 15) / 16 * 16 : end;

        if (size > SAVED_BYTES || at > SAVED_BYTES - size)
            return false;
        memcpy(s->bytes + at, launch->args[i], size);
        s->at[i] = (uint16_t)at;
        end = (at + size + 7) / 8 * 8;
    }
    s->n_args = launch->n_args;
    return true;
}

bool tsl_cuda_batch_save(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work)
{
    struct tsl_cuda_batch *b = lane->batch;
    struct saved *s;
    struct shape shape;

    if (!b || !b->saves || work->kind != TSL_CUDA_LAUNCH || work->launch.kernel->call.run || work->waits.n ||
        (work->fence && !b->n) || lane->piping || !STAILQ_EMPTY(&lane->works))
        return false;
    if (!is_quick(b)) {
        if (++b->n_late == PATIENCE)
            stop_saving(b);
        return false;
    }
    b->n_late = 0;
    s = &b->saved[b->n];
    if (!tsl_cuda_one_grid(&work->launch, &s->grid))
        return false;
    shape = shape_of(&work->launch, &s->grid);
    s->known = find(b, &shape);
    if (!s->known || !copy_args(s, &work->launch))
        return false;
    s->function = shape.function;
    s->shared_size = shape.shared_size;
    b->n++;
    return true;
}

bool tsl_cuda_batch_is_full(const struct tsl_cuda_lane *lane)
{
    return lane->batch->n == WHOLE;
}

/* The kernels of a graph don't have their stream's priority. */
static struct tsl_cuda_batch *batch_of(struct tsl_cuda_lane *lane)
{
    if (!lane->batch && tsl_cu_graphs && !lane->profile && !lane->moves) {
        lane->batch = calloc(1, sizeof(*lane->batch));
        if (lane->batch) {
            lane->batch->whole = (struct chain){.n = WHOLE, .nodes = lane->batch->whole_nodes};
            lane->batch->part = (struct chain){.n = PART, .nodes = lane->batch->part_nodes};
        }
    }
    return lane->batch;
}

static void look(struct tsl_cuda_lane *lane, struct tsl_cuda_batch *b)
{
    CUresult result = CUDA_SUCCESS;

    if (b->streak == LOOK_AT) {
        if (!b->looked)
            b->looked = tsl_cuda_event_get(tsl_cuda_member(lane->base.member), false, &result);
        if (b->looked)
            result = tsl_cu.cuEventRecord(b->looked, lane->stream);
        if (result)
            b->streak = 0;
    } else if (b->streak >= STREAK) {
        b->saves = tsl_cu.cuEventQuery(b->looked) == CUDA_SUCCESS;
        b->streak = 0;
    }
}

/* A launch without a fence went on its way: if it was one of many quick ones, the next may be saved. */
static void count_quick(struct tsl_cuda_lane *lane, struct tsl_cuda_batch *b)
{
    if (b->saves)
        return;
    if (!is_quick(b))
        b->streak = 0;
    b->streak++;
    look(lane, b);
}

CUresult tsl_cuda_batch_launch(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work,
                               const struct tsl_cuda_grid *grid)
{
    const struct tsl_cuda_launch *launch = &work->launch;
    CUDA_KERNEL_NODE_PARAMS node = node_of(tsl_cuda_launch_function(launch), grid, launch->shared_size, launch->args);
    struct tsl_cuda_batch *b = launch->kernel->facts->prints ? NULL : batch_of(lane);
    struct shape shape = shape_of(launch, grid);
    struct known *known = b ? find(b, &shape) : NULL;
    CUresult result = send_one(lane, known, &node);

    if (result || !b)
        return result;
    if (!known)
        note(tsl_cuda_member(lane->base.member), b, &shape);
    if (!work->waits.n && !work->fence)
        count_quick(lane, b);
    return CUDA_SUCCESS;
}

void tsl_cuda_batch_pause(struct tsl_cuda_lane *lane)
{
    if (lane->batch)
        stop_saving(lane->batch);
}

void tsl_cuda_batch_free(struct tsl_cuda_lane *lane)
{
    struct tsl_cuda_member *member = tsl_cuda_member(lane->base.member);
    struct tsl_cuda_batch *b = lane->batch;

    if (!b)
        return;
    destroy(&b->whole);
    destroy(&b->part);
    for (unsigned i = 0; i < KNOWN; i++)
        forget(member, &b->known[i]);
    tsl_cuda_event_put(member, false, b->looked);
    for (unsigned i = 0; i < AHEAD; i++)
        tsl_cuda_event_put(member, false, b->ahead[i]);
    free(b);
}
