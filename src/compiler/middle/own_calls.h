/*
 * Functions of a program, and built-in ones, that are called instead of inlined. With all of them inlined a kernel may
 * have a hundred times the code of its source: where it runs item by item anyway, nothing is gained by that. Facts and
 * footprints are read off the kernel that has everything inlined; a copy of the module, taken before, gives the kernel
 * with calls.
 */
#ifndef KC_MIDDLE_OWN_CALLS_H
#define KC_MIDDLE_OWN_CALLS_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of a module as kc_link_prepare left it, in which kc_is_called holds for the functions that are worth a call:
 * large ones that kernels would have several times, without barriers, ids and local memory. NULL: there are none, or
 * kernels share variables, of which a copy would be others. */
LLVMModuleRef kc_calls_copy(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
