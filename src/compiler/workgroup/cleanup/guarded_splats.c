#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <string.h>

/* A load or store of all lanes in `mask` at one address. */
struct access {
    LLVMValueRef call, value, address, mask;
    bool stores; /* value: what is stored, else the result of lanes outside the mask */
    unsigned align, lanes;
};

/* The scalar in all elements; NULL: not seen to be one. */
static LLVMValueRef splat_of(LLVMValueRef vector)
{
    LLVMValueRef insert;

    if (!LLVMIsAShuffleVectorInst(vector))
        return NULL;
    for (unsigned i = 0; i < LLVMGetNumMaskElements(vector); i++)
        if (LLVMGetMaskValue(vector, i) != 0)
            return NULL;
    insert = LLVMGetOperand(vector, 0);
    if (!LLVMIsAInsertElementInst(insert) || !LLVMIsAConstantInt(LLVMGetOperand(insert, 2)) ||
        LLVMConstIntGetZExtValue(LLVMGetOperand(insert, 2)) != 0)
        return NULL;
    return LLVMGetOperand(insert, 1);
}

static bool find_access(LLVMValueRef i, struct access *access)
{
    LLVMValueRef callee = kc_wg_callee(i), addresses;

    *access = (struct access){.call = i};
    if (!callee)
        return false;
    access->stores = kc_name_begins(callee, "llvm.masked.scatter.");
    if (!access->stores && !kc_name_begins(callee, "llvm.masked.gather."))
        return false;
    addresses = LLVMGetOperand(i, access->stores ? 1 : 0);
    access->align = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, access->stores ? 2 : 1));
    access->mask = LLVMGetOperand(i, access->stores ? 3 : 2);
    access->value = LLVMGetOperand(i, access->stores ? 0 : 3);
    access->address = splat_of(addresses);
    access->lanes = LLVMGetVectorSize(LLVMTypeOf(addresses));
    return access->address && !LLVMIsAConstant(access->mask);
}

/* The value of the last lane in the mask remains at the address. */
static LLVMValueRef last_value(LLVMBuilderRef b, LLVMModuleRef module, const struct access *access, LLVMValueRef bits)
{
    LLVMTypeRef type = LLVMTypeOf(bits), i1 = LLVMInt1TypeInContext(LLVMGetTypeContext(type));
    unsigned id = LLVMLookupIntrinsicID("llvm.ctlz", 9);
    LLVMValueRef ctlz = LLVMGetIntrinsicDeclaration(module, id, &type, 1), zeros;

    zeros = LLVMBuildCall2(b, LLVMIntrinsicGetType(LLVMGetTypeContext(type), id, &type, 1), ctlz,
                           (LLVMValueRef[]){bits, LLVMConstInt(i1, 1, false)}, 2, "");
    return LLVMBuildExtractElement(b, access->value,
                                   LLVMBuildSub(b, LLVMConstInt(type, access->lanes - 1, false), zeros, ""), "");
}

/* The address may be read for lanes outside the mask, too; they get `value`. */
static void load_once(struct kc_wg *wg, const struct access *access, LLVMBasicBlockRef before, LLVMBasicBlockRef there,
                      LLVMBasicBlockRef after)
{
    LLVMBuilderRef b = wg->builder;
    LLVMTypeRef type = LLVMTypeOf(access->call);
    LLVMValueRef loaded, all, result;

    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(there));
    loaded = LLVMBuildLoad2(b, LLVMGetElementType(type), access->address, "");
    LLVMSetAlignment(loaded, access->align);
    all = kc_splat(wg, loaded, access->lanes);
    if (!LLVMIsUndef(access->value)) /* poison included */
        all = LLVMBuildSelect(b, access->mask, all, access->value, "");
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(after));
    result = LLVMBuildPhi(b, type, "");
    LLVMAddIncoming(result, (LLVMValueRef[]){all, access->value}, (LLVMBasicBlockRef[]){there, before}, 2);
    LLVMReplaceAllUsesWith(access->call, result);
}

static void store_once(struct kc_wg *wg, const struct access *access, LLVMValueRef bits, LLVMBasicBlockRef there)
{
    LLVMValueRef stored;

    LLVMPositionBuilderBefore(wg->builder, LLVMGetBasicBlockTerminator(there));
    stored = LLVMBuildStore(wg->builder, last_value(wg->builder, wg->module, access, bits), access->address);
    LLVMSetAlignment(stored, access->align);
}

/* Moves the access to a block of its own, which runs if any lane is in the mask. */
static void guard(struct kc_wg *wg, const struct access *access)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(access->call), after = kc_split_before(access->call), there;
    LLVMValueRef bits, any;

    there = LLVMInsertBasicBlockInContext(wg->context, after, "");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(b, before);
    bits = kc_mask_bits(wg, access->mask);
    any = LLVMBuildICmp(b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
    LLVMBuildCondBr(b, any, there, after);
    LLVMPositionBuilderAtEnd(b, there);
    LLVMBuildBr(b, after);
    if (access->stores)
        store_once(wg, access, bits, there);
    else
        load_once(wg, access, before, there, after);
    LLVMInstructionEraseFromParent(access->call);
}

static void guard_all(struct kc_wg *wg, LLVMValueRef function)
{
    LLVMValueRef next;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
            struct access access;

            next = LLVMGetNextInstruction(i);
            if (!find_access(i, &access))
                continue;
            guard(wg, &access);
            next = NULL; /* the rest of the block is now in a later one */
        }
}

void kc_wg_guard_splats(LLVMModuleRef module)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        guard_all(&wg, f);
    LLVMDisposeBuilder(wg.builder);
}
