/* Parts of a test that run, and end, as processes of their own. */
#ifndef TSL_TESTS_CHILD_H
#define TSL_TESTS_CHILD_H

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In children, where no failure may jump out: the process ends at once with status 99, and the line is told. */
#define must(condition)                                                             \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(99);                                                              \
        }                                                                           \
    } while (0)

/* What the child ends with: its own exit()'s status, 7 if it returned; 1000 and the signal: SIGALRM if it didn't end
 * within a minute. */
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
