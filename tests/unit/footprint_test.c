/* What kernels touch, kind by kind: for each kernel and window the sets are compared with what its work-items do, one
 * by one. Then what is known without addresses, and the arithmetic of sets. */
#include "footprint_kernels.h"
#include "test.h"

#include <stdio.h>

#define MEMORY 20000u

static struct bed bed;

/* ---- Kernels: argument 0 is written, 1 read, 2 and 3 are int scalars n and m ------------------------------------- */

static uint32_t n32(void)
{
    return bed_scalar(&bed, 32, 2, 0);
}

static uint32_t m32(void)
{
    return bed_scalar(&bed, 32, 3, 0);
}

static uint32_t c32(int64_t value)
{
    return bed_constant(&bed, 32, value);
}

static uint32_t two(uint8_t op, uint32_t a, uint32_t b)
{
    return bed_two(&bed, op, a, b);
}

/* out[index] of ints */
static struct tsl_access *store(uint32_t index)
{
    return bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, kernel_at(&bed, index, 4));
}

static struct tsl_access *load(uint32_t index)
{
    return bed_access(&bed, 1, TSL_ACCESS_READ, 4, kernel_at(&bed, index, 4));
}

static uint32_t id(unsigned d)
{
    return kernel_id(&bed, d);
}

/* A counter as int of a loop of so many iterations around the access. */
static uint32_t new_loop(uint32_t count)
{
    return bed_loop(&bed, bed.nodes[count].bits == 64 ? count : bed_as(&bed, TSL_NODE_ZEXT, 64, count), true);
}

static uint32_t counter(uint32_t loop)
{
    return bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_COUNTER, loop));
}

static void around(struct tsl_access *access, uint32_t loop)
{
    access->loops[access->n_loops++] = loop;
}

static void k_affine(void)
{
    store(id(0));
    load(two(TSL_NODE_ADD, id(0), c32(3)));
}

static void k_reversed(void)
{
    store(two(TSL_NODE_SUB, c32(200), id(0)));
}

static void k_rows(void)
{
    store(kernel_index(&bed, id(1), c32(60), id(0)));
}

static void k_columns(void)
{
    store(kernel_index(&bed, id(0), c32(60), id(1)));
}

static void k_guarded(void)
{
    kernel_guard(&bed, store(id(0)), TSL_NODE_SLT, id(0), n32());
    kernel_guard(&bed, load(id(0)), TSL_NODE_SLT, id(0), n32());
}

static void k_guarded_rows(void)
{
    struct tsl_access *access = store(kernel_index(&bed, id(1), n32(), id(0)));

    kernel_guard(&bed, access, TSL_NODE_SLT, id(0), n32());
    kernel_guard(&bed, access, TSL_NODE_SLE, id(1), m32());
    kernel_guard(&bed, access, TSL_NODE_NE, id(1), c32(0));
}

/* One condition of &&, written as LLVM does. */
static void k_anded(void)
{
    struct tsl_access *access = store(id(0));
    uint32_t a = two(TSL_NODE_SLT, c32(4), id(0)), b = two(TSL_NODE_ULT, id(0), n32());

    access->guards[access->n_guards++] = bed_select(&bed, a, b, bed_constant(&bed, 1, 0));
}

/* Not between 5 and 9. */
static void k_outside(void)
{
    struct tsl_access *access = store(id(0));

    access->guards[access->n_guards++] =
        two(TSL_NODE_OR, two(TSL_NODE_SLT, id(0), c32(5)), two(TSL_NODE_SLT, c32(9), id(0)));
}

static void k_one(void)
{
    kernel_guard(&bed, store(id(0)), TSL_NODE_EQ, id(0), c32(6));
}

static void k_odd(void)
{
    kernel_guard(&bed, store(id(0)), TSL_NODE_NE, two(TSL_NODE_AND, id(0), c32(1)), c32(0));
}

/* Unsigned, so i - 1 < n excludes 0. */
static void k_wrapped_guard(void)
{
    uint32_t before = kernel_add(&bed, id(0), -1);

    kernel_guard(&bed, store(before), TSL_NODE_ULT, before, n32());
}

static void k_tile(void)
{
    uint32_t group = bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_GROUP_ID, 0));
    uint32_t size = bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_LOCAL_SIZE, 0));
    uint32_t i =
        kernel_index(&bed, group, size, bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0)));

    kernel_guard(&bed, store(i), TSL_NODE_SLT, i, n32());
    load(i);
}

