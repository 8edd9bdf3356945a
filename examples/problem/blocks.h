/* The Mandelbrot set in blocks of rows of very unequal cost: only the upper half of the picture is dear. */
#ifndef EXAMPLE_BLOCKS_H
#define EXAMPLE_BLOCKS_H

#include "problem/mandelbrot.h"

struct block {
    size_t first, rows;
};

/* Block i of n: all rows are in one. */
static inline struct block block_of(size_t rows, size_t i, size_t n)
{
    size_t first = rows * i / n;
    return (struct block){first, rows * (i + 1) / n - first};
}

/* One picture shows the set and, below, nothing; several are a zoom. */
static inline struct view blocks_view(size_t width, size_t height, size_t limit, size_t picture, size_t n_pictures)
{
    if (n_pictures > 1)
        return view_of_zoom(width, height, limit, picture, n_pictures);
    struct view v = view_of(width, height, limit, -2.0, 0.6, -0.6);
    v.step = fminf(v.step, 2.4f / (float)height);
    return v;
}

#endif
