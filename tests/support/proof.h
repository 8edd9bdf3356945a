/*
 * Shared by the proofs (tests/api/proof_*_test.c): a context on Tesela's device, and the timeline of what really
 * happened, which Tesela writes while the program runs (TESELA_TRACE) and the test reads.
 *
 * Commands are known by their number: Tesela counts a context's commands from 1 in the order of the calls. So every
 * enqueue of a proof goes through proof_did, which counts too.
 */
#ifndef TSL_TESTS_PROOF_H
#define TSL_TESTS_PROOF_H

#include "test.h"

#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

/* A span of time, in microseconds of CLOCK_MONOTONIC. */
struct proof_span {
    char name[64], category[16], member[64], from[64], to[64];
    uint64_t command, bytes, buffer, offset;
    double start, end;
};

/* The context's part of the timeline, as read so far. */
struct proof_trace {
    struct proof_span *spans;
    size_t n, capacity;
    uint64_t n_commands; /* reported ones */
    long position;       /* in the file */
};

struct proof {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, without profiling */
    cl_program program;
    uint64_t n_commands; /* enqueued so far */
    struct proof_trace trace;
};

/* The error code must be CL_SUCCESS. A failed check fails the test if it is in the test's own thread, else it ends the
 * program. */
#define proof_ok(call) proof_check((call), #call, __FILE__, __LINE__)
void proof_check(cl_int error, const char *what, const char *file, int line);

/* The same for any condition. */
#define proof_must(condition) proof_holds((condition), #condition, __FILE__, __LINE__)
void proof_holds(bool holds, const char *what, const char *file, int line);

/* Checks the call and counts its command; returns the command's number. */
#define proof_did(p, call) (proof_check((call), #call, __FILE__, __LINE__), ++(p)->n_commands)

/* For proof_open: chooses the file, before the first OpenCL call (PROOF_TRACE=off: none, and no questions about it).
 * _end: the end of the file's written part. */
void proof_trace_start(void);
long proof_trace_end(void);

/* Creates everything. The first call also starts the timeline, so it must come before any OpenCL call. source: NULL for
 * no program. */
void proof_open(struct proof *p, const char *source);
/* The same on these devices, with a queue of the first. They come from Tesela's device, proof_root(). */
void proof_open_on(struct proof *p, const char *source, cl_uint n, const cl_device_id *devices);
cl_device_id proof_root(void);
/* Releases everything. All commands must have finished. */
void proof_close(struct proof *p);

cl_command_queue proof_queue(struct proof *p, cl_command_queue_properties properties);
cl_mem proof_buffer(struct proof *p, cl_mem_flags flags, size_t size, void *host_ptr);
cl_mem proof_sub_buffer(cl_mem root, cl_mem_flags flags, size_t offset, size_t size);
cl_kernel proof_kernel(struct proof *p, const char *name);

/* Sets buffer arguments from the first on, then the cl_uint ones. */
void proof_set(cl_kernel kernel, unsigned n_buffers, const cl_mem *buffers, unsigned n_uints, const cl_uint *uints);

/* The number of rounds that makes a kernel "long" here (PROOF_SPIN): a simulator needs fewer. */
cl_uint proof_spin(void);
bool proof_policy_is(const char *policy);
uint64_t proof_now_ns(void); /* CLOCK_MONOTONIC, as the timeline */

/* ---- The timeline ----------------------------------------------------------------------------------------------- */

/* Everything of the context so far; waits until the timeline has all of its commands. */
const struct proof_trace *proof_trace(struct proof *p);

/* The span with that category and command number (and name, unless NULL); NULL if there is none. */
const struct proof_span *proof_find(const struct proof_trace *trace, const char *category, uint64_t command,
                                    const char *name);
/* A command's work on its member or on the host: its kernel or host task. Fails without one. */
const struct proof_span *proof_work(const struct proof_trace *trace, uint64_t command);
/* The transfer for a command to (or from) a member. Fails without one. */
const struct proof_span *proof_move(const struct proof_trace *trace, uint64_t command, bool to_member);
/* Bytes that were transferred for the commands first … last: to members, from members. */
struct proof_moved {
    uint64_t to_members, from_members;
};
struct proof_moved proof_moved(const struct proof_trace *trace, uint64_t first, uint64_t last);
/* Did b begin after a had ended (within the error between two devices' clocks)? */
bool proof_ordered(const struct proof_span *a, const struct proof_span *b);
bool proof_overlap(const struct proof_span *a, const struct proof_span *b);

#endif