/* The first of a group stores the group's result. */
static void k_per_group(void)
{
    kernel_guard(&bed, store(bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_GROUP_ID, 0))), TSL_NODE_EQ,
                 bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0), bed_constant(&bed, 64, 0));
}

/* get_local_size is smaller in the last group. */
static void k_group_size(void)
{
    uint32_t group = bed_leaf(&bed, TSL_NODE_GROUP_ID, 0), local = bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0);
    uint32_t last = bed_two(&bed, TSL_NODE_SUB, bed_leaf(&bed, TSL_NODE_GROUP_SIZE, 0), local);

    store(bed_as(&bed, TSL_NODE_TRUNC, 32,
                 two(TSL_NODE_ADD, two(TSL_NODE_MUL, group, bed_constant(&bed, 64, 16)), last)));
}

/* Local ids alone: each group writes the same. */
static void k_local(void)
{
    store(bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0)));
}

static void k_float4(void)
{
    struct tsl_access *access = bed_access(&bed, 0, TSL_ACCESS_WRITE, 16, kernel_at(&bed, id(0), 16));

    access->narrow = 4;
}

/* out[i].y of a structure of 12 bytes */
static void k_member(void)
{
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, two(TSL_NODE_ADD, kernel_at(&bed, id(0), 12), bed_constant(&bed, 64, 4)));
}

/* Each of a row, *p++. */
static void k_row_loop(void)
{
    uint32_t loop = new_loop(n32());

    around(store(kernel_index(&bed, id(0), n32(), counter(loop))), loop);
}

static void k_column_loop(void)
{
    uint32_t loop = new_loop(c32(9));

    around(store(kernel_index(&bed, counter(loop), c32(200), id(0))), loop);
}

static void k_two_loops(void)
{
    uint32_t outer = new_loop(c32(5)), inner = new_loop(c32(4));
    struct tsl_access *access = store(two(TSL_NODE_ADD, kernel_index(&bed, counter(outer), c32(300), counter(inner)),
                                          two(TSL_NODE_MUL, id(0), c32(4))));

    around(access, outer);
    around(access, inner);
}

static void k_no_trip(void)
{
    around(store(id(0)), new_loop(c32(0)));
    around(load(id(0)), new_loop(two(TSL_NODE_SMAX, two(TSL_NODE_SUB, id(0), c32(9)), c32(0))));
}

/* for (j = 0; j <= i; j++) out[i * 60 + j], whose hull is not exact */
static void k_lower(void)
{
    uint32_t loop = new_loop(kernel_add(&bed, id(0), 1));

    around(store(kernel_index(&bed, id(0), c32(60), counter(loop))), loop);
}

/* for (j = i; j < 60; j++) out[i * 60 + j] where i < 60 */
static void k_upper(void)
{
    uint32_t loop = new_loop(two(TSL_NODE_SUB, c32(60), id(0)));
    uint32_t column = two(TSL_NODE_ADD, id(0), counter(loop));
    struct tsl_access *access = store(kernel_index(&bed, id(0), c32(60), column));

    kernel_guard(&bed, access, TSL_NODE_ULT, id(0), c32(60));
    around(access, loop);
}

/* for (j = i; j < 300; j++) out[j] */
static void k_suffix(void)
{
    uint32_t loop = new_loop(two(TSL_NODE_SUB, c32(300), id(0)));

    around(store(two(TSL_NODE_ADD, id(0), counter(loop))), loop);
}

static void k_grid_stride(void)
{
    kernel_grid_stride(&bed);
    for (uint32_t i = 0; i < 3; i++)
        bed.accesses[i].argument = !bed.accesses[i].argument;
}

/* The same, as a guard in an unknown number of iterations would say it. */
static void k_grid_stride_guarded(void)
{
    uint32_t loop = bed_loop(&bed, bed_constant(&bed, 64, 1000), true);
    uint32_t step = bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_GLOBAL_SIZE, 0));
    uint32_t i = kernel_index(&bed, counter(loop), step, id(0));
    struct tsl_access *access = store(i);

    kernel_guard(&bed, access, TSL_NODE_SLT, i, n32());
    around(access, loop);
}

static void k_clamped(void)
{
    store(two(TSL_NODE_SMIN, two(TSL_NODE_SMAX, kernel_add(&bed, id(0), -3), c32(0)), c32(20)));
    load(two(TSL_NODE_SMIN, kernel_add(&bed, id(0), 2), n32()));
}

static void k_selected(void)
{
    store(bed_select(&bed, two(TSL_NODE_SLT, id(0), c32(7)), id(0), kernel_add(&bed, id(0), 100)));
}

