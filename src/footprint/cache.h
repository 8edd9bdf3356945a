/*
 * What the last evaluations of one footprint gave: a program launches the same kernel with the same sizes again and
 * again.
 *
 * An answer depends on the window, on the scalars that the footprint's nodes name, on the memory behind its pointers
 * and on how images' pixels lie; these are the key. Other arguments, among them which buffers are given, don't matter.
 * Where a known answer has another scalar, or size of memory, as that of a step before has, only what depends on that
 * is evaluated anew.
 *
 * No locks: the caller has one for each cache, from the call until it is done with the answer.
 */
#ifndef TSL_FOOTPRINT_CACHE_H
#define TSL_FOOTPRINT_CACHE_H

#include "footprint/evaluate.h"

struct tsl_footprint_cache;

/* For a footprint that outlives it. NULL: no memory. */
struct tsl_footprint_cache *tsl_footprint_cache_create(const struct tsl_footprint *footprint);
void tsl_footprint_cache_destroy(struct tsl_footprint_cache *cache); /* NULL allowed */

/* As tsl_footprint_evaluate: n_arguments elements, good until the next call for this cache. NULL: no memory. *id: a
 * number of the answer; of one cache the same number is the same answer. May be NULL. */
const struct tsl_argument_touch *tsl_footprint_cache_evaluate(struct tsl_footprint_cache *cache,
                                                              const struct tsl_window *window,
                                                              const struct tsl_argument_value *arguments, uint64_t *id);

#endif
