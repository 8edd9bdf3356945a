/*
 * The differences between neighbouring elements of an index vector, as far as they can be seen in vectorised code. The
 * answer is a hint: overflows are ignored.
 */
#ifndef KC_WORKGROUP_ANALYSIS_STEPS_H
#define KC_WORKGROUP_ANALYSIS_STEPS_H

#include <llvm-c/Core.h>
#include <stdint.h>

enum kc_growth {
    KC_STEADY,    /* `step` from lane to lane */
    KC_SCALED,    /* `step` times a number that lanes share, which isn't known */
    KC_CLAMPED,   /* `step`, or 0 beyond a limit */
    KC_OPEN,      /* unknown */
    KC_SCATTERED, /* `step` only by chance: loaded values, multiples of what isn't steady */
};

struct kc_steps {
    enum kc_growth growth;
    uint64_t step; /* modulo 2^64 */
};

struct kc_steps kc_steps_of(LLVMValueRef indices);

#endif
