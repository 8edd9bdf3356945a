/* compile.c: the kernel compiler, asked for PTX. */
#ifndef TSL_CUDA_BRIDGE_COMPILE_H
#define TSL_CUDA_BRIDGE_COMPILE_H

#include "cuda_bridge/image.h"
#include "cuda_bridge/internal.h"

/* Is there a compiler that makes PTX of OpenCL C? */
bool tsl_cuda_compiles(void);

/* What the compiler made. */
struct tsl_cuda_made {
    void *image; /* image.h; heap; NULL after an error */
    size_t size;
    char *log; /* heap, may be NULL */
};

/* Source to PTX; source and headers to an object; objects to PTX or a library. *made starts as zeroes. */
cl_int tsl_cuda_make_build(struct tsl_cuda_member *member, const struct tsl_program_input *input,
                           struct tsl_cuda_made *made);
cl_int tsl_cuda_make_compile(struct tsl_cuda_member *member, const struct tsl_program_input *input,
                             const struct tsl_program_headers *headers, struct tsl_cuda_made *made);
cl_int tsl_cuda_make_link(struct tsl_cuda_member *member, const struct tsl_link_input *input,
                          enum tsl_cuda_image_kind kind, struct tsl_cuda_made *made);

#endif
