#include "trace/lanes.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct tsl_lanes *lanes)
{
    uint32_t capacity = lanes->capacity ? lanes->capacity * 2 : 32;
    struct tsl_trace_lane *grown;

    if (lanes->n < lanes->capacity)
        return true;
    grown = realloc(lanes->lanes, capacity * sizeof *grown);
    if (!grown)
        return false;
    lanes->lanes = grown;
    lanes->capacity = capacity;
    return true;
}

uint32_t tsl_lanes_find(struct tsl_lanes *lanes, const char *name, enum tsl_trace_kind kind, bool *made)
{
    char *copy;

    *made = false;
    for (uint32_t i = 0; i < lanes->n; i++)
        if (strcmp(lanes->lanes[i].name, name) == 0)
            return i + 1;
    if (lanes->n == TSL_MAX_LANES || !reserve(lanes))
        return 0;
    copy = strdup(name);
    if (!copy)
        return 0;
    lanes->lanes[lanes->n++] = (struct tsl_trace_lane){.name = copy, .kind = kind};
    *made = true;
    return lanes->n;
}

unsigned tsl_lanes_row(struct tsl_lanes *lanes, uint32_t lane, uint64_t start_ns, uint64_t end_ns, bool *made)
{
    struct tsl_trace_lane *at = &lanes->lanes[lane - 1];
    unsigned row = 0;

    while (row < at->n_rows && at->row_ends[row] > start_ns)
        row++;
    if (row == TSL_LANE_ROWS)
        row--;
    *made = row == at->n_rows;
    if (*made) {
        at->n_rows++;
        at->row_ends[row] = end_ns;
    }
    if (at->row_ends[row] < end_ns)
        at->row_ends[row] = end_ns;
    return row;
}

uint32_t tsl_lanes_tid(uint32_t lane, unsigned row)
{
    return lane * TSL_LANE_ROWS + row;
}

uint32_t tsl_lanes_order(const struct tsl_lanes *lanes, uint32_t lane, unsigned row)
{
    return ((uint32_t)lanes->lanes[lane - 1].kind * TSL_MAX_LANES + lane) * TSL_LANE_ROWS + row;
}

void tsl_lanes_forget_rows(struct tsl_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->n; i++)
        lanes->lanes[i].n_rows = 0;
}

void tsl_lanes_finish(struct tsl_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->n; i++)
        free(lanes->lanes[i].name);
    free(lanes->lanes);
    *lanes = (struct tsl_lanes){.lanes = NULL};
}
