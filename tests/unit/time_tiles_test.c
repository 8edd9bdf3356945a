/* Time tiles: run one after another, they compute what the launches one after another compute; they fit an area; and
 * stencils go deep. Launches here are stencils over arrays of bytes. */
#include "graph/time_tiles.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAUNCHES = 48, OBJECTS = 4, MOST_ITEMS = 512 };

/* Item i makes element i of `to` from elements i - radius … i + radius of `from`, as far as these are there. all: and
 * from the last element. */
struct launch {
    unsigned to, from, group;
    int radius;
    bool all;
};

static struct launch launches[MOST_LAUNCHES];
static unsigned n_launches, n_items;

static uint64_t groups_of(const struct launch *l)
{
    return (n_items + l->group - 1) / l->group;
}

static uint64_t clip(int64_t at)
{
    return at < 0 ? 0 : at > (int64_t)n_items ? n_items : (uint64_t)at;
}

static bool touch(void *arg, unsigned launch, uint64_t begin, uint64_t end, struct tsl_hull *reads,
                  struct tsl_hull *writes)
{
    const struct launch *l = &launches[launch];
    int64_t first = (int64_t)(begin * l->group), last = (int64_t)clip((int64_t)(end * l->group));

    (void)arg;
    assert_true(begin < end && end <= groups_of(l));
    tsl_hull_add(&reads[l->from], clip(first - l->radius), clip(last + l->radius));
    if (l->all)
        tsl_hull_add(&reads[l->from], n_items - 1, n_items);
    tsl_hull_add(&writes[l->to], (uint64_t)first, (uint64_t)last);
    return true;
}

static void run(unsigned char (*data)[MOST_ITEMS], const struct launch *l, uint64_t begin, uint64_t end)
{
    unsigned char made[MOST_ITEMS];
    uint64_t first = begin * l->group, last = clip((int64_t)(end * l->group));

    for (uint64_t i = first; i < last; i++) {
        made[i] = l->all ? data[l->from][n_items - 1] : 1;
        for (int64_t k = (int64_t)i - l->radius; k <= (int64_t)i + l->radius; k++)
            if (k >= 0 && k < (int64_t)n_items)
                made[i] = (unsigned char)(3 * made[i] + data[l->from][k]);
    }
    memcpy(&data[l->to][first], &made[first], last - first);
}

static void begin_data(unsigned char (*data)[MOST_ITEMS])
{
    for (unsigned o = 0; o < OBJECTS; o++)
        for (unsigned i = 0; i < MOST_ITEMS; i++)
            data[o][i] = (unsigned char)(o * 77 + i * i);
}

static void check_slices(const struct tsl_time_tiles_ask *ask, const struct tsl_time_tiles *tiles)
{
    uint64_t size = 0;

    for (unsigned o = 0; o < OBJECTS; o++) {
        const struct tsl_hull slice = tsl_time_tiles_slice(tiles, o);
        size += (slice.end - slice.begin + ask->align - 1) / ask->align * ask->align;
        assert_int_equal(slice.begin % ask->align, 0);
    }
    assert_true(size <= ask->area_size);
}

static void check_window(const struct tsl_time_tiles *tiles, unsigned launch, uint64_t begin, uint64_t end)
{
    struct tsl_hull reads[OBJECTS] = {{0, 0}}, writes[OBJECTS] = {{0, 0}};

    touch(NULL, launch, begin, end, reads, writes);
    for (unsigned o = 0; o < OBJECTS; o++) {
        const struct tsl_hull slice = tsl_time_tiles_slice(tiles, o);
        assert_true(tsl_hull_is_empty(&reads[o]) || (slice.begin <= reads[o].begin && reads[o].end <= slice.end));
        assert_true(tsl_hull_is_empty(&writes[o]) || (slice.begin <= writes[o].begin && writes[o].end <= slice.end));
    }
}

/* So many windows the launch has by itself; 0: one doesn't fit. */
static unsigned windows_of(unsigned launch, uint64_t groups, uint64_t area_size, uint64_t align)
{
    unsigned n = 0;

    for (uint64_t at = 0, next = 0; at < groups; at = next, n++)
        for (next = groups; next > at; next--) {
            struct tsl_hull touched[2][OBJECTS] = {{{0, 0}}};
            uint64_t size = 0;

            touch(NULL, launch, at, next, touched[0], touched[1]);
            for (unsigned o = 0; o < OBJECTS; o++) {
                tsl_hull_add(&touched[0][o], touched[1][o].begin, touched[1][o].end);
                size += (touched[0][o].end + align - 1) / align * align - touched[0][o].begin / align * align;
            }
            if (size <= area_size)
                break;
            if (next == at + 1)
                return 0;
        }
    return n;
}

/* Runs the next tile. done: groups, n: windows, by launch. */
static void run_tile(const struct tsl_time_tiles_ask *ask, const struct tsl_time_tiles *tiles,
                     unsigned char (*data)[MOST_ITEMS], uint64_t *done, unsigned *n)
{
    check_slices(ask, tiles);
    for (unsigned j = 0; j < tsl_time_tiles_launches(tiles); j++) {
        uint64_t end = tsl_time_tiles_to(tiles, j);
        assert_int_equal(tsl_time_tiles_from(tiles, j), done[j]);
        if (end == done[j])
            continue;
        assert_true(n[j]++ < tsl_time_tiles_most_windows(tiles, j));
        check_window(tiles, j, done[j], end);
        run(data, &launches[j], done[j], end);
        done[j] = end;
    }
}

