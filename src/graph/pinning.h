/* Pinning of memory that the application lent. */
#ifndef TSL_GRAPH_PINNING_H
#define TSL_GRAPH_PINNING_H

struct tsl_op;

/* The copy is about to be submitted: if one of its ends is memory that the application lent, it may pay now to pin
 * that. Under the graph's lock. */
void tsl_pinning_count(const struct tsl_op *op);

#endif
