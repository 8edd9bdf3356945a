/*
 * The library's end of the compiler's wire: one process for all, started at the first need, kept, started again when it
 * is gone. Several threads' requests are on their way at once; whoever waits reads for all.
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

/* Sends one request, a whole message whose number this sets, and waits for its answer. Any thread, no locks held.
 * CL_COMPILER_NOT_AVAILABLE: there is no compiler, or it can't be started; *why is a sentence (heap).
 * CL_OUT_OF_RESOURCES: it was lost twice over this request; *why likewise. Also in a forked child. */
cl_int tsl_client_call(struct tsl_writer *message, struct tsl_reply *reply, char **why);

/* The program's file: beside our library (tesela/tesela-kc, in a build kc/tesela-kc), never from PATH. NULL: there is
 * none, or programs with raised rights leave it alone; *why (static). */
const char *tsl_client_program(const char **why);

/* For tests: another program, and what it is told besides (NULL ends the list). Before the first call. */
void tsl_client_set_program(const char *path, char *const *arguments);
/* For tests: the process, 0 if none is running. */
int tsl_client_process(void);

#endif
