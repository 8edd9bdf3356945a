/*
 * Chains of matrix products for one device, overlapped by hand: writes in a queue of their own, events, two pinned
 * buffers and two sets of matrices in turn. While the device multiplies, the host makes the next matrix.
 */
#include "asynchronous/chain_pipeline.h"

static size_t size = 1024, count = 16;

static const struct option_row options[] = {
    {"size", &size, NULL, "rows and columns, a multiple of 16"}, {"chains", &count, NULL, "how many"}, {0}};

static void run(const struct example *e, struct pipeline *p, struct chains *c)
{
    write_factors(e, p, c);
    for (size_t i = 0; i < c->count; i++) {
        bring(p, c, i, i);
        compute(e, p, c, i, i);
    }
    finish(e->queue);
}

int main(int argc, char **argv)
{
    struct example e = {.about = "Chains of four matrix products and the norms of their results.\n"
                                 "Overlapped by hand: two queues, events, pinned buffers.",
                        .options = options,
                        .source = chain_source};
    struct chains c;
    struct pipeline p;
    example_begin(&e, argc, argv);
    chains_create(&c, size, count);
    create_pipeline(&e, &p, &c);
    for (size_t r = 0; again(&e, r); r++) {
        double begin = now();
        run(&e, &p, &c);
        report(&e, r, now() - begin, 0);
    }
    bool right = chains_check(&c, e.queue, p.steps[(count - 1) % 2][STAGES]);
    destroy_pipeline(&e, &p, &c);
    chains_destroy(&c);
    return example_end(&e, right, "a row of the last product, and all norms");
}
