/*
 * What is estimated of a launch on each candidate: how long it runs there, when it could start, when it would have
 * ended. Whoever chooses by that is auto.c and windows.c.
 *
 * The time of the kernel itself is known (place/model.h) from its runs at this size or another on that kind of member;
 * else from its runs on another kind, and from how much slower this kind was with other kernels; else it is guessed.
 * Options are by member of the context; those of candidates that aren't eligible have no meaning.
 */
#ifndef TSL_PLACE_ESTIMATE_H
#define TSL_PLACE_ESTIMATE_H

#include "place/internal.h"

#define TSL_LAUNCH_NS  2e3  /* of a launch, beside the kernel's own time */
#define TSL_ITEM_NS    2.0  /* of a work-item on the fastest member, when nothing is known of the kernel */
#define TSL_UNKNOWN_NS 3e6  /* ... and what such a kernel takes at least: a few of them fill the horizon */
#define TSL_VARIES     1.25 /* times that differ more than so vary */

/* One candidate, as far as it is known. */
struct tsl_option {
    bool known; /* by runs on its kind; n_samples are of this very size class */
    bool part;  /* of a launch that is cut */
    bool stays; /* nothing waits for its end to be given a place */
    unsigned n_samples, n_tries;
    double spread;                   /* of its runs */
    double risk_ns;                  /* it may take so much longer */
    double run_ns, start_ns, end_ns; /* absolute but for run_ns */
};

static inline const struct tsl_candidate *tsl_candidate_of(const struct tsl_ask *ask, unsigned i)
{
    return &ask->candidates[i];
}

/* What the kernel is known by on a member, whole or in parts. */
static inline uint64_t tsl_kernel_known_as(const struct tsl_ask *ask, unsigned i)
{
    return tsl_candidate_of(ask, i)->kernel ? tsl_candidate_of(ask, i)->kernel : ask->kernel;
}

static inline uint64_t tsl_part_known_as(const struct tsl_ask *ask, unsigned i)
{
    return tsl_candidate_of(ask, i)->part_kernel ? tsl_candidate_of(ask, i)->part_kernel : ask->kernel;
}

/* What is known of a run by the model's guess; start and end aren't yet. */
struct tsl_option tsl_estimate_of(const struct tsl_guess *guess);
/* What takes ns over `from` work-items, over `to` of them. */
double tsl_estimate_scaled(const struct tsl_placer *placer, unsigned i, double ns, double from, double to);
/* What the model knows of a run on member i. What was seen at another size only is judged by what fills the member. */
struct tsl_guess tsl_estimate_run(const struct tsl_placer *placer, unsigned i, uint64_t kernel, uint64_t size);
/* The spread of times without the machine's noise: what a small kernel takes longer for once says nothing of its work.
 */
double tsl_estimate_spread(double spread, double run_ns);
/* How many times longer a kernel takes on b than on a, by what can be known without having run it on b. */
double tsl_estimate_fear(const struct tsl_placer *placer, unsigned a, unsigned b);
/* How long a kernel takes on member i of which nothing is known anywhere. */
double tsl_estimate_unknown_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i);
/* Makes the options, with what is known by runs on each one's kind alone. */
void tsl_estimate_known(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options);
/* The same, and guesses the others. */
void tsl_estimate_runs(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options);
/* Where times vary, what is slow takes the risk of the longest: a wrong guess costs more there than it gains. */
void tsl_estimate_risks(const struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options);
/* What moves to the member, and how much later what waits for moves from another member starts. */
double tsl_estimate_delay_ns(const struct tsl_placer *placer, const struct tsl_ask *ask, unsigned i);
/* Starts and ends, by the runs and risks. */
void tsl_estimate_ends(struct tsl_placer *placer, const struct tsl_ask *ask, struct tsl_option *options);
unsigned tsl_estimate_earliest(const struct tsl_placer *placer, const struct tsl_ask *ask,
                               const struct tsl_option *options);

#endif
