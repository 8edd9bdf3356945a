/*
 * Launches that go whole or window by window (out_of_core.h): some members hold their buffers, and others, which don't,
 * have windows. The processors hold all that the host's memory does, and a GPU beside them may be so much faster that
 * windows end sooner. The placer says which way ends sooner, by what such launches took (tsl_placer_windows). It is
 * asked
 *
 * - at the enqueue, as the launch may have to wait for others with which it is chained (chain.h);
 * - when a launch that was to go whole is about to be placed while others like it wait behind: chained they may end
 *   sooner window by window, though each by itself doesn't;
 * - last, when the launch is not chained. Where nothing is known of its windows, and others are under way, it goes
 *   whole: no more than one is spent to learn.
 *
 * A launch of which windows can't be made after all, or whose members for these are lost, goes whole.
 *
 * A command that has another way has the members of the one that was chosen in `members`, of the other in `other_way`.
 * Under the graph's lock, but for the first function.
 */
#ifndef TSL_GRAPH_EITHER_WAY_H
#define TSL_GRAPH_EITHER_WAY_H

#include "base/sets.h"

#include <stdbool.h>

struct tsl_command;

/* Of a launch that comes to its queue, which the command's members hold: have others of `members` windows, and should
 * it go so? Takes the graph's lock. */
void tsl_either_way_find(struct tsl_command *command, tsl_members members);
/* The launch, the first of its queue, is about to be placed. It and those behind it go window by window if they should
 * be chained. */
void tsl_either_way_chain(struct tsl_command *command);
/* The same of a launch that is not chained. */
void tsl_either_way_alone(struct tsl_command *command);
/* Would a launch that is about to be chained go whole if it weren't? */
bool tsl_either_way_needs_chain(struct tsl_command *command);
/* The launch goes whole, and has no other way from now on. False: it can't. */
bool tsl_either_way_whole(struct tsl_command *command);

/* A launch is placed that runs window by window, not chained. */
void tsl_either_way_placed(struct tsl_command *command);

#endif