static void k_ring(void)
{
    store(two(TSL_NODE_UREM, id(0), c32(24)));
}

/* out[(uchar)(i + 5) % 16]: the low bits don't tell how often the byte wraps. */
static void k_ring_of_bytes(void)
{
    uint32_t byte = bed_as(&bed, TSL_NODE_TRUNC, 8, kernel_add(&bed, id(0), 5));

    store(bed_as(&bed, TSL_NODE_ZEXT, 32, two(TSL_NODE_UREM, byte, bed_constant(&bed, 8, 16))));
}

static void k_ring_of_scalar(void)
{
    store(two(TSL_NODE_SREM, kernel_add(&bed, id(0), 5), n32()));
}

/* out[(i % 10) * 20 + i / 10], a transposition */
static void k_transposed(void)
{
    store(kernel_index(&bed, two(TSL_NODE_UREM, id(0), c32(10)), c32(20), two(TSL_NODE_UDIV, id(0), c32(10))));
}

/* Row and column from one id, and together again. */
static void k_recombined(void)
{
    store(kernel_index(&bed, two(TSL_NODE_SDIV, id(0), c32(16)), c32(16), two(TSL_NODE_SREM, id(0), c32(16))));
}

/* With a pitch. */
static void k_pitched(void)
{
    store(kernel_index(&bed, two(TSL_NODE_LSHR, id(0), c32(3)), c32(20), two(TSL_NODE_AND, id(0), c32(7))));
}

static void k_halved(void)
{
    store(two(TSL_NODE_ASHR, kernel_add(&bed, id(0), -9), c32(1)));
    bed.accesses[0].flags = 0;
    bed.accesses[0].address[0] = two(TSL_NODE_ADD, bed.accesses[0].address[0], bed_constant(&bed, 64, 100));
}

static void k_aligned_down(void)
{
    store(two(TSL_NODE_AND, id(0), c32(-4)));
}

static void k_ored(void)
{
    store(two(TSL_NODE_OR, two(TSL_NODE_SHL, id(0), c32(2)), c32(1)));
}

/* A butterfly's partner. */
static void k_partner(void)
{
    store(two(TSL_NODE_XOR, id(0), c32(8)));
    load(two(TSL_NODE_XOR, id(0), c32(-1)));
    bed.accesses[1].flags = 0;
}

static void k_wraps_8(void)
{
    uint32_t byte = bed_as(&bed, TSL_NODE_TRUNC, 8, kernel_add(&bed, id(0), 230));

    store(bed_as(&bed, TSL_NODE_ZEXT, 32, byte));
}

static void k_wraps_16(void)
{
    uint32_t half = bed_as(&bed, TSL_NODE_TRUNC, 16, kernel_add(&bed, id(0), 65500));

    store(two(TSL_NODE_AND, bed_as(&bed, TSL_NODE_SEXT, 32, half), c32(1023)));
}

/* 2^31 and more as int is negative; the offset brings it back. */
static void k_wraps_32(void)
{
    uint32_t i = two(TSL_NODE_SUB, two(TSL_NODE_ADD, id(0), c32(INT32_MAX)), c32(INT32_MAX - 10));

    store(i);
}

/* Indices from memory: everything is read, what is written is exact. */
static void k_gather(void)
{
    store(id(0));
    bed_access(&bed, 1, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE);
}

/* A block of columns and rows of a larger matrix. */
static void k_block(void)
{
    uint32_t row = kernel_add(&bed, id(1), 3), column = kernel_add(&bed, id(0), 7);

    store(kernel_index(&bed, row, c32(90), column));
    load(kernel_index(&bed, column, c32(90), row));
}

static void k_three(void)
{
    store(kernel_index(&bed, kernel_index(&bed, id(2), c32(8), id(1)), c32(60), id(0)));
}

/* An async copy of a group's 32 ints. */
static void k_copy(void)
{
    uint32_t loop = bed_loop(&bed, bed_constant(&bed, 64, 32), true);
    uint32_t group = bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_GROUP_ID, 0));

    around(store(kernel_index(&bed, group, c32(32), counter(loop))), loop);
}

/* A diagonal: both ids in one stride. */
static void k_diagonal(void)
{
    store(kernel_index(&bed, id(0), c32(61), id(1)));
}

/* ---- Expectations ----------------------------------------------------------------------------------------------- */

#define MAY   1u /* what may be written is what is */
#define SURE  2u /* what is sure is what is written */
#define READ  4u /* what may be read is what is */
#define APART 8u /* halves of the launch don't meet */
#define ALL   15u

