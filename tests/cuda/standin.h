/*
 * What tests ask the stand-in for libcuda, beside CUDA's own functions: by dlsym() in the library that
 * TESELA_CUDA_LIBRARY names.
 */
#ifndef TSL_TESTS_STANDIN_H
#define TSL_TESTS_STANDIN_H

#include <stdbool.h>
#include <stdint.h>

/* How many rules of CUDA's were broken so far; each was also written to standard error. */
typedef unsigned standin_violations_fn(void);
/* How often a function was called, by its versioned name. */
typedef unsigned standin_calls_fn(const char *name);
/* The function returns `result` from its n-th call from now on (1: the next), once; nothing is done in that call. */
typedef void standin_fail_fn(const char *name, unsigned n, unsigned result);
/* While true no stream of any device goes on. */
typedef void standin_stop_fn(bool stop);
/* Things that are alive: allocations, pinned blocks, streams, events, modules. */
typedef unsigned standin_alive_fn(void);
/* How many texels kernels read so far. */
typedef unsigned standin_texels_fn(void);
/* With which error the context ends when a kernel runs wild, from now on (700). */
typedef void standin_wild_fn(unsigned error);
/* While true asynchronous copies may name memory that isn't pinned; else that breaks a rule, of the bridge's own. */
typedef void standin_pageable_fn(bool may);
/* The policy of memory under which the last pinned memory was allocated (MPOL_...). */
typedef int standin_pin_policy_fn(void);
#define STANDIN_NO_POLICY (-1) /* the system doesn't tell, or there was none */

#endif
