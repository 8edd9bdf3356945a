/* The inside of a model: shared by model.c and model_file.c. */
#ifndef TSL_PLACE_MODEL_INSIDE_H
#define TSL_PLACE_MODEL_INSIDE_H

#include "base/density.h"
#include "place/model.h"

#include <pthread.h>
#define HASH_NONFATAL_OOM 1 /* else uthash ends the process when memory is short */
#include <uthash.h>

#define TSL_MODEL_CLASSES 48 /* of moves: up to 2^48 bytes */
#define TSL_MODEL_PAIRS   128
#define TSL_MODEL_KINDS   8                   /* of which a kernel's times are kept */
#define TSL_MODEL_MOST    (1u << 20)          /* counts of samples and tries end here */
#define TSL_MODEL_OWN     (UINT64_C(1) << 32) /* ticks of this process begin behind it */
#define TSL_MODEL_FIRST   3 /* samples of a slowness whose median counts; then each further one counts a little */

/* A kernel at a size class; class TSL_MODEL_ANY: seen at all. */
#define TSL_MODEL_ANY UINT64_MAX
struct tsl_model_key {
    uint64_t kernel, class;
};

/* How a kind does with a kernel: so many times the work (struct tsl_model_run) is what it takes. */
struct tsl_slowness {
    uint64_t kind;
    struct tsl_samples first; /* the first few */
    double later;             /* of all after them, each counting a little */
    unsigned n, n_tries;
};

struct tsl_model_density {
    unsigned dimension;
    struct tsl_density work;
};

/*
 * What a work-item takes is the kernel's work, which may change from launch to launch, times the kind's slowness, which
 * doesn't. The last samples of all kinds tell the work, so that no kind's are out of date; all samples of a kind tell
 * its slowness. That of the first kind is 1.
 */
struct tsl_model_run {
    struct tsl_model_key key;
    struct tsl_samples work; /* nanoseconds per work-item */
    unsigned n_kinds;
    struct tsl_slowness kinds[TSL_MODEL_KINDS];
    struct tsl_model_density *density; /* where the work lies, owned; NULL: evenly, as far as is known */
    uint64_t used; /* tick of the last use; below TSL_MODEL_OWN: as it was read, its place in the file */
    /* What all launches of the kernel took together, of size class TSL_MODEL_ANY alone. */
    uint64_t past_ns;  /* in processes before this one */
    uint64_t spent_ns; /* in this one */
    UT_hash_handle hh;
};

struct tsl_model_pair {
    uint64_t from, to;
    struct tsl_samples ns[TSL_MODEL_CLASSES]; /* of large classes: as for the class's smallest size */
};

struct tsl_model_ratio {
    uint64_t a, b;
    struct tsl_samples times; /* slower is b */
};

/* What was found last: the same kernel is often launched many times in a row, and a kind on which a kernel was never
 * seen would be looked for at all sizes each time. */
struct tsl_model_nearest {
    uint64_t kind, kernel, class, n_changes;
    struct tsl_model_run *run;
};

#define TSL_MODEL_NEAREST 8 /* by kind */

struct tsl_model {
    pthread_mutex_t lock;
    unsigned refs;
    uint64_t tick;
    uint64_t n_changes; /* of runs and their kinds; begins with 1 */
    struct tsl_model_run *runs;
    struct tsl_model_nearest nearest[TSL_MODEL_NEAREST];
    unsigned n_pairs, n_ratios;
    struct tsl_model_pair *pairs[TSL_MODEL_PAIRS];
    struct tsl_model_ratio ratios[TSL_MODEL_PAIRS];
    char *folder;     /* where it is kept; NULL: nowhere. Set once */
    unsigned n_new;   /* samples since it was written */
    bool has_spent;   /* launches ended since then: worth writing at the process's end */
    uint64_t due_ns;  /* when it is to be written; 0: not known yet */
    uint64_t wait_ns; /* from the last writing to that; 0: none was yet */
};

/* Without making: NULL. */
struct tsl_model_run *tsl_model_find_locked(struct tsl_model *model, uint64_t kernel, uint64_t class);
struct tsl_model_run *tsl_model_make_locked(struct tsl_model *model, uint64_t kernel, uint64_t class);
/* Neither counts as a use. The first finds or adds, however many there are; the second puts all in the order of their
 * use, the oldest first, and drops the oldest of more than TSL_MODEL_MAX_RUNS. */
struct tsl_model_run *tsl_model_add_locked(struct tsl_model *model, uint64_t kernel, uint64_t class);
void tsl_model_order_locked(struct tsl_model *model);
/* What isn't needed any more; NULL allowed. */
void tsl_model_free_run(struct tsl_model_run *run);
/* Copies it. Without memory it isn't kept. */
void tsl_model_lay_locked(struct tsl_model_run *run, unsigned dimension, const struct tsl_density *work);
struct tsl_model_pair *tsl_model_pair_locked(struct tsl_model *model, uint64_t from, uint64_t to, bool make);
struct tsl_model_ratio *tsl_model_ratio_locked(struct tsl_model *model, uint64_t a, uint64_t b, bool make);

#endif
