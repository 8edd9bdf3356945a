#include "compiler/ptx/ptx.h"

#include "compile_client/ptx.h"
#include "compiler/builtins/builtins.h"
#include "compiler/middle/images.h"
#include "compiler/middle/link.h"
#include "compiler/middle/relaxed_math.h"
#include "compiler/middle/texels.h"
#include "compiler/ptx/byte_order.h"
#include "compiler/ptx/carried_indices.h"
#include "compiler/ptx/carried_products.h"
#include "compiler/ptx/copies.h"
#include "compiler/ptx/elements.h"
#include "compiler/ptx/join.h"
#include "compiler/ptx/joined_addresses.h"
#include "compiler/ptx/narrow_vectors.h"
#include "compiler/ptx/offsets.h"
#include "compiler/ptx/remainders.h"
#include "compiler/ptx/rotations.h"
#include "compiler/ptx/sides.h"
#include "compiler/ptx/sign_bits.h"
#include "compiler/ptx/sums.h"
#include "compiler/support/llvm.h"
#include "compiler/support/older.h"
#include "compiler/workgroup/workgroup.h"

#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCH           "__tsl_ptx_launch"
#define LAUNCH_SIZE      136u /* struct tsl_ptx_launch (compile_client/ptx.h) */
#define PTX_KERNEL       71u  /* llvm::CallingConv::PTX_Kernel */
#define MOST_IMAGE_CALLS 32u  /* reads, and writes, that are inlined: CUDA compiles far longer code for long */

#define LOCAL_SPACE 3u
#define CONST_SPACE 4u

/* A kernel's outer function, with CUDA's parameters, and its inner function, with OpenCL's. */
struct shell {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMValueRef inside, outside;
    const struct tsl_kernel_facts *facts;
    LLVMValueRef shared; /* the start of dynamic shared memory */
};

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static void answer(LLVMModuleRef module, const char *question, bool yes)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef number = LLVMInt32TypeInContext(context);
    LLVMValueRef function = LLVMAddFunction(module, question, LLVMFunctionType(number, NULL, 0, false));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);

    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
    LLVMBuildRet(builder, LLVMConstInt(number, yes, false));
    LLVMDisposeBuilder(builder);
}

