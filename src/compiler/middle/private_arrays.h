/*
 * Private arrays that loops walk through. They are in registers once every index is a constant: so loops with a known
 * number of iterations are unrolled as a whole for their sake, also where LLVM would think them too large for that.
 * What is read back from registers can be followed further, too: an index that a kernel keeps in an array is part of a
 * footprint then.
 */
#ifndef KC_MIDDLE_PRIVATE_ARRAYS_H
#define KC_MIDDLE_PRIVATE_ARRAYS_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the loops to be unrolled. Functions are inlined, loops rotated and their counters simplified. Loops that the
 * program itself has something to say about (opencl_unroll_hint) stay as they are. */
void kc_mark_private_arrays(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
