/* warm.c: what moves between GPUs need beside their memory, made before there are any. */
#ifndef TSL_CUDA_BRIDGE_WARM_H
#define TSL_CUDA_BRIDGE_WARM_H

#include "cuda_bridge/internal.h"

void tsl_cuda_warm_init(struct tsl_cuda_member *member);
/* The member is about to be made ready: the others, which are to have moves from and to it then, begin with what these
 * need, beside that. Blocks for nothing. */
void tsl_cuda_warm_others(const struct tsl_cuda_member *member);
/* Before a member closes: nothing of that is under way any more. */
void tsl_cuda_warm_finish(void);

#endif
