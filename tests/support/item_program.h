/*
 * Random kernels whose work-items go different ways, and a plain interpreter that computes their results: loops of
 * equal and of uneven length in branches and branches in loops, jumps, early returns, divisions, atomics of all kinds.
 * There are no barriers inside (barrier_program.h has those), so the interpreter runs item after item.
 *
 * A word that atomics change is always changed in the same way, so that their order doesn't count.
 */
#ifndef TEST_ITEM_PROGRAM_H
#define TEST_ITEM_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

#define IP_N_IN    1024u /* elements of the input */
#define IP_N_WORDS 512u  /* that atomics change */

struct ip_program;

/* The program for a seed. The caller frees. */
struct ip_program *ip_create(uint64_t seed);
void ip_free(struct ip_program *program);

/* What stands before all kernels. */
void ip_print_head(FILE *to);
/* Writes its source: kernel void NAME(global const uint *in, global uint *out, global uint *words, uint n). out has an
 * element for each work-item of the launch, which has one dimension. With C11 defined it uses OpenCL C 2.0's atomics.
 */
void ip_print(const struct ip_program *program, const char *name, FILE *to);

/* What a word must hold before the launch. */
uint32_t ip_first_word(unsigned i);

struct ip_launch {
    unsigned items;
    uint32_t n;
    const uint32_t *in;    /* IP_N_IN */
    uint32_t *out, *words; /* out is 0 before the launch */
};

void ip_run(const struct ip_program *program, const struct ip_launch *launch);

#endif