void kc_ptx_answer(LLVMModuleRef module, bool flushes, bool relaxed)
{
    answer(module, KC_FLUSHES_FUNCTION, flushes);
    answer(module, KC_RELAXED_FUNCTION, relaxed);
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static bool points_to(LLVMTypeRef type, unsigned space)
{
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(type) == space;
}

static bool is_local(LLVMTypeRef type)
{
    return points_to(type, LOCAL_SPACE);
}

static LLVMTypeRef launch_type(LLVMContextRef context)
{
    return LLVMArrayType2(LLVMInt64TypeInContext(context), LAUNCH_SIZE / 8);
}

static bool is_sampler(const struct shell *shell, unsigned i)
{
    return shell->facts->args[i].kind == TSL_FACT_SAMPLER;
}

/* char2 or uchar2: LLVM's back end reads the second element of such a parameter from the wrong place. */
static bool is_two_bytes(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 2 &&
           LLVMGetElementType(type) == LLVMInt8TypeInContext(LLVMGetTypeContext(type));
}

/* The outer function's type: offsets for __local pointers, bits for samplers, a number for two bytes, the launch as the
 * last parameter. */
static LLVMTypeRef outside_type(const struct shell *shell)
{
    LLVMTypeRef inside = LLVMGlobalGetValueType(shell->inside), type;
    unsigned n = LLVMCountParamTypes(inside);
    LLVMTypeRef *params = malloc((n + 1) * sizeof(*params));

    LLVMGetParamTypes(inside, params);
    for (unsigned i = 0; i < n; i++)
        if (is_local(params[i]))
            params[i] = LLVMInt32TypeInContext(shell->context);
        else if (is_sampler(shell, i))
            params[i] = LLVMInt64TypeInContext(shell->context);
        else if (is_two_bytes(params[i]))
            params[i] = LLVMInt16TypeInContext(shell->context);
    params[n] = LLVMPointerTypeInContext(shell->context, 0);
    type = LLVMFunctionType(LLVMVoidTypeInContext(shell->context), params, n + 1, false);
    free(params);
    return type;
}

static void copy_attribute(const struct shell *shell, unsigned param, const char *name)
{
    LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(shell->inside, param + 1, kc_attribute_kind(name));

    if (attribute)
        LLVMAddAttributeAtIndex(shell->outside, param + 1, attribute);
}

static void set_attributes(const struct shell *shell)
{
    unsigned n = LLVMCountParams(shell->inside);
    LLVMAttributeRef byval =
        LLVMCreateTypeAttribute(shell->context, kc_attribute_kind("byval"), launch_type(shell->context));

    for (unsigned i = 0; i < n; i++) {
        copy_attribute(shell, i, "byval");
        copy_attribute(shell, i, "noalias");
        copy_attribute(shell, i, "dereferenceable");
        if (!is_local(LLVMTypeOf(LLVMGetParam(shell->inside, i))) && !is_sampler(shell, i))
            copy_attribute(shell, i, "align");
    }
    LLVMAddAttributeAtIndex(shell->outside, n + 1, byval);
    LLVMAddAttributeAtIndex(shell->outside, n + 1,
                            LLVMCreateEnumAttribute(shell->context, kc_attribute_kind("align"), 8));
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static LLVMValueRef inner_argument(const struct shell *shell, LLVMBuilderRef builder, unsigned i)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(shell->inside, i));
    LLVMValueRef value = LLVMGetParam(shell->outside, i);

    if (is_local(type))
        value = LLVMBuildGEP2(builder, LLVMInt8TypeInContext(shell->context), shell->shared, &value, 1, "");
    else if (is_sampler(shell, i))
        value = LLVMBuildIntToPtr(builder, value, type, "");
    else if (is_two_bytes(type))
        value = LLVMBuildBitCast(builder, value, type, "");
    return value;
}

static void build_outside(const struct shell *shell)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(shell->context);
    unsigned n = LLVMCountParams(shell->inside);
    LLVMValueRef *args = malloc((n + 1) * sizeof(*args)), call;

    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(shell->context, shell->outside, ""));
    for (unsigned i = 0; i < n; i++)
        args[i] = inner_argument(shell, builder, i);
    call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(shell->inside), shell->inside, args, n, "");
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(shell->inside, i + 1, kc_attribute_kind("byval"));

        if (byval)
            LLVMAddCallSiteAttribute(call, i + 1, byval);
    }
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    free(args);
}

/* nvvm.annotations: { kernel, name, value } */
static void annotate(const struct shell *shell, const char *name, uint64_t value)
{
    LLVMMetadataRef fields[3] = {
        LLVMValueAsMetadata(shell->outside), LLVMMDStringInContext2(shell->context, name, strlen(name)),
        LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(shell->context), value, false))};

    LLVMAddNamedMetadataOperand(shell->module, "nvvm.annotations",
                                LLVMMetadataAsValue(shell->context, LLVMMDNodeInContext2(shell->context, fields, 3)));
}

static void wrap(struct shell *shell, LLVMValueRef kernel, const char *name, const struct tsl_kernel_facts *facts)
{
    static const char *const all[] = {"reqntidx", "reqntidy", "reqntidz"};
    static const char *const most[] = {"maxntidx", "maxntidy", "maxntidz"}; /* last groups may be smaller */
    const char *const *required = kc_is_uniform(kernel) ? all : most;

    shell->facts = facts;
    shell->inside = kernel;
    LLVMSetValueName2(kernel, "", 0);
    shell->outside = LLVMAddFunction(shell->module, name, outside_type(shell));
    LLVMSetFunctionCallConv(shell->outside, PTX_KERNEL);
    set_attributes(shell);
    build_outside(shell);
    annotate(shell, "kernel", 1);
    for (unsigned d = 0; d < 3 && facts->reqd_size[0]; d++)
        annotate(shell, required[d], facts->reqd_size[d]);
    LLVMRemoveStringAttributeAtIndex(shell->inside, LLVMAttributeFunctionIndex, KC_KERNEL_ATTRIBUTE,
                                     sizeof(KC_KERNEL_ATTRIBUTE) - 1);
}

