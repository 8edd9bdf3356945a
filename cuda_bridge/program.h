/* program.c: programs and kernels. */
#ifndef TSL_CUDA_BRIDGE_PROGRAM_H
#define TSL_CUDA_BRIDGE_PROGRAM_H

#include "cuda_bridge/image.h"
#include "cuda_bridge/internal.h"

struct tsl_cuda_program {
    struct tsl_dprogram base;
    CUmodule module;
    uint64_t number; /* no other module has had it, in this process */
    void *binary;    /* what program_binary gives */
    size_t binary_size;
    struct tsl_cuda_image image;
};

struct tsl_cuda_kernel {
    struct tsl_dkernel base;
    CUfunction function;
    const struct tsl_kernel_facts *facts; /* the program's */
    unsigned max_threads;                 /* of a work-group, for this kernel */
    unsigned static_shared;               /* bytes */
    uint64_t module;                      /* the program's number */
};

static inline struct tsl_cuda_program *tsl_cuda_program(struct tsl_dprogram *program)
{
    assert(program->member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_program *)program;
}

static inline struct tsl_cuda_kernel *tsl_cuda_kernel(struct tsl_dkernel *kernel)
{
    assert(kernel->program->member->driver == &tsl_cuda_driver);
    return (struct tsl_cuda_kernel *)kernel;
}

#endif
