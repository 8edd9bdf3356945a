#include "compiler/cpu/checked_accesses.h"

#include "compile_client/work_group.h"
#include "compiler/support/llvm.h"
#include "compiler/workgroup/ir.h"
#include "compiler/workgroup/workgroup.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdlib.h>

enum { LOCAL_SPACE = 3 };

/* What is written before each access of one kernel. */
struct checker {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    LLVMTypeRef i8, i32, i64, pointer;
};

/* One access: bytes [address, address + size). */
struct access {
    LLVMValueRef address, size;
    unsigned kind; /* TSL_WG_CHECK_ bits */
};

static unsigned space_of(LLVMValueRef address)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(address));
}

/* A variable of the work-item's own, or a part of one at a place that the code says. */
static bool is_variable(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsAAddrSpaceCastInst(address))
        address = LLVMGetOperand(address, 0);
    return LLVMIsAAllocaInst(address) || LLVMIsAGlobalVariable(address);
}

static bool may_be_arguments(LLVMValueRef address)
{
    return space_of(address) != LOCAL_SPACE && !is_variable(address);
}

static LLVMValueRef size_of(const struct checker *c, LLVMTypeRef type)
{
    return LLVMConstInt(c->i64, LLVMStoreSizeOfType(c->layout, type), false);
}

/* launch->check(launch, address, size, kind, line) */
static void put_call(const struct checker *c, LLVMValueRef before, const struct access *access)
{
    LLVMTypeRef types[] = {c->pointer, c->pointer, c->i64, c->i32, c->i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c->context), types, 5, false);
    LLVMTypeRef launch_type = LLVMFunctionType(c->pointer, NULL, 0, false);
    LLVMValueRef get_launch = LLVMGetNamedFunction(c->module, KC_LAUNCH_FUNCTION), arguments[5], place, check;
    LLVMValueRef offset = LLVMConstInt(c->i64, offsetof(struct tsl_wg_launch, check), false);

    if (!get_launch)
        get_launch = LLVMAddFunction(c->module, KC_LAUNCH_FUNCTION, launch_type);
    LLVMPositionBuilderBefore(c->builder, before);
    arguments[0] = LLVMBuildCall2(c->builder, launch_type, get_launch, NULL, 0, "");
    arguments[1] = LLVMBuildAddrSpaceCast(c->builder, access->address, c->pointer, "");
    arguments[2] = access->size;
    arguments[3] = LLVMConstInt(c->i32, access->kind, false);
    arguments[4] = LLVMConstInt(c->i32, LLVMGetDebugLocLine(before), false);
    place = LLVMBuildGEP2(c->builder, c->i8, arguments[0], &offset, 1, "");
    check = LLVMBuildLoad2(c->builder, c->pointer, place, "");
    LLVMBuildCall2(c->builder, type, check, arguments, 5, "");
}

static void check(const struct checker *c, LLVMValueRef before, LLVMValueRef address, LLVMValueRef size, unsigned kind)
{
    if (may_be_arguments(address))
        put_call(c, before, &(struct access){address, size, kind});
}

/* memcpy, memmove, memset: (to, from or value, size, volatile). */
static void check_block(const struct checker *c, LLVMValueRef call)
{
    LLVMValueRef callee = kc_callee(call);
    bool copies = callee && (kc_name_begins(callee, "llvm.memcpy.") || kc_name_begins(callee, "llvm.memmove."));
    bool sets = callee && kc_name_begins(callee, "llvm.memset.");

    if (!copies && !sets)
        return;
    LLVMPositionBuilderBefore(c->builder, call);
    LLVMValueRef size = LLVMBuildIntCast2(c->builder, LLVMGetOperand(call, 2), c->i64, false, "");
    check(c, call, LLVMGetOperand(call, 0), size, TSL_WG_CHECK_WRITE);
    if (copies)
        check(c, call, LLVMGetOperand(call, 1), size, 0);
}

static void check_instruction(const struct checker *c, LLVMValueRef at)
{
    if (LLVMIsALoadInst(at))
        check(c, at, LLVMGetOperand(at, 0), size_of(c, LLVMTypeOf(at)), 0);
    else if (LLVMIsAStoreInst(at))
        check(c, at, LLVMGetOperand(at, 1), size_of(c, LLVMTypeOf(LLVMGetOperand(at, 0))), TSL_WG_CHECK_WRITE);
    else if (LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at))
        check(c, at, LLVMGetOperand(at, 0), size_of(c, LLVMTypeOf(LLVMGetOperand(at, 1))),
              TSL_WG_CHECK_WRITE | TSL_WG_CHECK_ATOMIC);
    else if (LLVMIsACallInst(at))
        check_block(c, at);
}

void kc_check_accesses(LLVMValueRef kernel)
{
    LLVMModuleRef module = LLVMGetGlobalParent(kernel);
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct checker c = {.module = module,
                        .context = context,
                        .builder = LLVMCreateBuilderInContext(context),
                        .layout = LLVMGetModuleDataLayout(module),
                        .i8 = LLVMInt8TypeInContext(context),
                        .i32 = LLVMInt32TypeInContext(context),
                        .i64 = LLVMInt64TypeInContext(context),
                        .pointer = LLVMPointerTypeInContext(context, 0)};

    /* The calls that are put in stand before the instruction, so that none is visited. */
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel); block; block = LLVMGetNextBasicBlock(block))
        for (KC_EACH_INSTRUCTION(at, block))
            check_instruction(&c, at);
    LLVMDisposeBuilder(c.builder);
}
