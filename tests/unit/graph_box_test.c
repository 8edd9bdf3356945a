/* What transfers of boxes move, wait for and leave valid: a column of a matrix moves a column. Bytes are counted by the
 * fake driver, in virtual time. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin */
#include "graph/boxes.h"
#include "graph/copies.h"
#include "test.h"
#include "timed.h"

#include <stdlib.h>
#include <string.h>

#define PITCH (4096u) /* of the matrix: 1024 floats in a row */
#define SIDE  1024u   /* rows */
#define SIZE  ((size_t)PITCH * SIDE)

static struct timed t;
static struct tsl_buffer *matrix;
static unsigned char *model, *back; /* what the matrix should be, and what was read */
static unsigned char source[1 << 20];

/* ---- The machine ---- */

static bool was_right; /* of the last run of the kernel "check" */

static void check_body(const struct tsl_fake_run *run)
{
    was_right = memcmp(run->args[0].ptr, model, SIZE) == 0;
}

/* Writes the first byte, whatever it may do. */
static void touch_body(const struct tsl_fake_run *run)
{
    ((unsigned char *)run->args[0].ptr)[0]++;
}

static void begin_with(const struct tsl_fake_member *members, unsigned n_members)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};

    tsl_fake_kernel("check", check_body, 1, kinds, (const unsigned[]){TSL_MAY_READ});
    tsl_fake_kernel("touch", touch_body, 1, kinds, (const unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE});
    timed_begin(&t, members, n_members, "kernel check a\nkernel touch a\n", 0);
    matrix = timed_buffer(&t, SIZE);
    model = calloc(1, SIZE);
    back = malloc(SIZE);
    assert_true(model && back);
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(i * 7 + i / 256 + 1);
}

static void begin(unsigned n_members, bool zero_copy)
{
    const struct tsl_fake_member members[3] = {
        {.gates = true}, {.gates = true, .zero_copy = zero_copy}, {.gates = true}};

    begin_with(members, n_members);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&matrix->object);
    timed_end(&t);
    free(model);
    free(back);
    return 0;
}

static void launch(const char *kernel, unsigned member)
{
    t.members = 1u << member;
    timed_launch(&t, kernel, 1, 1, &matrix, 0, NULL);
}

/* The member's copy is right, and is moved where it isn't there. */
static void assert_right_on(unsigned member)
{
    was_right = false;
    launch("check", member);
    timed_finish(&t);
    assert_true(was_right);
}

static void assert_right(void)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy all = {.region = {SIZE, 1, 1}};

    assert_int_equal(tsl_enqueue_read(&e, matrix, back, &all), CL_SUCCESS);
    assert_memory_equal(back, model, SIZE);
}

/* Bytes that went to members, and back, since the last call. */
static void assert_moved(uint64_t up, uint64_t down)
{
    timed_finish(&t);
    timed_assert_moved(&t, up, down);
}

/* The matrix is valid on the first n members. */
static void spread(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_right_on(i);
    timed_finish(&t);
    tsl_fake_reset_counts();
}

/* ---- Transfers ---- */

/* A box of the matrix: so many rows of some bytes. */
static struct tsl_box_copy box_at(size_t offset, size_t width, size_t rows, size_t pitch)
{
    return (struct tsl_box_copy){.region = {width, rows, 1},
                                 .dst_offset = offset,
                                 .dst_row_pitch = pitch,
                                 .dst_slice_pitch = pitch * rows,
                                 .src_row_pitch = width,
                                 .src_slice_pitch = width * rows};
}

static void model_write(const struct tsl_box_copy *box)
{
    for (size_t i = 0; i < box->region[1]; i++)
        memcpy(model + box->dst_offset + i * box->dst_row_pitch, source + i * box->region[0], box->region[0]);
}

