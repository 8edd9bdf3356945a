/*
 * What follows from masks: how a vector of conditions is made of others tells what all lanes of a mask have in common.
 */
#ifndef KC_WORKGROUP_ANALYSIS_IMPLIED_H
#define KC_WORKGROUP_ANALYSIS_IMPLIED_H

#include <llvm-c/Core.h>

enum kc_implied { KC_IMPLIED_NOTHING, KC_IMPLIED_TRUE, KC_IMPLIED_FALSE };

/* Whether `other` is true, or false, for each lane that is in `mask`. Both are vectors of i1. Conditions that aren't
 * combined of others may have any value. */
enum kc_implied kc_implied_by(LLVMValueRef mask, LLVMValueRef other);

#endif
