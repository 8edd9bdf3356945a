/* held → scheduled. Under the graph's lock. */
#ifndef TSL_GRAPH_SCHEDULE_H
#define TSL_GRAPH_SCHEDULE_H

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_command;
struct tsl_graph;
struct tsl_graph_queue;

/* Puts the command into its queue; schedules it if nothing holds it. CL_OUT_OF_HOST_MEMORY: nothing was done. */
cl_int tsl_schedule_command(struct tsl_command *command);
/* Asks again where the commands of graph->later go. That is due (graph->ask_again) when a launch that the placer placed
 * has ended or will never run, when twice as many commands stand behind a held kernel as when that was due before, when
 * memory order is over, and after a while of scheduling (graph->submit_first): members have nothing to do otherwise
 * while a long queue is planned, as nothing that has ended is noticed while the lock is held. */
void tsl_schedule_later(struct tsl_graph *graph);
/* Everything that was held by the command may be scheduled now. */
void tsl_schedule_held_by(struct tsl_command *command);
/* Launches of the queue, or of all queues, that wait for others to be chained with (chain.h) wait no longer. due: of
 * those alone whose first launch is due. What is scheduled may be reported at once, and leave its queue; the lock may
 * be given meanwhile. */
void tsl_schedule_chain(struct tsl_graph_queue *queue);
void tsl_schedule_chains(struct tsl_graph *graph, bool due);
/* A while is over after so many commands; 0: it is by the clock. Tests change it. */
extern unsigned tsl_schedule_most;
/* The command's end must be noticed without anybody waiting for it; also when it is still held. */
void tsl_command_watch(struct tsl_command *command);

#endif
