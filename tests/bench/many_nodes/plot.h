/* Two pictures beside each other, as SVG: what the core takes by the number of members, and what steps scale to. */
#ifndef TSL_TESTS_MANY_NODES_PLOT_H
#define TSL_TESTS_MANY_NODES_PLOT_H

#include <stdbool.h>

struct plot_point {
    unsigned n;
    double placed_us, step_us, each_us, strong, weak; /* strong: times as fast as one; weak: of 1 */
};

#define PLOT_MOST 16

struct plot {
    unsigned n;
    struct plot_point points[PLOT_MOST];
};

void plot_add(struct plot *plot, const struct plot_point *point);
/* False, with a sentence: the file can't be written. */
bool plot_write(const struct plot *plot, const char *path, double step_us);

#endif
