/* Launches: what a kernel gets, and in which pieces its work-groups run. */
#include "cpu_device/launch.h"
#include "base/clock.h"
#include "base/log.h"
#include "cpu_device/call.h"
#include "cpu_device/check.h"
#include "cpu_device/fault.h"
#include "cpu_device/floats.h"
#include "cpu_device/operations.h"
#include "cpu_device/queue.h"
#include "cpu_device/special.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Work-items of a group of a kernel to which it is all the same. */
#define OWN_GROUP 256u

/* Fewer, where that gives more threads of the team something to do; but not fewer than two vectors hold. */
#define LEAST_GROUP       32u
#define GROUPS_PER_THREAD 2u

/* A piece shall take about so long, in picoseconds: small against the launch, large against taking it (0.1 us). */
#define PIECE_PS UINT64_C(40000000)

/* A launch shorter than this stays on one thread: waking another takes as long. */
#define ALONE_PS UINT64_C(20000000)

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

/* The largest number up to `most` that divides n, preferably a multiple of 16. */
static uint64_t divisor(uint64_t n, uint64_t most)
{
    uint64_t best = 1;

    for (uint64_t d = most < n ? most : n; d > 1; d--) {
        if (n % d)
            continue;
        if (d % 16 == 0)
            return d;
        if (best == 1)
            best = d;
    }
    return best;
}

static uint64_t for_all_threads(const struct tsl_window *window, uint64_t most, unsigned n_threads)
{
    uint64_t items = window->global_size[0] * window->global_size[1] * window->global_size[2];

    while (most / 2 >= LEAST_GROUP && items / most < GROUPS_PER_THREAD * n_threads)
        most /= 2;
    return most;
}

/* Groups of fewer rows, where that gives more threads something to do. Those of columns stay, which strips run along.
 */
static void flatten(const struct tsl_window *window, unsigned n_threads, uint64_t local[3])
{
    uint64_t items = window->global_size[0] * window->global_size[1] * window->global_size[2];

    while (local[0] > local[1] && local[1] % 2 == 0 && local[0] * local[1] / 2 >= LEAST_GROUP &&
           items / (local[0] * local[1] * local[2]) < GROUPS_PER_THREAD * n_threads)
        local[1] /= 2;
}

/* Where nothing depends on the size, smaller last groups do no harm. */
static bool fits(const struct cpu_kernel *kernel, uint64_t items, uint64_t size)
{
    return items % size == 0 ||
           (items > size && (kernel->code->flags & TSL_WG_FLAT) && (kernel->code->flags & TSL_WG_REMAINDERS));
}

/* What the compiler recommends, if that is a size of several dimensions which suits the launch; else as many
 * work-items, along dimension 0, or fewer. */
static void own_local_size(const struct cpu_kernel *kernel, const struct tsl_window *window, unsigned n_threads,
                           uint64_t local[3])
{
    const uint64_t *own = kernel->own_size;
    bool flat = kernel->code->flags & TSL_WG_FLAT, suits = own[1] * own[2] > 1;
    uint64_t most = flat || !own[0] ? OWN_GROUP : own[0] * own[1] * own[2];

    for (unsigned d = 0; d < 3 && suits; d++)
        suits = own[d] && fits(kernel, window->global_size[d], own[d]);
    if (suits) {
        memcpy(local, own, 3 * sizeof(*local));
        if (flat)
            flatten(window, n_threads, local);
        return;
    }
    most = for_all_threads(window, most, n_threads);
    local[0] = kernel->code->flags & TSL_WG_REMAINDERS && window->global_size[0] > most
                   ? most
                   : divisor(window->global_size[0], most);
    local[1] = local[2] = 1;
}

