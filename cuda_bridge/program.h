/* program.c: programs and kernels. */
#ifndef TSL_CUDA_BRIDGE_PROGRAM_H
#define TSL_CUDA_BRIDGE_PROGRAM_H

#include "cuda_bridge/image.h"
#include "cuda_bridge/internal.h"
#include "driver/call.h"

/* Programs that launch by CL_KERNEL_WORK_GROUP_SIZE are faster with groups of so many work-items than with the largest
 * that fit, and it is what NVIDIA's OpenCL tells of any kernel. Launches without a size have no larger groups either.
 */
#define TSL_CUDA_USUAL_GROUP 256

struct tsl_cuda_kernel;
struct tsl_cuda_module;

/* What is late waits for its member to be ready; guarded by member->late_lock, as are the modules until then. */
struct tsl_cuda_program {
    struct tsl_dprogram base;
    struct tsl_cuda_module *module; /* a reference; NULL: only to be linked, or late */
    struct tsl_cuda_module *twin;   /* while it is late: the same, on a member that is ready; a reference */
    bool late, loading;             /* in member->late; a thread loads it, which program_free waits for */
    LIST_ENTRY(tsl_cuda_program) link;
    LIST_HEAD(, tsl_cuda_kernel) late_kernels;
    uint64_t number; /* no other module has had it, in this process */
    void *binary;    /* what program_binary gives */
    size_t binary_size;
    struct tsl_cuda_image image;
};

struct tsl_cuda_kernel {
    struct tsl_dkernel base;
    CUfunction function;    /* while it is late: the twin's, which isn't launched */
    CUfunction by_textures; /* the same kernel, which reads images by texture units; NULL: there is none */
    bool late;              /* in program->late_kernels */
    LIST_ENTRY(tsl_cuda_kernel) link;
    const struct tsl_kernel_facts *facts; /* the program's */
    unsigned max_threads;                 /* of a work-group, for this kernel */
    unsigned static_shared;               /* bytes */
    uint64_t module;                      /* the program's number */
    struct tsl_call call;                 /* of a substitute: what is called; run NULL: nothing */
    struct tsl_cuda_module *foreign; /* of a substitute: code that knows nothing of our hidden argument; else NULL */
};

/* Loads the programs of a member that is being made ready, and says that it is. Errors are those of a build. */
cl_int tsl_cuda_programs_catch_up(struct tsl_cuda_member *member);

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
