/* Shared virtual memory on other nodes. */
#ifndef TSL_REMOTE_SVM_H
#define TSL_REMOTE_SVM_H

#include "remote/internal.h"

/* Constant from svm_alloc to mem_free. */
struct remote_svm {
    char *host; /* mapped here */
    size_t size, alignment;
    unsigned n;
    struct remote_mem **mirrors; /* what members have at that address, one each */
};

cl_int remote_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                        struct tsl_mem **mem);
/* By mem_free. */
void remote_svm_free(struct remote_mem *mem);
bool remote_svm_reaches(struct tsl_member *from, struct tsl_member *to);
/* A launch with such memory; its fence ends when all bytes are back. */
cl_int remote_svm_launch(struct tsl_lane *lane, const struct tsl_launch *launch, const struct tsl_waits *waits,
                         struct tsl_fence **fence);
/* What the member has of it; NULL: nothing. */
struct remote_mem *remote_svm_mirror(const struct tsl_bound_svm *bound, const struct tsl_member *member);

#endif