/* A kernel, and its twin if it has one. */
static void wrap_both(struct shell *shell, const struct tsl_kernel_facts *facts)
{
    LLVMValueRef twin = kc_texel_twin(shell->module, facts->name);
    char *name = NULL;

    wrap(shell, LLVMGetNamedFunction(shell->module, facts->name), facts->name, facts);
    if (twin && asprintf(&name, "%s" TSL_PTX_TEXTURES, facts->name) >= 0)
        wrap(shell, twin, name, facts);
    free(name);
}

/* Replaces calls of the function that stands for the last parameter. */
static void put_launch(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, LAUNCH);
    LLVMUseRef next;

    for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = next) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMValueRef kernel = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));

        next = LLVMGetNextUse(use);
        LLVMReplaceAllUsesWith(call, LLVMGetParam(kernel, LLVMCountParams(kernel) - 1));
        LLVMInstructionEraseFromParent(call);
    }
}

/* Makes everything but kernels and external variables internal, and inlines it. */
static void hide(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) != PTX_KERNEL) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
            kc_add_attribute(f, kc_is_called(f) ? "noinline" : "alwaysinline");
        }
}

static void make_kernels(LLVMModuleRef module, uint32_t n_kernels, const struct tsl_wire_kernel *kernels)
{
    struct shell shell = {.module = module, .context = LLVMGetModuleContext(module)};
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(shell.context), 0);

    shell.shared = LLVMAddGlobalInAddressSpace(module, bytes, "__tsl_shared", LOCAL_SPACE);
    LLVMSetAlignment(shell.shared, 128);
    for (uint32_t i = 0; i < n_kernels; i++)
        wrap_both(&shell, &kernels[i].facts);
    hide(module);
}

/* ---- Atomics ----------------------------------------------------------------------------------------------------- */

static bool is_strong(LLVMAtomicOrdering order)
{
    return order > LLVMAtomicOrderingMonotonic;
}

/* Is what the instruction orders seen by its work-group alone? */
static bool is_of_group(LLVMValueRef at)
{
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMFence:
        return kc_is_of_one_thread(at);
    case LLVMStore:
        return is_local(LLVMTypeOf(LLVMGetOperand(at, 1)));
    default:
        return is_local(LLVMTypeOf(LLVMGetOperand(at, 0)));
    }
}

/* membar.gl, or the group's membar.cta: the back end doesn't support LLVM's fences. */
static void fence(LLVMBuilderRef builder, LLVMValueRef before, bool group)
{
    const char *name = group ? "llvm.nvvm.membar.cta" : "llvm.nvvm.membar.gl";
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(before)));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(name, strlen(name)), NULL, 0);

    LLVMPositionBuilderBefore(builder, before);
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, NULL, 0, "");
}

static void drop_order(LLVMValueRef at)
{
    if (LLVMIsAAtomicCmpXchgInst(at)) {
        LLVMSetCmpXchgFailureOrdering(at, LLVMAtomicOrderingMonotonic);
        LLVMSetCmpXchgSuccessOrdering(at, LLVMAtomicOrderingMonotonic);
    } else
        kc_set_ordering(at, LLVMAtomicOrderingMonotonic);
}

