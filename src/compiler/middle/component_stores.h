/*
 * Stores of some of a vector's components. Each component is a memory location of its own, which other work-items may
 * write at the same time; but what front ends make of `p->x = a` loads the whole vector, changes the component and
 * stores the whole vector, so that a write of another component in between is lost. Such a store becomes one of the
 * components that it changes.
 *
 * What a store changes is plain to see only in code as the front end made it. Which vectors are private is known only
 * when functions are inlined: private ones stay whole, as subscripts would keep them from becoming registers.
 */
#ifndef KC_MIDDLE_COMPONENT_STORES_H
#define KC_MIDDLE_COMPONENT_STORES_H

#include "compiler/support/llvm.h"

/* As the front end made it: finds such stores. */
void kc_mark_component_stores(LLVMModuleRef module);

/* With functions inlined and variables in registers: stores the components alone. */
void kc_part_component_stores(LLVMModuleRef module);

#endif
