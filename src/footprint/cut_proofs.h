/*
 * Cuts of a kernel that were found to be exact: a program repeats its launches, and to compare what all shares write
 * takes much longer than to see that it is the same question. A question is words; equal words have equal answers.
 *
 * No locks.
 */
#ifndef TSL_FOOTPRINT_CUT_PROOFS_H
#define TSL_FOOTPRINT_CUT_PROOFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TSL_CUT_PROOFS 8u

/* Zeroed: none. */
struct tsl_cut_proofs {
    unsigned next; /* which one gives way */
    struct tsl_cut_proof {
        size_t n;
        uint64_t *words; /* heap */
    } list[TSL_CUT_PROOFS];
};

bool tsl_cut_proofs_has(const struct tsl_cut_proofs *proofs, const uint64_t *words, size_t n);
/* Without memory nothing is added. */
void tsl_cut_proofs_add(struct tsl_cut_proofs *proofs, const uint64_t *words, size_t n);
void tsl_cut_proofs_free(struct tsl_cut_proofs *proofs);

#endif
