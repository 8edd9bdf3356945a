/* Files of ours end where the process may write no further: the write says so, and no signal ends the process. */
#include "base/file.h"

#include "child.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t n_signals;

static void count_signal(int number)
{
    (void)number;
    n_signals++;
}

static int limited_file(rlim_t size)
{
    FILE *file = tmpfile();

    must(file && setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, size}) == 0);
    return fileno(file);
}

/* With no handler, the signal would end the child. */
static void writes_as_far_as_it_may(void)
{
    static const char data[5000];
    int file = limited_file(4096);

    errno = ENOENT;
    must(tsl_file_write(file, data, 4000) == 0);
    must(tsl_file_write(file, data, 5000) == EFBIG);
    must(lseek(file, 0, SEEK_END) == 4096);
    must(tsl_file_claim(file, 0, 4096) == 0);
    must(tsl_file_claim(file, 4096, 1) == EFBIG);
    must(errno == ENOENT);
}

/* The application's own writes are signalled as before, and what it holds back stays. */
static void leaves_signals_to_the_application(void)
{
    int file = limited_file(0);
    sigset_t limit, pending;

    signal(SIGXFSZ, count_signal);
    must(tsl_file_write(file, "a", 1) == EFBIG && n_signals == 0);
    must(write(file, "a", 1) < 0 && n_signals == 1);
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &limit, NULL);
    must(write(file, "a", 1) < 0 && tsl_file_write(file, "a", 1) == EFBIG);
    must(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ));
    sigprocmask(SIG_UNBLOCK, &limit, NULL);
    must(n_signals == 2);
}

static void no_signal_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(ending(writes_as_far_as_it_may), 7);
    assert_int_equal(ending(leaves_signals_to_the_application), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_signal_ends_the_process)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
