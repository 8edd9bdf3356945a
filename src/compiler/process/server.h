/*
 * The compiler as the library's child process: requests over one socket, each build in a child of its own.
 */
#ifndef KC_PROCESS_SERVER_H
#define KC_PROCESS_SERVER_H

#include "compiler/process/job.h"

#define KC_MAX_PARALLEL 64u

/* Serves until the other end of the socket is closed or the idle limit is reached. Returns the exit status. */
int kc_serve(int socket, struct kc_prepared *prepared, const struct kc_limits *limits);

#endif
