/*
 * The library's end of the compiler's wire: one process for all callers, started when first needed, kept, and started
 * again when it is gone. Several threads' requests may be under way at once; one of the waiting threads reads for all.
 */
#ifndef TSL_COMPILE_CLIENT_CLIENT_H
#define TSL_COMPILE_CLIENT_CLIENT_H

#include "compile_client/wire.h"

/* An answer: a message of type BUILT or ERROR. */
struct tsl_reply {
    enum tsl_wire_type type;
    void *body; /* heap, the caller's */
    size_t size;
};

/* Sends one request and waits for its answer. message is whole; its number is set here. Any thread, no locks held.
 * CL_COMPILER_NOT_AVAILABLE: no compiler, or it can't be started; *why is a sentence (heap). CL_OUT_OF_RESOURCES: it
 * ended each time it had this request; *why likewise. Also in a forked child. */
cl_int tsl_client_call(struct tsl_writer *message, struct tsl_reply *reply, char **why);

/* What the compiler lacks. */
enum tsl_client_lack {
    TSL_CLIENT_LACKS_NOTHING,
    TSL_CLIENT_ABSENT,      /* there is none, or none for this program */
    TSL_CLIENT_UNRUNNABLE,  /* its file may not be run */
    TSL_CLIENT_FORBIDDEN,   /* no process may be started */
    TSL_CLIENT_NO_FILES,    /* this process has too many files open */
    TSL_CLIENT_NO_MEMORY,   /* for another process */
    TSL_CLIENT_BROKEN,      /* its file is no program, or it says nothing */
    TSL_CLIENT_OTHER,       /* of another version than the library */
    TSL_CLIENT_ENDS_AT_ONCE /* as where a library of its own is missing */
};

/* What the last try to use the compiler found lacking. Any thread, no locks held. */
enum tsl_client_lack tsl_client_lack(void);

/* Starts the compiler, if none runs, and waits for its first word, for who wants to know whether it works before there
 * is anything to build; no longer than limit_ms, if no other thread waits for an answer meanwhile. False: it doesn't;
 * *why is a sentence (heap). Any thread, no locks held. */
bool tsl_client_greet(unsigned limit_ms, char **why);
/* Longer than it takes on a slow disk. */
#define TSL_CLIENT_GREET_MS 30000u

/* The compiler's path: beside our library (tesela/tesela-kc, in a build kc/tesela-kc), never from PATH. NULL: it
 * doesn't exist, may not be run, or this program has raised rights and may not start it; *why is a sentence (static).
 */
const char *tsl_client_program(const char **why);

/* For tests: another program and its further arguments (NULL ends the list). Before the first call. */
void tsl_client_set_program(const char *path, char *const *arguments);
/* For tests: the process, 0 if none is running. */
int tsl_client_process(void);

#endif
