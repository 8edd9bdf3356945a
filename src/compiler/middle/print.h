/*
 * printf: calls become calls of the launch's print function (compile_client/work_group.h) or of CUDA's vprintf, with
 * formats in C's syntax.
 */
#ifndef KC_MIDDLE_PRINT_H
#define KC_MIDDLE_PRINT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* gpu: for CUDA. A format that isn't a literal is left alone: the remaining call is reported as undefined. */
void kc_print_lower(LLVMModuleRef module, bool gpu);

#endif
