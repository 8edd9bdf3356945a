/*
 * The Mandelbrot set in blocks of rows: each is a launch into a buffer of its own, read back by a command of its own,
 * all in one queue.
 */
#include "problem/blocks.h"

static size_t width = 8192, height = 9648, limit = 1000, n_blocks = 32, n_pictures = 1;

static const struct option_row options[] = {{"width", &width, NULL, "of the picture"},
                                            {"height", &height, NULL, "of the picture"},
                                            {"limit", &limit, NULL, "iterations at most"},
                                            {"blocks", &n_blocks, NULL, "blocks of rows"},
                                            {"pictures", &n_pictures, NULL, "more than one are a zoom"},
                                            {0}};

static void run(const struct example *e, cl_kernel kernel, const cl_mem *buffers, const struct view *v, cl_uint *pixels)
{
    for (size_t i = 0; i < n_blocks; i++) {
        struct block b = block_of(v->height, i, n_blocks);
        set_view(kernel, buffers[i], v, b.first, b.rows);
        launch(e->queue, kernel, v->width, b.rows, PIXEL_GROUP, NULL, NULL);
    }
    for (size_t i = 0; i < n_blocks; i++) {
        struct block b = block_of(v->height, i, n_blocks);
        must(clEnqueueReadBuffer(e->queue, buffers[i], CL_FALSE, 0, b.rows * v->width * sizeof(*pixels),
                                 pixels + b.first * v->width, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    }
    finish(e->queue);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "The Mandelbrot set in blocks of rows of very unequal cost.",
                        .options = options,
                        .source = mandelbrot_source};
    struct view v = {0};
    example_begin(&e, argc, argv);
    if (n_blocks > height)
        refuse("--blocks", "there are more blocks than rows");
    cl_kernel kernel = make_kernel(e.program, "mandelbrot");
    cl_uint *pixels = allocate(width * height, sizeof(*pixels));
    cl_mem *buffers = allocate(n_blocks, sizeof(*buffers));
    for (size_t i = 0; i < n_blocks; i++)
        buffers[i] =
            make_buffer(e.context, CL_MEM_WRITE_ONLY, block_of(height, i, n_blocks).rows * width * sizeof(*pixels));
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        for (size_t p = 0; p < n_pictures; p++) {
            v = blocks_view(width, height, limit, p, n_pictures);
            run(&e, kernel, buffers, &v, pixels);
        }
        report(&e, r, now() - begin, 0);
    }
    bool right = view_check(&v, pixels);
    if (e.picture)
        view_picture(&v, pixels, e.picture);
    for (size_t i = 0; i < n_blocks; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(kernel);
    free(buffers);
    free(pixels);
    return example_end(&e, right, "pixels of the last picture against the host");
}
