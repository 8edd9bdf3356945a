/* The product of two square matrices as one launch on each of several devices, by weights. */
#include "cut/matrix_parts.h"

static size_t size = 4096;
static const char *weights = "";

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns, a multiple of 16"},
                                            {"weights", NULL, &weights, "each device's, N,N...; else equal"},
                                            {0}};

int main(int argc, char **argv)
{
    struct example e = {.about = "The product of two matrices as one launch on each of several devices.",
                        .options = options,
                        .source = PRODUCT_SOURCE,
                        .several = true};
    struct units units;
    struct matrix_parts parts;
    struct rows m;
    example_begin(&e, argc, argv);
    check_tiles(size);
    open_units(&e, &units, "product");
    divide(&units, size, TILE, weights);
    rows_create(&m, size, size, size);
    parts_create(&parts, &units, &m, true);
    for (unsigned i = 0; i < units.n; i++)
        set_int(units.at[i].kernel, 3, size);
    parts_run(&e, &parts, &units, &m, true);
    bool right = rows_check_product(&m);
    parts_destroy(&parts, &units);
    close_units(&units);
    rows_destroy(&m);
    return example_end(&e, right, "elements of the product against the host");
}
