/*
 * Random kernels as OpenCL C text, and launches of them, for tests of footprints: indices that are affine, nested,
 * divided, wrapped or loaded from memory, guards, loops, early returns, barriers, aliases, structures, vectors and
 * images. No kernel leaves its buffers or overflows a signed integer, whatever the values in its buffers are.
 */
#ifndef TSL_TESTS_RANDOM_KERNEL_H
#define TSL_TESTS_RANDOM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANDOM_KERNEL_BYTES 16384u /* of each buffer, at least */
#define RANDOM_KERNEL_LOCAL 128u   /* ints of local memory */

/* Arguments: global T *a, global T *b, global const int *in, local int *t, and values. */
enum { RANDOM_A, RANDOM_B, RANDOM_IN, RANDOM_LOCAL, RANDOM_VALUES, RANDOM_ARGUMENTS = RANDOM_VALUES + 6 };

/* Behind these, of a kernel with images: read_only image2d_t ri (CL_RGBA, CL_UNSIGNED_INT8), write_only image2d_t wi
 * (CL_R, CL_UNSIGNED_INT32), read_write image2d_array_t xi (CL_RG, CL_SIGNED_INT16), write_only image3d_t vi (CL_RGBA,
 * CL_UNORM_INT8), and sampler_t sm, of unnormalized coordinates that don't leave the image. */
enum {
    RANDOM_IMAGES = RANDOM_ARGUMENTS,
    RANDOM_N_IMAGES = 4,
    RANDOM_SAMPLER = RANDOM_IMAGES + RANDOM_N_IMAGES,
    RANDOM_WITH_IMAGES
};

/* Columns, rows, slices. */
extern const unsigned random_image_sizes[RANDOM_N_IMAGES][3];

struct random_struct {
    int16_t x;
    int32_t y;
    int8_t z;
};

/* int n, m, w; uint u; long q; struct random_struct v. */
struct random_values {
    int32_t n, m, w;
    uint32_t u;
    int64_t q;
    struct random_struct v;
};

/* What every launch of a kernel keeps to. */
struct random_kernel {
    unsigned dims;
    unsigned most_items[3], most_local[3], most_offset[3];
    int32_t most_w;
};

struct random_launch {
    size_t offset[3], size[3], local[3];
    struct random_values values;
};

/* By chance, less than n. *state is not 0. */
unsigned random_kernel_chance(uint64_t *state, unsigned n);

/* What stands before all kernels of a program. */
extern const char random_kernel_head[];

/* Writes the text of a kernel of that name, at most size bytes with the NUL; the same for the same *state, which goes
 * on. */
void random_kernel_write(uint64_t *state, const char *name, struct random_kernel *kernel, char *text, size_t size);
/* The same with images. */
void random_kernel_write_images(uint64_t *state, const char *name, struct random_kernel *kernel, char *text,
                                size_t size);
void random_kernel_launch(uint64_t *state, const struct random_kernel *kernel, struct random_launch *launch);

#endif
