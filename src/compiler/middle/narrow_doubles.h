/* Doubles to halves on processors, which have no instruction for that. */
#ifndef KC_MIDDLE_NARROW_DOUBLES_H
#define KC_MIDDLE_NARROW_DOUBLES_H

#include <llvm-c/Core.h>

/* Each such conversion of the module's goes by a float, and rounds once: what isn't exact in the float has a last bit
 * of 1. Vectors, too. LLVM would call a function of its run-time library. */
void kc_narrow_doubles(LLVMModuleRef module);

#endif
