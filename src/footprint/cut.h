/*
 * May a launch be cut into shares that run at the same time, each on its own member's copy of the memory, so that what
 * they wrote, put together, is what the whole launch would have written? This is the rung `exact` of the split: no
 * share may write a byte that another share may write. Reads never forbid a cut: a work-item that reads what another
 * work-group writes in the same launch is a race, and the old or the new value is right. Which shares a launch has is
 * the caller's business; here is what is legal, along which dimension to cut, and why not. Where shares surely
 * overwrite each other's bytes, cut_later.h has a second rule.
 *
 * Pure: no locks, no OpenCL calls.
 */
#ifndef TSL_FOOTPRINT_CUT_H
#define TSL_FOOTPRINT_CUT_H

#include "footprint/evaluate.h"

enum tsl_cut_why {
    TSL_CUT_OK,
    /* Of the kernel, whatever the launch. */
    TSL_CUT_NO_FOOTPRINT,
    TSL_CUT_PRINTS,
    TSL_CUT_PROGRAM_SCOPE, /* program-scope variables that are not constant */
    TSL_CUT_POINTERS,      /* dereferences pointers that came out of memory or numbers */
    TSL_CUT_SPINS,         /* no progress is promised between shares */
    TSL_CUT_VOLATILE,
    TSL_CUT_FENCES, /* or atomics, of a scope wider than the work-group */
    /* Of the launch and its shares. */
    TSL_CUT_SVM, /* an argument is shared virtual memory */
    TSL_CUT_TOO_FEW_GROUPS,
    TSL_CUT_ATOMICS, /* on an argument that outlives the launch */
    TSL_CUT_WRITES_UNKNOWN,
    TSL_CUT_WRITES_MEET,
    TSL_CUT_TOO_LARGE, /* each part needs too much of an argument's memory, for a member that hasn't room for all */
    TSL_CUT_NO_MEMORY, /* of the host, to find out */
    /* Why the memory isn't reduced (footprint/joint.h). */
    TSL_CUT_ATOMIC_RESULTS,     /* are used */
    TSL_CUT_ATOMICS_AND_OTHERS, /* on one memory */
    TSL_CUT_ATOMICS_UNLIKE,     /* of several kinds or widths, or of one that doesn't commute */
    TSL_N_CUT_WHYS
};

/* What isn't known or doesn't matter is TSL_FOOTPRINT_NONE. */
struct tsl_cut_verdict {
    enum tsl_cut_why why;
    uint32_t argument; /* of the kernel, whose memory forbids the cut */
    uint32_t other;    /* WRITES_UNKNOWN, WRITES_MEET: by which another share writes there; may be the same one */
    uint32_t access;   /* of the footprint: the atomic, or the one that made what is written unknown; of WRITES_MEET a
                          store to the argument */
};

/* Where an argument's memory lies. */
struct tsl_cut_memory {
    const void *root;  /* which memory: the same for all sub-buffers of a buffer and for images made of it. NULL: none
                          that outlives the launch (a scalar, local memory, a null pointer) */
    const void *image; /* which image, where the argument is one; else NULL */
    uint64_t offset;   /* of the argument in its root, bytes */
    uint64_t size;     /* bytes from there to the end of the argument's memory */
    bool may_write;    /* false: it surely isn't written, whatever the footprint says */
    uint64_t whole;    /* bytes of the root; 0: no more than the arguments reach */
    bool own;          /* each share works on a copy of it for itself (cut_later.h) */
};

/* What forbids each cut of the kernel, whatever the launch; TSL_CUT_OK: nothing. footprint may be NULL. Takes constant
 * time. */
enum tsl_cut_why tsl_cut_kernel(const struct tsl_footprint *footprint);

/*
 * May these n shares run at the same time? shares[s]: what share s touches (tsl_footprint_evaluate), of the footprint's
 * n_arguments elements, as memories and pixels[s] have them. pixels[s][i]: what share s writes of image i
 * (tsl_footprint_evaluate_image; of other arguments not looked at); pixels or pixels[s] NULL: all of each image that it
 * writes. Shares that are empty touch nothing. verdict: why not; may be NULL.
 *
 * Doesn't look at what tsl_cut_kernel says. Takes some hundred nanoseconds for eight shares that lie one behind the
 * other; else the time of comparing their sets in pairs.
 */
bool tsl_cut_shares(const struct tsl_footprint *footprint, unsigned n, const struct tsl_argument_touch *const *shares,
                    const struct tsl_pixel_set *const *pixels, const struct tsl_cut_memory *memories,
                    struct tsl_cut_verdict *verdict);

/*
 * Along which dimension of the NDRange to cut the window: of those with two groups or more, for which its two halves
 * are legal, the one along which what they write lies furthest apart: the halves' written hulls don't meet, then what
 * they write has the fewest rows; of equals the outermost. 3: none is legal, or the kernel forbids it; then the verdict
 * says why not, of several dimensions' reasons one that a less strict rung may still allow. Other cuts than in halves
 * are for tsl_cut_shares to judge.
 *
 * values, memories: n_arguments elements each. local_size of the window is set. Evaluates the footprint twice for each
 * dimension, so callers remember the answer.
 */
unsigned tsl_cut_dimension(const struct tsl_footprint *footprint, const struct tsl_window *window,
                           const struct tsl_argument_value *values, const struct tsl_cut_memory *memories,
                           struct tsl_cut_verdict *verdict);

/* Groups of the window along a dimension; 1 where local_size isn't set. */
uint64_t tsl_cut_groups(const struct tsl_window *window, unsigned dimension);

/*
 * n windows that are together the window, cut along the dimension. group_ends[s]: behind the last group of share s,
 * counted from the window's first group; ascending, the last one is tsl_cut_groups. Where two are equal the share is
 * empty (group_count of the dimension is 0), and nobody must run it. local_size is set.
 */
void tsl_cut_windows(const struct tsl_window *window, unsigned dimension, unsigned n, const uint64_t *group_ends,
                     struct tsl_window *out);

/* The reason in one word, for scripts: "writes-unknown". */
const char *tsl_cut_word(enum tsl_cut_why why);

/* Why the launch isn't cut, a sentence for users without a full stop, of at most size bytes with the NUL: "argument 1
 * (out) is written at places that are not known before the launch (line 14: the index is loaded from memory)".
 * Arguments count from 0, as for clSetKernelArg. names: of the footprint's arguments; NULL, or elements that are NULL,
 * where unknown. footprint NULL allowed. */
void tsl_cut_say(const struct tsl_footprint *footprint, const char *const *names, const struct tsl_cut_verdict *verdict,
                 char *text, size_t size);

#endif
