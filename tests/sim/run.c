/* One seed from its beginning to its end. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_options sim_options_of(uint64_t seed)
{
    static const unsigned lengths[] = {12, 30, 60, 110};
    static const enum sim_split splits[] = {SIM_SPLIT_ALWAYS, SIM_SPLIT_OFF, SIM_SPLIT_WEIGHTS, SIM_SPLIT_ALWAYS,
                                            SIM_SPLIT_AUTO};
    uint64_t number = sim_mix(seed ^ 0x51a1);

    return (struct sim_options){
        .seed = seed,
        .n_steps = lengths[number % 4],
        .n_programs = number / 4 % 6 ? 1 : 2 + number / 24 % 2,
        .failures = number / 64 % 2 == 0,
        .small_memory = number / 256 % 4 == 0,
        .repeats = number / 1024 % 2 == 0,
        .footprints = number / 2048 % 8 != 0,
        .split = splits[seed / SIM_POLICY_BLOCK % 5],
    };
}

/* ---- Programs ---- */

static struct sim *create(struct sim_world *world, unsigned i)
{
    struct sim *sim = calloc(1, sizeof *sim);
    pthread_mutexattr_t recursive;

    if (!sim || !(sim->nodes = calloc(SIM_MAX_NODES, sizeof *sim->nodes)))
        abort();
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&sim->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    sim->world = world;
    sim->options = world->options;
    sim->number = i;
    sim_chance(sim, 0, 0);
    return sim;
}

static char *destroy(struct sim *sim)
{
    char *text = NULL;

    if (sim->failure && asprintf(&text, "%s%s\n", sim->story ? sim->story : "", sim->failure) < 0)
        abort();
    for (unsigned i = 0; i < sim->n_nodes; i++)
        free(sim->nodes[i].seen);
    pthread_mutex_destroy(&sim->lock);
    free(sim->nodes);
    free(sim->failure);
    free(sim->story);
    free(sim);
    return text;
}

/* False: an allocation failed, as ordered, and there is no program. */
static bool begin(struct sim *sim)
{
    unsigned context = sim->number % sim->world->n_contexts;

    if (sim->world->n_sims > 1)
        sim_tell(sim, "# program %u of %u, in context %u", sim->number, sim->world->n_sims, context);
    sim->cl = sim->world->cl;
    sim->context = sim->world->contexts[context];
    sim->program = sim->world->programs[context];
    sim_chance(sim, 0, 1);
    return sim_things_create(sim);
}

static void *run_program(void *arg)
{
    struct sim *sim = arg;

    if (begin(sim)) {
        while (sim_program_step(sim))
            continue;
        sim_program_end(sim);
    }
    sim_things_release(sim);
    return NULL;
}

static void run_threads(struct sim_world *world)
{
    pthread_t threads[SIM_MAX_PROGRAMS];

    for (unsigned i = 1; i < world->n_sims; i++)
        if (pthread_create(&threads[i], NULL, run_program, world->sims[i]))
            abort();
    run_program(world->sims[0]);
    for (unsigned i = 1; i < world->n_sims; i++)
        pthread_join(threads[i], NULL);
}

/* One thread: the programs take turns, step by step. */
static void run_in_turn(struct sim_world *world)
{
    bool on[SIM_MAX_PROGRAMS], any = true;

    for (unsigned i = 0; i < world->n_sims; i++)
        on[i] = begin(world->sims[i]);
    while (any) {
        any = false;
        for (unsigned i = 0; i < world->n_sims; i++)
            any |= on[i] && sim_program_step(world->sims[i]);
    }
    for (unsigned i = 0; i < world->n_sims; i++) {
        if (on[i])
            sim_program_end(world->sims[i]);
        sim_things_release(world->sims[i]);
    }
}

static void add_counts(const struct sim *sim)
{
    struct sim_counts *counts = sim->options.counts;

    for (unsigned i = 0; counts && i < sim->n_nodes; i++) {
        const struct sim_node *node = &sim->nodes[i];

        counts->n_launches += node->kind < SIM_N_KERNELS;
        counts->n_partial += node->kind >= SIM_SLICE && node->kind < SIM_N_KERNELS;
        counts->n_cut += node->cut;
    }
}

static char *end(struct sim_world *world)
{
    char *wrong = NULL;

    for (unsigned i = 0; i < world->n_sims; i++)
        world->unseen |= sim_failed_unseen(world->sims[i]);
    for (unsigned i = 0; i < world->n_sims; i++)
        sim_judge(world->sims[i]);
    for (unsigned i = 0; i < world->n_sims; i++) {
        char *text;

        add_counts(world->sims[i]);
        text = destroy(world->sims[i]);
        if (wrong)
            free(text);
        else
            wrong = text;
    }
    return wrong;
}

char *sim_run(const struct sim_options *options)
{
    struct sim_world world = {.options = *options, .n_contexts = 1, .align = 64};

    world.n_sims = options->n_programs ? options->n_programs : 1;
    if (options->plain & SIM_PLAIN_PROGRAMS)
        world.n_sims = 1;
    for (unsigned i = 0; i < world.n_sims; i++)
        world.sims[i] = create(&world, i);
    sim_tell(world.sims[0], "# seed %llu, %u steps%s%s%s%s%s", (unsigned long long)options->seed, options->n_steps,
             options->failures ? ", failures" : "", options->footprints ? ", footprints" : "",
             options->repeats ? ", repeats" : "", options->small_memory ? ", small memory" : "",
             options->split ? ", cuts" : "");
    if (world.n_sims > 1 && sim_once_in(world.sims[0], 2) && !options->small_memory)
        world.n_contexts = 2;
    if (options->n_contexts && options->n_contexts <= world.n_sims)
        world.n_contexts = options->n_contexts;
    sim_world_begin(&world);
    if (sim_contexts_create(&world)) {
        if (options->threads)
            run_threads(&world);
        else
            run_in_turn(&world);
    }
    sim_contexts_release(&world);
    sim_world_end(&world);
    return end(&world);
}
