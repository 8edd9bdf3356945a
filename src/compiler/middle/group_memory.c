#include "compiler/middle/group_memory.h"

#include <stdint.h>
#include <string.h>

#define LOCAL_SPACE 3u
#define ALIGNMENT   128u

#define ITEM_VARIABLE KC_ITEM_MEMORY ".bytes"

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

static LLVMValueRef make_variable(LLVMModuleRef module, const char *name, uint64_t size)
{
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(LLVMGetModuleContext(module)), size);
    LLVMValueRef variable = LLVMAddGlobalInAddressSpace(module, type, name, LOCAL_SPACE);

    LLVMSetAlignment(variable, ALIGNMENT);
    return variable;
}

static void replace_calls(LLVMValueRef function, LLVMValueRef variable)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetFirstUse(function)) {
        LLVMValueRef call = LLVMGetUser(use);

        LLVMReplaceAllUsesWith(call, variable);
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDeleteFunction(function);
}

bool kc_is_item_memory(LLVMValueRef variable)
{
    size_t length;

    return LLVMIsDeclaration(variable) && strcmp(LLVMGetValueName2(variable, &length), ITEM_VARIABLE) == 0;
}

void kc_place_group_memory(LLVMModuleRef module)
{
    LLVMValueRef group = LLVMGetNamedFunction(module, KC_GROUP_MEMORY), variable;
    LLVMValueRef items = LLVMGetNamedFunction(module, KC_ITEM_MEMORY);

    if (group && LLVMGetFirstUse(group)) {
        variable = make_variable(module, KC_GROUP_MEMORY ".bytes", largest(group));
        LLVMSetInitializer(variable, LLVMGetUndef(LLVMGlobalGetValueType(variable)));
        LLVMSetLinkage(variable, LLVMInternalLinkage);
        replace_calls(group, variable);
    }
    if (items && LLVMGetFirstUse(items))
        replace_calls(items, make_variable(module, ITEM_VARIABLE, largest(items)));
}
