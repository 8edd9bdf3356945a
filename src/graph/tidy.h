/*
 * Tidying directories. A launch that is cut leaves small tiles where its shares meet: what two shares read there has a
 * copy on both members. When borders move, launch after launch, such tiles add up, and each launch looks at them all.
 * So a small tile gives up the copies that its neighbour doesn't have. That is always allowed: should they be needed
 * again, they move again. What small is depends on how many there are.
 *
 * Where a program enqueues far ahead the neighbour is always in use. The tile becomes a part of it all the same if only
 * launches use it: those that say which parts they touch (extent.h) don't touch the tile then either, and others count
 * as if they touched all of it, as where many parts stand side by side (touch.h).
 */
#ifndef TSL_GRAPH_TIDY_H
#define TSL_GRAPH_TIDY_H

#include <stdint.h>

struct tsl_data;

extern unsigned tsl_tidy_tiles; /* an object has more tiles before it is tidied. Tests change it */
extern unsigned tsl_tidy_turns; /* so many looks at it pass between, at least. Tests change it */

/* Tidies the directory if it is its turn. Before anything is decided by what a launch lacks; under the graph's lock. */
void tsl_tidy(struct tsl_data *data);

#endif
