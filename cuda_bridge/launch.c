/* Kernels and launches. */
#include "cuda_bridge/batch.h"
#include "cuda_bridge/member.h"
#include "cuda_bridge/operations.h"
#include "cuda_bridge/program.h"

#include "base/log.h"
#include "compile_client/ptx.h"

#include <stdlib.h>
#include <string.h>

#define MAX_GRID_X  2147483647u
#define MAX_GRID_YZ 65535u

/* Arguments of most kernels fit on the stack. */
#define FEW_ARGS 32

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* The word of a parameter that is an image (compile_client/ptx.h). */
static cl_int bind_image(const struct tsl_bound_arg *arg, uint64_t *word)
{
    if (arg->kind != TSL_ARG_MEM || !arg->mem || !tsl_cuda_mem(arg->mem)->image)
        return CL_INVALID_KERNEL_ARGS;
    *word = tsl_cuda_mem(arg->mem)->image;
    return CL_SUCCESS;
}

static cl_int bind_sampler(const struct tsl_bound_arg *arg, uint64_t *word)
{
    if (arg->kind != TSL_ARG_SAMPLER)
        return CL_INVALID_KERNEL_ARGS;
    *word = tsl_kc_sampler(arg->value);
    return CL_SUCCESS;
}

/* One argument as CUDA takes it: the address of its value. Pointers and offsets get their value in *word. Local memory
 * is no more than the GPU has. */
static cl_int bind_arg(const struct tsl_arg_fact *facts, const struct tsl_bound_arg *arg, void **at, uint64_t *word,
                       size_t *shared_size)
{
    *at = word;
    if (facts->kind == TSL_FACT_IMAGE)
        return bind_image(arg, word);
    if (facts->kind == TSL_FACT_SAMPLER)
        return bind_sampler(arg, word);
    switch (arg->kind) {
    case TSL_ARG_VALUE:
        *at = (void *)arg->value;
        return CL_SUCCESS;
    case TSL_ARG_MEM:
        *word = arg->mem ? tsl_cuda_mem(arg->mem)->address : 0;
        *word += arg->part ? (uint64_t)arg->part->shift : 0;
        return CL_SUCCESS;
    case TSL_ARG_SVM:
        memcpy(word, arg->value, sizeof(*word));
        return CL_SUCCESS;
    case TSL_ARG_LOCAL:
        *word = *shared_size;
        *shared_size += (arg->size + TSL_PTX_LOCAL_ALIGN - 1) / TSL_PTX_LOCAL_ALIGN * TSL_PTX_LOCAL_ALIGN;
        return CL_SUCCESS;
    case TSL_ARG_SAMPLER:
        return CL_INVALID_ARG_VALUE;
    case TSL_ARG_UNSET:
        break;
    }
    return CL_INVALID_KERNEL_ARGS;
}

/* May the kernel read the image by a texture object? Also where it doesn't say what it does to it. */
static bool reads(const struct tsl_arg_fact *fact)
{
    return fact->kind == TSL_FACT_IMAGE && fact->access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY &&
           fact->access != CL_KERNEL_ARG_ACCESS_READ_WRITE;
}

/* Have all images that the kernel reads a texture object? */
static bool has_textures(const struct tsl_cuda_kernel *kernel, const struct tsl_bound_args *args)
{
    for (cl_uint i = 0; i < args->n; i++)
        if (reads(&kernel->facts->args[i]) && !tsl_cuda_mem(args->args[i].mem)->texture)
            return false;
    return true;
}

CUfunction tsl_cuda_launch_function(const struct tsl_cuda_launch *launch)
{
    return launch->by_textures ? launch->kernel->by_textures : launch->kernel->function;
}

static bool is_spread(const struct tsl_bound_arg *arg)
{
    return arg->kind == TSL_ARG_MEM && arg->mem && tsl_cuda_mem(arg->mem)->spread;
}

/* Sizes of the values that a held launch has to keep. */
static size_t value_size(const struct tsl_cuda_launch *launch, cl_uint i)
{
    return launch->sizes[i] ? launch->sizes[i] : sizeof(uint64_t);
}

