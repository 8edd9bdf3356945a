#include "driver/gather_kernels.h"

#include "driver/driver.h"

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

static cl_int create(struct tsl_dprogram *program, struct tsl_dkernel **kernels)
{
    return tsl_own_kernel(program, "gather", GROUP, kernels);
}

static const struct tsl_own_source own = {.text = source,
                                          .size = sizeof(source) - 1,
                                          .lacks = "copies pieces one by one, as it has no kernel for them",
                                          .n_kernels = 1,
                                          .create = create};

void tsl_gather_kernels_init(struct tsl_gather_kernels *k)
{
    memset(k, 0, sizeof(*k));
    tsl_own_program_init(&k->own);
}

void tsl_gather_kernels_finish(struct tsl_gather_kernels *k)
{
    tsl_own_program_finish(&k->own, &own, &k->kernel);
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

    if (!is_aligned(gather) || !tsl_own_program_make(&k->own, lane->member, &own, &k->kernel))
        return CL_INVALID_OPERATION;
    for (unsigned first = 0; first < gather->n && !error; first += MOST) {
        unsigned n = gather->n - first < MOST ? gather->n - first : MOST;
        error = run_some(k, lane, gather, first, n, first ? NULL : waits, first + n == gather->n ? fence : NULL);
        error = error == CL_INVALID_OPERATION ? CL_OUT_OF_RESOURCES : error;
    }
    return error;
}
