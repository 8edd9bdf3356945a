/* Combining (struct tsl_combine) in the host's memory, for drivers whose memory that is. */
#ifndef TSL_DRIVER_COMBINE_H
#define TSL_DRIVER_COMBINE_H

#include "driver/work.h"

/* Bytes that one piece of a large combine has, where several threads share it. */
#define TSL_COMBINE_CHUNK ((size_t)1 << 20)

/* A combine with its sides by address. */
struct tsl_combine_bytes {
    void *dst;
    const void *a, *b, *before; /* before: NULL but for CHANGED */
    size_t size;
    unsigned width;
    enum tsl_combine_how how;
};

void tsl_combine_run(const struct tsl_combine_bytes *bytes);

/* Is all of it memory of that member? */
bool tsl_combine_is_of(const struct tsl_combine *combine, const struct tsl_member *member);
/* Is all of it as work.h wants it, as far as it can be seen: elements of a width that the operation knows, ranges
 * within their memory, a `before` where one is needed? */
bool tsl_combine_is_sound(const struct tsl_combine *combine);

#endif
