/*
 * The graph of a context: what was enqueued, what waits for what, what is reported when. This is the door through which
 * the API enters; README.md leads through the inside.
 *
 * Life of a command: held → scheduled → complete → reported.
 *   held       the command, or one that it must not overtake, depends on an unset user event, or waits for a member
 *              that has enough to do, or for memory. Nothing is decided.
 *   scheduled  the command has its place and its ranges, and its edges are fixed: they all lead to commands that were
 *              scheduled before, so there is no cycle. Its operations are on their way. Commands of an in-order queue
 *              are scheduled in order.
 *   complete   all its operations are done, or it failed.
 *   reported   the command is complete, and in an in-order queue all before it are reported. Only this is visible.
 *
 * Locks: every function takes the graph's lock itself; the caller holds no lock of the core.
 * Errors: of the enqueue functions are those of the clEnqueue… call; later failures are the command's (its event's)
 * status.
 */
#ifndef TSL_GRAPH_GRAPH_H
#define TSL_GRAPH_GRAPH_H

#include "base/sets.h"
#include "object/buffer.h"
#include "object/queue.h"
#include "program/program.h"

struct tsl_event;

/* The part that all enqueues share. event: NULL, or where a new event (users = 1) goes. */
struct tsl_enqueue {
    struct tsl_queue *queue;
    cl_command_type type;
    bool blocking; /* return only when the command is reported; its error is then the call's error */
    cl_uint n_wait;
    struct tsl_event *const *wait; /* checked by the API: live events of the same context */
    struct tsl_event **event;
    bool own_task; /* a host task of ours, which is quick and touches nothing but its buffers */
};

cl_int tsl_enqueue_read(const struct tsl_enqueue *e, struct tsl_buffer *src, void *dst, const struct tsl_box_copy *box);
cl_int tsl_enqueue_write(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *src,
                         const struct tsl_box_copy *box);
cl_int tsl_enqueue_copy(const struct tsl_enqueue *e, struct tsl_buffer *src, struct tsl_buffer *dst,
                        const struct tsl_box_copy *box);
cl_int tsl_enqueue_fill(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *pattern, size_t pattern_size,
                        size_t offset, size_t size);
/* The box's dst_… are filled; the pattern's size divides its rows. */
cl_int tsl_enqueue_fill_box(const struct tsl_enqueue *e, struct tsl_buffer *dst, const void *pattern,
                            size_t pattern_size, const struct tsl_box_copy *box);
/* *ptr is set at the call; valid when the command is complete. */
cl_int tsl_enqueue_map(const struct tsl_enqueue *e, struct tsl_buffer *buffer, cl_map_flags flags, size_t offset,
                       size_t size, void **ptr);
/* The box's dst_… are mapped, and *ptr is the address of its first byte: the rest lies as the pitches say. */
cl_int tsl_enqueue_map_box(const struct tsl_enqueue *e, struct tsl_buffer *buffer, cl_map_flags flags,
                           const struct tsl_box_copy *box, void **ptr);
cl_int tsl_enqueue_unmap(const struct tsl_enqueue *e, struct tsl_buffer *buffer, void *ptr);
/* The API checked sizes against the facts of every eligible member; `members` are those that can take this launch. */
cl_int tsl_enqueue_kernel(const struct tsl_enqueue *e, struct tsl_kernel *kernel, const struct tsl_window *window,
                          tsl_members members);
/* A kernel was made, which may be worth further members (readiness.h). */
void tsl_graph_expect(const struct tsl_kernel *kernel);
/* Waits for the list, or for everything before when the list is empty; barriers also hold back what comes after. */
cl_int tsl_enqueue_marker(const struct tsl_enqueue *e, bool barrier);
cl_int tsl_enqueue_migrate(const struct tsl_enqueue *e, cl_uint n, struct tsl_buffer *const *buffers,
                           cl_mem_migration_flags flags);
/* A host task: fn runs on a thread of ours once the buffers are on the host. args: heap, freed after the run or
 * failure; the graph stores the host address of buffers[i] at slots[i] (pointers into args) before. */
cl_int tsl_enqueue_native(const struct tsl_enqueue *e, void(CL_CALLBACK *fn)(void *), void *args, cl_uint n,
                          struct tsl_buffer *const *buffers, void **const *slots);

cl_int tsl_queue_flush(struct tsl_queue *queue);
cl_int tsl_queue_finish(struct tsl_queue *queue);
/* Switches some of the queue's flags on or off and returns what they were (clSetCommandQueueProperty). A change of the
 * order waits until the queue is empty, so that none of its commands stands between two rules: also for what other
 * threads enqueue meanwhile. */
cl_int tsl_queue_set(struct tsl_queue *queue, cl_command_queue_properties flags, bool enable,
                     cl_command_queue_properties *old);
/* clSetQueuePolicyTESELA: all of its errors but that of a wrong handle. */
cl_int tsl_queue_set_policy(struct tsl_queue *queue, cl_uint policy, cl_uint value);
/* The queue's last release: what clReleaseCommandQueue must do (an implicit flush). */
void tsl_queue_let_go(struct tsl_queue *queue);
/* How often the memory object is mapped now. */
cl_uint tsl_buffer_map_count(struct tsl_buffer *buffer);

/* Events. Every event is a handle whose command lives as long as it does. */
struct tsl_event {
    struct tsl_object object;
    struct tsl_context *context; /* shown */
    struct tsl_queue *queue;     /* shown; NULL for user events */
    struct tsl_command *command; /* owned reference */
};

cl_int tsl_event_create_user(struct tsl_context *context, struct tsl_event **event);
/* CL_INVALID_OPERATION if it was set before or is no user event. */
cl_int tsl_event_set_user(struct tsl_event *event, cl_int status);
/* The reported status: CL_QUEUED, CL_SUBMITTED, CL_RUNNING, CL_COMPLETE or a negative error. */
cl_int tsl_event_status(struct tsl_event *event);
cl_command_type tsl_event_type(struct tsl_event *event);
/* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one of them failed. Flushes their queues. */
cl_int tsl_events_wait(cl_uint n, struct tsl_event *const *events);
typedef void(CL_CALLBACK tsl_event_fn)(cl_event, cl_int, void *);
/* Called once, on the callback thread, when the reported status reaches `status` or an error. */
cl_int tsl_event_callback(struct tsl_event *event, cl_int status, tsl_event_fn *fn, void *arg);
/* CL_PROFILING_INFO_NOT_AVAILABLE: not a profiling queue, a user event, or not complete. */
cl_int tsl_event_profile(struct tsl_event *event, cl_profiling_info param, cl_ulong *ns);

#endif