static void write_in(struct tsl_queue *queue, const struct tsl_box_copy *box)
{
    struct tsl_enqueue e = {.queue = queue, .type = CL_COMMAND_WRITE_BUFFER_RECT};

    assert_int_equal(tsl_enqueue_write(&e, matrix, source, box), CL_SUCCESS);
    model_write(box);
}

static void write_box(const struct tsl_box_copy *box)
{
    write_in(t.queue, box);
}

static size_t n_tiles(void)
{
    return tsl_data_of(matrix)->tiles.n;
}

/* ---- All copies ---- */

/* Whichever copies there are: the host's is written by the host. */
static void test_column(void **state)
{
    const struct tsl_box_copy column = box_at(40, 4, SIDE, PITCH);

    (void)state;
    for (unsigned n_members = 2; n_members <= 3; n_members++)
        for (unsigned n_valid = 0; n_valid <= n_members; n_valid++) {
            begin(n_members, false);
            spread(n_valid);
            write_box(&column);
            assert_moved((uint64_t)4 * SIDE * n_valid, 0);
            assert_in_range(n_tiles(), 1, 3);
            for (unsigned i = 0; i < n_valid; i++)
                assert_right_on(i);
            assert_moved(0, 0);
            assert_right();
            end(NULL);
        }
}

/* Only one member has it. */
static void test_column_on_one(void **state)
{
    const struct tsl_box_copy column = box_at(44, 4, SIDE, PITCH);

    (void)state;
    begin(2, false);
    launch("touch", 1);
    model[0]++;
    timed_finish(&t);
    tsl_fake_reset_counts();
    write_box(&column);
    assert_moved((uint64_t)4 * SIDE, 0);
    assert_right_on(1);
    assert_moved(0, 0);
    assert_right();
}

static void test_column_on_host_memory(void **state)
{
    const struct tsl_box_copy column = box_at(48, 4, SIDE, PITCH);

    (void)state;
    begin(2, true);
    spread(2);
    write_box(&column);
    timed_finish(&t);
    assert_right_on(0);
    assert_right_on(1);
    assert_int_equal(tsl_fake_counts(0).did_size[TSL_FAKE_DID_WRITE], 4 * SIDE);
    assert_right();
}

/* Copies of halves: each has what was written, and what the other half was stays where it was. */
static void test_column_over_halves(void **state)
{
    const struct tsl_box_copy column = box_at(52, 4, SIDE, PITCH);
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy half = {.region = {SIZE / 2, 1, 1}, .dst_offset = SIZE / 2};

    (void)state;
    begin(2, false);
    spread(2);
    e.queue = t.queue;
    memset(model + SIZE / 2, 9, SIZE / 2);
    memset(back, 9, SIZE / 2);
    assert_int_equal(tsl_enqueue_write(&e, matrix, back, &half), CL_SUCCESS);
    tsl_fake_reset_counts();
    write_box(&column);
    assert_moved((uint64_t)2 * 4 * SIDE, 0);
    assert_right_on(0);
    assert_right_on(1);
    assert_moved(SIZE, 0);
    assert_right();
}

/* While the matrix is on its way to a member. */
static void test_column_behind_moves(void **state)
{
    const struct tsl_box_copy column = box_at(56, 4, SIDE, PITCH);

    (void)state;
    begin(2, false);
    launch("check", 0);
    launch("check", 1);
    write_box(&column);
    timed_finish(&t);
    assert_right_on(0);
    assert_right_on(1);
    assert_moved(2 * SIZE + 2 * 4 * SIDE, 0);
}

/* The column is in the host's copy, too, and a member's that wasn't there goes there anew. */
static void test_lost_move(void **state)
{
    const struct tsl_box_copy column = box_at(60, 4, SIDE, PITCH);

    (void)state;
    begin(2, false);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, -9001);
    launch("check", 1);
    write_box(&column);
    assert_int_equal(tsl_queue_finish(t.queue), -9001);
    assert_right();
    assert_right_on(1);
}

