/* Parts of a test that run, and end, as separate processes. */
#ifndef TSL_TESTS_CHILD_H
#define TSL_TESTS_CHILD_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* For children, where no failure may longjmp: the process ends at once with status 99 and reports the line. */
#define must(condition)                                                             \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(99);                                                              \
        }                                                                           \
    } while (0)

/* How the child ends: the status of its own exit(), 7 if it returned, or 1000 + the signal (SIGALRM if it runs for more
 * than a minute). */
static inline int ending(void (*child)(void))
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        alarm(60);
        child();
        exit(7);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

#endif
