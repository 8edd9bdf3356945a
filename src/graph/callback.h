/* The application's functions that wait for a command's status, or hear of a context's errors. Under the graph's lock.
 */
#ifndef TSL_GRAPH_CALLBACK_H
#define TSL_GRAPH_CALLBACK_H

#include <CL/cl.h>

struct tsl_command;
struct tsl_event;
struct tsl_graph;
struct tsl_job;

struct tsl_callback {
    struct tsl_callback *next;
    void(CL_CALLBACK *fn)(cl_event, cl_int, void *);
    void *arg;
    cl_int when;
    struct tsl_event *event; /* owned reference */
    cl_int status;           /* what fn is told */
    char *text;              /* heap; not NULL: for the context's function, and fn and event are not set */
};

/* Appends the callback to those that are due; it is handed over. */
void tsl_callback_due(struct tsl_graph *graph, struct tsl_callback *callback);
/* The command's callbacks for the status that it has come to, and for those before, are due. */
void tsl_callback_reach(struct tsl_command *command, cl_int status);
/* The command was flushed, or scheduled, or a callback was set: callbacks that wait for CL_SUBMITTED may be due. */
void tsl_callback_submitted(struct tsl_command *command);
/* Calls what is due; the callback thread, without the lock. */
void tsl_callback_run(struct tsl_job *job);

#endif
