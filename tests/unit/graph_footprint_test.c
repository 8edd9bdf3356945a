/* What a launch claims of its buffers: the bytes that its kernel's footprint names. Seen in what moves and in what runs
 * at the same time, in virtual time. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "base/clock.h"
#include "footprint_bed.h"
#include "graph/state.h"
#include "graph/touch.h"
#include "test.h"
#include "timed.h"

#define SIZE 256u
#define HALF (SIZE / 2)

#define SIDE     48u /* of the matrix, in bytes: more rows than are claimed one by one */
#define N_QUEUES 5u

/* The kernels' second argument: an item for each byte from begin on, those of the second dimension `pitch` further. */
struct slice {
    uint32_t begin, value, pitch;
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

static void first_body(const struct tsl_fake_run *run)
{
    memset(run->args[0].ptr, (int)slice_of(run).value, run->end[0]);
}

static void box_body(const struct tsl_fake_run *run)
{
    struct slice slice = slice_of(run);

    for (size_t y = 0; y < run->end[1]; y++)
        for (size_t x = 0; x < run->end[0]; x++)
            ((unsigned char *)run->args[0].ptr)[slice.begin + y * slice.pitch + x] += (unsigned char)slice.value;
}

static uint32_t slice_word(struct bed *bed, size_t offset)
{
    return bed_as(bed, TSL_NODE_ZEXT, 64, bed_scalar(bed, 32, 1, (uint32_t)offset));
}

static struct tsl_access *access_slice(struct bed *bed, uint8_t kind)
{
    uint32_t begin = slice_word(bed, offsetof(struct slice, begin));

    return bed_access(bed, 0, kind, 1, bed_two(bed, TSL_NODE_ADD, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), begin));
}

static void access_box(struct bed *bed, uint8_t kind)
{
    struct tsl_access *access = access_slice(bed, kind);
    uint32_t pitch = slice_word(bed, offsetof(struct slice, pitch));
    uint32_t row = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 1), pitch);

    access->address[0] = bed_two(bed, TSL_NODE_ADD, access->address[0], row);
}

static void name_kernel(const char *name, tsl_fake_body_fn *body, unsigned role, const struct tsl_fake_traits *traits)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};

    tsl_fake_kernel(name, body, 2, kinds, (const unsigned[]){role, 0});
    tsl_fake_kernel_traits(name, traits);
}

/* fill: surely; update: reads, too; maybe: it may; look: reads; unknown: as fill, without footprint; box: as update, in
 * rows; below: reads rows and, for each of these, the first row; first: reads rows, and surely writes the first bytes.
 */
static void name_kernels(void)
{
    static struct bed beds[7];

    for (unsigned i = 0; i < 7; i++)
        bed_begin(&beds[i], 2);
    access_box(&beds[6], TSL_ACCESS_READ);
    bed_access(&beds[6], 0, TSL_ACCESS_WRITE, 1, bed_leaf(&beds[6], TSL_NODE_GLOBAL_ID, 0));
    name_kernel("first", first_body, TSL_MAY_READ | TSL_MAY_WRITE,
                &(struct tsl_fake_traits){.footprint = &beds[6].footprint});
    access_box(&beds[5], TSL_ACCESS_READ);
    bed_access(&beds[5], 0, TSL_ACCESS_READ, 1, bed_leaf(&beds[5], TSL_NODE_GLOBAL_ID, 0));
    name_kernel("below", look_body, TSL_MAY_READ, &(struct tsl_fake_traits){.footprint = &beds[5].footprint});
    access_box(&beds[4], TSL_ACCESS_READ);
    access_box(&beds[4], TSL_ACCESS_WRITE);
    name_kernel("box", box_body, TSL_MAY_READ | TSL_MAY_WRITE,
                &(struct tsl_fake_traits){.footprint = &beds[4].footprint});
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
static struct tsl_queue *queues[N_QUEUES]; /* in order */
static struct tsl_buffer *buffer;          /* of zeros */
static struct tsl_event **told;            /* where the event of launches goes; NULL: they have none */

static void begin_with(unsigned n_members, unsigned n_queues, size_t size)
{
    static const struct tsl_fake_member member = {
        .item_ns = 1000, .gates = true, .side_by_side = true, .lanes_abreast = true};
    static const char *const text = "kernel fill a,s\nkernel update a,s\nkernel maybe a,s\nkernel look a,s\n"
                                    "kernel unknown a,s\nkernel box a,s\nkernel below a,s\nkernel first a,s\n";

    name_kernels();
    timed_begin(&t, (struct tsl_fake_member[]){member, member}, n_members, text, 0);
    memset(queues, 0, sizeof queues);
    queues[0] = t.queue;
    for (unsigned i = 1; i < n_queues; i++)
        assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &queues[i]), CL_SUCCESS);
    buffer = timed_buffer(&t, size);
}

