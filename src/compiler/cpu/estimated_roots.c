#include "compiler/cpu/estimated_roots.h"

#include "compiler/middle/relaxed_math.h"
#include "compiler/support/target.h"

#include <string.h>

/* The allowed error of a division and of a square root, in ulps (OpenCL C 3.0, 7.4), unless the program was built with
 * -cl-fp32-correctly-rounded-divide-sqrt. */
#define DIVISION_ULPS 2.5
#define ROOT_ULPS     3.0

/* LLVM's intrinsics for the estimate, of a scalar and of vectors. */
static const struct estimate {
    unsigned n, mask_bits;
    const char *name;
} estimates[] = {{1, 8, "llvm.x86.avx512.rsqrt14.ss"},
                 {4, 8, "llvm.x86.avx512.rsqrt14.ps.128"},
                 {8, 8, "llvm.x86.avx512.rsqrt14.ps.256"},
                 {16, 16, "llvm.x86.avx512.rsqrt14.ps.512"}};

/* A constant of the scalar or vector type. */
static LLVMValueRef number(LLVMTypeRef type, double value)
{
    LLVMValueRef all[16];

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMConstReal(type, value);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
        all[i] = LLVMConstReal(LLVMGetElementType(type), value);
    return LLVMConstVector(all, LLVMGetVectorSize(type));
}

static LLVMValueRef call(LLVMBuilderRef builder, LLVMModuleRef module, const char *name, LLVMTypeRef *overloads,
                         LLVMValueRef *args, unsigned n)
{
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(name, strlen(name)), overloads, overloads ? 1 : 0);

    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, args, n, "");
}

static LLVMValueRef fused(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z)
{
    LLVMTypeRef type = LLVMTypeOf(x);

    return call(builder, module, "llvm.fma", &type, (LLVMValueRef[]){x, y, z}, 3);
}

static LLVMValueRef estimate(LLVMBuilderRef builder, LLVMModuleRef module, const struct estimate *of, LLVMValueRef x)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef all = LLVMConstAllOnes(LLVMIntTypeInContext(context, of->mask_bits));
    LLVMTypeRef four = LLVMVectorType(LLVMFloatTypeInContext(context), 4);
    LLVMValueRef first = LLVMConstNull(LLVMInt32TypeInContext(context));

    if (of->n > 1)
        return call(builder, module, of->name, NULL, (LLVMValueRef[]){x, LLVMConstNull(LLVMTypeOf(x)), all}, 3);
    x = LLVMBuildInsertElement(builder, LLVMConstNull(four), x, first, "");
    x = call(builder, module, of->name, NULL, (LLVMValueRef[]){x, x, LLVMConstNull(four), all}, 4);
    return LLVMBuildExtractElement(builder, x, first, "");
}

/* Where the Newton step gives NaN (for 0, infinity, and arguments without a root), the estimate is right already. */
static LLVMValueRef refined(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef x, LLVMValueRef y)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef zero = LLVMConstNull(type), one = number(type, 1), half = number(type, 0.5);
    LLVMValueRef rest =
        fused(builder, module, LLVMBuildFNeg(builder, LLVMBuildFMul(builder, x, y, ""), ""), y, one); /* 1 - x y^2 */
    LLVMValueRef better = fused(builder, module, LLVMBuildFMul(builder, y, half, ""), rest, y);

    return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealORD, rest, zero, ""), better, y, "");
}

static const struct estimate *estimate_for(LLVMTypeRef type)
{
    unsigned n = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;

    if (LLVMGetTypeKind(n > 1 ? LLVMGetElementType(type) : type) != LLVMFloatTypeKind)
        return NULL;
    for (size_t i = 0; i < sizeof(estimates) / sizeof(estimates[0]); i++)
        if (estimates[i].n == n)
            return &estimates[i];
    return NULL;
}

static void visit(LLVMBuilderRef builder, LLVMValueRef at)
{
    const struct estimate *of = LLVMGetInstructionOpcode(at) == LLVMFDiv ? estimate_for(LLVMTypeOf(at)) : NULL;
    LLVMValueRef root, x;
    LLVMModuleRef module;

    if (!of || kc_error_of(at) < DIVISION_ULPS || LLVMGetOperand(at, 0) != number(LLVMTypeOf(at), 1))
        return;
    root = LLVMGetOperand(at, 1);
    if (!kc_is_root(root) || kc_error_of(root) < ROOT_ULPS)
        return;
    module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)));
    x = LLVMGetOperand(root, 0);
    LLVMPositionBuilderBefore(builder, at);
    LLVMReplaceAllUsesWith(at, refined(builder, module, x, estimate(builder, module, of, x)));
    LLVMInstructionEraseFromParent(at);
}

void kc_estimate_roots(LLVMModuleRef module, LLVMTargetMachineRef machine)
{
    if (kc_has_feature(machine, "avx512vl"))
        kc_visit(module, visit);
}
