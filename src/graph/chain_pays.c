#include "graph/chain_pays.h"

#include "base/clock.h"
#include "base/log.h"
#include "footprint/window.h"
#include "graph/command.h"
#include "graph/state.h"
#include "graph/window_times.h"
#include "program/program.h"

#include <stdlib.h>

/* Chains are doubted that take more than this part of what their launches would take at the best by themselves, and
 * left if these took less by such a part. */
#define DOUBT 0.5
#define LESS  0.95
/* So many chains are measured before: the first ones also make buffers and areas. */
#define LEAST_CHAINS 2u
/* Of an old least so much more counts each time: what others do on the machine changes. */
#define FORGET 1.05

/* So many chains are left before one is tried again; each time twice as many. */
#define FIRST_PAUSE 8u

/* Launches that are measured together; each has a reference. */
struct tsl_chain_watch {
    unsigned n, n_left;
    uint64_t key, begun_ns;
    bool chained, mixed, failed; /* mixed: of several kernels or sizes */
};

static struct tsl_chain_pays *find(struct tsl_graph *graph, uint64_t key)
{
    for (unsigned i = 0; i < TSL_CHAIN_PAYS; i++)
        if (graph->chain_pays[i].key == key)
            return &graph->chain_pays[i];
    return NULL;
}

static struct tsl_chain_pays *find_or_make(struct tsl_graph *graph, uint64_t key)
{
    struct tsl_chain_pays *pays = find(graph, key);
    if (pays)
        return pays;
    pays = &graph->chain_pays[graph->next_chain_pays++ % TSL_CHAIN_PAYS];
    *pays = (struct tsl_chain_pays){.key = key, .n_left = FIRST_PAUSE, .pause = 2 * FIRST_PAUSE};
    return pays;
}

static enum tsl_chain_way doubt(struct tsl_chain_pays *pays, double alone_ns)
{
    if (pays->tries || pays->chained_ns <= alone_ns * DOUBT)
        return TSL_CHAIN_DOES;
    pays->tries = true;
    return TSL_CHAIN_TRIES;
}

enum tsl_chain_way tsl_chain_pays_how(struct tsl_graph *graph, uint64_t key, double alone_ns)
{
    struct tsl_chain_pays *pays = find(graph, key);
    if (!pays || pays->n_chained < LEAST_CHAINS)
        return TSL_CHAIN_DOES;
    if (pays->alone_ns <= 0)
        return doubt(pays, alone_ns);
    if (pays->alone_ns >= pays->chained_ns * LESS)
        return TSL_CHAIN_DOES;
    if (pays->n_left > 0) {
        pays->n_left--;
        return TSL_CHAIN_DOES_NOT;
    }
    pays->n_left = pays->pause;
    pays->pause *= 2;
    return TSL_CHAIN_DOES;
}

void tsl_chain_pays_watch(struct tsl_command *first, unsigned n, uint64_t key, bool chained)
{
    struct tsl_chain_watch *watch = calloc(1, sizeof(*watch));
    struct tsl_command *c = first, *last = first;
    if (!watch)
        return;
    *watch = (struct tsl_chain_watch){.n = n, .n_left = n, .key = key, .chained = chained};
    watch->begun_ns = tsl_clock_ns();
    for (unsigned i = 0; i < n; i++, c = TAILQ_NEXT(c, link)) {
        c->chain_watch = watch;
        watch->mixed |= c->kernel->place_key != first->kernel->place_key ||
                        tsl_window_items(&c->share.window) != tsl_window_items(&first->share.window);
        last = c;
    }
    last->watched = true; /* Its end is to be seen at once. */
}

/* c: the last of them. */
static void tell(struct tsl_command *c, const struct tsl_chain_watch *watch)
{
    struct tsl_graph *graph = c->graph;
    struct tsl_chain_pays *pays = find_or_make(graph, watch->key);
    uint64_t now_ns = tsl_clock_ns(),
             begun_ns = watch->begun_ns > graph->chain_end_ns ? watch->begun_ns : graph->chain_end_ns;
    bool first = pays->alone_ns <= 0;
    double each_ns = (double)(now_ns - begun_ns) / watch->n,
           *least = watch->chained ? &pays->chained_ns : &pays->alone_ns;
    graph->chain_end_ns = now_ns;
    pays->n_chained += watch->chained;
    *least = *least > 0 && *least * FORGET < each_ns ? *least * FORGET : each_ns;
    if (!watch->chained && first)
        tsl_log(TSL_LOG_IN_PLACE, TSL_LOG_INFO, "%s: a launch took %.0f us by itself, and %.0f in chains",
                c->kernel->name, pays->alone_ns / 1000, pays->chained_ns / 1000);
    if (watch->chained && !watch->mixed && now_ns > begun_ns)
        tsl_window_times_chained(c, watch->n, now_ns - begun_ns);
}

void tsl_chain_pays_complete(struct tsl_command *c)
{
    struct tsl_chain_watch *watch = c->chain_watch;
    c->chain_watch = NULL;
    if (!watch)
        return;
    watch->failed |= c->status < 0;
    if (--watch->n_left > 0)
        return;
    if (!watch->failed)
        tell(c, watch);
    free(watch);
}