/* A copy to which the write fails isn't valid any more, and the rest of it is as it was. */
static void test_failed_copy(void **state)
{
    const struct tsl_box_copy column = box_at(64, 4, SIDE, PITCH);

    (void)state;
    for (unsigned failed = 0; failed < 2; failed++) {
        begin(2, false);
        spread(2);
        tsl_fake_fail_work(failed, TSL_FAKE_COPY, 1, -9002);
        write_box(&column);
        assert_int_equal(tsl_queue_finish(t.queue), -9002);
        assert_right();
        assert_right_on(1 - failed);
        assert_right_on(failed);
        assert_moved(4 * SIDE + (SIDE - 1) * PITCH + 4, 0); /* The other copy; and again what the column's range was. */
        end(NULL);
    }
}

/* It fails everywhere: what lies beside the column is as it was. */
static void test_failed_copies(void **state)
{
    const struct tsl_box_copy column = box_at(0, 4, SIDE, PITCH);

    (void)state;
    begin(2, false);
    launch("touch", 0);
    timed_finish(&t);
    tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, -9002);
    write_box(&column);
    assert_int_equal(tsl_queue_finish(t.queue), -9002);
    memset(model, 0, SIZE);
    for (unsigned i = 0; i < 2; i++) {
        struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
        struct tsl_box_copy part = {.region = {PITCH - 4, 1, 1}, .src_offset = (size_t)i * 77 * PITCH + 4};

        assert_int_equal(tsl_enqueue_read(&e, matrix, back, &part), CL_SUCCESS);
        assert_memory_equal(back, model, PITCH - 4);
    }
}

/* A launch that is to change the matrix and fails: it goes back to what was good. A write before it is in that, and one
 * behind it has failed if it isn't. */
static void test_failed_before(void **state)
{
    const struct tsl_box_copy column = box_at(68, 4, SIDE, PITCH);
    struct tsl_queue *other;

    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        begin(2, false);
        spread(1);
        assert_int_equal(tsl_queue_create(t.context, tsl_device_root(), 0, NULL, 0, &other), CL_SUCCESS);
        tsl_fake_fail_call(1, TSL_FAKE_LAUNCH, 1, -9003);
        if (first)
            launch("touch", 1);
        write_in(other, &column);
        if (!first)
            launch("touch", 1);
        assert_int_equal(tsl_queue_flush(other), CL_SUCCESS);
        assert_int_equal(tsl_queue_finish(t.queue), -9003);
        if (tsl_queue_finish(other) != CL_SUCCESS) {
            assert_true(first);
            memset(model, 0, SIZE);
        }
        assert_right();
        tsl_queue_let_go(other);
        tsl_object_release(&other->object);
        end(NULL);
    }
}

/* The only copy is on its way home from a member that gives it up, and doesn't come there: the column, which would only
 * be in the host's copy, has failed. The rest is where it was. */
