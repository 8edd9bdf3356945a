/*
 * A process whose main thread ends by pthread_exit() lives until its last thread ends. Threads of ours never end, and
 * they block all signals. Without the application's threads such a process would stay for ever, and ignore SIGTERM.
 */
#ifndef TSL_BASE_LAST_THREAD_H
#define TSL_BASE_LAST_THREAD_H

/*
 * The calling thread may be one of the application's. Once it and the main thread have ended, a thread of ours looks
 * for others of the application's. When none is left, it takes the signals of the process, and when nothing is under
 * way either (tsl_exit_hook), it ends the process as the C library does for the last thread: by exit(0).
 */
void tsl_last_thread_expect(void);

#endif