/* An operation of OpenCL 1: it orders nothing (builtins/narrow.c). */
static bool is_narrow(LLVMValueRef at)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(at));

    return (LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at)) &&
           LLVMGetMetadata(at, LLVMGetMDKindIDInContext(context, KC_NARROW, sizeof(KC_NARROW) - 1));
}

/* A read, change and write is one instruction anyhow, and LLVM leaves the address space of volatile ones as it is. */
static void calm(LLVMBuilderRef builder, LLVMValueRef at)
{
    (void)builder;
    if (LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at))
        LLVMSetVolatile(at, false);
}

/* LLVM's back end aborts on memory orderings, or drops them, so they become fences around relaxed operations. Those of
 * OpenCL 1 keep theirs until the code is optimised, so that LLVM moves nothing across them, and get no fences. */
static void weaken(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(at);
    bool compare = code == LLVMAtomicCmpXchg;
    LLVMAtomicOrdering order;

    if (is_narrow(at))
        return;

    if (code == LLVMFence) {
        fence(builder, at, is_of_group(at));
        LLVMInstructionEraseFromParent(at);
        return;
    }
    if (!compare && code != LLVMAtomicRMW && code != LLVMLoad && code != LLVMStore)
        return;
    order = compare ? LLVMGetCmpXchgSuccessOrdering(at) : LLVMGetOrdering(at);
    if (!is_strong(order))
        return;
    fence(builder, at, is_of_group(at));
    fence(builder, LLVMGetNextInstruction(at), is_of_group(at));
    drop_order(at);
}

static void weaken_rest(LLVMBuilderRef builder, LLVMValueRef at)
{
    if (is_narrow(at))
        drop_order(at);
    else
        weaken(builder, at);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static bool add_work_items(const struct kc_cpu_request *request, FILE *log)
{
    char *why = NULL;
    LLVMModuleRef library = kc_builtins_open(LLVMGetModuleContext(request->module), KC_WORK_ITEMS_NVPTX, &why);

    if (!library) {
        fprintf(log, "error: %s\n", why);
        free(why);
        return false;
    }
    kc_target_set(request->target, library);
    return kc_link_add(request->module, library);
}

/* The back end unrolls loops up to 75 of LLVM's cost units, by which a loop with a root of doubles, or with four loads,
 * is unrolled by two, and takes 1.13 to 1.5 times as long as unrolled by four, as NVIDIA's compiler does. Loops of a
 * known length are unrolled as a whole up to twice LLVM's size: their counters become constants. Of an unrolled loop's
 * counter LLVM's strength reduction makes one for each copy of the body, with a register and an addition each;
 * addresses need it little, as the hardware multiplies and adds at once. Vector elements with a variable index are
 * lowered by compiler/ptx/elements.h, or lie in memory. The options are global to the process, which serves only this
 * build. */
static void set_options(bool optimise)
{
    static const char *const options[] = {"tesela-kc", "-unroll-partial-threshold=200", "-disable-lsr",
                                          "-scalarize-variable-insert-extract=false", "-unroll-threshold=600"};
    static bool set;

    if (!set) /* The last one counts at every level, also where the program wants none. */
        LLVMParseCommandLineOptions((int)(sizeof(options) / sizeof(options[0])) - !optimise, options, NULL);
    set = true;
}

/* The back end's word for it. */
static void flush(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddTargetDependentFunctionAttr(f, KC_FLUSHES_ATTRIBUTE, "preserve-sign,preserve-sign");
}

static bool run_passes(const struct kc_cpu_request *request, const char *passes, FILE *log)
{
    char *why = NULL;
    bool done = kc_run_passes(request->module, request->target->machine, passes, &why);

    if (!done)
        fprintf(log, "error: %s\n", why);
    free(why);
    return done;
}

#define VECTOR_SIZE 16 /* bytes that are loaded or stored at once, at most */

/* A work-item's arrays lie so that four elements can be loaded at once: memory of its own is reached as slowly as any.
 */
static void align_array(LLVMBuilderRef builder, LLVMValueRef at)
{
    (void)builder;
    if (!LLVMIsAAllocaInst(at) || LLVMGetAlignment(at) >= VECTOR_SIZE)
        return;
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)));
    if (LLVMABISizeOfType(LLVMGetModuleDataLayout(module), LLVMGetAllocatedType(at)) >= VECTOR_SIZE)
        LLVMSetAlignment(at, VECTOR_SIZE);
}

