/* When the copies of shares that may write the same memory can become one, and how: footprints made by hand. */
#include "footprint/joint.h"
#include "footprint_kernels.h"
#include "test.h"

#define SIZE 65536u

static struct bed bed;
static const char roots[4];

/* Two halves of a launch of 1024 work-items in groups of 64. Arguments are buffers of their own. */
struct launch {
    struct tsl_argument_value values[4];
    struct tsl_cut_memory memories[4];
    struct tsl_argument_touch touches[2][4];
    const struct tsl_argument_touch *shares[2];
    struct tsl_joint joint;
    struct tsl_cut_verdict verdict;
};

static struct launch launch_of(void)
{
    struct launch launch = {.joint = {.root = NULL}};

    for (unsigned i = 0; i < 4; i++) {
        launch.memories[i] = (struct tsl_cut_memory){&roots[i], NULL, 0, SIZE, true, 0, false};
        launch.values[i].memory = SIZE;
    }
    return launch;
}

static bool find(struct launch *launch, uint32_t argument)
{
    const struct tsl_window whole = {
        .work_dim = 1, .global_size = {1024, 1, 1}, .local_size = {64, 1, 1}, .whole = true};
    const uint64_t ends[2] = {8, 16};
    struct tsl_window halves[2];

    tsl_cut_windows(&whole, 0, 2, ends, halves);
    for (unsigned s = 0; s < 2; s++) {
        tsl_footprint_evaluate(&bed.footprint, &halves[s], launch->values, launch->touches[s]);
        launch->shares[s] = launch->touches[s];
    }
    return tsl_joint_find(&bed.footprint, 2, launch->shares, launch->memories, &roots[argument], &launch->joint,
                          &launch->verdict);
}

static void assert_range(const struct launch *launch, uint64_t begin, uint64_t end)
{
    assert_int_equal(launch->joint.begin, begin);
    assert_int_equal(launch->joint.end, end);
}

/* A store of `width` bytes somewhere in the argument. */
static struct tsl_access *scatter(uint32_t argument, uint32_t width)
{
    return bed_access(&bed, argument, TSL_ACCESS_WRITE, width, TSL_FOOTPRINT_NONE);
}

static struct tsl_access *atomic(uint32_t argument, uint8_t operation, uint32_t width)
{
    struct tsl_access *access = bed_access(&bed, argument, TSL_ACCESS_ATOMIC, width, TSL_FOOTPRINT_NONE);

    access->atomic = operation;
    return access;
}

/* ---- Merge ------------------------------------------------------------------------------------------------------- */

static void a_scatter_is_merged(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    scatter(1, 4);
    assert_true(find(&launch, 1));
    assert_false(launch.joint.reduce);
    assert_int_equal(launch.joint.width, 4);
    assert_range(&launch, 0, SIZE);
    assert_int_equal(launch.joint.touched_begin, 0);
    assert_int_equal(launch.joint.touched_end, SIZE);
    assert_true(tsl_joint_may_need(&bed.footprint));
}

/* One flag that all set: its element alone is written, what is read beside it is touched. */
static void a_flag_is_merged(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 4, bed_constant(&bed, 64, 40));
    bed_access(&bed, 0, TSL_ACCESS_READ, 4, bed_constant(&bed, 64, 100));
    assert_true(find(&launch, 0));
    assert_range(&launch, 40, 44);
    assert_int_equal(launch.joint.touched_begin, 40);
    assert_int_equal(launch.joint.touched_end, 104);
    assert_true(tsl_joint_may_need(&bed.footprint));
}

static void elements_are_those_of_the_narrowest_store(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    scatter(1, 8);
    scatter(2, 2);
    launch.memories[2].root = launch.memories[1].root; /* the same buffer */
    assert_true(find(&launch, 1));
    assert_int_equal(launch.joint.width, 2);
    bed.accesses[0].narrow = 12; /* three ints at once are no element */
    bed.accesses[1].narrow = 8;
    assert_true(find(&launch, 1));
    assert_int_equal(launch.joint.width, 4);
    bed.accesses[1].narrow = 16;
    bed.accesses[0].narrow = 16;
    assert_true(find(&launch, 1));
    assert_int_equal(launch.joint.width, 8);
}

static void what_is_no_whole_element_stays(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    scatter(1, 8);
    launch.memories[1].size = launch.values[1].memory = 1003;
    assert_true(find(&launch, 1));
    assert_range(&launch, 0, 1000);
}

static void parts_of_a_buffer_are_joined_together(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    scatter(1, 4);
    scatter(2, 4);
    launch.memories[1] = (struct tsl_cut_memory){&roots[0], NULL, 256, 512, true, 0, false};
    launch.memories[2] = (struct tsl_cut_memory){&roots[0], NULL, 4096, 128, true, 0, false};
    launch.values[1].memory = 512;
    launch.values[2].memory = 128;
    assert_true(find(&launch, 0));
    assert_range(&launch, 256, 4224);
}