static const struct {
    const char *name;
    void (*make)(void);
    unsigned dimensions, expect;
} kernels[] = {
    {"affine", k_affine, 1, ALL},
    {"reversed", k_reversed, 1, ALL},
    {"rows", k_rows, 2, ALL},
    {"columns", k_columns, 2, ALL},
    {"guarded", k_guarded, 1, ALL},
    {"guarded rows", k_guarded_rows, 2, MAY | SURE},
    {"anded", k_anded, 1, ALL},
    {"outside", k_outside, 1, ALL},
    {"one", k_one, 1, ALL},
    {"odd", k_odd, 1, ALL},
    {"wrapped guard", k_wrapped_guard, 1, ALL},
    {"tile", k_tile, 1, ALL},
    {"per group", k_per_group, 1, ALL},
    {"group size", k_group_size, 1, MAY | SURE | READ},
    {"local", k_local, 1, MAY | SURE | READ},
    {"float4", k_float4, 1, ALL},
    {"member", k_member, 1, ALL},
    {"row loop", k_row_loop, 1, ALL},
    {"column loop", k_column_loop, 1, ALL},
    {"two loops", k_two_loops, 1, ALL},
    {"no trip", k_no_trip, 1, MAY | SURE | APART},
    {"lower", k_lower, 1, APART},
    {"upper", k_upper, 1, APART},
    {"suffix", k_suffix, 1, MAY | SURE},
    {"grid stride", k_grid_stride, 1, ALL},
    {"grid stride, guarded", k_grid_stride_guarded, 1, ALL},
    {"clamped", k_clamped, 1, MAY | SURE | READ},
    {"selected", k_selected, 1, ALL},
    {"ring", k_ring, 1, MAY | SURE | READ},
    {"ring of bytes", k_ring_of_bytes, 1, MAY | SURE | READ},
    {"ring of a scalar", k_ring_of_scalar, 1, MAY | SURE | READ},
    {"transposed", k_transposed, 1, ALL},
    {"recombined", k_recombined, 1, ALL},
    {"pitched", k_pitched, 1, ALL},
    {"halved", k_halved, 1, MAY | READ},
    {"aligned down", k_aligned_down, 1, MAY | SURE},
    {"ored", k_ored, 1, ALL},
    {"partner", k_partner, 1, ALL},
    {"wraps at 8 bits", k_wraps_8, 1, MAY | SURE | READ},
    {"wraps at 16 bits", k_wraps_16, 1, MAY | SURE | READ},
    {"wraps at 32 bits", k_wraps_32, 1, ALL},
    {"gather", k_gather, 1, MAY | SURE | APART},
    {"block", k_block, 2, ALL},
    {"three", k_three, 3, ALL},
    {"copy", k_copy, 1, ALL},
    {"diagonal", k_diagonal, 2, MAY | SURE},
};

static const struct tsl_window windows[] = {
    {1, {0, 0, 0}, {64, 1, 1}, {16, 1, 1}, {0, 0, 0}, {0, 0, 0}, true},
    {1, {0, 0, 0}, {64, 1, 1}, {8, 1, 1}, {2, 0, 0}, {3, 1, 1}, false},
    {1, {0, 0, 0}, {57, 1, 1}, {8, 1, 1}, {4, 0, 0}, {4, 1, 1}, false},
    {1, {0, 0, 0}, {57, 1, 1}, {10, 1, 1}, {0, 0, 0}, {0, 0, 0}, true},
    {1, {3, 0, 0}, {40, 1, 1}, {5, 1, 1}, {1, 0, 0}, {6, 1, 1}, false},
    {1, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, true},
    {2, {0, 0, 0}, {48, 6, 1}, {16, 2, 1}, {0, 0, 0}, {0, 0, 0}, true},
    {2, {0, 0, 0}, {48, 6, 1}, {16, 2, 1}, {1, 1, 0}, {2, 2, 1}, false},
    {2, {2, 1, 0}, {45, 5, 1}, {16, 2, 1}, {2, 0, 0}, {1, 3, 1}, false},
    {3, {0, 0, 0}, {24, 6, 4}, {8, 2, 1}, {0, 0, 0}, {0, 0, 0}, true},
    {3, {0, 0, 0}, {23, 5, 4}, {8, 2, 2}, {1, 1, 1}, {2, 2, 1}, false},
};

static uint8_t real_read[MEMORY], real_write[MEMORY], claimed[MEMORY];

