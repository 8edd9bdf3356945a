/* submit.c: what copies, fills, launches and marks have in common; copy.c: steps of one. */
#ifndef TSL_OPENCL_SUBMIT_H
#define TSL_OPENCL_SUBMIT_H

#include "opencl/internal.h"

#define TSL_OPENCL_SMALL_WAITS 16

/* One submission, between begin and end. */
struct tsl_opencl_submit {
    struct tsl_opencl_lane *lane;
    struct tsl_opencl_member *member;
    cl_command_queue queue;
    cl_uint n;                      /* events to wait for */
    const cl_event *events;         /* NULL if n is 0 */
    cl_event *event_out;            /* for the vendor's last argument: NULL if no fence is wanted */
    bool refused;                   /* a wait failed already: enqueue nothing; end() enqueues a marker in its place */
    struct tsl_opencl_fence *fence; /* what end() will give out; NULL: none is asked for */
    cl_event event;
    cl_event few[TSL_OPENCL_SMALL_WAITS];
    cl_event *many;
};

/* Prepares *s, taking the locks that the vendor needs. On error nothing is held. If s->refused nothing may be enqueued.
 * Either way end() follows a begin() that succeeded, with the result of the enqueue; it gives the fence out. */
cl_int tsl_opencl_begin(struct tsl_opencl_submit *s, struct tsl_lane *lane, const struct tsl_waits *waits,
                        struct tsl_fence **fence);
cl_int tsl_opencl_end(struct tsl_opencl_submit *s, cl_int error, struct tsl_fence **fence);

/* A vendor's command of a submission that may take several: the first waits, the last gives the event. In between the
 * lane's order does. */
struct tsl_opencl_step {
    cl_command_queue queue;
    const struct tsl_opencl_cl *cl;
    cl_uint n;
    const cl_event *events;
    cl_event *event;
};

struct tsl_opencl_step tsl_opencl_step(const struct tsl_opencl_submit *s, bool first, bool last);

/* Memory of a fill, which is freed when the event has come; the event stays the caller's. */
void tsl_opencl_free_after(const struct tsl_opencl_submit *s, cl_event event, char *piece);

#endif