bool tsl_cuda_keep_args(struct tsl_cuda_work *kept, const struct tsl_cuda_work *work)
{
    const struct tsl_cuda_launch *launch = &work->launch;
    size_t n = launch->n_args, size = (n + 1) * sizeof(void *) + 2 * n * sizeof(size_t);
    char *values;

    for (cl_uint i = 0; i < n; i++)
        size += (value_size(launch, i) + 15) / 16 * 16 + 16;
    kept->storage = malloc(size + 16);
    if (!kept->storage)
        return false;
    kept->launch.args = kept->storage;
    kept->launch.sizes = (size_t *)(kept->launch.args + n + 1);
    kept->launch.memory = launch->memory ? kept->launch.sizes + n : NULL;
    if (launch->memory)
        memcpy(kept->launch.memory, launch->memory, n * sizeof(size_t));
    values = (char *)(kept->launch.sizes + 2 * n);
    for (cl_uint i = 0; i < n; i++) {
        values = (char *)(((uintptr_t)values + 15) / 16 * 16);
        memcpy(values, launch->args[i], value_size(launch, i));
        kept->launch.args[i] = values;
        kept->launch.sizes[i] = launch->sizes[i];
        values += value_size(launch, i);
    }
    return true;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* The largest divisor of n that is at most max, if possible a multiple of `unit`. */
static size_t divisor(size_t n, size_t max, size_t unit)
{
    size_t best = 1;

    for (size_t d = max < n ? max : n; d > 1; d--) {
        if (n % d)
            continue;
        if (d % unit == 0)
            return d;
        if (best == 1)
            best = d;
    }
    return best;
}

/* Of a group of two dimensions: wide enough for kernels that pass over memory, and not all of the group, for those that
 * read rows and columns. */
#define USUAL_WIDTH 64

/* A local size where the application leaves it to us: a divisor, so that all groups are equal. */
static void choose_local(const struct tsl_cuda_kernel *kernel, const struct tsl_cuda_gpu *gpu,
                         struct tsl_window *window)
{
    size_t room = kernel->max_threads < TSL_CUDA_USUAL_GROUP ? kernel->max_threads : TSL_CUDA_USUAL_GROUP;
    size_t first = window->work_dim > 1 && window->global_size[1] > 1 && room > USUAL_WIDTH ? USUAL_WIDTH : room;

    window->local_size[0] = divisor(window->global_size[0], first, (size_t)gpu->warp);
    room /= window->local_size[0];
    window->local_size[1] = window->work_dim > 1 ? divisor(window->global_size[1], room ? room : 1, 1) : 1;
    window->local_size[2] = 1;
}

static bool has_reqd(const struct tsl_kernel_facts *facts)
{
    return facts->reqd_size[0] != 0;
}

/* Checks and completes the window: afterwards it has a local size, and group_begin and group_count are set. */
static cl_int complete_window(const struct tsl_cuda_kernel *kernel, struct tsl_window *w)
{
    const struct tsl_cuda_gpu *gpu = tsl_cuda_member(kernel->base.program->member)->gpu;

    if (!w->local_size[0] && !w->whole)
        return CL_INVALID_OPERATION;
    if (!w->local_size[0] && has_reqd(kernel->facts))
        memcpy(w->local_size, kernel->facts->reqd_size, sizeof(w->local_size));
    else if (!w->local_size[0])
        choose_local(kernel, gpu, w);
    for (int d = 0; d < 3; d++) {
        size_t n_groups;

        if (!w->local_size[d])
            w->local_size[d] = 1;
        if (w->local_size[d] > (size_t)gpu->max_dim[d])
            return CL_INVALID_WORK_ITEM_SIZE;
        n_groups = (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d];
        if (w->whole) {
            w->group_begin[d] = 0;
            w->group_count[d] = n_groups;
        }
    }
    w->whole = false;
    if (w->local_size[0] * w->local_size[1] * w->local_size[2] > kernel->max_threads)
        return CL_INVALID_WORK_GROUP_SIZE;
    return CL_SUCCESS;
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

/* In one dimension: groups from begin on, of `local` work-items each. */
struct range {
    size_t begin, count, local;
};

/* The groups of one dimension as ranges: the groups of full size, and maybe the smaller last one. Returns how many
 * ranges. */
static unsigned ranges_of(const struct tsl_window *w, int d, struct range ranges[2])
{
    size_t begin = w->group_begin[d], end = begin + w->group_count[d];
    size_t rest = w->global_size[d] % w->local_size[d], n_full = w->global_size[d] / w->local_size[d];
    size_t full_end = end < n_full ? end : n_full;
    unsigned n = 0;

    if (full_end > begin)
        ranges[n++] = (struct range){begin, full_end - begin, w->local_size[d]};
    if (rest && end > n_full)
        ranges[n++] = (struct range){n_full, 1, rest};
    return n;
}

struct grids {
    struct tsl_cuda_lane *lane;
    const struct tsl_cuda_launch *launch;
    struct tsl_cuda_grid grid; /* the one at hand */
};

static void set_grid(const struct tsl_window *w, const struct range r[3], struct tsl_cuda_grid *grid)
{
    for (int d = 0; d < 3; d++) {
        grid->hidden.group_begin[d] = r[d].begin;
        grid->hidden.first_id[d] = w->global_offset[d] + r[d].begin * w->local_size[d];
        grid->count[d] = (unsigned)r[d].count;
        grid->block[d] = (unsigned)r[d].local;
    }
}

static CUresult launch_grid(struct grids *g)
{
    const unsigned *count = g->grid.count, *block = g->grid.block;

    return tsl_cu.cuLaunchKernel(tsl_cuda_launch_function(g->launch), count[0], count[1], count[2], block[0], block[1],
                                 block[2], g->launch->shared_size, g->lane->stream, g->launch->args, NULL);
}

/* Grids have fewer blocks in a dimension than OpenCL has groups. */
static const size_t most[3] = {MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ};

static CUresult launch_cut(struct grids *g, const struct range r[3])
{
    CUresult result = CUDA_SUCCESS;

    for (int d = 0; d < 3; d++) {
        struct range part[3] = {r[0], r[1], r[2]};

        if (r[d].count <= most[d])
            continue;
        for (size_t done = 0; done < r[d].count && !result; done += part[d].count) {
            part[d].begin = r[d].begin + done;
            part[d].count = r[d].count - done < most[d] ? r[d].count - done : most[d];
            result = launch_cut(g, part);
        }
        return result;
    }
    set_grid(&g->launch->window, r, &g->grid);
    return launch_grid(g);
}

static void fill_hidden(const struct tsl_window *w, struct tsl_ptx_launch *hidden)
{
    hidden->work_dim = w->work_dim;
    for (int d = 0; d < 3; d++) {
        hidden->global_size[d] = w->global_size[d];
        hidden->global_offset[d] = w->global_offset[d];
        hidden->local_size[d] = (uint32_t)w->local_size[d];
        hidden->num_groups[d] = (w->global_size[d] + w->local_size[d] - 1) / w->local_size[d];
    }
}

bool tsl_cuda_one_grid(const struct tsl_cuda_launch *launch, struct tsl_cuda_grid *grid)
{
    struct range r[3], both[2];

    for (int d = 0; d < 3; d++) {
        if (ranges_of(&launch->window, d, both) != 1 || both[0].count > most[d])
            return false;
        r[d] = both[0];
    }
    fill_hidden(&launch->window, &grid->hidden);
    set_grid(&launch->window, r, grid);
    return true;
}

/* Of a substitute that is a function: it enqueues its work in the lane's stream. */
static cl_int run_call(struct tsl_cuda_lane *lane, const struct tsl_cuda_launch *launch)
{
    struct tsl_call_arg few[FEW_ARGS], *args = launch->n_args <= FEW_ARGS ? few : calloc(launch->n_args, sizeof(*args));
    const struct tsl_call *call = &launch->kernel->call;
    const struct tsl_kernel_facts *facts = launch->kernel->facts;
    cl_int result;

    if (!args)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < launch->n_args; i++) {
        bool local = facts->args[i].kind == TSL_FACT_LOCAL;
        uintptr_t word = 0;

        if (launch->sizes[i]) {
            args[i] = (struct tsl_call_arg){TSL_ARG_VALUE, launch->sizes[i], launch->args[i]};
            continue;
        }
        memcpy(&word, launch->args[i], sizeof(word));
        args[i] =
            (struct tsl_call_arg){local ? TSL_ARG_LOCAL : TSL_ARG_MEM, launch->memory[i], local ? NULL : (void *)word};
    }
    result = call->run(call->self,
                       &(struct tsl_call_launch){
                           .n_args = launch->n_args, .args = args, .window = &launch->window, .stream = lane->stream});
    if (args != few)
        free(args);
    return result;
}

cl_int tsl_cuda_run_launch(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work)
{
    struct grids g = {.lane = lane, .launch = &work->launch};
    struct range ranges[3][2];
    unsigned n[3];
    CUresult result = CUDA_SUCCESS;
    cl_int called = work->launch.kernel->call.run ? run_call(lane, &work->launch) : TSL_CALL_REFUSED;

    if (called != TSL_CALL_REFUSED)
        return called;
    if (work->launch.kernel->facts->prints)
        atomic_store(&lane->prints, true);
    work->launch.args[work->launch.n_args] = &g.grid.hidden;
    if (tsl_cuda_one_grid(&work->launch, &g.grid)) {
        result = tsl_cuda_batch_launch(lane, work, &g.grid);
        return tsl_cuda_error(tsl_cuda_member(lane->base.member), result);
    }
    fill_hidden(&work->launch.window, &g.grid.hidden);
    for (int d = 0; d < 3; d++)
        n[d] = ranges_of(&work->launch.window, d, ranges[d]);
    for (unsigned i = 0; i < n[0] * n[1] * n[2] && !result; i++) {
        const struct range r[3] = {ranges[0][i % n[0]], ranges[1][i / n[0] % n[1]], ranges[2][i / n[0] / n[1]]};

        result = launch_cut(&g, r);
        if (result && i)
            tsl_cu.cuStreamSynchronize(lane->stream); /* Nothing of a failed launch may go on. */
    }
    return tsl_cuda_error(tsl_cuda_member(lane->base.member), result);
}

/* Code that isn't our compiler's finds its place in the grid alone. */
static bool suits_foreign(const struct tsl_window *w)
{
    for (unsigned d = 0; d < w->work_dim; d++)
        if (w->global_offset[d] || (w->local_size[0] && w->global_size[d] % w->local_size[d]))
            return false;
    return w->whole;
}

static size_t size_of_memory(const struct tsl_bound_arg *arg)
{
    if (arg->kind == TSL_ARG_MEM)
        return arg->mem ? arg->mem->size : 0;
    return arg->kind == TSL_ARG_LOCAL ? arg->size : 0;
}

cl_int tsl_cuda_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                       struct tsl_fence **fence)
{
    struct tsl_cuda_kernel *k = tsl_cuda_kernel(launch->kernel);
    const struct tsl_bound_args *args = launch->args;
    struct tsl_cuda_work work = {.kind = TSL_CUDA_LAUNCH};
    bool few = args->n <= FEW_ARGS;
    void *few_args[FEW_ARGS + 1], **at = few ? few_args : malloc((args->n + 1) * sizeof(*at));
    uint64_t few_words[FEW_ARGS], *words = few ? few_words : malloc(args->n * sizeof(*words));
    size_t few_sizes[2 * FEW_ARGS], *sizes = few ? few_sizes : malloc(2 * args->n * sizeof(*sizes));
    size_t shared_size = 0, local_size = (size_t)tsl_cuda_member(lane->member)->gpu->local_size;
    cl_int error = at && words && sizes ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    work.launch = (struct tsl_cuda_launch){
        .kernel = k, .window = *launch->window, .n_args = args->n, .args = at, .sizes = sizes, .bound = args};
    if (!error && k->call.run)
        work.launch.memory = sizes + args->n;
    if (!error && k->foreign && !suits_foreign(launch->window))
        error = CL_INVALID_OPERATION;
    if (!error)
        error = args->n == k->facts->n_args ? complete_window(k, &work.launch.window) : CL_INVALID_KERNEL_ARGS;
    for (cl_uint i = 0; i < args->n && !error; i++) {
        sizes[i] = args->args[i].kind == TSL_ARG_VALUE ? args->args[i].size : 0;
        error =
            args->args[i].kind == TSL_ARG_LOCAL && args->args[i].size > local_size ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
        if (!error)
            error = bind_arg(&k->facts->args[i], &args->args[i], &at[i], &words[i], &shared_size);
        work.spread |= is_spread(&args->args[i]);
        if (!error && k->call.run)
            sizes[args->n + i] = size_of_memory(&args->args[i]);
    }
    if (!error && shared_size + k->static_shared > local_size)
        error = CL_OUT_OF_RESOURCES;
    work.launch.shared_size = (unsigned)shared_size;
    work.launch.by_textures = !error && k->by_textures && has_textures(k, args);
    if (!error)
        error = tsl_cuda_submit(lane, &work, waits, fence);
    if (!few) {
        free(at);
        free(words);
        free(sizes);
    }
    return error;
}
