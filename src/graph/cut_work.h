/*
 * Where in a kernel's launches their work lies. Equal parts of a launch may take members very different times: rows of
 * a fractal, rows of a triangle. So borders are placed by work, not by groups, once the times of shares have shown that
 * it lies unevenly along the dimension in which the kernel is cut. All parts that the placer speaks of are of the work.
 */
#ifndef TSL_GRAPH_CUT_WORK_H
#define TSL_GRAPH_CUT_WORK_H

#include "driver/driver.h"
#include "place/place.h"

#include <stdbool.h>

struct tsl_command;
struct tsl_work_memo;

/* The kernel's launches have so many work-items now. A size that is new to the kernel object begins with what was
 * learned of it before, by other objects and in earlier runs, else with what the last size had, also of what isn't sure
 * yet: shapes of work are often the same. The last few sizes are kept. */
void tsl_cut_work_turn(struct tsl_command *command, uint64_t n_items);
/* Parts of the work, one behind another, become parts of the launch's groups. */
void tsl_cut_work_place(const struct tsl_work_memo *memo, unsigned n, double *part);
/* How much of the launch's work the window's groups are, from its place along the dimension. 0 to 1. */
double tsl_cut_work_of(const struct tsl_work_memo *memo, const struct tsl_window *window, unsigned dimension);
/* Even borders instead would make the longest share so many times as long; 1 or more. */
double tsl_cut_work_gain(const struct tsl_work_memo *memo, unsigned n_members, const struct tsl_parts *parts);
/* To have the borders there moves cost so much, in a launch whose longest share takes run_ns. Time after time more than
 * they gain: the work counts as even for a while. */
void tsl_cut_work_moved(struct tsl_command *command, double gain, double run_ns, double peer_ns);
/* All shares of the command have ended, without anything unusual, and how long they ran is known. Nothing is learned of
 * launches that aren't cut by the rung `exact`. */
void tsl_cut_work_learn(struct tsl_command *command);

#endif
