/* Combining by kernels; combine.h has the same for the host's memory. */
#include "driver/combine_kernels.h"

#include "driver/combine.h"
#include "driver/driver.h"

#include <stdio.h>
#include <string.h>

#define GROUP     64u
#define ITEM_SIZE 16u /* bytes that one work-item combines, where all ranges begin at multiples of that */

/* One work-item takes ITEM_SIZE bytes, or, where `wide` is 0, one element. They are one vector but at the end, and
 * where memory isn't aligned to that, as the application's own needn't be. Offsets and numbers are in elements. */
static const char source[] =
    "#define KERNEL(name, type, vector, n, one, all)                                                           \\\n"
    "kernel void name(global type *dst, ulong dst_at, global const type *a, ulong a_at, global const type *b,  \\\n"
    "                 ulong b_at, global const type *before, ulong before_at, ulong end, uint wide)            \\\n"
    "{                                                                                                         \\\n"
    "    ulong i = get_global_id(0);                                                                           \\\n"
    "    dst += dst_at, a += a_at, b += b_at, before += before_at;                                             \\\n"
    "    bool whole = ((((ulong)dst | (ulong)a | (ulong)b | (ulong)before) & 15) == 0);                        \\\n"
    "    if (wide && whole && (i + 1) * n <= end) {                                                            \\\n"
    "        vector x = ((global const vector *)a)[i], y = ((global const vector *)b)[i];                      \\\n"
    "        all;                                                                                              \\\n"
    "        ((global vector *)dst)[i] = y;                                                                    \\\n"
    "        return;                                                                                           \\\n"
    "    }                                                                                                     \\\n"
    "    ulong last = min(wide ? (i + 1) * n : i + 1, end);                                                    \\\n"
    "    for (ulong k = wide ? i * n : i; k < last; k++) {                                                     \\\n"
    "        type x = a[k], y = b[k];                                                                          \\\n"
    "        one;                                                                                              \\\n"
    "        dst[k] = y;                                                                                       \\\n"
    "    }                                                                                                     \\\n"
    "}\n"
    "#define CHANGED(name, type, vector, n)                                                                    \\\n"
    "    KERNEL(name, type, vector, n, y = x != before[k] ? x : y,                                             \\\n"
    "           y = select(y, x, x != ((global const vector *)before)[i]))\n"
    "#define FOLD(name, type, vector, n, fold) KERNEL(name, type, vector, n, y = fold, y = fold)\n"
    "#define FOLDS(width, t, n)                                                                                \\\n"
    "    FOLD(add##width, u##t, u##t##n, n, x + y)                                                             \\\n"
    "    FOLD(and##width, u##t, u##t##n, n, x & y)                                                             \\\n"
    "    FOLD(or##width, u##t, u##t##n, n, x | y)                                                              \\\n"
    "    FOLD(xor##width, u##t, u##t##n, n, x ^ y)                                                             \\\n"
    "    FOLD(smin##width, t, t##n, n, min(x, y))                                                              \\\n"
    "    FOLD(smax##width, t, t##n, n, max(x, y))                                                              \\\n"
    "    FOLD(umin##width, u##t, u##t##n, n, min(x, y))                                                        \\\n"
    "    FOLD(umax##width, u##t, u##t##n, n, max(x, y))\n"
    "CHANGED(changed1, uchar, uchar16, 16)\n"
    "CHANGED(changed2, ushort, ushort8, 8)\n"
    "CHANGED(changed4, uint, uint4, 4)\n"
    "CHANGED(changed8, ulong, ulong2, 2)\n"
    "FOLDS(4, int, 4)\n"
    "FOLDS(8, long, 2)\n";

