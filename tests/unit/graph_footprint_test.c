/* What a launch claims of its buffers: the bytes that its kernel's footprint names. Seen in what moves and in what runs
 * at the same time, in virtual time. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "base/clock.h"
#include "footprint_bed.h"
#include "graph/state.h"
#include "test.h"
#include "timed.h"

#define SIZE 256u
#define HALF (SIZE / 2)

/* The kernels' second argument: an item for each byte from begin on. */
struct slice {
    uint32_t begin, value;
};

/* ---- Kernels ---- */

static struct slice slice_of(const struct tsl_fake_run *run)
{
    struct slice slice;

    memcpy(&slice, run->args[1].value, sizeof slice);
    return slice;
}

static void fill_body(const struct tsl_fake_run *run)
{
    struct slice slice = slice_of(run);

    memset((unsigned char *)run->args[0].ptr + slice.begin, (int)slice.value, run->end[0]);
}

static void update_body(const struct tsl_fake_run *run)
{
    struct slice slice = slice_of(run);

    for (size_t i = slice.begin; i < slice.begin + run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[i] += (unsigned char)slice.value;
}

/* The first byte alone. */
static void maybe_body(const struct tsl_fake_run *run)
{
    struct slice slice = slice_of(run);

    ((unsigned char *)run->args[0].ptr)[slice.begin] = (unsigned char)slice.value;
}

static void maybe_touch(const struct tsl_fake_run *run)
{
    tsl_fake_touch(run, 0, slice_of(run).begin, 1, true);
}

static void look_body(const struct tsl_fake_run *run)
{
    (void)run;
}

static struct tsl_access *access_slice(struct bed *bed, uint8_t kind)
{
    uint32_t begin = bed_as(bed, TSL_NODE_ZEXT, 64, bed_scalar(bed, 32, 1, 0));

    return bed_access(bed, 0, kind, 1, bed_two(bed, TSL_NODE_ADD, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), begin));
}

static void name_kernel(const char *name, tsl_fake_body_fn *body, unsigned role, const struct tsl_fake_traits *traits)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};

    tsl_fake_kernel(name, body, 2, kinds, (const unsigned[]){role, 0});
    tsl_fake_kernel_traits(name, traits);
}

/* fill: surely; update: reads, too; maybe: it may; look: reads; unknown: as fill, without footprint. */
static void name_kernels(void)
{
    static struct bed beds[4];

    for (unsigned i = 0; i < 4; i++)
        bed_begin(&beds[i], 2);
    access_slice(&beds[0], TSL_ACCESS_WRITE);
    access_slice(&beds[1], TSL_ACCESS_READ);
    access_slice(&beds[1], TSL_ACCESS_WRITE);
    access_slice(&beds[2], TSL_ACCESS_WRITE)->flags = 0;
    access_slice(&beds[3], TSL_ACCESS_READ);
    name_kernel("fill", fill_body, TSL_MAY_WRITE, &(struct tsl_fake_traits){.footprint = &beds[0].footprint});
    name_kernel("update", update_body, TSL_MAY_READ | TSL_MAY_WRITE,
                &(struct tsl_fake_traits){.footprint = &beds[1].footprint});
    name_kernel("maybe", maybe_body, TSL_MAY_WRITE,
                &(struct tsl_fake_traits){.footprint = &beds[2].footprint, .touch = maybe_touch});
    name_kernel("look", look_body, TSL_MAY_READ, &(struct tsl_fake_traits){.footprint = &beds[3].footprint});
    name_kernel("unknown", fill_body, TSL_MAY_WRITE, NULL);
}

/* ---- The machine ---- */

static struct timed t;
static struct tsl_queue *queues[2]; /* in order */
static struct tsl_buffer *buffer;   /* of zeros */

static void begin(unsigned n_members, unsigned n_queues)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .side_by_side = true};
    static const char *const text = "kernel fill a,s\nkernel update a,s\nkernel maybe a,s\nkernel look a,s\n"
                                    "kernel unknown a,s\n";

    name_kernels();
    timed_begin(&t, (struct tsl_fake_member[]){member, member}, n_members, text, 0);
    queues[0] = t.queue;
    queues[1] = NULL;
    if (n_queues > 1)
        assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &queues[1]), CL_SUCCESS);
    buffer = timed_buffer(&t, SIZE);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&buffer->object);
    if (queues[1]) {
        tsl_queue_let_go(queues[1]);
        tsl_object_release(&queues[1]->object);
    }
    timed_end(&t);
    return 0;
}

static struct tsl_kernel *make_kernel(const char *name)
{
    struct tsl_kernel *kernel;

    assert_int_equal(tsl_kernel_create(t.program, name, &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    return kernel;
}

static void launch_kernel(unsigned queue, struct tsl_kernel *kernel, unsigned member, size_t from, size_t size,
                          uint32_t value)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {size, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queues[queue], .type = CL_COMMAND_NDRANGE_KERNEL};
    struct slice slice = {(uint32_t)from, value};

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof slice, &slice), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, 1u << member), CL_SUCCESS);
}

static void launch(unsigned queue, const char *name, unsigned member, size_t from, size_t size, uint32_t value)
{
    struct tsl_kernel *kernel = make_kernel(name);

    launch_kernel(queue, kernel, member, from, size, value);
    tsl_object_release(&kernel->object);
}

static cl_int finish(void)
{
    cl_int error = CL_SUCCESS;

    for (unsigned i = 0; i < 2 && queues[i]; i++)
        assert_int_equal(tsl_queue_flush(queues[i]), CL_SUCCESS);
    for (unsigned i = 0; i < 2 && queues[i]; i++) {
        cl_int e = tsl_queue_finish(queues[i]);

        error = error ? error : e;
    }
    return error;
}

