/*
 * Small kernels in quick succession. Telling a GPU of one costs the processor 3 µs (H200), twice what the kernel costs
 * the GPU; a chain of them, as a graph of CUDA's, costs a third of that. So where kernels without fences follow each
 * other quickly, and the GPU waits for the host rather than the host for it, a lane saves them until there are enough
 * for a chain. Chains are made once; their kernels and arguments are set anew each time.
 *
 * What is saved goes on its way with the next flush, with whatever else comes to the lane, and when a chain is full. As
 * little work waits so as is never worth mentioning: only launches whose like went the ordinary way just before, and
 * none while that isn't through with.
 */
#include "cuda_bridge/internal.h"

#include "core/log.h"

#include <stdlib.h>
#include <string.h>

#define STREAK   16 /* quick launches before any is saved ... */
#define LOOK_AT  8  /* ... when the first so many must be done */
#define PATIENCE 4  /* launches in a row that may come late before no more are saved */
#define AHEAD    8  /* whole chains that may be on their way: more, and the GPU is what is slow */
#define WHOLE    32
#define PART     8 /* kernels of a chain, if there aren't enough for a whole one */

uint64_t tsl_cuda_quick_ns = 20000;

/* What fits. */
#define SAVED_ARGS  16
#define SAVED_BYTES 256

struct saved {
    CUfunction function;
    struct tsl_cuda_grid grid;
    unsigned shared_size, n_args;
    uint16_t at[SAVED_ARGS];
    _Alignas(16) unsigned char bytes[SAVED_BYTES];
};

/* A launch that went the ordinary way, so that CUDA takes it. */
struct shape {
    CUfunction function;
    unsigned grid[3], block[3], shared_size;
};

#define SHAPES 16

struct chain {
    unsigned n;
    bool broken; /* can't be made */
    CUgraph graph;
    CUgraphExec exec; /* NULL: not made yet */
    CUgraphNode nodes[WHOLE];
};

struct tsl_cuda_batch {
    bool saves;
    unsigned streak, n_late;
    uint64_t last_ns; /* of the last launch */
    CUevent looked;   /* behind the streak's launch LOOK_AT */
    struct shape shapes[SHAPES];
    unsigned next_shape;
    struct chain whole, part;
    CUevent ahead[AHEAD];
    unsigned n_chains;
    cl_int error; /* of saved launches, which nobody was told */
    unsigned n;
    struct saved saved[WHOLE];
};

/* ---- Chains -------------------------------------------------------------------------------------------------------
 */

static CUDA_KERNEL_NODE_PARAMS node_of(struct saved *s, void **args)
{
    for (unsigned i = 0; i < s->n_args; i++)
        args[i] = s->bytes + s->at[i];
    args[s->n_args] = &s->grid.hidden;
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = s->function,
        .gridDimX = s->grid.count[0],
        .gridDimY = s->grid.count[1],
        .gridDimZ = s->grid.count[2],
        .blockDimX = s->grid.block[0],
        .blockDimY = s->grid.block[1],
        .blockDimZ = s->grid.block[2],
        .sharedMemBytes = s->shared_size,
        .kernelParams = args,
    };
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

/* Of launches like these. */
static CUresult make(struct chain *chain, struct saved *s)
{
    void *args[SAVED_ARGS + 1];
    CUresult result = tsl_cu.cuGraphCreate(&chain->graph, 0);

    for (unsigned i = 0; i < chain->n && !result; i++) {
        CUDA_KERNEL_NODE_PARAMS node = node_of(&s[i], args);

        result = tsl_cu.cuGraphAddKernelNode_v2(&chain->nodes[i], chain->graph, i ? &chain->nodes[i - 1] : NULL,
                                                i ? 1 : 0, &node);
    }
    if (!result)
        result = tsl_cu.cuGraphInstantiateWithFlags(&chain->exec, chain->graph, 0);
    if (result) {
        chain->exec = NULL;
        destroy(chain);
        chain->broken = true;
    }
    return result;
}

