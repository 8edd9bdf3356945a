/*
 * The ABI of kernels for NVIDIA GPUs: what the PTX that the kernel compiler makes expects, and what the CUDA driver
 * passes to it. This header is for both sides.
 *
 * Each kernel is `.visible .entry NAME(its parameters, hidden)`.
 * - Its parameters in order: __global and __constant pointers as .u64 addresses; values as their bytes with their
 *   natural alignment; __local pointers as .u32, the offset in bytes from the start of dynamic shared memory, a
 *   multiple of TSL_PTX_LOCAL_ALIGN; images as .u64, the address of a struct tsl_kc_image
 *   (compile_client/kernel_image.h) in global memory; samplers as .u64, their bits. The compiler makes static local
 *   memory static shared memory.
 * - Then always, even if unused, struct tsl_ptx_launch by value, with an alignment of 8.
 * Nothing is passed by variables of the module, so that several launches may be under way at once.
 *
 * A kernel that reads images it doesn't write may be there a second time, under its name with TSL_PTX_TEXTURES behind:
 * it reads them by the texture objects of their descriptions, which all of these must have.
 *
 * A launch, or a window of one, is cut into grids: first the groups of full size, then, where the global size is no
 * multiple of the local size, the smaller last groups as grids of their own with smaller blocks. In dimension d:
 * - get_local_id = tid, get_local_size = ntid, get_enqueued_local_size = local_size,
 *   get_group_id = group_begin + ctaid, get_global_id = first_id + ctaid * ntid + tid (64 bits);
 * - all other queries answer from the struct. printf is CUDA's vprintf.
 */
#ifndef TSL_COMPILE_CLIENT_PTX_H
#define TSL_COMPILE_CLIENT_PTX_H

#include <stdint.h>

#define TSL_PTX_LOCAL_ALIGN 128u
#define TSL_PTX_TEXTURES    "$textures" /* no name in OpenCL C has a dollar sign */

/* Sizes past work_dim are 1, offsets 0. */
struct tsl_ptx_launch {
    uint64_t first_id[3];    /* global id of the first work-item of block 0 */
    uint64_t group_begin[3]; /* number of the group that is block 0 */
    uint64_t num_groups[3];  /* of the whole launch */
    uint64_t global_size[3];
    uint64_t global_offset[3];
    uint32_t local_size[3]; /* as enqueued */
    uint32_t work_dim;
};

_Static_assert(sizeof(struct tsl_ptx_launch) == 136, "the compiler knows this layout");

#endif
