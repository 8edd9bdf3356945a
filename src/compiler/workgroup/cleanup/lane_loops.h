/*
 * Loops over the lanes of a strip, before the vectoriser or where it left them as they are.
 */
#ifndef KC_WORKGROUP_CLEANUP_LANE_LOOPS_H
#define KC_WORKGROUP_CLEANUP_LANE_LOOPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* The number of the metadata at a loop's back edge. */
unsigned kc_loop_kind(LLVMModuleRef module);

/* Is it the back edge of a loop that is to become a vector's? kind: as above. NULL: no. */
bool kc_is_lane_loop(LLVMValueRef branch, unsigned kind);

#endif
