#include "compiler/builtins/builtins.h"

#include "compiler/front/front.h"
#include "compiler/front/options.h"
#include "compiler/middle/relaxed_math.h"
#include "compiler/support/llvm.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Neutral functions ------------------------------------------------------------------------------------------- */

/* The kernels' calling convention is kept: compiler/middle/link.c looks for it. */
static void neutralise(LLVMValueRef function)
{
    static const char *const texts[] = {"target-features", "target-cpu",       "no-builtins",
                                        "frame-pointer",   "no-trapping-math", "stack-protector-buffer-size"};
    static const char *const kinds[] = {"noinline", "optnone", "nobuiltin"};

    if (!kc_is_kernel(function))
        LLVMSetFunctionCallConv(function, LLVMCCallConv);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, texts[i], (unsigned)strlen(texts[i]));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        kc_remove_attribute(function, kinds[i]);
}

/* Calls have their own conventions and attributes. */
static void neutralise_calls(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            if (LLVMIsACallInst(at)) {
                LLVMSetInstructionCallConv(at, LLVMCCallConv);
                LLVMRemoveCallSiteEnumAttribute(at, LLVMAttributeFunctionIndex, kc_attribute_kind("nobuiltin"));
            }
}

/* All of ours that has a result is. */
static void mark_assembly(LLVMBuilderRef builder, LLVMValueRef at)
{
    (void)builder;
    if (LLVMIsACallInst(at) && LLVMIsAInlineAsm(LLVMGetCalledValue(at)) &&
        LLVMGetTypeKind(LLVMTypeOf(at)) != LLVMVoidTypeKind)
        kc_mark_arithmetic(at);
}

void kc_builtins_neutralise(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        neutralise(f);
        neutralise_calls(f);
    }
}

/* Functions in which quotients and roots may be wrong, as a program's own may, or by more: the reciprocal roots, for
 * which the compiler may use an estimate (compiler/cpu/estimated_roots.h), and smoothstep(). native_rsqrt() might be
 * wrong by any amount, but it is exact to some ulps on all vendors' devices, and programs rely on that: by the estimate
 * alone OpenMM's forces were wrong by 1e-4. */
static const struct wrong {
    const char *begin; /* of the name */
    double ulps;       /* 0: as Clang says */
} wrong[] = {
    {"_Z5rsqrtd", 2}, {"_Z5rsqrt", 0}, {"_Z12native_rsqrtf", 0}, {"_Z10half_rsqrtf", 8192}, {"_Z10smoothstep", 0},
};

static const struct wrong *may_be_wrong(LLVMValueRef function)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (strncmp(kc_name(function), wrong[i].begin, strlen(wrong[i].begin)) == 0)
            return &wrong[i];
    return NULL;
}

static bool is_quotient_or_root(LLVMValueRef at)
{
    return LLVMGetInstructionOpcode(at) == LLVMFDiv || kc_is_root(at);
}

/* Functions made of several operations rely on each of these: none may have the error that a program's own may have
 * (compiler/middle/relaxed_math.h). */
static void demand_accuracy(LLVMModuleRef library)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        const struct wrong *may = may_be_wrong(f);

        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
                if (!may)
                    kc_set_error_of(at, 0);
                else if (may->ulps > 0 && is_quotient_or_root(at))
                    kc_set_error_of(at, may->ulps);
    }
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;

    if (!file || getdelim(&text, &capacity, 0, file) < 0)
        fprintf(stderr, "tesela-kc: %s can't be read\n", path);
    if (file)
        fclose(file);
    return text;
}

/* Compiles one of our sources; NULL after a message. */
static LLVMModuleRef compile(LLVMContextRef context, const char *path)
{
    struct kc_options options;
    struct kc_front_input input = {.source = read_file(path)};
    struct kc_front_output output = {.module = NULL};
    char *why, *folder = strdup(path), *text = NULL;

    if (strrchr(folder, '/'))
        *strrchr(folder, '/') = 0;
    if (input.source &&
        asprintf(&text, "-cl-std=CL3.0 -I \"%s\" -I \"%s/..\" -I \"%s/../..\" -I \"%s/../../..\"", folder, folder,
                 folder, folder) > 0 &&
        kc_options_read(text, false, &options, &why)) {
        input.n_args = options.n_args;
        input.args = options.args;
        kc_front(context, &input, &output);
        if (output.log[0])
            fprintf(stderr, "%s:\n%s", path, output.log);
        free(output.log);
        free(output.files);
        kc_options_finish(&options);
    }
    free(text);
    free(folder);
    free((char *)input.source);
    return output.module;
}

