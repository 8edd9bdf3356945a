/*
 * Inside of programs: what stands behind kernels that the application has released, for the next ones of their names.
 *
 * Many programs make a kernel for each launch. To make one asks each member's driver, and then nothing is known of its
 * launches: what they touch, how they are best cut. So the last few released kernels of a program leave that behind,
 * and a new one of the same name has it from its beginning. Nothing that OpenCL shows of a kernel is kept: neither its
 * arguments nor whether a work-group size was suggested.
 */
#ifndef TSL_PROGRAM_IDLE_H
#define TSL_PROGRAM_IDLE_H

#include <stdbool.h>

struct tsl_kernel;
struct tsl_program;

/* So many of a program, of whatever names; then the one that was released first goes. */
#define TSL_IDLE_KERNELS 16u

struct tsl_idle;

/* The kernel, which is whole and which nobody uses any more, leaves what it has but its arguments. False: no memory; it
 * has all of it still. The program is attached. May call drivers. */
bool tsl_idle_keep(struct tsl_kernel *kernel);
/* What one of that name has left becomes that of the kernel, which has nothing. False: none has. Calls no driver. */
bool tsl_idle_take(struct tsl_kernel *kernel, const char *name);
/* The program is built again, gets other variants or ends, and no kernel is attached: takes all away, under the
 * program's lock; frees them, without: calls drivers. NULL: there are none. */
struct tsl_idle *tsl_idle_take_all(struct tsl_program *program);
void tsl_idle_free(struct tsl_idle *idle);

#endif
