/*
 * What LLVM makes code for.
 */
#ifndef KC_TARGET_H
#define KC_TARGET_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

struct kc_target {
    LLVMTargetMachineRef machine;
    char *triple; /* LLVMDisposeMessage */
    char *layout;
};

/* The host. processor: a name that LLVM knows; NULL: the one it runs on, with all its features. False: *why (heap). */
bool kc_target_host(const char *processor, struct kc_target *target, char **why);
/* NVIDIA GPUs; processor: "sm_90"; NULL: sm_75. */
bool kc_target_nvptx(const char *processor, struct kc_target *target, char **why);
void kc_target_finish(struct kc_target *target);

/* Gives the module the target's triple and layout. */
void kc_target_set(const struct kc_target *target, LLVMModuleRef module);

#endif
