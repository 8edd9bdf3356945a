/*
 * How the elements of a vector of indices follow one another, as far as it is plain to see in vectorised code. What is
 * said is a hint: overflows aren't thought of.
 */
#ifndef KC_WORKGROUP_ANALYSIS_STEPS_H
#define KC_WORKGROUP_ANALYSIS_STEPS_H

#include <llvm-c/Core.h>
#include <stdint.h>

enum kc_growth {
    KC_STEADY,    /* from lane to lane by `step` */
    KC_CLAMPED,   /* by `step`, or not at all beyond a limit */
    KC_OPEN,      /* who knows */
    KC_SCATTERED, /* by one at most by chance: what was loaded, multiples of what isn't steady */
};

struct kc_steps {
    enum kc_growth growth;
    uint64_t step; /* of 64 bits that go round */
};

struct kc_steps kc_steps_of(LLVMValueRef indices);

#endif
