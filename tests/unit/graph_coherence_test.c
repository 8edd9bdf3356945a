/*
 * TESELA_CHECK=coherence: copies that count as equal are compared after each command. Right programs pass; a transfer
 * that does nothing, a kernel that writes where it says that it only reads, and memory that the program changes behind
 * Tesela's back are each found, with the bytes and the places.
 */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=round-robin TESELA_CHECK=coherence */
/* variant: cut TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_SPLIT=always TESELA_CHECK=access,coherence */
#include "base/log.h"
#include "caught.h"
#include "footprint_bed.h"
#include "graph/coherence.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "timed.h"

#include <stdlib.h>
#include <string.h>

#define PITCH 1024u
#define ROWS  64u
#define SIZE  ((size_t)PITCH * ROWS)

static struct timed t;
static struct tsl_buffer *matrix;
static unsigned char model[SIZE], bytes[SIZE];

/* ---- The machine ---- */

static void look_body(const struct tsl_fake_run *run)
{
    (void)run;
}

/* Says that it reads, and writes. */
static void lie_body(const struct tsl_fake_run *run)
{
    if (run->first[0] == 0)
        ((unsigned char *)run->args[0].ptr)[77] ^= 0xff;
}

static void add_body(const struct tsl_fake_run *run)
{
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[i]++;
}

static void begin(unsigned n_members, bool zero_copy)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL};
    static struct bed add;
    struct tsl_fake_member members[3] = {{.gates = true}, {.gates = true, .zero_copy = zero_copy}, {.gates = true}};

    bed_begin(&add, 1);
    bed_access(&add, 0, TSL_ACCESS_READ, 1, bed_leaf(&add, TSL_NODE_GLOBAL_ID, 0));
    bed_access(&add, 0, TSL_ACCESS_WRITE, 1, bed_leaf(&add, TSL_NODE_GLOBAL_ID, 0));
    tsl_fake_kernel("look", look_body, 1, kinds, (const unsigned[]){TSL_MAY_READ});
    tsl_fake_kernel("lie", lie_body, 1, kinds, (const unsigned[]){TSL_MAY_READ});
    tsl_fake_kernel("add", add_body, 1, kinds, (const unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE});
    tsl_fake_kernel_traits("add", &(struct tsl_fake_traits){.footprint = &add.footprint});
    timed_begin(&t, members, n_members, "kernel look a\nkernel lie a\nkernel add a\n", 0);
    atomic_store(&tsl_log_mask, tsl_log_default());
    matrix = timed_buffer(&t, SIZE);
    memset(model, 0, sizeof model);
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&matrix->object);
    timed_end(&t);
    return 0;
}

static void launch(const char *kernel, unsigned members, size_t n_items)
{
    t.members = members;
    timed_launch(&t, kernel, n_items, 1, &matrix, 0, NULL);
}

/* The source stays as it is until the next call. */
static void write_column(size_t at, unsigned char value)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER_RECT};
    struct tsl_box_copy box = {.region = {4, ROWS, 1},
                               .dst_offset = at,
                               .dst_row_pitch = PITCH,
                               .dst_slice_pitch = SIZE,
                               .src_row_pitch = 4,
                               .src_slice_pitch = 4 * ROWS};
    static unsigned char column[4 * ROWS];

    memset(column, value, sizeof column);
    assert_int_equal(tsl_enqueue_write(&e, matrix, column, &box), CL_SUCCESS);
    for (unsigned i = 0; i < ROWS; i++)
        memset(model + at + i * PITCH, value, 4);
}

static cl_int read_all(void)
{
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_READ_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {SIZE, 1, 1}};

    return tsl_enqueue_read(&e, matrix, bytes, &box);
}

static void assert_right(void)
{
    assert_int_equal(read_all(), CL_SUCCESS);
    assert_memory_equal(bytes, model, SIZE);
}

/* All that is on its way ends, and one command finds a difference. */
static char *caught_difference(void)
{
    cl_int error = tsl_queue_finish(t.queue);
    char *text = release_stderr();

    assert_int_equal(error, CL_OUT_OF_RESOURCES);
    return text;
}

static void assert_told(char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" isn't in: %s", part, text);
}

static uint64_t size_read(void)
{
    uint64_t size = 0;

    for (unsigned i = 0; i < t.n_members; i++)
        size += tsl_fake_counts(i).did_size[TSL_FAKE_DID_READ];
    return size;
}

/* ---- Tests ---- */

static void test_right(void **state)
{
    (void)state;
    for (unsigned zero_copy = 0; zero_copy < 2; zero_copy++) {
        begin(3, zero_copy);
        tsl_coherence_piece = 24 << 10; /* Several pieces, the last one smaller. */
        launch("look", 1u << 0, 1);
        launch("look", 1u << 2, 1);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        assert_true(size_read() >= 3 * SIZE); /* One copy after the first launch, two after the other. */
        write_column(40, 7);
        assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
        launch("add", ~0u, SIZE);
        for (size_t i = 0; i < SIZE; i++)
            model[i]++;
        launch("look", 1u << 1, 1);
        write_column(80, 9);
        assert_right();
        end(NULL);
        tsl_coherence_piece = 1 << 20;
    }
}

