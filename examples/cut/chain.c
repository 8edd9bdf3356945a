/*
 * Chains of matrix products over several devices by hand. Either each has all four factors and whole chains,
 * distributed before it begins, consecutive ones or one after the other in turn; or each has its factors and all chains
 * pass through it, from device to device by the host. On each device transfers, products and the host overlap.
 */
#include "asynchronous/chain_pipeline.h"
#include "cut/devices.h"

static size_t size = 1024, count = 16;
static const char *how = "cyclic";

static const struct option_row options[] = {{"size", &size, NULL, "rows and columns, a multiple of 16"},
                                            {"chains", &count, NULL, "how many"},
                                            {"cut", NULL, &how, "block, cyclic, or factors"},
                                            {0}};

/* A device as a program for one device sees it, and the chains that it has had. */
struct device_side {
    struct example e;
    struct pipeline p;
    size_t n_chains;
    /* Where it has factors: the queue that takes results away, and when a result has arrived at the next device's
     * pinned memory. */
    cl_command_queue reads;
    cl_event moved[2];
};

struct device_sides {
    struct units units;
    struct device_side at[MAX_DEVICES];
};

static bool by_factors(void)
{
    return !strcmp(how, "factors");
}

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

/* ---- Factors ----------------------------------------------------------------------------------------------------- */

/* No more devices than factors have work. */
static unsigned n_stations(const struct device_sides *d)
{
    return d->units.n < STAGES ? d->units.n : STAGES;
}

/* The first factor of a device. */
static size_t first_of(const struct device_sides *d, unsigned u)
{
    return (u * (size_t)STAGES + n_stations(d) - 1) / n_stations(d);
}

/* Writes the result of the device before, which the host has, as bring() does A. */
static void bring_on(struct device_sides *d, struct chains *c, unsigned u, size_t side)
{
    struct pipeline *p = &d->at[u].p;
    must(clWaitForEvents(1, &d->at[u - 1].moved[side]), "clWaitForEvents");
    forget(&d->at[u - 1].moved[side]);
    forget(&p->written[side]);
    must(clEnqueueWriteBuffer(p->writes, p->steps[side][first_of(d, u)], CL_FALSE, 0, c->bytes, p->pinned[side].at,
                              p->used[side] ? 1 : 0, p->used[side] ? &p->used[side] : NULL, &p->written[side]),
         "clEnqueueWriteBuffer");
    must(clFlush(p->writes), "clFlush");
}

/* The next device's pinned memory may still be written from. */
static void hand_on(struct device_sides *d, const struct chains *c, unsigned u, size_t side)
{
    struct device_side *s = &d->at[u];
    struct pipeline *next = &d->at[u + 1].p;
    if (next->written[side])
        must(clWaitForEvents(1, &next->written[side]), "clWaitForEvents");
    must(clEnqueueReadBuffer(s->reads, s->p.steps[side][first_of(d, u + 1)], CL_FALSE, 0, c->bytes,
                             next->pinned[side].at, 1, &s->p.used[side], &s->moved[side]),
         "clEnqueueReadBuffer");
    must(clFlush(s->reads), "clFlush");
}

static void pass(struct device_sides *d, struct chains *c, unsigned u, size_t i)
{
    struct device_side *s = &d->at[u];
    struct pipeline *p = &s->p;
    const size_t side = i % 2, first = first_of(d, u), end = first_of(d, u + 1);
    if (u == 0)
        bring(p, c, i, i);
    else
        bring_on(d, c, u, side);
    forget(&p->used[side]);
    for (size_t f = first; f < end; f++) {
        set_product(p->product, p->steps[side][f], p->c[f], p->steps[side][f + 1], c->n);
        launch(s->e.queue, p->product, c->n, c->n, TILE, f == first ? p->written[side] : NULL,
               f + 1 == end ? &p->used[side] : NULL);
    }
    if (end == STAGES)
        norm(&s->e, p, c, side, i);
    must(clFlush(s->e.queue), "clFlush");
    if (end < STAGES)
        hand_on(d, c, u, side);
}

/* A device begins a chain two steps after the one before it: meanwhile the matrix moves. The last device goes first, so
 * that both sets of matrices of the one before it are free. */
static void run_factors(struct device_sides *d, struct chains *c)
{
    const unsigned n = n_stations(d);
    for (unsigned u = 0; u < n; u++)
        write_factors(&d->at[u].e, &d->at[u].p, c);
    for (size_t step = 0; step < count + 2 * (size_t)(n - 1); step++)
        for (unsigned u = n; u-- > 0;)
            if (step >= 2 * (size_t)u && step - 2 * (size_t)u < count)
                pass(d, c, u, step - 2 * (size_t)u);
    d->at[n - 1].n_chains = count;
    finish_units(&d->units);
}

/* ---- Whole chains ------------------------------------------------------------------------------------------------ */

/* Each device gets its first chain before one gets its second. */
static void run_chains(struct device_sides *d, struct chains *c)
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
        d->at[u].reads = second_queue(one);
    }
}

static void destroy(struct device_sides *d, const struct chains *c)
{
    for (unsigned u = 0; u < d->units.n; u++) {
        destroy_pipeline(&d->at[u].e, &d->at[u].p, c);
        clReleaseCommandQueue(d->at[u].reads);
    }
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
        by_factors() ? run_factors(&d, &c) : run_chains(&d, &c);
        report(&e, r, now() - begin, 0);
    }
    const struct device_side *last = by_factors() ? &d.at[n_stations(&d) - 1] : side_of(&d, count - 1);
    bool right = chains_check(&c, last->e.queue, last->p.steps[(last->n_chains - 1) % 2][STAGES]);
    destroy(&d, &c);
    chains_destroy(&c);
    return example_end(&e, right, "a row of the last product, and all norms");
}