static void visit(void *data, const struct bed_item *item, const struct tsl_access *access)
{
    int64_t address;

    (void)data;
    if (access->address[0] == TSL_FOOTPRINT_NONE)
        return;
    address = (int64_t)bed_value(item, access->address[0]);
    for (uint32_t i = 0; i < access->width; i++)
        if (address + i >= 0 && address + i < MEMORY)
            *(access->argument == 0 ? &real_write[address + i] : &real_read[address + i]) = 1;
}

static struct tsl_argument_touch touches[BED_ARGUMENTS];
static int32_t scalars[2] = {37, 4};
static const struct tsl_argument_value arguments[BED_ARGUMENTS] = {
    {.memory = MEMORY}, {.memory = MEMORY}, {.value = &scalars[0], .size = 4}, {.value = &scalars[1], .size = 4}};

static void evaluate(const struct tsl_window *window)
{
    tsl_footprint_evaluate(&bed.footprint, window, arguments, touches);
}

static void run(const struct tsl_window *window)
{
    uint64_t chance = 5;
    struct bed_item item = {.bed = &bed, .window = window, .arguments = arguments, .chance = &chance};
    struct bed_run runner = {.visit = visit, .budget = 1000000, .most = 1000};

    memset(real_read, 0, sizeof(real_read));
    memset(real_write, 0, sizeof(real_write));
    for (uint32_t i = 0; i < bed.footprint.n_accesses; i++)
        bed_for_each(&runner, &item, &bed.accesses[i]);
    assert_false(runner.cut);
}

/* How a set differs from what is: more, less. */
static void compare(const struct tsl_byte_set *set, const uint8_t *real, unsigned *more, unsigned *less)
{
    bed_mark(set, claimed, MEMORY);
    *more = *less = 0;
    for (unsigned i = 0; i < MEMORY; i++) {
        *more += claimed[i] && !real[i];
        *less += real[i] && !claimed[i];
    }
}

static unsigned n_failed;

static void expect(bool right, unsigned kernel, size_t window, const char *what)
{
    if (right)
        return;
    print_error("%s, window %zu: %s\n", kernels[kernel].name, window, what);
    n_failed++;
}

static void check_kernel(unsigned kernel, size_t window)
{
    const unsigned what = kernels[kernel].expect;
    unsigned more, less;

    evaluate(&windows[window]);
    run(&windows[window]);
    compare(&touches[0].write, real_write, &more, &less);
    expect(less == 0, kernel, window, "a byte is written outside");
    expect(more == 0 || !(what & MAY), kernel, window, "more may be written than is");
    compare(&touches[0].sure, real_write, &more, &less);
    expect(more == 0, kernel, window, "a sure byte isn't written");
    expect(less == 0 || !(what & SURE), kernel, window, "less is sure than is written");
    compare(&touches[1].read, real_read, &more, &less);
    expect(less == 0, kernel, window, "a byte is read outside");
    expect(more == 0 || !(what & READ), kernel, window, "more may be read than is");
}

/* Cuts a launch in two along a dimension. */
static void check_halves(unsigned kernel, size_t window)
{
    struct tsl_window half = windows[window];
    struct tsl_byte_set first;
    const unsigned d = half.work_dim - 1;
    const size_t groups = (half.global_size[d] + half.local_size[d] - 1) / half.local_size[d];

    if (groups < 2)
        return;
    for (unsigned i = 0; i < 3; i++) {
        half.group_begin[i] = 0;
        half.group_count[i] = (half.global_size[i] + half.local_size[i] - 1) / half.local_size[i];
    }
    half.whole = false;
    half.group_count[d] = groups / 2;
    evaluate(&half);
    first = touches[0].write;
    half.group_begin[d] = groups / 2;
    half.group_count[d] = groups - groups / 2;
    evaluate(&half);
    expect(!tsl_byte_sets_meet(&first, &touches[0].write, 0, MEMORY, MEMORY), kernel, window, "halves meet");
}

static void test_kernels(void **state)
{
    (void)state;
    n_failed = 0;
    for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        for (size_t j = 0; j < sizeof(windows) / sizeof(windows[0]); j++) {
            if (windows[j].work_dim != kernels[i].dimensions)
                continue;
            bed_begin(&bed, BED_ARGUMENTS);
            kernels[i].make();
            assert_true(tsl_footprint_is_valid(&bed.footprint));
            check_kernel(i, j);
            if (kernels[i].expect & APART)
                check_halves(i, j);
        }
    }
    assert_int_equal(n_failed, 0);
}

/* ---- Some boxes as numbers -------------------------------------------------------------------------------------- */

