/*
 * Stores that an optimiser may find idle: what they store is there already, or isn't defined. Ours leaves them out;
 * another compiler, or the same one with -cl-opt-disable, may make them. Then a footprint of its code must have them:
 * what another member writes there at the same time could be lost. For the same reason stores of a vector's components
 * stay whole in such code, as front ends have them (compiler/middle/component_stores.h).
 */
#ifndef KC_MIDDLE_IDLE_STORES_H
#define KC_MIDDLE_IDLE_STORES_H

#include "compiler/support/llvm.h"

/* With functions inlined and variables in registers, for code of which only the footprint is asked: keeps the stores to
 * memory that others see. Their values can't be compared any more. Stores that a later one to the same place hides may
 * still go. */
void kc_keep_idle_stores(LLVMModuleRef module);

#endif