/* Which memory it is that atomic operations change is found out before their orders become fences. */
static bool optimise(const struct kc_cpu_request *request, FILE *log)
{
    kc_visit(request->module, calm);
    if (!run_passes(request, "always-inline,globaldce,function(sroa,infer-address-spaces)", log))
        return false;
    kc_visit(request->module, weaken);
    kc_visit(request->module, align_array);
    set_options(request->optimise);
    if (request->flushes)
        flush(request->module);
    put_launch(request->module);
    return run_passes(request, request->optimise ? "default<O3>" : "default<O1>", log);
}

static bool widen_copies(const struct kc_cpu_request *request, FILE *log)
{
    return !kc_widen_copies(request->module) ||
           run_passes(request,
                      "always-inline,globaldce,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                      "simplifycfg)",
                      log);
}

/* But for loads and stores a GPU has no vectors. LLVM's back end packs those of bytes and shorts into registers, or
 * takes them apart in memory, between any two operations. */
static bool part_vectors(const struct kc_cpu_request *request, FILE *log)
{
    kc_choose_elements(request->module);
    kc_order_sums(request->module);
    return run_passes(request, "function(scalarizer,early-cse)", log);
}

/* ---- Constants ---------------------------------------------------------------------------------------------------
 *
 * What a __constant argument points to is an ordinary buffer: global memory. PTX's .const space is another memory,
 * which only a module's own variables are in, and ld.const of a buffer's address reads something else. LLVM has one
 * address space for both, so where a kernel has such a parameter all of them become global. That comes after the
 * optimiser: to it constants stay constant. LLVM's C interface can't change types, but its text can.
 */

static bool takes_constants(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetFunctionCallConv(f) != PTX_KERNEL)
            continue;
        for (LLVMValueRef p = LLVMGetFirstParam(f); p; p = LLVMGetNextParam(p))
            if (points_to(LLVMTypeOf(p), CONST_SPACE))
                return true;
    }
    return false;
}

/* Changes LLVM's text, except in quotes (inside which a quote is escaped). */
static void make_global(char *text)
{
    static const char constant[] = "addrspace(4)";
    bool quoted = false;

    for (; *text; text++) {
        quoted ^= *text == '"';
        if (!quoted && !strncmp(text, constant, sizeof(constant) - 1))
            text[sizeof(constant) - 3] = '1';
    }
}

/* The module with its constants in global memory. NULL: the log says why. */
static LLVMModuleRef without_constants(LLVMModuleRef module, FILE *log)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMBool discards = LLVMContextShouldDiscardValueNames(context);
    char *text = LLVMPrintModuleToString(module), *why = NULL;
    LLVMModuleRef changed = NULL;

    make_global(text);
    LLVMContextSetDiscardValueNames(context, 0); /* otherwise LLVM parses no text */
    if (LLVMParseIRInContext(context, LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), ""), &changed,
                             &why)) {
        fprintf(log, "error: %s\n", why);
        changed = NULL;
    }
    LLVMContextSetDiscardValueNames(context, discards);
    LLVMDisposeMessage(why);
    LLVMDisposeMessage(text);
    return changed;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

/* Is it an atomic operation on other memory than a group's own? Returns where its name ends; NULL: it isn't. */
static const char *name_of_atomic(const char *line, size_t left)
{
    static const char *const names[] = {"\tatom.", "\tred."};

    for (unsigned i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);

        if (left > n + sizeof("shared") && !strncmp(line, names[i], n) && strncmp(line + n, "shared", 6) != 0)
            return line + n;
    }
    return NULL;
}

