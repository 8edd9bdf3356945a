/*
 * Images whose formats, and samplers whose bits, are known when a kernel is compiled (struct tsl_wire_known): kernels
 * for launches that have such arguments. What depends on the format alone is decided here, once, so reads and writes
 * of any format are short: they are inlined, and have no branch over formats that lanes would run under masks.
 */
#ifndef KC_MIDDLE_KNOWN_IMAGES_H
#define KC_MIDDLE_KNOWN_IMAGES_H

#include "compile_client/wire.h"
#include "compiler/support/llvm.h"

/* Samplers become constants. */
void kc_know_samplers(LLVMModuleRef module, const struct tsl_wire_build *build);

/* What the kernel's code loads from the images' descriptions becomes constant, as far as the formats say it. */
void kc_know_images(LLVMModuleRef module, const struct tsl_wire_build *build);

/* Marks the calls of functions for any format, of images that are known, to be inlined. False: there are none. */
bool kc_inline_known(LLVMModuleRef module, const struct tsl_wire_build *build);

#endif
