#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH  300.0
#define HEIGHT 220.0
#define TOP    40.0

/* One picture: both axes are logarithmic, from 1 and from `low` on. */
struct area {
    FILE *file;
    double left, most, low, high;
};

static double x_of(const struct area *a, double n)
{
    return a->left + WIDTH * (a->most > 1 ? log(n) / log(a->most) : 0);
}

static double y_of(const struct area *a, double value)
{
    double part = log(value / a->low) / log(a->high / a->low);

    return TOP + HEIGHT * (1 - fmin(fmax(part, 0), 1));
}

static void draw_axes(const struct area *a, const char *title)
{
    fprintf(a->file, "<text x='%.0f' y='%.0f' class='t'>%s</text>\n", a->left, TOP - 14, title);
    for (double n = 1; n <= a->most; n *= 2)
        fprintf(a->file, "<text x='%.1f' y='%.0f' text-anchor='middle'>%.0f</text>\n", x_of(a, n), TOP + HEIGHT + 16,
                n);
    for (double value = a->low; value <= a->high * 1.001; value *= 10)
        fprintf(a->file,
                "<line x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f' class='g'/>"
                "<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n",
                a->left, a->left + WIDTH, y_of(a, value), y_of(a, value), a->left - 6, y_of(a, value) + 4, value);
    fprintf(a->file, "<text x='%.1f' y='%.0f' text-anchor='middle'>members</text>\n", a->left + WIDTH / 2,
            TOP + HEIGHT + 32);
}

static double value_of(const struct plot_point *p, unsigned which)
{
    const double values[] = {p->placed_us, p->step_us, p->each_us, p->strong, p->weak * p->n, p->n};

    return values[which];
}

static void draw_line(const struct area *a, const struct plot *plot, unsigned which, const char *colour,
                      const char *name, double name_y)
{
    fprintf(a->file, "<polyline fill='none' stroke='%s' stroke-width='1.8' points='", colour);
    for (unsigned i = 0; i < plot->n; i++)
        fprintf(a->file, "%.1f,%.1f ", x_of(a, plot->points[i].n), y_of(a, value_of(&plot->points[i], which)));
    fprintf(a->file, "'/>\n<text x='%.0f' y='%.0f' fill='%s'>%s</text>\n", a->left + 10, TOP + name_y, colour, name);
}

void plot_add(struct plot *plot, const struct plot_point *point)
{
    if (plot->n < PLOT_MOST)
        plot->points[plot->n++] = *point;
}

bool plot_write(const struct plot *plot, const char *path, double step_us)
{
    FILE *file = fopen(path, "w");
    double most = plot->n ? plot->points[plot->n - 1].n : 1;
    struct area times = {file, 50, most, 0.1, 10000}, gain = {file, 430, most, 1, 1000};
    char title[96];

    if (!file) {
        fprintf(stderr, "many_nodes: %s can't be written: %s\n", path, strerror(errno));
        return false;
    }
    snprintf(title, sizeof(title), "steps of %g µs on one: times as fast", step_us);
    fprintf(file, "<svg xmlns='http://www.w3.org/2000/svg' width='760' height='310' font-family='sans-serif' "
                  "font-size='11'>\n<style>.g{stroke:#ccc}.t{font-size:13px}</style>\n"
                  "<rect width='760' height='310' fill='white'/>\n");
    draw_axes(&times, "the core's time for a launch, µs");
    draw_line(&times, plot, 1, "#b03030", "cut over all", 14);
    draw_line(&times, plot, 2, "#d08030", "… for each part", 28);
    draw_line(&times, plot, 0, "#3050b0", "placed on one", 42);
    draw_axes(&gain, title);
    draw_line(&gain, plot, 5, "#999999", "as many as there are", 14);
    draw_line(&gain, plot, 4, "#308040", "the work grows with them", 28);
    draw_line(&gain, plot, 3, "#b03030", "the work stays", 42);
    fprintf(file, "</svg>\n");
    return fclose(file) == 0;
}
