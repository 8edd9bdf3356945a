/* texture.c: texture objects, by which kernels read images (compile_client/ptx.h). */
#ifndef TSL_CUDA_BRIDGE_TEXTURE_H
#define TSL_CUDA_BRIDGE_TEXTURE_H

#include "cuda_bridge/internal.h"

/* Makes one for an image whose pixels lie at mem->address, in mem->texture and in the description, and where it can,
 * and TESELA_FILTER lets it, another that mixes pixels for linear samplers (mem->filter). Where there can't be one,
 * because of the format, pitches or sizes, both stay as they are: kernels then read by loads, and mix what they read.
 * Entered. */
void tsl_cuda_texture_make(struct tsl_cuda_mem *mem, const struct tsl_image_desc *desc, struct tsl_kc_image *image);

/* No launch that reads by it is under way. 0 allowed. Entered. */
void tsl_cuda_texture_free(CUtexObject texture);

#endif
