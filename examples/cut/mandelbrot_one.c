/* The Mandelbrot set as one launch on each of several devices, by weights. */
#include "cut/devices.h"

static size_t size = 2048, limit = 60000;
static const char *weights = "";

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns"},
                                            {"limit", &limit, NULL, "iterations at most"},
                                            {"weights", NULL, &weights, "each device's, N,N...; else equal"},
                                            {0}};

int main(int argc, char **argv)
{
    struct example e = {.about = "The Mandelbrot set as one launch on each of several devices.",
                        .options = options,
                        .source = mandelbrot_source,
                        .several = true};
    struct units units;
    cl_mem parts[MAX_DEVICES];
    example_begin(&e, argc, argv);
    struct view v = view_of(size, size, limit, -1.4748333, -0.9748333, -0.1791667);
    open_units(&e, &units, "mandelbrot");
    divide(&units, size, PIXEL_GROUP, weights);
    cl_uint *pixels = allocate(size * size, sizeof(*pixels));
    for (unsigned i = 0; i < units.n; i++)
        parts[i] = make_part(&units.at[i], CL_MEM_WRITE_ONLY, units.at[i].rows.rows * size * sizeof(*pixels));
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        for (unsigned i = 0; i < units.n; i++) {
            const struct unit *u = &units.at[i];
            set_view(u->kernel, parts[i], &v, u->rows.first, u->rows.rows);
            launch_part(u, size, u->rows.rows, PIXEL_GROUP);
        }
        finish_units(&units);
        double computed = now();
        for (unsigned i = 0; i < units.n; i++)
            read_part(&units.at[i], parts[i], units.at[i].rows.rows * size * sizeof(*pixels),
                      pixels + units.at[i].rows.first * size);
        finish_units(&units);
        report(&e, r, now() - begin, computed - begin);
    }
    bool right = view_check(&v, pixels);
    if (e.picture)
        view_picture(&v, pixels, e.picture);
    for (unsigned i = 0; i < units.n; i++)
        clReleaseMemObject(parts[i]);
    close_units(&units);
    free(pixels);
    return example_end(&e, right, "pixels against the host");
}
