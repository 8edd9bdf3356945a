/* The core's threads in simulations: jobs that one thread runs, when it likes. One simulation at a time. */
#ifndef TSL_TESTS_JOBS_H
#define TSL_TESTS_JOBS_H

#include "base/worker.h"

#include <stdbool.h>
#include <stdint.h>

void jobs_forget(void); /* none has been posted */
unsigned jobs_n_workers(void);
/* For struct tsl_simulation. */
void jobs_posted(struct tsl_worker *worker);
/* Runs one: of the worker that `first` says, counted round, or of the next that has one and isn't below on the stack.
 * False: there is none. */
bool jobs_run(uint64_t first);

#endif