/* What runs already keeps its own. */
static CUresult set(struct chain *chain, struct saved *s)
{
    void *args[SAVED_ARGS + 1];
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < chain->n && !result; i++) {
        CUDA_KERNEL_NODE_PARAMS node = node_of(&s[i], args);

        result = tsl_cu.cuGraphExecKernelNodeSetParams_v2(chain->exec, chain->nodes[i], &node);
    }
    return result;
}

/* False: nothing was sent. */
static bool send_chain(struct tsl_cuda_lane *lane, struct chain *chain, struct saved *s)
{
    if (chain->broken)
        return false;
    if (chain->exec ? set(chain, s) : make(chain, s))
        return false;
    return tsl_cu.cuGraphLaunch(chain->exec, lane->stream) == CUDA_SUCCESS;
}

static CUresult send_one(struct tsl_cuda_lane *lane, struct saved *s)
{
    void *args[SAVED_ARGS + 1];
    CUDA_KERNEL_NODE_PARAMS node = node_of(s, args);

    return tsl_cu.cuLaunchKernel(node.func, node.gridDimX, node.gridDimY, node.gridDimZ, node.blockDimX, node.blockDimY,
                                 node.blockDimZ, node.sharedMemBytes, lane->stream, args, NULL);
}

/* ---- Sending ------------------------------------------------------------------------------------------------------
 */

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
        if (b->n - i == WHOLE && send_chain(lane, &b->whole, b->saved)) {
            count_chain(lane, b);
            i += WHOLE;
        } else if (b->n - i >= PART && send_chain(lane, &b->part, b->saved + i)) {
            i += PART;
        } else {
            result = send_one(lane, &b->saved[i++]);
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
    tsl_log(TSL_ROOM_DRIVER, TSL_LOG_ERROR, "%s: kernels that were to be launched together were not (error %d)",
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

/* ---- Saving -------------------------------------------------------------------------------------------------------
 */

static struct shape shape_of(const struct tsl_cuda_launch *launch, const struct tsl_cuda_grid *grid)
{
    struct shape shape = {.function = launch->kernel->function, .shared_size = launch->shared_size};

    memcpy(shape.grid, grid->count, sizeof(shape.grid));
    memcpy(shape.block, grid->block, sizeof(shape.block));
    return shape;
}

static bool is_known(const struct tsl_cuda_batch *b, const struct shape *shape)
{
    for (unsigned i = 0; i < SHAPES; i++) {
        const struct shape *s = &b->shapes[i];

        if (s->function == shape->function && s->shared_size == shape->shared_size &&
            !memcmp(s->grid, shape->grid, sizeof(s->grid)) && !memcmp(s->block, shape->block, sizeof(s->block)))
            return true;
    }
    return false;
}

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

    if (!b || !b->saves || work->kind != TSL_CUDA_LAUNCH || work->waits.n || (work->fence && !b->n) || lane->piping ||
        !STAILQ_EMPTY(&lane->works))
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
    if (!is_known(b, &shape) || !copy_args(s, &work->launch))
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

static struct tsl_cuda_batch *batch_of(struct tsl_cuda_lane *lane)
{
    if (!lane->batch && tsl_cu_graphs && !lane->profile) {
        lane->batch = calloc(1, sizeof(*lane->batch));
        if (lane->batch) {
            lane->batch->whole.n = WHOLE;
            lane->batch->part.n = PART;
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

void tsl_cuda_batch_saw(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work, const struct tsl_cuda_grid *grid)
{
    struct tsl_cuda_batch *b = batch_of(lane);
    struct shape shape;

    if (!b || work->waits.n || work->fence)
        return;
    shape = shape_of(&work->launch, grid);
    if (!is_known(b, &shape))
        b->shapes[b->next_shape++ % SHAPES] = shape;
    if (b->saves)
        return;
    if (!is_quick(b))
        b->streak = 0;
    b->streak++;
    look(lane, b);
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
    tsl_cuda_event_put(member, false, b->looked);
    for (unsigned i = 0; i < AHEAD; i++)
        tsl_cuda_event_put(member, false, b->ahead[i]);
    free(b);
}
