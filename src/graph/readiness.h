/*
 * Members that aren't ready yet (members/ready.h): the placer doesn't know of them, unless no other will do, until a
 * thread of ours has made them ready. That thread begins when launches large enough to be cut, or to run side by side,
 * have taken twice as long as it is thought to take to open another one, and the program has run for a second, or ten
 * times as long. It opens as many as the launches have paid for so, the fastest first; the others when more launches
 * have run. It begins sooner where an earlier run took as long: with the context where the program's launches did, or
 * when a kernel is made whose launches did, with those of the kernels made before. So a short program doesn't pay for
 * members that it doesn't need, and a long one loses little. Those that are opened together get known together, as each
 * new one would have data distributed anew.
 *
 * A single launch that is known to take much longer than the others still need to get ready waits for them: it is cut
 * over all then, instead of being run whole by the one that is ready.
 */
#ifndef TSL_GRAPH_READINESS_H
#define TSL_GRAPH_READINESS_H

#include "base/sets.h"

#include <stdint.h>

struct tsl_command;
struct tsl_ended;
struct tsl_graph;
struct tsl_job;
struct tsl_placement;

/* Those of the set that are ready and known; all of it, if none is. Under the graph's lock. */
tsl_members tsl_readiness_of(struct tsl_graph *graph, tsl_members members);

/* The only member that is ready while others aren't, by its index: data are best written there. -1: there is none such.
 * Under the graph's lock. */
int tsl_readiness_only(struct tsl_graph *graph);

/* A launch needs several members: a thread of ours opens all. Under the graph's lock. */
void tsl_readiness_open(struct tsl_graph *graph);

/* The graph was made. Takes its lock. */
void tsl_readiness_expect(struct tsl_graph *graph);

/* Should the launch wait until those that are being opened are ready? It takes so long on the best of those that are.
 * Then somebody asks for its place again. Under the graph's lock. */
bool tsl_readiness_holds(const struct tsl_command *command, double run_ns);
/* Is it worth for a launch, or the rest of one, that takes so long on the best of those that are ready, to go on by
 * windows until those that are being opened are ready, too? How long that will be; 0: it isn't. Begins to open as many
 * as the launch pays for. Under the graph's lock. */
double tsl_readiness_left_ns(const struct tsl_command *command, double run_ns);
/* The job that asks. */
void tsl_readiness_over(struct tsl_job *job);

/* A launch was placed, or has ended. Under the graph's lock. */
void tsl_readiness_placed(struct tsl_graph *graph, const struct tsl_placement *placement, uint64_t now_ns);
void tsl_readiness_ended(struct tsl_graph *graph, const struct tsl_placement *placement, const struct tsl_ended *ended);

#endif
