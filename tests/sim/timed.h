/*
 * A fake machine in virtual time for tests of when things happen: everything happens as soon as it can, in the order of
 * time, and what threads of ours do takes none. One at a time, in one thread.
 */
#ifndef TSL_TESTS_TIMED_H
#define TSL_TESTS_TIMED_H

#include "driver/fake.h"
#include "graph/graph.h"
#include "object/buffer.h"
#include "object/context.h"
#include "object/queue.h"
#include "program/program.h"

struct timed {
    struct tsl_context *context;
    struct tsl_queue *queue;
    struct tsl_program *program;
    unsigned n_members, members; /* members: which may take the launches, a bit each */
    struct tsl_event *wait;      /* what launches wait for, borrowed; NULL: nothing */
};

/* Kernels of the source are registered before. */
void timed_begin(struct timed *t, const struct tsl_fake_member *members, unsigned n, const char *source,
                 cl_command_queue_properties properties);
/* Everything is finished and released; fails the test if the driver saw its contract broken. */
void timed_end(struct timed *t);

struct tsl_buffer *timed_buffer(struct timed *t, size_t size);
/* One kernel over n_items; its arguments are the buffers, then, if not 0, a uint32_t. Returns its event where one is
 * asked for. */
void timed_launch(struct timed *t, const char *kernel, size_t n_items, unsigned n_buffers,
                  struct tsl_buffer *const *buffers, uint32_t value, struct tsl_event **event);
/* All the bytes of a range are these, by a read in that queue. */
void timed_assert_bytes(struct tsl_queue *queue, struct tsl_buffer *buffer, size_t from, size_t size,
                        unsigned char value);
/* Bytes that went to members, and back, since the last call. All is finished. */
void timed_assert_moved(const struct timed *t, uint64_t up, uint64_t down);
/* Waits for all; returns the virtual time. */
uint64_t timed_finish(struct timed *t);
/* The i-th launch that was recorded, in the order of ends; false past the last. */
bool timed_run(unsigned i, struct tsl_fake_record *record);

#endif
