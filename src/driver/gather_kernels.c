#include "driver/gather_kernels.h"

#include "driver/driver.h"

#include <string.h>

#define GROUP  256u
#define MOST   16u /* runs of one launch */
#define GROUPS 64u /* of one piece at most: all pieces together should fill a device */

/* Pieces of the same size at equal distances, as rows of a matrix have them, are a run. Runs are arguments of their
 * own, as an array of them would be a copy of its own for each work-item: run i has the launch's pieces from first_i
 * on. A work-item copies a unit at a time: as large ones as all pieces begin and end at. */
static const char source[] =
    "#define RUNS(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)\n"
    "#define ARGUMENT(i) , ulong first##i, ulong begin##i, ulong size##i, ulong stride##i\n"
    "#define CHOOSE(i) if (piece >= first##i) at = begin##i + (piece - first##i) * stride##i, size = size##i;\n"
    "#define COPY(T) \\\n"
    "    for (ulong i = at / sizeof(T) + get_global_id(0); i < (at + size) / sizeof(T); i += get_global_size(0)) \\\n"
    "        ((global T *)dst)[i] = ((global const T *)src)[i]\n"
    "kernel void gather(global uchar *dst, global const uchar *src, ulong unit, ulong n RUNS(ARGUMENT))\n"
    "{\n"
    "    ulong piece = get_global_id(1), at = 0, size = 0;\n"
    "    if (piece >= n)\n"
    "        return;\n"
    "    RUNS(CHOOSE)\n"
    "    switch (unit) {\n"
    "    case 16: COPY(uint4); break;\n"
    "    case 8: COPY(ulong); break;\n"
    "    case 4: COPY(uint); break;\n"
    "    case 2: COPY(ushort); break;\n"
    "    default: COPY(uchar);\n"
    "    }\n"
    "}\n";

enum { DST, SRC, UNIT, N, FIRST_RUN, N_WORDS = 4, N_ARGS = FIRST_RUN + N_WORDS * MOST };

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

bool tsl_gather_kernels_make(struct tsl_gather_kernels *k, struct tsl_member *member)
{
    return tsl_own_program_make(&k->own, member, &own, &k->kernel);
}

void tsl_gather_kernels_finish(struct tsl_gather_kernels *k)
{
    tsl_own_program_finish(&k->own, &own, &k->kernel);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

unsigned tsl_gather_kernels_unit(const struct tsl_gather *gather)
{
    uint64_t bits = TSL_GATHER_UNIT;

    for (unsigned i = 0; i < gather->n; i++)
        bits |= gather->list[i].begin | gather->list[i].end;
    return (unsigned)(bits & -bits);
}

static struct tsl_bound_arg memory(struct tsl_mem *mem)
{
    return (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .size = sizeof(cl_mem), .mem = mem};
}

/* Pieces of a launch. */
struct pieces {
    unsigned n, n_runs;
    uint64_t longest; /* bytes */
    cl_ulong words[N_WORDS * MOST];
};

/* How many pieces from list[0] on are a run. */
static unsigned run_length(const struct tsl_range_of_bytes *list, unsigned n)
{
    unsigned k = 1;

    while (k < n && list[k].end - list[k].begin == list[0].end - list[0].begin &&
           list[k].begin - list[k - 1].begin == list[1].begin - list[0].begin)
        k++;
    return k;
}

/* Of the first of these pieces, as many as a launch takes. Runs that there aren't have no piece. */
static void take_pieces(const struct tsl_range_of_bytes *list, unsigned n, struct pieces *pieces)
{
    memset(pieces, 0, sizeof(*pieces));
    for (; pieces->n < n && pieces->n_runs < MOST; pieces->n_runs++) {
        const struct tsl_range_of_bytes *first = &list[pieces->n];
        unsigned length = run_length(first, n - pieces->n);
        cl_ulong size = first->end - first->begin, stride = length > 1 ? first[1].begin - first->begin : 0;
        memcpy(&pieces->words[N_WORDS * pieces->n_runs], (cl_ulong[]){pieces->n, first->begin, size, stride},
               N_WORDS * sizeof(cl_ulong));
        pieces->n += length;
        pieces->longest = size > pieces->longest ? size : pieces->longest;
    }
    for (unsigned i = pieces->n_runs; i < MOST; i++)
        pieces->words[N_WORDS * i] = CL_ULONG_MAX;
}

/* Groups are as wide as the longest piece needs, and as high as leaves them whole. */
static struct tsl_window window_of(const struct pieces *pieces, cl_ulong unit)
{
    uint64_t items = pieces->longest / unit, width = 1;

    while (width < GROUP && width < items)
        width *= 2;
    uint64_t height = GROUP / width, groups = (items + width - 1) / width;
    groups = groups < GROUPS ? groups : GROUPS;
    return (struct tsl_window){.work_dim = 2,
                               .global_size = {groups * width, (pieces->n + height - 1) / height * height, 1},
                               .local_size = {width, height, 1},
                               .whole = true};
}

static cl_int run_some(const struct tsl_gather_kernels *k, struct tsl_lane *lane, const struct tsl_gather *gather,
                       const struct pieces *pieces, const struct tsl_waits *waits, struct tsl_fence **fence)
{
    const cl_ulong unit = tsl_gather_kernels_unit(gather), n = pieces->n;
    struct tsl_bound_arg args[N_ARGS] = {[DST] = memory(gather->dst), [SRC] = memory(gather->src)};
    const struct tsl_bound_args bound = {
        .serial = atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed), .n = N_ARGS, .args = args};
    const struct tsl_window window = window_of(pieces, unit);
    const struct tsl_launch launch = {k->kernel, &bound, &window};

    for (unsigned i = UNIT; i < N_ARGS; i++) {
        const cl_ulong *word = i == UNIT ? &unit : i == N ? &n : &pieces->words[i - FIRST_RUN];
        args[i] = (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(*word), .value = word};
    }
    return lane->member->driver->launch(lane, &launch, waits, fence);
}

cl_int tsl_gather_kernels_run(struct tsl_gather_kernels *k, struct tsl_lane *lane, const struct tsl_gather *gather,
                              const struct tsl_waits *waits, struct tsl_fence **fence)
{
    cl_int error = CL_SUCCESS;

    if (!tsl_gather_kernels_make(k, lane->member))
        return CL_INVALID_OPERATION;
    for (unsigned first = 0; first < gather->n && !error;) {
        struct pieces pieces;
        take_pieces(&gather->list[first], gather->n - first, &pieces);
        bool last = first + pieces.n == gather->n;
        error = run_some(k, lane, gather, &pieces, first ? NULL : waits, last ? fence : NULL);
        error = error == CL_INVALID_OPERATION ? CL_OUT_OF_RESOURCES : error;
        first += pieces.n;
    }
    return error;
}
