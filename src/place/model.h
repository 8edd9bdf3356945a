/*
 * What is known of times: how long kernels ran on each kind of member, per size; how long moves took between kinds of
 * memory, per size; how much slower one kind is than another.
 *
 * A kind (tsl_kind_of) is a device with its driver: equal members share what is known of them. Sizes are put into
 * classes, the powers of two. Of each class the last few samples are kept and their median counts, so that a cold
 * start, or a run that was disturbed, says nothing for long, and a lasting change is followed after a few runs.
 *
 * All functions are thread-safe; the lock is a leaf, held for less than a microsecond. Without memory nothing is
 * learned.
 */
#ifndef TSL_PLACE_MODEL_H
#define TSL_PLACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_density;
struct tsl_model;

/* The kind of the host's memory. */
#define TSL_KIND_HOST 1u
/* As the target of a "move": work of the kind's in its own memory, one for each of enum tsl_work (place.h). */
#define TSL_KIND_WORK 200u

/* At most so many classes of kernels are kept; those used longest ago go. */
#define TSL_MODEL_MAX_RUNS 4096

/* ---- Samples: the last few of something, times or ratios ---- */

#define TSL_N_SAMPLES 7

struct tsl_samples {
    uint8_t n, next; /* how many there are; where the next one goes */
    float value[TSL_N_SAMPLES];
    float spread;  /* how many times the typical one the largest is; 1 without samples */
    float typical; /* 0 without samples; of two the smaller, as the first run is often slow; else the median */
};

/* Within bounds beyond which nothing is measured, and within which the squares of values, and quotients, are finite and
 * not 0 as floats. For value > 0. */
double tsl_samples_sane(double value);
void tsl_samples_add(struct tsl_samples *samples, double value); /* ignored unless finite and > 0 */

/* ---- The model ---- */

struct tsl_model *tsl_model_create(void); /* NULL without memory; the caller owns the reference */
struct tsl_model *tsl_model_ref(struct tsl_model *model);
void tsl_model_unref(struct tsl_model *model); /* NULL allowed */

/* A kernel over `size` work-items ran for ns on a member of that kind. */
void tsl_model_ran(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size, double ns);

/* How long it will run. ns 0: the kernel was never seen on that kind. */
struct tsl_guess {
    double ns;
    double spread;      /* how many times as long it took at worst, of late; >= 1 */
    unsigned n_samples; /* of just this class; 0: judged by another size, as if each work-item took as long as there */
    uint64_t judged_by; /* ... that size */
    unsigned n_tries;   /* tsl_model_tried */
};
struct tsl_guess tsl_model_run(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size);
/* It is run on that kind although another one seems better. */
void tsl_model_tried(struct tsl_model *model, uint64_t kind, uint64_t kernel, uint64_t size);

/* Launches of the kernel took ns together, on whatever members. */
void tsl_model_spent(struct tsl_model *model, uint64_t kernel, double ns);
/* How much longer they will take together in this process, if it does as much as the last one that ran the kernel; 0:
 * nothing is known. */
double tsl_model_ahead_ns(struct tsl_model *model, uint64_t kernel);
/* What they took in earlier processes; 0: nothing is known. */
double tsl_model_past_ns(struct tsl_model *model, uint64_t kernel);

/* The work of the kernel's launches of that size lies so along that dimension, 0 to 2 (base/density.h); evenly: what
 * was known is forgotten. */
void tsl_model_set_density(struct tsl_model *model, uint64_t kernel, uint64_t size, unsigned dimension,
                           const struct tsl_density *work);
/* False: it isn't known to lie unevenly. */
bool tsl_model_density(struct tsl_model *model, uint64_t kernel, uint64_t size, unsigned *dimension,
                       struct tsl_density *work);

/* How many times longer kernels take on `b` than on `a`, as a rule; 0: no kernel was seen on both. */
double tsl_model_ratio(struct tsl_model *model, uint64_t a, uint64_t b);

void tsl_model_moved(struct tsl_model *model, uint64_t from, uint64_t to, uint64_t size, double ns);
/* How long a move will take, by what is known of that pair of kinds, of the way back, or of nothing. bandwidth: what
 * the link is thought to have, bytes per second, for moves larger than any that was measured; 0: as links have. */
double tsl_model_move_ns(struct tsl_model *model, uint64_t from, uint64_t to, uint64_t size, double bandwidth);
/* Is anything known of moves that way? */
bool tsl_model_knows_move(struct tsl_model *model, uint64_t from, uint64_t to);
/* How many samples there are of a move's class. */
unsigned tsl_model_n_moves(struct tsl_model *model, uint64_t from, uint64_t to, uint64_t size);

/* How many classes of kernels are kept. */
size_t tsl_model_n_runs(struct tsl_model *model);

#endif
