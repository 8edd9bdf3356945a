#include "compiler/middle/relaxed_math.h"

#include <string.h>

/* sqrt() of float and of its vectors. */
static const char *const roots[] = {"_Z4sqrtf",     "_Z4sqrtDv2_f", "_Z4sqrtDv3_f",
                                    "_Z4sqrtDv4_f", "_Z4sqrtDv8_f", "_Z4sqrtDv16_f"};
#define N_ROOTS (sizeof(roots) / sizeof(roots[0]))
#define ROOT    "llvm.sqrt"

/* ---- The allowed error of an operation --------------------------------------------------------------------------- */

double kc_error_of(LLVMValueRef at)
{
    LLVMContextRef context =
        LLVMGetModuleContext(LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at))));
    LLVMValueRef node = LLVMGetMetadata(at, LLVMGetMDKindIDInContext(context, "fpmath", 6)), operand;
    LLVMBool inexact;

    if (!node || LLVMGetMDNodeNumOperands(node) != 1)
        return 0;
    LLVMGetMDNodeOperands(node, &operand);
    return operand && LLVMIsAConstantFP(operand) ? LLVMConstRealGetDouble(operand, &inexact) : 0;
}

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static bool is_of_floats(LLVMTypeRef type)
{
    return LLVMGetTypeKind(is_vector(type) ? LLVMGetElementType(type) : type) == LLVMFloatTypeKind;
}

static bool is_root_function(LLVMValueRef function)
{
    size_t i = 0;

    while (i < N_ROOTS && !kc_is_named(function, roots[i]))
        i++;
    return i < N_ROOTS;
}

void kc_set_error_of(LLVMValueRef at, double ulps)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(at));
    LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstReal(LLVMFloatTypeInContext(context), ulps));
    LLVMValueRef node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &number, 1));

    LLVMSetMetadata(at, LLVMGetMDKindIDInContext(context, "fpmath", 6), ulps > 0 ? node : NULL);
}

static void allow(LLVMBuilderRef builder, LLVMValueRef at)
{
    (void)builder;
    if (LLVMGetInstructionOpcode(at) == LLVMFDiv && is_of_floats(LLVMTypeOf(at)))
        kc_set_error_of(at, 2.5);
    else if (kc_callee(at) && is_root_function(kc_callee(at)))
        kc_set_error_of(at, 3);
}

void kc_relaxed_allow(LLVMModuleRef module)
{
    kc_visit(module, allow);
}

/* ---- Instructions without an LLVM operation ---------------------------------------------------------------------- */

static bool is_one(LLVMValueRef value)
{
    LLVMBool inexact;

    return LLVMIsAConstantFP(value) && LLVMConstRealGetDouble(value, &inexact) == 1;
}

static bool flushes(LLVMBuilderRef builder)
{
    return LLVMGetStringAttributeAtIndex(LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)),
                                         LLVMAttributeFunctionIndex, KC_FLUSHES_ATTRIBUTE,
                                         sizeof(KC_FLUSHES_ATTRIBUTE) - 1);
}

static LLVMValueRef approximate(LLVMBuilderRef builder, LLVMValueRef *args, unsigned n)
{
    bool ftz = flushes(builder);

    if (n == 1)
        return kc_arithmetic(builder, ftz ? "sqrt.approx.ftz.f32 $0, $1;" : "sqrt.approx.f32 $0, $1;", "=f,f", args, 1);
    if (is_one(args[0]))
        return kc_arithmetic(builder, ftz ? "rcp.approx.ftz.f32 $0, $1;" : "rcp.approx.f32 $0, $1;", "=f,f", args + 1,
                             1);
    return kc_arithmetic(builder, ftz ? "div.full.ftz.f32 $0, $1, $2;" : "div.full.f32 $0, $1, $2;", "=f,f,f", args, 2);
}

/* A vector's elements one by one, as the GPU computes them. args: vectors. */
static LLVMValueRef approximate_each(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef number = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    LLVMValueRef result = LLVMGetPoison(type), parts[2];

    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef index = LLVMConstInt(number, i, false);

        for (unsigned k = 0; k < n; k++)
            parts[k] = LLVMBuildExtractElement(builder, args[k], index, "");
        result = LLVMBuildInsertElement(builder, result, approximate(builder, parts, n), index, "");
    }
    return result;
}

static void replace(LLVMBuilderRef builder, LLVMValueRef at, unsigned n)
{
    LLVMValueRef args[2] = {LLVMGetOperand(at, 0), n > 1 ? LLVMGetOperand(at, 1) : NULL};
    LLVMTypeRef type = LLVMTypeOf(at);

    LLVMPositionBuilderBefore(builder, at);
    LLVMReplaceAllUsesWith(at,
                           is_vector(type) ? approximate_each(builder, type, args, n) : approximate(builder, args, n));
    LLVMInstructionEraseFromParent(at);
}

bool kc_is_root(LLVMValueRef value)
{
    static const unsigned length = sizeof(ROOT) - 1;
    LLVMValueRef callee = kc_callee(value);

    return callee && LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(ROOT, length);
}

/* The number of operands if the hardware has a faster instruction for the operation; else 0. */
static unsigned n_operands(LLVMValueRef at)
{
    if (!is_of_floats(LLVMTypeOf(at)))
        return 0;
    if (LLVMGetInstructionOpcode(at) == LLVMFDiv && kc_error_of(at) >= 2)
        return 2;
    return kc_is_root(at) && kc_error_of(at) >= 1 ? 1 : 0;
}

/* ---- All of a module --------------------------------------------------------------------------------------------- */

static void make_root(LLVMBuilderRef builder, LLVMValueRef call)
{
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef arg = LLVMGetOperand(call, 0), root;
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(ROOT, sizeof(ROOT) - 1), &type, 1);
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "fpmath", 6);

    LLVMPositionBuilderBefore(builder, call);
    root = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &arg, 1, "");
    LLVMSetMetadata(root, kind, LLVMGetMetadata(call, kind));
    LLVMReplaceAllUsesWith(call, root);
    LLVMInstructionEraseFromParent(call);
}

void kc_relaxed_roots(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMUseRef next;

    for (size_t i = 0; i < N_ROOTS; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, roots[i]);

        for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = next) {
            LLVMValueRef call = LLVMGetUser(use);

            next = LLVMGetNextUse(use);
            if (kc_callee(call) == function && kc_error_of(call) >= 1)
                make_root(builder, call);
        }
    }
    LLVMDisposeBuilder(builder);
}

static void relax(LLVMBuilderRef builder, LLVMValueRef at)
{
    unsigned n = n_operands(at);

    if (n)
        replace(builder, at, n);
}

void kc_relaxed_math(LLVMModuleRef module)
{
    kc_visit(module, relax);
}
