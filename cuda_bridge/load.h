/* libcuda, loaded at run time. */
#ifndef TSL_CUDA_BRIDGE_LOAD_H
#define TSL_CUDA_BRIDGE_LOAD_H

#include "cuda_bridge/symbols.h"
#include "cuda_bridge/types.h"

#include <stdbool.h>

struct tsl_cuda_functions {
#define TSL_CUDA_FIELD(name, parameters) CUresult(*name) parameters;
    TSL_CUDA_SYMBOLS(TSL_CUDA_FIELD) TSL_CUDA_GRAPH_SYMBOLS(TSL_CUDA_FIELD)
#undef TSL_CUDA_FIELD
};

/* Valid after a tsl_cuda_load() that returned TSL_CUDA_THERE; never changed afterwards, never unloaded. */
extern struct tsl_cuda_functions tsl_cu;
extern bool tsl_cu_graphs; /* the functions for graphs are there as well */

enum tsl_cuda_load {
    TSL_CUDA_THERE,
    TSL_CUDA_ABSENT, /* there is no such library where the loader looks */
    TSL_CUDA_BROKEN, /* there is one, but it can't be used */
};

/*
 * Loads `name` (NULL: NVIDIA's, libcuda.so.1) and looks up all functions; calls none. *why: for ABSENT and BROKEN a
 * sentence (heap, the caller frees; NULL without memory). Called once, by the probe.
 */
enum tsl_cuda_load tsl_cuda_load(const char *name, char **why);

#endif
