/*
 * What a program's kernels do to their arguments, for members whose driver knows only signatures. Our kernel compiler
 * is asked beside the members' own builds (TSL_WIRE_ACCESS, compile_client/wire.h); docs/dev/compiler.md has the rule
 * that makes its answer true for any compiler's code. If anything fails, nothing is known; that is never an error of
 * the build.
 */
#ifndef TSL_PROGRAM_TEXT_ACCESS_H
#define TSL_PROGRAM_TEXT_ACCESS_H

#include "facts/kernel_facts.h"

#include <stddef.h>

struct tsl_text_access;

/* Begins to ask, in a thread of ours; copies the texts. dialect: the source with the prelude that members get
 * (program/dialect.h), of which a text for windows is made if the source won't do; NULL: none is wanted. NULL: there is
 * no compiler to ask, or no memory. */
struct tsl_text_access *tsl_text_access_ask(const char *source, const char *options, const char *dialect);

/* Waits for the answer, for TSL_TEXT_ACCESS_PATIENCE at most. False: it hasn't come. This program then never gets it,
 * but it is cached on disk, and until it comes no other question is asked. Any thread, any number of times. */
bool tsl_text_access_wait(struct tsl_text_access *access);

#define TSL_TEXT_ACCESS_PATIENCE 2000000000L /* ns */

struct tsl_text_access *tsl_text_access_ref(struct tsl_text_access *access); /* NULL allowed */
void tsl_text_access_unref(struct tsl_text_access *access);                  /* NULL allowed */

/* The text for windows, for tsl_driver.windows_by; NULL: there is none, or it isn't needed. After a wait with success.
 */
const char *tsl_text_access_windows(const struct tsl_text_access *access, size_t *size);

/* Do no kernels touch variables of program scope, as far as our compiler has read the program, or else (windows) the
 * text for windows? After a wait with success. */
bool tsl_text_access_has_no_variables(const struct tsl_text_access *access, bool windows);

/* Has our compiler read kernels in the text, and no other file? Then it will read the same whenever it is asked. After
 * a wait with success. */
bool tsl_text_access_stands_alone(const struct tsl_text_access *access);

/* Narrows the facts of a kernel's arguments if its signature is the one that the answer is about, or the member tells
 * nothing but how many they are, in which case their kinds are taken from the answer: marks buffers that
 * are only read, and those that are written; gives the kernel a footprint if it has none; and tells whether it asks for
 * anything of the whole launch. access: NULL, or an
 * answer that tsl_text_access_wait waited for with success. True: an argument was narrowed. */
bool tsl_text_access_narrow(const struct tsl_text_access *access, struct tsl_kernel_facts *facts);

#endif
