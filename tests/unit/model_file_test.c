/* Models on disk: what was learned is there in the next process; a file that is damaged, strange or not to be trusted
 * is as none; two processes' knowledge comes together. */
#include "base/density.h"
#include "place/model_file.h"
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[256], file[300];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tesela-models-%d-XXXXXX", (int)getpid());
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/models-3", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file);
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

static struct tsl_model *learned(uint64_t kernel)
{
    struct tsl_model *model = tsl_model_create();
    struct tsl_density work = {0};

    tsl_density_learn(&work, 0, 0.5, 0.25, 1);
    tsl_model_set_density(model, kernel, 1024, 1, &work);
    for (unsigned i = 0; i < 9; i++) {
        tsl_model_ran(model, 5, kernel, 1024, 1e6);
        tsl_model_ran(model, 6, kernel, 1024, 4e6);
        tsl_model_moved(model, TSL_KIND_HOST, 5, 1 << 20, 1e5);
    }
    tsl_model_tried(model, 6, kernel, 1024);
    return model;
}

static void assert_knows_density(struct tsl_model *model, uint64_t kernel)
{
    struct tsl_density work;
    unsigned dimension;

    assert_false(tsl_model_density(model, kernel, 2048, &dimension, &work));
    assert_true(tsl_model_density(model, kernel, 1024, &dimension, &work));
    assert_int_equal(dimension, 1);
    assert_true(work.uneven && fabs(tsl_density_work(&work, 0, 0.5) - 0.25) < 1e-4);
}

static void assert_knows(struct tsl_model *model, uint64_t kernel)
{
    struct tsl_guess guess = tsl_model_run(model, 6, kernel, 1024);
    assert_int_equal(guess.n_samples, 9);
    assert_int_equal(guess.n_tries, 1);
    assert_true(guess.ns > 3.9e6 && guess.ns < 4.1e6);
    assert_true(tsl_model_ratio(model, 5, 6) > 3.9);
    assert_int_equal(tsl_model_n_moves(model, TSL_KIND_HOST, 5, 1 << 20), TSL_N_SAMPLES);
    assert_true(tsl_model_move_ns(model, TSL_KIND_HOST, 5, 1 << 20, 0) < 1.1e5);
}