/* A move that does nothing: the command whose move it was finds that. */
static void test_lost_move(void **state)
{
    char *text;

    (void)state;
    begin(2, false);
    matrix->data->host[5000] = 1; /* Fresh memory is rubbish, and this is not what lies there. */
    catch_stderr();
    tsl_fake_sabotage(TSL_FAKE_STALE_COPY, 1);
    launch("look", 1u << 1, 1);
    text = caught_difference();
    assert_true(tsl_fake_sabotaged());
    assert_told(text, "TESELA_CHECK: after command 1 (look) bytes 0 to ");
    assert_told(text, "(65536 bytes) differ between host (0x00");
    assert_told(text, "fake:1 (0x");
    assert_told(text, "no command wrote there last");
    free(text);
}

/* The same of one of several writes to all copies. */
static void test_lost_column(void **state)
{
    char *text;

    (void)state;
    begin(2, false);
    launch("look", 1u << 0, 1);
    launch("look", 1u << 1, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    catch_stderr();
    tsl_fake_sabotage(TSL_FAKE_STALE_COPY, 3); /* After member 0's, and the check's read of that. */
    write_column(100, 3);
    text = caught_difference();
    assert_true(tsl_fake_sabotaged());
    assert_told(text, "after command 3 (write rect) bytes 100 to 103 of");
    assert_told(text, "command 3 (write rect) may have written there last");
    free(text);
}

static void test_lie(void **state)
{
    char *text;

    (void)state;
    begin(2, false);
    launch("look", 1u << 0, 1);
    write_column(40, 5);
    catch_stderr();
    launch("lie", 1u << 0, 1);
    text = caught_difference();
    assert_told(text, "after command 3 (lie) bytes 77 to 77 of");
    assert_told(text, "host (0x00 …) and fake:0 (0xff …)");
    free(text);
    /* What was told of one command is found by the next, too. */
    catch_stderr();
    launch("look", 1u << 1, 1);
    text = caught_difference();
    assert_told(text, "after command 4 (look) bytes 77 to 77 of");
    free(text);
}

/* While it is mapped for writing the program may change it; what is mapped otherwise is compared. */
static void test_mapped(void **state)
{
    struct tsl_enqueue e = {.type = CL_COMMAND_MAP_BUFFER, .blocking = true};
    struct tsl_enqueue un = {.type = CL_COMMAND_UNMAP_MEM_OBJECT};
    unsigned char *ptr;
    char *text;

    (void)state;
    begin(2, false);
    e.queue = un.queue = t.queue;
    launch("look", 1u << 0, 1);
    assert_int_equal(tsl_enqueue_map(&e, matrix, CL_MAP_READ | CL_MAP_WRITE, 64, 64, (void **)&ptr), CL_SUCCESS);
    ptr[3] = model[67] = 9;
    write_column(512, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_int_equal(tsl_enqueue_unmap(&un, matrix, ptr), CL_SUCCESS);
    launch("look", 1u << 0, 1);
    assert_right();
    /* The program changes what is mapped for reading. */
    assert_int_equal(tsl_enqueue_map(&e, matrix, CL_MAP_READ, 64, 64, (void **)&ptr), CL_SUCCESS);
    ptr[4] = 1;
    catch_stderr();
    assert_int_equal(tsl_enqueue_unmap(&un, matrix, ptr), CL_SUCCESS);
    text = caught_difference();
    assert_told(text, "(unmap) bytes 68 to 68 of");
    free(text);
}

/* A copy that a failed transfer owes is not compared. */
static void test_failures(void **state)
{
    (void)state;
    begin(2, false);
    launch("look", 1u << 0, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    tsl_fake_fail_work(1, TSL_FAKE_COPY, 1, -9001);
    launch("look", 1u << 1, 1);
    assert_int_equal(tsl_queue_finish(t.queue), -9001);
    launch("look", 1u << 1, 1);
    assert_right();
    tsl_fake_fail_work(1, TSL_FAKE_LAUNCH, 1, -9002);
    launch("add", 1u << 1, SIZE);
    assert_int_equal(tsl_queue_finish(t.queue), -9002);
    launch("look", 1u << 0, 1);
    assert_int_equal(tsl_queue_finish(t.queue), CL_SUCCESS);
    assert_int_equal(read_all(), CL_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test_teardown(test_lost_move, end),
        cmocka_unit_test_teardown(test_lost_column, end),
        cmocka_unit_test_teardown(test_lie, end),
        cmocka_unit_test_teardown(test_mapped, end),
        cmocka_unit_test_teardown(test_failures, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
