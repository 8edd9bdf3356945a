/*
 * A build in a child of its own: whatever LLVM does there - abort, loop, eat memory - ends as a build failure with a
 * log. The child is forked from a process that has everything loaded, which costs about a millisecond.
 */
#ifndef KC_PROCESS_JOB_H
#define KC_PROCESS_JOB_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kc_limits {
    uint64_t seconds;  /* for one build, by the clock */
    uint64_t memory;   /* bytes of address space beyond what is loaded */
    unsigned parallel; /* builds at once */
    uint64_t idle;     /* seconds without any work after which the server goes; 0: never */
};

struct kc_warm;

struct kc_job {
    pid_t child;
    int pipe;          /* the reply comes here; its end means that the child is done */
    int errors;        /* the child's standard error, in memory */
    uint64_t request;  /* number of what it works on */
    uint32_t action;   /* enum tsl_wire_action, for the failure's code */
    uint64_t deadline; /* ns of CLOCK_MONOTONIC */
    bool late;         /* killed because of it */
    struct tsl_writer reply;
};

/* body: of a BUILD message. False: no child could be made. */
bool kc_job_start(struct kc_job *job, struct kc_warm *warm, const struct kc_limits *limits, uint64_t request,
                  const void *body, size_t size);

/* Reads what is there; false once the child is done. */
bool kc_job_read(struct kc_job *job);

/* Ends the child if it is late. */
void kc_job_check(struct kc_job *job, uint64_t now);

/* After the end: appends the reply, or the failure that takes its place, to `out`; gives everything back. */
void kc_job_end(struct kc_job *job, struct tsl_writer *out);

/* Ends it at once, without a reply. */
void kc_job_kill(struct kc_job *job);

uint64_t kc_now(void);

#endif