/* Replaces a definition by a declaration. The definition stays under another name, or is deleted if that is NULL. */
static void undefine(LLVMModuleRef library, const char *name, const char *other)
{
    LLVMValueRef theirs = LLVMGetNamedFunction(library, name), declared;

    if (!theirs || LLVMIsDeclaration(theirs))
        return;
    declared = LLVMAddFunction(library, "", LLVMGlobalGetValueType(theirs));
    LLVMReplaceAllUsesWith(theirs, declared);
    if (other)
        LLVMSetValueName2(theirs, other, strlen(other));
    else
        LLVMDeleteFunction(theirs);
    LLVMSetValueName2(declared, name, strlen(name));
}

/* Functions that `ours` defines for others, too, are removed from the library; ours may call libclc's by its name with
 * "clc." before. */
static void prefer_ours(LLVMModuleRef library, LLVMModuleRef ours)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(ours); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage) {
            char *other = NULL;

            if (asprintf(&other, "clc.%s", kc_name(f)) < 0)
                abort();
            undefine(library, kc_name(f), LLVMGetNamedFunction(ours, other) ? other : NULL);
            free(other);
        }
}

static bool add_source(LLVMModuleRef library, LLVMContextRef context, const char *path)
{
    LLVMModuleRef ours = compile(context, path);
    char *why = NULL;

    if (!ours)
        return false;
    kc_visit(ours, mark_assembly);
    LLVMSetTarget(ours, LLVMGetTarget(library));
    LLVMSetDataLayout(ours, LLVMGetDataLayoutStr(library));
    if (!kc_run_passes(ours, NULL, "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>)", &why)) {
        fprintf(stderr, "tesela-kc: %s: %s\n", path, why);
        return false;
    }
    prefer_ours(library, ours);
    return !LLVMLinkModules2(library, ours);
}

/* Gives functions linkonce_odr linkage: only those that are needed are linked, and they vanish once they are
 * inlined. */
static void make_linkonce(LLVMModuleRef library)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage)
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    for (LLVMValueRef g = LLVMGetFirstGlobal(library); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && LLVMGetLinkage(g) == LLVMExternalLinkage)
            LLVMSetLinkage(g, LLVMLinkOnceODRLinkage);
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static bool reads_table(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            if (LLVMIsALoadInst(at) && LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(at, 0))) == 4)
                return true;
    return false;
}

static void saturate(LLVMModuleRef library, LLVMBuilderRef builder, LLVMValueRef conversion)
{
    const char *name = LLVMGetInstructionOpcode(conversion) == LLVMFPToSI ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMValueRef operand = LLVMGetOperand(conversion, 0), function, to;
    LLVMTypeRef types[2] = {LLVMTypeOf(conversion), LLVMTypeOf(operand)};

    function = LLVMGetIntrinsicDeclaration(library, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    LLVMPositionBuilderBefore(builder, conversion);
    to = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &operand, 1, "");
    LLVMReplaceAllUsesWith(conversion, to);
    LLVMInstructionEraseFromParent(conversion);
}

/* libclc relies on saturating conversions to integers, as on GPUs: an index that is too large for a table becomes its
 * last. The host's conversions go to the other end. */
static void saturate_indices(LLVMModuleRef library, LLVMContextRef context)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);

    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        if (!reads_table(f))
            continue;
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            LLVMValueRef next;

            for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = next) {
                next = LLVMGetNextInstruction(at);
                if (LLVMIsAFPToSIInst(at) || LLVMIsAFPToUIInst(at))
                    saturate(library, builder, at);
            }
        }
    }
    LLVMDisposeBuilder(builder);
}

/* Reads bitcode; NULL after a message. */
static LLVMModuleRef read_bitcode(LLVMContextRef context, const char *path)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef library;
    char *why = NULL;

    if (!LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &why) &&
        !LLVMParseBitcodeInContext2(context, buffer, &library))
        return library;
    fprintf(stderr, "tesela-kc: %s: %s\n", path, why ? why : "no bitcode that this LLVM reads");
    return NULL;
}

/* ---- NVIDIA's libdevice ------------------------------------------------------------------------------------------
 *
 * Its functions become internal: what OpenCL's call of them stays. They ask by __nvvm_reflect how a program is built.
 */

#define ASK "__nvvm_reflect"

/* The processor is one whose code all others can run; of subnormal floats the program's build knows. */
static LLVMValueRef answer(LLVMModuleRef library, LLVMBuilderRef builder, LLVMValueRef call)
{
    LLVMTypeRef number = LLVMTypeOf(call), type = LLVMFunctionType(number, NULL, 0, false);
    LLVMValueRef flushes = LLVMGetNamedFunction(library, KC_FLUSHES_FUNCTION);
    size_t length;
    const char *what = LLVMGetAsString(LLVMGetInitializer(LLVMGetOperand(call, 0)), &length);

    if (strcmp(what, "__CUDA_FTZ") != 0)
        return LLVMConstInt(number, strcmp(what, "__CUDA_ARCH") ? 1 : 750, false);
    if (!flushes)
        flushes = LLVMAddFunction(library, KC_FLUSHES_FUNCTION, type);
    LLVMPositionBuilderBefore(builder, call);
    return LLVMBuildCall2(builder, type, flushes, NULL, 0, "");
}

