/*
 * The inside of placement: one policy per file, chosen once when the placer is made.
 */
#ifndef TSL_PLACE_INTERNAL_H
#define TSL_PLACE_INTERNAL_H

#include "core/settings.h"
#include "driver/driver.h"
#include "place/place.h"

struct tsl_history;

/* The question: these candidates, for this kernel over so many work-items. */
struct tsl_choice {
    const struct tsl_candidate *candidates;
    const void *kernel;
    uint64_t size;
};

struct tsl_placer {
    unsigned (*choose)(struct tsl_placer *placer, const struct tsl_choice *choice);
    unsigned n;
    bool one_kind;                  /* TESELA_REPRODUCIBLE */
    double speed[TSL_MAX_MEMBERS];  /* caps.speed */
    uint64_t kind[TSL_MAX_MEMBERS]; /* tsl_kind_of */
    double weight[TSL_MAX_MEMBERS]; /* weights: shares, at least one > 0 */
    double credit[TSL_MAX_MEMBERS]; /* weights: what each has earned and not had */
    unsigned last;                  /* round-robin: the member that was chosen last */
    struct tsl_history *history;    /* auto; NULL for the other policies */
};

/* What tells members apart that differ in kind: equal ones take the same time for the same work. Stable from run to
 * run; i: stands for a member without a path (tests). Never 0 or 1. */
uint64_t tsl_kind_of(const struct tsl_member *member, unsigned i);

/* Is this the better of two otherwise equal candidates? The faster one is; then the one that comes first. */
static inline bool tsl_placer_faster(const struct tsl_placer *placer, unsigned i, unsigned than)
{
    return placer->speed[i] > placer->speed[than] || (placer->speed[i] == placer->speed[than] && i < than);
}

/* simple.c */
unsigned tsl_place_eager(struct tsl_placer *placer, const struct tsl_choice *choice);
unsigned tsl_place_fastest(struct tsl_placer *placer, const struct tsl_choice *choice);
unsigned tsl_place_round_robin(struct tsl_placer *placer, const struct tsl_choice *choice);
unsigned tsl_place_weights(struct tsl_placer *placer, const struct tsl_choice *choice);
/* Takes the shares from the settings: members without one have none; if nothing is left, all have the same. */
void tsl_place_weights_init(struct tsl_placer *placer, const double *weights, size_t n_weights);

/* auto.c */
unsigned tsl_place_auto(struct tsl_placer *placer, const struct tsl_choice *choice);

/*
 * history.c: what kernels took, per kernel and size class (the power of two below the number of work-items). At most
 * TSL_MAX_HISTORY classes are kept; the one used longest ago goes.
 */
#define TSL_MAX_HISTORY 4096

struct tsl_past {
    unsigned n_runs[TSL_MAX_MEMBERS];
    double item_ns[TSL_MAX_MEMBERS];  /* nanoseconds per work-item, recent runs count more; where n_runs > 0 */
    double spent_ns;                  /* what all runs of the class together took, as estimated when placed */
    double tried_ns[TSL_MAX_MEMBERS]; /* spent_ns when the member was last chosen */
    bool tried[TSL_MAX_MEMBERS];
};

struct tsl_history *tsl_history_create(void);
void tsl_history_destroy(struct tsl_history *history); /* NULL allowed */
/* The class of a kernel at a size; made when it lacks, NULL without memory. */
struct tsl_past *tsl_history_get(struct tsl_history *history, const void *kernel, uint64_t size);
void tsl_history_add(struct tsl_history *history, unsigned member, const void *kernel, uint64_t size, uint64_t ns);
/* What an operation of a member usually takes, 0 if none was seen. */
double tsl_history_usual_ns(const struct tsl_history *history, unsigned member);
/* How many classes are kept (tests). */
size_t tsl_history_classes(const struct tsl_history *history);

#endif
