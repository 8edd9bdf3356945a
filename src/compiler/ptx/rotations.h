/*
 * Rotations of 64 bits by an amount that isn't known. LLVM makes three shifts of 64 bits of one, each of which is
 * several instructions; the hardware shifts two registers of 32 bits at once (PTX ISA 8.5, 9.7.8.6).
 */
#ifndef KC_PTX_ROTATIONS_H
#define KC_PTX_ROTATIONS_H

#include "compiler/support/llvm.h"

/* After all optimisations, which know nothing of these instructions. */
void kc_rotations(LLVMModuleRef module);

#endif
