/*
 * Launches whose buffers no member holds, or none that is fast enough (either_way.h), run window by window: windows of
 * the launch, one after another, each with slices of the buffers in an area of the member's arena (arena.h). The bytes
 * of the next window arrive and those of the last leave while one is computed. With several members each has some of
 * the windows.
 *
 * A window is planned as a launch of its own, after those before it: its slices are filled from the host's copies, and
 * what it wrote goes back there. So the current bytes of such buffers are the host's, and any conflict between windows
 * is met by the edges that it has between launches.
 *
 * Which launches: those that may be cut by the rung `exact` (footprint/cut.h), and whose windows are found to touch
 * little enough. A buffer of which each window needs most must fit whole, beside the arena; so must images. Members
 * that take no parts of memory (other vendors' OpenCL) have no windows.
 */
#ifndef TSL_GRAPH_OUT_OF_CORE_H
#define TSL_GRAPH_OUT_OF_CORE_H

#include "base/sets.h"
#include "footprint/window.h"
#include "graph/footing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsl_ask;
struct tsl_candidate;
struct tsl_command;
struct tsl_parts;

/* May the launch, whose buffers none of the members holds, run so? Then the command's members are those that can take
 * part. False: why not was logged. Takes the graph's lock. */
bool tsl_out_of_core_allow(struct tsl_command *command, tsl_members members);
/* Which of the members, none of which holds the buffers of the launch, which comes to its queue, could run it so? Under
 * the graph's lock. */
tsl_members tsl_out_of_core_able(struct tsl_command *command, tsl_members members);
/* Makes the windows of such a launch, and places them over those members. False: nothing was made, as they don't fit
 * any more, or there is no memory. Under the graph's lock. */
bool tsl_out_of_core_place(struct tsl_command *command, tsl_members members);
/* The command fails for that. */
void tsl_out_of_core_fail(struct tsl_command *command);

/* Do two launches, which both are not placed yet, touch the same and take the same? */
bool tsl_out_of_core_alike(const struct tsl_command *a, const struct tsl_command *b);

/* How such a launch is cut into windows on one member. */
struct tsl_out_of_core_cut {
    struct tsl_window window;              /* the launch, with a local size */
    unsigned dimension;                    /* along which; 3: it can't be cut */
    uint64_t groups;                       /* in that dimension; 1 where it can't be cut */
    unsigned n_windows;                    /* so many that fit an area it has by itself */
    size_t area_size, align;               /* bytes: each slice begins at a multiple of align */
    bool whole[TSL_FOOTING_MAX_ARGUMENTS]; /* by argument: its object has a copy on the member, not slices */
};

/* False: it can't be done there, or there is no memory. Under the graph's lock. */
bool tsl_out_of_core_look(struct tsl_command *command, unsigned member, struct tsl_out_of_core_cut *cut);
/* The launch's groups [begin, end). */
struct tsl_window tsl_out_of_core_window(const struct tsl_out_of_core_cut *cut, uint64_t begin, uint64_t end);
/* The question to the placer, with n_ports candidates. */
void tsl_out_of_core_ask(const struct tsl_command *command, tsl_members members, struct tsl_ask *ask,
                         struct tsl_candidate *candidates);
/* Which of the members should have how much of the launch's work. The question serves for tsl_placer_place_part, too.
 */
void tsl_out_of_core_parts(const struct tsl_command *command, tsl_members members, struct tsl_ask *ask,
                           struct tsl_candidate *candidates, struct tsl_parts *parts);

#endif
