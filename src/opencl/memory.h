/* memory.c: buffers. */
#ifndef TSL_OPENCL_MEMORY_H
#define TSL_OPENCL_MEMORY_H

#include "opencl/internal.h"

/* Without anything of the vendor's yet; NULL without memory. */
struct tsl_opencl_mem *tsl_opencl_new_mem(struct tsl_member *member, size_t size);

#endif
