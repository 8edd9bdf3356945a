/* The Mandelbrot set: for each pixel the number of iterations until its point has left, at most a limit. */
#ifndef EXAMPLE_MANDELBROT_H
#define EXAMPLE_MANDELBROT_H

#include "example.h"

enum { PIXEL_GROUP = 16 };

static const char mandelbrot_source[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "kernel __attribute__((reqd_work_group_size(16, 16, 1)))\n"
    "void mandelbrot(global uint *to, int width, int height, int first_row, int limit, float left, float top,\n"
    "                float step)\n"
    "{\n"
    "  int x = get_global_id(0), y = get_global_id(1), n = 0;\n"
    "  if (x >= width || y >= height)\n"
    "    return;\n"
    "  float cx = left + step * x, cy = top + step * (first_row + y), zx = 0, zy = 0;\n"
    "  while (n < limit && zx * zx + zy * zy <= 4) {\n"
    "    float t = zx * zx - zy * zy + cx;\n"
    "    zy = 2 * zx * zy + cy;\n"
    "    zx = t;\n"
    "    n++;\n"
    "  }\n"
    "  to[y * width + x] = n;\n"
    "}\n";

/* A picture of a part of the plane. */
struct view {
    size_t width, height, limit;
    float left, top, step;
};

static inline struct view view_of(size_t width, size_t height, size_t limit, double left, double right, double top)
{
    return (struct view){width, height, limit, (float)left, (float)top, (float)((right - left) / (double)width)};
}

/* Picture i of n of a zoom by a thousand at a place where there is something to see. */
static inline struct view view_of_zoom(size_t width, size_t height, size_t limit, size_t i, size_t n)
{
    double half = 1.6 * pow(1e-3, (double)i / (double)(n > 1 ? n - 1 : 1)), x = -0.7436439, y = 0.1318259;
    return view_of(width, height, limit, x - half, x + half, y - half * (double)height / (double)width);
}

static inline cl_uint iterations_at(const struct view *v, size_t x, size_t y)
{
    float cx = v->left + v->step * (float)x, cy = v->top + v->step * (float)y, zx = 0, zy = 0;
    cl_uint n = 0;
    while (n < v->limit && zx * zx + zy * zy <= 4) {
        float t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = t;
        n++;
    }
    return n;
}

/* Rows [first, first + rows) of the view. */
static inline void set_view(cl_kernel kernel, cl_mem to, const struct view *v, size_t first, size_t rows)
{
    set_mem(kernel, 0, to);
    set_int(kernel, 1, v->width);
    set_int(kernel, 2, rows);
    set_int(kernel, 3, first);
    set_int(kernel, 4, v->limit);
    set_float(kernel, 5, v->left);
    set_float(kernel, 6, v->top);
    set_float(kernel, 7, v->step);
}

/* Compares some two thousand pixels with the host's. Devices may round differently, so that a few at the edge of the
 * set differ. */
static inline bool view_check(const struct view *v, const cl_uint *pixels)
{
    size_t n = v->width * v->height, step = n / 2000 + 1, n_checked = 0, n_different = 0;
    for (size_t i = 0; i < n; i += step, n_checked++)
        n_different += pixels[i] != iterations_at(v, i % v->width, i / v->width);
    return n_different * 50 <= n_checked;
}

/* From black over blue to white; the set itself is black. */
static inline void view_picture(const struct view *v, const cl_uint *pixels, const char *path)
{
    size_t thin = (v->width + 1023) / 1024, w = v->width / thin, h = v->height / thin;
    unsigned char *rgb = allocate(w * h, 3);
    for (size_t i = 0; i < w * h; i++) {
        cl_uint n = pixels[i / w * thin * v->width + i % w * thin];
        double t = n == v->limit ? 0 : fmod(log(1 + n) / 5, 1);
        rgb[3 * i] = (unsigned char)(255 * t * t);
        rgb[3 * i + 1] = (unsigned char)(255 * t);
        rgb[3 * i + 2] = (unsigned char)(n == v->limit ? 0 : 80 + 170 * t);
    }
    write_picture(path, w, h, 3, rgb);
    free(rgb);
}

#endif
