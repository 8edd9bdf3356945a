/* memory.c: which members reach whose memory. */
#ifndef TSL_CUDA_BRIDGE_MEMORY_H
#define TSL_CUDA_BRIDGE_MEMORY_H

#include "cuda_bridge/internal.h"

/* Opens the ways between this member's memory and that of the others that are open. */
void tsl_cuda_peers_join(struct tsl_cuda_member *member);
void tsl_cuda_peers_leave(struct tsl_cuda_member *member);
/* Do copies between them go straight? Else through the pipeline. */
bool tsl_cuda_reaches(const struct tsl_cuda_member *from, const struct tsl_cuda_member *to);

#endif
