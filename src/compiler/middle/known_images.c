#include "compiler/middle/known_images.h"

#include "compile_client/kernel_image.h"

#include <stddef.h>

/* For any format, with the image as the first argument. */
static const char *const any_format[] = {"__tsl_called_other_load", "__tsl_called_other_sample",
                                         "__tsl_called_other_store"};

/* NULL: the module doesn't have the kernel, or it has no such parameter. */
static LLVMValueRef parameter(LLVMModuleRef module, const struct tsl_wire_build *build, uint32_t number)
{
    LLVMValueRef kernel = build->kernel ? LLVMGetNamedFunction(module, build->kernel) : NULL;

    if (!kernel || number >= LLVMCountParams(kernel))
        return NULL;
    return LLVMGetParam(kernel, number);
}

static bool is_sampler(const struct tsl_wire_known *known)
{
    return known->channel_order == 0;
}

void kc_know_samplers(LLVMModuleRef module, const struct tsl_wire_build *build)
{
    LLVMTypeRef u64 = LLVMInt64TypeInContext(LLVMGetModuleContext(module));

    for (uint32_t i = 0; i < build->n_known; i++) {
        LLVMValueRef param = parameter(module, build, build->known[i].arg);

        if (param && is_sampler(&build->known[i]) && LLVMGetTypeKind(LLVMTypeOf(param)) == LLVMPointerTypeKind)
            LLVMReplaceAllUsesWith(
                param, LLVMConstIntToPtr(LLVMConstInt(u64, build->known[i].sampler, false), LLVMTypeOf(param)));
    }
}

/* ---- Loads from descriptions ------------------------------------------------------------------------------------- */

/* The 32 bits at an offset of the description; false: the format doesn't say them. */
static bool word_at(const struct tsl_wire_known *known, uint64_t offset, uint32_t *word)
{
    const struct {
        size_t offset;
        uint32_t word;
    } fields[] = {{offsetof(struct tsl_kc_image, channel_order), known->channel_order},
                  {offsetof(struct tsl_kc_image, channel_type), known->channel_type},
                  {offsetof(struct tsl_kc_image, element_size), known->element_size},
                  {offsetof(struct tsl_kc_image, n_channels), known->n_channels},
                  {offsetof(struct tsl_kc_image, kind), known->kind},
                  {offsetof(struct tsl_kc_image, alpha), known->alpha}};

    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
        if (fields[f].offset == offset) {
            *word = fields[f].word;
            return true;
        }
    return false;
}

struct description {
    const struct tsl_wire_known *known;
    LLVMTargetDataRef layout;
};

/* By one index, or by that of a structure's field; false: it isn't a constant. */
static bool add_offset(const struct description *d, LLVMValueRef address, uint64_t *offset)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
    unsigned n = (unsigned)LLVMGetNumOperands(address);

    for (unsigned k = 1; k < n; k++)
        if (!LLVMIsAConstantInt(LLVMGetOperand(address, k)))
            return false;
    if (n < 2 || n > 3 || (n == 3 && LLVMGetTypeKind(type) != LLVMStructTypeKind))
        return false;
    *offset += (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(address, 1)) * LLVMABISizeOfType(d->layout, type);
    if (n == 3)
        *offset += LLVMOffsetOfElement(d->layout, type, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(address, 2)));
    return true;
}

static void answer_load(const struct description *d, LLVMValueRef load, uint64_t offset)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    uint32_t word;

    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) != 32 ||
        !word_at(d->known, offset, &word))
        return;
    LLVMReplaceAllUsesWith(load, LLVMConstInt(type, word, false));
    LLVMInstructionEraseFromParent(load);
}

/* base: the description's address, and offset bytes. */
static void answer_loads(const struct description *d, LLVMValueRef base, uint64_t offset)
{
    LLVMUseRef next;

    for (LLVMUseRef use = LLVMGetFirstUse(base); use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        uint64_t there = offset;

        next = LLVMGetNextUse(use);
        if (LLVMIsALoadInst(user))
            answer_load(d, user, offset);
        else if (LLVMIsAAddrSpaceCastInst(user) ||
                 (LLVMIsAGetElementPtrInst(user) && LLVMGetOperand(user, 0) == base && add_offset(d, user, &there)))
            answer_loads(d, user, there);
    }
}

void kc_know_images(LLVMModuleRef module, const struct tsl_wire_build *build)
{
    struct description d = {.layout = LLVMGetModuleDataLayout(module)};

    for (uint32_t i = 0; i < build->n_known; i++) {
        LLVMValueRef param = parameter(module, build, build->known[i].arg);

        d.known = &build->known[i];
        if (param && !is_sampler(d.known) && LLVMGetTypeKind(LLVMTypeOf(param)) == LLVMPointerTypeKind)
            answer_loads(&d, param, 0);
    }
}

/* ---- Functions for any format ------------------------------------------------------------------------------------ */

static bool is_known(LLVMModuleRef module, const struct tsl_wire_build *build, LLVMValueRef image)
{
    while (LLVMIsAAddrSpaceCastInst(image))
        image = LLVMGetOperand(image, 0);
    for (uint32_t i = 0; i < build->n_known; i++)
        if (!is_sampler(&build->known[i]) && parameter(module, build, build->known[i].arg) == image)
            return true;
    return false;
}

bool kc_inline_known(LLVMModuleRef module, const struct tsl_wire_build *build)
{
    bool any = false;

    for (size_t f = 0; f < sizeof(any_format) / sizeof(any_format[0]); f++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, any_format[f]);

        for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = LLVMGetNextUse(use)) {
            LLVMValueRef call = LLVMGetUser(use);

            if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != function ||
                !is_known(module, build, LLVMGetOperand(call, 0)))
                continue;
            kc_inline_call(call);
            any = true;
        }
    }
    return any;
}
