/*
 * The target of code generation.
 */
#ifndef KC_SUPPORT_TARGET_H
#define KC_SUPPORT_TARGET_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kc_target {
    LLVMTargetMachineRef machine;
    char *triple; /* LLVMDisposeMessage */
    char *layout;
};

/* The host. processor: a name known to LLVM; NULL: the present one, with all its features. False: *why (heap). */
bool kc_target_host(const char *processor, struct kc_target *target, char **why);
/* Does LLVM know a processor of that name for the machine's architecture? */
bool kc_knows_processor(LLVMTargetMachineRef machine, const char *processor);
/* "avx512f" and the like. */
bool kc_has_feature(LLVMTargetMachineRef machine, const char *feature);
/* The number of 32-bit elements in one of the host's vector registers. */
unsigned kc_lanes(LLVMTargetMachineRef machine);
/* NVIDIA GPUs. processor: "sm_90"; NULL: sm_75. */
bool kc_target_nvptx(const char *processor, struct kc_target *target, char **why);
void kc_target_finish(struct kc_target *target);

/* Gives the module the target's triple and layout. */
void kc_target_set(const struct kc_target *target, LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