static const char *const names[TSL_N_COMBINE_HOWS] = {
    [TSL_COMBINE_CHANGED] = "changed", [TSL_COMBINE_ADD] = "add",   [TSL_COMBINE_AND] = "and",
    [TSL_COMBINE_OR] = "or",           [TSL_COMBINE_XOR] = "xor",   [TSL_COMBINE_SMIN] = "smin",
    [TSL_COMBINE_SMAX] = "smax",       [TSL_COMBINE_UMIN] = "umin", [TSL_COMBINE_UMAX] = "umax",
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

#define N_WIDTHS 4u /* 1 to 8 bytes */

static cl_int create(struct tsl_dprogram *program, struct tsl_dkernel **kernels)
{
    cl_int error = CL_SUCCESS;

    for (unsigned how = 0; how < TSL_N_COMBINE_HOWS && !error; how++)
        for (unsigned w = how == TSL_COMBINE_CHANGED ? 0 : 2; w < N_WIDTHS && !error; w++) {
            char name[16];
            snprintf(name, sizeof(name), "%s%u", names[how], 1u << w);
            error = tsl_own_kernel(program, name, GROUP, &kernels[how * N_WIDTHS + w]);
        }
    return error;
}

static const struct tsl_own_source own = {.text = source,
                                          .size = sizeof(source) - 1,
                                          .lacks = "can't merge what parts of a launch wrote",
                                          .n_kernels = (size_t)TSL_N_COMBINE_HOWS * N_WIDTHS,
                                          .create = create};

void tsl_combine_kernels_init(struct tsl_combine_kernels *k)
{
    memset(k, 0, sizeof(*k));
    tsl_own_program_init(&k->own);
}

bool tsl_combine_kernels_make(struct tsl_combine_kernels *k, struct tsl_member *member)
{
    return tsl_own_program_make(&k->own, member, &own, k->kernels[0]);
}

void tsl_combine_kernels_finish(struct tsl_combine_kernels *k)
{
    tsl_own_program_finish(&k->own, &own, k->kernels[0]);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static atomic_uint_fast64_t last_serial = UINT64_C(1) << 63; /* far from those of the program's own launches */

enum { DST, DST_AT, A, A_AT, B, B_AT, BEFORE, BEFORE_AT, END, WIDE, N_ARGS };

static struct tsl_bound_arg number(const cl_ulong *value)
{
    return (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(*value), .value = value};
}

/* `at`: where the number of elements before the range is kept until the launch. */
static void bind_side(const struct tsl_combine_side *side, unsigned width, struct tsl_bound_arg *args, cl_ulong *at)
{
    *at = side->offset / width;
    args[0] = (struct tsl_bound_arg){.kind = TSL_ARG_MEM, .size = sizeof(cl_mem), .mem = side->mem};
    args[1] = number(at);
}

static bool is_wide(const struct tsl_combine *c)
{
    size_t offsets = c->dst.offset | c->a.offset | c->b.offset | (c->before.mem ? c->before.offset : 0);

    return offsets % ITEM_SIZE == 0;
}

cl_int tsl_combine_kernels_run(const struct tsl_combine_kernels *k, struct tsl_lane *lane, const struct tsl_combine *c,
                               const struct tsl_waits *waits, struct tsl_fence **fence)
{
    struct tsl_bound_arg args[N_ARGS];
    const struct tsl_bound_args bound = {
        .serial = atomic_fetch_add_explicit(&last_serial, 1, memory_order_relaxed), .n = N_ARGS, .args = args};
    cl_ulong at[4], end = c->size / c->width;
    cl_uint wide = is_wide(c);
    size_t per_item = wide ? ITEM_SIZE : c->width, items = (c->size + per_item - 1) / per_item;
    const struct tsl_window window = {.work_dim = 1,
                                      .global_size = {(items + GROUP - 1) / GROUP * GROUP, 1, 1},
                                      .local_size = {GROUP, 1, 1},
                                      .whole = true};
    const struct tsl_launch launch = {k->kernels[c->how][__builtin_ctz(c->width)], &bound, &window};

    if (!tsl_combine_is_sound(c))
        return CL_INVALID_VALUE;
    bind_side(&c->dst, c->width, &args[DST], &at[0]);
    bind_side(&c->a, c->width, &args[A], &at[1]);
    bind_side(&c->b, c->width, &args[B], &at[2]);
    bind_side(c->before.mem ? &c->before : &c->a, c->width, &args[BEFORE], &at[3]);
    args[END] = number(&end);
    args[WIDE] = (struct tsl_bound_arg){.kind = TSL_ARG_VALUE, .size = sizeof(wide), .value = &wide};
    return lane->member->driver->launch(lane, &launch, waits, fence);
}