static void test_comes_back(void **state)
{
    struct tsl_model *model = learned(1), *next = tsl_model_create();
    struct stat about;

    (void)state;
    assert_false(tsl_model_read(next, folder));
    assert_true(tsl_model_write(model, folder));
    assert_true(tsl_model_read(next, folder));
    assert_knows(next, 1);
    assert_knows_density(next, 1);
    assert_int_equal(stat(file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    tsl_model_ran(next, 6, 1, 1024, 4e6); /* goes on where it was */
    assert_int_equal(tsl_model_run(next, 6, 1, 1024).n_samples, 10);
    tsl_model_unref(model);
    tsl_model_unref(next);
}

/* Another process wrote meanwhile: both are kept. */
static void test_processes_share(void **state)
{
    struct tsl_model *other = learned(2), *ours, *third = tsl_model_create();

    (void)state;
    ours = tsl_model_kept(folder);
    assert_true(tsl_model_write(other, folder));
    for (unsigned i = 0; i < 9; i++) {
        tsl_model_ran(ours, 5, 1, 1024, 1e6);
        tsl_model_ran(ours, 6, 1, 1024, 4e6);
    }
    tsl_model_tried(ours, 6, 1, 1024);
    assert_false(tsl_model_is_due(ours, 1000));
    assert_true(tsl_model_is_due(ours, 60000000000));
    tsl_model_keep(ours, 60000000000);
    assert_false(tsl_model_is_due(ours, 60000000001));
    assert_true(tsl_model_read(third, folder));
    assert_knows(third, 1);
    assert_knows(third, 2);
    assert_knows_density(third, 2);
    tsl_model_unref(ours);
    tsl_model_forget();
    tsl_model_unref(other);
    tsl_model_unref(third);
}

/* How much longer launches will take in a process that begins with what others wrote. */
static double ahead_after(double ns)
{
    struct tsl_model *model = tsl_model_create();
    double ahead_ns;

    tsl_model_read(model, folder);
    ahead_ns = tsl_model_ahead_ns(model, 1);
    tsl_model_spent(model, 1, ns / 2);
    tsl_model_spent(model, 1, ns / 2);
    assert_true(tsl_model_ahead_ns(model, 1) == (isfinite(ns) ? fmax(ahead_ns - ns, 0) : ahead_ns));
    assert_true(tsl_model_write(model, folder));
    assert_true(tsl_model_write(model, folder)); /* in the midst of it, and at its end */
    tsl_model_unref(model);
    return ahead_ns;
}

/* Another run is expected to do as much; one that does less may be an exception. */
static void test_what_is_ahead(void **state)
{
    (void)state;
    assert_true(ahead_after(1e9) == 0);
    assert_true(ahead_after(3e8) == 1e9);
    assert_true(ahead_after(9e8) == 5e8);
    assert_true(ahead_after(0) == 9e8);
    assert_true(ahead_after(INFINITY) == 9e8);
    assert_true(ahead_after(NAN) == 9e8);
    assert_true(ahead_after(4e9) == 9e8);
    assert_true(ahead_after(0) == 4e9);
}

/* A process that ends without releasing anything. */
static void test_kept_at_exit(void **state)
{
    struct tsl_model *ours = tsl_model_kept(folder), *next = tsl_model_create();

    (void)state;
    tsl_model_keep_at_exit(); /* nothing new */
    assert_false(tsl_model_read(next, folder));
    tsl_model_ran(ours, 5, 1, 1024, 1e6);
    tsl_model_keep_at_exit();
    assert_true(tsl_model_read(next, folder));
    assert_true(tsl_model_run(next, 5, 1, 1024).ns > 0);
    tsl_model_unref(ours);
    tsl_model_forget();
    tsl_model_keep_at_exit(); /* nothing at all */
    tsl_model_unref(next);
}

static void flip(long at)
{
    FILE *f = fopen(file, "r+");
    int byte;

    fseek(f, at, SEEK_SET);
    byte = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(byte ^ 0x41, f);
    fclose(f);
}

/* Every byte, and every length: never believed, never a crash. */
static void test_damage(void **state)
{
    struct tsl_model *model = learned(1);
    struct stat about;

    (void)state;
    assert_true(tsl_model_write(model, folder));
    assert_int_equal(stat(file, &about), 0);
    for (long at = 0; at < about.st_size; at++) {
        struct tsl_model *next = tsl_model_create();

        flip(at);
        assert_false(tsl_model_read(next, folder));
        assert_int_equal(tsl_model_n_runs(next), 0);
        flip(at);
        tsl_model_unref(next);
    }
    for (long size = about.st_size - 1; size >= 0; size -= 7) {
        struct tsl_model *next = tsl_model_create();

        assert_int_equal(truncate(file, size), 0);
        assert_false(tsl_model_read(next, folder));
        tsl_model_unref(next);
    }
    assert_true(tsl_model_write(model, folder)); /* and it is made anew */
    tsl_model_unref(model);
}

static void assert_comes_back(struct tsl_model *model)
{
    struct tsl_model *next = tsl_model_create();

    assert_true(tsl_model_write(model, folder));
    assert_true(tsl_model_read(next, folder));
    assert_int_equal(tsl_model_n_runs(next), tsl_model_n_runs(model));
    tsl_model_unref(next);
}

static void run_each(struct tsl_model *model, uint64_t first, uint64_t n)
{
    for (uint64_t kernel = first; kernel < first + n; kernel++)
        tsl_model_ran(model, 5, kernel, 1024, 1e6);
}

static bool knows(struct tsl_model *model, uint64_t kernel)
{
    return tsl_model_run(model, 5, kernel, 1024).n_samples > 0;
}

/* A file that is full: what a process learns goes into it all the same, however often the two come together, and what
 * was used longest ago goes. */
static void test_full_files_learn(void **state)
{
    const uint64_t full = 1, own = 100000, others = 200000;
    struct tsl_model *model = tsl_model_create(), *mine = tsl_model_create(), *next = tsl_model_create();

    (void)state;
    run_each(model, full, 2 * TSL_MODEL_MAX_RUNS);
    assert_true(tsl_model_write(model, folder));
    assert_true(tsl_model_read(mine, folder));
    run_each(mine, own, 50);
    for (int i = 0; i < 3; i++) {
        assert_true(tsl_model_read(mine, folder));
        assert_true(tsl_model_write(mine, folder));
        assert_int_equal(tsl_model_n_runs(mine), TSL_MODEL_MAX_RUNS);
    }
    run_each(model, others, 50);
    assert_true(tsl_model_read(model, folder));
    assert_true(tsl_model_write(model, folder));
    assert_true(tsl_model_read(next, folder));
    assert_int_equal(tsl_model_n_runs(next), TSL_MODEL_MAX_RUNS);
    for (uint64_t k = 0; k < 50; k++) {
        assert_true(knows(mine, own + k));
        assert_true(knows(next, others + k));
    }
    assert_false(knows(next, full));
    tsl_model_unref(model);
    tsl_model_unref(mine);
    tsl_model_unref(next);
}

static void make_file(const char *name, unsigned days)
{
    char path[320];
    const struct timespec then[2] = {{.tv_sec = time(NULL) - days * 24L * 3600},
                                     {.tv_sec = time(NULL) - days * 24L * 3600}};

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0600)), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

/* Files of earlier versions go once there is a newer one and nobody has written them for a month; those of later
 * versions, and all else, stay. */
static void test_older_files_go(void **state)
{
    static const struct {
        const char *name;
        unsigned days;
        bool goes;
    } files[] = {{"models-1", 31, true},
                 {"models-2", 29, false},
                 {"models-4", 31, false},
                 {"models-20", 31, false},
                 {"other", 31, false}};
    struct tsl_model *model = learned(1);
    char path[320];

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        make_file(files[i].name, files[i].days);
    assert_true(tsl_model_write(model, folder));
    for (unsigned i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        assert_int_equal(unlink(path), files[i].goes ? -1 : 0);
    }
    tsl_model_unref(model);
}

/* Times that nobody measures, of clocks that jump say, keep no model from coming back. */
static void test_absurd_times(void **state)
{
    static const double times[] = {1e-300, 5e-45, 1e-38, 1e38, 1e300};
    struct tsl_model *model = tsl_model_create();

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < 40; j++) {
            tsl_model_ran(model, 5, i, 1u << 30, times[(i + j) % 5]);
            tsl_model_ran(model, 6, i, 1, times[(i + 2 * j) % 5]);
            tsl_model_ran(model, 6, i, 1u << 30, times[i]);
            tsl_model_moved(model, 5, 6, 1u << i, times[j % 5]);
            assert_comes_back(model);
        }
    tsl_model_unref(model);
}

