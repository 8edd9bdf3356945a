#include "base/thread.h"

#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The least that Linux takes; 0: the usual. */
#define SHORT_TURN_NS 100000u

static _Thread_local bool takes_short_turns;

/* As the system call has it: glibc of Debian 12 has neither. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* Systems that know of no turns for such threads ignore it. */
static void set_turn(uint64_t ns)
{
    struct scheduling as = {.size = sizeof(as), .policy = SCHED_OTHER, .runtime = ns};

    as.nice = getpriority(PRIO_PROCESS, 0);
    if (sched_getscheduler(0) == SCHED_OTHER)
        syscall(SYS_sched_setattr, 0, &as, 0);
}

void tsl_thread_take_short_turns(void)
{
    takes_short_turns = true;
    set_turn(SHORT_TURN_NS);
}

static void fill_blocked(sigset_t *signals)
{
    sigfillset(signals);
    sigdelset(signals, SIGFPE);
    sigdelset(signals, SIGSEGV);
    sigdelset(signals, SIGBUS);
    sigdelset(signals, SIGILL);
}

/* All of it is inherited, so this thread has them meanwhile. */
int tsl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *arg), void *arg)
{
    sigset_t blocked, before;
    fenv_t floats;
    int error;

    fill_blocked(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    fegetenv(&floats);
    fesetenv(FE_DFL_ENV);
    if (takes_short_turns)
        set_turn(0);
    error = pthread_create(thread, attributes, run, arg);
    if (takes_short_turns)
        set_turn(SHORT_TURN_NS);
    fesetenv(&floats);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