static void answer_all(LLVMModuleRef library)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(library));
    LLVMValueRef ask = LLVMGetNamedFunction(library, ASK);
    LLVMUseRef next;

    for (LLVMUseRef use = ask ? LLVMGetFirstUse(ask) : NULL; use; use = next) {
        LLVMValueRef call = LLVMGetUser(use);

        next = LLVMGetNextUse(use);
        LLVMReplaceAllUsesWith(call, answer(library, builder, call));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDisposeBuilder(builder);
}

/* Large ones stay functions, by their names. */
static void keep_calls(LLVMModuleRef device)
{
    static const char *const names[] = {"__internal_trig_reduction_slowpathd", "__internal_accurate_pow",
                                        "__internal_lgamma_pos"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        LLVMValueRef function = LLVMGetNamedFunction(device, names[i]);
        char name[64];

        if (function) {
            snprintf(name, sizeof(name), "__tsl_called_%s", names[i] + 2);
            LLVMSetValueName2(function, name, strlen(name));
        }
    }
}

static bool add_bitcode(LLVMModuleRef library, LLVMContextRef context, const char *path)
{
    LLVMModuleRef device = read_bitcode(context, path);

    if (!device)
        return false;
    kc_visit(device, mark_assembly);
    answer_all(device);
    keep_calls(device);
    kc_builtins_neutralise(device);
    for (LLVMValueRef g = LLVMGetFirstGlobal(device); g; g = LLVMGetNextGlobal(g))
        LLVMSetGlobalConstant(g, true); /* nobody writes there */
    LLVMSetTarget(device, LLVMGetTarget(library));
    LLVMSetDataLayout(device, LLVMGetDataLayoutStr(library));
    return !LLVMLinkModules2(library, device);
}

static bool is_bitcode(const char *path)
{
    const char *end = strrchr(path, '.');

    return end && strcmp(end, ".bc") == 0;
}

static bool is_of_device(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function) && strncmp(kc_name(function), "__nv_", 5) == 0;
}

/* Those that nothing uses go; those that these used follow. */
static void clean(LLVMModuleRef library)
{
    bool gone;

    do {
        LLVMValueRef next;

        gone = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = next) {
            next = LLVMGetNextFunction(f);
            if (is_of_device(f) && !LLVMGetFirstUse(f)) {
                LLVMDeleteFunction(f);
                gone = true;
            } else if (is_of_device(f))
                LLVMSetLinkage(f, LLVMInternalLinkage);
        }
    } while (gone);
}

/* What is in the library when all sources are in; NULL: why was told. */
static LLVMModuleRef make(LLVMContextRef context, const char *libclc, unsigned n_sources, char *const *sources)
{
    LLVMModuleRef library =
        strcmp(libclc, "-") ? read_bitcode(context, libclc) : LLVMModuleCreateWithNameInContext("builtins", context);

    if (!library)
        return NULL;
    kc_builtins_neutralise(library);
    demand_accuracy(library);
    saturate_indices(library, context);
    /* libclc makes these two from others; the work-group pass knows better. */
    undefine(library, "_Z13get_global_idj", NULL);
    undefine(library, "_Z15get_global_sizej", NULL);
    for (unsigned i = 0; i < n_sources; i++)
        if (!(is_bitcode(sources[i]) ? add_bitcode : add_source)(library, context, sources[i]))
            return NULL;
    kc_builtins_neutralise(library);
    demand_accuracy(library);
    clean(library);
    kc_mark_narrow(library);
    LLVMStripModuleDebugInfo(library);
    make_linkonce(library);
    return library;
}

int kc_builtins_make(const char *out, const char *libclc, unsigned n_sources, char *const *sources)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef library = make(context, libclc, n_sources, sources);
    bool made = library && !LLVMWriteBitcodeToFile(library, out);

    if (library && !made)
        fprintf(stderr, "tesela-kc: %s can't be written\n", out);
    if (library)
        LLVMDisposeModule(library);
    LLVMContextDispose(context);
    return !made;
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

LLVMModuleRef kc_builtins_open(LLVMContextRef context, const char *name, char **why)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 64);
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef library;
    char *message = NULL;

    path[size < 0 ? 0 : size] = 0;
    strcpy(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, name);
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        if (asprintf(why, "the built-in functions are missing (%s): install Tesela again", message) < 0)
            *why = NULL;
        LLVMDisposeMessage(message);
        return NULL;
    }
    if (!LLVMGetBitcodeModuleInContext2(context, buffer, &library))
        return library;
    LLVMDisposeMemoryBuffer(buffer);
    if (asprintf(why, "%s is damaged: install Tesela again", path) < 0)
        *why = NULL;
    return NULL;
}
