/* From source to an image: the kernel compiler's part. */
#include "cuda_bridge/internal.h"

#include <string.h>

bool tsl_cuda_compiles(void)
{
    return false;
}

cl_int tsl_cuda_compile_source(struct tsl_cuda_member *member, const struct tsl_program_input *input, void **image,
                               size_t *size, char **log)
{
    (void)member, (void)input, (void)image, (void)size;
    *log =
        strdup("this version has no compiler for NVIDIA GPUs by CUDA; their OpenCL compiles (TESELA_MEMBERS=opencl)");
    return CL_COMPILER_NOT_AVAILABLE;
}
