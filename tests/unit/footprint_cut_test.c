/* When a launch may be cut, along which dimension, into which windows, and how the reason reads: footprints made by
 * hand. */
#include "footprint/cut.h"
#include "footprint_kernels.h"
#include "test.h"

#include <stdio.h>

#define SIZE 65536u

static struct bed bed;

/* One launch: 4 arguments, buffers of their own unless a test says otherwise; arguments 2 and 3 are ints. */
struct launch {
    struct tsl_window window;
    int32_t scalars[4];
    struct tsl_argument_value values[4];
    struct tsl_cut_memory memories[4];
    struct tsl_cut_verdict verdict;
};

static const char roots[4];

static struct launch launch_of(size_t x, size_t y, size_t z, int32_t a, int32_t b)
{
    struct launch launch = {.window = {.work_dim = z   ? 3
                                                   : y ? 2
                                                       : 1,
                                       .global_size = {x, y ? y : 1, z ? z : 1},
                                       .local_size = {4, y ? 2 : 1, 1},
                                       .whole = true},
                            .scalars = {0, 0, a, b}};

    for (unsigned i = 0; i < 4; i++) {
        launch.memories[i] = (struct tsl_cut_memory){&roots[i], NULL, 0, SIZE, true, 0, false};
        launch.values[i].memory = SIZE;
    }
    return launch;
}

/* Arguments from `first` on are ints. */
static void set_scalars(struct launch *launch, unsigned first)
{
    for (unsigned i = first; i < 4; i++) {
        launch->values[i] = (struct tsl_argument_value){.value = &launch->scalars[i], .size = sizeof(int32_t)};
        launch->memories[i] = (struct tsl_cut_memory){0};
    }
}

static unsigned dimension_of(struct launch *launch)
{
    return tsl_cut_dimension(&bed.footprint, &launch->window, launch->values, launch->memories, &launch->verdict);
}

static void assert_why(const struct launch *launch, enum tsl_cut_why why, uint32_t argument, uint32_t access)
{
    assert_int_equal(launch->verdict.why, why);
    assert_int_equal(launch->verdict.argument, argument);
    assert_int_equal(launch->verdict.access, access);
}

static uint32_t gid(unsigned d)
{
    return kernel_id(&bed, d);
}

static uint32_t c32(int64_t value)
{
    return bed_constant(&bed, 32, value);
}

