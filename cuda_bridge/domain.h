/* domain.c: which GPUs can have memory spread over them. */
#ifndef TSL_CUDA_BRIDGE_DOMAIN_H
#define TSL_CUDA_BRIDGE_DOMAIN_H

#include "cuda_bridge/internal.h"

/* Fills what the GPUs say of their domains, which was zero. It is the same whichever of them are opened, and when. */
void tsl_cuda_find_domains(struct tsl_cuda_gpu *gpus, unsigned n);

#endif
