#include "compiler/cpu/estimated_roots.h"

#include "compiler/middle/relaxed_math.h"
#include "compiler/support/target.h"

#include <string.h>

/* The allowed error of a division and of a square root, in ulps (OpenCL C 3.0, 7.4), unless the program was built with
 * -cl-fp32-correctly-rounded-divide-sqrt. Of doubles only rsqrt() has one. */
#define DIVISION_ULPS 2.5
#define ROOT_ULPS     3.0
#define DOUBLE_ULPS   2.0

/* The error of the estimate itself, for floats. */
#define ROUGH_ULPS 1024.0

#define MOST_LANES 16u

/* LLVM's intrinsics for the estimate, of a scalar and of vectors. */
static const struct estimate {
    LLVMTypeKind kind;
    unsigned n, mask_bits;
    const char *name;
} estimates[] = {{LLVMFloatTypeKind, 1, 8, "llvm.x86.avx512.rsqrt14.ss"},
                 {LLVMFloatTypeKind, 4, 8, "llvm.x86.avx512.rsqrt14.ps.128"},
                 {LLVMFloatTypeKind, 8, 8, "llvm.x86.avx512.rsqrt14.ps.256"},
                 {LLVMFloatTypeKind, 16, 16, "llvm.x86.avx512.rsqrt14.ps.512"},
                 {LLVMDoubleTypeKind, 1, 8, "llvm.x86.avx512.rsqrt14.sd"},
                 {LLVMDoubleTypeKind, 2, 8, "llvm.x86.avx512.rsqrt14.pd.128"},
                 {LLVMDoubleTypeKind, 4, 8, "llvm.x86.avx512.rsqrt14.pd.256"},
                 {LLVMDoubleTypeKind, 8, 8, "llvm.x86.avx512.rsqrt14.pd.512"}};

static unsigned lanes_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

static LLVMTypeKind kind_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type);
}

/* A constant of the scalar or vector type. */
static LLVMValueRef number(LLVMTypeRef type, double value)
{
    LLVMValueRef all[MOST_LANES];

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
    LLVMTypeRef whole = LLVMVectorType(LLVMTypeOf(x), of->kind == LLVMFloatTypeKind ? 4 : 2);
    LLVMValueRef first = LLVMConstNull(LLVMInt32TypeInContext(context));

    if (of->n > 1)
        return call(builder, module, of->name, NULL, (LLVMValueRef[]){x, LLVMConstNull(LLVMTypeOf(x)), all}, 3);
    x = LLVMBuildInsertElement(builder, LLVMConstNull(whole), x, first, "");
    x = call(builder, module, of->name, NULL, (LLVMValueRef[]){x, x, LLVMConstNull(whole), all}, 4);
    return LLVMBuildExtractElement(builder, x, first, "");
}

/* 1 - x y^2 */
static LLVMValueRef lack(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef minus = LLVMBuildFNeg(builder, LLVMBuildFMul(builder, x, y, ""), "");

    return fused(builder, module, minus, y, number(LLVMTypeOf(x), 1));
}

/* A step of Newton's, or, of twice as many bits, of two terms of the series. */
static LLVMValueRef step(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef y, LLVMValueRef rest, bool two)
{
    LLVMTypeRef type = LLVMTypeOf(y);
    LLVMValueRef half = number(type, 0.5);
    LLVMValueRef factor = two ? fused(builder, module, rest, number(type, 0.375), half) : half;

    return fused(builder, module, LLVMBuildFMul(builder, y, factor, ""), rest, y);
}

/* Where the steps give NaN (for 0, infinity, and arguments without a root), the estimate is right already. */
static LLVMValueRef refined(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef x, LLVMValueRef y)
{
    bool is_double = kind_of(LLVMTypeOf(x)) == LLVMDoubleTypeKind;
    LLVMValueRef rest = lack(builder, module, x, y), zero = LLVMConstNull(LLVMTypeOf(x));
    LLVMValueRef known = LLVMBuildFCmp(builder, LLVMRealORD, rest, zero, "");
    LLVMValueRef better = step(builder, module, y, rest, is_double);

    if (is_double)
        better = step(builder, module, better, lack(builder, module, x, better), false);
    return LLVMBuildSelect(builder, known, better, y, "");
}

