/*
 * Inside of programs: the code of weak members, which may come late.
 *
 * To compile a large program for processors can take many times as long as for the GPU beside them that will run it. So
 * nobody waits long for a member that is much slower than another: where its code isn't ready a little after the
 * others', the program does without it. It is compiled to the end all the same, and lies in the cache then.
 */
#ifndef TSL_PROGRAM_LATE_H
#define TSL_PROGRAM_LATE_H

#include <stdint.h>
#include <time.h>

struct tsl_build;

/* The job of a weak member, on its way in a thread of its own. */
struct tsl_errand;

/* Sends the build's job number i. NULL: it isn't sent, and is to be run as others are: its member isn't weak, the code
 * must be there, or too much of a process's is on its way already. The build must be awaited for each errand. */
struct tsl_errand *tsl_errand_send(struct tsl_build *build, unsigned i);

/* Until when to wait for weak members, once the others have taken ran_ns. */
struct timespec tsl_errand_patience(uint64_t ran_ns);

/* Waits and gives the result to the build's job. Where there is none by `until` (NULL: however long it takes), the job
 * has failed, and the errand goes on by itself. The errand is the caller's no longer. */
void tsl_errand_await(struct tsl_errand *errand, const struct timespec *until);

#endif
