/* The signals that our threads block. */
#ifndef TSL_BASE_SIGNALS_H
#define TSL_BASE_SIGNALS_H

#include <signal.h>

/* All signals but those that a thread's own instructions raise. Blocking these would end the process without calling
 * any handler, and some vendors raise them (PoCL's kernels divide by 0 where OpenCL C leaves the result open). */
static inline void tsl_signals_of_others(sigset_t *signals)
{
    sigfillset(signals);
    sigdelset(signals, SIGFPE);
    sigdelset(signals, SIGSEGV);
    sigdelset(signals, SIGBUS);
    sigdelset(signals, SIGILL);
}

#endif
