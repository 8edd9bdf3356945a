/* svm.c: shared virtual memory. */
#ifndef TSL_CUDA_BRIDGE_SVM_H
#define TSL_CUDA_BRIDGE_SVM_H

#include "cuda_bridge/internal.h"

cl_int tsl_cuda_svm_alloc(struct tsl_member *member, const struct tsl_svm_request *request, void **host,
                          struct tsl_mem **mem);
bool tsl_cuda_svm_reaches(struct tsl_member *from, struct tsl_member *to);
/* If too much is kept, CUDA waits for all that the device has. Not entered. */
void tsl_cuda_svm_free(struct tsl_cuda_svm *svm);
/* Frees what was kept, when none of it is in use any more. Entered. */
void tsl_cuda_svm_finish(struct tsl_cuda_member *member);
/* Is all of this shared memory of ours? */
bool tsl_cuda_svm_has(const void *begin, size_t size);

#endif
