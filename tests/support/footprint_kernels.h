/*
 * Footprints of kernels that everybody knows, as a compiler would say them: ids cut to int, guards by scalars.
 */
#ifndef TSL_TESTS_FOOTPRINT_KERNELS_H
#define TSL_TESTS_FOOTPRINT_KERNELS_H

#include "footprint_bed.h"

/* (int)get_global_id(d) */
static inline uint32_t kernel_id(struct bed *bed, unsigned d)
{
    return bed_as(bed, TSL_NODE_TRUNC, 32, bed_leaf(bed, TSL_NODE_GLOBAL_ID, d));
}

/* get_group_id(d) * size + get_local_id(d), as int */
static inline uint32_t kernel_tiled_id(struct bed *bed, unsigned d, int64_t size)
{
    uint32_t group = bed_as(bed, TSL_NODE_TRUNC, 32, bed_leaf(bed, TSL_NODE_GROUP_ID, d));

    return bed_two(bed, TSL_NODE_ADD, bed_two(bed, TSL_NODE_MUL, group, bed_constant(bed, 32, size)),
                   bed_as(bed, TSL_NODE_TRUNC, 32, bed_leaf(bed, TSL_NODE_LOCAL_ID, d)));
}

/* Bytes of element `index`, an int, of so many bytes each. */
static inline uint32_t kernel_at(struct bed *bed, uint32_t index, int64_t size)
{
    return bed_two(bed, TSL_NODE_MUL, bed_as(bed, TSL_NODE_SEXT, 64, index), bed_constant(bed, 64, size));
}

static inline uint32_t kernel_add(struct bed *bed, uint32_t a, int64_t constant)
{
    return bed_two(bed, TSL_NODE_ADD, a, bed_constant(bed, bed->nodes[a].bits, constant));
}

/* row * pitch + column */
static inline uint32_t kernel_index(struct bed *bed, uint32_t row, uint32_t pitch, uint32_t column)
{
    return bed_two(bed, TSL_NODE_ADD, bed_two(bed, TSL_NODE_MUL, row, pitch), column);
}

static inline void kernel_guard(struct bed *bed, struct tsl_access *access, uint8_t op, uint32_t a, uint32_t b)
{
    access->guards[access->n_guards++] = bed_two(bed, op, a, b);
}

/* c[i] = a[i] + b[i] where i < n: arguments a, b, c, n. */
static inline void kernel_vector_add(struct bed *bed)
{
    uint32_t i, address;

    bed_begin(bed, 4);
    i = kernel_id(bed, 0);
    address = kernel_at(bed, i, 4);
    for (uint32_t argument = 0; argument < 3; argument++)
        kernel_guard(bed, bed_access(bed, argument, argument == 2 ? TSL_ACCESS_WRITE : TSL_ACCESS_READ, 4, address),
                     TSL_NODE_SLT, i, bed_scalar(bed, 32, 3, 0));
}

/* out[y][x] of in's five points, within the edges: arguments in, out, width, height. */
static inline void kernel_stencil(struct bed *bed)
{
    static const int at[6][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}, {0, 0}};
    uint32_t x, y, width, height;

    bed_begin(bed, 4);
    x = kernel_id(bed, 0);
    y = kernel_id(bed, 1);
    width = bed_scalar(bed, 32, 2, 0);
    height = bed_scalar(bed, 32, 3, 0);
    for (unsigned i = 0; i < 6; i++) {
        uint32_t row = kernel_add(bed, y, at[i][1]), column = kernel_add(bed, x, at[i][0]);
        uint32_t address = kernel_at(bed, kernel_index(bed, row, width, column), 4);
        struct tsl_access *access = bed_access(bed, i == 5, i == 5 ? TSL_ACCESS_WRITE : TSL_ACCESS_READ, 4, address);

        kernel_guard(bed, access, TSL_NODE_SLT, bed_constant(bed, 32, 0), x);
        kernel_guard(bed, access, TSL_NODE_SLT, x, kernel_add(bed, width, -1));
        kernel_guard(bed, access, TSL_NODE_SLT, bed_constant(bed, 32, 0), y);
        kernel_guard(bed, access, TSL_NODE_SLT, y, kernel_add(bed, height, -1));
    }
}

