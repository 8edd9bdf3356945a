/* The Mandelbrot set in blocks of rows, distributed over several devices before it begins: consecutive blocks to each
 * device, or block by block in turn. */
#include "cut/devices.h"

static size_t width = 8192, height = 9648, limit = 1000, n_blocks = 32, n_pictures = 1;
static const char *how = "cyclic";

static const struct option_row options[] = {{"width", &width, NULL, "of the picture"},
                                            {"height", &height, NULL, "of the picture"},
                                            {"limit", &limit, NULL, "iterations at most"},
                                            {"blocks", &n_blocks, NULL, "blocks of rows"},
                                            {"pictures", &n_pictures, NULL, "more than one are a zoom"},
                                            {"cut", NULL, &how, "block or cyclic"},
                                            {0}};

static void run(struct units *units, const cl_mem *buffers, const struct view *v, cl_uint *pixels)
{
    for (size_t i = 0; i < n_blocks; i++) {
        const struct unit *u = unit_of(units, how, i, n_blocks);
        struct block b = block_of(v->height, i, n_blocks);
        set_view(u->kernel, buffers[i], v, b.first, b.rows);
        launch_part(u, v->width, b.rows, PIXEL_GROUP);
    }
    for (unsigned i = 0; i < units->n; i++)
        must(clFlush(units->at[i].queue), "clFlush");
    for (size_t i = 0; i < n_blocks; i++) {
        struct block b = block_of(v->height, i, n_blocks);
        read_part(unit_of(units, how, i, n_blocks), buffers[i], b.rows * v->width * sizeof(*pixels),
                  pixels + b.first * v->width);
    }
    finish_units(units);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "The Mandelbrot set in blocks of rows, over several devices by hand.",
                        .options = options,
                        .source = mandelbrot_source,
                        .several = true};
    struct view v = {0};
    struct units units;
    example_begin(&e, argc, argv);
    if (n_blocks > height)
        refuse("--blocks", "there are more blocks than rows");
    open_units(&e, &units, "mandelbrot");
    cl_uint *pixels = allocate(width * height, sizeof(*pixels));
    cl_mem *buffers = allocate(n_blocks, sizeof(*buffers));
    for (size_t i = 0; i < n_blocks; i++)
        buffers[i] = make_part(unit_of(&units, how, i, n_blocks), CL_MEM_WRITE_ONLY,
                               block_of(height, i, n_blocks).rows * width * sizeof(*pixels));
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        for (size_t p = 0; p < n_pictures; p++) {
            v = blocks_view(width, height, limit, p, n_pictures);
            run(&units, buffers, &v, pixels);
        }
        report(&e, r, now() - begin, 0);
    }
    bool right = view_check(&v, pixels);
    if (e.picture)
        view_picture(&v, pixels, e.picture);
    for (size_t i = 0; i < n_blocks; i++)
        clReleaseMemObject(buffers[i]);
    close_units(&units);
    free(buffers);
    free(pixels);
    return example_end(&e, right, "pixels of the last picture against the host");
}
