/*
 * Do chains pay (chain.h)? What a chain takes is measured, and where windows of each launch by itself might do better,
 * these are tried: a few launches, after two chains. What took longer is left, and asked again ever more rarely.
 *
 * Known by the first launch's kernel and size, for the last few of these. Under the graph's lock.
 */
#ifndef TSL_GRAPH_CHAIN_PAYS_H
#define TSL_GRAPH_CHAIN_PAYS_H

#include <stdbool.h>
#include <stdint.h>

struct tsl_command;
struct tsl_graph;

/* Of which it is known what they took; of each launch, in nanoseconds; 0: not known. */
struct tsl_chain_pays {
    uint64_t key;
    double chained_ns, alone_ns; /* the least of late */
    unsigned n_chained;
    bool tries;             /* launches by themselves are being measured for the first time */
    unsigned n_left, pause; /* chains that are left, until one is tried again, and how many the next time */
};

/* So many launches are tried. */
#define TSL_CHAIN_PAYS_TRIES 4u

enum tsl_chain_way { TSL_CHAIN_DOES, TSL_CHAIN_TRIES, TSL_CHAIN_DOES_NOT };

/* Should these launches be chained, the first few by themselves, or all? alone_ns: what each launch by itself takes at
 * the best. */
enum tsl_chain_way tsl_chain_pays_how(struct tsl_graph *graph, uint64_t key, double alone_ns);
/* The n launches from there on, all in one queue and about to be scheduled, are measured. */
void tsl_chain_pays_watch(struct tsl_command *first, unsigned n, uint64_t key, bool chained);
/* A launch that is measured is complete. */
void tsl_chain_pays_complete(struct tsl_command *command);

#endif
