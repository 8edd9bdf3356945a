/*
 * Shared virtual memory, as far as the members decide it: which of them know the addresses of a region, and what the
 * device may promise. Regions themselves are objects (object/svm.h).
 */
#ifndef TSL_DEVICE_SHARED_MEMORY_H
#define TSL_DEVICE_SHARED_MEMORY_H

#include "base/sets.h"
#include "driver/driver.h"

/* The members, by their place in the array, whose kernels know the addresses of regions. Opens members; may block. */
tsl_members tsl_shared_memory_members(struct tsl_member *const *members, unsigned n);

/* Must a region be of memory that this member gives (or that reaches it)? */
static inline bool tsl_shared_memory_is_own(const struct tsl_member *member)
{
    return member->caps.svm && !member->caps.svm_anywhere;
}

/* What a set of members (all in use, or a device's) offers: CL_DEVICE_SVM_… bits; 0: nothing. */
cl_device_svm_capabilities tsl_shared_memory_capabilities(struct tsl_member *const *members, unsigned n);

#endif
