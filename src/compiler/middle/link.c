#include "compiler/middle/link.h"

#include "compiler/builtins/builtins.h"
#include "compiler/middle/component_stores.h"
#include "compiler/middle/group_memory.h"
#include "compiler/middle/idle_stores.h"
#include "compiler/middle/private_arrays.h"
#include "compiler/middle/relaxed_math.h"
#include "compiler/support/llvm.h"
#include "compiler/support/move_functions.h"
#include "compiler/workgroup/workgroup.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

/* These stay undefined: the pass that makes work-group functions or twins for texture units, or a library for another
 * target, provides them. */
static const char *const primitives[] = {"_Z12get_local_idj",
                                         "_Z13get_global_idj",
                                         "_Z12get_group_idj",
                                         "_Z14get_local_sizej",
                                         "_Z23get_enqueued_local_sizej",
                                         "_Z14get_num_groupsj",
                                         "_Z15get_global_sizej",
                                         "_Z17get_global_offsetj",
                                         "_Z12get_work_dimv",
                                         KC_LAUNCH_FUNCTION,
                                         KC_THREAD_FUNCTION,
                                         KC_PLACES_FUNCTION,
                                         KC_TEXELS_FUNCTION};

#define N_PRIMITIVES (sizeof(primitives) / sizeof(primitives[0]))
#define BARRIER      "_Z7barrierj"

static bool is_primitive(LLVMValueRef function)
{
    for (size_t i = 0; i < N_PRIMITIVES; i++)
        if (kc_is_named(function, primitives[i]))
            return true;
    return false;
}

/* ---- Linking ----------------------------------------------------------------------------------------------------- */

bool kc_link_add(LLVMModuleRef module, LLVMModuleRef other)
{
    return !LLVMLinkModules2(module, other);
}

static bool is_defined(LLVMValueRef function, FILE *log)
{
    const char *name = kc_name(function);

    if (!LLVMIsDeclaration(function) || LLVMGetIntrinsicID(function) || is_primitive(function) ||
        strcmp(name, BARRIER) == 0 || strcmp(name, "vprintf") == 0 || !LLVMGetFirstUse(function))
        return true;
    fprintf(log, "error: the function %s is called and defined nowhere\n", name);
    return false;
}

/* Clang leaves samplers that result from an operator, which OpenCL C doesn't allow. */
static bool is_given(LLVMValueRef variable, FILE *log)
{
    if (!LLVMIsDeclaration(variable) || !LLVMGetFirstUse(variable) || kc_is_item_memory(variable))
        return true;
    fprintf(log, "error: the variable %s is used and defined nowhere\n", kc_name(variable));
    return false;
}

bool kc_link_builtins(LLVMModuleRef module, LLVMModuleRef library, FILE *log)
{
    bool whole = true;
    char *why;

    LLVMSetTarget(module, LLVMGetTarget(library));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(library));
    if (!kc_move_functions(module, library, &why)) {
        fprintf(log, "error: the built-in functions are damaged (%s): install Tesela again\n", why);
        free(why);
        return false;
    }
    kc_place_group_memory(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        whole &= is_defined(f, log);
    for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v))
        whole &= is_given(v, log);
    return whole;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void copy_attributes(LLVMValueRef from, LLVMValueRef to)
{
    unsigned n = LLVMCountParams(from);

    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeIndex index = i + 1;
        unsigned count = LLVMGetAttributeCountAtIndex(from, index);
        LLVMAttributeRef *all = malloc((count + 1) * sizeof(*all));

        LLVMGetAttributesAtIndex(from, index, all);
        for (unsigned k = 0; k < count; k++)
            LLVMAddAttributeAtIndex(to, index, all[k]);
        free(all);
    }
}

/* All but where the function stands in the source: that is one function's alone. */
static void copy_metadata(LLVMValueRef from, LLVMValueRef to)
{
    size_t n;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(from, &n);
    unsigned place = LLVMGetMDKindIDInContext(LLVMGetModuleContext(LLVMGetGlobalParent(from)), "dbg", 3);

    for (unsigned i = 0; i < n; i++)
        if (LLVMValueMetadataEntriesGetKind(entries, i) != place)
            LLVMGlobalSetMetadata(to, LLVMValueMetadataEntriesGetKind(entries, i),
                                  LLVMValueMetadataEntriesGetMetadata(entries, i));
    LLVMDisposeValueMetadataEntries(entries);
}

