/* Threads that run jobs side by side: how many there are, and when they end. */
#include "base/crew.h"
#include "test.h"

#include <stdatomic.h>
#include <unistd.h>

static struct tsl_crew crew = TSL_CREW("tesela-test");
static pthread_barrier_t all;
static atomic_uint n_ran, n_begun;

static void wait_for_all(struct tsl_job *job)
{
    (void)job;
    atomic_fetch_add(&n_begun, 1);
    pthread_barrier_wait(&all);
    atomic_fetch_add(&n_ran, 1);
}

static void run(struct tsl_job *job)
{
    (void)job;
    atomic_fetch_add(&n_ran, 1);
}

static void wait_until(unsigned n)
{
    while (atomic_load(&n_ran) < n)
        usleep(100);
}

static bool have_ended(unsigned tries)
{
    while (tsl_crew_count(&crew) && tries-- > 0)
        usleep(1000);
    return tsl_crew_count(&crew) == 0;
}

/* So many jobs as there may be threads wait for each other, while others wait for a thread. */
static void jobs_run_side_by_side(void **state)
{
    enum { n_more = 100 };
    unsigned n = tsl_crew_most();
    struct tsl_job jobs[n], more[n_more];

    (void)state;
    assert_in_range(n, 2, 100000);
    for (int round = 0; round < 3; round++) {
        atomic_store(&n_ran, 0);
        pthread_barrier_init(&all, NULL, n);
        for (unsigned i = 0; i < n - 1; i++) {
            jobs[i] = (struct tsl_job){.run = wait_for_all};
            assert_true(tsl_crew_post(&crew, &jobs[i]));
        }
        for (unsigned i = 0; i < n_more; i++) {
            more[i] = (struct tsl_job){.run = run};
            assert_true(tsl_crew_post(&crew, &more[i]));
        }
        wait_until(n_more);
        jobs[n - 1] = (struct tsl_job){.run = wait_for_all};
        assert_true(tsl_crew_post(&crew, &jobs[n - 1]));
        wait_until(n_more + n);
        assert_in_range(tsl_crew_count(&crew), 1, n);
        pthread_barrier_destroy(&all);
    }
}

/* A job that waits while all threads are at work makes the crew behind, until one takes it. */
static void a_crew_is_behind_while_jobs_wait(void **state)
{
    unsigned n = tsl_crew_most();
    struct tsl_job jobs[n], more = {.run = run};

    (void)state;
    atomic_store(&n_ran, 0);
    atomic_store(&n_begun, 0);
    pthread_barrier_init(&all, NULL, n + 1);
    for (unsigned i = 0; i < n; i++) {
        jobs[i] = (struct tsl_job){.run = wait_for_all};
        assert_true(tsl_crew_post(&crew, &jobs[i]));
    }
    while (atomic_load(&n_begun) < n)
        usleep(100);
    assert_false(tsl_crew_is_behind(&crew));
    assert_true(tsl_crew_post(&crew, &more));
    assert_true(tsl_crew_is_behind(&crew));
    pthread_barrier_wait(&all);
    wait_until(n + 1);
    assert_false(tsl_crew_is_behind(&crew));
    pthread_barrier_destroy(&all);
}

static void idle_threads_end(void **state)
{
    static struct tsl_job job = {.run = run};

    (void)state;
    atomic_store(&n_ran, 0);
    assert_true(tsl_crew_post(&crew, &job));
    wait_until(1);
    assert_int_not_equal(tsl_crew_count(&crew), 0);
    assert_true(have_ended(10 * TSL_CREW_IDLE_MS));
    /* A thread that is idle, or about to be, ends when it is told to. */
    for (int i = 0; i < 100; i++) {
        atomic_store(&n_ran, 0);
        assert_true(tsl_crew_post(&crew, &job));
        wait_until(1);
    }
    for (unsigned i = 0; i < TSL_CREW_IDLE_MS / 4 && tsl_crew_count(&crew); i++) {
        tsl_crew_dismiss(&crew);
        usleep(1000);
    }
    assert_int_equal(tsl_crew_count(&crew), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_side_by_side),
        cmocka_unit_test(a_crew_is_behind_while_jobs_wait),
        cmocka_unit_test(idle_threads_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
