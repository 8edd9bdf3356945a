#include "trace/flow.h"

#include <stdlib.h>

bool tsl_flow_init(struct tsl_flow *flow,
                   void (*draw)(const struct tsl_flow_place *from, const struct tsl_flow_place *to, void *data),
                   void *data)
{
    flow->spans = calloc(TSL_FLOW_SPANS, sizeof *flow->spans);
    flow->draw = draw;
    flow->data = data;
    return flow->spans != NULL;
}

static void forget(struct tsl_flow_span *span)
{
    while (span->waiting) {
        struct tsl_flow_arrow *arrow = span->waiting;

        span->waiting = arrow->next;
        free(arrow);
    }
    span->id = 0;
    span->placed = false;
}

void tsl_flow_finish(struct tsl_flow *flow)
{
    if (flow->spans)
        for (unsigned i = 0; i < TSL_FLOW_SPANS; i++)
            forget(&flow->spans[i]);
    free(flow->spans);
    flow->spans = NULL;
}

/* The span's slot, in which it replaces an older span; NULL if a newer one has replaced it. */
static struct tsl_flow_span *slot(struct tsl_flow *flow, uint64_t id)
{
    struct tsl_flow_span *span = &flow->spans[id % TSL_FLOW_SPANS];

    if (span->id > id)
        return NULL;
    if (span->id < id) {
        forget(span);
        span->id = id;
    }
    return span;
}

/* Draws the arrow, or lets it wait for the end that isn't placed yet; an arrow with a forgotten end is dropped. */
static void settle(struct tsl_flow *flow, struct tsl_flow_arrow *arrow)
{
    struct tsl_flow_span *from = slot(flow, arrow->from);
    struct tsl_flow_span *to = slot(flow, arrow->to);
    struct tsl_flow_span *open;

    if (!from || !to || from == to || (from->placed && to->placed)) {
        /* from == to: two ids so far apart that they share a slot, so the older one is forgotten. */
        if (from && to && from != to)
            flow->draw(&from->place, &to->place, flow->data);
        free(arrow);
        return;
    }
    open = from->placed ? to : from;
    arrow->next = open->waiting;
    open->waiting = arrow;
}

void tsl_flow_placed(struct tsl_flow *flow, uint64_t id, const struct tsl_flow_place *place)
{
    struct tsl_flow_span *span = slot(flow, id);
    struct tsl_flow_arrow *arrow, *next;

    if (!span)
        return;
    span->placed = true;
    span->place = *place;
    arrow = span->waiting;
    span->waiting = NULL;
    for (; arrow; arrow = next) {
        next = arrow->next;
        settle(flow, arrow);
    }
}

void tsl_flow_want(struct tsl_flow *flow, uint64_t from, uint64_t to)
{
    struct tsl_flow_arrow *arrow = malloc(sizeof *arrow);

    if (!arrow)
        return;
    *arrow = (struct tsl_flow_arrow){.from = from, .to = to};
    settle(flow, arrow);
}
