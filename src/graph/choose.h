/* Which member runs a kernel, and when that is decided. Under the graph's lock. */
#ifndef TSL_GRAPH_CHOOSE_H
#define TSL_GRAPH_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

struct tsl_command;
struct tsl_op;
struct tsl_port;
struct tsl_share;
struct tsl_window;

/* Asks the placer where the kernel goes: into its share's placement. False: nowhere now. */
bool tsl_place_choose(struct tsl_command *command);
/* The same for a command that is about to be scheduled. If the answer is "later", and the member in question has a
 * launch on its way, that launch's end is watched and the command is held (n_hold). True: it is. */
bool tsl_place_hold(struct tsl_command *command);
/* The launch of the command's share has ended or will never run; 0: unknown times. Nothing if it wasn't placed. */
/* The launch is complete: what its copies cost is learned, if it had some. Before it counts as complete. */
void tsl_place_complete(struct tsl_command *command);
void tsl_place_ended(struct tsl_command *command, struct tsl_share *share, uint64_t start_ns, uint64_t end_ns);
/* The same for all shares of a command that won't run. */
void tsl_place_abandon(struct tsl_command *command);
/* Into port->launches, and out of it. */
void tsl_place_add_launch(struct tsl_port *port, struct tsl_op *op);
void tsl_place_drop_launch(struct tsl_op *op);
uint64_t tsl_place_work_items(const struct tsl_window *window);

#endif
