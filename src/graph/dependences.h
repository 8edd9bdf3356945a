/*
 * Lists of operations that come before something: the order of a command, its frontier, what decides its status.
 *
 * A list leaves out what is superfluous: of operations that end in a known order (of one lane) the last stands for all,
 * and where many are side by side a join takes their place (join.h). So lists stay short, however much is unfinished.
 */
#ifndef TSL_GRAPH_DEPENDENCES_H
#define TSL_GRAPH_DEPENDENCES_H

#include "base/small_vector.h"

struct tsl_op;

struct tsl_dependence {
    struct tsl_op *op; /* owned reference */
    bool strict;       /* the operation's failure carries over */
};

typedef TSL_SMALL_VECTOR(struct tsl_dependence, 2) tsl_dependences;

/* Adds the operation, and drops what it makes superfluous. False without memory. */
bool tsl_dependences_add(tsl_dependences *list, struct tsl_op *op, bool strict);
void tsl_dependences_finish(tsl_dependences *list);

#endif
