/*
 * Trials: the first call of a variant's function is made in a process of its own (tesela-try, src/trial), on copies of
 * the launch's memory. A function that crashes there, hangs, or can't be loaded harms no program.
 */
#ifndef TSL_VARIANT_TRIAL_H
#define TSL_VARIANT_TRIAL_H

#include <CL/cl.h>
#include <stdatomic.h>
#include <stdint.h>

struct tsl_call_launch;
struct tsl_variant;

enum tsl_trial_result {
    TSL_TRIAL_WELL,
    TSL_TRIAL_REFUSED,    /* the function refused this launch */
    TSL_TRIAL_IMPOSSIBLE, /* of this launch: too much memory, or arguments that overlap */
    TSL_TRIAL_FAILED      /* *why says how: text that needs no free */
};

/* Blocks, for TSL_TRIAL_SECONDS at most. Under no lock of the core. */
enum tsl_trial_result tsl_trial(const struct tsl_variant *variant, const struct tsl_call_launch *launch,
                                const char **why);

#define TSL_TRIAL_SECONDS  60
#define TSL_TRIAL_MAX_SIZE ((uint64_t)1 << 30) /* bytes of a launch's memory */

/* ---- What both processes see: a file in memory, the child's descriptor 3 -------------------------------------------- */

#define TSL_TRIAL_MAGIC 0x54534c37u
#define TSL_TRIAL_PAGE  4096u

enum tsl_trial_state {
    TSL_TRIAL_STARTED,
    TSL_TRIAL_LOADED, /* the function is about to be called */
    TSL_TRIAL_IS_WELL,
    TSL_TRIAL_IS_REFUSED,
    TSL_TRIAL_NO_LIBRARY,
    TSL_TRIAL_NO_FUNCTION
};

struct tsl_trial_arg {
    uint32_t kind;     /* CL_VARIANT_… */
    uint64_t size, at; /* at: bytes from the file's beginning */
};

/* Copies of values and of memory follow, each at a page of its own. */
struct tsl_trial_file {
    uint32_t magic, work_dim, n_args, n_threads;
    _Atomic uint32_t state; /* enum tsl_trial_state */
    uint64_t size;          /* of the file */
    uint64_t offset[3], global[3], local[3], begin[3], end[3];
    char library[4096], function[256];
    char environment[8192]; /* NAME=value, each with its NUL; an empty one ends them */
    struct tsl_trial_arg args[];
};

#endif