static void test_given_up(void **state)
{
    const struct tsl_fake_member members[2] = {{.gates = true, .memory_size = SIZE + SIZE / 2}, {.gates = true}};
    const struct tsl_box_copy column = box_at(0, 4, SIDE, PITCH);
    struct tsl_box_copy rest = {.region = {PITCH - 4, 1, 1}, .src_offset = 77 * PITCH + 4};
    struct tsl_enqueue e = {.type = CL_COMMAND_WRITE_BUFFER_RECT};
    struct tsl_event *event;
    struct tsl_buffer *other;

    (void)state;
    begin_with(members, 2);
    e.queue = t.queue;
    other = timed_buffer(&t, SIZE);
    launch("touch", 0);
    timed_finish(&t);
    tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, -9005);
    timed_launch(&t, "touch", 1, 1, &other, 0, NULL); /* There is no room for it then. */
    e.event = &event;
    assert_int_equal(tsl_enqueue_write(&e, matrix, source, &column), CL_SUCCESS);
    assert_true(tsl_queue_finish(t.queue) < 0);
    assert_int_equal(tsl_event_status(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    tsl_object_release(&event->object);
    memset(model, 0, SIZE);
    e = (struct tsl_enqueue){.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    assert_int_equal(tsl_enqueue_read(&e, matrix, back, &rest), CL_SUCCESS);
    assert_memory_equal(back, model, PITCH - 4);
    tsl_object_release(&other->object);
}

/* The same, and a launch would have had it back: what it got there is nothing to go back to, though an earlier launch
 * on the same member went well. */
static void test_given_up_and_fetched(void **state)
{
    const struct tsl_fake_member member = {.gates = true, .memory_size = SIZE + SIZE / 2};
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy all = {.region = {SIZE, 1, 1}};
    struct tsl_buffer *other;

    (void)state;
    begin_with(&member, 1);
    e.queue = t.queue;
    other = timed_buffer(&t, SIZE);
    launch("touch", 0);
    tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, -9006);
    timed_launch(&t, "touch", 1, 1, &other, 0, NULL);
    launch("touch", 0);
    assert_true(tsl_queue_finish(t.queue) < 0);
    model[0]++;
    if (tsl_enqueue_read(&e, matrix, back, &all) == CL_SUCCESS)
        assert_memory_equal(back, model, SIZE);
    tsl_object_release(&other->object);
}

static void test_fill_and_copy(void **state)
{
    const struct tsl_box_copy filled = box_at(72, 4, SIDE, PITCH);
    struct tsl_box_copy copied = box_at(76, 4, SIDE, PITCH);
    struct tsl_enqueue e = {.type = CL_COMMAND_FILL_BUFFER};

    (void)state;
    begin(2, false);
    spread(2);
    write_box(&(struct tsl_box_copy){.region = {4, SIDE, 1},
                                     .dst_offset = 80,
                                     .dst_row_pitch = PITCH,
                                     .src_row_pitch = 4,
                                     .dst_slice_pitch = SIZE,
                                     .src_slice_pitch = 4 * SIDE});
    timed_finish(&t);
    tsl_fake_reset_counts();
    e.queue = t.queue;
    assert_int_equal(tsl_enqueue_fill_box(&e, matrix, "abcd", 4, &filled), CL_SUCCESS);
    copied.src_offset = 80;
    copied.src_row_pitch = PITCH;
    copied.src_slice_pitch = SIZE;
    e.type = CL_COMMAND_COPY_BUFFER_RECT;
    assert_int_equal(tsl_enqueue_copy(&e, matrix, matrix, &copied), CL_SUCCESS);
    for (size_t i = 0; i < SIDE; i++) {
        memcpy(model + i * PITCH + 72, "abcd", 4);
        memcpy(model + i * PITCH + 76, model + i * PITCH + 80, 4);
    }
    assert_right_on(0);
    assert_right_on(1);
    assert_moved(0, 0);
    assert_right();
}

/* Past the bound the range is taken: one copy is written, and is the only valid one. */
static void test_bound(void **state)
{
    const size_t most = TSL_BOX_TO_ALL_SIZE / 3 / SIDE;

    (void)state;
    for (size_t width = most; width <= most + 1; width++) {
        const struct tsl_box_copy column = box_at(8, width, SIDE, PITCH);

        begin(2, false);
        spread(2);
        write_box(&column);
        assert_moved(width == most ? 2 * SIDE * most : 0, 0);
        assert_right_on(0);
        assert_right_on(1);
        assert_right();
        end(NULL);
    }
}

/* ---- Rows ---- */

#define FAR   (SIZE / 8) /* from row to row */
#define WIDTH ((size_t)96 << 10)

/* Few rows that are large: each is claimed, and the rest stays valid everywhere. */
static void test_few_rows(void **state)
{
    const struct tsl_box_copy rows = box_at(100, WIDTH, 3, FAR);

    (void)state;
    begin(2, false);
    spread(2);
    write_box(&rows);
    assert_moved(0, 0);
    assert_int_equal(n_tiles(), 7);
    assert_right_on(0);
    assert_moved(3 * WIDTH, 0);
    assert_right_on(1);
    assert_right();
}

/* Rows that only a member has come from there, whatever lies between. */
static void test_read_rows(void **state)
{
    const struct tsl_box_copy rows = box_at(100, WIDTH, 3, FAR);
    struct tsl_enqueue e = {.type = CL_COMMAND_READ_BUFFER_RECT, .blocking = true};
    struct tsl_box_copy box = {.region = {WIDTH, 3, 1},
                               .src_offset = 100,
                               .src_row_pitch = FAR,
                               .src_slice_pitch = 3 * FAR,
                               .dst_row_pitch = WIDTH,
                               .dst_slice_pitch = 3 * WIDTH};

    (void)state;
    begin(2, false);
    launch("touch", 1);
    model[0]++;
    write_box(&rows);
    timed_finish(&t);
    tsl_fake_reset_counts();
    e.queue = t.queue;
    assert_int_equal(tsl_enqueue_read(&e, matrix, back, &box), CL_SUCCESS);
    assert_moved(0, 0);
    assert_memory_equal(back, source, 3 * WIDTH);
    assert_right();
}

static void test_map_rows(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    struct tsl_box_copy box = box_at(100, WIDTH, 3, FAR);
    void *ptr;

    (void)state;
    begin(2, false);
    launch("touch", 1);
    model[0]++;
    timed_finish(&t);
    tsl_fake_reset_counts();
    e.queue = t.queue;
    assert_int_equal(tsl_enqueue_map_box(&e, matrix, CL_MAP_READ | CL_MAP_WRITE, &box, &ptr), CL_SUCCESS);
    assert_moved(0, 3 * WIDTH);
    for (size_t i = 0; i < 3; i++) {
        memset((unsigned char *)ptr + i * FAR, 5 + (int)i, WIDTH);
        memset(model + 100 + i * FAR, 5 + (int)i, WIDTH);
    }
    e.type = CL_COMMAND_UNMAP_MEM_OBJECT;
    assert_int_equal(tsl_enqueue_unmap(&e, matrix, ptr), CL_SUCCESS);
    assert_right_on(1);
    assert_moved(3 * WIDTH, 0);
    assert_right();
}

/* ---- Maps of many rows ------------------------------------------------------------------------------------------- */

static unsigned char *map_box(const struct tsl_box_copy *box, cl_map_flags flags)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    void *ptr;

    assert_int_equal(tsl_enqueue_map_box(&e, matrix, flags, box, &ptr), CL_SUCCESS);
    return ptr;
}

