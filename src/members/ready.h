/*
 * When members are made ready (driver/member.h says what a member lacks until then). To open all GPUs of a machine may
 * take a second, which a short program doesn't have, and mostly doesn't need: so a context waits for the best of its
 * members alone, and the others follow in a thread of ours once there is work for them (graph/readiness.h).
 */
#ifndef TSL_MEMBERS_READY_H
#define TSL_MEMBERS_READY_H

#include "base/worker.h"
#include "driver/driver.h"

/* Makes the fastest of the members ready, by what they say of themselves, and waits for that. If it fails the next one
 * is taken. CL_DEVICE_NOT_AVAILABLE: none can be. Blocks. */
cl_int tsl_ready_first(struct tsl_member *const *members, unsigned n);

/* The same for all; those that fail are lost. */
void tsl_ready_all(struct tsl_member *const *members, unsigned n);

/* A thread of ours does it, one after the other, fastest first. Returns at once. Exit waits for the one at which the
 * thread is, and lets the others be. */
void tsl_ready_later(struct tsl_member *const *members, unsigned n);

/* Runs the job on that thread behind what is wanted by now. False: it can't be. */
bool tsl_ready_then(struct tsl_job *job);

/* The longest that it took to make a member ready so far; 0: none had to be made ready. */
uint64_t tsl_ready_longest_ns(void);

/* Tests only: no member is wanted any more, or will be made ready. */
void tsl_ready_forget(void);

/* Asks whether the member combines, now or, if it isn't ready, when it is. Blocks. */
void tsl_ready_ask_combine(struct tsl_member *member);

/* As far as it was asked. */
bool tsl_ready_combines(const struct tsl_member *member);

#endif
