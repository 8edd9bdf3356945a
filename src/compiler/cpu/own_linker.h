/*
 * The linker that is a part of this program where LLVM is linked statically: for machines that have no `ld`.
 */
#ifndef KC_CPU_OWN_LINKER_H
#define KC_CPU_OWN_LINKER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Links as `ld` does with these n arguments, the first of which is its name, and tells errors on standard error. It
 * leaves memory and state behind, so the caller is a process that ends. */
bool kc_own_linker(const char *const *arguments, unsigned n);

#ifdef __cplusplus
}
#endif

#endif
