/* host.c: pinned memory of host_alloc. */
#ifndef TSL_CUDA_BRIDGE_HOST_H
#define TSL_CUDA_BRIDGE_HOST_H

#include "cuda_bridge/internal.h"

cl_int tsl_cuda_host_alloc(struct tsl_member *member, size_t size, void **host, struct tsl_mem **mem);
void tsl_cuda_host_free(struct tsl_cuda_host *host);
/* Gives back memory that is kept beyond a limit, the longest unused first. Not entered; in the bridge thread. */
void tsl_cuda_hosts_trim(struct tsl_cuda_member *member);
/* Frees what is kept, when none of it is in use any more. Entered. */
void tsl_cuda_hosts_finish(struct tsl_cuda_member *member);

#endif
