/*
 * Reads and writes of images. Up to here they are calls, in which facts and footprints see what is accessed. Kernels
 * get the code for usual formats (compiler/builtins/image.cl) in their place: a call takes as long as all of that.
 */
#ifndef KC_MIDDLE_IMAGES_H
#define KC_MIDDLE_IMAGES_H

#include "compile_client/wire.h"
#include "compiler/support/llvm.h"

#include <stdio.h>

/* Facts are known, and work-group functions not made yet. Not for code whose accesses are checked, which looks for the
 * calls. most: reads, and writes, that are no calls any more; the rest stay calls. build: what is known of a kernel's
 * arguments; NULL: nothing. False: the log says why. */
bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, unsigned most,
                      const struct tsl_wire_build *build, FILE *log);

#endif
