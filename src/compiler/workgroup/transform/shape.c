#include "compiler/workgroup/transform/shape.h"

#include "compiler/support/llvm.h"
#include "compiler/workgroup/analysis/combined.h"
#include "compiler/workgroup/analysis/serial.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/transform/clone.h"
#include "compiler/workgroup/transform/read_first.h"
#include "compiler/workgroup/transform/vectors.h"

#include <stdio.h>

/* Unreachable code may end like the function does. */
static void return_where_unreachable(LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function));

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b);

        if (!LLVMIsAUnreachableInst(terminator))
            continue;
        LLVMPositionBuilderBefore(builder, terminator);
        if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
            LLVMBuildRetVoid(builder);
        else
            LLVMBuildRet(builder, LLVMConstNull(type));
        LLVMInstructionEraseFromParent(terminator);
    }
}

/* Structures by value belong to each work-item alone: those that may be written become private variables. Passing the
 * pointer on, or comparing it, counts as writing. */
static bool only_read(LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsALoadInst(user))
            continue;
        if ((LLVMIsAGetElementPtrInst(user) || LLVMIsAAddrSpaceCastInst(user)) && only_read(user))
            continue;
        return false;
    }
    return true;
}

static void copy_parameter(struct kc_wg *wg, unsigned p, LLVMAttributeRef byval)
{
    LLVMValueRef parameter = LLVMGetParam(wg->function, p), variable, first;
    LLVMTypeRef type = LLVMGetTypeAttributeValue(byval);
    unsigned align = LLVMABIAlignmentOfType(wg->layout, type);

    if (only_read(parameter))
        return;
    first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(wg->function));
    LLVMPositionBuilderBefore(wg->builder, first);
    variable = LLVMBuildAlloca(wg->builder, type, "");
    LLVMReplaceAllUsesWith(parameter, variable);
    LLVMBuildMemCpy(wg->builder, variable, align, parameter, align, kc_i64(wg, LLVMABISizeOfType(wg->layout, type)));
}

static void copy_parameters(struct kc_wg *wg)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);

    for (unsigned p = 0; p < LLVMCountParams(wg->function); p++) {
        LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(wg->function, p + 1, kind);

        if (byval)
            copy_parameter(wg, p, byval);
    }
}

/* ---- Division ---------------------------------------------------------------------------------------------------- */

/* A constant of an integer type, or of a vector of them. */
static LLVMValueRef number(LLVMTypeRef type, uint64_t value)
{
    LLVMValueRef parts[64], one;
    unsigned n;

    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        return LLVMConstInt(type, value, false);
    n = LLVMGetVectorSize(type);
    one = LLVMConstInt(LLVMGetElementType(type), value, false);
    for (unsigned k = 0; k < n; k++)
        parts[k] = one;
    return LLVMConstVector(parts, n);
}

/* Would the division trap? */
static LLVMValueRef faults(LLVMBuilderRef b, LLVMValueRef division, bool is_signed, unsigned bits)
{
    LLVMValueRef dividend = LLVMGetOperand(division, 0), divisor = LLVMGetOperand(division, 1), zero, overflow;
    LLVMTypeRef type = LLVMTypeOf(divisor);

    zero = LLVMBuildICmp(b, LLVMIntEQ, divisor, LLVMConstNull(type), "");
    if (!is_signed)
        return zero;
    overflow = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, divisor, LLVMConstAllOnes(type), ""),
                            LLVMBuildICmp(b, LLVMIntEQ, dividend, number(type, UINT64_C(1) << (bits - 1)), ""), "");
    return LLVMBuildOr(b, zero, overflow, "");
}

static void guard_division(LLVMBuilderRef b, LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    LLVMTypeRef type = LLVMTypeOf(i);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    unsigned bits = LLVMGetIntTypeWidth(vector ? LLVMGetElementType(type) : type);
    LLVMValueRef bad;

    if (LLVMIsAConstantInt(LLVMGetOperand(i, 1)) || bits > 64 || (vector && LLVMGetVectorSize(type) > 64))
        return;
    LLVMPositionBuilderBefore(b, i);
    bad = faults(b, i, opcode == LLVMSDiv || opcode == LLVMSRem, bits);
    LLVMSetOperand(i, 1, LLVMBuildSelect(b, bad, number(type, 1), LLVMGetOperand(i, 1), ""));
}

