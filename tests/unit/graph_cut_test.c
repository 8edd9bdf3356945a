/* Launches that are cut over members: which are, along which dimension, what moves, what overlaps, what the program
 * sees of their failures and times, and why others run whole. Seen in what runs, in virtual time. */
/* variant: always TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=always TESELA_LOG=place:info */
/* variant: rims TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_SPLIT=always:exact */
/* variant: off TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_SPLIT=off */
/* variant: weights TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=weights=1,3 */
/* variant: lopsided TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=weights=1,9 TESELA_LOG=place:info */
/* variant: eager TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=eager TESELA_SPLIT=always TESELA_LOG=place:info */
/* variant: auto TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto */
#include "base/clock.h"
#include "base/settings.h"
#include "caught.h"
#include "footprint_bed.h"
#include "graph/cut_count.h"
#include "graph/slabs.h"
#include "graph/state.h"
#include "object/svm.h"
#include "program/launch.h"
#include "test.h"
#include "timed.h"
#include "windows_ran.h"

#define SIZE  256u /* of most launches, items; of most buffers, bytes, with a byte more on either side */
#define HALF  (SIZE / 2)
#define PITCH 16u /* of rows */

/* A volume of planes of so many bytes, of which an item walks through all. */
#define PLANES 20u
#define PLANE  12u

/* ---- Kernels ---- */

static unsigned char *bytes_of(const struct tsl_fake_run *run)
{
    return run->args[0].ptr;
}

static unsigned char value_of(const struct tsl_fake_run *run)
{
    uint32_t value;

    memcpy(&value, run->args[1].value, sizeof value);
    return (unsigned char)value;
}

static void fill_body(const struct tsl_fake_run *run)
{
    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes_of(run)[i] = value_of(run);
}

static void update_body(const struct tsl_fake_run *run)
{
    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes_of(run)[i] += value_of(run);
}

static void columns_body(const struct tsl_fake_run *run)
{
    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        memset(bytes_of(run) + i * PITCH + run->first[1], value_of(run), run->end[1] - run->first[1]);
}

static void rows_body(const struct tsl_fake_run *run)
{
    note(run);
    for (size_t j = run->first[1]; j < run->end[1]; j++)
        memset(bytes_of(run) + j * PITCH + run->first[0], value_of(run), run->end[0] - run->first[0]);
}

/* The buffers have a byte before the first item's and one behind the last one's. */
static void stencil_body(const struct tsl_fake_run *run)
{
    const unsigned char *src = run->args[1].ptr;

    note(run);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        bytes_of(run)[i + 1] = (unsigned char)(src[i] + src[i + 1] + src[i + 2]);
}

static void volume_body(const struct tsl_fake_run *run)
{
    note(run);
    for (size_t at = 0; at < PLANES * PLANE; at += PLANE) {
        const unsigned char *src = (const unsigned char *)run->args[1].ptr + at;

        for (size_t i = run->first[0]; i < run->end[0]; i++)
            bytes_of(run)[at + i + 1] = (unsigned char)(src[i] + src[i + 1] + src[i + 2]);
    }
}

static void no_body(const struct tsl_fake_run *run)
{
    note(run);
}

static uint32_t id(struct bed *bed, unsigned dimension)
{
    return bed_leaf(bed, TSL_NODE_GLOBAL_ID, dimension);
}

static uint32_t plus(struct bed *bed, uint32_t a, int64_t number)
{
    return bed_two(bed, TSL_NODE_ADD, a, bed_constant(bed, 64, number));
}

/* Byte `along` times the pitch, plus the other one. */
static void grid_footprint(struct bed *bed, unsigned along)
{
    uint32_t row = bed_two(bed, TSL_NODE_MUL, id(bed, along), bed_constant(bed, 64, PITCH));

    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_two(bed, TSL_NODE_ADD, row, id(bed, 1 - along)));
}

/* The item's byte of each plane, and `number` behind. */
static void plane_access(struct bed *bed, uint32_t argument, uint8_t kind, int64_t number)
{
    uint32_t loop = bed_loop(bed, bed_constant(bed, 64, PLANES), true);
    uint32_t plane = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_COUNTER, loop), bed_constant(bed, 64, PLANE));
    struct tsl_access *access =
        bed_access(bed, argument, kind, 1, bed_two(bed, TSL_NODE_ADD, plus(bed, id(bed, 0), number), plane));

    access->loops[access->n_loops++] = loop;
}

enum {
    FILL,
    UPDATE,
    COLUMNS,
    ROWS,
    STENCIL,
    VOLUME,
    SMEAR,
    SCATTER,
    COUNT,
    SHOUT,
    GLOBAL,
    WHOLE,
    UNKNOWN,
    MIX,
    N_KERNELS
};

