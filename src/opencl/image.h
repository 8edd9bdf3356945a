/* image.c: images. */
#ifndef TSL_OPENCL_IMAGE_H
#define TSL_OPENCL_IMAGE_H

#include "opencl/submit.h"

/* Tries whether the vendor makes an image of a buffer such as ours (rusticl, Mesa 22.3, makes none of the host's
 * memory), and of a part of one (PoCL 3.1 makes none). The caller entered the device. */
void tsl_opencl_try_views(struct tsl_opencl_member *m);
/* Without images the device is said to have none. */
bool tsl_opencl_has_images(const struct tsl_opencl_device *device);
/* A copy, one side of which at least is an image; a fill of one: between tsl_opencl_begin and end. */
cl_int tsl_opencl_copy_image(const struct tsl_opencl_submit *s, const struct tsl_copy *copy);
cl_int tsl_opencl_fill_image(const struct tsl_opencl_submit *s, const struct tsl_fill *fill);

#endif
