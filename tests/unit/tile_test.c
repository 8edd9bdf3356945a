/* The map of tiles against the simplest model there is: an array with an entry for each byte. */
#include "tile/tile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIZE  64
#define USERS 8

static unsigned n_freed;

static void count_free(struct tsl_user *user)
{
    (void)user;
    n_freed++;
}

struct model {
    uint32_t valid[SIZE];
    bool used[SIZE][USERS][2]; /* by user, by write */
};

static bool tile_has(const struct tsl_tile *tile, const struct tsl_user *user, bool write)
{
    for (unsigned i = 0; i < tile->uses.n; i++)
        if (tile->uses.list[i].user == user && tile->uses.list[i].write == write)
            return true;
    return false;
}

static void compare(struct tsl_tiles *tiles, const struct model *model, struct tsl_user *users)
{
    tsl_tiles_check(tiles, SIZE);
    for (uint64_t at = 0; at < SIZE; at++) {
        struct tsl_tile *tile = tsl_tiles_at(tiles, at);
        assert_non_null(tile);
        assert_int_equal(tile->valid, model->valid[at]);
        for (int u = 0; u < USERS; u++)
            for (int w = 0; w < 2; w++)
                assert_int_equal(tile_has(tile, &users[u], w), model->used[at][u][w]);
    }
}

static void model_use(struct model *m, uint64_t at, int user, bool write)
{
    if (m->used[at][user][1] || (m->used[at][user][0] && !write))
        return;
    if (write)
        memset(m->used[at], 0, sizeof(m->used[at])); /* All conflicts are behind the new writer. */
    m->used[at][user][write] = true;
}

static void random_step(struct tsl_tiles *tiles, struct model *model, struct tsl_user *users)
{
    uint64_t begin = (uint64_t)(rand() % SIZE), end = begin + 1 + (uint64_t)(rand() % (int)(SIZE - begin));
    int user = rand() % USERS;
    bool write = rand() % 2;
    uint32_t valid = (uint32_t)rand() % 3;
    for (struct tsl_tile *t = tsl_tiles_cut(tiles, begin, end); t; t = tsl_tiles_next(t, end)) {
        t->valid = valid;
        assert_true(tsl_tile_use(t, &users[user], 1, write));
    }
    for (uint64_t at = begin; at < end; at++) {
        model->valid[at] = valid;
        model_use(model, at, user, write);
    }
    tsl_tiles_join(tiles, begin, end);
}

/* Random ranges, validities and uses: every byte has the state that the model says, and the invariants hold. */
static void agrees_with_a_byte_model(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct tsl_tiles tiles;
        struct model model = {0};
        struct tsl_user users[USERS] = {0};
        srand(seed);
        for (int u = 0; u < USERS; u++)
            users[u].refs = 1;
        assert_true(tsl_tiles_init(&tiles, SIZE, 0, true));
        for (int step = 0; step < 60; step++) {
            random_step(&tiles, &model, users);
            compare(&tiles, &model, users);
        }
        tsl_tiles_finish(&tiles);
        for (int u = 0; u < USERS; u++)
            assert_int_equal(users[u].refs, 1); /* Every use gave its reference back. */
    }
}

/* Neighbours with the same state become one tile again, also after the operations that kept them apart have finished.
 */
static void joins_what_is_equal_again(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    struct tsl_user user = {.refs = 1};
    tsl_tiles_init(&tiles, SIZE, 1, true);
    for (struct tsl_tile *t = tsl_tiles_cut(&tiles, 8, 16); t; t = tsl_tiles_next(t, 16))
        tsl_tile_use(t, &user, 1, true);
    tsl_tiles_join(&tiles, 8, 16);
    assert_int_equal(tiles.n, 3);
    tsl_user_end(&user);
    tsl_tiles_join(&tiles, 8, 16);
    assert_int_equal(tiles.n, 1);
    tsl_tiles_finish(&tiles);
    assert_int_equal(user.refs, 1);
}

static void set_valid(struct tsl_tiles *tiles, uint64_t begin, uint64_t end, tsl_spaces valid)
{
    for (struct tsl_tile *t = tsl_tiles_cut(tiles, begin, end); t; t = tsl_tiles_next(t, end))
        t->valid = valid;
}

