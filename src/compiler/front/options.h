/*
 * Build options (OpenCL 3.0, 5.8.6 and 5.9.4) as arguments for Clang's -cc1.
 */
#ifndef KC_FRONT_OPTIONS_H
#define KC_FRONT_OPTIONS_H

#include <stdbool.h>

struct kc_options {
    unsigned n_args;
    const char **args;   /* for kc_front */
    char *words;         /* the storage of args */
    unsigned std;        /* 120 …; the version of the program's language */
    bool uniform;        /* -cl-uniform-work-group-size */
    bool optimise;       /* no -cl-opt-disable */
    bool exact;          /* -cl-fp32-correctly-rounded-divide-sqrt */
    bool flushes;        /* -cl-denorms-are-zero, and what includes it */
    bool relaxed;        /* -cl-unsafe-math-optimizations, -cl-fast-relaxed-math */
    bool create_library; /* -create-library, for a link */
    bool check_accesses; /* TSL_WG_CHECK_OPTION, which the library adds */
};

/* False: *why is a sentence (heap), and there is nothing to finish. linking: the options are clLinkProgram's. */
bool kc_options_read(const char *text, bool linking, struct kc_options *options, char **why);
void kc_options_finish(struct kc_options *options);

#endif
