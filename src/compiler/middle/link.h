/*
 * From what the front end made to what the back ends are given: programs linked with each other and with the built-in
 * functions, kernels marked, calls inlined, simplified. compiler/workgroup/workgroup.h says what holds afterwards.
 */
#ifndef KC_MIDDLE_LINK_H
#define KC_MIDDLE_LINK_H

#include "compiler/support/target.h"

#include <stdio.h>

/* Adds a program to another; `other` is used up. False: the context's diagnostic handler was told which names clash. */
bool kc_link_add(LLVMModuleRef module, LLVMModuleRef other);

/* Adds the built-in functions that are called, as kc_move_functions (compiler/support/move_functions.h). False: the log
 * names what is defined nowhere. */
bool kc_link_builtins(LLVMModuleRef module, LLVMModuleRef library, FILE *log);

/* Marks kernels, makes all else internal, inlines, simplifies. */
bool kc_link_finish(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log);

#endif
