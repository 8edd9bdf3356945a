/* Threads of ours begin as threads do, whatever the application has set for the thread that starts them. */
#include "base/thread.h"

#include "test.h"

#include <fenv.h>
#include <signal.h>
#include <string.h>

struct found {
    int traps, rounding, flags;
    sigset_t blocked;
};

static void *look(void *arg)
{
    struct found *found = arg;

    found->traps = fegetexcept();
    found->rounding = fegetround();
    found->flags = fetestexcept(FE_ALL_EXCEPT);
    pthread_sigmask(SIG_BLOCK, NULL, &found->blocked);
    return NULL;
}

static struct found of_thread(void)
{
    struct found found;
    pthread_t thread;

    memset(&found, 0, sizeof found);
    assert_int_equal(tsl_thread_start(&thread, NULL, look, &found), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return found;
}

/* Kernels of vendors run there: PoCL's died of a trap that the application had set. */
static void it_computes_as_programs_begin(void **state)
{
    struct found there;
    int traps, rounding;
    (void)state;

    assert_int_equal(fesetround(FE_UPWARD), 0);
    feenableexcept(FE_DIVBYZERO | FE_INEXACT);
    there = of_thread();
    traps = fegetexcept();
    rounding = fegetround();
    fesetenv(FE_DFL_ENV);
    assert_int_equal(there.traps, 0);
    assert_int_equal(there.rounding, FE_TONEAREST);
    assert_int_equal(there.flags, 0);
    /* The application's own is as it was. */
    assert_int_equal(traps, FE_DIVBYZERO | FE_INEXACT);
    assert_int_equal(rounding, FE_UPWARD);
}

static void it_takes_its_own_signals_alone(void **state)
{
    sigset_t before = {0}, now = {0};
    struct found there;
    (void)state;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    there = of_thread();
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    assert_memory_equal(&now, &before, sizeof now);
    assert_true(sigismember(&there.blocked, SIGTERM) && sigismember(&there.blocked, SIGALRM));
    assert_true(sigismember(&there.blocked, SIGUSR1) && sigismember(&there.blocked, SIGCHLD));
    assert_false(sigismember(&there.blocked, SIGFPE) || sigismember(&there.blocked, SIGSEGV));
    assert_false(sigismember(&there.blocked, SIGBUS) || sigismember(&there.blocked, SIGILL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_computes_as_programs_begin),
        cmocka_unit_test(it_takes_its_own_signals_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
