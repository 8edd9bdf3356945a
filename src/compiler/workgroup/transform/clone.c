#include "compiler/workgroup/transform/clone.h"

/* The C interface reduces attributes to those valid at a position; positions are the function, its result and
 * parameters. */
static void copy_attributes(LLVMValueRef from, LLVMValueRef to, unsigned at)
{
    unsigned n = LLVMGetAttributeCountAtIndex(from, at);
    LLVMAttributeRef *attributes = kc_alloc(n, sizeof(*attributes));

    LLVMGetAttributesAtIndex(from, at, attributes);
    for (unsigned i = 0; i < n; i++)
        LLVMAddAttributeAtIndex(to, at, attributes[i]);
    free(attributes);
}

static void copy_signature(LLVMValueRef from, LLVMValueRef to, struct kc_map *map)
{
    LLVMSetLinkage(to, LLVMInternalLinkage);
    copy_attributes(from, to, (unsigned)LLVMAttributeFunctionIndex);
    for (unsigned p = 0; p < LLVMCountParams(from); p++) {
        copy_attributes(from, to, p + 1);
        kc_map_set_pointer(map, LLVMGetParam(from, p), LLVMGetParam(to, p));
    }
}

static LLVMValueRef mapped(void *arg, LLVMValueRef operand)
{
    LLVMValueRef to = kc_map_get_pointer(arg, operand);

    return to ? to : operand;
}

LLVMValueRef kc_clone_instruction(struct kc_wg *wg, LLVMValueRef instruction, kc_operand_fn *fn, void *arg)
{
    int n = LLVMGetNumOperands(instruction);
    LLVMValueRef *operands = kc_alloc((size_t)n, sizeof(*operands)), copy;

    for (int k = 0; k < n; k++)
        operands[k] = fn(arg, LLVMGetOperand(instruction, (unsigned)k)); /* may build instructions, before the copy */
    copy = LLVMInstructionClone(instruction);
    for (int k = 0; k < n; k++)
        if (operands[k] != LLVMGetOperand(copy, (unsigned)k))
            LLVMSetOperand(copy, (unsigned)k, operands[k]);
    LLVMInsertIntoBuilder(wg->builder, copy);
    free(operands);
    return copy;
}

/* First copies all instructions with their old operands, so that each has its copy; phis without incoming values. */
static void copy_block(struct kc_wg *wg, LLVMBasicBlockRef from, LLVMBasicBlockRef to, struct kc_map *map)
{
    LLVMPositionBuilderAtEnd(wg->builder, to);
    for (KC_EACH_INSTRUCTION(i, from)) {
        LLVMValueRef copy;

        if (LLVMIsAPHINode(i)) {
            copy = LLVMBuildPhi(wg->builder, LLVMTypeOf(i), "");
        } else {
            copy = LLVMInstructionClone(i);
            LLVMInsertIntoBuilder(wg->builder, copy);
        }
        kc_map_set_pointer(map, i, copy);
    }
}

static void fill_phi(LLVMValueRef from, LLVMValueRef to, struct kc_map *map)
{
    for (unsigned k = 0; k < LLVMCountIncoming(from); k++) {
        LLVMValueRef value = mapped(map, LLVMGetIncomingValue(from, k));
        LLVMBasicBlockRef block = kc_map_get_pointer(map, LLVMGetIncomingBlock(from, k));

        LLVMAddIncoming(to, &value, &block, 1);
    }
}

static void map_operands(LLVMBasicBlockRef from, struct kc_map *map)
{
    for (KC_EACH_INSTRUCTION(i, from)) {
        LLVMValueRef copy = kc_map_get_pointer(map, i);

        if (LLVMIsAPHINode(i)) {
            fill_phi(i, copy, map);
            continue;
        }
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(copy); k++)
            LLVMSetOperand(copy, k, mapped(map, LLVMGetOperand(copy, k)));
    }
}

LLVMValueRef kc_clone_function(struct kc_wg *wg, LLVMValueRef function, const char *name)
{
    LLVMValueRef copy = LLVMAddFunction(wg->module, name, LLVMGlobalGetValueType(function));
    struct kc_map map = {.n = 0};

    copy_signature(function, copy, &map);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMBasicBlockRef to = LLVMAppendBasicBlockInContext(wg->context, copy, "");

        kc_map_set_pointer(&map, b, to);
        kc_map_set_pointer(&map, LLVMBasicBlockAsValue(b), LLVMBasicBlockAsValue(to));
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        copy_block(wg, b, kc_map_get_pointer(&map, b), &map);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        map_operands(b, &map);
    kc_map_clear(&map);
    return copy;
}