static void make_footprint(struct bed *bed, unsigned kernel)
{
    bed_begin(bed, 2);
    switch (kernel) {
    case UPDATE:
        bed_access(bed, 0, TSL_ACCESS_READ, 1, id(bed, 0));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, id(bed, 0));
        break;
    case COLUMNS:
        grid_footprint(bed, 0);
        break;
    case ROWS:
        grid_footprint(bed, 1);
        break;
    case STENCIL:
        for (unsigned i = 0; i < 3; i++)
            bed_access(bed, 1, TSL_ACCESS_READ, 1, plus(bed, id(bed, 0), i));
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, plus(bed, id(bed, 0), 1));
        break;
    case VOLUME:
        for (unsigned i = 0; i < 3; i++)
            plane_access(bed, 1, TSL_ACCESS_READ, i);
        plane_access(bed, 0, TSL_ACCESS_WRITE, 1);
        break;
    case MIX:
        bed_access(bed, 1, TSL_ACCESS_READ, 1, TSL_FOOTPRINT_NONE);
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, id(bed, 0));
        break;
    case SMEAR: /* Nothing is sure: else the later share's bytes would stay. */
        bed_access(bed, 0, TSL_ACCESS_WRITE, 2, id(bed, 0))->flags = 0;
        break;
    case SCATTER:
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, TSL_FOOTPRINT_NONE);
        break;
    case COUNT:
        bed_access(bed, 0, TSL_ACCESS_ATOMIC, 4, bed_constant(bed, 64, 0));
        break;
    default:
        bed_access(bed, 0, TSL_ACCESS_WRITE, 1, id(bed, 0));
        break;
    }
}

static const struct kernel {
    const char *name;
    tsl_fake_body_fn *body;
    unsigned access;
    struct tsl_fake_traits traits;
} kernels[N_KERNELS] = {
    [FILL] = {"fill", fill_body, TSL_MAY_WRITE, {0}},
    [UPDATE] = {"update", update_body, TSL_MAY_READ | TSL_MAY_WRITE, {0}},
    [COLUMNS] = {"columns", columns_body, TSL_MAY_WRITE, {0}},
    [ROWS] = {"rows", rows_body, TSL_MAY_WRITE, {0}},
    [STENCIL] = {"stencil", stencil_body, TSL_MAY_WRITE, {0}},
    [VOLUME] = {"volume", volume_body, TSL_MAY_WRITE, {0}},
    [SMEAR] = {"smear", no_body, TSL_MAY_WRITE, {0}},
    [SCATTER] = {"scatter", no_body, TSL_MAY_WRITE, {0}},
    [COUNT] = {"count", no_body, TSL_MAY_READ | TSL_MAY_WRITE, {.atomics = true}},
    [SHOUT] = {"shout", fill_body, TSL_MAY_WRITE, {.prints = true}},
    [GLOBAL] = {"global", fill_body, TSL_MAY_WRITE, {.opaque = true}},
    [WHOLE] = {"whole", fill_body, TSL_MAY_WRITE, {.whole_launch = true}},
    [UNKNOWN] = {"unknown", fill_body, TSL_MAY_WRITE, {0}},
    [MIX] = {"mix", no_body, TSL_MAY_WRITE, {0}},
};

/* Its second argument is the second buffer. */
static bool has_two(unsigned kernel)
{
    return kernel == STENCIL || kernel == VOLUME || kernel == MIX;
}

static void name_kernels(void)
{
    static const enum tsl_fact_kind one[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    static const enum tsl_fact_kind two[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL};
    static struct bed beds[N_KERNELS];

    for (unsigned i = 0; i < N_KERNELS; i++) {
        struct tsl_fake_traits traits = kernels[i].traits;

        make_footprint(&beds[i], i);
        traits.footprint = i == UNKNOWN ? NULL : &beds[i].footprint;
        tsl_fake_kernel(kernels[i].name, kernels[i].body, 2, has_two(i) ? two : one,
                        (const unsigned[]){kernels[i].access, has_two(i) ? TSL_MAY_READ : 0});
        tsl_fake_kernel_traits(kernels[i].name, &traits);
    }
}

/* ---- The machine ---- */

static struct timed t;
static struct tsl_queue *other; /* a second queue, in order; NULL: none */
static struct tsl_buffer *buffer, *second;

static void begin_members(const struct tsl_fake_member *members, unsigned n, cl_command_queue_properties properties)
{
    static const char *const text = "kernel fill a,s\nkernel update a,s\nkernel columns a,s\nkernel rows a,s\n"
                                    "kernel stencil a,b\nkernel smear a,s\nkernel scatter a,s\nkernel count a,s\n"
                                    "kernel shout a,s\nkernel global a,s\nkernel whole a,s\nkernel unknown a,s\n"
                                    "kernel mix a,b\nkernel volume a,b\n";

    name_kernels();
    timed_begin(&t, members, n, text, properties);
    assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &other), CL_SUCCESS);
    buffer = timed_buffer(&t, SIZE + 2);
    second = timed_buffer(&t, SIZE + 2);
    n_ran = 0;
}

static void begin(unsigned n_members)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .svm = true};

    begin_members((struct tsl_fake_member[]){member, member, member}, n_members, 0);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&buffer->object);
    tsl_object_release(&second->object);
    tsl_queue_let_go(other);
    tsl_object_release(&other->object);
    timed_end(&t);
    return 0;
}

static struct tsl_kernel *make_kernel(unsigned kernel, uint32_t value)
{
    struct tsl_kernel *made;

    assert_int_equal(tsl_kernel_create(t.program, kernels[kernel].name, &made), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(made, 0, sizeof(cl_mem), &buffer), CL_SUCCESS);
    if (has_two(kernel))
        assert_int_equal(tsl_kernel_set_arg(made, 1, sizeof(cl_mem), &second), CL_SUCCESS);
    else
        assert_int_equal(tsl_kernel_set_arg(made, 1, sizeof value, &value), CL_SUCCESS);
    return made;
}

struct call {
    struct tsl_queue *queue; /* NULL: the first */
    uint32_t value;
    size_t size[2];   /* 0: SIZE, 1 */
    bool any_groups;  /* the program leaves the size of groups open */
    unsigned members; /* 0: all */
    struct tsl_event **event;
};

