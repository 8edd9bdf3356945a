/*
 * Calls that are left in simplified kernels for the back ends (compiler/workgroup/workgroup.h).
 */
#ifndef KC_WORKGROUP_CALLS_H
#define KC_WORKGROUP_CALLS_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kc_call {
    KC_CALL_OTHER, /* and all that isn't a call */
    KC_CALL_LOCAL_ID,
    KC_CALL_GLOBAL_ID,
    KC_CALL_GROUP_ID,
    KC_CALL_LOCAL_SIZE,
    KC_CALL_ENQUEUED_LOCAL_SIZE,
    KC_CALL_NUM_GROUPS,
    KC_CALL_GLOBAL_SIZE,
    KC_CALL_GLOBAL_OFFSET,
    KC_CALL_WORK_DIM,
    KC_CALL_LAUNCH,
    KC_CALL_THREAD,
    KC_CALL_PLACES, /* up to here: no effect, no memory */
    KC_CALL_BARRIER,
    KC_CALL_NOTHING, /* no meaning here: lifetimes and the like */
};

enum kc_call kc_call_of(LLVMValueRef value);

#ifdef __cplusplus
}
#endif

#endif