static void begin(unsigned n_members, unsigned n_queues)
{
    begin_with(n_members, n_queues, SIZE);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&buffer->object);
    for (unsigned i = 1; i < N_QUEUES && queues[i]; i++) {
        tsl_queue_let_go(queues[i]);
        tsl_object_release(&queues[i]->object);
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

static void launch_rows(unsigned queue, struct tsl_kernel *kernel, unsigned member, const struct slice *slice,
                        size_t width, size_t height)
{
    struct tsl_window window = {.work_dim = 2, .global_size = {width, height, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = queues[queue],
                            .type = CL_COMMAND_NDRANGE_KERNEL,
                            .n_wait = t.wait ? 1 : 0,
                            .wait = &t.wait,
                            .event = told};

    assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof *slice, slice), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, 1u << member), CL_SUCCESS);
}

static void launch_kernel(unsigned queue, struct tsl_kernel *kernel, unsigned member, size_t from, size_t size,
                          uint32_t value)
{
    launch_rows(queue, kernel, member, &(struct slice){(uint32_t)from, value, 0}, size, 1);
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

    for (unsigned i = 0; i < N_QUEUES && queues[i]; i++)
        assert_int_equal(tsl_queue_flush(queues[i]), CL_SUCCESS);
    for (unsigned i = 0; i < N_QUEUES && queues[i]; i++) {
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

/* Two launches of one out-of-order queue, on two buffers or on one; the second writes from that byte on. */
static bool unordered_overlap(const char *kernel, bool one_buffer, size_t from)
{
    struct tsl_buffer *first, *second;
    bool did;

    begin(1, 1);
    first = buffer;
    second = timed_buffer(&t, SIZE);
    assert_int_equal(
        tsl_queue_create(t.context, tsl_device_root(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL, 0, &queues[1]),
        CL_SUCCESS);
    launch(1, kernel, 0, 0, HALF, 1);
    buffer = one_buffer ? first : second;
    launch(1, kernel, 0, from, HALF, 2);
    did = overlapped();
    assert_bytes(from, HALF, 2);
    buffer = first;
    assert_bytes(0, HALF < from || !one_buffer ? HALF : from, 1);
    tsl_object_release(&second->object);
    end(NULL);
    return did;
}

/* An out-of-order queue runs what doesn't meet at the same time, and the rest in the order of scheduling. */
static void test_out_of_order(void **state)
{
    (void)state;
    assert_true(unordered_overlap("fill", false, 0));
    assert_true(unordered_overlap("unknown", false, 0));
    assert_false(unordered_overlap("fill", true, HALF - 1));
    assert_false(unordered_overlap("unknown", true, HALF));
}

/* The launches behind a barrier begin when those before it have ended. Where these had many lanes one mark stands for
 * them, and each later lane waits for that one alone; where they had one lane, or the command is a marker, none does.
 */
static uint64_t marks_between(unsigned n_before, bool barrier)
{
    struct tsl_buffer *first, *buffers[8];
    struct tsl_fake_record record;
    uint64_t ended_ns = 0, began_ns = UINT64_MAX;

    begin(1, 1);
    first = buffer;
    assert_int_equal(
        tsl_queue_create(t.context, tsl_device_root(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL, 0, &queues[1]),
        CL_SUCCESS);
    for (unsigned i = 0; i < 8; i++)
        buffers[i] = timed_buffer(&t, SIZE);
    assert_int_equal(finish(), CL_SUCCESS);
    tsl_fake_reset_counts();
    for (unsigned i = 0; i < n_before + 4; i++) {
        const struct tsl_enqueue e = {.queue = queues[1], .type = barrier ? CL_COMMAND_BARRIER : CL_COMMAND_MARKER};
        if (i == n_before)
            assert_int_equal(tsl_enqueue_marker(&e, barrier), CL_SUCCESS);
        buffer = buffers[i];
        launch(1, "fill", 0, 0, HALF, 1);
    }
    assert_int_equal(finish(), CL_SUCCESS);
    for (unsigned i = 0; timed_run(i, &record); i++) {
        ended_ns = i < n_before && record.end_ns > ended_ns ? record.end_ns : ended_ns;
        began_ns = i >= n_before && record.start_ns < began_ns ? record.start_ns : began_ns;
    }
    assert_int_equal(began_ns >= ended_ns, barrier);
    uint64_t n = tsl_fake_counts(0).did[TSL_FAKE_DID_MARK];
    buffer = first;
    for (unsigned i = 0; i < 8; i++)
        tsl_object_release(&buffers[i]->object);
    end(NULL);
    return n;
}

/* One for each launch before, which has no fence else, in another lane than what waits for it; one that does the
 * barrier's waiting, and one behind that, as the launches behind come however it ends. */
static void test_a_mark_for_many_lanes(void **state)
{
    (void)state;
    assert_int_equal(marks_between(2, true), 2);
    assert_int_equal(marks_between(4, true), 3 + 2);
    assert_int_equal(marks_between(4, false), 0);
}

/* ---- Parts of a matrix ---- */

/* A box of the matrix. */
struct part {
    uint32_t x, y, width, height;
};

/* The inside, the two rows and the two columns around it. */
static const struct part parts[] = {{1, 1, SIDE - 2, SIDE - 2},
                                    {0, 0, SIDE, 1},
                                    {0, SIDE - 1, SIDE, 1},
                                    {0, 1, 1, SIDE - 2},
                                    {SIDE - 1, 1, 1, SIDE - 2}};

static void launch_part(unsigned queue, unsigned member, const struct part *part, uint32_t value)
{
    struct tsl_kernel *kernel = make_kernel("box");
    struct slice slice = {part->y * SIDE + part->x, value, SIDE};

    launch_rows(queue, kernel, member, &slice, part->width, part->height);
    tsl_object_release(&kernel->object);
}

/* The part's bytes are all that. */
static void assert_part(const struct part *part, unsigned char value)
{
    for (uint32_t y = 0; y < part->height; y++)
        assert_bytes((part->y + y) * SIDE + part->x, part->width, value);
}

/* How many of the last n launches that ended ran while the first of them did. */
static unsigned n_beside(unsigned from, unsigned n)
{
    struct tsl_fake_record a, b;
    unsigned n_found = 0;

    assert_int_equal(finish(), CL_SUCCESS);
    assert_true(timed_run(from, &a));
    for (unsigned i = 0; i < n; i++) {
        assert_true(timed_run(from + i, &b));
        n_found += a.start_ns < b.end_ns && b.start_ns < a.end_ns;
    }
    return n_found;
}

/* Also in the first round, while the matrix is still on its way; and round by round, as each has a queue of its own. */
static void test_five_parts(void **state)
{
    (void)state;
    for (unsigned n_members = 1; n_members <= 2; n_members++) {
        begin_with(n_members, N_QUEUES, SIDE * SIDE);
        for (unsigned round = 0; round < 3; round++) {
            for (unsigned i = 0; i < 5; i++)
                launch_part(i, 0, &parts[i], 1 + i);
            assert_int_equal(n_beside(5 * round, 5), 5);
        }
        for (unsigned i = 0; i < 5; i++)
            assert_part(&parts[i], 3 * (1 + i));
        end(NULL);
    }
}

/* A column of the inside and the whole inside do meet, whoever comes first. */
static void test_parts_that_meet(void **state)
{
    static const struct part column = {7, 3, 1, SIDE - 6};

    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        begin_with(1, 2, SIDE * SIDE);
        launch_part(0, 0, first ? &column : &parts[0], 1);
        launch_part(1, 0, first ? &parts[0] : &column, 2);
        assert_int_equal(n_beside(0, 2), 1);
        assert_part(&column, 3);
        end(NULL);
    }
}

/* Rows that are claimed one by one, beside and within a range that is claimed for a column's sake. */
static void test_rows_beside_columns(void **state)
{
    static const struct part rows = {1, 5, SIDE - 2, 3}, across = {0, 5, SIDE, 3};

    (void)state;
    for (unsigned n_members = 1; n_members <= 2; n_members++)
        for (unsigned first = 0; first < 2; first++) {
            begin_with(n_members, 2, SIDE * SIDE);
            launch_part(0, 0, first ? &rows : &parts[3], 1);
            launch_part(1, 0, first ? &parts[3] : &rows, 1);
            assert_int_equal(n_beside(0, 2), 2);
            launch_part(0, 0, first ? &across : &parts[3], 1);
            launch_part(1, 0, first ? &parts[3] : &across, 1);
            assert_int_equal(n_beside(2, 2), 1);
            end(NULL);
        }
}

/* What comes after a column that was hidden from nobody: each later launch on its bytes, through all that are beside.
 */
static void test_columns_in_turn(void **state)
{
    enum { N = 40 };

    (void)state;
    begin_with(1, N_QUEUES, SIDE * SIDE);
    for (unsigned i = 0; i < N; i++)
        launch_part(i % 5, 0, &(struct part){i % 8 * 2, 0, 1, SIDE}, 1 + i / 8);
    launch_part(0, 0, &(struct part){0, 0, SIDE, SIDE}, 1);
    assert_int_equal(finish(), CL_SUCCESS);
    for (unsigned x = 0; x < 16; x++)
        assert_part(&(struct part){x, 0, 1, SIDE}, x % 2 ? 1 : 1 + 15);
}

/* Members with a copy each: columns in turn, what one wrote comes along to the other. */
static void test_columns_on_two(void **state)
{
    (void)state;
    begin_with(2, N_QUEUES, SIDE * SIDE);
    for (unsigned i = 0; i < 12; i++)
        launch_part(i % 5, i / 2 % 2, &(struct part){i, 0, 1, SIDE}, 1 + i);
    assert_int_equal(finish(), CL_SUCCESS);
    for (unsigned i = 0; i < 12; i++)
        assert_part(&(struct part){i, 0, 1, SIDE}, (unsigned char)(1 + i));
}

/* A launch that fails leaves what others wrote beside it, and what none wrote. */
static void test_failed_beside_columns(void **state)
{
    (void)state;
    for (unsigned failed = 1; failed <= 3; failed++)
        for (unsigned refused = 0; refused < 2; refused++)
            for (unsigned uploaded = 0; uploaded < 2; uploaded++) {
                begin_with(2, N_QUEUES, SIDE * SIDE);
                if (uploaded) {
                    launch_part(0, 0, &(struct part){0, 0, SIDE, SIDE}, 0);
                    assert_int_equal(finish(), CL_SUCCESS);
                }
                if (refused)
                    tsl_fake_fail_call(0, TSL_FAKE_LAUNCH, failed, -9001);
                else
                    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, failed, -9001);
                for (unsigned i = 0; i < 3; i++)
                    launch_part(i, 0, &(struct part){2 * i, 0, 1, SIDE}, 1);
                assert_int_equal(finish(), -9001);
                for (unsigned i = 0; i < 6; i++)
                    if (i != 2 * (failed - 1))
                        assert_part(&(struct part){i, 0, 1, SIDE}, i % 2 ? 0 : 1);
                end(NULL);
            }
}

/* So does one that comes after such a launch, while the matrix is on its way. */
static void test_failed_after_column(void **state)
{
    (void)state;
    begin_with(2, 2, SIDE * SIDE);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 2, -9001);
    launch_part(0, 0, &(struct part){0, 0, 1, SIDE}, 1);
    launch_part(1, 0, &(struct part){0, 5, 2, SIDE - 10}, 1);
    assert_int_equal(finish(), -9001);
    assert_part(&(struct part){2, 0, SIDE - 2, SIDE}, 0);
    assert_part(&(struct part){0, 0, 1, 5}, 1);
}

/* A launch comes after one pair of columns, is beside another column, and fails as that does. The pair has ended well,
 * and stays. */
static void test_failed_around_columns(void **state)
{
    (void)state;
    begin_with(2, 3, SIDE * SIDE);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9001);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 3, -9002);
    launch_part(0, 0, &(struct part){5, 0, 1, SIDE}, 1);
    launch_part(1, 0, &(struct part){0, 0, 2, SIDE}, 1);
    launch_part(2, 0, &(struct part){1, 5, 2, SIDE - 10}, 1);
    assert_int_equal(finish(), -9001);
    assert_part(&(struct part){0, 0, 1, SIDE}, 1);
    assert_part(&(struct part){3, 0, 2, SIDE}, 0);
}

