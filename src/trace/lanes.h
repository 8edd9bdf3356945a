/*
 * The timeline's lanes and their rows. Viewers expect that the spans of one row ("tid") nest or follow each other;
 * where spans of a lane overlap, each goes to the first row that is free. Not thread-safe.
 */
#ifndef TSL_TRACE_LANES_H
#define TSL_TRACE_LANES_H

#include "trace/trace.h"

#include <stddef.h>

#define TSL_LANE_ROWS 8
#define TSL_MAX_LANES 4096

struct tsl_trace_lane {
    char *name;
    enum tsl_trace_kind kind;
    unsigned n_rows;
    uint64_t row_ends[TSL_LANE_ROWS]; /* end of the last span of each row, ns */
};

struct tsl_lanes {
    struct tsl_trace_lane *lanes;
    uint32_t n;
    uint32_t capacity;
};

/* The lane's id, from 1; made if missing (*made is set then); 0 if there is no room. */
uint32_t tsl_lanes_find(struct tsl_lanes *lanes, const char *name, enum tsl_trace_kind kind, bool *made);

/* The row for a span, *made if it is new. A lane whose rows are all taken uses the last. */
unsigned tsl_lanes_row(struct tsl_lanes *lanes, uint32_t lane, uint64_t start_ns, uint64_t end_ns, bool *made);

/* A row's number in the file, and its place in the viewer's order. */
uint32_t tsl_lanes_tid(uint32_t lane, unsigned row);
uint32_t tsl_lanes_order(const struct tsl_lanes *lanes, uint32_t lane, unsigned row);

/* For a new file: no row has been announced in it yet. */
void tsl_lanes_forget_rows(struct tsl_lanes *lanes);

void tsl_lanes_finish(struct tsl_lanes *lanes);

#endif
