/* One seed from its beginning to its end. */
#include "sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROGRAMS 8

static struct sim *create(const struct sim_options *options, unsigned i)
{
    struct sim *sim = calloc(1, sizeof *sim);

    if (!sim || !(sim->nodes = calloc(SIM_MAX_NODES, sizeof *sim->nodes)))
        abort();
    sim->options = *options;
    sim->random = options->seed + 1000003 * i;
    return sim;
}

/* What went wrong with one program; nothing is left of it. */
static char *destroy(struct sim *sim)
{
    char *text = NULL;

    if (sim->failure && asprintf(&text, "%sseed %llu, %u steps: %s", sim->story, (unsigned long long)sim->options.seed,
                                 sim->options.n_steps, sim->failure) < 0)
        abort();
    for (unsigned i = 0; i < sim->n_nodes; i++)
        free(sim->nodes[i].seen);
    free(sim->nodes);
    free(sim->failure);
    free(sim->story);
    free(sim);
    return text;
}

static void *run_program(void *arg)
{
    struct sim *sim = arg;

    sim_things_begin(sim);
    sim_program_run(sim);
    sim_things_end(sim);
    return NULL;
}

/* The other programs of a run live in the first one's context. */
static void join(struct sim *sim, const struct sim *first)
{
    sim->setup = first->setup;
    sim->context = first->context;
    sim->program = first->program;
    sim_tell(sim, "# one of several programs of seed %llu", (unsigned long long)sim->options.seed);
}

static void run_all(struct sim **sims, unsigned n)
{
    pthread_t threads[MAX_PROGRAMS];

    for (unsigned i = 1; i < n; i++)
        if (pthread_create(&threads[i], NULL, run_program, sims[i]))
            abort();
    run_program(sims[0]);
    for (unsigned i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
}

char *sim_run(const struct sim_options *options)
{
    struct sim *sims[MAX_PROGRAMS];
    unsigned n = options->n_programs > 1 ? options->n_programs : 1;
    char *wrong = NULL;

    for (unsigned i = 0; i < n; i++)
        sims[i] = create(options, i);
    sim_tell(sims[0], "# seed %llu, %u steps", (unsigned long long)options->seed, options->n_steps);
    sim_world_begin(sims[0]);
    for (unsigned i = 1; i < n; i++)
        join(sims[i], sims[0]);
    run_all(sims, n);
    sim_world_end(sims[0]);
    for (unsigned i = 0; i < n; i++) {
        char *text;

        sim_judge(sims[i]);
        text = destroy(sims[i]);
        if (wrong)
            free(text);
        else
            wrong = text;
    }
    return wrong;
}
