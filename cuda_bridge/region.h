/*
 * region.c: memory of the application's that is pinned where it lies. Of what host_register is given these are the
 * whole pages. A fork ends all of it.
 */
#ifndef TSL_CUDA_BRIDGE_REGION_H
#define TSL_CUDA_BRIDGE_REGION_H

#include "cuda_bridge/internal.h"

cl_int tsl_cuda_host_register(struct tsl_member *member, void *host, size_t size, struct tsl_mem **mem);
/* Waits for transfers that use it, and unpins it. Not entered, no lock held. */
void tsl_cuda_region_free(struct tsl_cuda_region *region);
/* Is any of this memory pinned by a region, or about to be? Then CUDA need not be asked: the memory counts as pinned
 * only between tsl_cuda_region_use and tsl_cuda_region_used. */
bool tsl_cuda_region_meets(const void *begin, size_t size);
/* A region that has some of this memory and stays pinned until tsl_cuda_region_used(), which must follow soon; NULL:
 * there is none. *before, *behind: so many bytes at the ends are outside of it. Neither blocks for long. */
struct tsl_cuda_region *tsl_cuda_region_use(const void *begin, size_t size, size_t *before, size_t *behind);
/* submitted: the lane's stream was given a transfer that uses it. Entered, lane->lock held. */
void tsl_cuda_region_used(struct tsl_cuda_region *region, struct tsl_cuda_lane *lane, bool submitted);

#endif
