/* Is this process the child of a fork? A child has none of its parent's threads, and any lock may be held for ever. */
#ifndef TSL_BASE_FORK_H
#define TSL_BASE_FORK_H

#include <stdbool.h>

/* From now on a fork is noticed in the child. Called before the first thread of ours or of a driver may exist. */
void tsl_fork_expect(void);
/* True in a child: every entry that would use a thread, a lock or a driver returns CL_OUT_OF_RESOURCES instead. */
bool tsl_forked(void);

#endif
