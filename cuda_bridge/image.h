/*
 * What a program built for an NVIDIA GPU is outside the process (clGetProgramInfo's binaries): facts about its kernels
 * and PTX, which the driver makes machine code of. PTX serves every GPU at least as new as the one it was made for.
 *
 *   u32 "TSLG", u32 version, u32 capability (90: sm_90), u32 n_kernels, that many facts (compile/wire.h), blob PTX
 */
#ifndef CUDA_BRIDGE_IMAGE_H
#define CUDA_BRIDGE_IMAGE_H

#include "compile/facts.h"

struct tsl_cuda_image {
    unsigned capability;
    unsigned n_kernels;
    struct tsl_kernel_facts *facts; /* n_kernels */
    char *ptx;                      /* with a NUL behind it */
};

/* Bytes on the heap, the caller's; NULL without memory. ptx_size: without a NUL. */
void *tsl_cuda_image_encode(unsigned capability, unsigned n_kernels, const struct tsl_kernel_facts *const *facts,
                            const char *ptx, size_t ptx_size, size_t *size);
/* Trusts nothing. False: it isn't one (or no memory), and nothing is left to finish. */
bool tsl_cuda_image_decode(const void *data, size_t size, struct tsl_cuda_image *image);
void tsl_cuda_image_finish(struct tsl_cuda_image *image);

#endif
