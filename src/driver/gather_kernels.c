#include "driver/gather_kernels.h"

#include "base/log.h"
#include "driver/driver.h"
#include "facts/kernel_facts.h"

#include <stdlib.h>
#include <string.h>

#define GROUP     256u
#define MOST      16u /* pieces of one launch */
#define ITEM_SIZE 16u /* bytes that a work-item copies at a time */
#define GROUPS    64u /* of one piece at most: all pieces together should fill a device */

/* One row of groups a piece. The pieces are arguments of their own, as an array of them would be a copy of its own for
 * each work-item. */
static const char source[] =
    "#define PIECES(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)\n"
    "#define ARGUMENT(i) , ulong begin##i, ulong end##i\n"
    "#define CHOOSE(i) if (get_group_id(1) == i) at = begin##i, end = end##i;\n"
    "kernel void gather(global uint4 *dst, global const uint4 *src PIECES(ARGUMENT))\n"
    "{\n"
    "    ulong at = 0, end = 0, step = get_global_size(0);\n"
    "    PIECES(CHOOSE)\n"
    "    for (at += get_global_id(0); at < end; at += step)\n"
    "        dst[at] = src[at];\n"
    "}\n";

enum { DST, SRC, FIRST_PIECE, N_ARGS = FIRST_PIECE + 2 * MOST };

static atomic_uint_fast64_t last_serial = UINT64_C(3) << 62; /* far from those of the program's own launches */

/* ---- Making ------------------------------------------------------------------------------------------------------ */

void tsl_gather_kernels_init(struct tsl_gather_kernels *k)
{
    memset(k, 0, sizeof(*k));
    pthread_mutex_init(&k->lock, NULL);
}

static void free_all(struct tsl_gather_kernels *k)
{
    if (!k->program)
        return;
    if (k->kernel)
        k->program->member->driver->kernel_free(k->kernel);
    k->kernel = NULL;
    k->program->member->driver->program_free(k->program);
    k->program = NULL;
}

static cl_int make_all(struct tsl_gather_kernels *k, struct tsl_member *member)
{
    const struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = source, .size = sizeof(source) - 1, .options = ""};
    struct tsl_kernel_facts facts = {.name = NULL};
    char *log = NULL;
    cl_int error = member->driver->build(member, &input, &k->program, &log);

    if (error)
        k->program = NULL;
    else
        error = member->driver->kernel_create(k->program, "gather", &k->kernel, &facts);
    if (error)
        k->kernel = NULL;
    else
        tsl_kernel_facts_finish(&facts);
    if (error)
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_INFO, "%s copies pieces one by one: no kernel for them (error %d)%s%s",
                member->path->id, error, log && *log ? ": " : "", log ? log : "");
    free(log);
    return error;
}

static bool make(struct tsl_gather_kernels *k, struct tsl_member *member)
{
    /* Acquire: another thread may have made them. */
    if (atomic_load_explicit(&k->made, memory_order_acquire))
        return true;
    pthread_mutex_lock(&k->lock);
    if (!k->tried) {
        k->tried = true;
        if (make_all(k, member))
            free_all(k);
        else
            atomic_store_explicit(&k->made, true, memory_order_release);
    }
    pthread_mutex_unlock(&k->lock);
    return atomic_load_explicit(&k->made, memory_order_relaxed);
}

void tsl_gather_kernels_finish(struct tsl_gather_kernels *k)
{
    free_all(k);
    pthread_mutex_destroy(&k->lock);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static bool is_aligned(const struct tsl_gather *gather)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < gather->n; i++)
        bits |= gather->list[i].begin | gather->list[i].end;
    return bits % ITEM_SIZE == 0;
}

static struct tsl_bound_arg memory(struct tsl_mem *mem)
{
    return (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .size = sizeof(cl_mem), .mem = mem};
}

/* The longest piece's bytes. words: two of each piece of a launch, in items. */
static uint64_t take_pieces(const struct tsl_range_of_bytes *list, unsigned n, cl_ulong *words)
{
    uint64_t longest = 0;

    memset(words, 0, 2 * MOST * sizeof(*words));
    for (unsigned i = 0; i < n; i++) {
        uint64_t size = list[i].end - list[i].begin;
        words[2 * i] = list[i].begin / ITEM_SIZE;
        words[2 * i + 1] = list[i].end / ITEM_SIZE;
        longest = size > longest ? size : longest;
    }
    return longest;
}

static cl_int run_some(const struct tsl_gather_kernels *k, struct tsl_lane *lane, const struct tsl_gather *gather,
                       unsigned first, unsigned n, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_bound_arg args[N_ARGS] = {[DST] = memory(gather->dst), [SRC] = memory(gather->src)};
    const struct tsl_bound_args bound = {
        .serial = atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed), .n = N_ARGS, .args = args};
    cl_ulong words[2 * MOST];
    uint64_t groups = (take_pieces(&gather->list[first], n, words) + GROUP * ITEM_SIZE - 1) / (GROUP * ITEM_SIZE);

    for (unsigned i = 0; i < 2 * MOST; i++)
        args[FIRST_PIECE + i] =
            (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(*words), .value = &words[i]};
    groups = groups < GROUPS ? groups : GROUPS;
    const struct tsl_window window = {
        .work_dim = 2, .global_size = {groups * GROUP, n, 1}, .local_size = {GROUP, 1, 1}, .whole = true};
    const struct tsl_launch launch = {k->kernel, &bound, &window};
    return lane->member->driver->launch(lane, &launch, waits, fence);
}

cl_int tsl_gather_kernels_run(struct tsl_gather_kernels *k, struct tsl_lane *lane, const struct tsl_gather *gather,
                              const struct tsl_waits *waits, struct tsl_fence **fence)
{
    cl_int error = CL_SUCCESS;

    if (!is_aligned(gather) || !make(k, lane->member))
        return CL_INVALID_OPERATION;
    for (unsigned first = 0; first < gather->n && !error; first += MOST) {
        unsigned n = gather->n - first < MOST ? gather->n - first : MOST;
        error = run_some(k, lane, gather, first, n, first ? NULL : waits, first + n == gather->n ? fence : NULL);
        error = error == CL_INVALID_OPERATION ? CL_OUT_OF_RESOURCES : error;
    }
    return error;
}