static void unmap(unsigned char *ptr)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_UNMAP_MEM_OBJECT};

    assert_int_equal(tsl_enqueue_unmap(&e, matrix, ptr), CL_SUCCESS);
}

/* The program writes what it has mapped. */
static void change(const struct tsl_box_copy *box, unsigned char *ptr)
{
    model_write(box);
    for (size_t i = 0; i < box->region[1]; i++)
        memcpy(ptr + i * box->dst_row_pitch, source + i * box->region[0], box->region[0]);
}

static void map_and_write(const struct tsl_box_copy *box, cl_map_flags flags)
{
    unsigned char *ptr = map_box(box, flags);

    change(box, ptr);
    unmap(ptr);
}

/* It goes to each valid copy, which all stay valid. */
static void test_map_column(void **state)
{
    static const cl_map_flags flags[] = {CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION};
    const struct tsl_box_copy column = box_at(40, 4, SIDE, PITCH);

    (void)state;
    for (unsigned n_members = 1; n_members <= 3; n_members++)
        for (unsigned n_valid = 0; n_valid <= n_members; n_valid++) {
            begin(n_members, false);
            spread(n_valid);
            map_and_write(&column, flags[(n_members + n_valid) % 3]);
            assert_moved((uint64_t)4 * SIDE * n_valid, 0);
            assert_in_range(n_tiles(), 1, 3);
            for (unsigned m = 0; m < n_valid; m++)
                assert_right_on(m);
            assert_moved(0, 0);
            assert_right();
            end(NULL);
        }
}