/* A range that meets one column in its first part and another one in its second. It comes after a range that has both
 * columns and ends between the parts, and fails as its wait list does. */
static void test_failed_across_columns(void **state)
{
    const size_t row = 5 * SIDE;
    struct tsl_event *failed;

    (void)state;
    begin_with(2, 5, SIDE * SIDE);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 3, -9001);
    launch_part(0, 0, &(struct part){2, 0, 1, 24}, 1);
    launch_part(1, 0, &(struct part){6, 0, 1, 24}, 1);
    told = &failed;
    launch(2, "update", 0, 30 * SIDE, 2 * SIDE, 1);
    told = NULL;
    launch(3, "update", 0, row - SIDE, SIDE + 4, 2);
    t.wait = failed;
    launch(4, "update", 0, row, 8, 4);
    t.wait = NULL;
    assert_int_equal(finish(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_bytes(row - SIDE + 3, 3, 2);
    assert_bytes(row, 2, 2);
    assert_bytes(row + 2, 1, 3);
    assert_bytes(row + 3, 1, 2);
    assert_bytes(row + 4, 2, 0);
    assert_bytes(row + 6, 1, 1);
    tsl_object_release(&failed->object);
}

/* Another member changes what lies between columns, and has ended well when these fail. */
static void test_failed_before_other_member(void **state)
{
    const size_t from = 5 * SIDE + 1;

    (void)state;
    begin_with(2, 2, SIDE * SIDE);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9001);
    launch_part(0, 0, &(struct part){0, 0, 1, SIDE}, 1);
    launch(1, "update", 1, from, 4, 7);
    assert_int_equal(tsl_queue_flush(queues[0]), CL_SUCCESS);
    assert_int_equal(tsl_queue_finish(queues[1]), CL_SUCCESS);
    assert_int_equal(finish(), -9001);
    assert_bytes(from, 4, 7);
    assert_bytes(from + 4, SIDE - 5, 0);
}

