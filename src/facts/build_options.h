/*
 * Build options as text (OpenCL 3.0, 5.8.6). Tesela reads only what it needs to know; the rest is for the vendors.
 */
#ifndef TSL_FACTS_BUILD_OPTIONS_H
#define TSL_FACTS_BUILD_OPTIONS_H

#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>

struct tsl_build_options {
    const char *text;          /* borrowed */
    unsigned std;              /* -cl-std=CL1.2 is 120; 0: none given, or one that only vendors know (CLC++ …) */
    bool uniform;              /* -cl-uniform-work-group-size */
    size_t std_begin, std_end; /* where the value of the last -cl-std stands in the text; equal: none */
};

/* CL_INVALID_BUILD_OPTIONS for what is certainly wrong: an unknown CL version, -D, -U or -I with nothing after it. */
cl_int tsl_build_options_read(const char *text, struct tsl_build_options *options);

/* A copy of the text with this version in its -cl-std and, if asked for, with -cl-uniform-work-group-size (heap; NULL
 * without memory). std is 0 only where the text has no version that we know: its version stays. */
char *tsl_build_options_with(const struct tsl_build_options *options, unsigned std, bool uniform);

/* Does the text define or undefine that macro (-D NAME, -DNAME=…, -U NAME)? */
bool tsl_build_options_name_macro(const struct tsl_build_options *options, const char *name);

/* What is left for a text that was preprocessed with these options: all but macros, folders and wishes for warnings
 * (heap; NULL without memory). */
char *tsl_build_options_plain(const char *text);

/* The length of the character constant that begins here, as 'A', ' ' or '\\'' does; 0 if none does. An apostrophe
 * quotes nothing in options, in no vendor's: within such a constant alone it keeps blanks, quotes and backslashes as
 * they are.
 */
size_t tsl_build_options_constant(const char *at);

/* Is there a blank inside a word, because of quotes or a backslash? */
bool tsl_build_options_keep_blanks(const char *text);

/* Is there a word that is neither an option nor an option's value (of -D, -U, -I, -include, -x and the like)? Compilers
 * take such a word for a file's name. */
bool tsl_build_options_name_file(const char *text);

/* Is this one of the text's words? */
bool tsl_build_options_have(const char *text, const char *wanted);

/* Is there a hint, an option that only allows a linker to do more? _without_hints returns the other words (heap; NULL
 * without memory). */
bool tsl_build_options_have_hints(const char *text);
char *tsl_build_options_without_hints(const char *text);

/* Likewise for -O and -O0 to -O9. */
bool tsl_build_options_have_levels(const char *text);
char *tsl_build_options_without_levels(const char *text);

#endif
