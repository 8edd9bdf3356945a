/*
 * Random kernels with barriers, and a plain interpreter that computes their results: the reference for work-group
 * functions.
 *
 * A program is a tree of statements over unsigned ints. Barriers are only where the whole group gets (in uniform
 * conditionals and loops, nested), other statements anywhere. The interpreter walks the tree for all work-items of a
 * group at once, with the set of those that take part, so a barrier is no operation.
 */
#ifndef TEST_BARRIER_PROGRAM_H
#define TEST_BARRIER_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

#define BP_MAX_ITEMS 256 /* of a group */
#define BP_N_IN      64  /* elements of the input */

struct bp_program;

/* The program for a seed. The caller frees. */
struct bp_program *bp_create(uint64_t seed);
void bp_free(struct bp_program *program);

/* Writes its source: kernel void NAME(global const uint *in, global uint *out, uint n, uint m, local uint *t1). out has
 * an element for each work-item of the launch, t1 BP_MAX_ITEMS elements. */
void bp_print(const struct bp_program *program, const char *name, FILE *to);

struct bp_launch {
    unsigned global_size[3], local_size[3]; /* the product of local_size is at most BP_MAX_ITEMS */
    uint32_t n, m;
    const uint32_t *in; /* BP_N_IN */
    uint32_t *out;
};

void bp_run(const struct bp_program *program, const struct bp_launch *launch);

#endif
