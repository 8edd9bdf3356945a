/*
 * Programs that the tool runs: in an environment of their own, with their output in files, for a limited time. A child
 * dies with the tool. One at a time, and by one thread.
 *
 * A user who wants the tool to end (Ctrl-C) sends it a signal. Since the child has a process group of its own, the
 * terminal's signals don't reach it: the tool ends it, with the child's own children. No other child is started then,
 * so a command comes to its end soon, tells what it has, removes its files, and calls tsl_child_leave.
 */
#ifndef TSL_TOOL_CHILD_H
#define TSL_TOOL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_child {
    char **program;           /* ends with NULL; looked for in PATH */
    const char *const *set;   /* "NAME=VALUE", ends with NULL */
    const char *const *unset; /* names, ends with NULL */
    const char *out, *err;    /* files that are made anew for its output */
    unsigned limit_s;         /* it is killed after so many seconds; 0: never */
};

enum tsl_child_end {
    TSL_CHILD_EXITED,   /* number: its exit status */
    TSL_CHILD_SIGNAL,   /* number: the signal that ended it */
    TSL_CHILD_LATE,     /* it was killed when its time was over */
    TSL_CHILD_STOPPED,  /* it was killed, or not started, as the tool is to end: tsl_child_stopped */
    TSL_CHILD_UNFORKED, /* there can be no process at all, whatever it runs; number: errno */
    TSL_CHILD_UNSTARTED /* the program can't be run; number: errno */
};

struct tsl_child_result {
    enum tsl_child_end end;
    int number;
    uint64_t wall_ns;
};

struct tsl_child_result tsl_child_run(const struct tsl_child *child);

/* The first signal of a kind that asks the tool to end is kept from now on, until tsl_child_leave; a second one ends
 * the tool at once. Those that are ignored stay so. A reader of its output that leaves doesn't end the tool any more.
 */
void tsl_child_heed_signals(void);

/* Such a signal's number; 0: none came. */
int tsl_child_stopped(void);

/* Ends the tool by that signal, as if it had not been kept; without one it returns. */
void tsl_child_leave(void);

/* How it ended, for people: "crashed (Segmentation fault)". Empty if it ended well, or was stopped. */
void tsl_child_say(const struct tsl_child_result *result, const struct tsl_child *child, char *text, size_t size);

#define TSL_LAST_WORDS 256

/* The last line that isn't empty of a file with its output, without its full stop; false, and "": there is none. */
bool tsl_child_last_words(const char *path, char words[TSL_LAST_WORDS]);

#endif
