#include "device/shared_memory.h"

#include "base/settings.h"
#include "members/members.h"

/* Can kernels on `to` use memory of `from` by its addresses? */
static bool reaches(struct tsl_member *from, struct tsl_member *to)
{
    if (!to->caps.svm)
        return false;
    if (from == to || to->caps.svm_anywhere)
        return true;
    return from->driver == to->driver && from->driver->svm_reaches(from, to);
}

static tsl_members reach_of(struct tsl_member *from, struct tsl_member *const *members, unsigned n)
{
    tsl_members set = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < n; i++)
        if (reaches(from, members[i]))
            tsl_members_add(&set, i);
    return set;
}

/* Members whose kernels take any address of the host's. */
static tsl_members anywhere(struct tsl_member *const *members, unsigned n)
{
    tsl_members set = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < n; i++)
        if (members[i]->caps.svm && members[i]->caps.svm_anywhere)
            tsl_members_add(&set, i);
    return set;
}

/* The memory that reaches most members, of several such the first. */
static tsl_members widest(struct tsl_member *const *members, unsigned n, bool copied)
{
    tsl_members best = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < n; i++) {
        bool is_own = tsl_shared_memory_is_own(members[i]) && members[i]->caps.svm_is_copied == copied;
        tsl_members set = is_own ? reach_of(members[i], members, n) : TSL_MEMBERS_NONE;

        if (tsl_members_count(set) > tsl_members_count(best))
            best = set;
    }
    return best;
}

/* Of all members in use, by their index: those that know the addresses. What is copied at each launch is taken where
 * there is nothing else. */
static tsl_members chosen(void)
{
    tsl_members best = TSL_MEMBERS_NONE;
    unsigned n;
    struct tsl_member *const *members = tsl_members_open(&n);

    if (tsl_settings()->svm == TSL_SVM_OFF)
        return TSL_MEMBERS_NONE;
    best = widest(members, n, false);
    if (tsl_members_is_empty(best))
        best = anywhere(members, n);
    return tsl_members_is_empty(best) ? widest(members, n, true) : best;
}

tsl_members tsl_shared_memory_members(struct tsl_member *const *members, unsigned n)
{
    tsl_members of_all = chosen(), set = TSL_MEMBERS_NONE;

    for (unsigned i = 0; i < n; i++)
        if (tsl_members_has(of_all, members[i]->index))
            tsl_members_add(&set, i);
    return set;
}

/* A member that doesn't know a region's addresses has its buffers elsewhere: what the host does without a map is then
 * seen by some members only. */
cl_device_svm_capabilities tsl_shared_memory_capabilities(struct tsl_member *const *members, unsigned n)
{
    cl_device_svm_capabilities all = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    tsl_members set = tsl_shared_memory_members(members, n);

    if (tsl_settings()->svm == TSL_SVM_COARSE)
        all = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    for (unsigned i = 0; i < n; i++)
        all &= tsl_members_has(set, i) ? members[i]->caps.svm : CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    return tsl_members_is_empty(set) ? 0 : all;
}
