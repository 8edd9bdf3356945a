/* pin.c: pinned memory of the host. */
#ifndef TSL_CUDA_BRIDGE_PIN_H
#define TSL_CUDA_BRIDGE_PIN_H

#include "cuda_bridge/internal.h"

struct tsl_cuda_pinned {
    void *at; /* NULL: none */
    size_t size;
    bool mapped; /* by us, not by CUDA */
};

/* Memory that is pinned, on the NUMA node next to the GPU. Entered. CUDA may wait for the device. */
CUresult tsl_cuda_pin(struct tsl_cuda_member *member, size_t size, struct tsl_cuda_pinned *pinned);
/* Gives it back, if there is any. Entered. CUDA may wait for copies on their way. */
void tsl_cuda_unpin(const struct tsl_cuda_pinned *pinned);

#endif