static void enqueue(struct tsl_kernel *kernel, const struct call *call)
{
    size_t width = call->size[0] ? call->size[0] : SIZE, height = call->size[1];
    struct tsl_window window = {.work_dim = height ? 2 : 1,
                                .global_size = {width, height ? height : 1, 1},
                                .local_size = {!call->any_groups, !call->any_groups, !call->any_groups},
                                .whole = true};
    struct tsl_enqueue e = {
        .queue = call->queue ? call->queue : t.queue, .type = CL_COMMAND_NDRANGE_KERNEL, .event = call->event};

    assert_int_equal(tsl_enqueue_kernel(&e, kernel, &window, kernel->eligible & (call->members ? call->members : ~0u)),
                     CL_SUCCESS);
}

static void launch(unsigned number, const struct call *call)
{
    struct tsl_kernel *kernel = make_kernel(number, call->value);

    enqueue(kernel, call);
    tsl_object_release(&kernel->object);
}

static void launch_one(unsigned kernel, uint32_t value)
{
    launch(kernel, &(struct call){.value = value});
}

static cl_int finish(void)
{
    assert_int_equal(tsl_queue_flush(other), CL_SUCCESS);
    assert_int_equal(tsl_queue_flush(t.queue), CL_SUCCESS);

    cl_int error = tsl_queue_finish(t.queue), second_error = tsl_queue_finish(other);

    return error ? error : second_error;
}

static void assert_bytes(size_t from, size_t size, unsigned char value)
{
    timed_assert_bytes(t.queue, buffer, from, size, value);
}

/* Bytes that went to members, and back, since the last call. */
static void assert_moved(uint64_t up, uint64_t down)
{
    assert_int_equal(finish(), CL_SUCCESS);
    timed_assert_moved(&t, up, down);
}

static void assert_whole(unsigned kernel)
{
    unsigned before = n_ran;

    launch_one(kernel, 3);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran - before, 1);
    assert_int_equal(ran[before].end[0] - ran[before].first[0], SIZE);
}

/* ---- Cut ---- */

/* Equal parts, at the same time, of a command that is one for the program. */
static void test_overlap(void **state)
{
    struct tsl_fake_record a, b;
    bool both;

    (void)state;
    begin(2);
    launch_one(FILL, 7);
    assert_int_equal(finish(), CL_SUCCESS);
    both = timed_run(0, &a) && timed_run(1, &b);
    assert_true(both);
    assert_false(timed_run(2, &(struct tsl_fake_record){0}));
    assert_int_not_equal(a.member, b.member);
    assert_int_equal(a.size, HALF);
    assert_int_equal(b.size, HALF);
    assert_true(a.start_ns < b.end_ns && b.start_ns < a.end_ns);
    assert_moved(0, 0);
    assert_bytes(0, SIZE, 7);
    assert_moved(0, SIZE);
}

/* Behind a barrier a share waits for all shares of the launch before, and not for what their members were given since:
 * the launch's other shares. */
static void test_barriers(void **state)
{
    enum { LAUNCHES = 4 };
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .context = 1};
    uint64_t before;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member, member}, 3, 0);
    before = tsl_clock_ns();
    for (unsigned i = 0; i < LAUNCHES; i++) {
        launch_one(FILL, i);
        assert_int_equal(tsl_enqueue_marker(&(struct tsl_enqueue){.queue = t.queue, .type = CL_COMMAND_BARRIER}, true),
                         CL_SUCCESS);
        assert_int_equal(tsl_queue_flush(t.queue), CL_SUCCESS);
    }
    assert_int_equal(finish(), CL_SUCCESS);
    assert_true(tsl_clock_ns() - before < LAUNCHES * (SIZE * 1000 / 3 + 2000));
    assert_bytes(0, SIZE, LAUNCHES - 1);
}

/* Parts that can't be equal differ by a group; members beyond the number of groups have none. */
static void test_few_groups(void **state)
{
    (void)state;
    begin(3);
    launch(FILL, &(struct call){.size = {4}, .value = 1});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(items_of(0, i), 1, 2);
    n_ran = 0;
    launch(FILL, &(struct call){.size = {2}, .value = 2});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 2);
    n_ran = 0;
    launch(FILL, &(struct call){.size = {1}, .value = 3});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 1);
    assert_bytes(0, 1, 3);
    assert_bytes(1, 1, 2);
    assert_bytes(2, 2, 1);
}

/* Where the program leaves the size of groups open they are small enough for all members. */
static void test_open_groups(void **state)
{
    (void)state;
    begin(3);
    launch(FILL, &(struct call){.size = {8}, .value = 1, .any_groups = true});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 3);
    assert_bytes(0, 8, 1);
}

static void assert_groups(cl_device_type type, size_t height, size_t width_of_group, size_t height_of_group)
{
    struct tsl_fake_member member = {.type = type, .item_ns = 1000, .gates = true, .work_group_size = 1024};
    struct tsl_window window = {
        .work_dim = height > 1 ? 2 : 1, .global_size = {4096, height, 1}, .local_size = {0}, .whole = true};
    struct tsl_kernel *kernel;

    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    kernel = make_kernel(FILL, 0);
    tsl_launch_choose(kernel, tsl_device_root(), kernel->eligible, &window);
    assert_int_equal(window.local_size[0], width_of_group);
    assert_int_equal(window.local_size[1], height_of_group);
    assert_int_equal(window.local_size[2], 1);
    tsl_object_release(&kernel->object);
    end(NULL);
}

