/*
 * The library of built-in functions: libclc's bitcode and our own part over it, made into one file when Tesela is built
 * and kept beside tesela-kc. Its functions are linkonce_odr, so that linking takes those alone that are needed.
 */
#ifndef KC_BUILTINS_H
#define KC_BUILTINS_H

#include "kc/target.h"

/* `tesela-kc --make-builtins OUT LIBCLC SOURCE…`. Returns the exit status. */
int kc_builtins_make(const char *out, const char *libclc, unsigned n_sources, char *const *sources);

/* Opens the library for the host; functions are read when they are linked. Its file: "builtins.bc" beside the program.
 */
LLVMModuleRef kc_builtins_open(LLVMContextRef context, const char *path, char **why);

/* Makes a function of the front end's target one of any: no calling convention, no attributes of a target. */
void kc_builtins_neutralise(LLVMModuleRef module);

#endif
