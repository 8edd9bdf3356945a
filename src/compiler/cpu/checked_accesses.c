#include "compiler/cpu/checked_accesses.h"

#include "compile_client/kernel_image.h"
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

/* A field of what describes an image, as a number of 64 bits. */
static LLVMValueRef field_of(const struct checker *c, LLVMValueRef image, size_t offset, LLVMTypeRef type)
{
    LLVMValueRef at = LLVMConstInt(c->i64, offset, false);
    LLVMValueRef field = LLVMBuildLoad2(c->builder, type, LLVMBuildGEP2(c->builder, c->i8, image, &at, 1, ""), "");

    return LLVMBuildIntCast2(c->builder, field, c->i64, false, "");
}

/* A pixel's coordinate as a number of 64 bits; *inside: are all so far, of which NULL is none, in the image? */
static LLVMValueRef coordinate_of(const struct checker *c, LLVMValueRef coordinate, LLVMValueRef size,
                                  LLVMValueRef *inside)
{
    LLVMValueRef wide = LLVMBuildIntCast2(c->builder, coordinate, c->i64, false, "");
    LLVMValueRef here = LLVMBuildICmp(c->builder, LLVMIntULT, wide, size, "");

    *inside = *inside ? LLVMBuildAnd(c->builder, *inside, here, "") : here;
    return wide;
}

/* A pixel by integer coordinates: (image, x, y, z, ...). Outside the image no byte is touched. */
static void check_pixel(const struct checker *c, LLVMValueRef call, unsigned kind)
{
    static const struct {
        size_t size, step;
    } fields[] = {
        {offsetof(struct tsl_kc_image, width), offsetof(struct tsl_kc_image, element_size)},
        {offsetof(struct tsl_kc_image, height), offsetof(struct tsl_kc_image, row_pitch)},
        {offsetof(struct tsl_kc_image, depth), offsetof(struct tsl_kc_image, slice_pitch)},
    };
    LLVMValueRef image = LLVMGetOperand(call, 0), inside = NULL, address, size;

    LLVMPositionBuilderBefore(c->builder, call);
    address = field_of(c, image, offsetof(struct tsl_kc_image, data), c->i64);
    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef n = field_of(c, image, fields[d].size, c->i32), at;
        LLVMValueRef step = field_of(c, image, fields[d].step, d ? c->i64 : c->i32);

        if (d == 2)
            n = LLVMBuildMul(c->builder, n, field_of(c, image, offsetof(struct tsl_kc_image, array_size), c->i32), "");
        at = coordinate_of(c, LLVMGetOperand(call, d + 1), n, &inside);
        address = LLVMBuildAdd(c->builder, address, LLVMBuildMul(c->builder, at, step, ""), "");
    }
    size = field_of(c, image, offsetof(struct tsl_kc_image, element_size), c->i32);
    size = LLVMBuildSelect(c->builder, inside, size, LLVMConstInt(c->i64, 0, false), "");
    put_call(c, call, &(struct access){LLVMBuildIntToPtr(c->builder, address, c->pointer, ""), size, kind});
}

static void check_call(const struct checker *c, LLVMValueRef call)
{
    LLVMValueRef callee = kc_callee(call);

    if (callee && kc_name_begins(callee, "__tsl_called_image_load"))
        check_pixel(c, call, 0);
    else if (callee && kc_name_begins(callee, "__tsl_called_image_store"))
        check_pixel(c, call, TSL_WG_CHECK_WRITE);
    else
        check_block(c, call);
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
        check_call(c, at);
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
