#include "compiler/support/llvm.h"

#include "compiler/workgroup/workgroup.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

/* llvm::CallingConv: PTX_Kernel and SPIR_KERNEL, which the C interface doesn't name. */
enum { PTX_KERNEL = 71, SPIR_KERNEL = 76 };

void kc_add_attribute(LLVMValueRef function, const char *name)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));

    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, kc_attribute_kind(name), 0));
}

void kc_mark_arithmetic(LLVMValueRef call)
{
    static const char *const kinds[] = {"nounwind", "willreturn", "nosync", "memory"}; /* memory 0: none */
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(context, kc_attribute_kind(kinds[i]), 0));
}

LLVMValueRef kc_arithmetic(LLVMBuilderRef builder, const char *text, const char *constraints, LLVMValueRef *args,
                           unsigned n)
{
    LLVMTypeRef type = LLVMTypeOf(args[0]), types[3] = {type, type, type};
    LLVMTypeRef function = LLVMFunctionType(type, types, n, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, (char *)(uintptr_t)text, strlen(text), (char *)(uintptr_t)constraints,
                         strlen(constraints), false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(builder, function, code, args, n, "");

    kc_mark_arithmetic(call);
    return call;
}

const char *kc_name(LLVMValueRef value)
{
    size_t length;

    return LLVMGetValueName2(value, &length);
}

bool kc_is_named(LLVMValueRef value, const char *name)
{
    return strcmp(kc_name(value), name) == 0;
}

bool kc_is_kernel(LLVMValueRef function)
{
    unsigned convention = LLVMGetFunctionCallConv(function);

    return convention == PTX_KERNEL || convention == SPIR_KERNEL;
}

bool kc_is_marked(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, KC_KERNEL_ATTRIBUTE,
                                         sizeof(KC_KERNEL_ATTRIBUTE) - 1);
}

bool kc_is_called(LLVMValueRef function)
{
    static const char prefix[] = "__tsl_called_";

    return strncmp(kc_name(function), prefix, sizeof(prefix) - 1) == 0;
}

void kc_inline_call(LLVMValueRef call)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));

    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, kc_attribute_kind("alwaysinline"), 0));
}

static const char uniform[] = "uniform-work-group-size";

void kc_set_uniform(LLVMValueRef kernel)
{
    LLVMAddTargetDependentFunctionAttr(kernel, uniform, "true");
}

bool kc_is_uniform(LLVMValueRef kernel)
{
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(kernel, LLVMAttributeFunctionIndex, uniform, sizeof(uniform) - 1);
    unsigned length;

    return attribute && strncmp(LLVMGetStringAttributeValue(attribute, &length), "true", 4) == 0;
}

LLVMValueRef kc_callee(LLVMValueRef value)
{
    return LLVMIsACallInst(value) ? LLVMIsAFunction(LLVMGetCalledValue(value)) : NULL;
}

struct kc_bytes kc_bytes_of(LLVMMemoryBufferRef buffer)
{
    size_t size = LLVMGetBufferSize(buffer);
    struct kc_bytes bytes = {malloc(size), size};

    memcpy(bytes.data, LLVMGetBufferStart(buffer), size);
    LLVMDisposeMemoryBuffer(buffer);
    return bytes;
}

bool kc_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char **why)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = kc_run_named_passes(module, passes, machine, options);
    char *message;

    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    message = LLVMGetErrorMessage(error);
    *why = strdup(message);
    LLVMDisposeErrorMessage(message);
    return false;
}

void kc_visit(LLVMModuleRef module, void (*visit)(LLVMBuilderRef builder, LLVMValueRef at))
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block), next; at; at = next) {
                next = LLVMGetNextInstruction(at);
                visit(builder, at);
            }
    LLVMDisposeBuilder(builder);
}
