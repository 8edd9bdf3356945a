#include "footprint/cut_proofs.h"

#include <stdlib.h>
#include <string.h>

bool tsl_cut_proofs_has(const struct tsl_cut_proofs *proofs, const uint64_t *words, size_t n)
{
    for (unsigned i = 0; i < TSL_CUT_PROOFS; i++)
        if (proofs->list[i].n == n && memcmp(proofs->list[i].words, words, n * sizeof(*words)) == 0)
            return true;
    return false;
}

void tsl_cut_proofs_add(struct tsl_cut_proofs *proofs, const uint64_t *words, size_t n)
{
    struct tsl_cut_proof *proof = &proofs->list[proofs->next++ % TSL_CUT_PROOFS];
    uint64_t *copy = malloc(n * sizeof(*words));
    if (!copy)
        return;
    memcpy(copy, words, n * sizeof(*words));
    free(proof->words);
    *proof = (struct tsl_cut_proof){n, copy};
}

void tsl_cut_proofs_free(struct tsl_cut_proofs *proofs)
{
    for (unsigned i = 0; i < TSL_CUT_PROOFS; i++)
        free(proofs->list[i].words);
}