static void assert_box(const struct tsl_byte_box *box, uint64_t offset, uint64_t width, uint64_t count, uint64_t stride)
{
    assert_true(box->offset == offset && box->width == width && box->count[0] == count && box->stride[0] == stride);
}

static void test_boxes(void **state)
{
    const struct tsl_window *half = &windows[1];

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    k_guarded();
    evaluate(half);
    assert_int_equal(touches[0].write.n, 1);
    assert_box(&touches[0].write.boxes[0], 4 * 16, 4 * (37 - 16), 1, 0);
    assert_box(&touches[0].sure.boxes[0], 4 * 16, 4 * (37 - 16), 1, 0);
    bed_begin(&bed, BED_ARGUMENTS);
    k_rows();
    evaluate(&windows[7]);
    assert_int_equal(touches[0].sure.n, 1);
    assert_box(&touches[0].sure.boxes[0], 4 * (2 * 60 + 16), 4 * 32, 4, 240);
    bed_begin(&bed, BED_ARGUMENTS);
    k_member();
    evaluate(half);
    assert_box(&touches[0].write.boxes[0], 16 * 12 + 4, 4, 24, 12);
}

/* Scalars that aren't known, or are shorter than what is read of them. */
static void test_unknown_scalars(void **state)
{
    struct tsl_argument_value some[BED_ARGUMENTS] = {
        {.memory = 100}, {.memory = 100}, {.value = NULL}, {.value = &scalars, .size = 2}};

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    k_guarded();
    tsl_footprint_evaluate(&bed.footprint, &windows[0], some, touches);
    assert_box(&touches[0].write.boxes[0], 0, 100, 1, 0); /* cut at the end of the memory */
    assert_int_equal(touches[0].sure.n, 0);
    bed_begin(&bed, BED_ARGUMENTS);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, kernel_at(&bed, m32(), 4));
    tsl_footprint_evaluate(&bed.footprint, &windows[0], some, touches);
    assert_int_equal(touches[0].sure.n, 0);
}

/* ---- What is known besides -------------------------------------------------------------------------------------- */

/* atomic_add(&bins[data[i] & 255], 1): which bin isn't known, all of them are. */
static void test_histogram(void **state)
{
    uint32_t value = bed_node(&bed, (struct tsl_node){0});
    struct tsl_access *access;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    value = bed_node(&bed, (struct tsl_node){.op = TSL_NODE_UNKNOWN, .bits = 32});
    access = bed_access(&bed, 0, TSL_ACCESS_ATOMIC, 4, kernel_at(&bed, two(TSL_NODE_AND, value, c32(255)), 4));
    access->atomic = TSL_ATOMIC_ADD;
    evaluate(&windows[0]);
    assert_true(touches[0].atomics && !touches[0].plain && touches[0].reads && touches[0].writes);
    assert_int_equal(touches[0].atomic, TSL_ATOMIC_ADD);
    assert_int_equal(touches[0].atomic_width, 4);
    assert_false(touches[0].result_used);
    assert_box(&touches[0].write.boxes[0], 0, 1024, 1, 0);
    assert_box(&touches[0].read.boxes[0], 0, 1024, 1, 0);
    assert_int_equal(touches[0].sure.n, 0);
    access = bed_access(&bed, 0, TSL_ACCESS_ATOMIC, 8, bed_constant(&bed, 64, 0));
    access->atomic = TSL_ATOMIC_AND;
    access->flags = TSL_ACCESS_RESULT;
    load(c32(0))->argument = 0;
    evaluate(&windows[0]);
    assert_true(touches[0].plain && touches[0].result_used);
    assert_int_equal(touches[0].atomic, TSL_ATOMIC_OTHER);
    assert_int_equal(touches[0].atomic_width, 0);
}

static void constant_store(uint32_t index, uint64_t value)
{
    struct tsl_access *access = store(index);

    access->flags |= TSL_ACCESS_CONSTANT;
    access->value = value;
}

static void test_constants(void **state)
{
    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    constant_store(id(0), 1);
    constant_store(c32(5), 1);
    evaluate(&windows[0]);
    assert_true(touches[0].constant && touches[0].constant_value == 1 && touches[0].narrow == 4);
    constant_store(c32(6), 2);
    evaluate(&windows[0]);
    assert_false(touches[0].constant);
    bed_begin(&bed, BED_ARGUMENTS);
    constant_store(id(0), 1);
    k_float4();
    bed.accesses[1].narrow = 2;
    evaluate(&windows[0]);
    assert_false(touches[0].constant);
    assert_int_equal(touches[0].narrow, 2);
}

