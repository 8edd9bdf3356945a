#include "trace/sink.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A multiple of any page size. Filling a window takes some 50 microseconds, once in a thousand events. */
#define WINDOW_SIZE (256u * 1024)

/* Maps the file's part from `begin`. The blocks are claimed first: writing to a page for which the disk has no room
 * would kill the program with SIGBUS. */
static int map_window(struct tsl_sink *sink, uint64_t begin)
{
    int error = tsl_file_claim(sink->fd, begin, WINDOW_SIZE);
    void *window;

    if (error)
        return error;
    window = mmap(NULL, WINDOW_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, sink->fd, (off_t)begin);
    if (window == MAP_FAILED)
        return errno;
    /* A killed program leaves newlines, which every JSON reader skips, instead of zeroes. */
    memset(window, '\n', WINDOW_SIZE);
    sink->window = window;
    sink->begin = begin;
    sink->used = 0;
    return 0;
}

static bool is_file(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

int tsl_sink_open(struct tsl_sink *sink, const char *path)
{
    *sink = TSL_SINK_CLOSED;
    sink->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (sink->fd < 0)
        sink->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (sink->fd < 0)
        return errno;
    if (is_file(sink->fd) && map_window(sink, 0) != 0 && ftruncate(sink->fd, 0) != 0) {
        int error = errno;

        tsl_sink_drop(sink);
        return error;
    }
    return 0;
}

static int next_window(struct tsl_sink *sink)
{
    char *full = sink->window;
    int error = map_window(sink, sink->begin + WINDOW_SIZE);

    if (error == 0)
        munmap(full, WINDOW_SIZE);
    return error;
}

int tsl_sink_put(struct tsl_sink *sink, const char *bytes, size_t size)
{
    if (sink->fd < 0)
        return EBADF;
    if (!sink->window)
        return tsl_file_write(sink->fd, bytes, size);
    while (size > 0) {
        size_t part = WINDOW_SIZE - sink->used;
        int error;

        if (part == 0) {
            error = next_window(sink);
            if (error)
                return error;
            continue;
        }
        if (part > size)
            part = size;
        memcpy(sink->window + sink->used, bytes, part);
        sink->used += part;
        bytes += part;
        size -= part;
    }
    return 0;
}

void tsl_sink_close(struct tsl_sink *sink)
{
    /* If the file can't be cut, newlines stay behind the end: harmless. */
    if (sink->window && ftruncate(sink->fd, (off_t)(sink->begin + sink->used)) != 0)
        errno = 0;
    tsl_sink_drop(sink);
}

void tsl_sink_drop(struct tsl_sink *sink)
{
    if (sink->window)
        munmap(sink->window, WINDOW_SIZE);
    if (sink->fd >= 0)
        close(sink->fd);
    *sink = TSL_SINK_CLOSED;
}
