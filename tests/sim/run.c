/* One seed from its beginning to its end. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

static char *report(const struct sim *sim)
{
    char *text;

    if (!sim->failure)
        return NULL;
    if (asprintf(&text, "%sseed %llu, %u steps: %s", sim->story, (unsigned long long)sim->options.seed,
                 sim->options.n_steps, sim->failure) < 0)
        abort();
    return text;
}

char *sim_run(const struct sim_options *options)
{
    struct sim *sim = calloc(1, sizeof *sim);
    char *text;

    if (!sim || !(sim->nodes = calloc(SIM_MAX_NODES, sizeof *sim->nodes)))
        abort();
    sim->options = *options;
    sim->random = options->seed;
    sim_tell(sim, "# seed %llu, %u steps", (unsigned long long)options->seed, options->n_steps);
    sim_world_begin(sim);
    sim_program_run(sim);
    if (!sim->failure)
        sim_judge(sim);
    sim_world_end(sim);
    text = report(sim);
    for (unsigned i = 0; i < sim->n_nodes; i++)
        free(sim->nodes[i].seen);
    free(sim->nodes);
    free(sim->failure);
    free(sim->story);
    free(sim);
    return text;
}
