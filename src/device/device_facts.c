#include "device/device_facts.h"

#include "base/settings.h"

#include <stdlib.h>

/* The members that count: all, or by setting the fastest alone. */
static void choose(struct tsl_member *const **members, unsigned *n)
{
    unsigned fastest = 0;

    if (tsl_settings()->limits != TSL_LIMITS_FASTEST || *n == 0)
        return;
    for (unsigned i = 1; i < *n; i++)
        if ((*members)[i]->caps.speed > (*members)[fastest]->caps.speed)
            fastest = i;
    *members += fastest;
    *n = 1;
}

unsigned tsl_members_that_compile(struct tsl_member *const *members, unsigned n, struct tsl_member **some)
{
    unsigned n_some = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct tsl_path *path = members[i]->path;
        cl_bool compiles;

        if (members[i]->driver->info(path, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiles, &compiles, NULL) || compiles)
            some[n_some++] = members[i];
    }
    for (unsigned i = 0; n_some == 0 && i < n; i++)
        some[i] = members[i];
    return n_some ? n_some : n;
}

struct tsl_device_facts *tsl_device_facts_create(struct tsl_member *const *members, unsigned n)
{
    struct tsl_device_facts *facts = calloc(1, sizeof *facts);

    if (!facts)
        return NULL;
    choose(&members, &n);
    facts->n_members = n;
    tsl_numbers_fill(facts, members, n);
    if (!tsl_identity_fill(facts, members, n) || !tsl_names_fill(facts, members, n)) {
        tsl_device_facts_destroy(facts);
        return NULL;
    }
    return facts;
}

void tsl_device_facts_destroy(struct tsl_device_facts *facts)
{
    if (!facts)
        return;
    free(facts->extensions);
    free(facts->c_versions);
    free(facts->c_features);
    free(facts->built_ins);
    free(facts->ils);
    free(facts);
}
