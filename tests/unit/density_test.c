/* Where work lies along a line: what is asked, and how it is learned from shares' times. */
#include "base/density.h"

#include "test.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SHARES 8

static void assert_near(double a, double b, double most)
{
    assert_true(fabs(a - b) <= most);
}

static double uniform(void)
{
    return (double)rand() / RAND_MAX;
}

static void test_even(void **state)
{
    struct tsl_density density = {0};

    (void)state;
    assert_near(tsl_density_work(&density, 0.25, 0.5), 0.25, 1e-12);
    assert_near(tsl_density_at(&density, 0.75), 0.75, 1e-12);
}

/* The one undoes the other, whatever was learned. */
static void test_inverse(void **state)
{
    (void)state;
    srand(1);
    for (unsigned i = 0; i < 2000; i++) {
        struct tsl_density density = {0};
        for (unsigned k = 0; k < 5; k++) {
            double from = uniform() * 0.9, to = from + 0.05 + uniform() * (0.95 - from);
            tsl_density_learn(&density, from, fmin(to, 1), uniform() + 1e-6, 0.5);
        }
        double work = uniform(), at = tsl_density_at(&density, work);
        assert_true(at >= 0 && at <= 1);
        assert_near(tsl_density_work(&density, 0, at), work, 1e-4);
        assert_near(tsl_density_work(&density, 0, 1), 1, 1e-5);
    }
}

/* ---- Learned from shares, whose work is that of a line of our own ---- */

typedef double line(double at);

static double triangle(double at)
{
    return at * at;
}

static double hill(double at)
{
    return 0.5 + 0.5 * erf(8 * (at - 0.4));
}

static double step(double at)
{
    return at < 0.7 ? at * 0.02 / 0.7 : 0.02 + (at - 0.7) * 0.98 / 0.3;
}

static double flat(double at)
{
    return at;
}

/* How many times the ideal the longest share is, after some launches that several of the later ones didn't wait for. */
static double longest_after(line *before, unsigned n, unsigned n_launches, double belief)
{
    struct tsl_density density = {0};
    double longest = 0;

    for (unsigned i = 0; i < n_launches; i++) {
        double ends[MOST_SHARES + 1] = {0};
        for (unsigned s = 0; s < n; s++)
            ends[s + 1] = s + 1 < n ? tsl_density_at(&density, (s + 1.0) / n) : 1;
        longest = 0;
        for (unsigned s = 0; s < n; s++)
            longest = fmax(longest, (before(ends[s + 1]) - before(ends[s])) / (before(1) - before(0)) * n);
        for (unsigned again = 0; again < 3; again++)
            for (unsigned s = 0; s < n; s++)
                if (ends[s + 1] > ends[s])
                    tsl_density_learn(&density, ends[s], ends[s + 1],
                                      fmax(before(ends[s + 1]) - before(ends[s]), 1e-9) / (before(1) - before(0)),
                                      belief);
    }
    return longest;
}

static void test_learned(void **state)
{
    static line *const lines[] = {triangle, hill, step, flat};

    (void)state;
    for (unsigned l = 0; l < 4; l++)
        for (unsigned n = 2; n <= MOST_SHARES; n++) {
            assert_true(longest_after(lines[l], n, 20, 0.5) < 1.12);
            assert_true(longest_after(lines[l], n, 20, 1) < 1.12);
        }
    assert_true(longest_after(triangle, 4, 1, 0.5) > 1.7);
    assert_true(longest_after(triangle, 4, 6, 0.5) < 1.1);
    assert_true(longest_after(triangle, 4, 3, 1) < 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_learned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