/* c = a * b of n * n, in tiles of 16 * 16 through local memory: arguments a, b, c, n. */
static inline void kernel_product(struct bed *bed)
{
    uint32_t row, column, n, x, y, tile, loop;
    struct tsl_access *access;

    bed_begin(bed, 4);
    row = kernel_tiled_id(bed, 1, 16);
    column = kernel_tiled_id(bed, 0, 16);
    x = bed_as(bed, TSL_NODE_TRUNC, 32, bed_leaf(bed, TSL_NODE_LOCAL_ID, 0));
    y = bed_as(bed, TSL_NODE_TRUNC, 32, bed_leaf(bed, TSL_NODE_LOCAL_ID, 1));
    n = bed_scalar(bed, 32, 3, 0);
    loop =
        bed_loop(bed, bed_as(bed, TSL_NODE_ZEXT, 64, bed_two(bed, TSL_NODE_UDIV, n, bed_constant(bed, 32, 16))), true);
    tile = bed_two(bed, TSL_NODE_MUL, bed_as(bed, TSL_NODE_TRUNC, 32, bed_leaf(bed, TSL_NODE_COUNTER, loop)),
                   bed_constant(bed, 32, 16));
    access = bed_access(bed, 0, TSL_ACCESS_READ, 4,
                        kernel_at(bed, kernel_index(bed, row, n, bed_two(bed, TSL_NODE_ADD, tile, x)), 4));
    access->n_loops = 1;
    access->loops[0] = loop;
    access = bed_access(bed, 1, TSL_ACCESS_READ, 4,
                        kernel_at(bed, kernel_index(bed, bed_two(bed, TSL_NODE_ADD, tile, y), n, column), 4));
    access->n_loops = 1;
    access->loops[0] = loop;
    bed_access(bed, 2, TSL_ACCESS_WRITE, 4, kernel_at(bed, kernel_index(bed, row, n, column), 4));
}

/* for (i = gid; i < n; i += global size) y[i] += a * x[i]: arguments x, y, n. */
static inline void kernel_grid_stride(struct bed *bed)
{
    uint32_t gid, step, n, i, loop, count;

    bed_begin(bed, 3);
    gid = bed_leaf(bed, TSL_NODE_GLOBAL_ID, 0);
    step = bed_leaf(bed, TSL_NODE_GLOBAL_SIZE, 0);
    n = bed_as(bed, TSL_NODE_SEXT, 64, bed_scalar(bed, 32, 2, 0));
    /* As LLVM counts: (max(n, gid + step) - gid - 1) / step, where gid < n. */
    count = bed_two(bed, TSL_NODE_SUB, bed_two(bed, TSL_NODE_SMAX, n, bed_two(bed, TSL_NODE_ADD, gid, step)), gid);
    count = bed_two(bed, TSL_NODE_UDIV, kernel_add(bed, count, -1), step);
    loop = bed_loop(bed, count, true);
    i = bed_two(bed, TSL_NODE_ADD, gid, bed_two(bed, TSL_NODE_MUL, bed_leaf(bed, TSL_NODE_COUNTER, loop), step));
    for (unsigned access = 0; access < 3; access++) {
        struct tsl_access *made = bed_access(bed, access > 0, access == 2 ? TSL_ACCESS_WRITE : TSL_ACCESS_READ, 4,
                                             bed_two(bed, TSL_NODE_MUL, i, bed_constant(bed, 64, 4)));

        kernel_guard(bed, made, TSL_NODE_SLT, gid, n);
        made->n_loops = 1;
        made->loops[0] = loop;
    }
}

#endif
