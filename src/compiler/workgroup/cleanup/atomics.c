#include "compiler/workgroup/analysis/combined.h"
#include "compiler/workgroup/cleanup/passes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define LOCAL_SPACE 3

/* ---- Local memory ---------------------------------------------------------------------------------------------- */

static bool is_op(LLVMValueRef value, LLVMOpcode op)
{
    return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) == op
                                     : LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == op;
}

/* The same elements from another base. */
static LLVMValueRef element_of(LLVMBuilderRef b, LLVMValueRef element, LLVMValueRef base)
{
    unsigned n = (unsigned)LLVMGetNumOperands(element) - 1;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(element);
    LLVMValueRef *indices = calloc(n + 1, sizeof(*indices)), moved;

    for (unsigned i = 0; i < n; i++)
        indices[i] = LLVMGetOperand(element, i + 1);
    moved = LLVMIsInBounds(element) ? LLVMBuildInBoundsGEP2(b, type, base, indices, n, "")
                                    : LLVMBuildGEP2(b, type, base, indices, n, "");
    free(indices);
    return moved;
}

/* The same address as a pointer to local memory; NULL: it isn't seen to be there. */
static LLVMValueRef local_pointer(LLVMBuilderRef b, LLVMValueRef pointer)
{
    LLVMValueRef base;

    if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == LOCAL_SPACE)
        return pointer;
    if (!is_op(pointer, LLVMAddrSpaceCast) && !is_op(pointer, LLVMGetElementPtr))
        return NULL;
    base = local_pointer(b, LLVMGetOperand(pointer, 0));
    return base && is_op(pointer, LLVMGetElementPtr) ? element_of(b, pointer, base) : base;
}

static void place(LLVMBuilderRef b, LLVMValueRef atomic)
{
    LLVMValueRef pointer;

    LLVMPositionBuilderBefore(b, atomic);
    pointer = local_pointer(b, LLVMGetOperand(atomic, 0));
    if (pointer)
        LLVMSetOperand(atomic, 0, pointer);
}

void kc_wg_place_atomics(LLVMBuilderRef b, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
                place(b, i);
}

/* ---- Replacement ------------------------------------------------------------------------------------------------ */

/* The operation's new value; NULL: not known. */
static LLVMValueRef compute(LLVMBuilderRef b, LLVMValueRef atomic, LLVMValueRef old)
{
    LLVMValueRef operand = LLVMGetOperand(atomic, 1);

    switch (LLVMGetAtomicRMWBinOp(atomic)) {
    case LLVMAtomicRMWBinOpXchg:
        return operand;
    case LLVMAtomicRMWBinOpSub:
        return LLVMBuildSub(b, old, operand, "");
    default:
        return kc_neutral(atomic) ? kc_combine(b, atomic, old, operand) : NULL;
    }
}

/* Without other threads there is no order between accesses to keep. */
static void take_apart(LLVMBuilderRef b, LLVMValueRef atomic)
{
    LLVMValueRef place = LLVMGetOperand(atomic, 0), old, now;

    LLVMPositionBuilderBefore(b, atomic);
    old = LLVMBuildLoad2(b, LLVMTypeOf(atomic), place, "");
    now = compute(b, atomic, old);
    if (!now) {
        LLVMInstructionEraseFromParent(old);
        return;
    }
    LLVMBuildStore(b, now, place);
    LLVMReplaceAllUsesWith(atomic, old);
    LLVMInstructionEraseFromParent(atomic);
}

/* A comparison and exchange has two results: the old value, and whether that was the expected one. */
static void take_comparison_apart(LLVMBuilderRef b, LLVMValueRef atomic)
{
    LLVMValueRef place = LLVMGetOperand(atomic, 0), expected = LLVMGetOperand(atomic, 1),
                 wanted = LLVMGetOperand(atomic, 2);

    LLVMPositionBuilderBefore(b, atomic);
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(expected), place, "");
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, old, expected, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, same, wanted, old, ""), place);
    LLVMValueRef both = LLVMBuildInsertValue(b, LLVMGetPoison(LLVMTypeOf(atomic)), old, 0, "");
    LLVMReplaceAllUsesWith(atomic, LLVMBuildInsertValue(b, both, same, 1, ""));
    LLVMInstructionEraseFromParent(atomic);
}

static bool is_local(LLVMValueRef atomic)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(atomic, 0))) == LOCAL_SPACE;
}

void kc_wg_relax_local_atomics(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (LLVMIsAAtomicRMWInst(i) && is_local(i))
                    take_apart(b, i);
                else if (LLVMIsAAtomicCmpXchgInst(i) && is_local(i))
                    take_comparison_apart(b, i);
            }
        }
    LLVMDisposeBuilder(b);
}
