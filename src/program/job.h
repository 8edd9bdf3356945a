/*
 * Inside of programs: what a build does for one member, by whichever thread runs it. build.c has jobs for all members;
 * late.c lets those of weak members outlive the build.
 */
#ifndef TSL_PROGRAM_JOB_H
#define TSL_PROGRAM_JOB_H

#include <pthread.h>
#include <stdbool.h>

struct tsl_build;
struct tsl_build_job;
struct tsl_member;

/* Starts a thread that no signal of the application reaches; none in simulations. */
bool tsl_job_start_thread(pthread_t *thread, bool detached, void *(*run)(void *), void *arg);

/* Does what arg, a struct tsl_build_job, is for, and fills its part. Returns NULL; a thread's function. */
void *tsl_job_run(void *arg);

/* Does the member's driver lack what kernels do with their arguments, so that our compiler is asked? */
bool tsl_job_asks_access(const struct tsl_member *member);

/* Drops a reference to the build; the last one frees it. */
void tsl_job_drop_build(struct tsl_build *build);

#endif
