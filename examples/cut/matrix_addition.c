/* The sum of two matrices as one launch on each of several devices, by weights. */
#include "cut/matrix_parts.h"

static size_t size = 8192;
static const char *weights = "";

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns"}, {"weights", NULL, &weights, "each device's, N,N...; else equal"}, {0}};

int main(int argc, char **argv)
{
    struct example e = {.about = "The sum of two matrices as one launch on each of several devices.",
                        .options = options,
                        .source = add_source,
                        .several = true};
    struct units units;
    struct matrix_parts parts;
    struct rows m;
    example_begin(&e, argc, argv);
    open_units(&e, &units, "add");
    divide(&units, size, TILE, weights);
    rows_create(&m, size, size, size);
    parts_create(&parts, &units, &m, false);
    for (unsigned i = 0; i < units.n; i++) {
        set_int(units.at[i].kernel, 3, units.at[i].rows.rows);
        set_int(units.at[i].kernel, 4, size);
    }
    parts_run(&e, &parts, &units, &m, false);
    bool right = rows_check_sum(&m);
    parts_destroy(&parts, &units);
    close_units(&units);
    rows_destroy(&m);
    return example_end(&e, right, "all elements");
}
