/*
 * The library of built-in functions: libclc's bitcode and our own part over it, made into one file when Tesela is built
 * and kept beside tesela-kc. Its functions are linkonce_odr, so that linking takes those alone that are needed.
 */
#ifndef KC_BUILTINS_BUILTINS_H
#define KC_BUILTINS_BUILTINS_H

#include "compiler/support/target.h"

/* Their files, beside the program. */
#define KC_BUILTINS_CPU     "builtins.bc"
#define KC_BUILTINS_NVPTX   "builtins-nvptx.bc"
#define KC_WORK_ITEMS_NVPTX "work-items-nvptx.bc"

/* `tesela-kc --make-builtins OUT LIBCLC SOURCE…`; LIBCLC "-": the sources alone. Returns the exit status. */
int kc_builtins_make(const char *out, const char *libclc, unsigned n_sources, char *const *sources);

/* Opens one of these files; functions are read when they are linked. NULL: *why (heap). */
LLVMModuleRef kc_builtins_open(LLVMContextRef context, const char *name, char **why);

/* Makes a function of the front end's target one of any: no calling convention, no attributes of a target. */
void kc_builtins_neutralise(LLVMModuleRef module);

/* Metadata of instructions that order nothing between work-groups, though they say more; and who puts it there. */
#define KC_NARROW "tsl.narrow"
void kc_mark_narrow(LLVMModuleRef library);

#endif
