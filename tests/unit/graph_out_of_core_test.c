/* Launches whose buffers the members can't hold: they run window by window through an arena, or fail with an error that
 * says why. Seen in what runs and moves, in virtual time. */
/* variant: one TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_LOG=place:info,tile:off */
#include "base/clock.h"
#include "footprint_bed.h"
#include "graph/state.h"
#include "test.h"
#include "timed.h"

#define MEMORY 8192u /* of a member; an area has an eighth */
#define AREA   (MEMORY / 8)
#define SIZE   (3 * MEMORY) /* of the large buffers, in bytes; a byte more on either side */
#define SMALL  512u

/* ---- Kernels ---- */

static void fill_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    memset(bytes + run->first[0], (int)value, run->end[0] - run->first[0]);
}

static void update_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes[i] = (unsigned char)(bytes[i] + value);
}

static void stencil_body(const struct tsl_fake_run *run)
{
    unsigned char *to = run->args[0].ptr;
    const unsigned char *from = run->args[1].ptr;

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        to[i + 1] = (unsigned char)(from[i] + from[i + 1] + from[i + 2]);
}

/* Each item takes what the small buffer says for it: reads the large one at places that nobody knows. */
static void gather_body(const struct tsl_fake_run *run)
{
    unsigned char *to = run->args[0].ptr;
    const unsigned char *from = run->args[1].ptr;

    for (size_t i = run->first[0]; i < run->end[0]; i++)
        to[i] = from[i % SMALL];
}

static void count_body(const struct tsl_fake_run *run)
{
    *(unsigned char *)run->args[0].ptr += 1;
}

static uint32_t id_plus(struct bed *bed, int64_t number)
{
    return bed_two(bed, TSL_NODE_ADD, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, number));
}

enum { FILL, UPDATE, STENCIL, GATHER, SCATTER, COUNT, N_KERNELS };
static const char *const names[N_KERNELS] = {"fill", "update", "stencil", "gather", "scatter", "count"};

static void make_footprint(struct bed *bed, unsigned kernel)
{
    bed_begin(bed, 2);
    if (kernel == UPDATE)
        bed_access(bed, 0, TSL_ACCESS_READ, 1, id_plus(bed, 0));
    for (unsigned i = 0; kernel == STENCIL && i < 3; i++)
        bed_access(bed, 1, TSL_ACCESS_READ, 1, id_plus(bed, i));
    if (kernel == GATHER)
        bed_access(bed, 1, TSL_ACCESS_READ, 1, TSL_FOOTPRINT_NONE);
    if (kernel == SCATTER)
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE);
    else if (kernel == COUNT)
        bed_access(bed, 0, TSL_ACCESS_ATOMIC, 4, bed_constant(bed, 64, 0));
    else
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, id_plus(bed, kernel == STENCIL));
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind one[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const enum tsl_fact_kind two[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static tsl_fake_body_fn *const bodies[] = {fill_body,   update_body, stencil_body,
                                               gather_body, fill_body,   count_body};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        bool pair = i == STENCIL || i == GATHER;
        unsigned may = i == UPDATE || i == COUNT ? TSL_MAY_READ | TSL_MAY_WRITE : TSL_MAY_WRITE;

        make_footprint(&beds[i], i);
        tsl_fake_kernel(names[i], bodies[i], 2, pair ? two : one, (const unsigned[]){may, pair ? TSL_MAY_READ : 0});
        tsl_fake_kernel_traits(names[i], &(struct tsl_fake_traits){.footprint = &beds[i].footprint});
    }
}

/* ---- The machine ---- */

static struct timed t;
static struct tsl_buffer *a, *b, *small;

static const struct tsl_fake_member plain = {.item_ns = 10,
                                             .gates = true,
                                             .memory_size = MEMORY,
                                             .max_alloc_size = MEMORY,
                                             .bandwidth = 1000000000,
                                             .takes_parts = true};

static void begin(const struct tsl_fake_member *members, unsigned n)
{
    name_kernels();
    timed_begin(&t, members, n,
                "kernel fill a,s\nkernel update a,s\nkernel stencil a,b\nkernel gather a,b\nkernel scatter a,s\n"
                "kernel count a,s\n",
                0);
    a = timed_buffer(&t, SIZE + 2);
    b = timed_buffer(&t, SIZE + 2);
    small = timed_buffer(&t, SMALL);
    tsl_fake_reset_counts();
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&a->object);
    tsl_object_release(&b->object);
    tsl_object_release(&small->object);
    timed_end(&t);
    return 0;
}

