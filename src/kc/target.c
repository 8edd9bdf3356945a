#include "kc/target.h"

#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool create(const char *triple, const char *processor, const char *features, struct kc_target *target,
                   char **why)
{
    LLVMTargetRef found;
    LLVMTargetDataRef data;
    char *message = NULL;

    *target = (struct kc_target){.triple = LLVMCreateMessage(triple)};
    if (LLVMGetTargetFromTriple(triple, &found, &message)) {
        *why = strdup(message);
        LLVMDisposeMessage(message);
        return false;
    }
    target->machine = LLVMCreateTargetMachine(found, triple, processor, features, LLVMCodeGenLevelAggressive,
                                              LLVMRelocPIC, LLVMCodeModelDefault);
    if (!target->machine) {
        *why = strdup("LLVM has no machine for this processor");
        return false;
    }
    data = LLVMCreateTargetDataLayout(target->machine);
    target->layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return true;
}

bool kc_target_host(const char *processor, struct kc_target *target, char **why)
{
    char *triple = LLVMGetDefaultTargetTriple();
    char *name = processor ? LLVMCreateMessage(processor) : LLVMGetHostCPUName();
    char *features = processor ? LLVMCreateMessage("") : LLVMGetHostCPUFeatures();
    bool done;

    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    done = create(triple, name, features, target, why);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(name);
    LLVMDisposeMessage(features);
    return done;
}

bool kc_target_nvptx(const char *processor, struct kc_target *target, char **why)
{
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return create("nvptx64-nvidia-cuda", processor, "+ptx63", target, why);
}

void kc_target_finish(struct kc_target *target)
{
    if (target->machine)
        LLVMDisposeTargetMachine(target->machine);
    LLVMDisposeMessage(target->triple);
    LLVMDisposeMessage(target->layout);
    *target = (struct kc_target){.machine = NULL};
}

void kc_target_set(const struct kc_target *target, LLVMModuleRef module)
{
    LLVMSetTarget(module, target->triple);
    LLVMSetDataLayout(module, target->layout);
}
