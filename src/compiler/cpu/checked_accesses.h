/*
 * TESELA_CHECK=access: before each access of a kernel to memory that may be an argument's stands a call of the launch's
 * check function (compile_client/work_group.h), which compares it with the kernel's footprint.
 *
 * The calls are put in after the footprint was made of the same code, and before the work-group pass. Accesses inside
 * built-in functions that stay calls aren't seen, but for pixels at integer coordinates.
 */
#ifndef KC_CPU_CHECKED_ACCESSES_H
#define KC_CPU_CHECKED_ACCESSES_H

#include <llvm-c/Core.h>

/* The kernel is simplified and marked; its footprint is made already. */
void kc_check_accesses(LLVMValueRef kernel);

#endif
