/* Uses of ranges: which operations come after which, for shares of one launch and for what comes before and after them;
 * and what goes back when a share fails. Operations by hand, without driver. */
#include "graph/touch.h"

#include "facts/kernel_facts.h"
#include "graph/copies.h"
#include "graph/edge.h"
#include "graph/extent.h"
#include "graph/join.h"
#include "graph/op.h"
#include "graph/residency.h"
#include "graph/state.h"
#include "graph/undo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE   64u
#define WHOLE  0u, SIZE
#define UPDATE (TSL_MAY_READ | TSL_MAY_WRITE)
#define SPACE  1u /* of the one member */

enum { MAX_OPS = 16 };

static struct tsl_graph graph;
static struct tsl_port port = {.graph = &graph, .sync = true};
static struct tsl_residence residences[4];
static struct tsl_data data;
static struct tsl_op ops[MAX_OPS];
static unsigned n_ops;

static void drop(struct tsl_user *user)
{
    (void)user; /* The operations are the test's. */
}

static int begin(void **state)
{
    (void)state;
    tsl_user_free = drop;
    n_ops = 0;
    memset(&data, 0, sizeof data);
    data.residences = residences;
    tsl_tiles_init(&data.tiles, SIZE, TSL_SPACES_NONE, true);
    return 0;
}

/* The edges go with the operations. */
static int end(void **state)
{
    (void)state;
    tsl_tiles_finish(&data.tiles);
    for (unsigned i = 0; i < n_ops; i++)
        TSL_SMALL_FINISH(&ops[i].out), free(ops[i].extents);
    return 0;
}

/* launch: which launch it is a share of; 0: it is alone. */
static struct tsl_op *make(enum tsl_op_kind kind, uint64_t launch)
{
    struct tsl_op *op = &ops[n_ops++];
    *op = (struct tsl_op){.user = {.refs = 1, .group = launch}, .port = &port, .kind = kind, .n_unmet = 1};
    return op;
}

static void touch(struct tsl_op *op, uint64_t begin_at, uint64_t end_at, unsigned may)
{
    struct tsl_toucher t = {.op = op};
    if (may == UPDATE)
        assert_int_equal(tsl_undo_note(op, &data, begin_at, end_at, SPACE), CL_SUCCESS);
    assert_int_equal(tsl_touch(&data.tiles, &t, begin_at, end_at, SPACE, may), CL_SUCCESS);
    tsl_tiles_check(&data.tiles, SIZE);
}

/* One byte in each row of eight. */
static struct tsl_op *touch_column(unsigned column, uint64_t begin_at, uint64_t end_at)
{
    struct tsl_op *op = make(TSL_OP_LAUNCH, 0);
    struct tsl_toucher t = {.op = op};
    struct tsl_byte_set set = {.n = 1};
    set.boxes[0] = (struct tsl_byte_box){
        .offset = begin_at + column, .width = 1, .count = {(end_at - begin_at) / 8, 1}, .stride = {8}};
    tsl_extents_reserve(op, 1);
    tsl_extents_add(op, &data, &set, 0, 0, true);
    assert_int_equal(tsl_touch_copy(&graph, &t, &data, begin_at, end_at, SPACE, TSL_MAY_WRITE), CL_SUCCESS);
    tsl_tiles_check(&data.tiles, SIZE);
    return op;
}

static bool edge(const struct tsl_op *before, const struct tsl_op *after)
{
    for (unsigned i = 0; i < before->out.n; i++)
        if (TSL_SMALL_AT(&before->out, i)->to == after)
            return true;
    return false;
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

static void shares_come_in_no_order(void **state)
{
    static const unsigned ways[] = {TSL_MAY_READ, TSL_MAY_WRITE, UPDATE};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 3; k++) {
            begin(state);
            struct tsl_op *a = make(TSL_OP_LAUNCH, 1), *b = make(TSL_OP_LAUNCH, 1), *other = make(TSL_OP_LAUNCH, 2);
            touch(a, WHOLE, ways[i]);
            touch(b, WHOLE, ways[k]);
            assert_false(edge(a, b));
            touch(other, WHOLE, TSL_MAY_WRITE);
            assert_true(edge(a, other));
            assert_true(edge(b, other));
            end(state);
        }
}

/* What one share writes isn't hidden by another share's write; readers after them see both. */
static void later_readers_come_after_each_share(void **state)
{
    (void)state;
    struct tsl_op *a = make(TSL_OP_LAUNCH, 1), *b = make(TSL_OP_LAUNCH, 1), *reader = make(TSL_OP_COPY, 0);
    touch(a, 0, 40, TSL_MAY_WRITE);
    touch(b, 24, SIZE, TSL_MAY_WRITE);
    touch(reader, 30, 31, TSL_MAY_READ);
    assert_true(edge(a, reader));
    assert_true(edge(b, reader));
}

