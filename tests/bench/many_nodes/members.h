/*
 * Members for measuring what the core itself takes with many of them: nothing is done, memory has no bytes, and work
 * ends when the measurement says. Each is a node's, of which other nodes' work waits by way of the core, as it does
 * with the driver `remote`; what that driver would send is counted.
 */
#ifndef TSL_TESTS_MANY_NODES_MEMBERS_H
#define TSL_TESTS_MANY_NODES_MEMBERS_H

#include "driver/driver.h"

struct many_counts {
    uint64_t requests; /* of work, gates, flushes, fences that are freed */
    uint64_t launches, writes, reads, pulls;
    uint64_t replies; /* ends that are told */
    uint64_t frames;  /* that flushes sent, and gates that no other node opens */
    uint64_t between; /* ends that nodes tell each other */
};

extern struct many_counts many_counts;

/* Makes n members of the fake driver's, whose kernels and programs serve, into these; before a context is made. */
void many_begin(unsigned n);
/* All work that was submitted ends, in order, and so does what comes of it. */
void many_end_work(void);
/* Waits for what the core's threads would do; false: nothing was left. */
bool many_step(void);

#endif
