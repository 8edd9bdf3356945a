#include "compiler/middle/images.h"

#include "compile_client/kernel_image.h"
#include "compiler/middle/texels.h"

#include <stdlib.h>

static const struct called {
    const char *name;
    bool samples; /* by a sampler and floating-point coordinates */
} all[] = {{"__tsl_called_image_load", false},
           {"__tsl_called_image_load_again", false},
           {"__tsl_called_image_store", false},
           {"__tsl_called_image_sample", true}};

/* Kernels are far longer then: what is constant in a call is worth most of that. */
static const char passes[] = "always-inline,globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                             "simplifycfg)";

/* Of a sampler that isn't constant nothing folds, and kernels with many reads become too long. */
#define MOST_SAMPLES 16

/* A read by a texture unit is that much shorter. */
#define TEXEL_WORTH 8

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

    if (samples && most > MOST_SAMPLES)
        most = MOST_SAMPLES;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);

        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function)
            continue;
        note_description(LLVMGetOperand(call, 0));
        if (is_short(call, samples) && n++ < most)
            inline_call(call);
    }
}

static bool inline_called(LLVMModuleRef module, const struct called *called, unsigned most)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, called->name);
    LLVMValueRef twin = kc_texel_twin(module, called->name);

    if (!function || LLVMIsDeclaration(function))
        return false;
    if (twin)
        inline_some(twin, most * TEXEL_WORTH, called->samples);
    inline_some(function, most, called->samples);
    return true;
}

bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, unsigned most, FILE *log)
{
    bool any = false, done;
    char *why = NULL;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        any |= inline_called(module, &all[i], most);
    if (!any)
        return true;
    done = kc_run_passes(module, machine, passes, &why);
    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}