/* Tiles whose uses differed are one again, though many touch parts of them at any time. */
static void uses_of_parts_become_alike(void **state)
{
    const unsigned parts = tsl_touch_parts;
    struct tsl_op *first;
    (void)state;
    tsl_touch_parts = 4;
    first = touch_column(0, 0, SIZE / 2);
    touch_column(1, 0, SIZE / 2);
    for (unsigned i = 2; i < 8; i++) {
        struct tsl_op *op = touch_column(i, WHOLE);
        assert_int_equal(edge(first, op), i == 4); /* The one that comes after them all. */
        assert_int_equal(data.tiles.n, i < 4 ? 2 : 1);
    }
    tsl_touch_parts = parts;
}

/* Each share comes after what came before the launch, whatever the shares before it wrote. */
static void each_share_comes_after_what_was_before(void **state)
{
    (void)state;
    struct tsl_op *reader = make(TSL_OP_COPY, 0), *writer = make(TSL_OP_COPY, 0), *shares[3];
    touch(writer, WHOLE, TSL_MAY_WRITE);
    touch(reader, WHOLE, TSL_MAY_READ);
    for (unsigned i = 0; i < 3; i++) {
        shares[i] = make(TSL_OP_LAUNCH, 1);
        touch(shares[i], WHOLE, i ? TSL_MAY_WRITE : TSL_MAY_READ);
        assert_true(edge(writer, shares[i]));
        assert_int_equal(edge(reader, shares[i]), i > 0);
    }
}

/* A later reader of one lane makes an earlier one redundant, but not for the other shares of its launch. */
static void a_share_that_reads_hides_no_reader_from_others(void **state)
{
    (void)state;
    struct tsl_op *early = make(TSL_OP_LAUNCH, 0), *a = make(TSL_OP_LAUNCH, 1), *b = make(TSL_OP_LAUNCH, 1);
    early->user.lane = a->user.lane = &port;
    early->user.order = 1;
    touch(early, WHOLE, TSL_MAY_READ);
    touch(a, WHOLE, TSL_MAY_READ);
    touch(b, WHOLE, TSL_MAY_WRITE);
    assert_true(edge(early, b));
}

/* For others than the shares what came before them is hidden, so that chains of launches leave few uses. */
static void chains_of_shares_stay_short(void **state)
{
    (void)state;
    struct tsl_op *before[3] = {0};
    for (unsigned launch = 1; launch <= 5; launch++)
        for (unsigned i = 0; i < 3; i++) {
            struct tsl_op *op = make(TSL_OP_LAUNCH, launch);
            touch(op, WHOLE, TSL_MAY_WRITE);
            for (unsigned k = 0; k < 3 && launch > 1; k++)
                assert_true(edge(&ops[(launch - 2) * 3 + k], op));
            for (unsigned k = 0; k < 3 && launch > 2; k++)
                assert_false(edge(&ops[(launch - 3) * 3 + k], op));
            assert_in_range(tsl_tiles_at(&data.tiles, 0)->uses.n, 1, 6);
            before[i] = op;
        }
    struct tsl_op *last = make(TSL_OP_COPY, 0);
    touch(last, WHOLE, TSL_MAY_WRITE);
    assert_int_equal(tsl_tiles_at(&data.tiles, 0)->uses.n, 1);
    for (unsigned i = 0; i < 3; i++)
        assert_true(edge(before[i], last));
}

