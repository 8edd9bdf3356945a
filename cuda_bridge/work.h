/* Work, as it was submitted: lane.c orders it, copy.c and launch.c send it. */
#ifndef TSL_CUDA_BRIDGE_WORK_H
#define TSL_CUDA_BRIDGE_WORK_H

#include "compile_client/ptx.h"
#include "cuda_bridge/internal.h"

enum tsl_cuda_kind {
    TSL_CUDA_MARK,
    TSL_CUDA_COPY,
    TSL_CUDA_FILL,
    TSL_CUDA_LAUNCH,
};

struct tsl_cuda_kernel;

/* How a launch's groups are cut into grids: in each dimension the groups of full size and, maybe, a smaller last one.
 */
struct tsl_cuda_launch {
    struct tsl_cuda_kernel *kernel;
    struct tsl_window window; /* with a local size, and not "whole" */
    bool by_textures;         /* the kernel's twin runs that reads images by texture units */
    unsigned shared_size;     /* bytes of __local arguments */
    cl_uint n_args;
    void **args;                        /* n_args pointers to values, and room for one to the hidden argument */
    size_t *sizes;                      /* bytes of each value; 0 for pointers and offsets, whose values are words */
    size_t *memory;                     /* of calls: bytes of each argument's memory; else NULL */
    const struct tsl_bound_args *bound; /* borrowed while it is submitted */
};

/* What runs of the launch's kernel, once it isn't late any more. */
CUfunction tsl_cuda_launch_function(const struct tsl_cuda_launch *launch);

/* One grid of a launch. */
struct tsl_cuda_grid {
    unsigned count[3], block[3];
    struct tsl_ptx_launch hidden;
};

struct tsl_cuda_work {
    enum tsl_cuda_kind kind;
    struct tsl_waits waits;                             /* references only if held */
    struct tsl_cuda_fence *fence;                       /* a reference, or NULL */
    struct tsl_cuda_fence *doubts[TSL_CUDA_MAX_DOUBTS]; /* while it is being sent: as in its fence; borrowed */
    unsigned n_doubts;
    bool spread; /* it names memory that is spread over GPUs */
    union {
        struct tsl_copy copy;
        struct {
            struct tsl_place dst;
            size_t region[3], pattern_size;
            unsigned char pattern[128];
        } fill;
        struct tsl_cuda_launch launch;
    };
    void *storage; /* of held work, heap: a launch's arguments */
    STAILQ_ENTRY(tsl_cuda_work) next;
};

/* Submits the work, or holds a copy of it. waits, and for launches args, are borrowed. Consumes nothing of *work;
 * *fence as in the contract. */
cl_int tsl_cuda_submit(struct tsl_lane *lane, struct tsl_cuda_work *work, const struct tsl_waits *waits,
                       struct tsl_fence **fence);

/* Each submits one kind to the stream. Entered, lane->lock held. TSL_CUDA_PIPED (positive): the pipeline has it. */
#define TSL_CUDA_PIPED 1
cl_int tsl_cuda_run_copy(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
cl_int tsl_cuda_run_fill(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
cl_int tsl_cuda_run_launch(struct tsl_cuda_lane *lane, struct tsl_cuda_work *work);
/* Copies the values of a launch's arguments into kept->storage. False: no memory. */
bool tsl_cuda_keep_args(struct tsl_cuda_work *kept, const struct tsl_cuda_work *work);
/* The launch as one grid. False: it takes several. */
bool tsl_cuda_one_grid(const struct tsl_cuda_launch *launch, struct tsl_cuda_grid *grid);
/* May the copy begin, as far as the host's memory goes? Entered. */
bool tsl_cuda_copy_ready(struct tsl_cuda_member *member, const struct tsl_copy *copy);
/* Does the copy go straight between the host's memory, if that takes part, and the device's? Entered. */
bool tsl_cuda_copy_is_direct(const struct tsl_copy *copy);

#endif
