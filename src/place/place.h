/*
 * Placement: which member runs a kernel. Pure: no locks, no driver calls, no clock of its own; called under the graph's
 * lock. State is one struct per context.
 */
#ifndef TSL_PLACE_PLACE_H
#define TSL_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct tsl_placer;
struct tsl_settings;
struct tsl_member;

/* What the placer may know of one candidate at the moment. */
struct tsl_candidate {
    bool eligible;
    uint64_t missing_size; /* bytes that would have to move to it first */
    unsigned pending;      /* operations on their way on that member, not yet known complete */
};

struct tsl_placer *tsl_placer_create(const struct tsl_settings *settings, struct tsl_member *const *members,
                                     unsigned n);
void tsl_placer_destroy(struct tsl_placer *placer);

/* The index of the chosen candidate; at least one is eligible. `kernel` identifies the kernel (for history), `size` is
 * the number of work-items. */
unsigned tsl_placer_choose(struct tsl_placer *placer, const struct tsl_candidate *candidates, const void *kernel,
                           uint64_t size);
/* A kernel ran on member i for so long (history; `auto` uses it to estimate). */
void tsl_placer_ran(struct tsl_placer *placer, unsigned member, const void *kernel, uint64_t size, uint64_t ns);

#endif