/* Some programs' kernels go on from one part to the next, so what is unknown may lie there. */
static void beyond_a_part_the_buffer_goes_on(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    scatter(1, 4);
    launch.memories[1] = (struct tsl_cut_memory){&roots[0], NULL, 256, 512, true, 8192, false};
    launch.values[1].memory = 512;
    assert_true(find(&launch, 0));
    assert_range(&launch, 0, 8192);
    bed_begin(&bed, 4);
    bed_access(&bed, 1, TSL_ACCESS_WRITE, 4, bed_constant(&bed, 64, 40));
    assert_true(find(&launch, 0));
    assert_range(&launch, 296, 300);
}

static void images_are_not_merged(void **state)
{
    struct launch launch = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    scatter(1, 4);
    launch.memories[1].image = &roots[3];
    assert_false(find(&launch, 1));
    assert_int_equal(launch.verdict.why, TSL_CUT_WRITES_UNKNOWN);
}

/* ---- Reduce ------------------------------------------------------------------------------------------------------ */

static void a_histogram_is_reduced(void **state)
{
    static const struct {
        uint8_t operation;
        uint64_t neutral[2];
    } all[] = {
        {TSL_ATOMIC_ADD, {0, 0}},
        {TSL_ATOMIC_OR, {0, 0}},
        {TSL_ATOMIC_XOR, {0, 0}},
        {TSL_ATOMIC_UMAX, {0, 0}},
        {TSL_ATOMIC_AND, {UINT32_MAX, UINT64_MAX}},
        {TSL_ATOMIC_UMIN, {UINT32_MAX, UINT64_MAX}},
        {TSL_ATOMIC_SMIN, {INT32_MAX, INT64_MAX}},
        {TSL_ATOMIC_SMAX, {(uint32_t)INT32_MIN, (uint64_t)INT64_MIN}},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (unsigned wide = 0; wide < 2; wide++) {
            struct launch launch = launch_of();

            bed_begin(&bed, 4);
            atomic(1, all[i].operation, wide ? 8 : 4);
            bed_access(&bed, 0, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE);
            assert_true(find(&launch, 1));
            assert_true(launch.joint.reduce);
            assert_int_equal(launch.joint.width, wide ? 8 : 4);
            assert_int_equal(launch.joint.atomic, all[i].operation);
            assert_range(&launch, 0, SIZE);
            assert_true(tsl_joint_neutral(&launch.joint) == all[i].neutral[wide]);
            assert_true(tsl_joint_may_need(&bed.footprint));
        }
}

static void assert_not_reduced(struct launch launch, enum tsl_cut_why why)
{
    assert_false(find(&launch, 1));
    assert_int_equal(launch.verdict.why, why);
    assert_int_equal(launch.verdict.argument, 1);
    assert_int_equal(launch.verdict.access, 0);
}

static void atomics_that_are_not_reduced(void **state)
{
    struct launch same = launch_of();

    (void)state;
    bed_begin(&bed, 4);
    atomic(1, TSL_ATOMIC_OTHER, 4);
    assert_not_reduced(launch_of(), TSL_CUT_ATOMICS_UNLIKE);
    bed.accesses[0].atomic = TSL_ATOMIC_ADD;
    bed.accesses[0].flags = TSL_ACCESS_RESULT;
    assert_not_reduced(launch_of(), TSL_CUT_ATOMIC_RESULTS);
    bed.accesses[0].flags = 0;
    atomic(1, TSL_ATOMIC_XOR, 4);
    assert_not_reduced(launch_of(), TSL_CUT_ATOMICS_UNLIKE);
    bed.accesses[1].atomic = TSL_ATOMIC_ADD;
    bed.accesses[1].width = 8;
    assert_not_reduced(launch_of(), TSL_CUT_ATOMICS_UNLIKE);
    bed_begin(&bed, 4);
    atomic(1, TSL_ATOMIC_ADD, 4);
    bed_access(&bed, 1, TSL_ACCESS_READ, 4, TSL_FOOTPRINT_NONE);
    assert_not_reduced(launch_of(), TSL_CUT_ATOMICS_AND_OTHERS);
    bed.accesses[1].argument = 2; /* which is the same buffer */
    same.memories[2].root = same.memories[1].root;
    assert_false(find(&same, 1));
    assert_int_equal(same.verdict.why, TSL_CUT_ATOMICS_AND_OTHERS);
}

/* ---- Before any launch ------------------------------------------------------------------------------------------- */

static void what_ids_say_needs_no_joint(void **state)
{
    (void)state;
    kernel_vector_add(&bed);
    assert_false(tsl_joint_may_need(&bed.footprint));
    assert_false(tsl_joint_may_need(NULL));
    scatter(2, 4);
    assert_true(tsl_joint_may_need(&bed.footprint));
    bed.footprint.flags = TSL_FOOTPRINT_FENCES;
    assert_false(tsl_joint_may_need(&bed.footprint));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scatter_is_merged),
        cmocka_unit_test(a_flag_is_merged),
        cmocka_unit_test(elements_are_those_of_the_narrowest_store),
        cmocka_unit_test(what_is_no_whole_element_stays),
        cmocka_unit_test(parts_of_a_buffer_are_joined_together),
        cmocka_unit_test(beyond_a_part_the_buffer_goes_on),
        cmocka_unit_test(images_are_not_merged),
        cmocka_unit_test(a_histogram_is_reduced),
        cmocka_unit_test(atomics_that_are_not_reduced),
        cmocka_unit_test(what_ids_say_needs_no_joint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