/* Only a member has it: what lies between the rows goes to the host once, and stays there. */
static void test_map_column_on_one(void **state)
{
    (void)state;
    for (unsigned n_members = 1; n_members <= 2; n_members++) {
        begin(n_members, false);
        launch("touch", n_members - 1);
        model[0]++;
        timed_finish(&t);
        tsl_fake_reset_counts();
        for (unsigned i = 0; i < 20; i++) {
            const struct tsl_box_copy column = box_at(40 + 8 * i, 4, SIDE, PITCH);

            map_and_write(&column, i % 2 ? CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION);
            assert_moved((uint64_t)4 * SIDE, i ? 8 : SIZE - 40 - (PITCH - 44));
            assert_in_range(n_tiles(), 1, 3 + 2 * (i + 1)); /* A map cuts at its first and last byte. */
        }
        assert_right_on(n_members - 1);
        timed_finish(&t);
        launch("check", n_members - 1);
        assert_in_range(n_tiles(), 1, 3);
        assert_right();
        end(NULL);
    }
}

/* Too much to go to every copy: the host's is the valid one, from the first to the last byte. */
static void test_map_wide_column(void **state)
{
    enum { WIDE = 512 };
    const struct tsl_box_copy column = box_at(64, WIDE, SIDE, PITCH);

    (void)state;
    begin(2, false);
    spread(2);
    for (unsigned i = 0; i < 3; i++) {
        map_and_write(&column, CL_MAP_WRITE);
        assert_in_range(n_tiles(), 1, 3);
        assert_moved(0, 0);
    }
    assert_right_on(0);
    assert_moved(SIZE - 64 - (PITCH - 64 - WIDE), 0);
    assert_right();
}

/* A kernel writes around the rows while they are mapped. */
static void test_map_beside_kernel(void **state)
{
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        const struct tsl_box_copy column = box_at(64, wide ? 512 : 4, SIDE, PITCH);
        unsigned char *ptr;

        begin(2, false);
        spread(2);
        ptr = map_box(&column, CL_MAP_WRITE);
        launch("touch", 1); /* It may write to all of it, and writes the first byte. */
        model[0]++;
        change(&column, ptr);
        unmap(ptr);
        timed_finish(&t);
        launch("check", 1); /* The next use finds that what the rows kept says nothing any more. */
        assert_in_range(n_tiles(), 1, 5);
        assert_right_on(1);
        assert_right_on(0);
        assert_right();
        end(NULL);
    }
}

/* Two columns, mapped at the same time, of which one is unmapped later. */
static void test_two_maps(void **state)
{
    const struct tsl_box_copy a = box_at(64, 4, SIDE, PITCH), b = box_at(128, 4, SIDE, PITCH);
    unsigned char *at_a, *at_b;

    (void)state;
    begin(2, false);
    spread(1);
    at_a = map_box(&a, CL_MAP_WRITE);
    at_b = map_box(&b, CL_MAP_WRITE);
    change(&a, at_a);
    launch("touch", 1);
    model[0]++;
    unmap(at_a);
    change(&b, at_b);
    launch("touch", 1);
    model[0]++;
    unmap(at_b);
    timed_finish(&t);
    launch("check", 1);
    assert_in_range(n_tiles(), 1, 5);
    assert_right_on(1);
    assert_right_on(0);
    assert_right();
}

