/* The Mandelbrot set as one launch, at a place where points take very long. */
#include "problem/mandelbrot.h"

static size_t size = 2048, limit = 60000;

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns"}, {"limit", &limit, NULL, "iterations at most"}, {0}};

int main(int argc, char **argv)
{
    struct example e = {.about = "The Mandelbrot set as one launch.", .options = options, .source = mandelbrot_source};
    example_begin(&e, argc, argv);
    struct view v = view_of(size, size, limit, -1.4748333, -0.9748333, -0.1791667);
    cl_kernel kernel = make_kernel(e.program, "mandelbrot");
    cl_mem buffer = make_buffer(e.context, CL_MEM_WRITE_ONLY, size * size * sizeof(cl_uint));
    cl_uint *pixels = allocate(size * size, sizeof(*pixels));
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        set_view(kernel, buffer, &v, 0, size);
        launch(e.queue, kernel, size, size, PIXEL_GROUP, NULL, NULL);
        finish(e.queue);
        double computed = now();
        read_now(e.queue, buffer, 0, size * size * sizeof(*pixels), pixels);
        report(&e, r, now() - begin, computed - begin);
    }
    bool right = view_check(&v, pixels);
    if (e.picture)
        view_picture(&v, pixels, e.picture);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    free(pixels);
    return example_end(&e, right, "pixels against the host");
}
