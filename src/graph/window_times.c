#include "graph/window_times.h"

#include "base/clock.h"
#include "base/sets.h"
#include "footprint/window.h"
#include "graph/command.h"
#include "graph/queue.h"
#include "graph/state.h"
#include "place/place.h"
#include "program/program.h"

#define N_KERNELS (sizeof(((struct tsl_graph *)0)->windows.kernels) / sizeof(uint64_t))

/* The first time the host's copies are pinned, and areas made. */
static bool is_first(struct tsl_graph *graph, uint64_t kernel)
{
    for (unsigned i = 0; i < N_KERNELS; i++)
        if (graph->windows.kernels[i] == kernel)
            return false;
    graph->windows.kernels[graph->windows.next++ % N_KERNELS] = kernel;
    return true;
}

static void tell(struct tsl_command *c, unsigned n, uint64_t ns)
{
    const struct tsl_ask ask = {.kernel = c->kernel->place_key, .size = tsl_window_items(&c->share.window)};
    if (!is_first(c->graph, ask.kernel))
        tsl_placer_windows_ended(c->graph->placer, &ask, c->share.placement.member, n, ns);
}

/* When the first of its windows that were timed began; 0: none was. */
static uint64_t begun_ns(struct tsl_command *c)
{
    uint64_t begun_ns = 0;
    for (unsigned i = 0; i <= c->n_more; i++) {
        uint64_t from_ns = tsl_command_share(c, i)->ran_from_ns;
        begun_ns = from_ns && (!begun_ns || from_ns < begun_ns) ? from_ns : begun_ns;
    }
    return begun_ns;
}

static uint64_t from_last_end(const struct tsl_graph *graph, uint64_t ns)
{
    return ns < graph->windows.end_ns ? graph->windows.end_ns : ns;
}

/* Another one's last bytes may have gone home when its first window had begun. What had to go for it, for so long as it
 * waited, will have to come back. */
static uint64_t took_ns(struct tsl_command *c, uint64_t now_ns)
{
    uint64_t from_ns = begun_ns(c), evicting_ns = 0;
    if (!from_ns)
        return 0;
    if (c->evicts_ns && from_ns > from_last_end(c->graph, c->evicts_ns))
        evicting_ns = from_ns - from_last_end(c->graph, c->evicts_ns);
    from_ns = from_last_end(c->graph, from_ns);
    return now_ns > from_ns ? now_ns - from_ns + 2 * evicting_ns : 0;
}

void tsl_window_times_complete(struct tsl_command *c)
{
    struct tsl_graph *graph = c->graph;
    bool by_windows = c->out_of_core && !c->n_chained && !tsl_members_is_empty(c->other_way);
    if (!by_windows && !graph->windows.next)
        return;
    uint64_t now_ns = tsl_clock_ns(), ns = by_windows ? took_ns(c, now_ns) : 0;
    if (c->out_of_core) /* Others may end at any time, and take nothing from its way. */
        graph->windows.end_ns = now_ns;
    if (ns && c->status == CL_COMPLETE)
        tell(c, 1, ns);
}

void tsl_window_times_chained(struct tsl_command *c, unsigned n, uint64_t ns)
{
    if (tsl_members_is_empty(c->other_way))
        return;
    c->queue->n_together = n;
    tell(c, n, ns);
}