static void forward(LLVMValueRef kernel, LLVMValueRef body)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(kernel));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    unsigned n = LLVMCountParams(kernel);
    LLVMValueRef *args = malloc((n + 1) * sizeof(*args)), call;

    LLVMGetParams(kernel, args);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, kernel, ""));
    call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(body), body, args, n, "");
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(body, i + 1, kc_attribute_kind("byval"));

        if (byval)
            LLVMAddCallSiteAttribute(call, i + 1, byval);
    }
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    free(args);
}

/* A kernel may be called like a function: calls then go to a copy of its own, which the kernel calls, too. */
static void part_from_callers(LLVMModuleRef module, LLVMValueRef kernel)
{
    LLVMValueRef whole;
    char *name = strdup(kc_name(kernel));

    if (LLVMGetFirstUse(kernel)) {
        LLVMSetValueName2(kernel, "", 0);
        whole = LLVMAddFunction(module, name, LLVMGlobalGetValueType(kernel));
        LLVMSetFunctionCallConv(whole, LLVMGetFunctionCallConv(kernel));
        LLVMSetFunctionCallConv(kernel, LLVMCCallConv);
        copy_attributes(kernel, whole);
        copy_metadata(kernel, whole);
        forward(whole, kernel);
    }
    free(name);
}

static void mark(LLVMValueRef kernel)
{
    LLVMSetFunctionCallConv(kernel, LLVMCCallConv);
    LLVMAddTargetDependentFunctionAttr(kernel, KC_KERNEL_ATTRIBUTE, "");
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void add_none(LLVMValueRef function)
{
    static const char *const kinds[] = {"nounwind", "willreturn", "nosync", "nocallback", "nofree", "speculatable"};

    kc_remove_attribute(function, "convergent");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        kc_add_attribute(function, kinds[i]);
    kc_add_attribute(function, "memory"); /* with the value 0: none */
}

static bool is_convergent(LLVMValueRef function)
{
    unsigned convergent = kc_attribute_kind("convergent");

    return kc_is_named(function, BARRIER) ||
           (LLVMGetIntrinsicID(function) &&
            LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, convergent));
}

/* Only barriers make code convergent, and those operations of a GPU of which LLVM says it. */
static void diverge(LLVMValueRef function)
{
    unsigned convergent = kc_attribute_kind("convergent");

    if (!is_convergent(function))
        kc_remove_attribute(function, "convergent");
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            if (LLVMIsACallInst(at) && !(kc_callee(at) && is_convergent(kc_callee(at))))
                LLVMRemoveCallSiteEnumAttribute(at, LLVMAttributeFunctionIndex, convergent);
}

static void prepare_functions(LLVMModuleRef module)
{
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (kc_is_kernel(f))
            part_from_callers(module, f);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        diverge(f);
        if (kc_is_kernel(f))
            mark(f);
        else if (is_primitive(f))
            add_none(f);
        else if (!LLVMIsDeclaration(f)) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
            kc_add_attribute(f, kc_is_called(f) ? "noinline" : "alwaysinline");
        }
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && LLVMGetLinkage(g) != LLVMAppendingLinkage)
            LLVMSetLinkage(g, LLVMInternalLinkage);
}

/* Everything into the kernels, memory into registers. What no kernel calls goes first: programs include libraries of
 * functions, and inlining the unused ones into each other may take longer than all else. Functions have registers
 * before they are copied, and once more when all that they call is in them: that makes each copy smaller, and in the
 * kernel, whose blocks are looked at for each variable, few variables are left.
 */
static const char gather[] = "globaldce,function(sroa),cgscc(inline<only-mandatory>,function(sroa)),globaldce";

/* For programs so long that this pays: what is decided by a call's constants goes before callers have copies of it.
 * hashcat's functions for messages of any length are nearly all of this kind. */
static const char gather_large[] = "globaldce,function(sroa),cgscc(inline<only-mandatory>,function(sroa,early-cse,"
                                   "simplifycfg)),globaldce";

