/* Launches like the one before: coalesce.c tells when and why. Under the graph's lock. */
#ifndef TSL_GRAPH_COALESCE_H
#define TSL_GRAPH_COALESCE_H

#include <stdbool.h>

struct tsl_args;
struct tsl_kernel;
struct tsl_graph_queue;
struct tsl_window;

/* A launch without event or wait list, on the graph's only member (where there are several each launch is placed, and
 * the placer counts them). True: it is like the queue's last command, and goes with that; *args are then those that
 * the other had, the caller's to let go without the lock. */
bool tsl_coalesce_launch(struct tsl_graph_queue *queue, const struct tsl_kernel *kernel,
                         const struct tsl_window *window, struct tsl_args **args);

#endif