static cl_int try(unsigned number, struct tsl_buffer *first, struct tsl_buffer *second, uint32_t value, size_t n,
                  struct tsl_event **event)
{
    struct tsl_window window = {.work_dim = 1, .global_size = {n, 1, 1}, .local_size = {8, 1, 1}, .whole = true};
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = event};
    struct tsl_kernel *kernel;
    cl_int error;

    assert_int_equal(tsl_kernel_create(t.program, names[number], &kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(kernel, 0, sizeof(cl_mem), &first), CL_SUCCESS);
    if (second)
        assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    else
        assert_int_equal(tsl_kernel_set_arg(kernel, 1, sizeof value, &value), CL_SUCCESS);
    error = tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible);
    tsl_object_release(&kernel->object);
    return error;
}

static void launch(unsigned number, struct tsl_buffer *first, struct tsl_buffer *second, uint32_t value)
{
    assert_int_equal(try(number, first, second, value, SIZE, NULL), CL_SUCCESS);
}

static unsigned n_windows(void)
{
    struct tsl_fake_record record;
    unsigned n = 0;

    while (timed_run(n, &record))
        n++;
    return n;
}

static void assert_bytes(struct tsl_buffer *buffer, size_t from, size_t size, unsigned char value)
{
    for (size_t at = from; at < from + size; at += 4096) /* The helper's bytes are on the stack. */
        timed_assert_bytes(t.queue, buffer, at, from + size - at < 4096 ? from + size - at : 4096, value);
}

/* ---- Single launches ---- */

/* What is surely overwritten comes from nowhere; all of it goes home. */
static void test_fill(void **state)
{
    (void)state;
    begin(&plain, 1);
    launch(FILL, a, NULL, 7);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_int_equal(n_windows(), SIZE / AREA);
    timed_assert_moved(&t, 0, SIZE);
    assert_bytes(a, 0, SIZE, 7);
    assert_bytes(a, SIZE, 2, 0);
}

static void test_update(void **state)
{
    (void)state;
    begin(&plain, 1);
    launch(FILL, a, NULL, 7);
    launch(UPDATE, a, NULL, 3);
    launch(UPDATE, a, NULL, 30);
    assert_bytes(a, 0, SIZE, 40);
    timed_assert_moved(&t, 2 * SIZE, 3 * SIZE);
}

/* Halos are read by two windows. */
static void test_stencil(void **state)
{
    (void)state;
    begin(&plain, 1);
    launch(FILL, b, NULL, 1);
    launch(STENCIL, a, b, 0);
    launch(STENCIL, b, a, 0);
    assert_bytes(a, 1, 1, 3);
    assert_bytes(a, 2, SIZE - 3, 3);
    assert_bytes(b, 3, SIZE - 6, 9);
    assert_int_equal(tsl_fake_violations(TSL_FAKE_N_FAULTS), 0);
}

/* The next window's bytes move while one is computed, and the last one's go home: with copies as long as the work each
 * way, the launch takes little more than the work alone. */
static void test_overlap(void **state)
{
    struct tsl_fake_member member = plain;
    uint64_t began, ended;

    (void)state;
    member.item_ns = 1;
    begin(&member, 1);
    began = tsl_clock_ns();
    launch(UPDATE, a, NULL, 3);
    ended = timed_finish(&t);
    assert_in_range(ended - began, SIZE, SIZE + 3 * AREA);
}

/* A small buffer of which each window may read all has a copy of its own beside the arena. */
static void test_gather(void **state)
{
    (void)state;
    begin(&plain, 1);
    assert_int_equal(try(FILL, small, NULL, 5, SMALL, NULL), CL_SUCCESS);
    launch(GATHER, a, small, 0);
    assert_bytes(a, 0, SIZE, 5);
    assert_true(n_windows() > SIZE / AREA);
}

/* ---- Beside others ---- */

/* The arena goes when other launches need the memory, comes again, and other buffers go for it. */
static void test_room(void **state)
{
    struct tsl_buffer *most;

    (void)state;
    begin(&plain, 1);
    most = timed_buffer(&t, MEMORY - 64);
    for (uint32_t i = 1; i < 4; i++) {
        launch(UPDATE, a, NULL, 1);
        assert_int_equal(try(UPDATE, most, NULL, i, MEMORY - 64, NULL), CL_SUCCESS);
    }
    assert_bytes(a, 0, SIZE, 3);
    assert_bytes(most, 0, MEMORY - 64, 6);
    assert_int_equal(tsl_fake_counts(0).calls[TSL_FAKE_ALLOC], 3 * (TSL_ARENA_AREAS + 1));
    tsl_object_release(&most->object);
}