/* The size of groups: the one that was asked for, or required, or one of ours. */
static cl_int choose_local_size(const struct cpu_kernel *kernel, const struct tsl_window *window, unsigned n_threads,
                                uint64_t local[3])
{
    const struct tsl_wg_kernel *code = kernel->code;
    bool ours = !window->local_size[0] || (code->flags & TSL_WG_FLAT && window->whole);

    for (unsigned d = 0; d < 3; d++)
        local[d] = window->local_size[0] ? window->local_size[d] : 1;
    if (code->only_local[0]) {
        for (unsigned d = 0; window->local_size[0] && d < 3; d++)
            if (local[d] != code->only_local[d])
                return CL_INVALID_WORK_GROUP_SIZE;
        memcpy(local, code->only_local, 3 * sizeof(*local));
    } else if (ours) {
        own_local_size(kernel, window, n_threads, local);
    }
    for (unsigned d = 0; d < 3; d++)
        if (window->global_size[d] % local[d] && !(code->flags & TSL_WG_REMAINDERS))
            return CL_INVALID_WORK_GROUP_SIZE;
    return CL_SUCCESS;
}

/* A part of a launch in groups of ours, where nothing depends on their size. All of the part must be whole ones that
 * begin where such groups of the launch do; else it stays in those that were asked for. */
static bool choose_for_part(const struct cpu_kernel *kernel, const struct tsl_window *window, unsigned n_threads,
                            struct cpu_launch *launch)
{
    struct tsl_window part = *window;
    uint64_t begin[3], local[3];

    if (window->whole || !window->local_size[0] || !(kernel->code->flags & TSL_WG_FLAT) || kernel->code->only_local[0])
        return false;
    for (unsigned d = 0; d < 3; d++) {
        begin[d] = window->group_begin[d] * window->local_size[d];
        part.global_size[d] = window->group_count[d] * window->local_size[d];
        if (begin[d] + part.global_size[d] > window->global_size[d])
            return false;
    }
    own_local_size(kernel, &part, n_threads, local);
    for (unsigned d = 0; d < 3; d++)
        if (begin[d] % local[d] || part.global_size[d] % local[d])
            return false;
    for (unsigned d = 0; d < 3; d++) {
        launch->wg.local_size[d] = local[d];
        launch->begin[d] = begin[d] / local[d];
        launch->count[d] = part.global_size[d] / local[d];
    }
    return true;
}

static uint64_t size_of(const struct tsl_window *window, unsigned d)
{
    return d < window->work_dim ? window->global_size[d] : 1;
}

