/*
 * PTX of a program that was compiled in shares (compiler/middle/shares.h) is one text again.
 */
#ifndef KC_PTX_JOIN_H
#define KC_PTX_JOIN_H

#include <llvm-c/Core.h>

/* Gives what a share has for itself, functions and variables, names that no other share has. */
void kc_ptx_name_share(LLVMModuleRef module, unsigned share);

#endif