/* Launches one after another keep the arena. */
static void test_stays(void **state)
{
    (void)state;
    begin(&plain, 1);
    for (uint32_t i = 1; i < 4; i++) {
        launch(UPDATE, a, NULL, 1);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    }
    assert_int_equal(tsl_fake_counts(0).calls[TSL_FAKE_ALLOC], TSL_ARENA_AREAS);
}

static void test_members(void **state)
{
    struct tsl_fake_record record;
    unsigned of[2] = {0};

    (void)state;
    begin((struct tsl_fake_member[]){plain, plain}, 2);
    launch(UPDATE, a, NULL, 2);
    launch(STENCIL, b, a, 0);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    for (unsigned i = 0; timed_run(i, &record); i++)
        of[record.member]++;
    assert_in_range(of[0], of[1], of[1] + 1);
    assert_bytes(b, 2, SIZE - 3, 6);
}

/* ---- Failures ---- */

/* A window that fails leaves what the host had; the others' stays. */
static void test_failure(void **state)
{
    struct tsl_event *event;

    (void)state;
    begin(&plain, 1);
    launch(FILL, a, NULL, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 2, CL_OUT_OF_RESOURCES);
    assert_int_equal(try(UPDATE, a, NULL, 1, SIZE, &event), CL_SUCCESS);
    assert_int_equal(tsl_events_wait(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    tsl_object_release(&event->object);
    assert_bytes(a, 0, AREA, 2);
    assert_bytes(a, AREA, AREA, 1);
    assert_bytes(a, 2 * AREA, SIZE - 2 * AREA, 2);
}

static void test_refused(void **state)
{
    struct tsl_fake_member other = plain;

    (void)state;
    begin(&plain, 1);
    assert_int_equal(try(SCATTER, a, NULL, 1, SIZE, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_int_equal(try(GATHER, a, b, 1, SIZE, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    launch(FILL, a, NULL, 1);
    assert_bytes(a, 0, SIZE, 1);
    end(state);
    other.takes_parts = false;
    begin(&other, 1);
    assert_int_equal(try(FILL, a, NULL, 1, SIZE, NULL), CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

/* What was never written has no copy on a member that can't hold it, either. */
static void test_unwritten(void **state)
{
    struct tsl_buffer *large;
    unsigned char bytes[16];
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {sizeof bytes, 1, 1}, .src_offset = SIZE / 2};
    struct tsl_box_copy rect = {.region = {4, 4, 1},
                                .src_row_pitch = SIZE / 4,
                                .src_slice_pitch = SIZE,
                                .dst_row_pitch = 4,
                                .dst_slice_pitch = 16};

    (void)state;
    begin(&plain, 1);
    e.queue = t.queue;
    assert_int_equal(tsl_buffer_create(t.context, 0, SIZE, NULL, NULL, &large), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_read(&e, large, bytes, &box), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_read(&e, large, bytes, &rect), CL_SUCCESS);
    launch(FILL, large, NULL, 4);
    assert_bytes(large, 0, SIZE, 4);
    assert_int_equal(tsl_enqueue_read(&e, large, bytes, &rect), CL_SUCCESS);
    assert_int_equal(bytes[15], 4);
    tsl_object_release(&large->object);
}

/* A launch that touches little of large buffers has one window. */
static void test_little(void **state)
{
    (void)state;
    begin(&plain, 1);
    assert_int_equal(try(FILL, a, NULL, 9, SMALL, NULL), CL_SUCCESS);
    assert_bytes(a, 0, SMALL, 9);
    assert_bytes(a, SMALL, SMALL, 0);
    assert_int_equal(n_windows(), 1);
    launch(COUNT, a, NULL, 1); /* Such launches can't be cut, and needn't be. */
    assert_bytes(a, 0, 1, 10);
    assert_bytes(a, 1, SMALL - 1, 9);
    assert_int_equal(n_windows(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_fill, end),    cmocka_unit_test_teardown(test_update, end),
        cmocka_unit_test_teardown(test_stencil, end), cmocka_unit_test_teardown(test_overlap, end),
        cmocka_unit_test_teardown(test_gather, end),  cmocka_unit_test_teardown(test_room, end),
        cmocka_unit_test_teardown(test_stays, end),   cmocka_unit_test_teardown(test_members, end),
        cmocka_unit_test_teardown(test_failure, end), cmocka_unit_test_teardown(test_refused, end),
        cmocka_unit_test_teardown(test_little, end),  cmocka_unit_test_teardown(test_unwritten, end),
    };

    return cmocka_run_group_tests_name("launches larger than their member", tests, NULL, NULL);
}
