/*
 * A TEST VENDOR that fails: an OpenCL ICD that wraps another one, whose .icd file SABOTAGE_ICD names, passes every call
 * on, and fails what a test asks it to fail. Its platform is the other's with " (sabotaged)" behind the name, so that
 * what is known of that vendor holds; or SABOTAGE_NAME, so that nothing is known. With SABOTAGE_LIKE=nvidia it refuses
 * what NVIDIA's OpenCL (driver 580) refuses though it should not. Objects are the other's own: only a
 * caller that takes its functions from the platform's table alone, as Tesela does, can use it.
 *
 * What tests ask it, by dlsym() in its library; from any thread:
 */
#ifndef TSL_TESTS_SABOTAGE_H
#define TSL_TESTS_SABOTAGE_H

#include <CL/cl.h>
#include <stdbool.h>

/* The n-th call of a function from now on (1: the next) fails with the error, once, and does nothing; a release is
 * done all the same. "run:clEnqueue…": the call succeeds, but what it enqueued isn't done, and its event ends with the
 * error; without an event, the next clFinish tells. A function NULL: nothing is to fail any more. */
typedef void sabotage_fail_fn(const char *function, unsigned n, cl_int error);
/* The same moment, but from then on the device is lost: every call returns CL_DEVICE_NOT_AVAILABLE, what is under way
 * fails, callbacks come with that error; releases work. For good. */
typedef void sabotage_lose_fn(const char *function, unsigned n);
/* Launches that are enqueued while true begin only when it is false again. */
typedef void sabotage_stall_fn(bool stall);
/* Has what was asked for last happened? */
typedef bool sabotage_happened_fn(void);
/* How often a function was called so far. */
typedef unsigned sabotage_calls_fn(const char *function);
/* Names of the functions that a caller gets, in order; NULL behind the last. */
typedef const char *sabotage_name_fn(unsigned i);
/* Objects that were made and not released, of all kinds; events among them. */
typedef int sabotage_alive_fn(int *n_events);

#endif
