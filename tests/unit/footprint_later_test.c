/* Shares that surely overwrite each other's bytes: which may run on copies of their own, by hand and by chance, beside
 * the bytes one by one. */
#include "footprint/cut_later.h"
#include "footprint_kernels.h"
#include "test.h"

#define SIZE   4096u
#define SHARES 4u

static const char roots[2];
static struct bed bed;

static uint64_t state = 88172645463325252u;

static unsigned chance(unsigned n)
{
    return (unsigned)(bed_chance(&state) % n);
}

/* ---- By hand ----------------------------------------------------------------------------------------------------- */

/* Two buffers, of which each share has a copy for itself; arguments 2 and 3 are nothing. */
struct launch {
    struct tsl_window window;
    struct tsl_argument_value values[4];
    struct tsl_cut_memory memories[4];
};

static struct launch launch_of(size_t x, size_t y)
{
    struct launch launch = {
        .window = {.work_dim = y ? 2 : 1, .global_size = {x, y ? y : 1, 1}, .local_size = {8, 1, 1}, .whole = true}};

    for (unsigned i = 0; i < 2; i++) {
        launch.memories[i] = (struct tsl_cut_memory){.root = &roots[i], .size = SIZE, .may_write = true, .own = true};
        launch.values[i].memory = SIZE;
    }
    return launch;
}

static unsigned dimension_of(const struct launch *launch)
{
    assert_int_equal(tsl_cut_dimension(&bed.footprint, &launch->window, launch->values, launch->memories, NULL), 3);
    return tsl_cut_later_dimension(&bed.footprint, &launch->window, launch->values, launch->memories);
}

static uint32_t id(unsigned d)
{
    return bed_leaf(&bed, TSL_NODE_GLOBAL_ID, d);
}

static uint32_t number(int64_t n)
{
    return bed_constant(&bed, 64, n);
}

/* Item (x, y) writes byte y * pitch + x of the argument. */
static struct tsl_access *row(uint32_t argument, int64_t pitch)
{
    return bed_access(&bed, argument, TSL_ACCESS_WRITE, 1, kernel_index(&bed, id(1), number(pitch), id(0)));
}

/* The first item of each group writes the byte with the group's number. */
static struct tsl_access *result(uint32_t argument, int64_t n_groups)
{
    uint32_t group = kernel_index(&bed, bed_leaf(&bed, TSL_NODE_GROUP_ID, 1), number(n_groups),
                                  bed_leaf(&bed, TSL_NODE_GROUP_ID, 0));
    struct tsl_access *access = bed_access(&bed, argument, TSL_ACCESS_WRITE, 1, group);

    kernel_guard(&bed, access, TSL_NODE_EQ, bed_leaf(&bed, TSL_NODE_LOCAL_ID, 0), number(0));
    return access;
}

/* Rows are launched wider than they are. */
static void surplus_items(void **unused)
{
    struct launch launch = launch_of(32, 64);

    (void)unused;
    bed_begin(&bed, 4);
    row(0, 29);
    assert_int_equal(dimension_of(&launch), 1);
    launch.memories[0].own = false;
    assert_int_equal(dimension_of(&launch), 3);
}

/* ... and then each group leaves a result where others have stored. */
static void results_of_groups(void **unused)
{
    struct launch launch = launch_of(32, 64);

    (void)unused;
    bed_begin(&bed, 4);
    row(0, 29);
    result(0, 4);
    assert_int_equal(dimension_of(&launch), 1);
    launch.window.work_dim = 1;
    launch.window.global_size[1] = 1;
    bed_begin(&bed, 4);
    row(0, 0);
    result(0, 0);
    assert_int_equal(dimension_of(&launch), 0);
}

/* Two arguments of one buffer are as one; of two buffers nothing meets. */
static void two_arguments(void **unused)
{
    struct launch launch = launch_of(64, 0);

    (void)unused;
    bed_begin(&bed, 4);
    row(0, 0);
    result(1, 0);
    launch.memories[1].root = launch.memories[0].root;
    assert_int_equal(dimension_of(&launch), 0);
    launch.memories[1].own = false;
    assert_int_equal(dimension_of(&launch), 3);
}

/* The first dimension counts fastest, so shares along it are in no order; and only a dimension with groups counts. */
static void order(void **unused)
{
    struct launch launch = launch_of(64, 8);

    (void)unused;
    bed_begin(&bed, 4);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 12, kernel_index(&bed, id(1), number(1024), id(0)));
    assert_int_equal(tsl_cut_dimension(&bed.footprint, &launch.window, launch.values, launch.memories, NULL), 1);
    assert_false(tsl_cut_later_has_order(&launch.window, 0));
    assert_true(tsl_cut_later_has_order(&launch.window, 1));
    assert_true(tsl_cut_later_has_order(&launch.window, 2));
    launch.window.local_size[1] = 8;
    assert_true(tsl_cut_later_has_order(&launch.window, 0));
    assert_int_equal(dimension_of(&launch), 0);
    launch.window.global_size[1] = 1;
    assert_int_equal(dimension_of(&launch), 0);
    launch.window.global_size[0] = 8;
    assert_int_equal(dimension_of(&launch), 3);
}

