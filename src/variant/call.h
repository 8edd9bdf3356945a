/*
 * Calls of variants that are functions: loading them, their first trial (trial.h), and the thread in which they run.
 *
 * A function of the host's members runs in one thread of ours, "tesela-variant", for all variants of the process: it
 * has the member's processors, and libraries with threads of their own (OpenMP) find a thread that is nobody else's.
 */
#ifndef TSL_VARIANT_CALL_H
#define TSL_VARIANT_CALL_H

#include <stdbool.h>

struct tsl_call;
struct tsl_call_file;
struct tsl_variant;

/* What a driver's substitute is made of: kinds FUNCTION and GIVEN. Its self is the variant, which must outlive it. */
struct tsl_call tsl_variant_call(struct tsl_variant *variant);

/* Of kind FUNCTION: where it is (*file borrows from the variant). False: another kind. */
bool tsl_variant_file(const struct tsl_variant *variant, struct tsl_call_file *file);
/* A variant that is only called, in a process that hasn't its description: the caller's reference. NULL: no memory. */
struct tsl_variant *tsl_variant_of_file(const struct tsl_call_file *file);

/* Is the library's file there? False: *why is a sentence that needs no free. Loads nothing. */
bool tsl_variant_look(const struct tsl_variant *variant, const char **why);

#endif
