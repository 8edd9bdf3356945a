#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

/* The signal of one thread, kept back while it writes. */
struct hold {
    sigset_t limit, before;
    bool was_pending; /* one that is the application's */
    int error;        /* errno */
};

static void hold_signal(struct hold *hold)
{
    sigset_t pending;

    hold->error = errno;
    sigemptyset(&hold->limit);
    sigaddset(&hold->limit, SIGXFSZ);
    sigemptyset(&pending);
    pthread_sigmask(SIG_BLOCK, &hold->limit, &hold->before);
    sigpending(&pending);
    hold->was_pending = sigismember(&pending, SIGXFSZ);
}

/* Takes it away if there is one, and lets go of the others. */
static void release_signal(const struct hold *hold)
{
    static const struct timespec now;

    while (!hold->was_pending && sigtimedwait(&hold->limit, NULL, &now) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
    errno = hold->error;
}

static int write_whole(int file, const char *at, size_t size)
{
    while (size) {
        ssize_t n = write(file, at, size);

        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

int tsl_file_write(int file, const void *data, size_t size)
{
    struct hold hold;
    int error;

    hold_signal(&hold);
    error = write_whole(file, data, size);
    release_signal(&hold);
    return error;
}

int tsl_file_claim(int file, uint64_t begin, uint64_t size)
{
    struct hold hold;
    int error;

    hold_signal(&hold);
    error = posix_fallocate(file, (off_t)begin, (off_t)size);
    release_signal(&hold);
    return error;
}
