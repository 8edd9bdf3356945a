/*
 * Copies and fills of memory, as structures and arrays are assigned. LLVM's back end makes loops over bytes of those of
 * more than 64 bytes: a structure of 80 bytes took 160 accesses. They are made of the widest accesses that are aligned,
 * one after the other or, where they are many, in a loop.
 */
#ifndef KC_PTX_COPIES_H
#define KC_PTX_COPIES_H

#include "compiler/support/llvm.h"

#include <stdbool.h>

/* False: there were none. Else functions are to be inlined, and what is copied to a work-item's own variables may be
 * registers now. After all optimisations, which know what a copy is. */
bool kc_widen_copies(LLVMModuleRef module);

#endif
