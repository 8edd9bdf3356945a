/*
 * The other front end: SPIR-V. The executable llvm-spirv, of LLVM's Khronos translator, makes LLVM IR from it, in terms
 * of OpenCL C 2.0 (mangled built-in functions, kernel metadata), for the target "spir64" and in the format of the LLVM
 * that it was built with. This front end turns that into the form in which Clang leaves OpenCL C.
 */
#ifndef KC_FRONT_SPIRV_H
#define KC_FRONT_SPIRV_H

#include <llvm-c/Core.h>
#include <stdio.h>

/* il: SPIR-V, with the values of its specialization constants. As with kc_front, the module is the caller's, neither
 * optimised nor verified. NULL: the log says why. */
LLVMModuleRef kc_spirv(LLVMContextRef context, const char *translator, const void *il, size_t size, FILE *log);

#endif
