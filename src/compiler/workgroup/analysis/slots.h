/*
 * Slots: variables for values of a kernel that are used in another block than the one that computes them. Phi nodes
 * become two slots, one that the predecessors write and one that keeps the phi's value, so that no order of copies
 * loses a value. After this step no instruction uses another block's value: blocks can be copied freely.
 *
 * Cheap arithmetic on ids, arguments and uniform values gets no slot: it is repeated where it is used, so that the
 * vectoriser sees consecutive addresses.
 */
#ifndef KC_WORKGROUP_ANALYSIS_SLOTS_H
#define KC_WORKGROUP_ANALYSIS_SLOTS_H

#include "compiler/workgroup/analysis/uniform.h"

struct kc_slot {
    LLVMValueRef variable; /* an alloca in the function's entry; values: all uses are loads and stores of type */
    LLVMTypeRef type;      /* as in memory: i1 as i8 */
    uint64_t size, align;  /* bytes; size is a multiple of align */
    bool array;            /* a private variable of the kernel, used by address */
    bool escapes;          /* array: its address goes where it can't be followed */
    bool uniform;          /* the same for all lanes of a strip that read it */
    bool group_uniform;    /* the same for the whole group */
    bool counter;          /* uniform although perhaps not all lanes write it: computed by arithmetic (uniform.h) */
};

struct kc_slots {
    unsigned n;
    struct kc_slot *slots;
    struct kc_map numbers;          /* variable → number + 1 */
    struct kc_bits *reads, *writes; /* by block: values read before they are written there; values written */
    struct kc_bits *live;           /* by block: values that may be read from its start on */
    struct kc_bits *touched;        /* by block: arrays that may have been used before its start, and are used later */
};

/* Rewrites wg->function; what replaces a varying value is marked as varying, too. */
void kc_slots_create(struct kc_slots *slots, struct kc_wg *wg, struct kc_uniform *strip, struct kc_uniform *group);
void kc_slots_finish(struct kc_slots *slots, const struct kc_wg *wg);

/* The slot whose variable the pointer is; KC_NONE. */
static inline int kc_slot_number(const struct kc_slots *slots, LLVMValueRef variable)
{
    return (int)kc_map_get(&slots->numbers, variable) - 1;
}

#endif