static void test_failed_unmap(void **state)
{
    const struct tsl_box_copy column = box_at(64, 4, SIDE, PITCH);
    unsigned char *ptr;

    (void)state;
    begin(2, false);
    spread(2);
    ptr = map_box(&column, CL_MAP_WRITE);
    change(&column, ptr);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, -9003);
    unmap(ptr);
    assert_int_equal(tsl_queue_finish(t.queue), -9003);
    assert_right_on(1);
    assert_right_on(0);
    assert_right();
}

/* A kernel that fails gives back the rows, too; what the program writes there stays. */
static void test_failed_kernel(void **state)
{
    const struct tsl_box_copy column = box_at(64, 512, SIDE, PITCH);
    unsigned char *ptr;

    (void)state;
    begin(2, false);
    launch("touch", 0);
    model[0]++;
    timed_finish(&t);
    ptr = map_box(&column, CL_MAP_WRITE);
    tsl_fake_fail_work(1, TSL_FAKE_LAUNCH, 1, -9004);
    launch("touch", 1);
    assert_int_equal(tsl_queue_finish(t.queue), -9004);
    change(&column, ptr);
    unmap(ptr);
    assert_right_on(1);
    assert_right();
}

/* A map that tells of an earlier launch's failure maps nothing, so nothing is written: neither one range nor many rows.
 * The program would not hear of such a write's failure. */
static void test_map_that_tells(void **state)
{
    const struct tsl_box_copy boxes[2] = {box_at(64, PITCH, 1, PITCH), box_at(64, 4, SIDE, PITCH)};
    struct tsl_enqueue e = {.type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    struct tsl_buffer *other;
    void *ptr;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin(2, false);
        other = timed_buffer(&t, SIZE);
        spread(2);
        t.members = 1;
        timed_launch(&t, "touch", 1, 1, &other, 0, NULL);
        timed_finish(&t);
        tsl_fake_reset_counts();
        tsl_fake_fail_work(0, TSL_FAKE_LAUNCH, 1, -9006);
        timed_launch(&t, "touch", 1, 1, &other, 0, NULL);
        tsl_fake_fail_work(0, TSL_FAKE_COPY, 1, -9007);
        e.queue = t.queue;
        assert_int_equal(tsl_enqueue_map_box(&e, matrix, CL_MAP_READ | CL_MAP_WRITE, &boxes[i], &ptr), -9006);
        assert_int_equal(tsl_buffer_map_count(matrix), 0);
        assert_moved(0, 0);
        assert_right_on(0);
        assert_right_on(1);
        assert_moved(0, 0);
        assert_right();
        tsl_object_release(&other->object);
        end(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_column),
        cmocka_unit_test_teardown(test_column_on_one, end),
        cmocka_unit_test_teardown(test_column_on_host_memory, end),
        cmocka_unit_test_teardown(test_column_over_halves, end),
        cmocka_unit_test_teardown(test_column_behind_moves, end),
        cmocka_unit_test_teardown(test_lost_move, end),
        cmocka_unit_test(test_failed_copy),
        cmocka_unit_test_teardown(test_failed_copies, end),
        cmocka_unit_test(test_failed_before),
        cmocka_unit_test_teardown(test_given_up, end),
        cmocka_unit_test_teardown(test_given_up_and_fetched, end),
        cmocka_unit_test_teardown(test_fill_and_copy, end),
        cmocka_unit_test(test_bound),
        cmocka_unit_test_teardown(test_few_rows, end),
        cmocka_unit_test_teardown(test_read_rows, end),
        cmocka_unit_test_teardown(test_map_rows, end),
        cmocka_unit_test(test_map_column),
        cmocka_unit_test(test_map_column_on_one),
        cmocka_unit_test_teardown(test_map_wide_column, end),
        cmocka_unit_test(test_map_beside_kernel),
        cmocka_unit_test_teardown(test_two_maps, end),
        cmocka_unit_test_teardown(test_failed_unmap, end),
        cmocka_unit_test_teardown(test_failed_kernel, end),
        cmocka_unit_test(test_map_that_tells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
