/*
 * Arrows between spans: those that were asked for, and the places of the spans at their ends. Spans and arrows come in
 * any order; an arrow is ready when both ends are known. Remembers the newest TSL_FLOW_SPANS ids. Not thread-safe.
 */
#ifndef TSL_TRACE_FLOW_H
#define TSL_TRACE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#define TSL_FLOW_SPANS 16384

/* A span's place in the file. */
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
    uint64_t id; /* 0: the slot is empty */
    bool placed; /* written, at place */
    struct tsl_flow_place place;
    struct tsl_flow_arrow *waiting; /* arrows from or to this span that wait for its place; owned */
};

struct tsl_flow {
    struct tsl_flow_span *spans; /* a span with id n is at n % TSL_FLOW_SPANS */
    void (*draw)(const struct tsl_flow_place *from, const struct tsl_flow_place *to, void *data);
    void *data;
};

/* False without memory. draw is called for each ready arrow, from inside the two functions below. */
bool tsl_flow_init(struct tsl_flow *flow,
                   void (*draw)(const struct tsl_flow_place *from, const struct tsl_flow_place *to, void *data),
                   void *data);
void tsl_flow_finish(struct tsl_flow *flow);

/* Tells that the span `id` was written at `place`. */
void tsl_flow_placed(struct tsl_flow *flow, uint64_t id, const struct tsl_flow_place *place);

/* Asks for an arrow. */
void tsl_flow_want(struct tsl_flow *flow, uint64_t from, uint64_t to);

#endif
