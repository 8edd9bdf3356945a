/*
 * printf: calls of it become calls of the launch's print function (compile_client/work_group.h), or of CUDA's vprintf,
 * with formats as C knows them.
 */
#ifndef KC_MIDDLE_PRINT_H
#define KC_MIDDLE_PRINT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* gpu: for CUDA. A format that is no literal is left: what remains is told as defined nowhere. */
void kc_print_lower(LLVMModuleRef module, bool gpu);

#endif
