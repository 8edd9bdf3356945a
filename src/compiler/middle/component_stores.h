/*
 * Stores of some of a vector's components. Each component is a memory location of its own, which other work-items may
 * write at the same time. But front ends compile `p->x = a` to a load of the whole vector, an insertion and a store of
 * the whole vector, so that a write of another component in between is lost. Such a store becomes stores of the
 * components that it changes.
 *
 * Which components a store changes can be seen only in the front end's code. Which vectors are private is known only
 * when functions are inlined: private ones stay whole, as subscripts would keep them out of registers.
 */
#ifndef KC_MIDDLE_COMPONENT_STORES_H
#define KC_MIDDLE_COMPONENT_STORES_H

#include "compiler/support/llvm.h"

/* In the front end's code: marks such stores. */
void kc_mark_component_stores(LLVMModuleRef module);

/* With functions inlined and variables in registers: replaces marked stores by stores of the components. */
void kc_part_component_stores(LLVMModuleRef module);

#endif
