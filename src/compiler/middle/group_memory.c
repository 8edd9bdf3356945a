#include "compiler/middle/group_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LOCAL_SPACE 3u
#define ALIGNMENT   128u

static uint64_t largest(LLVMValueRef function)
{
    uint64_t size = 0;

    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef asked = LLVMGetOperand(LLVMGetUser(use), 0);
        uint64_t one = LLVMIsAConstantInt(asked) ? LLVMConstIntGetZExtValue(asked) : 0;

        size = one > size ? one : size;
    }
    return size;
}

static LLVMValueRef make_variable(LLVMModuleRef module, uint64_t size)
{
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(LLVMGetModuleContext(module)), size);
    LLVMValueRef variable = LLVMAddGlobalInAddressSpace(module, type, KC_GROUP_MEMORY ".bytes", LOCAL_SPACE);

    LLVMSetInitializer(variable, LLVMGetUndef(type));
    LLVMSetLinkage(variable, LLVMInternalLinkage);
    LLVMSetAlignment(variable, ALIGNMENT);
    return variable;
}

void kc_place_group_memory(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, KC_GROUP_MEMORY), variable;

    if (!function || !LLVMGetFirstUse(function))
        return;
    variable = make_variable(module, largest(function));
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetFirstUse(function)) {
        LLVMValueRef call = LLVMGetUser(use);

        LLVMReplaceAllUsesWith(call, variable);
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(function);
}
