/*
 * Chains of matrix products over several devices by hand: each has all four factors and whole chains, distributed
 * before it begins, consecutive ones or one after the other in turn. On each device writes, products and the host
 * overlap.
 */
#include "asynchronous/chain_pipeline.h"
#include "cut/devices.h"

static size_t size = 1024, count = 16;
static const char *how = "cyclic";

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns, a multiple of 16"},
                                            {"chains", &count, NULL, "how many"},
                                            {"cut", NULL, &how, "block or cyclic"},
                                            {0}};

/* A device as a program for one device sees it, and the chains that it has had. */
struct device_side {
    struct example e;
    struct pipeline p;
    size_t n_chains;
};

struct device_sides {
    struct units units;
    struct device_side at[MAX_DEVICES];
};

static struct device_side *side_of(struct device_sides *d, size_t i)
{
    return &d->at[unit_of(&d->units, how, i, count) - d->units.at];
}

/* Chain k of device u, if it has so many. */
static size_t chain_of(const struct device_sides *d, unsigned u, size_t k)
{
    size_t n = d->units.n;
    return !strcmp(how, "block") ? (u * count + n - 1) / n + k : k * n + u;
}

static void enqueue_chain(struct device_side *side, struct chains *c, size_t i)
{
    bring(&side->p, c, side->n_chains, i);
    compute(&side->e, &side->p, c, side->n_chains, i);
    side->n_chains++;
}

/* Each device gets its first chain before one gets its second. */
static void run(struct device_sides *d, struct chains *c)
{
    for (unsigned u = 0; u < d->units.n; u++) {
        d->at[u].n_chains = 0;
        write_factors(&d->at[u].e, &d->at[u].p, c);
    }
    for (size_t k = 0; k * d->units.n < count; k++)
        for (unsigned u = 0; u < d->units.n; u++) {
            size_t i = chain_of(d, u, k);
            if (i < count && side_of(d, i) == &d->at[u])
                enqueue_chain(&d->at[u], c, i);
        }
    finish_units(&d->units);
}

static void create(const struct example *e, struct device_sides *d, const struct chains *c)
{
    open_units(e, &d->units, "product");
    for (unsigned u = 0; u < d->units.n; u++) {
        const struct unit *unit = &d->units.at[u];
        struct example *one = &d->at[u].e;
        *one = *e;
        one->device = unit->device;
        one->context = unit->context;
        one->queue = unit->queue;
        one->program = unit->program;
        create_pipeline(one, &d->at[u].p, c);
    }
}

static void destroy(struct device_sides *d, const struct chains *c)
{
    for (unsigned u = 0; u < d->units.n; u++)
        destroy_pipeline(&d->at[u].e, &d->at[u].p, c);
    close_units(&d->units);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Chains of four matrix products and the norms of their results, over several devices\n"
                                 "by hand.",
                        .options = options,
                        .source = chain_source,
                        .several = true};
    static struct device_sides d;
    struct chains c;
    example_begin(&e, argc, argv);
    chains_create(&c, size, count);
    create(&e, &d, &c);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&d, &c);
        report(&e, r, now() - begin, 0);
    }
    const struct device_side *last = side_of(&d, count - 1);
    bool right = chains_check(&c, last->e.queue, last->p.steps[(last->n_chains - 1) % 2][STAGES]);
    destroy(&d, &c);
    chains_destroy(&c);
    return example_end(&e, right, "a row of the last product, and all norms");
}