/* Bytes 8 to 12 are in both copies, those before in one, those behind in the other. */
static void make_border(struct tsl_tiles *tiles)
{
    tsl_tiles_init(tiles, SIZE, tsl_spaces_of(1), true);
    set_valid(tiles, 12, SIZE, tsl_spaces_of(2));
    set_valid(tiles, 8, 12, tsl_spaces_union(tsl_spaces_of(1), tsl_spaces_of(2)));
    assert_int_equal(tiles->n, 3);
}

static bool never(const struct tsl_use *use)
{
    (void)use;
    return false;
}

static bool if_partial(const struct tsl_use *use)
{
    return use->partial;
}

static void small_tiles_give_up_copies_that_nobody_uses(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    struct tsl_user user = {.refs = 1};
    make_border(&tiles);
    tsl_tiles_absorb(&tiles, 0, SIZE, 3, never);
    assert_int_equal(tiles.n, 3);
    tsl_tiles_absorb(&tiles, 0, SIZE, 4, never);
    tsl_tiles_check(&tiles, SIZE);
    assert_int_equal(tiles.n, 2);
    assert_int_equal(tsl_tiles_at(&tiles, 0)->end, 12);
    assert_true(tsl_spaces_only(tsl_tiles_at(&tiles, 8)->valid, 1));
    tsl_tiles_finish(&tiles);

    make_border(&tiles);
    tsl_tile_use(tsl_tiles_at(&tiles, 0), &user, 1, false);
    tsl_tiles_absorb(&tiles, 0, SIZE, 4, never);
    assert_int_equal(tiles.n, 2);
    assert_true(tsl_spaces_only(tsl_tiles_at(&tiles, 8)->valid, 2));
    tsl_tiles_finish(&tiles);

    make_border(&tiles);
    tsl_tile_use(tsl_tiles_at(&tiles, 8), &user, 2, false);
    tsl_tiles_absorb(&tiles, 0, SIZE, 4, never);
    assert_int_equal(tiles.n, 3);
    tsl_user_end(&user);
    tsl_tiles_absorb(&tiles, 0, SIZE, 4, never);
    assert_int_equal(tiles.n, 2);
    tsl_tiles_finish(&tiles);
    assert_int_equal(user.refs, 1);
}

/* The tile before goes on to be used. */
static void small_tiles_become_parts_of_ones_that_are_used(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    struct tsl_user user = {.refs = 1};
    make_border(&tiles);
    tsl_tile_use(tsl_tiles_at(&tiles, 12), &user, 2, false);
    tsl_tiles_at(&tiles, 12)->uses.list[0].partial = true;
    tsl_tile_use(tsl_tiles_at(&tiles, 0), &user, 1, true);
    tsl_tiles_absorb(&tiles, 0, SIZE, 4, if_partial);
    assert_int_equal(tiles.n, 3); /* neither by a use that may not grow, nor by what comes behind */
    tsl_tiles_at(&tiles, 0)->uses.list[0].partial = true;
    tsl_tiles_absorb(&tiles, 0, SIZE, 3, if_partial);
    assert_int_equal(tiles.n, 3);
    tsl_tiles_absorb(&tiles, 8, 12, 4, if_partial);
    tsl_tiles_check(&tiles, SIZE);
    assert_int_equal(tiles.n, 2);
    assert_int_equal(tsl_tiles_at(&tiles, 0)->end, 12);
    assert_int_equal(tsl_tiles_at(&tiles, 0)->uses.n, 1);
    tsl_tiles_finish(&tiles);
    assert_int_equal(user.refs, 1);
}

/* A copy that a neighbour alone has isn't the tile's to give up, and bytes that are nowhere are no copies. */
static void small_tiles_keep_copies_that_are_theirs_alone(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    tsl_tiles_init(&tiles, SIZE, tsl_spaces_of(1), true);
    set_valid(&tiles, 8, 12, tsl_spaces_of(2));
    set_valid(&tiles, 12, 16, TSL_SPACES_NONE);
    tsl_tiles_absorb(&tiles, 0, SIZE, SIZE, never);
    assert_int_equal(tiles.n, 4);
    tsl_tiles_finish(&tiles);
}

