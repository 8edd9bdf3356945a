/* The placer: the policy of the settings, with what it remembers. */
#include "place/internal.h"

#include <stdlib.h>
#include <string.h>

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

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);                     /* an end, so that "a","bc" isn't "ab","c" */
}

uint64_t tsl_kind_of(const struct tsl_member *member, unsigned i)
{
    const struct tsl_path *path = member->path;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (!path)
        return i + 2;
    hash = mix(hash, path->driver ? path->driver->name : "");
    hash = mix(hash, path->platform_name);
    hash = mix(hash, path->device_name);
    return mix(hash, path->driver_version) | 1u << 8; /* never one of the small numbers */
}

struct tsl_placer *tsl_placer_create(const struct tsl_settings *settings, struct tsl_member *const *members, unsigned n)
{
    struct tsl_placer *placer = calloc(1, sizeof *placer);

    if (!placer)
        return NULL;
    placer->n = n;
    placer->last = n ? n - 1 : 0; /* so that the first choice is member 0 */
    placer->one_kind = settings->reproducible == TSL_REPRODUCIBLE_YES;
    for (unsigned i = 0; i < n; i++) {
        placer->speed[i] = members[i]->caps.speed > 0 ? members[i]->caps.speed : 1;
        placer->kind[i] = tsl_kind_of(members[i], i);
    }
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

/* Reproducible: of the candidates those of one kind, the fastest's by what the members say of themselves. Nothing that
 * was measured counts, so that every run of a program chooses alike. */
static void keep_one_kind(const struct tsl_placer *placer, struct tsl_candidate *candidates)
{
    unsigned best = placer->n;

    for (unsigned i = 0; i < placer->n; i++)
        if (candidates[i].eligible && (best == placer->n || tsl_placer_faster(placer, i, best)))
            best = i;
    for (unsigned i = 0; i < placer->n; i++)
        candidates[i].eligible = candidates[i].eligible && placer->kind[i] == placer->kind[best];
}

unsigned tsl_placer_choose(struct tsl_placer *placer, const struct tsl_candidate *candidates, const void *kernel,
                           uint64_t size)
{
    struct tsl_candidate kept[TSL_MAX_MEMBERS];
    struct tsl_choice choice = {.candidates = candidates, .kernel = kernel, .size = size ? size : 1};

    if (placer->one_kind) {
        memcpy(kept, candidates, placer->n * sizeof(*kept));
        keep_one_kind(placer, kept);
        choice.candidates = kept;
    }
    return placer->choose(placer, &choice);
}

void tsl_placer_ran(struct tsl_placer *placer, unsigned member, const void *kernel, uint64_t size, uint64_t ns)
{
    if (placer->history)
        tsl_history_add(placer->history, member, kernel, size ? size : 1, ns);
}
