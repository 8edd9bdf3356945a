#include "base/thread.h"

#include <fenv.h>
#include <signal.h>

static void fill_blocked(sigset_t *signals)
{
    sigfillset(signals);
    sigdelset(signals, SIGFPE);
    sigdelset(signals, SIGSEGV);
    sigdelset(signals, SIGBUS);
    sigdelset(signals, SIGILL);
}

/* Both are inherited, so this thread has them meanwhile. */
int tsl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *arg), void *arg)
{
    sigset_t blocked, before;
    fenv_t floats;
    int error;

    fill_blocked(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    fegetenv(&floats);
    fesetenv(FE_DFL_ENV);
    error = pthread_create(thread, attributes, run, arg);
    fesetenv(&floats);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
