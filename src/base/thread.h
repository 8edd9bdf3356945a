/*
 * How threads of ours begin, whatever the thread that starts them has set for itself. Threads that vendors start there
 * inherit it.
 */
#ifndef TSL_BASE_THREAD_H
#define TSL_BASE_THREAD_H

#include <pthread.h>

/*
 * As pthread_create. The thread computes floats as programs begin in C: rounded to nearest, without traps; kernels run
 * there, of vendors, too. It blocks all signals, as those are for the application's threads, except those that a
 * thread's own instructions raise: blocked, they end the process past every handler, and vendors have some (PoCL's
 * kernels divide by 0 where OpenCL C leaves the result open).
 */
int tsl_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *arg), void *arg);

/* Linux's scheduler lets the calling thread run in short turns from now on, where it can (6.12): one that sleeps most
 * of the time then has its processor as soon as it wakes, not when another's long turn is over. Threads that it starts
 * have turns of the usual length. */
void tsl_thread_take_short_turns(void);

#endif
