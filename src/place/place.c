/* The placer: the policy of the settings, with what it remembers. */
#include "place/internal.h"

#include <stdlib.h>

static void choose_policy(struct tsl_placer *placer, const struct tsl_settings *settings)
{
    switch (settings->policy) {
    case TSL_POLICY_EAGER:
        placer->choose = tsl_place_eager;
        break;
    case TSL_POLICY_FASTEST:
        placer->choose = tsl_place_fastest;
        break;
    case TSL_POLICY_ROUND_ROBIN:
        placer->choose = tsl_place_round_robin;
        break;
    case TSL_POLICY_WEIGHTS:
        placer->choose = tsl_place_weights;
        tsl_place_weights_init(placer, settings->weights, settings->n_weights);
        break;
    case TSL_POLICY_MODEL: /* learns nothing beyond auto yet; the settings say so to the user */
    case TSL_POLICY_AUTO:
        placer->choose = tsl_place_auto;
        break;
    }
}

struct tsl_placer *tsl_placer_create(const struct tsl_settings *settings, struct tsl_member *const *members, unsigned n)
{
    struct tsl_placer *placer = calloc(1, sizeof *placer);

    if (!placer)
        return NULL;
    placer->n = n;
    placer->last = n ? n - 1 : 0; /* so that the first choice is member 0 */
    for (unsigned i = 0; i < n; i++)
        placer->speed[i] = members[i]->caps.speed > 0 ? members[i]->caps.speed : 1;
    choose_policy(placer, settings);
    if (placer->choose == tsl_place_auto) {
        placer->history = tsl_history_create();
        if (!placer->history) {
            free(placer);
            return NULL;
        }
    }
    return placer;
}

void tsl_placer_destroy(struct tsl_placer *placer)
{
    if (!placer)
        return;
    tsl_history_destroy(placer->history);
    free(placer);
}

unsigned tsl_placer_choose(struct tsl_placer *placer, const struct tsl_candidate *candidates, const void *kernel,
                           uint64_t size)
{
    struct tsl_choice choice = {.candidates = candidates, .kernel = kernel, .size = size ? size : 1};

    return placer->choose(placer, &choice);
}

void tsl_placer_ran(struct tsl_placer *placer, unsigned member, const void *kernel, uint64_t size, uint64_t ns)
{
    if (placer->history)
        tsl_history_add(placer->history, member, kernel, size ? size : 1, ns);
}
