/*
 * What a program needs of a library of functions, moved into it.
 */
#ifndef KC_SUPPORT_MOVE_FUNCTIONS_H
#define KC_SUPPORT_MOVE_FUNCTIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Moves what `module` declares and `library` defines, and all that this uses in turn, from the one to the other; both
 * are of one context. What a program defines itself stays as it is. The library has holes afterwards: it is of no more
 * use, and is disposed of before the module. False: *why (heap); both are of no more use.
 */
bool kc_move_functions(LLVMModuleRef module, LLVMModuleRef library, char **why);

#ifdef __cplusplus
}
#endif

#endif
