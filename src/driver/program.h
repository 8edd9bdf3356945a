/*
 * The driver contract, its third part: programs and kernels of one member, and what they are built from. All strings
 * and arrays of an input are the caller's, for the call.
 */
#ifndef TSL_DRIVER_PROGRAM_H
#define TSL_DRIVER_PROGRAM_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

struct tsl_member;
struct tsl_program_special; /* facts/il.h */

/* Base. A program built for one member. */
struct tsl_dprogram {
    struct tsl_member *member;
    size_t code_size; /* bytes of code that the driver holds for it, set when it is made; 0: the driver can't know */
};

/* Base. A kernel of such a program. Thread-safe: the driver makes one step of setting arguments and enqueueing. */
struct tsl_dkernel {
    struct tsl_dprogram *program;
};

/* What to build a program from. */
enum tsl_program_kind { TSL_PROGRAM_SOURCE, TSL_PROGRAM_BINARY, TSL_PROGRAM_IL, TSL_PROGRAM_BUILTIN };

struct tsl_program_input {
    enum tsl_program_kind kind;
    const void *data;    /* source text, binary, IL, or the names of built-in kernels */
    size_t size;         /* bytes, without a terminating NUL */
    const char *options; /* never NULL; as the application gave them */
    /* SOURCE: as the application gave it and its options, before what the core changes for this member; a driver may
     * know the program by them. NULL: data and options are that. BINARY: of which it was made, by this very driver and
     * version; NULL: that isn't known. */
    const char *text;
    size_t text_size;
    const char *text_options;
    unsigned n_specials; /* IL: what differs from the module's own */
    const struct tsl_program_special *specials;
    bool foreign; /* BINARY: anybody's bytes, not what program_binary gave; a driver that can't stand such refuses them
                   */
};

/* What #include finds in a separate compilation. */
struct tsl_program_header {
    const char *name;
    const char *text;
    size_t size; /* bytes, without a terminating NUL */
};

struct tsl_program_headers {
    unsigned n;
    const struct tsl_program_header *headers;
};

/* What is linked: programs of compile() on the same member. */
struct tsl_link_input {
    const char *options; /* never NULL; "-create-library": a library, without kernels */
    unsigned n;
    struct tsl_dprogram *const *programs;
};

#endif
