/*
 * Arrows between spans: which were asked for, and where the spans at their ends lie. Spans and arrows come in any
 * order; an arrow is ready when both ends are known. Remembers the newest TSL_FLOW_SPANS ids. Not thread-safe.
 */
#ifndef TSL_TRACE_FLOW_H
#define TSL_TRACE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#define TSL_FLOW_SPANS 16384

/* Where in the file a span is. */
struct tsl_flow_place {
    uint32_t tid;
    uint64_t start_ns;
    uint64_t end_ns;
};

struct tsl_flow_arrow {
    struct tsl_flow_arrow *next;
    uint64_t from, to;
};

struct tsl_flow_span {
    uint64_t id; /* 0: nothing here */
    bool placed; /* written, at place */
    struct tsl_flow_place place;
    struct tsl_flow_arrow *waiting; /* arrows from or to here that wait for this span; owned */
};

struct tsl_flow {
    struct tsl_flow_span *spans; /* a span with id n is at n % TSL_FLOW_SPANS */
    void (*draw)(const struct tsl_flow_place *from, const struct tsl_flow_place *to, void *data);
    void *data;
};

/* Returns false if memory lacks. draw is called for each ready arrow, from inside the two functions below. */
bool tsl_flow_init(struct tsl_flow *flow,
                   void (*draw)(const struct tsl_flow_place *from, const struct tsl_flow_place *to, void *data),
                   void *data);
void tsl_flow_finish(struct tsl_flow *flow);

/* The span `id` was written at `place`. */
void tsl_flow_placed(struct tsl_flow *flow, uint64_t id, const struct tsl_flow_place *place);

/* An arrow is wanted. */
void tsl_flow_want(struct tsl_flow *flow, uint64_t from, uint64_t to);

#endif