static void test_unknown(void **state)
{
    static char why[] = "an index from memory";

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    load(id(0));
    bed_access(&bed, 1, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE)->why = why;
    store(id(0));
    evaluate(&windows[0]);
    assert_true(touches[1].read.unknown);
    assert_int_equal(touches[1].why_read, 1);
    assert_int_equal(touches[1].why_write, TSL_FOOTPRINT_NONE);
    assert_false(touches[1].writes);
    assert_false(touches[0].write.unknown);
    assert_false(touches[2].reads);
}

/* No group: nothing. An access whose guard never holds: nothing either. */
static void test_nothing(void **state)
{
    struct tsl_window none = windows[1];

    (void)state;
    none.group_count[0] = 0;
    bed_begin(&bed, BED_ARGUMENTS);
    k_affine();
    evaluate(&none);
    assert_false(touches[0].writes || touches[1].reads || touches[0].write.n);
    kernel_guard(&bed, &bed.accesses[0], TSL_NODE_SLT, id(0), c32(0));
    evaluate(&windows[0]);
    assert_false(touches[0].writes);
    assert_true(touches[1].reads);
}

/* Sizes past all bounds, and a chain of nodes deeper than a walk goes. */
static void test_too_much(void **state)
{
    struct tsl_window large = windows[0];
    uint32_t node;

    (void)state;
    large.global_size[0] = SIZE_MAX;
    bed_begin(&bed, BED_ARGUMENTS);
    k_affine();
    evaluate(&large);
    assert_true(touches[0].write.unknown && touches[1].read.unknown && touches[0].sure.n == 0);
    bed_begin(&bed, BED_ARGUMENTS);
    node = id(0);
    for (unsigned i = 0; i < 400; i++)
        node = two(i % 2 ? TSL_NODE_ADD : TSL_NODE_XOR, node, node);
    store(node);
    evaluate(&windows[0]);
    assert_int_equal(touches[0].sure.n, 0);
}

/* Each row is turned by its number: out[y * 48 + (x + y) % 48]. What rows write lies in these rows, or at most one
 * element before: a border's few values may be one range. */
static void test_turned_rows(void **state)
{
    static const struct tsl_window rows = {2, {0, 0, 0}, {48, 6, 1}, {16, 2, 1}, {0, 1, 0}, {3, 1, 1}, false};
    uint32_t x, y, turned;
    uint64_t begin, end;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    x = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0);
    y = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1);
    turned = bed_two(&bed, TSL_NODE_UREM, bed_two(&bed, TSL_NODE_ADD, x, y), bed_constant(&bed, 64, 48));
    store(kernel_index(&bed, y, bed_constant(&bed, 64, 48), turned));
    evaluate(&rows);
    assert_true(tsl_byte_set_hull(&touches[0].write, MEMORY, &begin, &end));
    assert_in_range(begin, 4 * (2 * 48 - 1), 4 * 2 * 48);
    assert_int_equal(end, 4 * 4 * 48);
}

/* Work-items 16 to 31 of rows 0 to 3. */
static const struct tsl_window pixel_window = {2, {0, 0, 0}, {48, 4, 1}, {16, 4, 1}, {1, 0, 0}, {1, 1, 1}, false};

