#include "base/last_thread.h"

#include "base/fork.h"
#include "base/thread.h"
#include "base/worker.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_PAUSE_NS 250000000l

/* ---- Threads of the process -------------------------------------------------------------------------------------- */

/* What the kernel says of a thread: proc(5). */
struct status {
    char name[32], state;
    unsigned long long blocked; /* signals */
};

static bool read_status(const char *thread, struct status *status)
{
    char path[64], text[4096];
    const char *state, *blocked;
    ssize_t size;
    int file;

    snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", thread);
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    state = strstr(text, "\nState:\t");
    blocked = strstr(text, "\nSigBlk:\t");
    return state && blocked && sscanf(text, "Name:\t%31[^\n]", status->name) == 1 &&
           sscanf(state, "\nState:\t%c", &status->state) == 1 &&
           sscanf(blocked, "\nSigBlk:\t%llx", &status->blocked) == 1;
}

static bool has_ended(const struct status *status)
{
    return status->state == 'Z' || status->state == 'X';
}

/* Ours, and those that vendors start there, inherited what this thread blocks, which nobody else has a reason to block.
 * So did a thread that the application started in a callback: it has the name of the thread of callbacks, too. */
static bool is_left_alone(void)
{
    unsigned n_callback_threads = 0;
    struct status self, status;
    char own[24];
    bool alone;
    DIR *threads;

    snprintf(own, sizeof(own), "%ld", syscall(SYS_gettid));
    threads = read_status(own, &self) ? opendir("/proc/self/task") : NULL;
    alone = threads != NULL;
    for (struct dirent *entry; alone && (entry = readdir(threads));) {
        if (entry->d_name[0] == '.' || !read_status(entry->d_name, &status) || has_ended(&status))
            continue;
        n_callback_threads += strcmp(status.name, TSL_CALLBACK_THREAD) == 0;
        alone = status.blocked == self.blocked && strcmp(status.name, TSL_BUILD_THREAD) && n_callback_threads <= 1;
    }
    if (threads)
        closedir(threads);
    return alone;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static bool nothing_is_under_way(void)
{
    const struct tsl_exit_hook *hook = atomic_load(&tsl_exit_hook);

    return !hook || hook->is_idle();
}

static void *watch(void *unused)
{
    struct timespec pause = {.tv_nsec = 1000000};
    sigset_t none;

    (void)unused;
    pthread_setname_np(pthread_self(), "tesela-last");
    while (!is_left_alone()) {
        nanosleep(&pause, NULL);
        pause.tv_nsec = 2 * pause.tv_nsec < LONGEST_PAUSE_NS ? 2 * pause.tv_nsec : LONGEST_PAUSE_NS;
    }
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    while (!nothing_is_under_way())
        nanosleep(&pause, NULL);
    exit(EXIT_SUCCESS);
}

static void start_watch(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    tsl_thread_start(&thread, &attributes, watch, NULL); /* else the process stays, as it would without */
    pthread_attr_destroy(&attributes);
}

static bool main_thread_has_ended(void)
{
    struct status status;
    char number[24];

    snprintf(number, sizeof(number), "%ld", (long)getpid());
    return read_status(number, &status) && has_ended(&status);
}

/* Values of a thread are taken down by pthread_exit and not by exit. */
static void end_thread(void *unused)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)unused;
    if (!tsl_forked() && (syscall(SYS_gettid) == getpid() || main_thread_has_ended()))
        pthread_once(&once, start_watch);
}

static pthread_key_t key;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&key, end_thread) == 0;
}

void tsl_last_thread_expect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_key);
    if (has_key)
        pthread_setspecific(key, &key);
}
