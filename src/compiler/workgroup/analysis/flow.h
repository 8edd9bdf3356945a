/*
 * The control flow of a function: blocks by number, dominators, post-dominators, natural loops.
 */
#ifndef KC_WORKGROUP_ANALYSIS_FLOW_H
#define KC_WORKGROUP_ANALYSIS_FLOW_H

#include "compiler/workgroup/map.h"
#include "compiler/workgroup/memory.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

#define KC_NONE (-1)

struct kc_block {
    LLVMBasicBlockRef block;
    unsigned n_successors, n_predecessors;
    int *successors, *predecessors; /* by number; a block that branches to another by two edges is listed twice */
    int dominator;                  /* immediate; KC_NONE: the entry, or not reachable */
    int post_dominator;             /* immediate; KC_NONE: the block leaves the function, or never reaches an exit */
    int loop;                       /* innermost; KC_NONE */
    unsigned place;                 /* in order; 0 also where it is not reachable */
};

struct kc_loop {
    int header;
    int parent; /* loop around this one; KC_NONE */
    struct kc_bits blocks;
};

struct kc_flow {
    unsigned n_blocks; /* number 0 is the entry */
    struct kc_block *blocks;
    struct kc_map numbers; /* block → number + 1 */
    int *order;            /* reachable blocks in reverse post-order */
    unsigned n_order;
    unsigned n_loops; /* outer loops before inner ones */
    struct kc_loop *loops;
};

void kc_flow_create(struct kc_flow *flow, LLVMValueRef function);
void kc_flow_finish(struct kc_flow *flow);

int kc_flow_number(const struct kc_flow *flow, LLVMBasicBlockRef block);
bool kc_flow_dominates(const struct kc_flow *flow, int a, int b);

/* The blocks that can be reached from `from`'s successors without passing `stop` (KC_NONE: no stop), which isn't in it.
 * The caller frees. */
struct kc_bits kc_flow_between(const struct kc_flow *flow, int from, int stop);
/* Likewise from one block, which is in it unless it is `stop`. */
struct kc_bits kc_flow_from(const struct kc_flow *flow, int start, int stop);

/* How often a block may run for each time that the function does: a guess by its loops. */
uint64_t kc_flow_rounds(const struct kc_flow *flow, unsigned block);

#endif
