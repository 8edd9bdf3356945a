/*
 * A build in a child process: whatever LLVM does there (abort, loop, exhaust memory) ends as a build failure with a
 * log. The child is forked from a process that has everything loaded, which costs about a millisecond.
 */
#ifndef KC_PROCESS_JOB_H
#define KC_PROCESS_JOB_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kc_limits {
    uint64_t seconds;  /* of wall-clock time for one build */
    uint64_t memory;   /* bytes of address space beyond what is loaded */
    unsigned parallel; /* builds at once, and processes of one build */
    uint64_t idle;     /* seconds without work after which the server exits; 0: never */
};

struct kc_prepared;

struct kc_job {
    pid_t child;
    int pipe;          /* receives the reply; its end means that the child is done */
    int errors;        /* the child's standard error: a file in memory */
    uint64_t request;  /* the number of its request */
    uint32_t action;   /* enum tsl_wire_action, for the error code of a failure */
    uint64_t deadline; /* ns of CLOCK_MONOTONIC */
    bool late;         /* killed because of the deadline */
    struct tsl_writer reply;
};

/* body: of a BUILD message. False: no child could be started. */
bool kc_job_start(struct kc_job *job, struct kc_prepared *prepared, const struct kc_limits *limits, uint64_t request,
                  const void *body, size_t size);

/* Reads the available bytes; false once the child is done. */
bool kc_job_read(struct kc_job *job);

/* Kills the child if it is past its deadline. */
void kc_job_check(struct kc_job *job, uint64_t now);

/* After the end: appends the reply, or a failure in its place, to `out`; frees everything. */
void kc_job_end(struct kc_job *job, struct tsl_writer *out);

/* Kills the child, without a reply. */
void kc_job_kill(struct kc_job *job);

uint64_t kc_now(void);

#endif
