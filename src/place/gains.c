/*
 * Do a program's cuts gain anything? What its launches take, and what the ledger (pays.c) says of its cuts, is added up
 * and kept for later runs. A program whose launches run whole, or whose cuts gain next to nothing, is served better
 * where its data aren't distributed in the first place: what lies on two members must be brought together for a launch
 * that needs all of it. Launches of unknown kernels count when they have run whole; whether a cut one gained something
 * nobody knows.
 */
#include "place/internal.h"

#define GAINS     0.05 /* of what all launches take: cuts that gain less are no reason to distribute data */
#define NOTES     64   /* launches, after which the model is told */
#define LEAST_NS  1e6  /* of a program that takes less nothing is kept */
#define GAINS_KEY UINT64_C(0x6a09e667f3bcc908) /* the model knows both sums as kernels of their own */
#define TAKES_KEY UINT64_C(0xbb67ae8584caa73b)

void tsl_gains_tell(struct tsl_placer *placer)
{
    struct tsl_gains *gains = &placer->gains;

    if (!placer->model || gains->launches_ns < LEAST_NS)
        return;
    tsl_model_spent(placer->model, placer->program ^ TAKES_KEY, gains->launches_ns);
    tsl_model_spent(placer->model, placer->program ^ GAINS_KEY, gains->net_ns);
    *gains = (struct tsl_gains){.net_ns = gains->net_ns < 0 ? gains->net_ns : 0}; /* The model takes no losses. */
}

void tsl_gains_launched(struct tsl_placer *placer, double whole_ns)
{
    if (placer->n < 2)
        return;
    placer->gains.launches_ns += whole_ns;
    if (++placer->gains.n % NOTES == 0)
        tsl_gains_tell(placer);
}

void tsl_gains_booked(struct tsl_placer *placer, double ns)
{
    placer->gains.net_ns += ns;
}

bool tsl_placer_gains(const struct tsl_placer *placer)
{
    double takes_ns = placer->model ? tsl_model_past_ns(placer->model, placer->program ^ TAKES_KEY) : 0;

    return takes_ns == 0 || tsl_model_past_ns(placer->model, placer->program ^ GAINS_KEY) >= GAINS * takes_ns;
}
