/*
 * What a program for an NVIDIA GPU is outside the process (clGetProgramInfo's binaries): facts about its kernels and
 * PTX, which the driver makes machine code of, and which serves every GPU at least as new as the one it was made for;
 * or, of separate compilation, what the kernel compiler can link.
 *
 *   u32 "TSLG", u32 version, u32 kind, u32 capability (90: sm_90), u32 n_kernels, that many facts
 * (compile_client/wire.h), blob of PTX or of the compiler's
 */
#ifndef TSL_CUDA_BRIDGE_IMAGE_H
#define TSL_CUDA_BRIDGE_IMAGE_H

#include "facts/kernel_facts.h"

enum tsl_cuda_image_kind {
    TSL_CUDA_IMAGE_PTX,
    TSL_CUDA_IMAGE_OBJECT, /* compiled, or a library: no kernels yet */
};

struct tsl_cuda_image {
    enum tsl_cuda_image_kind kind;
    unsigned capability;
    unsigned n_kernels;
    struct tsl_kernel_facts *facts; /* n_kernels */
    char *data;                     /* PTX, or what can be linked; with a NUL behind it */
    size_t size;                    /* without that */
};

/* Bytes on the heap, the caller's; NULL without memory. data_size: without a NUL. */
void *tsl_cuda_image_encode(enum tsl_cuda_image_kind kind, unsigned capability, unsigned n_kernels,
                            const struct tsl_kernel_facts *const *facts, const void *data, size_t data_size,
                            size_t *size);
/* Trusts nothing. False: it isn't one (or no memory), and nothing is left to finish. */
bool tsl_cuda_image_decode(const void *data, size_t size, struct tsl_cuda_image *image);
void tsl_cuda_image_finish(struct tsl_cuda_image *image);

#endif