static void assert_bytes(size_t from, size_t size, unsigned char value)
{
    timed_assert_bytes(queues[0], buffer, from, size, value);
}

/* Bytes that went to members, and back, since the last call. */
static void assert_moved(uint64_t up, uint64_t down)
{
    assert_int_equal(finish(), CL_SUCCESS);
    timed_assert_moved(&t, up, down);
}

/* Did the first two launches that ended run at the same time? */
static bool overlapped(void)
{
    struct tsl_fake_record a, b;
    bool both;

    assert_int_equal(finish(), CL_SUCCESS);
    both = timed_run(0, &a) && timed_run(1, &b);
    assert_true(both);
    return a.start_ns < b.end_ns && b.start_ns < a.end_ns;
}

/* ---- What runs at the same time ---- */

static bool halves_overlap(const char *kernel, unsigned n_members, size_t first_size)
{
    bool did;

    begin(n_members, 2);
    launch(0, kernel, 0, 0, first_size, 1);
    launch(1, kernel, n_members - 1, HALF, HALF, 2);
    did = overlapped();
    assert_bytes(0, HALF, 1);
    assert_bytes(HALF + 1, HALF - 1, 2);
    end(NULL);
    return did;
}

static void test_halves(void **state)
{
    (void)state;
    for (unsigned n_members = 1; n_members <= 2; n_members++) {
        assert_true(halves_overlap("fill", n_members, HALF));
        assert_true(halves_overlap("update", n_members, HALF));
        assert_false(halves_overlap("unknown", n_members, HALF));
    }
}

/* One byte is enough. Members that only overwrite it have a copy each. */
static void test_ranges_that_meet(void **state)
{
    (void)state;
    assert_false(halves_overlap("fill", 1, HALF + 1));
    assert_true(halves_overlap("fill", 2, HALF + 1));
    assert_false(halves_overlap("update", 1, HALF + 1));
    assert_false(halves_overlap("update", 2, HALF + 1));
}

/* ---- What moves ---- */

static void test_overwritten(void **state)
{
    (void)state;
    begin(2, 1);
    launch(0, "fill", 0, 0, SIZE, 3);
    assert_moved(0, 0);
    launch(0, "fill", 1, HALF, HALF, 4);
    assert_moved(0, 0);
    assert_bytes(0, HALF, 3);
    assert_bytes(HALF, HALF, 4);
    assert_moved(0, SIZE);
}

static void test_read_half(void **state)
{
    (void)state;
    begin(2, 1);
    launch(0, "look", 0, HALF, HALF, 0);
    assert_moved(HALF, 0);
    launch(0, "look", 0, HALF + 8, 8, 0);
    assert_moved(0, 0);
    launch(0, "look", 0, 0, SIZE, 0);
    assert_moved(HALF, 0);
}

static void test_maybe(void **state)
{
    (void)state;
    begin(2, 1);
    launch(0, "maybe", 0, 16, 32, 5);
    assert_moved(32, 0);
    assert_bytes(17, SIZE - 17, 0);
    assert_bytes(16, 1, 5);
}

/* ---- Failures ---- */

static void test_failed_beside(void **state)
{
    (void)state;
    for (unsigned refused = 0; refused < 2; refused++) {
        begin(2, 1);
        launch(0, "fill", 0, 0, SIZE, 6);
        assert_moved(0, 0);
        if (refused)
            tsl_fake_fail_call(1, TSL_FAKE_LAUNCH, 1, -9001);
        else
            tsl_fake_fail_work(1, TSL_FAKE_LAUNCH, 1, -9001);
        launch(0, "fill", 1, HALF, HALF, 7);
        assert_int_equal(finish(), -9001);
        assert_bytes(0, HALF, 6);
        end(NULL);
    }
}

/* What is read and overwritten is there yet when the launch never ran; so it is after another that never ran. */
static void test_refused_in_place(void **state)
{
    (void)state;
    begin(2, 1);
    launch(0, "fill", 0, 0, SIZE, 8);
    assert_moved(0, 0);
    tsl_fake_fail_call(1, TSL_FAKE_LAUNCH, 1, -9002);
    launch(0, "update", 1, 0, HALF, 1);
    launch(0, "update", 0, 0, HALF, 1);
    assert_int_equal(finish(), -9002);
    assert_bytes(0, SIZE, 8);
    end(NULL);
}

/* ---- Where nothing could run beside it ---- */

static void test_alone(void **state)
{
    struct tsl_kernel *fill;
    uint64_t n_before;

    (void)state;
    begin(1, 1);
    fill = make_kernel("fill");
    launch_kernel(0, fill, 0, 0, HALF, 1);
    assert_moved(SIZE, 0);
    launch_kernel(0, fill, 0, 0, HALF, 1); /* There is nothing to go back to. */
    n_before = t.context->graph->n_ops;
    for (unsigned i = 0; i < 100; i++)
        launch_kernel(0, fill, 0, i, HALF, i);
    assert_true(t.context->graph->n_ops - n_before < 100 / 16);
    assert_null(fill->parts[0].footprints);
    assert_moved(0, 0);
    assert_bytes(99, HALF, 99);
    tsl_object_release(&fill->object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_ranges_that_meet),
        cmocka_unit_test_teardown(test_overwritten, end),
        cmocka_unit_test_teardown(test_read_half, end),
        cmocka_unit_test_teardown(test_maybe, end),
        cmocka_unit_test(test_failed_beside),
        cmocka_unit_test(test_refused_in_place),
        cmocka_unit_test_teardown(test_alone, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