static bool is_division(LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);

    return opcode == LLVMSDiv || opcode == LLVMSRem || opcode == LLVMUDiv || opcode == LLVMURem;
}

/* Integer division by zero, and of the least number by -1, has an undefined value but no trap (OpenCL C 3.0, 6.4.a). */
static void guard_divisions(LLVMBuilderRef builder, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (KC_EACH_INSTRUCTION(i, b))
            if (is_division(i))
                guard_division(builder, i);
}

static LLVMValueRef find_barrier_inside(LLVMBasicBlockRef block)
{
    bool first = block != LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block));

    for (KC_EACH_INSTRUCTION(i, block)) {
        if (kc_call_of(i) == KC_CALL_BARRIER && !first)
            return i;
        first = false;
    }
    return NULL;
}

static void split_at_barriers(struct kc_wg *wg)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(wg->function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef barrier = find_barrier_inside(b);

        if (barrier)
            kc_split_before(barrier);
    }
}

static LLVMValueRef first_behind_variables(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMIsAAllocaInst(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Sizes and ids are asked for once, at the beginning. LLVM would make one value of what is asked for on several ways,
 * some of which not all work-items take: the value would no longer be seen to be the same for all. */
static void ask_first(struct kc_wg *wg)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(wg->function);
    LLVMValueRef first = first_behind_variables(entry), next;

    for (LLVMBasicBlockRef b = LLVMGetNextBasicBlock(entry); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!kc_is_query(kc_call_of(i)) || (LLVMGetNumArgOperands(i) && !LLVMIsAConstant(LLVMGetOperand(i, 0))))
                continue;
            LLVMInstructionRemoveFromParent(i);
            LLVMPositionBuilderBefore(wg->builder, first);
            LLVMInsertIntoBuilder(wg->builder, i);
        }
}

void kc_shape_called(LLVMBuilderRef builder, LLVMValueRef function)
{
    return_where_unreachable(builder, function);
    kc_wg_stop_endless(builder, function);
    guard_divisions(builder, function);
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* With optnone, passes skip all functions but ours. */
static void freeze_others(struct kc_wg *wg, bool freeze)
{
    static const char *const names[] = {"optnone", "noinline"};

    for (LLVMValueRef f = LLVMGetFirstFunction(wg->module); f; f = LLVMGetNextFunction(f)) {
        if (f == wg->function || LLVMIsDeclaration(f))
            continue;
        for (size_t k = 0; k < 2; k++) {
            if (freeze)
                kc_wg_add_attribute(wg, f, (unsigned)LLVMAttributeFunctionIndex, names[k]);
            else if (k == 0 || !kc_is_called(f))
                LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                               LLVMGetEnumAttributeKindForName(names[k], strlen(names[k])));
        }
    }
}

bool kc_shape(struct kc_wg *wg, LLVMTargetMachineRef machine, enum kc_form form, char **why)
{
    const char *const passes[] = {KC_PASSES_SHAPE, KC_PASSES_SHAPE_OWN, KC_PASSES_SHAPE_PLAIN};
    bool done;

    wg->function = kc_clone_function(wg, wg->kernel, "tsl_wg_shape");
    return_where_unreachable(wg->builder, wg->function);
    kc_wg_stop_endless(wg->builder, wg->function);
    copy_parameters(wg);
    ask_first(wg);
    if (form == KC_FORM_LANES)
        kc_split_elements(wg);
    freeze_others(wg, true);
    done = kc_wg_run_passes(wg->module, machine, passes[form], why);
    freeze_others(wg, false);
    if (!done)
        return false;
    if (form != KC_FORM_PLAIN) {
        kc_wg_place_atomics(wg->builder, wg->function);
        kc_read_first(wg);
    }
    if (form == KC_FORM_LANES)
        kc_split_pieces(wg);
    guard_divisions(wg->builder, wg->function);
    return_where_unreachable(wg->builder, wg->function);
    split_at_barriers(wg);
    if (form == KC_FORM_LANES) {
        kc_mark_combined(wg);
        kc_split_serial(wg);
    }
    kc_flow_create(&wg->flow, wg->function);
    return true;
}