/* A chain of readers on one lane leaves one use; on another lane, its own. */
static void later_operations_of_a_lane_stand_for_earlier_ones(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    int lane, other;
    struct tsl_user users[100] = {0}, foreign = {.refs = 1, .lane = &other, .order = 1};
    tsl_tiles_init(&tiles, SIZE, 1, true);
    struct tsl_tile *tile = tsl_tiles_at(&tiles, 0);
    tsl_tile_use(tile, &foreign, 1, false);
    for (unsigned i = 0; i < 100; i++) {
        users[i] = (struct tsl_user){.refs = 1, .lane = &lane};
        tsl_tile_use(tile, &users[i], 1, false);
        users[i].order = i + 1; /* Fixed once it is ready. */
        assert_int_equal(tile->uses.n, 2);
    }
    tsl_tiles_finish(&tiles);
}

/* An operation whose place in the lane is not fixed yet may still run after a later planned one: both uses stay. */
static void unfixed_places_are_kept(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    int lane;
    struct tsl_user a = {.refs = 1, .lane = &lane}, b = {.refs = 1, .lane = &lane};
    tsl_tiles_init(&tiles, SIZE, 1, true);
    struct tsl_tile *tile = tsl_tiles_at(&tiles, 0);
    tsl_tile_use(tile, &a, 1, false);
    tsl_tile_use(tile, &b, 1, false);
    assert_int_equal(tile->uses.n, 2);
    tsl_tiles_finish(&tiles);
}

/* The host map has tiles only where something is on its way. */
static void host_map_holds_only_what_is_used(void **state)
{
    (void)state;
    struct tsl_tiles map;
    struct tsl_user a = {.refs = 1}, b = {.refs = 1};
    tsl_tiles_init(&map, 0, 0, false);
    assert_null(tsl_tiles_meeting(&map, 0, UINT64_MAX));
    for (struct tsl_tile *t = tsl_tiles_cut(&map, 100, 200); t; t = tsl_tiles_next(t, 200))
        tsl_tile_use(t, &a, 0, true);
    for (struct tsl_tile *t = tsl_tiles_cut(&map, 150, 300); t; t = tsl_tiles_next(t, 300))
        tsl_tile_use(t, &b, 0, false);
    tsl_tiles_check(&map, 0);
    assert_int_equal(map.n, 3);
    assert_null(tsl_tiles_at(&map, 99));
    assert_int_equal(tsl_tiles_at(&map, 160)->uses.n, 2);
    tsl_user_end(&a);
    tsl_tiles_join(&map, 100, 300);
    assert_int_equal(map.n, 1);
    assert_int_equal(tsl_tiles_at(&map, 150)->begin, 150);
    tsl_user_end(&b);
    tsl_tiles_join(&map, 100, 300);
    assert_int_equal(map.n, 0);
    tsl_tiles_finish(&map);
}

/* What was good before a claim stays known, on both sides of a border, until the claim has ended well or is undone. */
static void keeps_what_was_good(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    struct tsl_user a = {.refs = 1}, b = {.refs = 1};
    struct tsl_rollback *like = NULL, *again = NULL;
    tsl_tiles_init(&tiles, SIZE, 1, true);
    struct tsl_tile *tile = tsl_tiles_at(&tiles, 0), *right;
    assert_true(tsl_tile_keep(tile, &a, 1, 1, &like));
    right = tsl_tiles_cut(&tiles, 8, SIZE);
    assert_true(tsl_tile_keep(right, &b, 1, 2, &again));
    assert_int_equal(tsl_tile_kept(tile, &a)->valid, 1);
    assert_int_equal(tsl_tile_kept(right, &a)->valid, 1);
    assert_int_equal(tsl_tile_kept(right, &b)->valid, 2);
    assert_null(tsl_tile_kept(tile, &b));
    tsl_tiles_join(&tiles, 0, SIZE);
    assert_int_equal(tiles.n, 2);
    tsl_tile_unkeep(right, tsl_tile_kept(right, &b));
    tsl_tiles_join(&tiles, 0, SIZE);
    assert_int_equal(tiles.n, 1);
    assert_non_null(tsl_tile_kept(tile, &a));
    assert_int_equal(b.refs, 1);
    tsl_user_end(&a);
    tsl_tile_prune(tile);
    assert_null(tile->rollback);
    assert_int_equal(a.refs, 1);
    tsl_tiles_finish(&tiles);
}

/* However many claims follow each other, few are kept: those that have ended go, and where none has, nothing is known
 * to be good any more. */
