/* The making of events; graph.h has what the application does with them. */
#ifndef TSL_GRAPH_EVENT_H
#define TSL_GRAPH_EVENT_H

struct tsl_context;
struct tsl_event;
struct tsl_queue;

/* An event without a command (the caller sets it, with a reference), users = 1; NULL without memory. Takes no lock. */
struct tsl_event *tsl_event_create(struct tsl_context *context, struct tsl_queue *queue);

#endif
