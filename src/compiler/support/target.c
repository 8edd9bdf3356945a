#include "compiler/support/target.h"

#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool create(const char *triple, const char *processor, const char *features, LLVMCodeModel model,
                   struct kc_target *target, char **why)
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
    target->machine =
        LLVMCreateTargetMachine(found, triple, processor, features, LLVMCodeGenLevelAggressive, LLVMRelocPIC, model);
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
    done = create(triple, name, features, LLVMCodeModelDefault, target, why);
    if (done && processor && !kc_knows_processor(target->machine, processor)) {
        if (asprintf(why, "LLVM knows no processor %s for %s (TESELA_PROCESSOR)", processor, triple) < 0)
            *why = strdup("LLVM knows no such processor (TESELA_PROCESSOR)");
        kc_target_finish(target);
        done = false;
    }
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(name);
    LLVMDisposeMessage(features);
    return done;
}

unsigned kc_lanes(LLVMTargetMachineRef machine)
{
    return kc_has_feature(machine, "avx512f") ? 16 : kc_has_feature(machine, "avx") ? 8 : 4;
}

/* LLVM needs a PTX version that knows the processor; drivers accept later PTX versions as they get newer. LLVM 16 to 19
 * know no version after sm_90, whose code newer processors run. */
static const struct {
    unsigned processor;
    const char *name, *features;
} generations[] = {{90, "sm_90", "+ptx78"}, {89, "sm_89", "+ptx78"}, {87, "sm_87", "+ptx74"}, {86, "sm_86", "+ptx71"},
                   {80, "sm_80", "+ptx70"}, {75, "sm_75", "+ptx63"}, {72, "sm_72", "+ptx61"}, {70, "sm_70", "+ptx60"},
                   {60, "sm_60", "+ptx60"}, {0, "sm_50", "+ptx60"}};

bool kc_target_nvptx(const char *processor, struct kc_target *target, char **why)
{
    unsigned wanted = 75, i = 0;

    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    if (processor)
        sscanf(processor, "sm_%u", &wanted);
    while (generations[i].processor > wanted)
        i++;
    /* With smaller code models the optimiser turns tables of addresses into tables of differences, which PTX doesn't
     * have. */
    return create("nvptx64-nvidia-cuda", generations[i].name, generations[i].features, LLVMCodeModelLarge, target, why);
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
