/*
 * Moves the functions that a program needs out of a library into it.
 */
#ifndef KC_SUPPORT_MOVE_FUNCTIONS_H
#define KC_SUPPORT_MOVE_FUNCTIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Moves what `module` declares and `library` defines, with everything used by that, from the library to the module;
 * both are in one context. The program's own definitions stay. The library is incomplete afterwards: it can't be used
 * again, and must be disposed of before the module. False: *why (heap); neither can be used again.
 */
bool kc_move_functions(LLVMModuleRef module, LLVMModuleRef library, char **why);

#ifdef __cplusplus
}
#endif

#endif
