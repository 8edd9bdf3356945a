/*
 * The other front end: SPIR-V. llvm-spirv, a program of its own of LLVM's Khronos translator, makes LLVM IR of it, in
 * the words of OpenCL C 2.0 (its mangled built-in functions, kernel metadata), for the target "spir64" and by whatever
 * LLVM that program is of. What is left is to say it as Clang does for ours.
 */
#ifndef KC_FRONT_SPIRV_H
#define KC_FRONT_SPIRV_H

#include <llvm-c/Core.h>
#include <stdio.h>

/* il: SPIR-V, with the values that its constants shall have. As kc_front's, the module is the caller's, neither
 * optimised nor verified. NULL: the log says why. */
LLVMModuleRef kc_spirv(LLVMContextRef context, const char *translator, const void *il, size_t size, FILE *log);

#endif
