/*
 * Cutting a launch into shares: windows of it that run at the same time on several members (or, for tests, one after
 * another on one).
 *
 * A launch is cut where that is legal and pays. Legal, by the rung `exact`: what may be written by different shares
 * doesn't meet (footprint/cut.h), also not as the ranges that are claimed for it (footing.h). So each share's writes
 * make its own member's copy the only valid one of its own bytes, and the directory puts the parts together. Whether it
 * pays, and how large the parts are, the placer says (place/place.h).
 *
 * Or, by the same rung, later shares surely overwrite what earlier ones may have written (footprint/cut_later.h), each
 * on a copy of its own: shares claim one after the other, in the order of groups, and the last claim makes its copy the
 * valid one. Such shares are not divided into insides and rims, and none is done again: its claim would come last then.
 *
 * By the rung `domain` shares may write anywhere, if they run on members of one domain: what the launch may write is
 * spread over these (spread.h), so there is one copy, and the hardware keeps it. Only launches without atomic
 * operations are cut so.
 *
 * By the rungs `merge` and `reduce` shares that may write the same memory work on copies of it, which become one
 * afterwards (joints.h). Where several rungs are legal, the first is taken, in the order exact, domain, merge and
 * reduce.
 *
 * A cut launch is one command with several launch operations: planned together (first all fetches, then all claims),
 * without edges among each other. It fails if one of them does; its times go from the first start to the last end.
 *
 * Under the graph's lock.
 */
#ifndef TSL_GRAPH_CUT_H
#define TSL_GRAPH_CUT_H

#include "graph/share.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_ask;
struct tsl_candidate;
struct tsl_command;
struct tsl_graph;

/* May launches be cut, and this one, by what is known of its kernel alone? */
bool tsl_cut_is_possible(const struct tsl_command *command);
/* Are launches to be cut even with one member? Else with several only. */
bool tsl_cut_is_wanted(const struct tsl_graph *graph);

/* Cuts the launch, which was surveyed whole, if that is legal and pays: its shares have their windows and placements
 * then. False: it stays whole, and nothing has changed. The candidates are changed in either case only as said in
 * place.h: `windows` is set. */
bool tsl_cut_choose(struct tsl_command *command, const struct tsl_ask *ask, struct tsl_candidate *candidates);

/* Cuts the launch, which was not surveyed, as the kernel's launch before was cut, if nothing suggests that this one
 * differs: for some launches after one for which that was found to pay. False: ask tsl_cut_choose. */
bool tsl_cut_again(struct tsl_command *command, const struct tsl_ask *ask, struct tsl_candidate *candidates);

/* Spreads what a launch of the rung `domain` writes, while it is being planned. Others: nothing. */
cl_int tsl_cut_spread(struct tsl_command *command);

/* Does what it took to plan the launch, which was cut, tell of others? Once for each. */
bool tsl_cut_is_usual(struct tsl_command *command);

/* "exact" */
const char *tsl_rung_name(enum tsl_rung rung);

#endif