/* Groups of GPUs are as these choose them for launches that aren't cut. */
static void test_open_groups_of_gpus(void **state)
{
    (void)state;
    assert_groups(CL_DEVICE_TYPE_GPU, 1, 256, 1);
    assert_groups(CL_DEVICE_TYPE_GPU, 4096, 32, 8);
    assert_groups(CL_DEVICE_TYPE_GPU, 3, 32, 3);
    assert_groups(CL_DEVICE_TYPE_CPU, 1, 1024, 1);
    assert_groups(CL_DEVICE_TYPE_CPU, 4096, 1024, 1);
}

/* Each member has a quarter of what all need, and gives it to all: none waits until another one has everything. */
static void test_all_to_all(void **state)
{
    struct tsl_fake_member member = {.gates = true, .peer = true, .bandwidth = SIZE * UINT64_C(1000)};
    struct tsl_buffer *swapped = buffer;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member, member, member}, 4, 0);
    launch_one(FILL, 3);
    launch_one(UPDATE, 1);
    assert_int_equal(finish(), CL_SUCCESS);
    swapped = buffer;
    buffer = second;
    second = swapped;
    uint64_t begin_ns = tsl_clock_ns();
    launch_one(MIX, 0);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_in_range(tsl_clock_ns() - begin_ns, 750000,
                    1100000); /* three quarters of a millisecond each, side by side */
}

static void test_one_member(void **state)
{
    (void)state;
    begin(1);
    launch_one(UPDATE, 5);
    launch_one(UPDATE, 6);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 4);
    assert_int_equal(items_of(0, 0), 2 * SIZE);
    assert_bytes(0, SIZE, 11);
}

/* Each share has whole rows, whichever dimension counts them. */
static void test_dimensions(void **state)
{
    (void)state;
    begin(2);
    launch(COLUMNS, &(struct call){.size = {8, PITCH}, .value = 1});
    launch(ROWS, &(struct call){.size = {PITCH, 8}, .value = 2});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 4);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned d = 0; d < 2; d++)
            assert_int_equal(ran[i].end[d] - ran[i].first[d], d == i / 2 ? 4 : PITCH);
    assert_bytes(0, 8 * PITCH, 2);
}

/* Later launches of the same shape move nothing, other borders only what lies between. */
static void test_in_place(void **state)
{
    (void)state;
    begin(2);
    launch_one(UPDATE, 1);
    assert_moved(SIZE, 0);
    for (unsigned i = 0; i < 5; i++)
        launch_one(UPDATE, 1);
    assert_moved(0, 0);
    assert_bytes(0, SIZE, 6);
    assert_moved(0, SIZE);
}

/* To and fro between two buffers: once each half is where it is computed, a byte goes each way. The bytes at the ends
 * are nobody's and were brought once. */
static void test_halo(void **state)
{
    (void)state;
    begin(2);
    for (unsigned i = 0; i < 8; i++) {
        struct tsl_buffer *last = buffer;

        launch_one(STENCIL, 0);
        assert_moved(i == 0 ? SIZE + 4 : i == 1 ? 4 : 2, i == 0 ? 0 : 2);
        buffer = second;
        second = last;
    }
    assert_bytes(0, SIZE, 0);
}

/* Items that walk through all planes of a volume: of each plane a share has a slab, and halos of slabs move. */
static void test_volume(void **state)
{
    const uint64_t large = tsl_slabs_large;

    (void)state;
    tsl_slabs_large = 1;
    begin(2);
    for (unsigned i = 0; i < 8; i++) {
        struct tsl_buffer *last = buffer;

        launch(VOLUME, &(struct call){.size = {PLANE - 2}});
        assert_int_equal(finish(), CL_SUCCESS);
        if (i > 1) /* Of all planes at once. */
            assert_int_equal(tsl_fake_counts(0).calls[TSL_FAKE_COPY] + tsl_fake_counts(1).calls[TSL_FAKE_COPY], 4);
        assert_moved(PLANES * (i == 0 ? PLANE + 2 : i == 1 ? 4 : 2), PLANES * (i == 0 ? 0 : 2));
        assert_int_equal(n_ran, 2 * (i + 1));
        buffer = second;
        second = last;
    }
    tsl_slabs_large = large;
    assert_bytes(0, SIZE, 0);
}

/* Small slabs are not worth what they cost. */
static void test_small_slabs(void **state)
{
    (void)state;
    begin(2);
    launch(VOLUME, &(struct call){.size = {PLANE - 2}});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 1);
}

static void write_all(struct tsl_queue *queue, const unsigned char *bytes, size_t begin, size_t size)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_WRITE_BUFFER};
    struct tsl_box_copy box = {.dst_offset = begin, .src_offset = begin, .region = {size, 1, 1}};

    assert_int_equal(tsl_enqueue_write(&e, buffer, bytes, &box), CL_SUCCESS);
}

/* What was cut is written anew: each part goes straight to where it is used, and the next launch moves nothing; also
 * where some of it, over the border, is written. What a launch that ran whole has is written to one place. */
