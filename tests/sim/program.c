/* The steps of a program, and its end. */
#include "sim.h"

/* Room for the ends: unmaps and last reads. */
#define MAX_NODES_BEFORE_END (SIM_MAX_NODES - 48)

static void one_step(struct sim *sim)
{
    struct sim_set known = sim->known;
    unsigned which = sim_pick(sim, 40);

    sim_laters_collect(sim);
    if (sim->options.losses && sim_once_in(sim, 2) && sim_lossy_launch(sim))
        return;
    if (which < SIM_N_HOST_STEPS && sim_host_step(sim, which))
        return;
    sim_random_command(sim, &known, true);
}

bool sim_program_step(struct sim *sim)
{
    bool on, with;

    pthread_mutex_lock(&sim->lock);
    on = sim->step < sim->options.n_steps && sim->n_nodes < MAX_NODES_BEFORE_END && !sim->failure;
    with = on && !(sim->options.without[sim->step / 64] >> (sim->step % 64) & 1);
    if (with) {
        sim_chance(sim, 1, sim->step);
        one_step(sim);
    }
    pthread_mutex_unlock(&sim->lock);
    if (with)
        sim_world_move(sim);
    pthread_mutex_lock(&sim->lock);
    sim->step += on;
    pthread_mutex_unlock(&sim->lock);
    return on;
}

/* ---- The end ---- */

static void set_and_unmap_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].unset && !sim->nodes[i].later)
            sim_set_user_event(sim, i);
    for (unsigned i = 0; i < sim->n_nodes; i++) {
        if (sim->nodes[i].kind != SIM_MAP || !sim->nodes[i].mapped)
            continue;
        if (!sim_set_has(&sim->known, i))
            sim_wait_for_node(sim, i);
        sim_check_map(sim, &sim->nodes[i]);
        if (sim->nodes[i].mapped)
            sim_unmap(sim, i);
    }
}

/* Whose wait list names a failed command fails (OpenCL 3.0, 5.11). */
static void check_waits(struct sim *sim, const struct sim_node *node)
{
    for (unsigned i = 0; i < node->n_waits; i++)
        if (sim->nodes[node->waits[i]].status < 0 && node->status == CL_COMPLETE && node->event)
            sim_fail(sim, "node %u succeeded, but node %u in its wait list failed", sim_index(sim, node),
                     node->waits[i]);
}

static void read_times(struct sim *sim, struct sim_node *node)
{
    static const cl_profiling_info infos[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                              CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    cl_ulong ns[4] = {0};

    for (unsigned i = 0; i < 4; i++) {
        cl_int error = sim->cl->clGetEventProfilingInfo(node->event, infos[i], sizeof ns[i], &ns[i], NULL);

        if (node->status == CL_COMPLETE)
            sim_went_well(sim, error, "clGetEventProfilingInfo");
        else if (error != CL_PROFILING_INFO_NOT_AVAILABLE)
            sim_fail(sim, "node %u failed, but its times can be had", sim_index(sim, node));
        if (i && ns[i] < ns[i - 1])
            sim_fail(sim, "node %u: the times %#x and %#x are %llu and %llu", sim_index(sim, node), infos[i - 1],
                     infos[i], (unsigned long long)ns[i - 1], (unsigned long long)ns[i]);
    }
    node->start_ns = ns[2];
    node->end_ns = ns[3];
}

/* All is complete: statuses say so, and the times are in order. */
static void check_end(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes && !sim->failure; i++) {
        struct sim_node *node = &sim->nodes[i];
        cl_int status = node->event && node->queue >= 0 ? sim_ask(sim, node) : node->status;

        if (status > CL_COMPLETE)
            sim_fail(sim, "all is finished, but the status of node %u is %d", i, status);
        sim_note_status(sim, node, status);
        if (node->event && node->profiled && node->queue >= 0)
            read_times(sim, node);
    }
    for (unsigned i = 0; i < sim->n_nodes; i++)
        check_waits(sim, &sim->nodes[i]);
}

/* Queues that were released are waited for by their events. */
static void finish_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_queues && !sim->failure; i++)
        sim_finish_queue(sim, i);
    for (unsigned i = 0; i < sim->n_nodes && !sim->failure; i++)
        if (!sim_set_has(&sim->known, i))
            sim_wait_for_node(sim, i);
}

void sim_program_end(struct sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->closing = true;
    sim_chance(sim, 2, 0);
    if (!sim->failure)
        set_and_unmap_all(sim);
    sim_laters_finish(sim);
    if (!sim_may_fail(sim) && sim_once_in(sim, 4)) {
        sim_tell(sim, "# everything is released while it runs");
    } else if (!sim->failure) {
        finish_all(sim);
        check_end(sim);
        if (!sim->failure)
            sim_read_all(sim);
    }
    pthread_mutex_unlock(&sim->lock);
}
