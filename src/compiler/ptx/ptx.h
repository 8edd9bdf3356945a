/*
 * The back end for NVIDIA GPUs: PTX text.
 */
#ifndef KC_PTX_PTX_H
#define KC_PTX_PTX_H

#include "compiler/cpu/cpu.h"

/* As kc_cpu; the artefact is text without a closing NUL. */
bool kc_ptx(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
            struct kc_bytes *text, FILE *log);

/* One text of those of a program's shares. */
bool kc_ptx_join(const struct kc_bytes *texts, unsigned n, struct kc_bytes *text);

/* What the built-in functions ask, before they are linked. */
void kc_ptx_answer(LLVMModuleRef module, bool flushes, bool relaxed);

#endif
