/* Ready operations → drivers. The graph's lock is held at entry and exit, not in between. */
#ifndef TSL_GRAPH_SUBMIT_H
#define TSL_GRAPH_SUBMIT_H

#include <stdbool.h>

struct tsl_op;
struct tsl_port;

/* Submits what is ready, unless another thread does already. */
void tsl_port_drain(struct tsl_port *port);
/* While `op` can't be submitted: submits what is ready behind it and doesn't need it, as that may end and be evicted.
 * False: there is nothing such. By the thread that drains the port. */
bool tsl_submit_ahead(struct tsl_op *op);

#endif