#define MOST_OF_PLAIN 30000u

/* Named metadata of the module. */
#define LARGE "tsl.large"

/* Constants folded, small loops unrolled: no more, as what comes next is done better when it knows the work-group. */
static const char simplify[] =
    "function(early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,sroa,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>),function(loop(loop-rotate,indvars))";

static const char unroll[] =
    "function(loop(loop-unroll-full)),"
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,adce)";

static bool run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, FILE *log)
{
    char *why = NULL;
    bool done = kc_run_passes(module, machine, passes, &why);

    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}

static bool is_sound(LLVMModuleRef module, FILE *log)
{
    char *why = NULL;
    bool sound = !LLVMVerifyModule(module, LLVMReturnStatusAction, &why);

    if (!sound)
        fprintf(log, "error: the compiler made something wrong: %s\n", why);
    LLVMDisposeMessage(why);
    return sound;
}

/* ---- Recursion --------------------------------------------------------------------------------------------------- */

/* A function that is called in f and should have been inlined: as the inliner leaves those that call themselves alone.
 * NULL: there is none. */
static LLVMValueRef left_call(LLVMValueRef f)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            if (kc_callee(at) && !LLVMIsDeclaration(kc_callee(at)) && !kc_is_called(kc_callee(at)))
                return kc_callee(at);
    return NULL;
}

static unsigned count_left(LLVMModuleRef module)
{
    unsigned n = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        n += left_call(f) != NULL;
    return n;
}

/* Where a function ends by calling itself, it begins again. OpenCL C knows no recursion (OpenCL C 3.0, 6.11.i), but
 * other compilers take this, and programs have it. */
static const char loop[] = "function(sroa,simplifycfg,tailcallelim,simplifycfg)";

static bool inline_all(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log)
{
    const char *passes = LLVMGetNamedMetadata(module, LARGE, strlen(LARGE)) ? gather_large : gather;
    bool done = run_passes(module, machine, passes, log);
    unsigned left = done ? count_left(module) : 0, before = left + 1;

    while (done && left && left < before) {
        before = left;
        done = run_passes(module, machine, loop, log) && run_passes(module, machine, passes, log);
        left = done ? count_left(module) : 0;
    }
    return done;
}

/* The kernels with what is left are taken out, and what they alone called. False: no kernel remains. */
static bool refuse_recursion(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log)
{
    unsigned n_refused = 0, n_kept = 0;
    LLVMValueRef next, left;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = next) {
        next = LLVMGetNextFunction(f);
        if (!kc_is_marked(f))
            continue;
        left = left_call(f);
        n_kept += !left;
        if (!left)
            continue;
        n_refused++;
        fprintf(log, "the kernel %s is left out: the function %s calls itself, which OpenCL C doesn't allow\n",
                kc_name(f), kc_name(left));
        LLVMDeleteFunction(f);
    }
    if (n_refused && !n_kept)
        fprintf(log, "error: no kernel is left\n");
    return !n_refused || (n_kept && run_passes(module, machine, "globaldce", log));
}

static bool is_large(LLVMModuleRef module)
{
    unsigned n = 0;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
                n++;
    return n > MOST_OF_PLAIN;
}

bool kc_link_prepare(LLVMModuleRef module, LLVMTargetMachineRef machine, FILE *log)
{
    kc_builtins_neutralise(module);
    kc_relaxed_roots(module);
    kc_mark_component_stores(module);
    prepare_functions(module);
    if (!is_sound(module, log) || !run_passes(module, machine, "globaldce", log))
        return false;
    if (is_large(module))
        LLVMGetOrInsertNamedMetadata(module, LARGE, strlen(LARGE));
    return true;
}

bool kc_link_finish(LLVMModuleRef module, LLVMTargetMachineRef machine, bool idle_stores, FILE *log)
{
    if (!inline_all(module, machine, log) || !refuse_recursion(module, machine, log))
        return false;
    if (idle_stores)
        kc_keep_idle_stores(module);
    else
        kc_part_component_stores(module);
    if (!run_passes(module, machine, simplify, log))
        return false;
    kc_mark_private_arrays(module);
    return run_passes(module, machine, unroll, log);
}