/* Many shares that read: what stands for the readers doesn't stand between shares. */
static void joins_leave_shares_alone(void **state)
{
    (void)state;
    tsl_join_at = 4;
    struct tsl_op *shares[8], *writer;
    for (unsigned i = 0; i < 8; i++) {
        shares[i] = make(TSL_OP_LAUNCH, 1);
        touch(shares[i], WHOLE, i < 7 ? TSL_MAY_READ : TSL_MAY_WRITE);
        assert_int_equal(shares[i]->n_unmet, 1);
    }
    writer = make(TSL_OP_COPY, 0);
    touch(writer, WHOLE, TSL_MAY_WRITE);
    for (unsigned i = 0; i < 8; i++)
        assert_true(edge(shares[i], writer));
    tsl_join_at = 16;
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

static void fails(struct tsl_op *op, uint64_t begin_at, uint64_t end_at)
{
    op->status = -1;
    tsl_undo_range(op, &data, begin_at, end_at);
    tsl_user_end(&op->user);
}

static tsl_spaces valid_at(uint64_t at)
{
    return tsl_tiles_at(&data.tiles, at)->valid;
}

/* The bytes were good in the space 2; a move is to bring them to the shares' space. Two shares update them there. */
static void move_and_claim(struct tsl_op *a, struct tsl_op *b)
{
    struct tsl_op *move = make(TSL_OP_COPY, 0);
    struct tsl_toucher t = {.op = move};
    move->move = true;
    data.moved = true;
    tsl_tiles_at(&data.tiles, 0)->valid = tsl_spaces_of(2) | tsl_spaces_of(SPACE);
    tsl_touch(&data.tiles, &t, WHOLE, SPACE, TSL_MAY_WRITE);
    touch(a, 0, 40, UPDATE);
    touch(b, 24, SIZE, UPDATE);
    assert_true(edge(move, a) && edge(move, b));
    assert_int_equal(valid_at(32), tsl_spaces_of(SPACE));
}

static void a_share_that_fails_undoes_no_other(void **state)
{
    for (unsigned first = 0; first < 2; first++) {
        begin(state);
        struct tsl_op *a = make(TSL_OP_LAUNCH, 1), *b = make(TSL_OP_LAUNCH, 1);
        move_and_claim(a, b);
        if (first)
            fails(a, 0, 40);
        else
            fails(b, 24, SIZE);
        assert_int_equal(valid_at(32), tsl_spaces_of(SPACE));
        assert_int_equal(valid_at(0), tsl_spaces_of(first ? 2 : SPACE));
        assert_int_equal(valid_at(50), tsl_spaces_of(first ? SPACE : 2));
        end(state);
    }
}

/* One has ended well, so the bytes did come to the shares' space. */
static void a_share_that_fails_late_undoes_no_other(void **state)
{
    for (unsigned first = 0; first < 2; first++) {
        begin(state);
        struct tsl_op *a = make(TSL_OP_LAUNCH, 1), *b = make(TSL_OP_LAUNCH, 1);
        move_and_claim(a, b);
        tsl_user_end(&(first ? a : b)->user);
        if (first)
            fails(b, 24, SIZE);
        else
            fails(a, 0, 40);
        assert_int_equal(valid_at(32), tsl_spaces_of(SPACE));
        end(state);
    }
}

static void when_all_shares_fail_it_goes_back(void **state)
{
    for (unsigned first = 0; first < 2; first++) {
        begin(state);
        struct tsl_op *a = make(TSL_OP_LAUNCH, 1), *b = make(TSL_OP_LAUNCH, 1);
        move_and_claim(a, b);
        if (first)
            fails(a, 0, 40);
        fails(b, 24, SIZE);
        if (!first)
            fails(a, 0, 40);
        assert_int_equal(valid_at(0), tsl_spaces_of(2));
        assert_int_equal(valid_at(32), tsl_spaces_of(2));
        assert_int_equal(valid_at(50), tsl_spaces_of(2));
        end(state);
    }
}

/* What a share surely overwrites needs no bytes from before; another share's wide claim keeps nothing in its stead. */
static void a_sure_write_stays(void **state)
{
    (void)state;
    struct tsl_op *move = make(TSL_OP_COPY, 0), *sure = make(TSL_OP_LAUNCH, 1), *wide = make(TSL_OP_LAUNCH, 1);
    move->move = true;
    data.moved = true;
    tsl_tiles_at(&data.tiles, 0)->valid = tsl_spaces_of(2) | tsl_spaces_of(SPACE);
    touch(move, WHOLE, TSL_MAY_WRITE);
    touch(sure, 0, 8, TSL_MAY_WRITE);
    tsl_tiles_at(&data.tiles, 0)->valid = tsl_spaces_of(SPACE);
    touch(wide, WHOLE, UPDATE);
    fails(wide, WHOLE);
    assert_int_equal(valid_at(0), tsl_spaces_of(SPACE));
    assert_int_equal(valid_at(8), tsl_spaces_of(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_come_in_no_order),
        cmocka_unit_test_setup_teardown(later_readers_come_after_each_share, begin, end),
        cmocka_unit_test_setup_teardown(uses_of_parts_become_alike, begin, end),
        cmocka_unit_test_setup_teardown(each_share_comes_after_what_was_before, begin, end),
        cmocka_unit_test_setup_teardown(a_share_that_reads_hides_no_reader_from_others, begin, end),
        cmocka_unit_test_setup_teardown(chains_of_shares_stay_short, begin, end),
        cmocka_unit_test_setup_teardown(joins_leave_shares_alone, begin, end),
        cmocka_unit_test(a_share_that_fails_undoes_no_other),
        cmocka_unit_test(a_share_that_fails_late_undoes_no_other),
        cmocka_unit_test(when_all_shares_fail_it_goes_back),
        cmocka_unit_test_setup_teardown(a_sure_write_stays, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