static void test_written_in_parts(void **state)
{
    unsigned char bytes[SIZE];

    (void)state;
    begin(2);
    memset(bytes, 7, sizeof bytes);
    launch_one(UPDATE, 1);
    assert_moved(SIZE, 0);
    write_all(t.queue, bytes, 0, SIZE);
    assert_moved(SIZE, 0);
    launch_one(UPDATE, 1);
    assert_moved(0, 0);
    write_all(t.queue, bytes, HALF - 16, 32);
    launch_one(UPDATE, 2);
    assert_moved(32, 0);
    assert_bytes(0, HALF - 16, 10);
    assert_bytes(HALF - 16, 32, 9);
    assert_bytes(HALF + 16, HALF - 16, 10);
    assert_moved(0, SIZE);
}

/* One share waits for what was there, the other doesn't; a later launch waits for both. */
static void test_order(void **state)
{
    struct tsl_event *filled;
    struct tsl_fake_record records[5];

    (void)state;
    begin(2);
    launch(FILL, &(struct call){.queue = other, .value = 1, .members = 2, .event = &filled});
    t.wait = filled;
    launch(UPDATE, &(struct call){.value = 1});
    launch(UPDATE, &(struct call){.value = 1});
    assert_int_equal(finish(), CL_SUCCESS);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(timed_run(i, &records[i]), i < 5);
    assert_bytes(0, SIZE, 3);
    tsl_object_release(&filled->object);
}

/* ---- What the program sees ---- */

/* The command fails with its share's error; what the other share wrote stays, what the failed one should have changed
 * goes back to what it was, and what comes after fails. */
static void test_failure(void **state)
{
    (void)state;
    for (unsigned refused = 0; refused < 2; refused++)
        for (unsigned member = 0; member < 2; member++) {
            struct tsl_event *event;

            begin(2);
            if (refused)
                tsl_fake_fail_call(member, TSL_FAKE_LAUNCH, 1, -9001);
            else
                tsl_fake_fail_work(member, TSL_FAKE_LAUNCH, 1, -9001);
            launch(UPDATE, &(struct call){.value = 1, .event = &event});
            assert_int_equal(tsl_queue_flush(t.queue), CL_SUCCESS);
            assert_int_equal(tsl_events_wait(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            assert_int_equal(tsl_event_status(event), -9001);
            tsl_object_release(&event->object);
            assert_bytes((1 - member) * HALF, HALF, 1);
            assert_bytes(member * HALF, HALF, 0);
            end(NULL);
        }
}

/* A share that fails doesn't keep the command from waiting for the others. */
static void test_failure_ends_last(void **state)
{
    struct tsl_fake_member members[] = {{.item_ns = 1000, .gates = true}, {.item_ns = 9000, .gates = true}};
    struct tsl_event *event;

    (void)state;
    begin_members(members, 2, 0);
    tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9001);
    launch(FILL, &(struct call){.event = &event});
    assert_int_equal(tsl_queue_flush(t.queue), CL_SUCCESS);
    tsl_events_wait(1, &event);
    assert_true(tsl_clock_ns() >= HALF * 9000);
    assert_int_equal(tsl_event_status(event), -9001);
    tsl_object_release(&event->object);
}

/* From the first start to the last end. */
static void test_times(void **state)
{
    struct tsl_fake_member members[] = {{.item_ns = 1000, .gates = true}, {.item_ns = 3000, .gates = true}};
    struct tsl_fake_record busy, a, b;
    struct tsl_event *event;
    cl_ulong start_ns, end_ns;
    bool all;

    (void)state;
    begin_members(members, 2, CL_QUEUE_PROFILING_ENABLE);
    launch(UNKNOWN, &(struct call){.queue = other, .size = {20}, .members = 2});
    buffer = (tsl_object_release(&buffer->object), timed_buffer(&t, SIZE + 2));
    launch(FILL, &(struct call){.event = &event});
    assert_int_equal(finish(), CL_SUCCESS);
    all = timed_run(0, &busy) && timed_run(1, &a) && timed_run(2, &b);
    assert_true(all);
    assert_int_equal(a.member, 0);
    assert_true(a.start_ns < b.start_ns && a.end_ns < b.end_ns);
    assert_int_equal(tsl_event_profile(event, CL_PROFILING_COMMAND_START, &start_ns), CL_SUCCESS);
    assert_int_equal(tsl_event_profile(event, CL_PROFILING_COMMAND_END, &end_ns), CL_SUCCESS);
    assert_int_equal(start_ns, a.start_ns);
    assert_int_equal(end_ns, b.end_ns);
    tsl_object_release(&event->object);
}

/* ---- Whole ---- */

/* Told once for a kernel. */
static void assert_refused(unsigned kernel, const char *sentence)
{
    struct tsl_kernel *made = make_kernel(kernel, 3);
    char line[256], *text;

    catch_stderr();
    for (unsigned i = 0; i < 2; i++)
        enqueue(made, &(struct call){.value = 3});
    text = release_stderr();
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 2);
    n_ran = 0;
    snprintf(line, sizeof line, "tesela: place: info: launches of %s run whole, as %s\n", kernels[kernel].name,
             sentence);
    assert_string_equal(text, line);
    free(text);
    tsl_object_release(&made->object);
}

/* Members that can't make copies one: graph_joint_test.c has the others. */
static void test_refusals(void **state)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .no_combine = true};

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    assert_refused(COUNT, "argument 0 (a0) is changed by atomic operations (at byte 0)");
    assert_refused(SCATTER, "argument 0 (a0) is written at places that are not known before the launch");
    assert_refused(SMEAR, "work-groups may write the same bytes of argument 0 (a0) (at byte gid(0))");
    assert_refused(SHOUT, "the kernel may call printf");
    assert_refused(GLOBAL, "the kernel uses program-scope variables that are not constant");
    assert_refused(UNKNOWN, "it is not known what the kernel accesses");
}

