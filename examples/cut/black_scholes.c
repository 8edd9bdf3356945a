/* Prices of options on several devices, by weights: one launch on each, or many on the same part. */
#include "cut/devices.h"
#include "problem/prices.h"

static size_t size = 4 << 20, n_launches = 1;
static const char *weights = "";

static const struct option_row options[] = {{"size", &size, NULL, "options"},
                                            {"launches", &n_launches, NULL, "launches on the same array"},
                                            {"weights", NULL, &weights, "each device's, N,N...; else equal"},
                                            {0}};

struct part {
    cl_mem in, call, put;
};

static void run(const struct example *e, const struct units *units, const struct part *parts, struct prices *p,
                size_t repetition)
{
    double begin = now();
    for (unsigned i = 0; i < units->n; i++)
        write_part(&units->at[i], parts[i].in, units->at[i].rows.rows * sizeof(float), p->in + units->at[i].rows.first);
    finish_units(units);
    double written = now();
    for (unsigned i = 0; i < units->n; i++)
        for (size_t k = 0; k < n_launches && units->at[i].rows.rows; k++)
            launch_prices(units->at[i].queue, units->at[i].kernel, units->at[i].rows.rows);
    finish_units(units);
    double computed = now();
    for (unsigned i = 0; i < units->n; i++) {
        struct block rows = units->at[i].rows;
        read_part(&units->at[i], parts[i].call, rows.rows * sizeof(float), p->call + rows.first);
        read_part(&units->at[i], parts[i].put, rows.rows * sizeof(float), p->put + rows.first);
    }
    finish_units(units);
    report(e, repetition, now() - begin, computed - written);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Prices of options by the formula of Black and Scholes, on several devices.",
                        .options = options,
                        .source = prices_source,
                        .several = true};
    struct units units;
    struct part parts[MAX_DEVICES];
    struct prices p;
    example_begin(&e, argc, argv);
    open_units(&e, &units, "prices");
    divide(&units, size, PRICE_GROUP, weights);
    prices_create(&p, size);
    for (unsigned i = 0; i < units.n; i++) {
        size_t bytes = units.at[i].rows.rows * sizeof(float);
        parts[i] = (struct part){make_part(&units.at[i], CL_MEM_READ_ONLY, bytes),
                                 make_part(&units.at[i], CL_MEM_WRITE_ONLY, bytes),
                                 make_part(&units.at[i], CL_MEM_WRITE_ONLY, bytes)};
        set_prices(units.at[i].kernel, parts[i].in, parts[i].call, parts[i].put, units.at[i].rows.rows);
    }
    for (size_t r = 0; again(&e, r); r++)
        run(&e, &units, parts, &p, r);
    bool right = prices_check(&p);
    for (unsigned i = 0; i < units.n; i++) {
        clReleaseMemObject(parts[i].in);
        clReleaseMemObject(parts[i].call);
        clReleaseMemObject(parts[i].put);
    }
    close_units(&units);
    prices_destroy(&p);
    return example_end(&e, right, "some thousand prices against the host");
}
