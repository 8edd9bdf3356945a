/* image.cl uses the first two to see an image's pointer, and a sampler's number in the place of a pointer. Clang makes
 * samplers from literals by the third. */
#include "common.h"

const __global void *look(const __global void *image) __asm__("__tsl_image_look");
uint bits(const __constant void *sampler) __asm__("__tsl_sampler_bits");
const __constant void *literal(uint bits) __asm__("__translate_sampler_initializer");

const __global void *look(const __global void *image)
{
    return image;
}

uint bits(const __constant void *sampler)
{
    return (uint)(ulong)sampler;
}

const __constant void *literal(uint bits)
{
    return (const __constant void *)(ulong)bits;
}
