/*
 * The library of built-in functions: libclc's bitcode and our own functions over it, linked into one file when Tesela
 * is built, and installed beside tesela-kc. Its functions are linkonce_odr, so that only those that are needed are
 * linked.
 */
#ifndef KC_BUILTINS_BUILTINS_H
#define KC_BUILTINS_BUILTINS_H

#include "compiler/support/target.h"

/* The library's files, beside the program. */
#define KC_BUILTINS_CPU     "builtins.bc"
#define KC_BUILTINS_NVPTX   "builtins-nvptx.bc"
#define KC_WORK_ITEMS_NVPTX "work-items-nvptx.bc"

/* int (void), which libraries for GPUs ask and a program's build defines: are subnormal floats zero? may functions be
 * as inexact as OpenCL C 3.0, 7.4, lets them be with -cl-unsafe-math-optimizations? */
#define KC_FLUSHES_FUNCTION "__tsl_flushes"
#define KC_RELAXED_FUNCTION "__tsl_relaxed"

/* int (void), which functions that read images ask (compiler/middle/texels.h): by texture units? */
#define KC_TEXELS_FUNCTION "__tsl_reads_texels"

/* `tesela-kc --make-builtins OUT LIBCLC SOURCE…`; LIBCLC "-": the sources alone. A
 * source may be bitcode: NVIDIA's libdevice. Returns the exit status. */
int kc_builtins_make(const char *out, const char *libclc, unsigned n_sources, char *const *sources);

/* Opens one of these files; functions are read lazily, when they are linked. NULL: *why (heap). */
LLVMModuleRef kc_builtins_open(LLVMContextRef context, const char *name, char **why);

/* Makes a function of the front end's target fit any target: no calling convention, no target attributes. */
void kc_builtins_neutralise(LLVMModuleRef module);

/* Metadata of instructions that order nothing between work-groups, though they say more; and who puts it there. */
#define KC_NARROW "tsl.narrow"
void kc_mark_narrow(LLVMModuleRef library);

#endif
