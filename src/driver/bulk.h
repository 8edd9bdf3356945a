/*
 * Big copies between two places in the host's memory, by several threads: one alone reaches a tenth to a quarter of
 * what the memory of a large machine moves.
 */
#ifndef TSL_DRIVER_BULK_H
#define TSL_DRIVER_BULK_H

#include <stddef.h>

#define TSL_BULK_MIN   ((size_t)4 << 20) /* bytes; what is smaller is copied before another thread has woken */
#define TSL_BULK_CHUNK ((size_t)1 << 20) /* bytes that a thread takes at a time */
#define TSL_BULK_MAX   8u                /* threads that copy one piece of memory */

/* As memcpy. Copies in the calling thread, from TSL_BULK_MIN on with the help of threads of ours. These are started at
 * first need (one less than half of the processors that the process may use, seven at most) and never end. Any number
 * of callers at once; its lock is held over no call. Not after fork(). */
void tsl_bulk_copy(void *dst, const void *src, size_t size);

/* How many threads help; tests set it before the first copy. */
unsigned tsl_bulk_helpers(void);
void tsl_bulk_set_helpers(unsigned n);

#endif