static unsigned n_beyond; /* tiles beyond those expected */

/* Returns how many launches the tiles have; 0: there are none. */
static unsigned try(uint64_t area_size, uint64_t align)
{
    static unsigned char plain[OBJECTS][MOST_ITEMS], tiled[OBJECTS][MOST_ITEMS];
    static const bool sliced[OBJECTS] = {true, true, true, true};
    uint64_t groups[MOST_LAUNCHES], done[MOST_LAUNCHES] = {0};
    unsigned windows[MOST_LAUNCHES], n[MOST_LAUNCHES] = {0}, n_tiles = 0;
    struct tsl_time_tiles_ask ask = {n_launches, OBJECTS, groups, windows, sliced, area_size, align, touch,
                                     NULL,       1,       0.01,   0,       NULL,   1,         0,     0};
    struct tsl_time_tiles *tiles;

    for (unsigned j = 0; j < n_launches; j++) {
        groups[j] = groups_of(&launches[j]);
        windows[j] = windows_of(j, groups[j], area_size, align);
        if (!windows[j])
            return 0;
    }
    if (tsl_time_tiles_create(&ask, &tiles) != TSL_TIME_TILES_MADE)
        return 0;
    unsigned depth = tsl_time_tiles_launches(tiles), expected = tsl_time_tiles_expected(tiles);
    enum tsl_time_tiles_next next;
    begin_data(plain);
    begin_data(tiled);
    for (unsigned j = 0; j < depth; j++)
        run(plain, &launches[j], 0, groups[j]);
    while ((next = tsl_time_tiles_go_on(tiles)) == TSL_TIME_TILES_NEXT) {
        run_tile(&ask, tiles, tiled, done, n);
        n_tiles++;
    }
    assert_int_equal(next, TSL_TIME_TILES_OVER);
    for (unsigned j = 0; j < depth; j++)
        assert_int_equal(done[j], groups[j]);
    assert_memory_equal(plain, tiled, sizeof(plain));
    assert_in_range(depth, 2, n_launches);
    n_beyond += n_tiles > expected;
    tsl_time_tiles_destroy(tiles);
    return depth;
}

static void stencils(unsigned n, int radius, unsigned group)
{
    n_launches = n;
    n_items = MOST_ITEMS;
    for (unsigned j = 0; j < n; j++)
        launches[j] = (struct launch){.to = (j + 1) % 2, .from = j % 2, .group = group, .radius = radius};
}

static void test_stencils(void **state)
{
    (void)state;
    stencils(16, 1, 1);
    assert_int_equal(try(2 * MOST_ITEMS / 8, 1), 16);
    assert_int_equal(try(2 * MOST_ITEMS / 8, 8), 16);
    stencils(48, 1, 4); /* Each stays a group behind: so many don't fit. */
    assert_in_range(try(2 * MOST_ITEMS / 8, 1), 4, 15);
    stencils(48, 0, 4);
    assert_int_equal(try(2 * MOST_ITEMS / 8, 1), 48);
}

/* Each item needs the last one's: nothing of a launch can run before all of the one before. */
static void test_all(void **state)
{
    (void)state;
    stencils(8, 1, 1);
    for (unsigned j = 0; j < n_launches; j++)
        launches[j].all = true;
    assert_int_equal(try(2 * MOST_ITEMS / 8, 1), 0);
}

/* Launches on memory of their own share the room. */
static void test_apart(void **state)
{
    (void)state;
    n_launches = 6;
    n_items = MOST_ITEMS;
    for (unsigned j = 0; j < n_launches; j++)
        launches[j] = (struct launch){.to = j % 2 ? 1 : 2, .from = j % 2 ? 1 : 2, .group = 2 + j % 2};
    assert_int_equal(try(2 * MOST_ITEMS / 8, 1), 6);
}

static void test_random(void **state)
{
    unsigned n_made = 0, deep = 0;

    (void)state;
    srand(1);
    for (unsigned i = 0; i < 4000; i++) {
        n_launches = 2 + (unsigned)rand() % 12;
        n_items = 64 + (unsigned)rand() % (MOST_ITEMS - 64);
        for (unsigned j = 0; j < n_launches; j++) {
            struct launch *l = &launches[j];
            *l = (struct launch){(unsigned)rand() % OBJECTS, (unsigned)rand() % OBJECTS, 1 + (unsigned)rand() % 5,
                                 rand() % 4, rand() % 50 == 0};
            if (l->to == l->from)
                l->radius = 0, l->all = false;
        }
        unsigned depth = try(n_items / 2 + (unsigned)rand() % (2 * n_items), 1u << rand() % 4);
        n_made += depth > 0;
        deep += depth > 3;
    }
    assert_true(n_made > 1500 && deep > 800 && n_beyond > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stencils),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests_name("time tiles", tests, NULL, NULL);
}