static cl_int set_groups(struct cpu_launch *launch, const struct tsl_window *window, unsigned n_threads)
{
    struct tsl_window full = *window;
    bool ours;
    cl_int error;

    for (unsigned d = 0; d < 3; d++) {
        full.global_size[d] = size_of(window, d);
        if (d >= window->work_dim && full.local_size[0])
            full.local_size[d] = 1;
        if (d >= window->work_dim) {
            full.group_begin[d] = 0;
            full.group_count[d] = 1;
        }
    }
    error = choose_local_size(launch->kernel, &full, n_threads, launch->wg.local_size);
    if (error)
        return error;
    ours = choose_for_part(launch->kernel, &full, n_threads, launch);
    launch->wg.abi = TSL_WG_ABI;
    launch->wg.work_dim = window->work_dim;
    for (unsigned d = 0; d < 3; d++) {
        launch->wg.global_size[d] = full.global_size[d];
        launch->wg.global_offset[d] = d < window->work_dim ? window->global_offset[d] : 0;
        launch->wg.num_groups[d] = (full.global_size[d] + launch->wg.local_size[d] - 1) / launch->wg.local_size[d];
        if (ours)
            continue;
        launch->begin[d] = window->whole ? 0 : full.group_begin[d];
        launch->count[d] = window->whole ? launch->wg.num_groups[d] : full.group_count[d];
    }
    return CL_SUCCESS;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Bytes of arguments that a launch from the pool has room for. */
#define FEW_ARGS 128u

size_t cpu_launch_size(void)
{
    return sizeof(struct cpu_launch) + FEW_ARGS + TSL_WG_ALIGN;
}

/* One block for a launch and its arguments: allocations are half of what an empty launch costs. */
static struct cpu_launch *create_launch(struct cpu_member *member, const struct cpu_kernel *kernel)
{
    bool pooled = kernel->code->args_size <= FEW_ARGS;
    struct cpu_launch *launch = pooled ? tsl_pool_take(&member->launches)
                                       : calloc(1, sizeof(struct cpu_launch) + kernel->code->args_size + TSL_WG_ALIGN);

    if (launch)
        launch->pooled = pooled;
    return launch;
}

static char *launch_args(struct cpu_launch *launch)
{
    uintptr_t end = (uintptr_t)(launch + 1), rest = -end & (TSL_WG_ALIGN - 1);

    return (char *)(launch + 1) + rest;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static cl_int set_arg(struct cpu_launch *launch, const struct tsl_wg_arg *arg, const struct tsl_bound_arg *bound)
{
    char *place = launch->args + arg->offset, *pointer = NULL;
    const struct tsl_kc_image *image;
    uint64_t sampler;

    switch (arg->kind) {
    case TSL_WG_VALUE:
        if (bound->kind != TSL_ARG_VALUE || bound->size != arg->size)
            return CL_INVALID_KERNEL_ARGS;
        memcpy(place, bound->value, bound->size);
        return CL_SUCCESS;
    case TSL_WG_POINTER:
        if (bound->kind == TSL_ARG_SVM) {
            memcpy(place, bound->value, sizeof(void *));
            return CL_SUCCESS;
        }
        if (bound->kind != TSL_ARG_MEM)
            return CL_INVALID_KERNEL_ARGS;
        if (bound->mem)
            pointer = cpu_mem_address(bound);
        memcpy(place, &pointer, sizeof(pointer));
        return CL_SUCCESS;
    case TSL_WG_LOCAL:
        if (bound->kind != TSL_ARG_LOCAL)
            return CL_INVALID_KERNEL_ARGS;
        memcpy(place, &launch->local_size, sizeof(launch->local_size));
        launch->local_size += (bound->size + TSL_WG_ALIGN - 1) & ~(uint64_t)(TSL_WG_ALIGN - 1);
        return CL_SUCCESS;
    case TSL_WG_IMAGE:
        if (bound->kind != TSL_ARG_MEM || !bound->mem || !((struct cpu_mem *)bound->mem)->image.element_size)
            return CL_INVALID_KERNEL_ARGS;
        image = &((struct cpu_mem *)bound->mem)->image;
        memcpy(place, &image, sizeof(image));
        return CL_SUCCESS;
    case TSL_WG_SAMPLER:
        if (bound->kind != TSL_ARG_SAMPLER)
            return CL_INVALID_KERNEL_ARGS;
        sampler = tsl_kc_sampler(bound->value);
        memcpy(place, &sampler, sizeof(sampler));
        return CL_SUCCESS;
    default:
        return CL_INVALID_KERNEL_ARGS;
    }
}

static cl_int set_args(struct cpu_launch *launch, const struct tsl_bound_args *args)
{
    if (args->n != launch->code->n_args)
        return CL_INVALID_KERNEL_ARGS;
    launch->args = launch_args(launch);
    launch->wg.args = launch->args;
    launch->local_size = launch->code->local_size;
    for (cl_uint i = 0; i < args->n; i++) {
        cl_int error = set_arg(launch, &launch->code->args[i], &args->args[i]);

        if (error)
            return error;
    }
    return CL_SUCCESS;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The size of a piece, by how long a group takes, as measured. Unknown: a few pieces for each thread. */
static void cut(struct cpu_launch *launch, struct cpu_task *task, unsigned n_threads)
{
    uint64_t groups = launch->count[0] * launch->count[1] * launch->count[2];
    uint64_t group_ps = atomic_load_explicit(&launch->kernel->group_ps, memory_order_relaxed);

    task->max_joined = n_threads;
    if (group_ps) {
        launch->chunk = PIECE_PS / group_ps;
        if (groups < ALONE_PS / group_ps)
            task->max_joined = 1;
        else
            launch->chunk = min(launch->chunk, groups / (4 * n_threads));
    } else {
        launch->chunk = groups / (8 * n_threads);
    }
    launch->n_rows = launch->count[1] * launch->count[2];
    launch->rows = min(launch->chunk / launch->count[0], launch->n_rows);
    launch->rows = launch->rows ? launch->rows : 1;
    launch->chunk = min(launch->chunk ? launch->chunk : 1, launch->count[0]);
    launch->n_chunks = (launch->count[0] + launch->chunk - 1) / launch->chunk;
    task->n_pieces = launch->n_chunks * ((launch->n_rows + launch->rows - 1) / launch->rows);
}

static bool make_room(void **memory, size_t *size, uint64_t need)
{
    void *more;

    if (*size >= need)
        return true;
    if (posix_memalign(&more, TSL_WG_ALIGN, need))
        return false;
    free(*memory);
    *memory = more;
    *size = need;
    return true;
}

/* Half old, half new: kernels change their minds with their arguments. */
static void learn(struct cpu_kernel *kernel, uint64_t ns, uint64_t groups)
{
    uint64_t now = ns * 1000 / groups + 1, old = atomic_load_explicit(&kernel->group_ps, memory_order_relaxed);

    atomic_store_explicit(&kernel->group_ps, old ? (old + now) / 2 : now, memory_order_relaxed);
}

#define SHORT_PS UINT64_C(5000000)

bool cpu_launch_is_short(const struct cpu_task *task)
{
    const struct cpu_launch *launch = task->launch;
    uint64_t group_ps = atomic_load_explicit(&launch->kernel->group_ps, memory_order_relaxed);

    return group_ps && task->max_joined == 1 && launch->count[0] * launch->n_rows < SHORT_PS / group_ps;
}

/* Pieces, each of which takes as long as one of another launch. */
#define QUICK_PIECES 16u

bool cpu_launch_is_quick(const struct cpu_task *task)
{
    const struct cpu_launch *launch = task->launch;

    return !launch->call && task->n_pieces <= QUICK_PIECES &&
           atomic_load_explicit(&launch->kernel->group_ps, memory_order_relaxed);
}

/* The thread's own time, without what other threads took of the processor. */
static uint64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Bytes. Programs write past the end of private arrays and don't notice; behind the last one is the heap's. */
#define BEHIND_SCRATCH 1024u

uint64_t cpu_row_y(const struct cpu_launch *launch, uint64_t row)
{
    return launch->begin[1] + row % launch->count[1];
}

uint64_t cpu_row_z(const struct cpu_launch *launch, uint64_t row)
{
    return launch->begin[2] + row / launch->count[1];
}

static void run_row(const struct cpu_rows *rows, uint64_t y, uint64_t z)
{
    struct cpu_launch *launch = rows->launch;
    uint64_t x = launch->begin[0] + rows->first, now;

    for (uint64_t n = rows->n; n; x += now, n -= now) {
        now = launch->check ? cpu_check_enter(launch->check, x, n, y, z) : n;
        rows->version->code->run(&launch->wg, rows->thread, x, now, y, z);
    }
}

static void run_rows(struct cpu_rows *rows)
{
    for (; rows->row < rows->end; rows->row++)
        run_row(rows, cpu_row_y(rows->launch, rows->row), cpu_row_z(rows->launch, rows->row));
}

static cl_int run_piece(struct cpu_worker *worker, struct cpu_launch *launch, uint64_t piece)
{
    const uint64_t row = piece / launch->n_chunks * launch->rows, first = piece % launch->n_chunks * launch->chunk;
    struct cpu_rows rows = {.launch = launch, .thread = &worker->thread, .first = first, .row = row};
    uint64_t n_groups, begin, took, own = 0;
    const struct cpu_code *loaded = &((struct cpu_program *)launch->kernel->base.program)->code;
    struct cpu_version version = {launch->code, loaded->begin, loaded->end, false};
    cl_int error;

    rows.n = min(launch->chunk, launch->count[0] - first);
    rows.end = min(row + launch->rows, launch->n_rows);
    n_groups = rows.n * (rows.end - row);
    version = cpu_special_choose(launch->special, &version);
    rows.version = &version;
    if (!make_room(&worker->thread.local, &worker->local_size, launch->local_size) ||
        !make_room(&worker->thread.scratch, &worker->scratch_size,
                   version.code->scratch_size + version.code->scratch_item_size * launch->items + BEHIND_SCRATCH))
        return CL_OUT_OF_HOST_MEMORY;
    worker->thread.local_end = (char *)worker->thread.local + worker->local_size;
    worker->thread.scratch_end = (char *)worker->thread.scratch + worker->scratch_size;
    begin = tsl_clock_ns();
    if (version.trial)
        own = thread_ns();
    if (launch->code->flags & TSL_WG_FLUSHES)
        cpu_floats_flush();
    error = cpu_fault_run(&rows, run_rows);
    if (launch->code->flags & TSL_WG_FLUSHES)
        cpu_floats_plain();
    took = tsl_clock_ns() - begin;
    learn(launch->kernel, took, n_groups);
    cpu_special_learn(launch->special, &version, version.trial ? thread_ns() - own : took, n_groups);
    return error;
}

cl_int cpu_launch_run(struct cpu_worker *worker, struct cpu_launch *launch, uint64_t piece)
{
    cl_int error;

    if (!launch->call)
        return run_piece(worker, launch, piece);
    error = cpu_call_run(launch->call, worker->member);
    if (error != TSL_CALL_REFUSED)
        return error;
    /* The original, by this thread alone: calls refuse rarely. */
    error = CL_SUCCESS;
    for (uint64_t i = 0; i < cpu_call_pieces(launch->call) && !error; i++)
        error = run_piece(worker, launch, i);
    return error;
}

/* ---- The operation ----------------------------------------------------------------------------------------------- */

void cpu_launch_free(struct cpu_member *member, struct cpu_launch *launch)
{
    pthread_mutex_destroy(&launch->print_lock);
    free(launch->text);
    cpu_check_free(launch->check);
    cpu_call_free(launch->call);
    if (launch->pooled)
        tsl_pool_put(&member->launches, launch);
    else
        free(launch);
}

static cl_int fill_in(struct cpu_launch *launch, const struct tsl_launch *wanted, unsigned n_threads)
{
    struct cpu_kernel *kernel = (struct cpu_kernel *)wanted->kernel;
    const uint64_t *local = launch->wg.local_size;
    cl_int error;

    launch->kernel = kernel;
    launch->code = kernel->code;
    launch->wg.print = cpu_print;
    launch->wg.check = cpu_check_access;
    launch->check = NULL;
    launch->call = NULL;
    launch->wg.user = launch;
    launch->print_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    error = set_groups(launch, wanted->window, n_threads);
    if (!error)
        error = set_args(launch, wanted->args);
    if (!error && kernel->code->flags & TSL_WG_CHECKS)
        error = cpu_check_begin(launch, kernel->facts, wanted->args);
    if (error)
        return error;
    launch->items = (local[0] * local[1] * local[2] + 63) & ~UINT64_C(63);
    launch->special = cpu_special_of(((struct cpu_program *)kernel->base.program)->specials, kernel->code, &launch->wg);
    return CL_SUCCESS;
}

/* A launch of a substitute is one piece: the call. */
static cl_int set_call(struct cpu_task *task, const struct tsl_launch *wanted)
{
    struct cpu_launch *launch = task->launch;

    if (!launch->kernel->call.run)
        return CL_SUCCESS;
    launch->call = cpu_call_create(&launch->kernel->call, wanted, task->n_pieces);
    task->n_pieces = 1;
    task->max_joined = 1;
    return launch->call ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

cl_int cpu_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                  struct tsl_fence **fence)
{
    struct cpu_member *member = cpu_member_of(lane->member);
    struct cpu_task *task = cpu_task_create(member, CPU_LAUNCH);
    cl_int error;

    if (!task)
        return CL_OUT_OF_HOST_MEMORY;
    task->launch = create_launch(member, (struct cpu_kernel *)launch->kernel);
    if (!task->launch) {
        cpu_task_free(task);
        return CL_OUT_OF_HOST_MEMORY;
    }
    error = fill_in(task->launch, launch, member->n_threads);
    if (error) {
        cpu_task_free(task);
        return error;
    }
    cut(task->launch, task, member->n_threads);
    error = set_call(task, launch);
    if (error) {
        cpu_task_free(task);
        return error;
    }
    return cpu_submit(lane, task, waits, fence);
}