/* What is told at the process's end. */
static char *told(void)
{
    catch_stderr();
    tsl_cut_tell();
    return release_stderr();
}

static unsigned number_before(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    unsigned n = 0, unit = 1;

    assert_non_null(at);
    for (; at > text && at[-1] >= '0' && at[-1] <= '9'; unit *= 10)
        n += unit * (unsigned)(*--at - '0');
    return n;
}

static void test_counts(void **state)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .no_combine = true};
    static const char *const words[] = {" were cut exactly", " ran whole", " few-groups", " printf", " no-windows"};
    static const unsigned more[] = {2, 4, 1, 2, 1};
    unsigned before[5] = {0};
    char *text;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    for (unsigned round = 0; round < 2; round++) {
        launch(FILL, &(struct call){.value = 1});
        launch(FILL, &(struct call){.value = 2});
        launch(FILL, &(struct call){.size = {1}, .value = 3});
        launch(SHOUT, &(struct call){.value = 3});
        launch(SHOUT, &(struct call){.value = 3});
        launch(WHOLE, &(struct call){.value = 3});
        assert_int_equal(finish(), CL_SUCCESS);
        text = told();
        for (unsigned i = 0; i < 5; i++) {
            unsigned n = number_before(text, words[i]);

            if (round)
                assert_int_equal(n - before[i], more[i]);
            before[i] = n;
        }
        free(text);
    }
}

/* A launch that waits for its place, as all members have enough to do, is asked for it again and counts once. */
static void test_counts_once(void **state)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .gates = true, .no_combine = true};
    enum { N = 12 };
    char *text;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    for (unsigned i = 0; i < N; i++)
        launch(SHOUT, &(struct call){.value = 3});
    assert_int_equal(finish(), CL_SUCCESS);
    text = told();
    assert_int_equal(number_before(text, " ran whole"), N);
    assert_int_equal(number_before(text, " printf"), N);
    free(text);
}

/* Who asks for group ids and the like gets no windows, which is no news. */
static void test_whole_launch(void **state)
{
    (void)state;
    begin(2);
    assert_whole(WHOLE);
}

/* Two arguments that are one buffer: what the one writes the other doesn't read elsewhere. */
static void test_one_buffer_twice(void **state)
{
    struct tsl_buffer *was = second;

    (void)state;
    begin(2);
    was = second;
    second = buffer;
    launch_one(STENCIL, 0);
    second = was;
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 2); /* Old or new is right. */
}

static void test_svm(void **state)
{
    struct tsl_kernel *kernel;
    void *memory;

    (void)state;
    begin(2);
    memory = tsl_svm_alloc(t.context, CL_MEM_READ_WRITE, SIZE, 0);
    assert_non_null(memory);
    kernel = make_kernel(FILL, 9);
    assert_int_equal(tsl_kernel_set_svm(kernel, 0, memory), CL_SUCCESS);
    catch_stderr();
    enqueue(kernel, &(struct call){.value = 9});

    char *text = release_stderr();

    assert_non_null(strstr(text, "launches of fill run whole, as an argument is shared virtual memory"));
    free(text);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 1);
    tsl_object_release(&kernel->object);
    assert_true(tsl_svm_free(t.context, memory));
}

/* A member that runs launches whole has no part; with it alone nothing is cut. */
static void test_no_windows(void **state)
{
    struct tsl_fake_member members[] = {
        {.item_ns = 1000, .gates = true}, {.gates = true, .no_windows = true}, {.item_ns = 1000, .gates = true}};

    (void)state;
    begin_members(members, 3, 0);
    launch_one(FILL, 4);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 2);
    assert_int_equal(items_of(0, 1), 0);
    n_ran = 0;
    launch(FILL, &(struct call){.value = 5, .members = 2});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 1);
    assert_bytes(0, SIZE, 5);
}

static void test_off(void **state)
{
    (void)state;
    begin(2);
    for (unsigned i = FILL; i < N_KERNELS; i++)
        if (i != COLUMNS && i != ROWS && i != VOLUME)
            assert_whole(i);
}

/* ---- Weights ---- */

static void test_weights(void **state)
{
    (void)state;
    begin(2);
    for (unsigned i = 0; i < 3; i++) {
        unsigned before = n_ran;

        launch_one(FILL, 4);
        assert_int_equal(finish(), CL_SUCCESS);
        assert_int_equal(n_ran - before, 2);
        assert_int_equal(items_of(before, 0), SIZE / 4);
        assert_int_equal(items_of(before, 1), SIZE / 4 * 3);
    }
    assert_bytes(0, SIZE, 4);
}

/* Members without a weight have no part; one member alone runs launches whole. */
static void test_without_weight(void **state)
{
    (void)state;
    begin(3);
    launch_one(FILL, 4);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(items_of(0, 2), 0);
    assert_int_equal(n_ran, 2);
    launch(FILL, &(struct call){.value = 4, .members = 2});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 3);
    assert_int_equal(ran[2].member, 1);
}

/* A part of less than a group is none, which isn't the launch's fault. */
static void test_small_part(void **state)
{
    static const char *const words[] = {" no-parts", " few-groups"};

    (void)state;
    begin(2);
    launch(FILL, &(struct call){.size = {4}, .value = 1});
    launch(FILL, &(struct call){.size = {4}, .value = 1});
    launch(FILL, &(struct call){.size = {1}, .value = 1});
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 3);
    char *text = told();
    assert_int_equal(number_before(text, words[0]), 2);
    assert_int_equal(number_before(text, words[1]), 1);
    free(text);
}

