/*
 * The child shares our memory until it runs the program (CLONE_VM | CLONE_VFORK), so that starting it takes no copy of
 * a large application's page tables. Therefore it makes system calls and nothing else: a library function might take a
 * lock, or be watched by a sanitizer that believes that the application did it.
 */
#include "compile_client/process.h"

#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE (64u << 10) /* of each of the two children */

/* ThreadSanitizer takes the children's work in our memory for this thread's: with it they get a copy. */
#if defined(__SANITIZE_THREAD__)
#define SHARING CLONE_VFORK
#else
#define SHARING (CLONE_VM | CLONE_VFORK)
#endif

/* The children's arguments and results. */
struct start {
    const char *path;
    char *const *arguments;
    int socket;
    char *stack;            /* the second child's: its end */
    volatile pid_t process; /* of the program */
    volatile int error;     /* 0: it runs */
};

/* ---- In the children --------------------------------------------------------------------------------------------- */

/* All signals get their default: handlers are the application's code, and signals that it ignores are wanted here. */
static void reset_signals(void)
{
    static const uint64_t nothing[8]; /* the kernel's struct sigaction: SIG_DFL, no flags, no mask */
    static const uint64_t none;

    for (long signal = 1; signal <= 64; signal++)
        syscall(SYS_rt_sigaction, signal, nothing, NULL, sizeof(none));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* The result of getdents64(2). */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* The number that a name spells; -1 if it is none. */
static long number_of(const char *name)
{
    long number = 0;

    for (; *name; name++) {
        if (*name < '0' || *name > '9')
            return -1;
        number = 10 * number + *name - '0';
    }
    return number;
}

/* Closes the descriptors from `first` on that the folder lists, except the folder's own. Returns how many; negative:
 * the folder can't be read. */
static long close_listed(long folder, long first)
{
    _Alignas(struct entry) char entries[4096];
    long size, n = 0;

    syscall(SYS_lseek, folder, 0, SEEK_SET);
    while ((size = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < size; at += ((struct entry *)(entries + at))->size) {
            long file = number_of(((struct entry *)(entries + at))->name);

            if (file >= first && file != folder && syscall(SYS_close, file) == 0)
                n++;
        }
    }
    return size < 0 ? size : n;
}

/* Closes all descriptors from `first` on. Linux before 5.9 can't close a range, and some sandboxes forbid it. */
static bool close_from(long first)
{
    long folder, n;

    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return true;
    folder = syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0)
        return false;
    while ((n = close_listed(folder, first)) > 0) /* repeated, as an entry may move up while others are closed */
        continue;
    syscall(SYS_close, folder);
    return n == 0;
}

/* The socket moves above TSL_SPAWN_SOCKET first, so that no descriptor is put over one that is still needed. */
static bool arrange_descriptors(int socket)
{
    long high = syscall(SYS_fcntl, socket, F_DUPFD, TSL_SPAWN_SOCKET + 1);
    long null = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);

    if (high < 0 || null < 0)
        return false;
    for (int stream = 0; stream < 3; stream++)
        if (null != stream && syscall(SYS_dup3, null, stream, 0) < 0)
            return false;
    if (syscall(SYS_dup3, high, TSL_SPAWN_SOCKET, 0) < 0)
        return false;
    return close_from(TSL_SPAWN_SOCKET + 1);
}

static int second(void *argument)
{
    struct start *start = argument;
    static char *const no_environment[] = {NULL};

    reset_signals();
    syscall(SYS_setsid);
    if (arrange_descriptors(start->socket) && syscall(SYS_chdir, "/") == 0)
        syscall(SYS_execve, start->path, start->arguments, no_environment);
    start->error = errno;
    syscall(SYS_exit_group, 127);
    return 127;
}

static int first(void *argument)
{
    struct start *start = argument;
    pid_t process = clone(second, start->stack, SHARING | SIGCHLD, start);

    if (process < 0)
        start->error = errno;
    start->process = process;
    syscall(SYS_exit_group, 0);
    return 0;
}

/* ---- In the application ------------------------------------------------------------------------------------------ */

/* Reaps the first child; the application's waits leave it alone unless they ask for such children. */
static void reap(pid_t child)
{
    while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
        continue;
}

/* Runs the first child with all signals blocked: no handler of the application may run in it, in our memory. */
static void run(struct start *start, char *stack)
{
    sigset_t all, before;
    int cancel;
    pid_t child;

    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    child = clone(first, stack, SHARING, start);
    if (child < 0)
        start->error = errno;
    else
        reap(child);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancel, NULL);
}

bool tsl_spawn(const char *path, char *const *arguments, int socket, struct tsl_spawned *spawned)
{
    /* Both stacks, and behind them arguments and results: shared with the children even if they copy our memory. */
    size_t size = 2 * STACK_SIZE + sizeof(struct start);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct start *start = (struct start *)(memory + 2 * STACK_SIZE), told;

    if (memory == MAP_FAILED)
        return false;
    *start = (struct start){.path = path, .arguments = arguments, .socket = socket, .stack = memory + STACK_SIZE};
    run(start, memory + 2 * STACK_SIZE);
    told = *start;
    munmap(memory, size);
    errno = told.error;
    if (told.error)
        return false;
    *spawned = (struct tsl_spawned){told.process, (int)syscall(SYS_pidfd_open, told.process, 0)};
    return true;
}

void tsl_spawn_end(struct tsl_spawned *spawned)
{
    /* By the pidfd, never by the number, which may be another process's by now. */
    if (spawned->handle >= 0) {
        syscall(SYS_pidfd_send_signal, spawned->handle, SIGKILL, NULL, 0);
        close(spawned->handle);
    }
    *spawned = (struct tsl_spawned){0, -1};
}

bool tsl_spawn_find(const char *const *names, unsigned n, char *path)
{
    char library[PATH_MAX], unrunnable[PATH_MAX] = "";

    path[0] = 0;
    if (getauxval(AT_SECURE) || !tsl_own_file(library))
        return false;
    *strrchr(library, '/') = 0;
    for (unsigned i = 0; i < n; i++) {
        int written = snprintf(path, PATH_MAX, "%s%s", library, names[i]);

        if (written > 0 && written < PATH_MAX && access(path, X_OK) == 0)
            return true;
        if (written > 0 && written < PATH_MAX && !unrunnable[0] && access(path, F_OK) == 0)
            memcpy(unrunnable, path, sizeof unrunnable);
    }
    memcpy(path, unrunnable, sizeof unrunnable);
    return false;
}
