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

static unsigned reach_of(struct tsl_member *from, struct tsl_member *const *members, unsigned n)
{
    unsigned set = 0;

    for (unsigned i = 0; i < n; i++)
        if (reaches(from, members[i]))
            set |= 1u << i;
    return set;
}

/* Members whose kernels take any address of the host's. */
static unsigned anywhere(struct tsl_member *const *members, unsigned n)
{
    unsigned set = 0;

    for (unsigned i = 0; i < n; i++)
        if (members[i]->caps.svm && members[i]->caps.svm_anywhere)
            set |= 1u << i;
    return set;
}

/* Of all members in use, by their index: those that know the addresses. The memory that reaches most members is taken,
 * of several such the first. */
static unsigned chosen(void)
{
    unsigned n, best = 0;
    struct tsl_member *const *members = tsl_members_open(&n);

    if (tsl_settings()->svm == TSL_SVM_OFF)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned set = tsl_shared_memory_is_own(members[i]) ? reach_of(members[i], members, n) : 0;

        if (__builtin_popcount(set) > __builtin_popcount(best))
            best = set;
    }
    return best ? best : anywhere(members, n);
}

unsigned tsl_shared_memory_members(struct tsl_member *const *members, unsigned n)
{
    unsigned of_all = chosen(), set = 0;

    for (unsigned i = 0; i < n; i++)
        if (of_all >> members[i]->index & 1)
            set |= 1u << i;
    return set;
}

/* A member that doesn't know a region's addresses has its buffers elsewhere: what the host does without a map is then
 * seen by some members only. */
cl_device_svm_capabilities tsl_shared_memory_capabilities(struct tsl_member *const *members, unsigned n)
{
    cl_device_svm_capabilities all = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    unsigned set = tsl_shared_memory_members(members, n);

    if (tsl_settings()->svm == TSL_SVM_COARSE)
        all = CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    for (unsigned i = 0; i < n; i++)
        all &= set >> i & 1 ? members[i]->caps.svm : CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    return set ? all : 0;
}
