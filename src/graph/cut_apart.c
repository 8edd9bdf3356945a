#include "graph/cut_apart.h"

#include <string.h>

static void take(struct tsl_cut_apart *apart, uint32_t argument)
{
    const void *root = apart->cut->memories[argument].root;
    for (uint32_t i = 0; i < apart->cut->footprint->n_arguments; i++)
        if (apart->cut->memories[i].root == root) {
            apart->taken |= UINT64_C(1) << i;
            apart->memories[i].root = NULL;
        }
}

/* The memory that the verdict complains of, if that may help. */
static bool take_worst(struct tsl_cut_apart *apart)
{
    const struct tsl_cut_verdict *verdict = &apart->cut->verdict;
    bool stores = verdict->why == TSL_CUT_WRITES_UNKNOWN || verdict->why == TSL_CUT_WRITES_MEET;
    if ((!stores && verdict->why != TSL_CUT_ATOMICS) || verdict->argument == TSL_FOOTPRINT_NONE ||
        !apart->memories[verdict->argument].root)
        return false;
    take(apart, verdict->argument);
    return true;
}

void tsl_cut_apart_begin(struct tsl_cut_apart *apart, struct tsl_cut *cut, uint64_t arguments)
{
    apart->cut = cut;
    apart->taken = 0;
    memcpy(apart->memories, cut->memories, cut->footprint->n_arguments * sizeof(*apart->memories));
    for (uint32_t i = 0; i < cut->footprint->n_arguments; i++)
        if (arguments & UINT64_C(1) << i && apart->memories[i].root)
            take(apart, i);
}

void tsl_cut_apart_take_all(struct tsl_cut_apart *apart)
{
    for (uint32_t i = 0; i < apart->cut->footprint->n_arguments; i++)
        if (apart->memories[i].root && apart->memories[i].may_write && !apart->memories[i].image)
            take(apart, i);
}

bool tsl_cut_apart_dimension(struct tsl_cut_apart *apart)
{
    struct tsl_cut *cut = apart->cut;
    do
        cut->dimension =
            tsl_cut_dimension(cut->footprint, &cut->window, cut->values.of, apart->memories, &cut->verdict);
    while (cut->dimension == 3 && take_worst(apart));
    return cut->dimension < 3;
}

bool tsl_cut_apart_shares(struct tsl_cut_apart *apart)
{
    if (!tsl_cut_evaluate(apart->cut))
        return false;
    while (!tsl_cut_is_apart(apart->cut, apart->memories))
        if (!take_worst(apart))
            return false;
    return true;
}
