/*
 * The timeline's file. It is mapped window by window, so that its contents survive even if the program is killed in the
 * next instant, at the cost of a memcpy. A pipe, or a file that can't be mapped, is written to instead. Not
 * thread-safe.
 */
#ifndef TSL_TRACE_SINK_H
#define TSL_TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_sink {
    int fd;         /* -1: closed */
    char *window;   /* the mapped part of the file, filled with newlines behind the contents; NULL: not mapped */
    uint64_t begin; /* bytes of the file before the window */
    size_t used;    /* bytes of the window with contents */
};

#define TSL_SINK_CLOSED ((struct tsl_sink){.fd = -1})

/* Creates or empties the file. Returns 0 or an errno; the sink is then closed. */
int tsl_sink_open(struct tsl_sink *sink, const char *path);

/* Appends. Returns 0 or an errno (ENOSPC, ...); earlier contents stay. */
int tsl_sink_put(struct tsl_sink *sink, const char *bytes, size_t size);

/* Cuts the file behind the last byte, and closes it. A closed sink is allowed. */
void tsl_sink_close(struct tsl_sink *sink);

/* Closes a file that is another process's to write (after fork), without touching it. */
void tsl_sink_drop(struct tsl_sink *sink);

#endif