/* Another member changes what lies between columns, and does so yet when these fail; it may fail itself. */
static void test_failed_beside_other_member(void **state)
{
    const size_t from = 5 * SIDE + 1, size = SIDE - 2;

    (void)state;
    for (unsigned fails = 0; fails < 2; fails++) {
        begin_with(2, 3, SIDE * SIDE);
        tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9001);
        if (fails)
            tsl_fake_fail_work(1, TSL_FAKE_LAUNCH, 1, -9002);
        launch_part(0, 0, &(struct part){0, 0, 1, 24}, 1);
        launch(1, "update", 1, from, size, 7);
        launch(2, "update", 1, from + 4, 4, 1);
        assert_int_equal(finish(), -9001);
        if (!fails) {
            assert_bytes(from, 4, 7);
            assert_bytes(from + 4, 4, 8);
            assert_bytes(from + 8, size - 8, 7);
        }
        assert_bytes(from + size, 1, 0);
        end(NULL);
    }
}

/* The matrix never gets there: all of them fail, and it is as it was. */
static void test_columns_without_matrix(void **state)
{
    (void)state;
    begin_with(2, N_QUEUES, SIDE * SIDE);
    tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, -9003);
    for (unsigned i = 0; i < 3; i++)
        launch_part(i, 0, &(struct part){2 * i, 0, 1, SIDE}, 1);
    assert_true(finish() < 0);
    assert_part(&(struct part){0, 0, SIDE, SIDE}, 0);
    launch_part(0, 0, &(struct part){0, 0, 1, SIDE}, 1);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_part(&(struct part){0, 0, 1, SIDE}, 1);
    assert_part(&(struct part){1, 0, SIDE - 1, SIDE}, 0);
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

