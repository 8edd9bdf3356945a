/*
 * The state of writing the work-group function. Shared by group.c (loops over groups, phases), strip.c (regions of a
 * strip) and lane.c (the code of a region for each lane).
 */
#ifndef KC_WORKGROUP_EMIT_H
#define KC_WORKGROUP_EMIT_H

#include "compiler/workgroup/analysis/region.h"
#include "compiler/workgroup/workgroup.h"

/* Ids of vectorised strips fit signed 32 bits, so that the vectoriser can follow them through an int. */
#define KC_WIDE_LIMIT 0x7fffffffu

/* The places of a slot. */
struct kc_variable_place {
    LLVMValueRef work;     /* value: the current region's scalar variable; NULL: it doesn't use the value */
    LLVMValueRef group;    /* value, group_uniform: a variable of the group; NULL: doesn't live across barriers */
    LLVMValueRef snapshot; /* of group, from the start of the phase */
    bool scratch;          /* lives in scratch at offset * items + item * size … */
    bool fixed;            /* array: … or for each lane only, at offset + lane * size */
    uint64_t offset;
    LLVMValueRef lanes; /* array that lives within strips: bytes for each lane */
};

struct kc_emit {
    struct kc_wg *wg;
    const struct kc_wg_input *input;
    const struct kc_slots *slots;
    const struct kc_bounds *bounds;
    const struct kc_plan *wide, *narrow; /* wide: NULL where nothing is vectorised. Phases are numbered as in narrow */
    unsigned lanes;                      /* of the wide plan */
    struct kc_bits uneven;               /* blocks at the ends of uneven loops (profit.h) */
    bool pairs;                          /* wide strips run two at a time if a row has enough (profit.h) */

    LLVMValueRef run;                                                          /* the work-group function */
    LLVMValueRef variables_end;                                                /* variables are made before it */
    LLVMValueRef global_size[3], global_offset[3], enqueued[3], num_groups[3]; /* i64 */
    LLVMValueRef work_dim;                                                     /* i32 */
    LLVMValueRef *arguments;                                                   /* by parameter of the kernel */
    LLVMValueRef local, scratch;                                               /* pointers */
    LLVMValueRef items;               /* i64: of a full group, rounded up as for scratch */
    struct kc_map local_variables;    /* global variable in local memory → its place, a pointer */
    struct kc_variable_place *places; /* by slot */
    uint64_t local_size, scratch_size, scratch_item_size, stack_size; /* bytes */
    bool tells_places;                                                /* KC_CALL_PLACES: no array is on the stack */
    bool returns;             /* some work-items may return while others go on to a barrier */
    uint64_t returned_offset; /* in scratch, a byte for each item: it has returned */

    LLVMValueRef group[3], base[3], size[3]; /* of the current group: number, first global id, items; i64 */
    LLVMValueRef wide_end, pair_end;         /* i64: items of a row that run in wide strips, in pairs of them */
    LLVMValueRef next_phase;                 /* variable, i32: the number of the next phase, or n_phases */
    LLVMMetadataRef access_group;
    LLVMMetadataRef kept; /* the alias scope of values in scratch, which the kernel's own accesses don't touch */
};

/* A strip under construction. */
struct kc_strip {
    struct kc_emit *emit;
    const struct kc_phase *phase;
    unsigned lanes;
    LLVMValueRef x, y, z;        /* i64: local ids of lane 0 */
    LLVMValueRef x32, global32;  /* i32, wide only: local and global id of lane 0 in dimension 0 */
    LLVMValueRef item;           /* i64: number of lane 0 in the group */
    LLVMValueRef *held;          /* by slot: variable; an element for each lane, or one if the slot is uniform */
    LLVMValueRef order;          /* variable: the order of the bound at which each lane waits */
    LLVMValueRef next, lowest;   /* variables, i32: where the last lane went; the lowest order at which any lane
                                    waits */
    LLVMValueRef next_phase;     /* variable, i32 */
    LLVMValueRef combined, sum;  /* the region's atomic operation that the strip makes at once, and the variable for its
                                    operand; NULL: there is none */
    LLVMBasicBlockRef end, skip; /* skip: nothing is written back */
    LLVMBasicBlockRef *starts;   /* by region of the phase */
};

/* A loop over the lanes; with one lane there is none. */
struct kc_lanes {
    bool serial; /* set before its beginning: the loop stays one */
    unsigned n;
    LLVMBasicBlockRef head;
    LLVMValueRef index; /* i32 */
};

/* group.c: fills the results in *emit; the function is complete. */
void kc_emit_group_function(struct kc_emit *emit);
LLVMValueRef kc_variable(struct kc_emit *emit, LLVMTypeRef type, uint64_t n, const char *name);
LLVMBasicBlockRef kc_new_block(struct kc_emit *emit, const char *name);
unsigned kc_phase_number(const struct kc_plan *plan, int bound);
LLVMValueRef kc_build_min(struct kc_emit *emit, LLVMValueRef a, LLVMValueRef b);

/* variables.c: decides where slots and local variables are, in this order. */
void kc_place_variables(struct kc_emit *emit);
void kc_find_local_variables(struct kc_emit *emit);
/* The place of a lane's slot in scratch. item: i64, of the lane. lane: i32. */
LLVMValueRef kc_scratch_place(struct kc_emit *emit, unsigned slot, LLVMValueRef item, LLVMValueRef lane);
LLVMValueRef kc_returned_place(struct kc_emit *emit, LLVMValueRef item);

/* strip.c: the strip from the builder's position on; ends at the position after it. */
void kc_emit_strip(struct kc_strip *strip);

/* lane.c */
void kc_lanes_begin(struct kc_strip *strip, struct kc_lanes *lanes, const char *name);
void kc_lanes_end(struct kc_strip *strip, struct kc_lanes *lanes);
/* Marks an access as parallel: lanes do it in any order. */
LLVMValueRef kc_parallel(struct kc_strip *strip, LLVMValueRef access);
/* The lane's item, i64. */
LLVMValueRef kc_lane_item(struct kc_strip *strip, LLVMValueRef lane);
/* The place of a lane in a variable with an element for each lane. */
LLVMValueRef kc_lane_place(struct kc_strip *strip, LLVMValueRef variable, LLVMTypeRef type, LLVMValueRef lane);
/* The blocks of a region for a lane, from the builder's position on; all paths lead to `end`, with the next bound in
 * strip->next. */
void kc_emit_lane(struct kc_strip *strip, const struct kc_region *region, LLVMValueRef lane, LLVMBasicBlockRef end);

/* query.c: the value of an id function's call. lane: NULL for the strip as a whole. */
LLVMValueRef kc_build_query(struct kc_strip *strip, LLVMValueRef call, LLVMValueRef dimension, LLVMValueRef lane);
/* The function's own version of a constant that refers to variables in local memory. */
LLVMValueRef kc_build_constant(struct kc_emit *emit, LLVMValueRef constant);

/* The number by which lanes refer to a bound. */
static inline uint32_t kc_bound_order(const struct kc_emit *emit, int bound)
{
    return bound == KC_EXIT ? KC_EXIT_ORDER : emit->bounds->order[bound];
}

#endif