/* ---- Auto ---- */

/* Members of one kind, used before: what one has learned the others know. The launches are cut as soon as their time is
 * known, as nothing has to move; and they take about half the time. */
static void test_auto(void **state)
{
    struct tsl_fake_member member = {.name = "fake", .item_ns = 10000, .gates = true};
    uint64_t before, whole_ns, cut_ns;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    before = tsl_clock_ns();
    launch_one(FILL, 1);
    assert_int_equal(finish(), CL_SUCCESS);
    whole_ns = tsl_clock_ns() - before;
    assert_int_equal(n_ran, 1);
    launch(FILL, &(struct call){.members = 2});
    assert_int_equal(finish(), CL_SUCCESS);
    for (unsigned i = 0; i < 4; i++) {
        n_ran = 0;
        before = tsl_clock_ns();
        launch_one(FILL, 1);
        assert_int_equal(finish(), CL_SUCCESS);
        cut_ns = tsl_clock_ns() - before;
        assert_int_equal(n_ran, 2);
        assert_int_equal(items_of(0, 0), HALF);
        assert_true((double)cut_ns < 0.6 * (double)whole_ns);
    }
    assert_bytes(0, SIZE, 1);
}

/* One member has more to do before, so its parts begin later: that isn't what cuts cost, and launches are cut as
 * before.
 */
static void test_auto_beside_others(void **state)
{
    struct tsl_fake_member member = {.name = "fake", .item_ns = 10000, .gates = true};

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    launch(FILL, &(struct call){.members = 1});
    launch(FILL, &(struct call){.members = 2});
    assert_int_equal(finish(), CL_SUCCESS);
    for (unsigned i = 0; i < 8; i++) {
        n_ran = 0;
        for (unsigned j = 0; j < 8; j++)
            launch(FILL, &(struct call){.members = 1});
        launch_one(FILL, 1);
        assert_int_equal(finish(), CL_SUCCESS);
        assert_int_equal(n_ran, 8 + 2);
    }
    n_ran = 0;
    launch_one(FILL, 1);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 2);
}

/* Launches that don't fill the members take as long in parts. One cut, or a few, show that; the others run whole. */
static void test_auto_too_few_items(void **state)
{
    struct tsl_fake_member member = {.item_ns = 10000, .fill_items = SIZE, .gates = true};
    unsigned n_cut = 0;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    for (unsigned i = 0; i < 100; i++) {
        n_ran = 0;
        launch_one(FILL, 1);
        assert_int_equal(finish(), CL_SUCCESS);
        n_cut += n_ran > 1;
    }
    assert_in_range(n_cut, 1, 4);
}

/* A member that is slower by half has a part that is smaller by half. */
static void test_auto_by_speed(void **state)
{
    struct tsl_fake_member members[] = {{.item_ns = 10000, .gates = true}, {.item_ns = 20000, .gates = true}};

    (void)state;
    begin_members(members, 2, 0);
    for (unsigned i = 0; i < 4; i++) {
        launch(FILL, &(struct call){.members = 1});
        launch(FILL, &(struct call){.members = 2});
    }
    assert_int_equal(finish(), CL_SUCCESS);
    n_ran = 0;
    launch_one(FILL, 1);
    assert_int_equal(finish(), CL_SUCCESS);
    assert_int_equal(n_ran, 2);
    assert_in_range(items_of(0, 0), SIZE * 2 / 3 - 4, SIZE * 2 / 3 + 4);
}

/* A member is ten times slower than it says, and the others share a long launch: to try it costs no more than a
 * fiftieth. */
static void test_a_try_ends_soon(void **state)
{
    enum { MANY = 400000 };
    struct tsl_fake_member fast = {.name = "fast", .speed = 40, .item_ns = 12500, .gates = true};
    struct tsl_fake_member slow = {.name = "slow", .speed = 1, .item_ns = 12500 * 400, .gates = true};
    struct tsl_buffer *small;
    unsigned tries = 0;

    (void)state;
    begin_members((struct tsl_fake_member[]){fast, fast, fast, slow}, 4, 0);
    small = buffer;
    buffer = timed_buffer(&t, MANY + 2);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t before = tsl_clock_ns();

        n_ran = 0;
        launch(FILL, &(struct call){.size = {MANY}, .value = 1, .members = i < 2 ? 7 : 0});
        assert_int_equal(finish(), CL_SUCCESS);
        if (i >= 2)
            assert_true(tsl_clock_ns() - before <= (uint64_t)MANY / 3 * 12500 / 100 * 102 + 20000000);
        for (unsigned k = 0; k < n_ran; k++)
            tries += ran[k].member == 3;
    }
    assert_true(tries > 0);
    tsl_object_release(&buffer->object);
    buffer = small;
}

/* ---- Rims ---- */

/* Once each half is where it is computed, a half is divided into what lacks nothing, which runs first, and a rim of one
 * item at the border, where a byte comes from the other half. The move goes by meanwhile. */
