/*
 * Reads and writes of images on the CPU. Up to here they are calls, in which facts and footprints see what is accessed.
 * Kernels get the code for usual formats (compiler/builtins/image.cl) in their place: a call takes as long as all of
 * that.
 */
#ifndef KC_CPU_IMAGES_H
#define KC_CPU_IMAGES_H

#include "compiler/support/llvm.h"

#include <stdio.h>

/* Facts are known, and work-group functions not made yet. Not for code whose accesses are checked, which looks for the
 * calls. False: the log says why. */
bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log);

#endif
