#include "compiler/cpu/images.h"

#include <stdlib.h>

enum { LOAD, STORE, SAMPLE };
static const char *const names[] = {
    [LOAD] = "__tsl_called_image_load", [STORE] = "__tsl_called_image_store", [SAMPLE] = "__tsl_called_image_sample"};

/* Kernels are far longer then: what is constant in a call is worth most of that. */
static const char passes[] = "always-inline,globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                             "simplifycfg)";

/* Of a sampler that isn't constant nothing folds, and kernels with many reads become too long. */
#define MOST_SAMPLES 16

static void inline_call(LLVMValueRef call)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));

    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, kc_attribute_kind("alwaysinline"), 0));
}

/* The others stay calls. */
static void inline_some(LLVMValueRef function)
{
    unsigned n = 0;

    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);

        if (LLVMIsACallInst(call) && LLVMGetCalledValue(call) == function && LLVMIsConstant(LLVMGetOperand(call, 1)) &&
            n++ < MOST_SAMPLES)
            inline_call(call);
    }
}

bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log)
{
    bool any = false, done;
    char *why = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, names[i]);

        if (!function || LLVMIsDeclaration(function))
            continue;
        any = true;
        if (i == SAMPLE) {
            inline_some(function);
            continue;
        }
        kc_remove_attribute(function, "noinline");
        kc_add_attribute(function, "alwaysinline");
    }
    if (!any)
        return true;
    done = kc_run_passes(module, machine, passes, &why);
    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}