static void test_rims(void **state)
{
    static const struct tsl_fake_member member = {.item_ns = 1000, .bandwidth = 50000, .gates = true};
    uint64_t took_ns = 0;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    for (unsigned i = 0; i < 8; i++) {
        struct tsl_buffer *last = buffer;
        uint64_t before = tsl_clock_ns();

        n_ran = 0;
        launch_one(STENCIL, 0);
        assert_int_equal(finish(), CL_SUCCESS);
        took_ns = tsl_clock_ns() - before;
        buffer = second;
        second = last;
    }
    assert_int_equal(n_ran, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(ran[i].end[0] - ran[i].first[0], i < 2 ? HALF - 1 : 1);
    assert_int_equal(items_of(0, 0), HALF);
    assert_true(took_ns < HALF * 1000 + 20000);
    assert_bytes(0, SIZE, 0);
}

/* The same where launches are enqueued ahead: a halo overwrites what the rim of the launch but one before has read, and
 * waits for that alone, not for the inside that was submitted behind it. */
static void test_rims_ahead(void **state)
{
    enum { AHEAD = 12 };
    static const struct tsl_fake_member member = {.item_ns = 1000, .bandwidth = 50000, .gates = true};
    uint64_t before = 0;

    (void)state;
    begin_members((struct tsl_fake_member[]){member, member}, 2, 0);
    for (unsigned i = 0; i < 8 + AHEAD; i++) {
        struct tsl_buffer *last = buffer;

        launch_one(STENCIL, 0);
        buffer = second;
        second = last;
        if (i < 8)
            assert_int_equal(finish(), CL_SUCCESS);
        before = i < 8 ? tsl_clock_ns() : before;
    }
    assert_int_equal(finish(), CL_SUCCESS);
    assert_true(tsl_clock_ns() - before < AHEAD * (HALF * 1000 + 5000) + 30000);
    assert_bytes(0, SIZE, 0);
}

/* Of what was in the other buffer; the bytes at the ends stay. */
static void expect_stencil(unsigned char *to, const unsigned char *from)
{
    for (unsigned i = 0; i < SIZE; i++)
        to[i + 1] = (unsigned char)(from[i] + from[i + 1] + from[i + 2]);
}

/* What is written is the same as by whole launches. */
static void test_rims_write(void **state)
{
    unsigned char expected[2][SIZE + 2] = {{0}};
    unsigned n_divided = 0;

    (void)state;
    begin(3);
    launch(FILL, &(struct call){.value = 3, .size = {100, 0}});
    memset(expected[0], 3, 100);
    for (unsigned n = 0; n < 6; n++) {
        struct tsl_buffer *last = buffer;

        buffer = second;
        second = last;
        n_ran = 0;
        launch_one(STENCIL, 0);
        assert_int_equal(finish(), CL_SUCCESS);
        expect_stencil(expected[(n + 1) % 2], expected[n % 2]);
        n_divided += n_ran > 3;
    }
    assert_true(n_divided > 2);
    for (unsigned i = 0; i < SIZE + 2; i++)
        assert_bytes(i, 1, expected[0][i]);
}

/* ---- All ---- */

static int run_always(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_overlap, end),
        cmocka_unit_test_teardown(test_barriers, end),
        cmocka_unit_test_teardown(test_few_groups, end),
        cmocka_unit_test_teardown(test_open_groups, end),
        cmocka_unit_test(test_open_groups_of_gpus),
        cmocka_unit_test_teardown(test_all_to_all, end),
        cmocka_unit_test_teardown(test_one_member, end),
        cmocka_unit_test_teardown(test_dimensions, end),
        cmocka_unit_test_teardown(test_in_place, end),
        cmocka_unit_test_teardown(test_halo, end),
        cmocka_unit_test_teardown(test_volume, end),
        cmocka_unit_test_teardown(test_small_slabs, end),
        cmocka_unit_test_teardown(test_written_in_parts, end),
        cmocka_unit_test_teardown(test_order, end),
        cmocka_unit_test(test_failure),
        cmocka_unit_test_teardown(test_failure_ends_last, end),
        cmocka_unit_test_teardown(test_times, end),
        cmocka_unit_test_teardown(test_refusals, end),
        cmocka_unit_test_teardown(test_counts, end),
        cmocka_unit_test_teardown(test_whole_launch, end),
        cmocka_unit_test_teardown(test_one_buffer_twice, end),
        cmocka_unit_test_teardown(test_svm, end),
        cmocka_unit_test_teardown(test_no_windows, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_weights(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_weights, end),
        cmocka_unit_test_teardown(test_without_weight, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_lopsided(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_small_part, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_auto(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_auto, end),
        cmocka_unit_test_teardown(test_auto_beside_others, end),
        cmocka_unit_test_teardown(test_auto_too_few_items, end),
        cmocka_unit_test_teardown(test_auto_by_speed, end),
        cmocka_unit_test_teardown(test_a_try_ends_soon, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_rims(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_rims, end),
        cmocka_unit_test_teardown(test_rims_ahead, end),
        cmocka_unit_test_teardown(test_rims_write, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_eager(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_counts_once, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

static int run_off(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_off, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The settings of a process don't change. */
int main(void)
{
    if (tsl_settings()->policy == TSL_POLICY_EAGER)
        return run_eager();
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS)
        return run_always();
    if (tsl_settings()->split == TSL_SPLIT_ALWAYS_EXACT)
        return run_rims();
    if (tsl_settings()->split == TSL_SPLIT_OFF)
        return run_off();
    if (tsl_settings()->policy == TSL_POLICY_WEIGHTS)
        return tsl_settings()->weights[1] > 3 ? run_lopsided() : run_weights();
    return run_auto();
}
