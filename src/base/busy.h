/*
 * Threads that run the application's host tasks, as far as they count against threads of ours: who chooses how many
 * threads of a team are to be awake leaves a processor to each of these. A task that has run for long may as well
 * sleep, and counts no more.
 */
#ifndef TSL_BASE_BUSY_H
#define TSL_BASE_BUSY_H

#define TSL_BUSY_NS 300000 /* so long after the last task began */

void tsl_busy_begin(void);
void tsl_busy_end(void);
unsigned tsl_busy_threads(void);

#endif
