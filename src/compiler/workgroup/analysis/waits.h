/*
 * Loops in which a work-item waits until another has done something: locks and flags.
 */
#ifndef KC_WORKGROUP_ANALYSIS_WAITS_H
#define KC_WORKGROUP_ANALYSIS_WAITS_H

#include "compiler/workgroup/analysis/uniform.h"

/* An access in a loop by which a work-item sees what others have done. */
bool kc_is_look(const struct kc_wg *wg, LLVMValueRef instruction);

/*
 * May work-items of a strip wait for each other in a loop? The one that holds a lock leaves the loop to do its work,
 * which a strip begins only when all lanes have left. Then the kernel has to run item by item. OpenCL promises no
 * progress within a group, but between groups, whose work-items may be of one strip too, all implementations give it.
 */
bool kc_waits(const struct kc_wg *wg, const struct kc_uniform *strip);

#endif
