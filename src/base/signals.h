/* Which signals threads of ours leave to the application's. */
#ifndef TSL_BASE_SIGNALS_H
#define TSL_BASE_SIGNALS_H

#include <signal.h>

/* All but those that a thread's own instructions raise: blocked, they end the process past every handler, and vendors
 * have some (PoCL's kernels divide by 0 where OpenCL C leaves the result open). */
static inline void tsl_signals_of_others(sigset_t *signals)
{
    sigfillset(signals);
    sigdelset(signals, SIGFPE);
    sigdelset(signals, SIGSEGV);
    sigdelset(signals, SIGBUS);
    sigdelset(signals, SIGILL);
}

#endif
