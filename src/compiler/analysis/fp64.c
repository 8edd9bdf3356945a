#include "compiler/analysis/facts.h"

#include <stdlib.h>
#include <string.h>

#define FP64_ATTRIBUTE "tsl-fp64"

static bool is_marked(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, FP64_ATTRIBUTE,
                                         sizeof(FP64_ATTRIBUTE) - 1) != NULL;
}

static void mark(LLVMValueRef function)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));

    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(context, FP64_ATTRIBUTE, sizeof(FP64_ATTRIBUTE) - 1, "", 0));
}

static bool has_double(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMDoubleTypeKind:
        return true;
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return has_double(LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            if (has_double(LLVMStructGetTypeAtIndex(type, i)))
                return true;
        return false;
    default:
        return false;
    }
}

/* Variables and memory count. Values computed from constants such as 0.5 don't: compilers for devices without double
 * precision take these for floats. Nor do the arguments of printf, which are doubles on such devices, too. */
static bool uses_double(LLVMValueRef instruction)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMAlloca:
        return has_double(LLVMGetAllocatedType(instruction));
    case LLVMLoad:
        return has_double(LLVMTypeOf(instruction));
    case LLVMStore:
        return has_double(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
    case LLVMGetElementPtr:
        return has_double(LLVMGetGEPSourceElementType(instruction));
    default:
        return false;
    }
}

/* Pointers in the IR have no pointee type: Clang's metadata has that of arguments. */
static bool has_double_arguments(LLVMValueRef function)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    unsigned kind = LLVMGetMDKindIDInContext(context, "kernel_arg_base_type", 20), length;
    LLVMValueRef types[1024];
    size_t n_entries;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(function, &n_entries);
    bool found = false;

    for (unsigned i = 0; i < n_entries; i++) {
        LLVMValueRef node = LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));

        if (LLVMValueMetadataEntriesGetKind(entries, i) != kind || LLVMGetMDNodeNumOperands(node) > 1024)
            continue;
        LLVMGetMDNodeOperands(node, types);
        for (unsigned a = 0; a < LLVMGetMDNodeNumOperands(node); a++) {
            const char *type = LLVMGetMDString(types[a], &length);

            found |= type && length >= 6 && strncmp(type, "double", 6) == 0;
        }
    }
    LLVMDisposeValueMetadataEntries(entries);
    return found;
}

/* In the function itself, not in those that it calls. */
static bool says_double(LLVMValueRef function)
{
    if (has_double_arguments(function))
        return true;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (uses_double(i))
                return true;
    return false;
}

/* True: a caller was marked that wasn't before. */
static bool mark_callers(LLVMValueRef function)
{
    bool marked = false;

    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use), caller;

        if (!LLVMIsACallInst(user))
            continue;
        caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        if (is_marked(caller))
            continue;
        mark(caller);
        marked = true;
    }
    return marked;
}

void kc_mark_fp64(LLVMModuleRef module)
{
    bool again = true;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (says_double(f))
            mark(f);
    while (again) {
        again = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            again |= is_marked(f) && mark_callers(f);
    }
}

bool kc_has_fp64(LLVMValueRef kernel)
{
    return is_marked(kernel);
}
