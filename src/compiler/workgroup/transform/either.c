#include "compiler/workgroup/transform/either.h"

#include "compile_client/work_group.h"

#include <stddef.h>

static void call(struct kc_wg *wg, LLVMValueRef either, LLVMValueRef callee, const char *name)
{
    LLVMValueRef args[6];

    LLVMPositionBuilderAtEnd(wg->builder, LLVMAppendBasicBlockInContext(wg->context, either, name));
    LLVMGetParams(either, args);
    LLVMBuildCall2(wg->builder, LLVMGlobalGetValueType(callee), callee, args, 6, "");
    LLVMBuildRetVoid(wg->builder);
}

LLVMValueRef kc_build_either(struct kc_wg *wg, LLVMValueRef straight, LLVMValueRef turned, unsigned lanes)
{
    size_t at = offsetof(struct tsl_wg_launch, local_size) + sizeof(uint64_t), length;
    LLVMValueRef either = LLVMAddFunction(wg->module, LLVMGetValueName2(straight, &length),
                                          LLVMGlobalGetValueType(straight)),
                 size;
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(wg->context, either, "entry");

    LLVMSetLinkage(either, LLVMInternalLinkage);
    kc_wg_add_attribute(wg, either, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    call(wg, either, turned, "turned");
    call(wg, either, straight, "straight");
    LLVMPositionBuilderAtEnd(wg->builder, entry);
    size = LLVMBuildLoad2(wg->builder, wg->i64, kc_byte_offset(wg, LLVMGetParam(either, 0), kc_i64(wg, at), ""), "");
    LLVMBuildCondBr(wg->builder, LLVMBuildICmp(wg->builder, LLVMIntUGE, size, kc_i64(wg, lanes), ""),
                    LLVMGetNextBasicBlock(entry), LLVMGetLastBasicBlock(either));
    return either;
}
