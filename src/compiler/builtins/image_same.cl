/* What image.cl calls to see what an image and a sampler are: the pointer, and the number in a pointer's place. Clang
 * makes samplers of literals by the third. */
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
