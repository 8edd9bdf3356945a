#include "compiler/middle/images.h"

#include "compile_client/kernel_image.h"
#include "compiler/middle/known_images.h"
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

/* Even of a constant sampler much is left, and kernels with many reads become too long. */
#define MOST_SAMPLES 16

/* A read by a texture unit is that much shorter. */
#define TEXEL_WORTH 8

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

/* Reads, or writes, that may be inlined. */
struct room {
    unsigned by_index, nearest, linear;
};

/* What a call takes of; NULL: it stays a call, as of a sampler that isn't constant nothing folds. */
static unsigned *room_for(struct room *room, LLVMValueRef call, bool samples)
{
    LLVMValueRef sampler = samples ? LLVMGetOperand(call, 1) : NULL;

    if (!samples)
        return &room->by_index;
    if (!LLVMIsAConstantInt(sampler))
        return NULL;
    return LLVMConstIntGetZExtValue(sampler) & TSL_KC_SAMPLER_LINEAR ? &room->linear : &room->nearest;
}

/* The others stay calls. */
static void inline_some(LLVMValueRef function, struct room room, bool samples)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);
        unsigned *left;

        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function)
            continue;
        note_description(LLVMGetOperand(call, 0));
        left = room_for(&room, call, samples);
        if (!left || *left == 0)
            continue;
        --*left;
        kc_inline_call(call);
    }
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool inline_called(LLVMModuleRef module, const struct called *called, unsigned most)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, called->name);
    LLVMValueRef twin = kc_texel_twin(module, called->name);
    unsigned samples = least(most, MOST_SAMPLES), texels = most * TEXEL_WORTH;

    if (!function || LLVMIsDeclaration(function))
        return false;
    if (twin)
        inline_some(twin, (struct room){texels, texels, samples}, called->samples);
    inline_some(function, (struct room){most, samples, samples}, called->samples);
    return true;
}

static bool run(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log)
{
    char *why = NULL;
    bool done = kc_run_passes(module, machine, passes, &why);

    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}

/* A function for any format calls others at most three deep. */
#define MOST_ROUNDS 4

/* Each round inlines what the last one left for the formats that are known. */
static bool inline_known(LLVMModuleRef module, LLVMTargetMachineRef machine, const struct tsl_wire_build *build,
                         FILE *log)
{
    bool done = true;

    for (unsigned round = 0; round < MOST_ROUNDS && done; round++) {
        kc_know_images(module, build);
        done = run(module, machine, log);
        if (!done || !kc_inline_known(module, build))
            return done;
        done = run(module, machine, log);
    }
    return done;
}

bool kc_inline_images(LLVMModuleRef module, LLVMTargetMachineRef machine, unsigned most,
                      const struct tsl_wire_build *build, FILE *log)
{
    bool any = false, known = build && build->n_known;

    if (known) {
        kc_know_samplers(module, build);
        if (!run(module, machine, log))
            return false;
    }
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        any |= inline_called(module, &all[i], most);
    return !any || (run(module, machine, log) && (!known || inline_known(module, machine, build, log)));
}
