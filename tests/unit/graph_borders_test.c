/* Borders between shares lie at round fractions of the launch, close to where speeds would have them. */
#include "footprint/cut_proofs.h"
#include "graph/borders.h"
#include "test.h"

#include <math.h>

static double parts[8];
static uint64_t ends[8];

static bool place(uint64_t n_groups, unsigned n, unsigned attempt)
{
    const struct tsl_borders borders = {n_groups, n, parts, 0, 0.025};

    return tsl_borders_place(&borders, attempt, ends);
}

static void halves_are_halves(void **state)
{
    (void)state;
    parts[0] = parts[1] = 0.5;
    for (unsigned attempt = 0; place(4096, 2, attempt); attempt++)
        assert_true(ends[0] == 2048 && ends[1] == 4096);
    assert_true(place(7, 2, 0) && ends[0] == 4 && ends[1] == 7);
    assert_true(place(1, 2, 0) && ends[0] == 1 && ends[1] == 1);
}

/* Kernels over 7680 rows and some more, in groups of 2, 8 and 32 rows: all borders are the same rows. */
static void borders_are_the_same_rows(void **state)
{
    static const uint64_t rows[] = {7681, 7682, 7684, 7686}, height[] = {2, 8, 32};

    (void)state;
    for (unsigned n = 2; n <= 4; n += 2)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned k = 0; k < 3; k++) {
                for (unsigned s = 0; s < n; s++)
                    parts[s] = 1.0 / n;
                assert_true(place((rows[i] + height[k] - 1) / height[k], n, 0));
                for (unsigned s = 0; s + 1 < n; s++)
                    assert_int_equal(ends[s] * height[k], 7680 / n * (s + 1));
            }
}

/* A border that may not be off by anything lies where it lies; one that may be off a little is as round as that. */
static void borders_are_no_further_off(void **state)
{
    struct tsl_borders borders = {1000, 2, parts, 0, 0};

    (void)state;
    parts[0] = 0.503;
    parts[1] = 0.497;
    assert_true(tsl_borders_place(&borders, 0, ends) && ends[0] == 503);
    borders.off = 0.003;
    assert_true(tsl_borders_place(&borders, 0, ends) && ends[0] == 504);
    borders.off = 0.025;
    assert_true(tsl_borders_place(&borders, 0, ends) && ends[0] == 512);
}

/* A row of 30 groups: pieces of whole rows are found, and the finest ones first. */
static void fractions_grow_coarser(void **state)
{
    const uint64_t n_groups = 30 * 96;
    double off = 0;
    unsigned n = 0;

    (void)state;
    parts[0] = 0.487;
    parts[1] = 0.513;
    while (place(n_groups, 2, n)) {
        double now = fabs((double)ends[0] / (double)n_groups - parts[0]);

        assert_true(ends[0] > 0 && ends[0] < ends[1] && ends[1] == n_groups);
        assert_true(n > 1 || now <= (n ? 0.01 : 0.025) * parts[0]);
        off = fmax(off, now);
        n++;
    }
    assert_true(n > 3 && n <= TSL_BORDERS_TRIES && off > 0.01);
}

static void small_parts_stay_small(void **state)
{
    (void)state;
    parts[0] = 0.001;
    parts[1] = 0.999;
    assert_true(place(1 << 20, 2, 0) && ends[0] == 1056);
}

/* Of what is left of a launch the shares have their parts, and the border lies at a fraction of the whole launch. */
static void what_is_done_has_no_share(void **state)
{
    (void)state;
    parts[0] = parts[1] = 0.5;
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        const struct tsl_borders borders = {4096, 2, parts, 128, 0.01};

        assert_true(tsl_borders_place(&borders, attempt, ends));
        assert_true(ends[0] > 2048 && ends[0] <= 2240 && ends[1] == 4096);
        assert_true(attempt || ends[0] % 32 == 0);
    }
    parts[0] = 0.001;
    parts[1] = 0.999;
    const struct tsl_borders coarse = {16, 2, parts, 15, 0.025};
    assert_true(tsl_borders_place(&coarse, 0, ends) && ends[0] == 15 && ends[1] == 16);
}

/* Any sizes: every group is in one share. */
static void borders_ascend(void **state)
{
    (void)state;
    for (uint64_t n_groups = 1; n_groups < 3000; n_groups += 7)
        for (unsigned n = 1; n <= 8; n++) {
            double sum = 0;

            for (unsigned s = 0; s < n; s++)
                sum += parts[s] = (double)(1 + (n_groups * (s + 3)) % 11);
            for (unsigned s = 0; s < n; s++)
                parts[s] /= sum;
            for (unsigned attempt = 0; place(n_groups, n, attempt); attempt++) {
                for (unsigned s = 1; s < n; s++)
                    assert_true(ends[s - 1] <= ends[s]);
                assert_true(ends[n - 1] == n_groups);
            }
        }
}

static void proofs_are_of_equal_words(void **state)
{
    struct tsl_cut_proofs proofs = {0};
    uint64_t words[3] = {1, 2, 3};

    (void)state;
    assert_false(tsl_cut_proofs_has(&proofs, words, 3));
    tsl_cut_proofs_add(&proofs, words, 3);
    assert_true(tsl_cut_proofs_has(&proofs, words, 3));
    assert_false(tsl_cut_proofs_has(&proofs, words, 2));
    words[2] = 4;
    assert_false(tsl_cut_proofs_has(&proofs, words, 3));
    for (words[0] = 10; words[0] < 10 + TSL_CUT_PROOFS; words[0]++)
        tsl_cut_proofs_add(&proofs, words, 3);
    for (words[0] = 10; words[0] < 10 + TSL_CUT_PROOFS; words[0]++)
        assert_true(tsl_cut_proofs_has(&proofs, words, 3));
    words[0] = 1, words[2] = 3;
    assert_false(tsl_cut_proofs_has(&proofs, words, 3));
    tsl_cut_proofs_free(&proofs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_halves),
        cmocka_unit_test(fractions_grow_coarser),
        cmocka_unit_test(small_parts_stay_small),
        cmocka_unit_test(what_is_done_has_no_share),
        cmocka_unit_test(borders_ascend),
        cmocka_unit_test(proofs_are_of_equal_words),
        cmocka_unit_test(borders_are_the_same_rows),
        cmocka_unit_test(borders_are_no_further_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
