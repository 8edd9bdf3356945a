/*
 * A vector's element whose number isn't known: LLVM stores the vector and loads the element. Registers have no numbers,
 * but up to four of them are chosen from sooner than memory answers: one register of several is shifted, of more the
 * half is chosen first.
 */
#ifndef KC_PTX_ELEMENTS_H
#define KC_PTX_ELEMENTS_H

#include "compiler/support/llvm.h"

/* After all optimisations, which find out what numbers are known. */
void kc_choose_elements(LLVMModuleRef module);

#endif
