/*
 * From the front end's module to the back ends' input: programs are linked with each other and with the built-in
 * functions, kernels marked, calls inlined, code simplified. compiler/workgroup/workgroup.h says what holds afterwards.
 */
#ifndef KC_MIDDLE_LINK_H
#define KC_MIDDLE_LINK_H

#include "compiler/support/target.h"

#include <stdio.h>

/* Links a program into another; `other` is consumed. False: the context's diagnostic handler was told which names
 * clash. */
bool kc_link_add(LLVMModuleRef module, LLVMModuleRef other);

/* Adds the built-in functions that are called, with kc_move_functions (compiler/support/move_functions.h). False: the
 * log names functions without a definition. */
bool kc_link_builtins(LLVMModuleRef module, LLVMModuleRef library, FILE *log);

/* Marks kernels, makes everything else internal; what no kernel needs is gone. */
bool kc_link_prepare(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log);

/* Inlines, simplifies. Each kernel becomes the same whichever others were taken out since kc_link_prepare. idle_stores:
 * for footprints of code that another compiler makes (compiler/middle/idle_stores.h). */
bool kc_link_finish(LLVMModuleRef module, LLVMTargetMachineRef machine, bool idle_stores, FILE *log);

#endif
