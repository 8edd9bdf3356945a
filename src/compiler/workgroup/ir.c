#include "compiler/workgroup/ir.h"

#include "compiler/workgroup/workgroup.h"

#include <string.h>

static const struct {
    const char *name;
    enum kc_call call;
} known[] = {
    {"_Z12get_local_idj", KC_CALL_LOCAL_ID},
    {"_Z13get_global_idj", KC_CALL_GLOBAL_ID},
    {"_Z12get_group_idj", KC_CALL_GROUP_ID},
    {"_Z14get_local_sizej", KC_CALL_LOCAL_SIZE},
    {"_Z23get_enqueued_local_sizej", KC_CALL_ENQUEUED_LOCAL_SIZE},
    {"_Z14get_num_groupsj", KC_CALL_NUM_GROUPS},
    {"_Z15get_global_sizej", KC_CALL_GLOBAL_SIZE},
    {"_Z17get_global_offsetj", KC_CALL_GLOBAL_OFFSET},
    {"_Z12get_work_dimv", KC_CALL_WORK_DIM},
    {KC_LAUNCH_FUNCTION, KC_CALL_LAUNCH},
    {KC_THREAD_FUNCTION, KC_CALL_THREAD},
    {KC_PLACES_FUNCTION, KC_CALL_PLACES},
    {"_Z7barrierj", KC_CALL_BARRIER},
};

LLVMValueRef kc_wg_callee(LLVMValueRef value)
{
    return LLVMIsACallInst(value) ? LLVMIsAFunction(LLVMGetCalledValue(value)) : NULL;
}

bool kc_name_begins(LLVMValueRef global, const char *prefix)
{
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);

    return strncmp(name, prefix, strlen(prefix)) == 0;
}

enum kc_call kc_call_of(LLVMValueRef value)
{
    LLVMValueRef callee = kc_wg_callee(value);
    size_t length;
    const char *name;

    if (!callee)
        return KC_CALL_OTHER;
    name = LLVMGetValueName2(callee, &length);
    if (strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.experimental.noalias.", 26) == 0 ||
        strncmp(name, "llvm.assume", 11) == 0 || strncmp(name, "llvm.dbg.", 9) == 0)
        return KC_CALL_NOTHING;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].call;
    return KC_CALL_OTHER;
}

void kc_note(const struct kc_wg *wg, LLVMValueRef where, const char *what)
{
    unsigned line = where ? LLVMGetDebugLocLine(where) : 0;
    size_t length;

    if (!wg->notes)
        return;
    fprintf(wg->notes, "kernel %s: ", LLVMGetValueName2(wg->kernel, &length));
    if (line)
        fprintf(wg->notes, "line %u: ", line);
    fprintf(wg->notes, "%s\n", what);
}

LLVMValueRef kc_first_after_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);

    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

bool kc_is_void(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVoidTypeKind;
}

bool kc_is_volatile_or_atomic(LLVMValueRef value)
{
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMLoad:
    case LLVMStore:
        return LLVMGetVolatile(value) || LLVMGetOrdering(value) != LLVMAtomicOrderingNotAtomic;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
        return true;
    default:
        return false;
    }
}

void kc_wg_add_attribute(struct kc_wg *wg, LLVMValueRef function, unsigned at, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, at, LLVMCreateEnumAttribute(wg->context, kind, 0));
}

LLVMValueRef kc_splat(struct kc_wg *wg, LLVMValueRef value, unsigned n)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), n);
    LLVMValueRef one = LLVMBuildInsertElement(wg->builder, LLVMGetPoison(type), value, kc_i32(wg, 0), "");

    return LLVMBuildShuffleVector(wg->builder, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(wg->i32, n)), "");
}

LLVMValueRef kc_mask_bits(struct kc_wg *wg, LLVMValueRef mask)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(wg->context, LLVMGetVectorSize(LLVMTypeOf(mask)));

    return LLVMBuildBitCast(wg->builder, mask, bits, "");
}

LLVMValueRef kc_are_all(struct kc_wg *wg, LLVMValueRef mask)
{
    LLVMValueRef bits = kc_mask_bits(wg, mask);

    return LLVMBuildICmp(wg->builder, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)), "");
}

LLVMValueRef kc_i32(struct kc_wg *wg, uint32_t value)
{
    return LLVMConstInt(wg->i32, value, 0);
}

LLVMValueRef kc_i64(struct kc_wg *wg, uint64_t value)
{
    return LLVMConstInt(wg->i64, value, 0);
}

uint64_t kc_size_of(struct kc_wg *wg, LLVMTypeRef type)
{
    const uint64_t most = UINT64_C(1) << 40;
    uint64_t size = LLVMABISizeOfType(wg->layout, type);

    return size < most ? size : most;
}

LLVMValueRef kc_byte_offset(struct kc_wg *wg, LLVMValueRef base, LLVMValueRef offset, const char *name)
{
    return LLVMBuildGEP2(wg->builder, wg->i8, base, &offset, 1, name);
}
