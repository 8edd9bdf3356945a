/* What a launch lacks on each member, and what it must wait for: estimates, for the placer. */
#ifndef TSL_GRAPH_SURVEY_H
#define TSL_GRAPH_SURVEY_H

#include "base/sets.h"

#include <stdint.h>

struct tsl_candidate;
struct tsl_command;
struct tsl_joints;
struct tsl_window;

/* Adds to these members' candidates what this window of the launch lacks there, if the placer looks at such. Returns
 * when what the command must wait for is estimated to have ended; 0: now. Under the graph's lock. */
uint64_t tsl_survey(struct tsl_command *command, const struct tsl_window *window, tsl_members members,
                    struct tsl_candidate *candidates);
/* Adds the same of a part of the launch, and asks for no time. The placer is told of each object whose bytes would move
 * (tsl_placer_moves). Not of objects of which the launch works on empty copies (joints; NULL: there
 * are none). */
void tsl_survey_moves(struct tsl_command *command, const struct tsl_window *window, const struct tsl_joints *joints,
                      tsl_members members, struct tsl_candidate *candidates);

#endif