/* Rows too many to be claimed one by one, and another far above them: what lies between stays where it is. */
static void test_rows_and_one_above(void **state)
{
    static const struct slice rows = {20 * SIDE, 0, SIDE};
    struct tsl_kernel *below;

    (void)state;
    begin_with(2, 1, SIDE * SIDE);
    below = make_kernel("below");
    launch_rows(0, below, 0, &rows, 16, 24);
    assert_moved(16 + 23 * SIDE + 16, 0);
    launch_rows(0, below, 0, &rows, 16, 24);
    assert_moved(0, 0);
    tsl_object_release(&below->object);
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

/* Where there are many tiles, a launch touches all of those that it writes a part of. If the move that should bring one
 * fails, the rest of it is still where it came from. */
static void test_failed_under_part(void **state)
{
    const unsigned few = tsl_touch_tiles;
    struct tsl_kernel *first;

    (void)state;
    tsl_touch_tiles = 0;
    begin_with(2, 1, SIDE * SIDE);
    launch(0, "update", 0, 0, SIDE * SIDE, 7);
    assert_int_equal(finish(), CL_SUCCESS);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, -9001);
    launch(0, "look", 1, 0, SIDE, 0);
    first = make_kernel("first");
    launch_rows(0, first, 1, &(struct slice){SIDE, 9, SIDE}, 1, SIDE - 1);
    tsl_object_release(&first->object);
    tsl_touch_tiles = few;
    assert_int_equal(finish(), -9001);
    launch(0, "update", 1, 1, SIDE - 1, 1);
    assert_bytes(1, SIDE - 1, 8);
    assert_bytes(SIDE, SIDE * (SIDE - 1), 7);
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
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_a_mark_for_many_lanes),
        cmocka_unit_test(test_five_parts),
        cmocka_unit_test(test_parts_that_meet),
        cmocka_unit_test(test_rows_beside_columns),
        cmocka_unit_test_teardown(test_columns_in_turn, end),
        cmocka_unit_test_teardown(test_columns_on_two, end),
        cmocka_unit_test(test_failed_beside_columns),
        cmocka_unit_test_teardown(test_failed_after_column, end),
        cmocka_unit_test_teardown(test_failed_around_columns, end),
        cmocka_unit_test_teardown(test_failed_across_columns, end),
        cmocka_unit_test_teardown(test_failed_before_other_member, end),
        cmocka_unit_test(test_failed_beside_other_member),
        cmocka_unit_test_teardown(test_columns_without_matrix, end),
        cmocka_unit_test_teardown(test_overwritten, end),
        cmocka_unit_test_teardown(test_read_half, end),
        cmocka_unit_test_teardown(test_rows_and_one_above, end),
        cmocka_unit_test_teardown(test_maybe, end),
        cmocka_unit_test(test_failed_beside),
        cmocka_unit_test(test_refused_in_place),
        cmocka_unit_test_teardown(test_failed_under_part, end),
        cmocka_unit_test_teardown(test_alone, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
