/*
 * printf: calls of it become calls of the launch's print function (compile/work_group.h), with formats as C knows them.
 */
#ifndef KC_PRINT_H
#define KC_PRINT_H

#include <llvm-c/Core.h>

void kc_print_lower(LLVMModuleRef module);

#endif
