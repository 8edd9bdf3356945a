/*
 * Tidying directories. A launch that is cut leaves small tiles where its shares meet: what two shares read there has a
 * copy on both members. When borders move, launch after launch, such tiles add up, and each launch looks at them all.
 * So a small tile gives up the copies that its neighbour doesn't have. That is always allowed: should they be needed
 * again, they move again.
 */
#ifndef TSL_GRAPH_TIDY_H
#define TSL_GRAPH_TIDY_H

#include <stdint.h>

struct tsl_data;

#define TSL_TIDY_BYTES 256u /* a tile that is no larger costs more to look at than to move */

extern unsigned tsl_tidy_tiles; /* an object has more tiles before it is tidied. Tests change it */
extern unsigned tsl_tidy_turns; /* so many looks at it pass between. Tests change it */

/* Tidies a range of the directory that a launch is about to look at, if it is its turn. Before anything is decided by
 * what the launch lacks; under the graph's lock. */
void tsl_tidy(struct tsl_data *data, uint64_t begin, uint64_t end);

#endif
