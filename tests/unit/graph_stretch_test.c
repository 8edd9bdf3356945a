/* Launches of kernels that are a loop over what is to be done: which get a work-item for each round, and how many. Seen
 * in what runs. */
/* variant: cut TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
/* variant: off TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_SPLIT=off */
#include "base/settings.h"
#include "footprint_bed.h"
#include "graph/state.h"
#include "test.h"
#include "timed.h"
#include "windows_ran.h"

#define ITEMS 256u
#define GROUP 64u
#define MANY  ((1u << 18) + 1) /* rounds */
#define FEW   1000u

static struct timed t;
static struct tsl_buffer *to, *from;

static void loop_body(const struct tsl_fake_run *run)
{
    note(run);
}

/* to[i] = from[i] for i < n */
static void name_kernel(void)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const unsigned access[] = {TSL_MAY_READ | TSL_MAY_WRITE, TSL_MAY_READ, 0};
    static struct bed bed;

    bed_begin(&bed, 3);
    uint32_t i = bed_leaf(&bed, TSL_NODE_GLOBAL_ID, 0), n = bed_as(&bed, TSL_NODE_ZEXT, 64, bed_scalar(&bed, 32, 2, 0));
    for (unsigned kind = TSL_ACCESS_READ; kind <= TSL_ACCESS_WRITE; kind++) {
        struct tsl_access *one = bed_access(&bed, kind == TSL_ACCESS_READ, (uint8_t)kind, 1, i);

        one->flags = 0;
        one->guards[one->n_guards++] = bed_two(&bed, TSL_NODE_ULT, i, n);
    }
    bed.footprint.stride = n + 1;
    bed.footprint.elements = 3;
    tsl_fake_kernel("loop", loop_body, 3, kinds, access);
    tsl_fake_kernel_traits("loop", &(struct tsl_fake_traits){.footprint = &bed.footprint});
}

static void begin(cl_device_type type, unsigned n_members)
{
    struct tsl_fake_member member = {.type = type, .gates = true};

    name_kernel();
    timed_begin(&t, (struct tsl_fake_member[]){member, member}, n_members, "kernel loop to,from,n\n", 0);
    to = timed_buffer(&t, 2 * MANY);
    from = timed_buffer(&t, 2 * MANY);
    n_ran = 0;
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&to->object);
    tsl_object_release(&from->object);
    timed_end(&t);
    return 0;
}

/* Returns how many work-items the launch has in the end. */
static size_t items_with(struct tsl_window window, struct tsl_buffer *first, struct tsl_buffer *second, uint32_t rounds)
{
    struct tsl_kernel *kernel;
    size_t sum = 0;

    assert_int_equal(tsl_kernel_create(t.program, "loop", &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &first), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 2, sizeof rounds, &rounds), CL_SUCCESS);
    n_ran = 0;
    assert_int_equal(tsl_enqueue_kernel(&(struct tsl_enqueue){.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL},
                                        kernel, &window, kernel->eligible),
                     CL_SUCCESS);
    tsl_object_release(&kernel->object);
    timed_finish(&t);
    for (unsigned i = 0; i < n_ran; i++)
        sum += (ran[i].end[0] - ran[i].first[0]) * (ran[i].end[1] - ran[i].first[1]);
    return sum;
}

static struct tsl_window window_of(size_t group)
{
    return (struct tsl_window){.work_dim = 1,
                               .global_size = {ITEMS, 1, 1},
                               .local_size = {group, group ? 1 : 0, group ? 1 : 0},
                               .whole = true};
}

static bool always(void)
{
    return tsl_split_always(tsl_settings()->split);
}

static void loops_have_an_item_for_each_round(void **state)
{
    bool cut = tsl_settings()->split != TSL_SPLIT_OFF;

    (void)state;
    begin(CL_DEVICE_TYPE_GPU, 2);
    assert_int_equal(items_with(window_of(GROUP), to, from, MANY), cut ? MANY + GROUP - 1 : ITEMS);
    assert_int_equal(items_with(window_of(0), to, from, MANY), cut ? MANY + 255 : ITEMS);
    assert_int_equal(items_with(window_of(GROUP), to, from, FEW), always() ? 1024 : ITEMS);
}

static void others_stay(void **state)
{
    struct tsl_window window = window_of(GROUP);

    (void)state;
    begin(CL_DEVICE_TYPE_GPU, 2);
    assert_int_equal(items_with(window_of(16), to, from, MANY), ITEMS);
    assert_int_equal(items_with(window, to, from, ITEMS - 1), ITEMS);
    assert_int_equal(items_with(window, to, from, (1u << 30) + 1), ITEMS);
    window = window_of(96);
    window.global_size[0] = 288;
    assert_int_equal(items_with(window, to, from, 1u << 30), 288); /* Whole groups are more. */
    window = window_of(GROUP);
    window.global_offset[0] = 8;
    assert_int_equal(items_with(window, to, from, MANY), ITEMS);
    window = window_of(GROUP);
    window.work_dim = 2;
    window.global_size[1] = 2;
    assert_int_equal(items_with(window, to, from, MANY), 2 * ITEMS);
}

/* In each round the same piece of memory is an element of both arguments, or it is another round's. */
static void arguments_of_one_memory(void **state)
{
    bool cut = tsl_settings()->split != TSL_SPLIT_OFF;
    struct tsl_buffer *later;

    (void)state;
    begin(CL_DEVICE_TYPE_GPU, 2);
    assert_int_equal(tsl_buffer_create_sub(to, 0, 128, MANY, &later), CL_SUCCESS);
    assert_int_equal(items_with(window_of(GROUP), to, to, MANY), cut ? MANY + GROUP - 1 : ITEMS);
    assert_int_equal(items_with(window_of(GROUP), later, later, MANY), cut ? MANY + GROUP - 1 : ITEMS);
    assert_int_equal(items_with(window_of(GROUP), later, to, MANY), ITEMS);
    tsl_object_release(&later->object);
}

/* One GPU takes them as they are; for a CPU memory lies better so. */
static void one_member(void **state)
{
    (void)state;
    begin(CL_DEVICE_TYPE_GPU, 1);
    assert_int_equal(items_with(window_of(GROUP), to, from, MANY), always() ? MANY + GROUP - 1 : ITEMS);
    end(NULL);
    begin(CL_DEVICE_TYPE_CPU, 1);
    assert_int_equal(items_with(window_of(GROUP), to, from, MANY), MANY + GROUP - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(loops_have_an_item_for_each_round, end),
        cmocka_unit_test_teardown(others_stay, end),
        cmocka_unit_test_teardown(arguments_of_one_memory, end),
        cmocka_unit_test_teardown(one_member, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
