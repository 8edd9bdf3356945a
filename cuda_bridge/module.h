/*
 * module.c: PTX that CUDA has loaded into a member's context. The same PTX is loaded once for each program that runs
 * it, because each has its own variables; whoever only asks for what CUDA knows of its kernels shares one of those.
 */
#ifndef TSL_CUDA_BRIDGE_MODULE_H
#define TSL_CUDA_BRIDGE_MODULE_H

#include "cuda_bridge/image.h"
#include "cuda_bridge/internal.h"

struct tsl_cuda_module; /* counted */

/* Loads the image, or waits for a thread that does. runs: for a program that will run its kernels. On error *log (heap)
 * is what CUDA said, or NULL. Not entered. Blocks. */
cl_int tsl_cuda_module_get(struct tsl_cuda_member *member, const struct tsl_cuda_image *image, bool runs,
                           struct tsl_cuda_module **module, char **log);
struct tsl_cuda_module *tsl_cuda_module_ref(struct tsl_cuda_module *module);
void tsl_cuda_module_put(struct tsl_cuda_module *module); /* NULL allowed */

/* What CUDA knows of a kernel. */
struct tsl_cuda_about {
    CUfunction function, by_textures; /* by_textures: of its twin (compile_client/ptx.h), or NULL */
    int max_threads, shared_size, local_size;
};

/* What serves both it and its twin is told. twin: its name, or NULL where there is none.
 * Entered, in the context of the module's member. Asking also loads the function, so that no launch has to: CUDA may
 * wait for the device then. */
CUresult tsl_cuda_module_ask(const struct tsl_cuda_module *module, const char *name, const char *twin,
                             struct tsl_cuda_about *about);

struct tsl_cuda_member *tsl_cuda_module_member(const struct tsl_cuda_module *module);

#endif