static void keeps_short_chains(void **state)
{
    enum { N = 500 };
    (void)state;
    for (unsigned unfinished = 3; unfinished <= N; unfinished += N - 3) {
        struct tsl_tiles tiles;
        struct tsl_user users[N] = {0};
        tsl_tiles_init(&tiles, SIZE, 1, true);
        struct tsl_tile *tile = tsl_tiles_at(&tiles, 0);
        for (unsigned i = 0; i < N; i++) {
            struct tsl_rollback *like = NULL;
            users[i].refs = 1;
            if (i >= unfinished)
                tsl_user_end(&users[i - unfinished]);
            tsl_tile_prune(tile);
            assert_true(tsl_tile_keep(tile, &users[i], 1, 1, &like));
        }
        unsigned n = 0;
        bool good = true;
        for (const struct tsl_rollback *rollback = tile->rollback; rollback; rollback = rollback->older) {
            n++;
            good &= rollback->valid == 1;
        }
        assert_in_range(n, 1, 64);
        assert_int_equal(good, unfinished == 3);
        tsl_tiles_finish(&tiles);
        for (unsigned i = 0; i < N; i++)
            assert_int_equal(users[i].refs, 1);
    }
}

/* What has ended well stays in a chain that is made short: those that claimed the tile beside it must know. */
static void keeps_what_ended_well(void **state)
{
    enum { N = 40, WELL = 20 };
    (void)state;
    struct tsl_tiles tiles;
    struct tsl_user users[N] = {0};
    tsl_tiles_init(&tiles, SIZE, 1, true);
    struct tsl_tile *tile = tsl_tiles_at(&tiles, 0);
    for (unsigned i = 0; i < N; i++) {
        struct tsl_rollback *like = NULL;
        users[i].refs = 1;
        if (i == WELL + 1)
            tsl_user_end(&users[WELL]);
        assert_true(tsl_tile_keep(tile, &users[i], 1, 1, &like));
    }
    assert_non_null(tsl_tile_kept(tile, &users[WELL]));
    assert_null(tsl_tile_kept(tile, &users[WELL - 1]));
    tsl_tiles_finish(&tiles);
}

/* What a record kept goes to newer ones in the place of its space, on that tile alone. */
static void hands_on(void **state)
{
    (void)state;
    struct tsl_tiles tiles;
    struct tsl_user a = {.refs = 1}, b = {.refs = 1}, c = {.refs = 1};
    struct tsl_rollback *like_a = NULL, *like_b = NULL, *like_c = NULL;
    tsl_tiles_init(&tiles, SIZE, 1, true);
    struct tsl_tile *tile = tsl_tiles_at(&tiles, 0), *right;
    assert_true(tsl_tile_keep(tile, &a, 1, 1 | 4, &like_a));
    assert_true(tsl_tile_keep(tile, &b, 2, 2, &like_b));
    assert_true(tsl_tile_keep(tile, &c, 3, 8, &like_c));
    right = tsl_tiles_cut(&tiles, 8, SIZE);
    assert_true(tsl_tile_hand_on(tile, tsl_tile_kept(tile, &a)));
    assert_null(tsl_tile_kept(tile, &a));
    assert_int_equal(tsl_tile_kept(tile, &b)->valid, 1); /* Its own copy, in space 2, may have changed. */
    assert_int_equal(tsl_tile_kept(tile, &c)->valid, 8);
    assert_int_equal(tsl_tile_kept(right, &a)->valid, 1 | 4);
    assert_int_equal(tsl_tile_kept(right, &b)->valid, 2);
    tsl_tiles_finish(&tiles);
    assert_int_equal(a.refs, 1);
    assert_int_equal(b.refs, 1);
    assert_int_equal(c.refs, 1);
}

int main(void)
{
    tsl_user_free = count_free;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_byte_model),
        cmocka_unit_test(joins_what_is_equal_again),
        cmocka_unit_test(small_tiles_give_up_copies_that_nobody_uses),
        cmocka_unit_test(small_tiles_become_parts_of_ones_that_are_used),
        cmocka_unit_test(small_tiles_keep_copies_that_are_theirs_alone),
        cmocka_unit_test(later_operations_of_a_lane_stand_for_earlier_ones),
        cmocka_unit_test(unfixed_places_are_kept),
        cmocka_unit_test(host_map_holds_only_what_is_used),
        cmocka_unit_test(keeps_what_was_good),
        cmocka_unit_test(keeps_short_chains),
        cmocka_unit_test(keeps_what_ended_well),
        cmocka_unit_test(hands_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
