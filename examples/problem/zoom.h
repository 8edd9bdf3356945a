/* A zoom into the Mandelbrot set, picture by picture; work on the host counts and stores each. */
#ifndef EXAMPLE_ZOOM_H
#define EXAMPLE_ZOOM_H

#include "problem/mandelbrot.h"

struct zoom {
    size_t n, bytes; /* of a picture */
    struct picture_of {
        struct zoom *zoom;
        struct view view;
        size_t n_inside;
    } * pictures;
    cl_uint *stored; /* the last picture */
};

static inline void zoom_create(struct zoom *z, size_t n, size_t width, size_t height, size_t limit)
{
    *z = (struct zoom){.n = n, .bytes = width * height * sizeof(cl_uint)};
    z->pictures = allocate(n, sizeof(*z->pictures));
    z->stored = allocate(width * height, sizeof(cl_uint));
    for (size_t i = 0; i < n; i++)
        z->pictures[i] = (struct picture_of){z, view_of_zoom(width, height, limit, i, n), 0};
}

static inline void zoom_destroy(struct zoom *z)
{
    free(z->pictures);
    free(z->stored);
}

/* Work on the host for each picture. */
static inline void count_and_store(void *memory, void *argument)
{
    const cl_uint *pixels = memory;
    struct picture_of *p = argument;
    size_t n = p->view.width * p->view.height, inside = 0;
    for (size_t i = 0; i < n; i++)
        inside += pixels[i] == p->view.limit;
    p->n_inside = inside;
    memcpy(p->zoom->stored, pixels, n * sizeof(*pixels));
}

static inline bool zoom_check(const struct zoom *z, const char *picture)
{
    const struct picture_of *last = &z->pictures[z->n - 1];
    size_t n = last->view.width * last->view.height, inside = 0;
    for (size_t i = 0; i < n; i++)
        inside += z->stored[i] == last->view.limit;
    if (picture)
        view_picture(&last->view, z->stored, picture);
    return inside == last->n_inside && view_check(&last->view, z->stored);
}

#endif
