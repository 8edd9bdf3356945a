/*
 * Threads of ours: what they run, and how long a process's end waits for those that call vendors.
 *
 * Each end is a process of its own. Handlers of exit run in the other order than they were set, so one that is set
 * first looks when the wait is over.
 */
#include "base/worker.h"
#include "child.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static atomic_uint n_noted;

static struct tsl_worker worker = TSL_VENDORS_WORKER("tesela-test"), other = TSL_WORKER("tesela-other");

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(double seconds)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < end)
        continue;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

struct counted {
    struct tsl_job job; /* first */
    unsigned runs, again, turn;
};

static unsigned turns;
static char name[32];
static sigset_t blocked;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void count(struct tsl_job *job)
{
    struct counted *counted = (struct counted *)job;
    counted->runs++;
    counted->turn = ++turns;
    if (counted->again && counted->again--)
        tsl_worker_post(&other, job);
}

static void wait_at_gate(struct tsl_job *job)
{
    (void)job;
    pthread_getname_np(pthread_self(), name, sizeof(name));
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void jobs_run_in_order_once_for_all_posts_before(void **state)
{
    struct tsl_job first = {.run = wait_at_gate};
    struct counted a = {.job.run = count, .again = 2}, b = {.job.run = count};
    (void)state;

    pthread_mutex_lock(&gate);
    assert_true(tsl_worker_post(&other, &first));
    for (unsigned i = 0; i < 5; i++) {
        assert_true(tsl_worker_post(&other, &a.job));
        assert_true(tsl_worker_post(&other, &b.job));
    }
    assert_int_equal(turns, 0);
    pthread_mutex_unlock(&gate);
    tsl_worker_wait(&other);
    assert_int_equal(a.runs, 3);
    assert_int_equal(b.runs, 1);
    assert_int_equal(b.turn, 2);
    assert_int_equal(a.turn, 4);
    assert_string_equal(name, "tesela-other");
    assert_true(sigismember(&blocked, SIGTERM));
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static volatile bool done, must_be_done;
static double least, most, ended;

static void look(void)
{
    double waited = seconds_of(CLOCK_MONOTONIC) - ended;
    must(done == must_be_done);
    must(waited >= least);
    must(waited <= most);
}

static void end_with(struct tsl_worker *at, void (*run)(struct tsl_job *))
{
    static struct tsl_job job;
    job.run = run;
    atexit(look);
    must(tsl_worker_post(at, &job));
    ended = seconds_of(CLOCK_MONOTONIC);
    exit(0);
}

/* As on a machine on which it has a tenth of a processor: longer than the patience, with less work. */
static void work_slowly(struct tsl_job *job)
{
    (void)job;
    for (unsigned i = 0; i < 35; i++) {
        work(0.01);
        usleep(100000);
    }
    done = true;
}

static void work_for_ever(struct tsl_job *job)
{
    (void)job;
    for (;;)
        work(1);
}

static void stand_still(struct tsl_job *job)
{
    (void)job;
    for (;;)
        pause();
}

/* As a compiler does: an object that is made at its first need, and destroyed at exit. */
static atomic_bool made, destroyed;

static void destroy(void)
{
    atomic_store(&destroyed, true);
}

static void use_an_object(struct tsl_job *job)
{
    (void)job;
    must(atexit(destroy) == 0);
    atomic_store(&made, true);
    for (unsigned i = 0; i < 5; i++) {
        usleep(50000);
        must(!atomic_load(&destroyed));
    }
    done = true;
}

/* One of two gives the other something to do, and has nothing to do itself. */
static struct tsl_worker second = TSL_VENDORS_WORKER("tesela-second");
static struct counted relay;

static void pass_on(struct tsl_job *job)
{
    usleep(20000);
    if (++relay.runs < 20)
        tsl_worker_post(relay.runs % 2 ? &second : &worker, job);
    else
        done = true;
}

#define PATIENCE (TSL_WORKER_PATIENCE_MS / 1000.0)

static void end_at_slow_work(void)
{
    must_be_done = true;
    least = PATIENCE;
    most = PATIENCE + TSL_WORKER_PATIENCE_MORE + 5;
    end_with(&worker, work_slowly);
}

static void end_at_use(void)
{
    struct tsl_job job = {.run = use_an_object};
    must_be_done = true;
    most = PATIENCE + TSL_WORKER_PATIENCE_MORE;
    atexit(look);
    must(tsl_worker_post(&worker, &job));
    while (!atomic_load(&made))
        usleep(1000);
    ended = seconds_of(CLOCK_MONOTONIC);
    exit(0);
}

static void end_at_a_relay(void)
{
    must_be_done = true;
    most = PATIENCE + TSL_WORKER_PATIENCE_MORE;
    end_with(&worker, pass_on);
}

static void end_at_endless_work(void)
{
    least = PATIENCE - 0.1;
    most = PATIENCE + TSL_WORKER_PATIENCE_MORE + 5;
    end_with(&worker, work_for_ever);
}

static void end_at_a_standstill(void)
{
    least = PATIENCE - 0.1;
    most = PATIENCE + TSL_WORKER_PATIENCE_MORE - 1;
    end_with(&worker, stand_still);
}

static void end_at_what_is_no_vendors(void)
{
    most = PATIENCE - 0.1;
    end_with(&other, stand_still);
}

static void exit_waits_for_what_gets_on(void **state)
{
    (void)state;
    assert_int_equal(ending(end_at_slow_work), 0);
}

static void exit_waits_before_objects_are_destroyed(void **state)
{
    (void)state;
    assert_int_equal(ending(end_at_use), 0);
}

static void exit_waits_for_all_at_once(void **state)
{
    (void)state;
    assert_int_equal(ending(end_at_a_relay), 0);
}

static void exit_does_not_wait_for_ever(void **state)
{
    (void)state;
    assert_int_equal(ending(end_at_endless_work), 0);
    assert_int_equal(ending(end_at_a_standstill), 0);
    assert_int_equal(ending(end_at_what_is_no_vendors), 0);
}

static void note(struct tsl_job *job)
{
    (void)job;
    atomic_fetch_add(&n_noted, 1);
}

/* A thread that looks out for jobs counts as awake, begins with one without being woken, and sleeps in the end. */
static void one_that_looks_out_is_awake(void **state)
{
    static struct tsl_worker lookout = TSL_WORKER("tesela-lookout");
    static struct tsl_job job = {.run = note};
    (void)state;
    lookout.looks_us = 200000;
    assert_false(tsl_worker_is_awake(&lookout));
    tsl_worker_wake(&lookout);
    for (unsigned i = 0; i < 1000 && !tsl_worker_is_awake(&lookout); i++)
        usleep(1000);
    assert_true(tsl_worker_is_awake(&lookout));
    unsigned long wakes = atomic_load(&tsl_worker_wakes);
    assert_true(tsl_worker_post(&lookout, &job));
    tsl_worker_wait(&lookout);
    assert_int_equal(atomic_load(&n_noted), 1);
    assert_int_equal(atomic_load(&tsl_worker_wakes), wakes);
    for (unsigned i = 0; i < 5000 && tsl_worker_is_awake(&lookout); i++)
        usleep(1000);
    assert_false(tsl_worker_is_awake(&lookout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* Before this process has threads of its own, which children wouldn't. */
        cmocka_unit_test(exit_waits_for_what_gets_on),
        cmocka_unit_test(exit_waits_before_objects_are_destroyed),
        cmocka_unit_test(exit_waits_for_all_at_once),
        cmocka_unit_test(exit_does_not_wait_for_ever),
        cmocka_unit_test(jobs_run_in_order_once_for_all_posts_before),
        cmocka_unit_test(one_that_looks_out_is_awake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
