/*
 * Which of the paths found serve: by TESELA_MEMBERS, or, without it, each physical device once, by the most preferred
 * of its usable paths. All CPU devices of a host are one device. Drivers of ours come before all vendors' OpenCL,
 * unless TESELA_CPU or TESELA_NVIDIA turn that round (preferences: driver/member.h). Pure: looks at nothing but its
 * arguments.
 */
#ifndef TSL_MEMBERS_CHOOSE_H
#define TSL_MEMBERS_CHOOSE_H

#include "members/members.h"

/*
 * Sets used and why_not (heap) of each row; why_not of rows that are used stays NULL. items: those of TESELA_MEMBERS;
 * n_items == 0: the default. matched: n_items truth values, set for items that fit some path, usable or not.
 * At most TSL_MAX_MEMBERS rows are used.
 */
void tsl_choose(struct tsl_found *rows, unsigned n, char *const *items, size_t n_items, bool *matched);

/* The same by TESELA_CONFIG: exactly the paths that it names, which then stand first, in the order of its lines.
 * matched: config->n truth values, all set. */
struct tsl_config;
void tsl_choose_by_config(struct tsl_found *rows, unsigned n, const struct tsl_config *config, bool *matched);

/* Sets bounds[i] to the bytes by which TESELA_MEMORY bounds the memory of row i; 0: it doesn't. Of several items that
 * fit a row the last counts. Items are matched as those of TESELA_MEMBERS are. matched: n_items truth values, all set.
 */
struct tsl_memory_bound;
void tsl_choose_bounds(const struct tsl_found *rows, unsigned n, const struct tsl_memory_bound *items, size_t n_items,
                       uint64_t *bounds, bool *matched);

/* Does an item of TESELA_MEMBERS fit the path: as the beginning of its id, or as a part of its names? */
bool tsl_path_fits(const struct tsl_path *path, const char *item);

/* Do the paths lead to one physical device, as far as their identities tell? */
bool tsl_same_device(const struct tsl_path *a, const struct tsl_path *b);

#endif