static struct tsl_access *store(uint32_t argument, uint32_t index)
{
    return bed_access(&bed, argument, TSL_ACCESS_WRITE, 4, kernel_at(&bed, index, 4));
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void vector_add(void **state)
{
    struct launch launch = launch_of(1000, 0, 0, 0, 990);

    (void)state;
    kernel_vector_add(&bed);
    set_scalars(&launch, 3);
    assert_int_equal(dimension_of(&launch), 0);
    assert_int_equal(launch.verdict.why, TSL_CUT_OK);
    launch.window.local_size[0] = 1000;
    assert_int_equal(dimension_of(&launch), 3);
    assert_why(&launch, TSL_CUT_TOO_FEW_GROUPS, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE);
}

/* In place, too: what is read is never a reason. */
static void stencil(void **state)
{
    struct launch launch = launch_of(64, 64, 0, 64, 64);

    (void)state;
    kernel_stencil(&bed);
    set_scalars(&launch, 2);
    assert_int_equal(dimension_of(&launch), 1);
    launch.memories[1] = launch.memories[0];
    assert_int_equal(dimension_of(&launch), 1);
}

/* out[x][y]: what is contiguous in the output stays together. */
static void transpose(void **state)
{
    struct launch launch = launch_of(64, 64, 0, 64, 0);

    (void)state;
    bed_begin(&bed, 4);
    bed_access(&bed, 0, TSL_ACCESS_READ, 4, kernel_at(&bed, kernel_index(&bed, gid(1), c32(64), gid(0)), 4));
    store(1, kernel_index(&bed, gid(0), c32(64), gid(1)));
    assert_int_equal(dimension_of(&launch), 0);
}

/* out[z][y][x] and, with the planes innermost, out[y][x][z]. */
static void three_dimensions(void **state)
{
    struct launch launch = launch_of(16, 16, 8, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    store(0, kernel_index(&bed, kernel_index(&bed, gid(2), c32(16), gid(1)), c32(16), gid(0)));
    assert_int_equal(dimension_of(&launch), 2);
    bed_begin(&bed, 4);
    store(0, kernel_index(&bed, kernel_index(&bed, gid(1), c32(16), gid(0)), c32(8), gid(2)));
    assert_int_equal(dimension_of(&launch), 1);
}

/* What only the first of a dimension does isn't halved along it. */
static void one_half_idle(void **state)
{
    struct launch launch = launch_of(64, 4, 0, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    kernel_guard(&bed, store(0, gid(0)), TSL_NODE_EQ, gid(1), c32(0));
    assert_int_equal(dimension_of(&launch), 0);
}

static void per_group(void **state)
{
    struct launch launch = launch_of(64, 0, 0, 0, 0);
    uint32_t group;

    (void)state;
    bed_begin(&bed, 4);
    group = bed_as(&bed, TSL_NODE_TRUNC, 32, bed_leaf(&bed, TSL_NODE_GROUP_ID, 0));
    kernel_guard(&bed, store(0, group), TSL_NODE_EQ, bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0), bed_constant(&bed, 64, 0));
    assert_int_equal(dimension_of(&launch), 0);
}

static void histogram(void **state)
{
    struct launch launch = launch_of(64, 0, 0, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    store(0, gid(0));
    bed_access(&bed, 1, TSL_ACCESS_ATOMIC, 4, TSL_FOOTPRINT_NONE)->atomic = TSL_ATOMIC_ADD;
    assert_int_equal(dimension_of(&launch), 3);
    assert_why(&launch, TSL_CUT_ATOMICS, 1, 1);
    launch.memories[1] = (struct tsl_cut_memory){0};
    assert_int_equal(dimension_of(&launch), 0);
}

static void scatter(void **state)
{
    struct launch launch = launch_of(64, 0, 0, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    bed_access(&bed, 0, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE);
    bed_access(&bed, 1, TSL_ACCESS_WRITE, 4, TSL_FOOTPRINT_NONE);
    assert_int_equal(dimension_of(&launch), 3);
    assert_why(&launch, TSL_CUT_WRITES_UNKNOWN, 1, 1);
    launch.memories[1].may_write = false;
    assert_int_equal(dimension_of(&launch), 0);
}

/* Each item writes out[0]. Of two dimensions' reasons the one that merging serves is told. */
static void meeting(void **state)
{
    struct launch launch = launch_of(64, 8, 0, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    store(0, c32(0));
    assert_int_equal(dimension_of(&launch), 3);
    assert_why(&launch, TSL_CUT_WRITES_MEET, 0, 0);
    assert_int_equal(launch.verdict.other, 0);
    bed_begin(&bed, 4);
    store(0, gid(1));
    assert_int_equal(dimension_of(&launch), 1);
}

/* ---- Aliases ----------------------------------------------------------------------------------------------------- */

/* a[i] and b[i] are written: in one buffer, so far apart that halves meet, or don't. */
static void aliases(void **state)
{
    struct launch launch = launch_of(64, 0, 0, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    store(0, gid(0));
    store(1, gid(0));
    launch.memories[1] = launch.memories[0];
    launch.memories[1].offset = 32 * 4;
    launch.memories[1].size -= 32 * 4;
    assert_int_equal(dimension_of(&launch), 3);
    assert_int_equal(launch.verdict.why, TSL_CUT_WRITES_MEET);
    assert_int_equal(launch.verdict.argument + launch.verdict.other, 1);
    launch.memories[1].offset = 0;
    assert_int_equal(dimension_of(&launch), 0);
    launch.memories[1].offset = 64 * 4;
    assert_int_equal(dimension_of(&launch), 0);
    launch.memories[1].offset = 0;
    launch.memories[0].offset = 32 * 4;
    assert_int_equal(dimension_of(&launch), 3);
    launch.memories[1].root = &roots[1];
    assert_int_equal(dimension_of(&launch), 0);
}

/* Two sub-buffers that share nothing, one written at unknown places, are as two buffers; one that overlaps isn't. */
static void sub_buffers(void **state)
{
    struct launch launch = launch_of(64, 0, 0, 0, 0);
    struct tsl_argument_touch touches[2][4];
    const struct tsl_argument_touch *shares[2] = {touches[0], touches[1]};
    struct tsl_window windows[2];

    (void)state;
    bed_begin(&bed, 4);
    kernel_guard(&bed, bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, TSL_FOOTPRINT_NONE), TSL_NODE_EQ, gid(0), c32(3));
    store(1, gid(0));
    launch.memories[1] = (struct tsl_cut_memory){&roots[0], NULL, 1024, 1024, true, 0, false};
    launch.memories[0].size = 1024;
    tsl_cut_windows(&launch.window, 0, 2, (const uint64_t[]){8, 16}, windows);
    for (unsigned s = 0; s < 2; s++)
        tsl_footprint_evaluate(&bed.footprint, &windows[s], launch.values, touches[s]);
    assert_true(tsl_cut_shares(&bed.footprint, 2, shares, NULL, launch.memories, NULL));
    launch.memories[0].size = 1024 + 128; /* the first share's part of it */
    assert_true(tsl_cut_shares(&bed.footprint, 2, shares, NULL, launch.memories, NULL));
    launch.memories[0].size = 1024 + 129;
    assert_false(tsl_cut_shares(&bed.footprint, 2, shares, NULL, launch.memories, &launch.verdict));
    assert_why(&launch, TSL_CUT_WRITES_UNKNOWN, 0, 0);
    assert_int_equal(launch.verdict.other, 1);
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

static struct tsl_access *write_image(uint32_t argument, uint32_t x, uint32_t y)
{
    struct tsl_access *access = bed_access(&bed, argument, TSL_ACCESS_WRITE, 0, TSL_FOOTPRINT_NONE);

    access->flags = TSL_ACCESS_IMAGE;
    access->narrow = 0;
    access->address[0] = x;
    access->address[1] = y;
    return access;
}

static void images(void **state)
{
    struct launch launch = launch_of(64, 64, 0, 0, 0);
    uint32_t x, y;

    (void)state;
    bed_begin(&bed, 4);
    x = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0);
    y = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1);
    write_image(0, x, y);
    launch.memories[0].image = &roots[0];
    assert_int_equal(dimension_of(&launch), 1);
    /* A second view of one image; and bytes of the buffer behind it. */
    write_image(1, bed_two(&bed, TSL_NODE_ADD, x, bed_constant(&bed, 64, 64)), y);
    launch.memories[1] = launch.memories[0];
    assert_int_equal(dimension_of(&launch), 1);
    launch.memories[1].image = &roots[1];
    assert_int_equal(dimension_of(&launch), 3);
    bed_begin(&bed, 4);
    write_image(0, bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 1), bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0));
    assert_int_equal(dimension_of(&launch), 0);
    bed_begin(&bed, 4);
    write_image(0, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE);
    assert_int_equal(dimension_of(&launch), 3);
    assert_why(&launch, TSL_CUT_WRITES_UNKNOWN, 0, 0);
}

/* ---- Many shares ------------------------------------------------------------------------------------------------- */

/* Columns of 7 shares, whose hulls all meet; then one share runs a group of its neighbour's, too. */
static void many_shares(void **state)
{
    struct launch launch = launch_of(64, 32, 0, 0, 0);
    struct tsl_argument_touch touches[7][4];
    const struct tsl_argument_touch *shares[7];
    struct tsl_window windows[7];
    const uint64_t ends[7] = {1, 3, 3, 8, 9, 10, 16};

    (void)state;
    bed_begin(&bed, 4);
    store(0, kernel_index(&bed, gid(1), c32(64), gid(0)));
    tsl_cut_windows(&launch.window, 0, 7, ends, windows);
    for (unsigned s = 0; s < 7; s++) {
        shares[s] = touches[s];
        assert_false(windows[s].whole);
        assert_int_equal(windows[s].group_begin[0], s ? ends[s - 1] : 0);
        assert_int_equal(windows[s].group_count[0], ends[s] - (s ? ends[s - 1] : 0));
        assert_int_equal(windows[s].group_begin[1], 0);
        assert_int_equal(windows[s].group_count[1], 16);
        assert_int_equal(windows[s].group_count[2], 1);
        tsl_footprint_evaluate(&bed.footprint, &windows[s], launch.values, touches[s]);
    }
    assert_false(touches[2][0].writes);
    assert_true(tsl_cut_shares(&bed.footprint, 7, shares, NULL, launch.memories, &launch.verdict));
    assert_int_equal(launch.verdict.why, TSL_CUT_OK);
    windows[4].group_count[0]++;
    tsl_footprint_evaluate(&bed.footprint, &windows[4], launch.values, touches[4]);
    assert_false(tsl_cut_shares(&bed.footprint, 7, shares, NULL, launch.memories, &launch.verdict));
    assert_why(&launch, TSL_CUT_WRITES_MEET, 0, 0);
}

/* A part of a launch is cut as the launch is; a last group is smaller. */
static void windows_of_a_window(void **state)
{
    struct launch launch = launch_of(63, 9, 0, 0, 0);
    struct tsl_window parts[2];

    (void)state;
    assert_int_equal(tsl_cut_groups(&launch.window, 0), 16);
    assert_int_equal(tsl_cut_groups(&launch.window, 1), 5);
    assert_int_equal(tsl_cut_groups(&launch.window, 2), 1);
    tsl_cut_windows(&launch.window, 0, 2, (const uint64_t[]){6, 16}, parts);
    launch.window = parts[1];
    assert_int_equal(tsl_cut_groups(&launch.window, 0), 10);
    tsl_cut_windows(&launch.window, 0, 2, (const uint64_t[]){3, 10}, parts);
    assert_int_equal(parts[0].group_begin[0], 6);
    assert_int_equal(parts[0].group_count[0], 3);
    assert_int_equal(parts[1].group_begin[0], 9);
    assert_int_equal(parts[1].group_count[0], 7);
    assert_int_equal(parts[1].group_count[1], 5);
}

/* Backwards, so that later shares write before earlier ones. */
static void reversed(void **state)
{
    struct launch launch = launch_of(64, 0, 0, 0, 0);

    (void)state;
    bed_begin(&bed, 4);
    store(0, bed_two(&bed, TSL_NODE_SUB, c32(63), gid(0)));
    assert_int_equal(dimension_of(&launch), 0);
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

static void kernels_forbidden(void **state)
{
    static const struct {
        uint32_t flags;
        enum tsl_cut_why why;
    } all[] = {
        {0, TSL_CUT_OK},
        {TSL_FOOTPRINT_PRINTS, TSL_CUT_PRINTS},
        {TSL_FOOTPRINT_FENCES, TSL_CUT_FENCES},
        {TSL_FOOTPRINT_SPINS, TSL_CUT_SPINS},
        {TSL_FOOTPRINT_POINTERS, TSL_CUT_POINTERS},
        {TSL_FOOTPRINT_PROGRAM, TSL_CUT_PROGRAM_SCOPE},
        {TSL_FOOTPRINT_WIDE_VOLATILE, TSL_CUT_VOLATILE},
    };
    struct launch launch = launch_of(64, 0, 0, 0, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        bed_begin(&bed, 4);
        bed.footprint.flags = all[i].flags;
        assert_int_equal(tsl_cut_kernel(&bed.footprint), all[i].why);
        assert_int_equal(dimension_of(&launch), all[i].why == TSL_CUT_OK ? 0 : 3);
        assert_int_equal(launch.verdict.why, all[i].why);
    }
    assert_int_equal(tsl_cut_kernel(NULL), TSL_CUT_NO_FOOTPRINT);
    assert_int_equal(tsl_cut_dimension(NULL, &launch.window, launch.values, launch.memories, &launch.verdict), 3);
    assert_int_equal(launch.verdict.why, TSL_CUT_NO_FOOTPRINT);
}

static void assert_said(const struct tsl_cut_verdict *verdict, const char *want)
{
    static const char *const names[4] = {"in", "out", NULL, NULL};
    char text[512], few[20];

    tsl_cut_say(&bed.footprint, names, verdict, text, sizeof(text));
    assert_string_equal(text, want);
    tsl_cut_say(&bed.footprint, names, verdict, few, sizeof(few));
    assert_memory_equal(few, want, sizeof(few) - 1);
    assert_int_equal(few[sizeof(few) - 1], 0);
}

static void reasons_are_told(void **state)
{
    static char why[] = "the index is loaded from memory";

    (void)state;
    bed_begin(&bed, 4);
    *bed_access(&bed, 1, TSL_ACCESS_WRITE, 4, TSL_FOOTPRINT_NONE) = (struct tsl_access){
        .argument = 1, .kind = TSL_ACCESS_WRITE, .width = 4, .address = {TSL_FOOTPRINT_NONE}, .why = why, .line = 14};
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0))->line = 3;
    bed_access(&bed, 0, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE)->flags = TSL_ACCESS_VOLATILE;
    bed.accesses[2].line = 9;
    assert_said(&(struct tsl_cut_verdict){TSL_CUT_WRITES_UNKNOWN, 1, 1, 0},
                "argument 1 (out) is written at places that are not known before the launch (line 14: the index is "
                "loaded from memory)");
    assert_said(&(struct tsl_cut_verdict){TSL_CUT_WRITES_MEET, 0, 0, 1},
                "work-groups may write the same bytes of argument 0 (in) (line 3: at byte lid(0))");
    assert_said(&(struct tsl_cut_verdict){TSL_CUT_WRITES_MEET, 0, 2, TSL_FOOTPRINT_NONE},
                "work-groups may write the same bytes by argument 0 (in) and by argument 2, which lie in one buffer");
    assert_said(&(struct tsl_cut_verdict){TSL_CUT_VOLATILE, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE},
                "the kernel makes volatile accesses to global memory (line 9)");
    assert_said(&(struct tsl_cut_verdict){TSL_CUT_ATOMICS, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE, TSL_FOOTPRINT_NONE},
                "an argument is changed by atomic operations");
    for (int i = 0; i < TSL_N_CUT_WHYS; i++) {
        const struct tsl_cut_verdict verdict = {(enum tsl_cut_why)i, 0, 0, TSL_FOOTPRINT_NONE};
        char text[256] = "";

        tsl_cut_say(NULL, NULL, &verdict, text, sizeof(text));
        assert_true(strlen(text) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_add),       cmocka_unit_test(stencil),
        cmocka_unit_test(transpose),        cmocka_unit_test(three_dimensions),
        cmocka_unit_test(one_half_idle),    cmocka_unit_test(per_group),
        cmocka_unit_test(histogram),        cmocka_unit_test(scatter),
        cmocka_unit_test(meeting),          cmocka_unit_test(aliases),
        cmocka_unit_test(sub_buffers),      cmocka_unit_test(images),
        cmocka_unit_test(many_shares),      cmocka_unit_test(windows_of_a_window),
        cmocka_unit_test(reversed),         cmocka_unit_test(kernels_forbidden),
        cmocka_unit_test(reasons_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
