/* What a launch is said to wait for: the ends of those launches that write bytes which it touches, not of all whose
 * ranges meet its own. */
/* variant: fake TESELA_MEMBERS=fake TESELA_VENDORS={build}/tests TESELA_POLICY=auto TESELA_CACHE=off */
#include "footprint_bed.h"
#include "graph/command.h"
#include "graph/copies.h"
#include "graph/data.h"
#include "graph/op.h"
#include "graph/queue.h"
#include "graph/survey.h"
#include "place/place.h"
#include "test.h"
#include "timed.h"

#define PITCH 64u
#define ROWS  48u /* more than are claimed one by one */
#define END   UINT64_C(1000000000000)

static struct timed t;
static struct tsl_buffer *matrix;

static void column_body(const struct tsl_fake_run *run)
{
    uint32_t begin;

    memcpy(&begin, run->args[1].value, sizeof begin);
    for (size_t i = run->first[0]; i < run->end[0]; i++)
        ((unsigned char *)run->args[0].ptr)[begin + i * PITCH]++;
}

/* Item i reads and writes byte begin + i * PITCH. */
static void name_kernel(const char *name, struct bed *bed, bool known)
{
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_VALUE};
    uint32_t row, begin;

    bed_begin(bed, 2);
    row = bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0), bed_constant(bed, 64, PITCH));
    begin = bed_as(bed, TSL_NODE_ZEXT, 64, bed_scalar(bed, 32, 1, 0));
    bed_access(bed, 0, TSL_ACCESS_READ, 1, bed_two(bed, TSL_NODE_ADD, row, begin));
    bed_access(bed, 0, TSL_ACCESS_WRITE, 1, bed_two(bed, TSL_NODE_ADD, row, begin));
    tsl_fake_kernel(name, column_body, 2, kinds, (const unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE, 0});
    tsl_fake_kernel_traits(name, &(struct tsl_fake_traits){.footprint = known ? &bed->footprint : NULL});
}

static void begin_with(bool zero_copy)
{
    const struct tsl_fake_member members[2] = {{.item_ns = 1000, .gates = true},
                                               {.item_ns = 1000, .gates = true, .zero_copy = zero_copy}};
    static struct bed beds[2];

    name_kernel("column", &beds[0], true);
    name_kernel("any", &beds[1], false);
    timed_begin(&t, members, 2, "kernel column a,b\nkernel any a,b\n", 0);
    matrix = timed_buffer(&t, (size_t)PITCH * ROWS);
}

static int begin(void **state)
{
    (void)state;
    begin_with(false);
    return 0;
}

static int begin_with_host(void **state)
{
    (void)state;
    begin_with(true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tsl_object_release(&matrix->object);
    timed_end(&t);
    return 0;
}

/* A launch on member 0 that is on its way and will have ended at END. */
static void launch(const char *kernel, uint32_t column)
{
    t.members = 1;
    timed_launch(&t, kernel, ROWS, 1, &matrix, column, NULL);
    struct tsl_tiles *tiles = &tsl_data_of(matrix)->tiles;
    for (struct tsl_tile *tile = tsl_tiles_at(tiles, 0); tile; tile = tsl_tiles_next(tile, (uint64_t)PITCH * ROWS))
        for (unsigned i = 0; i < tile->uses.n; i++) {
            struct tsl_op *op = (struct tsl_op *)tile->uses.list[i].user;
            op->end_estimate_ns = op->kind == TSL_OP_LAUNCH ? END : 0;
        }
}

/* When a launch of that kernel on that column could begin; 0: now. */
static uint64_t survey(const char *name, uint32_t column, struct tsl_candidate candidates[2])
{
    const struct tsl_window window = {.work_dim = 1, .global_size = {ROWS, 1, 1}, .whole = true};
    struct tsl_graph *graph = t.context->graph;
    struct tsl_command command = {.graph = graph, .queue = t.queue->graph_queue, .n_more = 0};
    uint64_t ready;

    assert_int_equal(tsl_kernel_create(t.program, name, &command.kernel), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(command.kernel, 0, sizeof(cl_mem), &matrix), CL_SUCCESS);
    assert_int_equal(tsl_kernel_set_arg(command.kernel, 1, sizeof column, &column), CL_SUCCESS);
    assert_int_equal(tsl_kernel_args(command.kernel, &command.args), CL_SUCCESS);
    tsl_lock_take(&graph->lock);
    ready = tsl_survey(&command, &window, tsl_members_union(tsl_members_of(0), tsl_members_of(1)), candidates);
    tsl_lock_give(&graph->lock);
    tsl_args_let_go(command.args);
    tsl_object_release(&command.kernel->object);
    return ready;
}

static uint64_t ready_ns(const char *name, uint32_t column)
{
    struct tsl_candidate candidates[2] = {{0}};

    return survey(name, column, candidates);
}

static void test_columns(void **state)
{
    (void)state;
    launch("column", 4);
    assert_int_equal(ready_ns("column", 4), END);
    assert_int_equal(ready_ns("column", 5), 0);
    assert_int_equal(ready_ns("any", 5), END);
    timed_finish(&t);
    assert_int_equal(ready_ns("column", 4), 0);
}

/* What touches all of the matrix, as far as is known. */
static void test_unknown(void **state)
{
    (void)state;
    launch("any", 4);
    assert_int_equal(ready_ns("column", 5), END);
    timed_finish(&t);
}

/* What member 0 must wait for of member 1, which works on the host's copy. */
static double peer_ns(void)
{
    struct tsl_candidate candidates[2] = {{0}};

    survey("any", 0, candidates);
    assert_true(candidates[0].move_ns > 0);
    return candidates[0].peer_ns;
}

/* Bytes that the application wrote there are nobody's work, whoever used the object before. */
static void test_host(void **state)
{
    static const unsigned char bytes[PITCH * ROWS];
    struct tsl_enqueue e = {.queue = t.queue, .type = CL_COMMAND_WRITE_BUFFER, .blocking = true};
    struct tsl_box_copy box = {.region = {sizeof bytes, 1, 1}};

    (void)state;
    t.members = 2;
    assert_true(peer_ns() == 0);
    timed_launch(&t, "any", ROWS, 1, &matrix, 3, NULL);
    timed_finish(&t);
    assert_true(peer_ns() > 0);
    assert_int_equal(tsl_enqueue_write(&e, matrix, bytes, &box), CL_SUCCESS);
    assert_true(peer_ns() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_columns, begin, end),
        cmocka_unit_test_setup_teardown(test_unknown, begin, end),
        cmocka_unit_test_setup_teardown(test_host, begin_with_host, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
