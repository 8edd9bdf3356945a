/*
 * Phases and regions: how the blocks of a kernel are run by many work-items in one thread.
 *
 * A phase begins at the kernel's entry or at a barrier ("real bound") and goes to the next barriers: all work-items of
 * the group run it, strip after strip, before the next phase begins. All work-items go to the same next phase (OpenCL C
 * 3.0, 6.15.8: all work-items reach the same barrier).
 *
 * Within a phase all lanes of a strip run a region before the next one. Regions begin at "pseudo bounds": loop headers,
 * the blocks after loops, the arms of uniform branches, and the blocks where divergent arms meet again if an arm has a
 * bound. A region has all blocks that are reached from its start without passing a bound; a block may be in several
 * regions.
 *
 * A region is masked if perhaps not all lanes run it: then each lane has the number of the bound at which it waits, and
 * the next region to run is always the one with the lowest number. The order of bounds is topological, except that a
 * loop's header comes after the rest of the loop. Hence all lanes are together again at an unmasked bound at the
 * latest, and lanes in a loop run its iterations together (uniform.h relies on that).
 */
#ifndef KC_WORKGROUP_ANALYSIS_REGION_H
#define KC_WORKGROUP_ANALYSIS_REGION_H

#include "compiler/workgroup/analysis/slots.h"

/* The bound that stands for the kernel's end, and its order: after all others. */
#define KC_EXIT       KC_NONE
#define KC_EXIT_ORDER 0x7fffffffu

struct kc_region {
    int start; /* block */
    bool masked;
    bool serial;            /* lanes run it one after the other (serial.h) */
    bool diverges;          /* lanes may go to different bounds */
    struct kc_bits blocks;  /* of the function */
    unsigned n_exits;       /* bounds to which lanes may go, each once */
    int *exits;             /* blocks, or KC_EXIT */
    struct kc_bits in, out; /* value slots that are read from, written back to the strip */
    struct kc_bits pending; /* bounds at which lanes may wait after it: by block, n_blocks is the exit */
    struct kc_region *few;  /* what few lanes run one after the other instead (rare_loops.h); NULL: there is none */
};

struct kc_phase {
    int start;          /* block */
    bool after_returns; /* some work-items may have returned before */
    unsigned n_regions; /* [0] begins at start */
    struct kc_region *regions;
    unsigned n_exits; /* real bounds: blocks, or KC_EXIT */
    int *exits;
    struct kc_bits in, out; /* value slots that live across barriers */
    bool needs_order;       /* lanes' numbers are used */
};

/* How a kernel runs with some number of lanes: with one lane there are no pseudo bounds. */
struct kc_plan {
    unsigned n_phases; /* [0] begins at the entry */
    struct kc_phase *phases;
};

struct kc_bounds {
    bool *real, *pseudo; /* by block */
    unsigned *order;     /* by block; real bounds come after all pseudo ones */
};

/* Before slots are made: slots don't change blocks. */
void kc_bounds_create(struct kc_bounds *bounds, const struct kc_wg *wg, const struct kc_uniform *strip);
void kc_bounds_finish(struct kc_bounds *bounds);

void kc_plan_create(struct kc_plan *plan, const struct kc_wg *wg, const struct kc_bounds *bounds,
                    const struct kc_slots *slots, const struct kc_uniform *strip, const struct kc_uniform *group,
                    bool pseudo);
void kc_plan_finish(struct kc_plan *plan);

/* The region of a phase that starts at a block; NULL: none, it is a real bound. */
struct kc_region *kc_region_at(const struct kc_phase *phase, int block);

#endif