/* Of memory that several GPUs change at the same time (the rung `domain`) each atomic operation must be whole for all
 * of them: of system scope. LLVM's back end writes none, which means one GPU. */
static void widen_atomics(const char *from, size_t size, struct kc_bytes *text)
{
    static const char scope[] = "sys.";
    const char *end = from + size;
    char *to = text->data;

    while (from < end) {
        const char *stop = memchr(from, '\n', (size_t)(end - from)), *name;

        stop = stop ? stop + 1 : end;
        if ((name = name_of_atomic(from, (size_t)(end - from)))) {
            to = mempcpy(to, from, (size_t)(name - from));
            to = mempcpy(to, scope, sizeof(scope) - 1);
            from = name;
        }
        to = mempcpy(to, from, (size_t)(stop - from));
        from = stop;
    }
    text->size = (size_t)(to - (char *)text->data);
}

/* Each line that changes has more bytes than are added to it. */
#define MOST_WIDER 2

/* Processors before sm_60 know no scopes, and share no memory. */
static bool has_scopes(const struct kc_cpu_request *request)
{
    char *processor = LLVMGetTargetMachineCPU(request->target->machine);
    bool has = strcmp(processor, "sm_50") != 0;

    LLVMDisposeMessage(processor);
    return has;
}

static bool emit_module(const struct kc_cpu_request *request, LLVMModuleRef module, struct kc_bytes *text, FILE *log)
{
    LLVMMemoryBufferRef code;
    char *why;

    if (LLVMTargetMachineEmitToMemoryBuffer(request->target->machine, module, LLVMAssemblyFile, &why, &code)) {
        fprintf(log, "error: %s\n", why);
        LLVMDisposeMessage(why);
        return false;
    }
    text->data = malloc(LLVMGetBufferSize(code) * MOST_WIDER);
    text->size = LLVMGetBufferSize(code);
    if (text->data && has_scopes(request))
        widen_atomics(LLVMGetBufferStart(code), text->size, text);
    else if (text->data)
        memcpy(text->data, LLVMGetBufferStart(code), text->size);
    LLVMDisposeMemoryBuffer(code);
    return text->data != NULL;
}

static bool emit(const struct kc_cpu_request *request, struct kc_bytes *text, FILE *log)
{
    LLVMModuleRef changed;
    bool done;

    if (!takes_constants(request->module))
        return emit_module(request, request->module, text, log);
    changed = without_constants(request->module, log);
    done = changed && emit_module(request, changed, text, log);
    if (changed)
        LLVMDisposeModule(changed);
    return done;
}

bool kc_ptx(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
            struct kc_bytes *text, FILE *log)
{
    kc_add_texel_twins(request->module, request->optimise);
    if (request->optimise && !kc_inline_images(request->module, request->target->machine, MOST_IMAGE_CALLS, NULL, log))
        return false;
    make_kernels(request->module, n_kernels, kernels);
    if (!add_work_items(request, log))
        return false;
    hide(request->module);
    if (request->optimise)
        kc_share_offsets(request->module);
    if (!optimise(request, log))
        return false;
    if (!widen_copies(request, log))
        return false;
    if (request->optimise) {
        kc_carry_indices(request->module);
        kc_join_addresses(request->module);
        kc_gather_offsets(request->module);
    }
    if (!part_vectors(request, log))
        return false;
    kc_order_bytes(request->module);
    kc_hide_remainders(request->module);
    kc_keep_bits(request->module);
    kc_carry_products(request->module);
    kc_relaxed_math(request->module);
    kc_rotations(request->module);
    kc_split_small(request->module);
    kc_keep_sums(request->module);
    kc_visit(request->module, weaken_rest);
    kc_order_sides(request->module);
    kc_ptx_name_share(request->module, request->share.number);
    return emit(request, text, log);
}
