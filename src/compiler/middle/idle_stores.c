#include "compiler/middle/idle_stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OF_COPY 65536u /* bytes; a larger one stays as it is */

/* The address spaces of the front end's target; private memory and pointers to any have the same one. */
enum { ANY_SPACE = 0, GLOBAL_SPACE = 1 };

static LLVMValueRef base_of(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer) || LLVMIsAAddrSpaceCastInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return pointer;
}

static bool is_seen(LLVMValueRef pointer)
{
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));

    return space == GLOBAL_SPACE || (space == ANY_SPACE && !LLVMIsAAllocaInst(base_of(pointer)));
}

/* A function of which nothing is known but that it computes a value of that type from one. */
static LLVMValueRef unknown_function(LLVMModuleRef module, LLVMTypeRef type)
{
    static const char *const kinds[] = {"nounwind", "willreturn", "nosync", "memory"}; /* memory 0: none */
    char *of = LLVMPrintTypeToString(type), *name = malloc(strlen(of) + sizeof("kc.stored."));
    LLVMValueRef function;

    sprintf(name, "kc.stored.%s", of);
    function = LLVMGetNamedFunction(module, name);
    if (!function) {
        function = LLVMAddFunction(module, name, LLVMFunctionType(type, &type, 1, false));
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            kc_add_attribute(function, kinds[i]);
    }
    LLVMDisposeMessage(of);
    free(name);
    return function;
}

static LLVMValueRef hidden(LLVMBuilderRef builder, LLVMValueRef value)
{
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)));
    LLVMValueRef function = unknown_function(module, LLVMTypeOf(value));

    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &value, 1, "");
}

/* A copy of a structure, which may be one onto itself, becomes a load and a store of all of its bytes as one number. */
static void part_copy(LLVMBuilderRef builder, LLVMValueRef copy)
{
    LLVMValueRef to = LLVMGetOperand(copy, 0), from = LLVMGetOperand(copy, 1), size = LLVMGetOperand(copy, 2), value;
    bool is_volatile = !LLVMIsNull(LLVMGetOperand(copy, 3));
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;

    if (!is_seen(to) || is_volatile || !bytes || bytes > MOST_OF_COPY)
        return;
    LLVMPositionBuilderBefore(builder, copy);
    value = LLVMBuildLoad2(builder, LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(to)), 8 * (unsigned)bytes), from,
                           "");
    LLVMSetAlignment(value, 1);
    LLVMSetAlignment(LLVMBuildStore(builder, hidden(builder, value), to), 1);
    LLVMInstructionEraseFromParent(copy);
}

/* Constants stay: another store of the same one hides theirs, but nothing that was loaded does. */
static void keep(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMValueRef value;

    if (LLVMIsAMemCpyInst(at) || LLVMIsAMemMoveInst(at)) {
        part_copy(builder, at);
        return;
    }
    if (!LLVMIsAStoreInst(at) || !is_seen(LLVMGetOperand(at, 1)))
        return;
    value = LLVMGetOperand(at, 0);
    if (LLVMIsUndef(value))
        LLVMSetOperand(at, 0, LLVMConstNull(LLVMTypeOf(value)));
    else if (!LLVMIsConstant(value)) {
        LLVMPositionBuilderBefore(builder, at);
        LLVMSetOperand(at, 0, hidden(builder, value));
    }
}

void kc_keep_idle_stores(LLVMModuleRef module)
{
    kc_visit(module, keep);
}
