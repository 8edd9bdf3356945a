/* spread.c: memory that is spread over the GPUs of a domain. */
#ifndef TSL_CUDA_BRIDGE_SPREAD_H
#define TSL_CUDA_BRIDGE_SPREAD_H

#include "cuda_bridge/work.h"

/* As CUDA is asked for pages of this GPU's. */
static inline CUmemAllocationProp tsl_cuda_pages_of(const struct tsl_cuda_gpu *gpu)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->device},
    };
}

cl_int tsl_cuda_spread_alloc(const struct tsl_spread_request *request, struct tsl_mem **mems, unsigned *full);
/* One of the members has no use for the range any more. The last call waits for what streams still have of work on it,
 * and gives the pages back. Not entered, no lock held. */
void tsl_cuda_spread_put(struct tsl_cuda_spread *spread);
/* The lane is given work that names such memory (work->spread). Any error: it must not be sent. lane->lock held. */
cl_int tsl_cuda_spread_use(struct tsl_cuda_lane *lane, const struct tsl_cuda_work *work);
/* Can the kernels and copies of this member touch the memory? All can, unless it is spread over others. */
bool tsl_cuda_spread_reaches(const struct tsl_cuda_mem *mem, const struct tsl_cuda_member *member);

#endif
