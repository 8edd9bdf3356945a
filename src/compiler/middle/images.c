#include "compiler/middle/images.h"

#include "compile_client/kernel_image.h"

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

static void set_attribute(LLVMValueRef function, unsigned param, const char *name, uint64_t value)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));

    LLVMAddAttributeAtIndex(function, 1 + param, LLVMCreateEnumAttribute(context, kc_attribute_kind(name), value));
}

/* A kernel's image: nobody writes to its description, whatever the kernel writes to. */
static void note_description(LLVMValueRef image)
{
    LLVMValueRef function;
    unsigned param = 0;

    while (LLVMIsAAddrSpaceCastInst(image))
        image = LLVMGetOperand(image, 0);
    if (!LLVMIsAArgument(image))
        return;
    function = LLVMGetParamParent(image);
    while (LLVMGetParam(function, param) != image)
        param++;
    if (!kc_is_kernel(function) && !kc_is_marked(function))
        return;
    set_attribute(function, param, "noalias", 0);
    set_attribute(function, param, "readonly", 0);
    set_attribute(function, param, "align", 8);
    set_attribute(function, param, "dereferenceable", sizeof(struct tsl_kc_image));
}

static bool is_short(LLVMValueRef call, bool samples)
{
    return !samples || LLVMIsConstant(LLVMGetOperand(call, 1));
}

/* The others stay calls. */
static void inline_some(LLVMValueRef function, unsigned most, bool samples)
{
    unsigned n = 0;

    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);

        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function)
            continue;
        note_description(LLVMGetOperand(call, 0));
        if (is_short(call, samples) && n++ < most)
            inline_call(call);
    }
}

bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, unsigned most, FILE *log)
{
    bool any = false, done;
    char *why = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, names[i]);

        if (!function || LLVMIsDeclaration(function))
            continue;
        any = true;
        inline_some(function, i == SAMPLE && most > MOST_SAMPLES ? MOST_SAMPLES : most, i == SAMPLE);
    }
    if (!any)
        return true;
    done = kc_run_passes(module, machine, passes, &why);
    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}
