#include "tool/child.h"

#include "tool/printable.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child that runs, for the handler; its process group has the same number. */
static volatile sig_atomic_t running;
static volatile sig_atomic_t late;
static volatile sig_atomic_t stopped;

static bool deaf; /* the tool itself ignores SIGPIPE */

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_STOPPING = sizeof stopping / sizeof stopping[0] };

static void on_alarm(int signal)
{
    (void)signal;
    if (!running)
        return;
    late = 1;
    kill(-(pid_t)running, SIGKILL);
}

static void on_stop(int signal)
{
    stopped = signal;
    if (running)
        kill(-(pid_t)running, SIGKILL);
}

void tsl_child_heed_signals(void)
{
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART | SA_RESETHAND}, before;

    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < N_STOPPING; i++)
        if (sigaction(stopping[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(stopping[i], &action, NULL);
    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        deaf = signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

int tsl_child_stopped(void)
{
    return stopped;
}

void tsl_child_leave(void)
{
    if (!stopped)
        return;
    fflush(NULL);
    signal(stopped, SIG_DFL);
    raise(stopped);
}

/* ---- In the child ---- */

static int redirect(int to, const char *path, int flags)
{
    int file = open(path, flags, 0600);

    if (file < 0 || dup2(file, to) < 0)
        return -1;
    close(file);
    return 0;
}

/* Ends with an errno in the pipe if the program can't be run. */
static void become(const struct tsl_child *child, int pipe)
{
    int error;

    setpgid(0, 0);
    if (deaf)
        signal(SIGPIPE, SIG_DFL); /* what is ignored stays so in the program */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; child->unset && child->unset[i]; i++)
        unsetenv(child->unset[i]);
    for (unsigned i = 0; child->set && child->set[i]; i++)
        putenv((char *)child->set[i]);
    if (redirect(STDIN_FILENO, "/dev/null", O_RDONLY) == 0 &&
        redirect(STDOUT_FILENO, child->out, O_WRONLY | O_CREAT | O_TRUNC) == 0 &&
        redirect(STDERR_FILENO, child->err, O_WRONLY | O_CREAT | O_TRUNC) == 0)
        execvp(child->program[0], child->program);
    error = errno;
    while (write(pipe, &error, sizeof error) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* ---- In the tool ---- */

static void set_alarm(unsigned seconds)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value.tv_sec = seconds};

    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* What of the program's own children is left goes with it. */
static int wait_for(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    kill(-pid, SIGKILL);
    return status;
}

static struct tsl_child_result unforked(void)
{
    return (struct tsl_child_result){.end = TSL_CHILD_UNFORKED, .number = errno};
}

static struct tsl_child_result result_of(int status, int error)
{
    if (error)
        return (struct tsl_child_result){.end = TSL_CHILD_UNSTARTED, .number = error};
    if (stopped)
        return (struct tsl_child_result){.end = TSL_CHILD_STOPPED, .number = stopped};
    if (late)
        return (struct tsl_child_result){.end = TSL_CHILD_LATE};
    if (WIFSIGNALED(status))
        return (struct tsl_child_result){.end = TSL_CHILD_SIGNAL, .number = WTERMSIG(status)};
    return (struct tsl_child_result){.end = TSL_CHILD_EXITED, .number = WEXITSTATUS(status)};
}

struct tsl_child_result tsl_child_run(const struct tsl_child *child)
{
    struct tsl_child_result result;
    uint64_t start_ns;
    int pipes[2], status, error = 0;
    pid_t pid;

    if (stopped)
        return result_of(0, 0);
    if (pipe2(pipes, O_CLOEXEC) != 0)
        return unforked();
    late = 0;
    start_ns = tsl_clock_ns();
    pid = fork();
    if (pid == 0)
        become(child, pipes[1]);
    if (pid < 0)
        result = unforked();
    close(pipes[1]);
    if (pid < 0) {
        close(pipes[0]);
        return result;
    }
    setpgid(pid, pid);
    running = pid;
    if (stopped)
        kill(-pid, SIGKILL); /* The signal came before the handler knew the child. */
    set_alarm(child->limit_s);
    if (read(pipes[0], &error, sizeof error) != sizeof error)
        error = 0;
    status = wait_for(pid);
    running = 0;
    set_alarm(0);
    close(pipes[0]);
    result = result_of(status, error);
    result.wall_ns = tsl_clock_ns() - start_ns;
    return result;
}

void tsl_child_say(const struct tsl_child_result *result, const struct tsl_child *child, char *text, size_t size)
{
    text[0] = '\0';
    switch (result->end) {
    case TSL_CHILD_EXITED:
        if (result->number)
            snprintf(text, size, "ended with status %d", result->number);
        return;
    case TSL_CHILD_SIGNAL:
        snprintf(text, size, "crashed (%s)", strsignal(result->number));
        return;
    case TSL_CHILD_LATE:
        snprintf(text, size, "was still running after %u s, and was ended", child->limit_s);
        return;
    case TSL_CHILD_UNSTARTED:
        snprintf(text, size, "could not be started: %s", strerror(result->number));
        return;
    case TSL_CHILD_UNFORKED:
        snprintf(text, size, "could not be started, nor could any other process: %s", strerror(result->number));
        return;
    case TSL_CHILD_STOPPED:
        return;
    }
}

bool tsl_child_last_words(const char *path, char words[TSL_LAST_WORDS])
{
    char line[TSL_LAST_WORDS];
    FILE *file = fopen(path, "re");

    words[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (line[strspn(line, " \t\r\n")])
            memcpy(words, line, sizeof line);
    if (file)
        fclose(file);
    words[strcspn(words, "\r\n")] = '\0';
    if (words[0] && words[strlen(words) - 1] == '.')
        words[strlen(words) - 1] = '\0';
    tsl_make_printable(words);
    return words[0] != '\0';
}