/* Counts end before they would begin anew. */
static void test_many_tries(void **state)
{
    struct tsl_model *model = learned(1);

    (void)state;
    for (unsigned i = 0; i < (1u << 20) + 3; i++) {
        tsl_model_tried(model, 6, 1, 1024);
        if (i % 1024 == 0)
            tsl_model_ran(model, 6, 1, 1024, 4e6);
    }
    assert_comes_back(model);
    tsl_model_unref(model);
}

/* Links are not followed; what others may write to isn't read, nor written. */
static void test_trust(void **state)
{
    struct tsl_model *model = learned(1), *next = tsl_model_create();
    char elsewhere[320], link[320];

    (void)state;
    assert_true(tsl_model_write(model, folder));
    assert_int_equal(chmod(file, 0622), 0);
    assert_false(tsl_model_read(next, folder));
    assert_int_equal(chmod(file, 0600), 0);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    assert_int_equal(rename(file, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, file), 0);
    assert_false(tsl_model_read(next, folder));
    assert_true(tsl_model_write(model, folder)); /* takes the link's place, and leaves what it led to alone */
    assert_true(tsl_model_read(next, folder));
    assert_int_equal(unlink(elsewhere), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_false(tsl_model_write(model, folder));
    assert_false(tsl_model_read(next, folder));
    assert_int_equal(chmod(folder, 0700), 0);
    snprintf(link, sizeof link, "%s-link", folder);
    assert_int_equal(symlink(folder, link), 0);
    assert_false(tsl_model_write(model, link));
    assert_int_equal(unlink(link), 0);
    tsl_model_unref(model);
    tsl_model_unref(next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_comes_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_processes_share, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_full_files_learn, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_what_is_ahead, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_kept_at_exit, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_older_files_go, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_absurd_times, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_many_tries, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damage, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_trust, make_folder, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