static const struct estimate *estimate_for(LLVMTypeRef type)
{
    for (size_t i = 0; i < sizeof(estimates) / sizeof(estimates[0]); i++)
        if (estimates[i].kind == kind_of(type) && estimates[i].n == lanes_of(type))
            return &estimates[i];
    return NULL;
}

/* Half of a vector's elements. */
static LLVMValueRef half_of(LLVMBuilderRef builder, LLVMValueRef vector, bool upper)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(vector)) / 2;
    LLVMTypeRef index = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(vector)));
    LLVMValueRef which[MOST_LANES];

    for (unsigned i = 0; i < n; i++)
        which[i] = LLVMConstInt(index, upper * n + i, false);
    return LLVMBuildShuffleVector(builder, vector, LLVMGetPoison(LLVMTypeOf(vector)), LLVMConstVector(which, n), "");
}

static LLVMValueRef joined(LLVMBuilderRef builder, LLVMValueRef lower, LLVMValueRef upper)
{
    unsigned n = 2 * LLVMGetVectorSize(LLVMTypeOf(lower));
    LLVMTypeRef index = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(lower)));
    LLVMValueRef which[MOST_LANES];

    for (unsigned i = 0; i < n; i++)
        which[i] = LLVMConstInt(index, i, false);
    return LLVMBuildShuffleVector(builder, lower, upper, LLVMConstVector(which, n), "");
}

static LLVMValueRef reciprocal_root(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef x, bool rough)
{
    const struct estimate *of = estimate_for(LLVMTypeOf(x));
    LLVMValueRef y;

    if (!of)
        return joined(builder, reciprocal_root(builder, module, half_of(builder, x, false), rough),
                      reciprocal_root(builder, module, half_of(builder, x, true), rough));
    y = estimate(builder, module, of, x);
    return rough ? y : refined(builder, module, x, y);
}

/* Sixteen doubles are two vectors. */
static bool has_estimate(LLVMTypeRef type)
{
    return estimate_for(type) || (kind_of(type) == LLVMDoubleTypeKind && lanes_of(type) == MOST_LANES);
}

static bool may_be_estimated(LLVMValueRef quotient, LLVMValueRef root)
{
    bool is_double = kind_of(LLVMTypeOf(quotient)) == LLVMDoubleTypeKind;

    return kc_error_of(quotient) >= (is_double ? DOUBLE_ULPS : DIVISION_ULPS) && kc_is_root(root) &&
           kc_error_of(root) >= (is_double ? DOUBLE_ULPS : ROOT_ULPS);
}

static void visit(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMModuleRef module;
    LLVMValueRef root, y;
    bool rough;

    if (LLVMGetInstructionOpcode(at) != LLVMFDiv || !has_estimate(LLVMTypeOf(at)) ||
        LLVMGetOperand(at, 0) != number(LLVMTypeOf(at), 1))
        return;
    root = LLVMGetOperand(at, 1);
    if (!may_be_estimated(at, root))
        return;
    rough = kind_of(LLVMTypeOf(at)) == LLVMFloatTypeKind && kc_error_of(at) >= ROUGH_ULPS &&
            kc_error_of(root) >= ROUGH_ULPS;
    module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)));
    LLVMPositionBuilderBefore(builder, at);
    y = reciprocal_root(builder, module, LLVMGetOperand(root, 0), rough);
    LLVMReplaceAllUsesWith(at, y);
    LLVMInstructionEraseFromParent(at);
}

void kc_estimate_roots(LLVMModuleRef module, LLVMTargetMachineRef machine)
{
    if (kc_has_feature(machine, "avx512vl"))
        kc_visit(module, visit);
}
