/* Members that are lost under a launch that is cut: its share there is done again elsewhere, and it succeeds. */
#include "sim.h"

/* Is anything held, mapped, or another thread's? */
static bool is_busy(const struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_nodes; i++)
        if (sim->nodes[i].unset || sim->nodes[i].later || (sim->nodes[i].kind == SIM_MAP && sim->nodes[i].mapped))
            return true;
    return false;
}

static void finish_all(struct sim *sim)
{
    for (unsigned i = 0; i < sim->n_queues; i++)
        sim_finish_queue(sim, i);
}

/* The host has a copy of each byte then. False: not surely. */
static bool bring_all_home(struct sim *sim)
{
    unsigned first = sim->n_nodes;
    bool all = true;

    for (unsigned i = 0; i < sim->n_buffers; i++)
        all &= !sim->buffers[i].alive || sim_bring_home(sim, i, sim_pick(sim, sim->n_queues));
    finish_all(sim);
    for (unsigned i = first; i < sim->n_nodes; i++) {
        struct sim_node *node = &sim->nodes[i];

        if (node->event)
            sim_note_status(sim, node, sim_ask(sim, node));
        all &= node->event && node->status == CL_COMPLETE;
    }
    return all;
}

/* Do its shares need nothing but bytes that no share writes, and their own as they were? Where members share the host's
 * memory, a share may have changed its own there before it failed. */
static bool needs_old_bytes_alone(const struct sim_node *node)
{
    bool in_place = node->src.area == node->dst.area && node->src.size > 0;

    switch (node->kind) {
    case SIM_SLICE:
        return true;
    case SIM_GUARDED:
        return true;
    case SIM_SHIFT:
        return !in_place || (sim_in_place(node) && !sim_world_is_shared());
    case SIM_GATHER:
    case SIM_STENCIL:
        return !in_place;
    case SIM_UPDATE:
        return !sim_world_is_shared();
    default:
        return false;
    }
}

bool sim_lossy_launch(struct sim *sim)
{
    static const enum sim_kind kinds[] = {SIM_SLICE,  SIM_GUARDED, SIM_UPDATE, SIM_UPDATE,  SIM_UPDATE,
                                          SIM_UPDATE, SIM_SHIFT,   SIM_GATHER, SIM_STENCIL, SIM_SOME,
                                          SIM_RELAX,  SIM_BOX,     SIM_STRIPES};
    enum sim_kind kind = kinds[sim_pick(sim, sizeof kinds / sizeof *kinds)];
    unsigned at;
    bool home, alone = !sim_once_in(sim, 3);

    if (is_busy(sim) || sim->n_nodes + 2 * SIM_MAX_BUFFERS > SIM_MAX_NODES - 48)
        return false;
    finish_all(sim);
    home = bring_all_home(sim);
    at = sim->n_nodes;
    for (unsigned before = alone ? 0 : 1 + sim_pick(sim, 3); before > 0; before--)
        sim_random_command(sim, &sim->known, false);
    if (!sim_world_lose(sim))
        return false;
    sim_command(sim, kind, &sim->known, false);
    finish_all(sim);
    /* A launch fails that is only given memory which is spread over a lost member, whether it touches that or not. */
    if (home && !sim->world->spreads && sim->n_nodes == at + 1 && sim->nodes[at].event && sim->world->n_sims == 1 &&
        !sim->world->tight)
        sim->nodes[at].must = needs_old_bytes_alone(&sim->nodes[at]);
    return true;
}
