/*
 * A work-group function that is one of two, by the launch.
 */
#ifndef KC_WORKGROUP_TRANSFORM_EITHER_H
#define KC_WORKGROUP_TRANSFORM_EITHER_H

#include "compiler/workgroup/ir.h"

/* Calls `turned` (direction.h) for groups with a strip's work-items or more in dimension 1, `straight` for others. */
LLVMValueRef kc_build_either(struct kc_wg *wg, LLVMValueRef straight, LLVMValueRef turned, unsigned lanes);

#endif