static void refusals(void **unused)
{
    struct launch launch = launch_of(32, 64);

    (void)unused;
    bed_begin(&bed, 4);
    row(0, 29)->flags = 0;
    assert_int_equal(dimension_of(&launch), 3); /* Each item may leave its byte. */
    bed_begin(&bed, 4);
    row(0, 29);
    bed_access(&bed, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE);
    assert_int_equal(dimension_of(&launch), 3);
    bed_begin(&bed, 4);
    row(0, 29);
    bed_access(&bed, 1, TSL_ACCESS_ATOMIC, 4, number(0))->atomic = TSL_ATOMIC_ADD;
    assert_int_equal(dimension_of(&launch), 3);
    bed_begin(&bed, 4);
    row(0, 29);
    launch.memories[0].image = &roots[0];
    assert_int_equal(tsl_cut_later_dimension(&bed.footprint, &launch.window, launch.values, launch.memories), 3);
    launch.memories[0].image = NULL;
    bed.footprint.flags = TSL_FOOTPRINT_SPINS;
    assert_int_equal(dimension_of(&launch), 3);
    assert_int_equal(tsl_cut_later_dimension(NULL, &launch.window, launch.values, launch.memories), 3);
}

/* The first share may write anywhere: what the others surely write is theirs. Not the other way round. */
static void only_the_first_unknown(void **unused)
{
    static struct tsl_argument_touch touches[2][4];
    const struct tsl_argument_touch *shares[2] = {touches[0], touches[1]};
    const struct launch launch = launch_of(64, 0);
    const struct tsl_byte_box box = {.offset = 100, .width = 8, .count = {1, 1}};

    (void)unused;
    bed_begin(&bed, 4);
    memset(touches, 0, sizeof(touches));
    touches[0][0].writes = touches[0][0].write.unknown = touches[1][0].writes = true;
    tsl_byte_set_add(&touches[1][0].write, &box, false);
    assert_false(tsl_cut_later_wins(&bed.footprint, 2, shares, launch.memories));
    tsl_byte_set_add(&touches[1][0].sure, &box, true);
    assert_true(tsl_cut_later_wins(&bed.footprint, 2, shares, launch.memories));
    shares[0] = touches[1];
    shares[1] = touches[0];
    assert_false(tsl_cut_later_wins(&bed.footprint, 2, shares, launch.memories));
}

/* ---- By chance --------------------------------------------------------------------------------------------------- */

enum { ROOT = 512, ARGUMENTS = 2 };

static struct tsl_argument_touch touches[SHARES][ARGUMENTS];
static uint8_t may[SHARES][ROOT], sure[SHARES][ROOT]; /* bytes of the one root */

static void add_random_box(struct tsl_argument_touch *touch, unsigned near, bool surely)
{
    struct tsl_byte_box box = {.offset = near + chance(24), .width = 1 + chance(16), .count = {1, 1}};

    if (chance(3) == 0) {
        box.count[0] = 2 + chance(4);
        box.stride[0] = box.width + chance(8);
    }
    tsl_byte_set_add(&touch->write, &box, false);
    if (surely)
        tsl_byte_set_add(&touch->sure, &box, true);
}

static void mark(const struct tsl_byte_set *set, unsigned offset, uint8_t *bytes)
{
    uint8_t own[ROOT];

    bed_mark(set, own, ROOT);
    for (unsigned at = 0; at + offset < ROOT; at++)
        bytes[at + offset] |= own[at];
}

static void make_shares(unsigned n, const struct tsl_cut_memory *memories)
{
    unsigned unsure = chance(4);

    memset(touches, 0, sizeof(touches));
    memset(may, 0, sizeof(may));
    memset(sure, 0, sizeof(sure));
    for (unsigned s = 0; s < n; s++) {
        for (unsigned i = 0; i < ARGUMENTS; i++) {
            struct tsl_argument_touch *touch = &touches[s][i];
            unsigned boxes = i ? chance(3) : 1 + chance(5);

            touch->writes = boxes > 0;
            for (unsigned k = 0; k < boxes; k++)
                add_random_box(touch, s * (8 + chance(64)), unsure == 0 || chance(8));
            mark(&touch->write, (unsigned)memories[i].offset, may[s]);
            mark(&touch->sure, (unsigned)memories[i].offset, sure[s]);
        }
    }
}

static bool meet(unsigned s, unsigned t)
{
    for (unsigned at = 0; at < ROOT; at++)
        if (may[s][at] && may[t][at])
            return true;
    return false;
}

/* A run: each share writes what is sure, and some of what may be. Each byte is taken from the last share that may have
 * written it, whose copy has the old byte where it hasn't. One after the other on one copy it must be the same. */
static void run(unsigned n)
{
    for (unsigned at = 0; at < ROOT; at++) {
        unsigned in_order = 0, together = 0;

        for (unsigned s = 0; s < n; s++) {
            const bool does = sure[s][at] || (may[s][at] && chance(2));

            in_order = does ? s + 1 : in_order;
            if (may[s][at])
                together = does ? s + 1 : 0;
        }
        assert_int_equal(together, in_order);
    }
}

static void random_shares(void **unused)
{
    unsigned n_allowed = 0, n_meeting = 0;

    (void)unused;
    bed_begin(&bed, ARGUMENTS);
    for (unsigned i = 0; i < 20000; i++) {
        const struct tsl_cut_memory memories[ARGUMENTS] = {
            {.root = &roots[0], .size = ROOT, .may_write = true, .own = true},
            {.root = &roots[0], .offset = chance(40), .size = ROOT - 40, .may_write = true, .own = true}};
        const struct tsl_argument_touch *shares[SHARES] = {touches[0], touches[1], touches[2], touches[3]};
        const unsigned n = 2 + chance(SHARES - 1);

        make_shares(n, memories);
        if (!tsl_cut_later_wins(&bed.footprint, n, shares, memories))
            continue;
        n_allowed++;
        n_meeting += meet(0, 1);
        for (unsigned k = 0; k < 4; k++)
            run(n);
    }
    assert_true(n_allowed > 2000);
    assert_true(n_meeting > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surplus_items), cmocka_unit_test(results_of_groups), cmocka_unit_test(two_arguments),
        cmocka_unit_test(order),         cmocka_unit_test(refusals),          cmocka_unit_test(only_the_first_unknown),
        cmocka_unit_test(random_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
