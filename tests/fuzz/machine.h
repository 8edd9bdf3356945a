/* The machine that fuzzers of the API run on: three fake members, one thread, virtual time. */
#ifndef TSL_TESTS_FUZZ_MACHINE_H
#define TSL_TESTS_FUZZ_MACHINE_H

#include "fuzz.h"

/* Its programs' kernels: "add" with one argument, "mix" with four, "blur" with two that may be images (the second
 * member has none). What happens next is chosen by bytes of the input.
 */
void fuzz_machine_begin(struct fuzz_input *input);

/* All that the input made has been released: does what is left to do, and checks that nothing of it is left, and that
 * the driver was used as its contract says. */
void fuzz_machine_end(void);

/* What was found; ends the process. more: NULL or a detail. */
_Noreturn void fuzz_finding(const char *what, const char *more);

/* Lets one thing happen; false: nothing can. */
bool fuzz_step(void);

#endif