static void test_images(void **state)
{
    struct tsl_pixel_set read, write;
    struct tsl_access *access;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    for (int i = -1; i <= 1; i++) {
        access = bed_access(&bed, 1, TSL_ACCESS_READ, 0, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
        access->flags = TSL_ACCESS_IMAGE;
        access->address[1] = kernel_add(&bed, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1), i);
    }
    access = bed_access(&bed, 0, TSL_ACCESS_WRITE, 0, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
    access->flags = TSL_ACCESS_IMAGE;
    access->narrow = 0;
    assert_true(tsl_footprint_is_valid(&bed.footprint));
    tsl_footprint_evaluate_image(&bed.footprint, &windows[7], arguments, 1, &read, &write);
    assert_int_equal(read.n, 1);
    assert_int_equal(write.n, 0);
    assert_int_equal(read.boxes[0].origin[0], 16);
    assert_int_equal(read.boxes[0].size[0], 32);
    assert_int_equal(read.boxes[0].origin[1], 1);
    assert_int_equal(read.boxes[0].size[1], 6);
    assert_int_equal(read.boxes[0].size[2], 1);
    tsl_footprint_evaluate_image(&bed.footprint, &windows[6], arguments, 1, &read, &write);
    assert_int_equal(read.boxes[0].origin[1], 0); /* the row before the first one is cut off */
    assert_int_equal(read.boxes[0].size[1], 7);
    tsl_footprint_evaluate_image(&bed.footprint, &windows[7], arguments, 0, &read, &write);
    assert_int_equal(write.n, 1);
    evaluate(&windows[7]);
    assert_true(touches[1].read.unknown && touches[0].write.unknown && !touches[0].reads);
}

/* Where it is known how pixels lie the bytes are, too: rows of 40 pixels of 4 bytes, 192 bytes from one to the next. */
static void test_pixels(void **state)
{
    static const struct tsl_pixel_layout pixels = {.size = {40, 6, 1}, .step = {4, 192, 0}};
    struct tsl_argument_value some[BED_ARGUMENTS] = {{.memory = 6 * 192, .pixels = &pixels},
                                                     {.memory = 6 * 192, .pixels = &pixels}};
    struct tsl_access *access;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    for (uint32_t argument = 0; argument < 2; argument++) {
        access = bed_access(&bed, argument, argument ? TSL_ACCESS_READ : TSL_ACCESS_WRITE, 0,
                            bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
        access->flags = argument ? TSL_ACCESS_IMAGE : TSL_ACCESS_IMAGE | TSL_ACCESS_SURE;
        access->address[1] = kernel_add(&bed, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1), argument ? 3 : 0);
        access->narrow = 0;
    }
    assert_true(tsl_footprint_is_valid(&bed.footprint));
    tsl_footprint_evaluate(&bed.footprint, &pixel_window, some, touches);
    /* Columns 16 to 31, rows 0 to 3: all of them are in the image, and are written. */
    assert_int_equal(touches[0].write.n, 1);
    assert_memory_equal(&touches[0].write.boxes[0],
                        (&(struct tsl_byte_box){.offset = 64, .width = 64, .stride = {192}, .count = {4, 1}}),
                        sizeof(struct tsl_byte_box));
    assert_memory_equal(&touches[0].sure, &touches[0].write, sizeof(touches[0].sure));
    /* Rows 3 to 6: the last one isn't. */
    assert_int_equal(touches[1].read.n, 1);
    assert_memory_equal(&touches[1].read.boxes[0],
                        (&(struct tsl_byte_box){.offset = 3 * 192 + 64, .width = 64, .stride = {192}, .count = {3, 1}}),
                        sizeof(struct tsl_byte_box));
}

/* Any pixel is all of the image. */
static void test_unknown_pixels(void **state)
{
    static const struct tsl_pixel_layout pixels = {.size = {8, 4, 1}, .step = {4, 32, 0}};
    struct tsl_argument_value some[BED_ARGUMENTS] = {{.memory = 128, .pixels = &pixels}};
    struct tsl_access *access;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    access = bed_access(&bed, 0, TSL_ACCESS_READ, 0, TSL_FOOTPRINT_NONE);
    access->flags = TSL_ACCESS_IMAGE;
    tsl_footprint_evaluate(&bed.footprint, &pixel_window, some, touches);
    assert_true(touches[0].reads && touches[0].read.unknown && !touches[0].writes);
}

/* What is written beside an image isn't written at all, so nothing is sure there. */
static void test_pixels_beside(void **state)
{
    static const struct tsl_pixel_layout pixels = {.size = {8, 4, 1}, .step = {4, 32, 0}};
    struct tsl_argument_value some[BED_ARGUMENTS] = {{.memory = 128, .pixels = &pixels}};
    struct tsl_access *access;

    (void)state;
    bed_begin(&bed, BED_ARGUMENTS);
    access = bed_access(&bed, 0, TSL_ACCESS_WRITE, 0, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
    access->flags = TSL_ACCESS_IMAGE | TSL_ACCESS_SURE;
    access->address[1] = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1);
    access->narrow = 0;
    tsl_footprint_evaluate(&bed.footprint, &pixel_window, some, touches);
    assert_true(touches[0].writes && touches[0].write.n == 0 && touches[0].sure.n == 0);
    access->address[0] = kernel_add(&bed, access->address[0], -20);
    tsl_footprint_evaluate(&bed.footprint, &pixel_window, some, touches);
    assert_int_equal(touches[0].write.n, 1);
    assert_int_equal(tsl_byte_set_size(&touches[0].write, 128), 128);
    assert_int_equal(touches[0].sure.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),         cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_unknown_scalars), cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_constants),       cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_nothing),         cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_images),          cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_pixels_beside),   cmocka_unit_test(test_unknown_pixels),
        cmocka_unit_test(test_turned_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
