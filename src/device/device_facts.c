#include "device/device_facts.h"

#include "base/settings.h"

#include <stdlib.h>

unsigned tsl_fastest_member(struct tsl_member *const *members, unsigned n)
{
    unsigned fastest = 0;

    for (unsigned i = 1; i < n; i++)
        if (members[i]->caps.speed > members[fastest]->caps.speed)
            fastest = i;
    return fastest;
}

/* The members that the answers speak of: all, or the fastest alone by setting. */
static void choose(struct tsl_member *const **members, unsigned *n)
{
    if (tsl_settings()->limits != TSL_LIMITS_FASTEST || *n == 0)
        return;
    *members += tsl_fastest_member(*members, *n);
    *n = 1;
}

/* Do all members that programs of source run on work on the host's memory itself? */
static bool work_in_place(struct tsl_member *const *members, unsigned n)
{
    struct tsl_member *some[TSL_MAX_MEMBERS];
    unsigned n_some = tsl_members_that_compile(members, n, some);

    for (unsigned i = 0; i < n_some; i++)
        if (!some[i]->caps.zero_copy)
            return false;
    return true;
}

/* Programs tune themselves by the type: what suits the fastest member is what they should choose. oclgrind's device is
 * of several types; a device that isn't any is a GPU, which most programs ask for. Some programs take a CPU's buffers
 * for the memory that they lent, and look into it without a map: it is one only if no member has copies. */
static cl_device_type type_of(struct tsl_member *const *members, unsigned n, bool in_place)
{
    cl_device_type own = n ? members[tsl_fastest_member(members, n)]->path->type : CL_DEVICE_TYPE_GPU;

    switch (tsl_settings()->device_type) {
    case TSL_DEVICE_TYPE_GPU:
        return CL_DEVICE_TYPE_GPU;
    case TSL_DEVICE_TYPE_CPU:
        return CL_DEVICE_TYPE_CPU;
    case TSL_DEVICE_TYPE_ACCELERATOR:
        return CL_DEVICE_TYPE_ACCELERATOR;
    case TSL_DEVICE_TYPE_AUTO:
        break;
    }
    if (own & CL_DEVICE_TYPE_GPU)
        return CL_DEVICE_TYPE_GPU;
    if (own & CL_DEVICE_TYPE_CPU)
        return in_place ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
    return own & CL_DEVICE_TYPE_ACCELERATOR ? CL_DEVICE_TYPE_ACCELERATOR : CL_DEVICE_TYPE_GPU;
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
    facts->in_place = work_in_place(members, n);
    choose(&members, &n);
    facts->n_members = n;
    facts->type = type_of(members, n, facts->in_place);
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
