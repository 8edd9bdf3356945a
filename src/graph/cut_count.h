/*
 * How many launches of the process were cut, by rung, and why the others ran whole: what is told at its end.
 */
#ifndef TSL_GRAPH_CUT_COUNT_H
#define TSL_GRAPH_CUT_COUNT_H

#include "graph/share.h"

struct tsl_command;

/* A launch that was looked at, by its rung; of one that runs whole, by its whole_why and cut_why. Needs no lock. */
void tsl_cut_count(const struct tsl_command *command, enum tsl_rung rung);

/* A launch was given its place among several members, or its shares theirs. One that runs whole counts here, as it may
 * have been looked at several times before. Under the graph's lock. */
void tsl_cut_count_places(struct tsl_command *command);

/* "no-windows"; of TSL_WHOLE_FORBIDDEN the verdict has the word (footprint/cut.h), and this one says NULL. */
const char *tsl_whole_word(enum tsl_whole_why why);

/* Tells, where TESELA_LOG asks for it, what was counted. At the process's end, under no lock. */
void tsl_cut_tell(void);

#endif
