/*
 * What kernels of a program do to their arguments, for members whose driver knows signatures alone: asked of our kernel
 * compiler beside the members' own builds (TSL_WIRE_ACCESS, compile_client/wire.h; docs/dev/compiler.md has the rule
 * that makes it true for any compiler's code). Whatever goes wrong, nothing is known: that is no error of anybody's.
 */
#ifndef TSL_PROGRAM_TEXT_ACCESS_H
#define TSL_PROGRAM_TEXT_ACCESS_H

#include "facts/kernel_facts.h"

#include <stddef.h>

struct tsl_text_access;

/* Begins to ask, in a thread of ours; copies both texts. NULL: nobody can be asked, or there is no memory. */
struct tsl_text_access *tsl_text_access_ask(const char *source, const char *options);

/* Waits for the answer, TSL_TEXT_ACCESS_PATIENCE at most. False: it isn't there; who comes later doesn't get it either,
 * but it is kept on disk, and until it comes nothing more is asked. Once, by who asked. */
bool tsl_text_access_wait(struct tsl_text_access *roles);

#define TSL_TEXT_ACCESS_PATIENCE 2000000000L /* ns */

struct tsl_text_access *tsl_text_access_ref(struct tsl_text_access *roles); /* NULL allowed */
void tsl_text_access_unref(struct tsl_text_access *roles);                  /* NULL allowed */

/* Narrows what the facts say of a kernel's arguments, if its signature is the one that the answer is about: buffers
 * that are only read are told so, those that are written, too. roles: NULL, or what was waited for with success. True:
 * something was narrowed. */
bool tsl_text_access_narrow(const struct tsl_text_access *roles, struct tsl_kernel_facts *facts);

#endif
