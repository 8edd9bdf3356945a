#include "compiler/cpu/cpu.h"

#include "compile_client/work_group.h"
#include "compiler/cpu/checked_accesses.h"
#include "compiler/cpu/estimated_roots.h"
#include "compiler/middle/images.h"
#include "compiler/middle/link.h"
#include "compiler/support/llvm.h"
#include "compiler/support/older.h"
#include "compiler/workgroup/workgroup.h"

#include <limits.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

/* CL_KERNEL_WORK_GROUP_SIZE: the loop over work-items has no limit, but the memory for values across barriers has. */
#define MAX_WORK_GROUP 4096u

/* The recommended group. A larger one costs more before its first run, which few groups would share; and values that
 * live across its barriers shall stay in the nearest cache. */
#define OWN_GROUP       256u
#define OWN_GROUP_BYTES 32768u

/* One kernel of the module. */
struct entry {
    LLVMValueRef kernel;
    struct tsl_wire_kernel *facts;
    uint32_t n_args;
    struct tsl_wg_arg *args;
    uint64_t args_size;
    struct kc_wg_output output;
    uint64_t only_local[3];
    bool remainders, checked, flushes;
};

/* ---- The argument block ------------------------------------------------------------------------------------------ */

static enum tsl_wg_arg_kind block_kind(enum tsl_fact_kind kind)
{
    switch (kind) {
    case TSL_FACT_GLOBAL:
    case TSL_FACT_CONSTANT:
        return TSL_WG_POINTER;
    case TSL_FACT_LOCAL:
        return TSL_WG_LOCAL;
    case TSL_FACT_IMAGE:
        return TSL_WG_IMAGE;
    case TSL_FACT_SAMPLER:
        return TSL_WG_SAMPLER;
    default:
        return TSL_WG_VALUE;
    }
}

static uint32_t align_of(LLVMValueRef kernel, unsigned i)
{
    LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(kernel, i + 1, kc_attribute_kind("byval"));
    LLVMAttributeRef align = LLVMGetEnumAttributeAtIndex(kernel, i + 1, kc_attribute_kind("align"));
    LLVMTypeRef type = byval ? LLVMGetTypeAttributeValue(byval) : LLVMTypeOf(LLVMGetParam(kernel, i));
    uint64_t given = align ? LLVMGetEnumAttributeValue(align) : 0;
    uint64_t natural = LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(LLVMGetGlobalParent(kernel)), type);

    return (uint32_t)(byval && given > natural ? given : natural);
}

static void lay_out(struct entry *entry)
{
    uint64_t offset = 0;

    entry->n_args = entry->facts->facts.n_args;
    entry->args = calloc(entry->n_args + 1, sizeof(entry->args[0]));
    for (uint32_t i = 0; i < entry->n_args; i++) {
        const struct tsl_arg_fact *fact = &entry->facts->facts.args[i];
        struct tsl_wg_arg *arg = &entry->args[i];

        arg->kind = block_kind(fact->kind);
        arg->size = arg->kind == TSL_WG_VALUE ? (uint32_t)fact->size : 8;
        arg->align = arg->kind == TSL_WG_VALUE ? align_of(entry->kernel, i) : 8;
        offset = (offset + arg->align - 1) & ~(uint64_t)(arg->align - 1);
        arg->offset = (uint32_t)offset;
        offset += arg->size;
    }
    entry->args_size = offset;
}

/* ---- The exported table ------------------------------------------------------------------------------------------ */

struct table {
    LLVMModuleRef module;
    LLVMContextRef context;
};

static LLVMValueRef u32(const struct table *table, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(table->context), value, false);
}

static LLVMValueRef u64(const struct table *table, uint64_t value)
{
    return LLVMConstInt(LLVMInt64TypeInContext(table->context), value, false);
}

/* An internal constant of the object. */
static LLVMValueRef constant(const struct table *table, LLVMValueRef value)
{
    LLVMValueRef global = LLVMAddGlobal(table->module, LLVMTypeOf(value), "");

    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static LLVMValueRef structure(const struct table *table, LLVMValueRef *fields, unsigned n)
{
    return LLVMConstStructInContext(table->context, fields, n, false);
}

/* An array of n values of one structure type; a null pointer if n is 0. */
static LLVMValueRef array(const struct table *table, LLVMValueRef *values, unsigned n)
{
    if (!n)
        return LLVMConstNull(LLVMPointerTypeInContext(table->context, 0));
    return constant(table, LLVMConstArray2(LLVMTypeOf(values[0]), values, n));
}

/* struct tsl_wg_arg[] */
static LLVMValueRef args_table(const struct table *table, const struct entry *entry)
{
    LLVMValueRef *args = calloc(entry->n_args + 1, sizeof(*args)), result;

    for (uint32_t i = 0; i < entry->n_args; i++) {
        const struct tsl_wg_arg *arg = &entry->args[i];

        args[i] = structure(table,
                            (LLVMValueRef[]){u32(table, arg->kind), u32(table, arg->offset), u32(table, arg->size),
                                             u32(table, arg->align)},
                            4);
    }
    result = array(table, args, entry->n_args);
    free(args);
    return result;
}

/* struct tsl_wg_kernel */
static LLVMValueRef kernel_table(const struct table *table, const struct entry *entry)
{
    const char *name = entry->facts->facts.name;
    uint32_t flags = entry->output.flags | (entry->facts->facts.prints ? TSL_WG_PRINTS : 0) |
                     (entry->remainders ? TSL_WG_REMAINDERS : 0) | (entry->checked ? TSL_WG_CHECKS : 0) |
                     (entry->flushes ? TSL_WG_FLUSHES : 0);

    return structure(
        table,
        (LLVMValueRef[]){constant(table, LLVMConstStringInContext(table->context, name, (unsigned)strlen(name), false)),
                         entry->output.run, u32(table, flags), u32(table, entry->n_args), args_table(table, entry),
                         u64(table, entry->args_size), u64(table, entry->output.local_size),
                         u64(table, entry->output.scratch_size), u64(table, entry->output.scratch_item_size),
                         u64(table, entry->only_local[0]), u64(table, entry->only_local[1]),
                         u64(table, entry->only_local[2])},
        12);
}

/* struct tsl_wg_kernel[], in a section of its own: those of all shares become one array, as the linker puts sections of
 * one name behind each other. */
static LLVMValueRef put_kernels(const struct table *table, LLVMValueRef *kernels, uint32_t n, unsigned share)
{
    LLVMValueRef all = LLVMConstArray2(LLVMTypeOf(kernels[0]), kernels, n), global;
    char name[64];

    snprintf(name, sizeof(name), "tesela_kernels.%u", share);
    global = LLVMAddGlobal(table->module, LLVMTypeOf(all), name);
    LLVMSetInitializer(global, all);
    LLVMSetGlobalConstant(global, true);
    LLVMSetVisibility(global, LLVMHiddenVisibility);
    LLVMSetSection(global, "tesela_kernels");
    LLVMSetAlignment(global, 8); /* the structure's: nothing comes between two shares */
    return global;
}

/* struct tsl_wg_module, the one exported symbol. */
static void put_module(const struct table *table, LLVMValueRef kernels, uint32_t n)
{
    LLVMValueRef module, global;

    module = structure(
        table,
        (LLVMValueRef[]){u32(table, TSL_WG_MAGIC), u32(table, TSL_WG_ABI), u32(table, n), u32(table, 0), kernels}, 5);
    global = LLVMAddGlobal(table->module, LLVMTypeOf(module), TSL_WG_SYMBOL);
    LLVMSetInitializer(global, module);
    LLVMSetGlobalConstant(global, true);
}

static void export_table(const struct kc_cpu_request *request, const struct entry *entries, uint32_t n)
{
    struct table table = {request->module, LLVMGetModuleContext(request->module)};
    LLVMValueRef *kernels = calloc(n + 1, sizeof(*kernels)), all;

    for (uint32_t i = 0; i < n; i++)
        kernels[i] = kernel_table(&table, &entries[i]);
    all = n ? put_kernels(&table, kernels, n, request->share.number)
            : LLVMConstNull(LLVMPointerTypeInContext(table.context, 0));
    if (request->share.number == 0)
        put_module(&table, all, request->share.n_kernels);
    free(kernels);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* The recommended size, unless the source says more. */
static void recommend(struct tsl_kernel_facts *facts, const uint64_t tile[2], size_t lanes)
{
    size_t *size = facts->recommended_size, n = OWN_GROUP;

    if (size[0] && size[0] <= MAX_WORK_GROUP && size[1] <= MAX_WORK_GROUP && size[2] <= MAX_WORK_GROUP &&
        size[0] * size[1] * size[2] <= MAX_WORK_GROUP)
        return;
    while (n > lanes && n * facts->private_mem_size > OWN_GROUP_BYTES)
        n /= 2;
    size[0] = tile[0] ? tile[0] : n;
    size[1] = tile[0] ? tile[1] : 1;
    size[2] = 1;
}

static bool make_entry(const struct kc_cpu_request *request, struct tsl_wire_kernel *facts, struct entry *entry,
                       bool by_item, FILE *log)
{
    struct kc_wg_input input = {.module = request->module,
                                .by_item = by_item,
                                .ask = !by_item && request->calls,
                                .machine = request->target->machine,
                                .optimise = request->optimise,
                                .notes = by_item ? NULL : request->notes}; /* told before */
    const size_t *required = facts->facts.reqd_size;
    char *why = NULL;

    *entry = (struct entry){.kernel = LLVMGetNamedFunction(request->module, facts->facts.name), .facts = facts};
    lay_out(entry);
    for (unsigned d = 0; d < 3; d++)
        entry->only_local[d] = required[0] ? required[d] : request->build->local_size[d];
    input.kernel = entry->kernel;
    input.args = entry->args;
    /* Smaller last groups are allowed even with a required size: the size is then not every group's. */
    entry->remainders = !kc_is_uniform(entry->kernel) && !request->build->local_size[0];
    if (!entry->remainders)
        memcpy(input.local_size, entry->only_local, sizeof(input.local_size));
    input.remainders = entry->remainders;
    entry->checked = request->check_accesses;
    entry->flushes = request->flushes;
    if (entry->checked)
        kc_check_accesses(entry->kernel);
    if (!kc_wg_build(&input, &entry->output, &why)) {
        fprintf(log, "error: kernel %s: %s\n", facts->facts.name, why);
        LLVMDisposeMessage(why);
        return false;
    }
    if (entry->output.large)
        return true;
    facts->facts.local_mem_size = entry->output.local_size;
    facts->facts.private_mem_size = entry->output.scratch_item_size;
    facts->facts.work_group_size = MAX_WORK_GROUP;
    if (required[0])
        facts->facts.work_group_size = required[0] * required[1] * required[2];
    facts->facts.preferred_multiple = kc_lanes(request->target->machine);
    /* Nothing depends on what the source requires: it stays a fact of the kernel's, which the core looks after. */
    if (required[0] && entry->output.flags & TSL_WG_FLAT) {
        memset(entry->only_local, 0, sizeof(entry->only_local));
        memset(facts->facts.recommended_size, 0, sizeof(facts->facts.recommended_size));
    }
    if (!required[0] || entry->output.flags & TSL_WG_FLAT)
        recommend(&facts->facts, entry->output.tile, facts->facts.preferred_multiple);
    return true;
}

static bool prepare(const struct kc_cpu_request *request, LLVMModuleRef module, FILE *log)
{
    kc_widen_conversions(module);
    return !request->optimise || request->check_accesses ||
           kc_inline_images(module, request->target->machine, UINT_MAX, request->build, log);
}

/* ---- Kernels with calls ------------------------------------------------------------------------------------------ */

static void make_safe(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (kc_is_called(f) && !LLVMIsDeclaration(f))
            kc_wg_called(f);
}

/* Of the two modules' kernels that are too large for vectors those with calls remain, of the others those without. */
static void choose_kernels(const struct kc_cpu_request *request, const struct entry *entries, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        LLVMDeleteFunction(entries[i].output.large
                               ? entries[i].kernel
                               : LLVMGetNamedFunction(request->calls, entries[i].facts->facts.name));
}

static bool bring_calls(const struct kc_cpu_request *request, const struct entry *entries, uint32_t n, FILE *log)
{
    LLVMTargetMachineRef machine = request->target->machine;

    choose_kernels(request, entries, n);
    if (!kc_link_finish(request->calls, machine, false, log) || !prepare(request, request->calls, log))
        return false;
    make_safe(request->calls);
    return kc_link_add(request->module, request->calls);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static bool make_large(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
                       struct entry *entries, FILE *log)
{
    bool any = false, done = true;

    for (uint32_t i = 0; i < n_kernels; i++)
        any |= entries[i].output.large;
    if (any && request->calls)
        done = bring_calls(request, entries, n_kernels, log);
    for (uint32_t i = 0; i < n_kernels && done; i++)
        if (entries[i].output.large) {
            free(entries[i].args);
            done = make_entry(request, &kernels[i], &entries[i], true, log);
        }
    return done;
}

static bool make_entries(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
                         FILE *log)
{
    struct entry *entries = calloc(n_kernels + 1, sizeof(*entries));
    bool done = true;

    for (uint32_t i = 0; i < n_kernels && done; i++)
        done = make_entry(request, &kernels[i], &entries[i], false, log);
    done = done && make_large(request, n_kernels, kernels, entries, log);
    if (done)
        export_table(request, entries, n_kernels);
    for (uint32_t i = 0; i < n_kernels; i++)
        free(entries[i].args);
    free(entries);
    return done;
}

/* LLVM corrects an estimated reciprocal. Rounded between its product and its sum the correction would be subnormal for
 * the reciprocals of large numbers, and flushed. */
static void fuse_correction(LLVMBuilderRef builder, LLVMValueRef at)
{
    LLVMFastMathFlags flags = LLVMGetInstructionOpcode(at) == LLVMFDiv ? LLVMGetFastMathFlags(at) : 0;

    (void)builder;
    if (flags & LLVMFastMathAllowReciprocal)
        LLVMSetFastMathFlags(at, flags | LLVMFastMathAllowContract);
}

bool kc_cpu(const struct kc_cpu_request *request, uint32_t n_kernels, struct tsl_wire_kernel *kernels,
            struct kc_bytes *object, FILE *log)
{
    LLVMMemoryBufferRef code = NULL;
    char *why = NULL;
    bool done;

    if (!prepare(request, request->module, log) || !make_entries(request, n_kernels, kernels, log))
        return false;
    done = kc_wg_finish(request->module, request->target->machine, request->optimise, request->notes, &why);
    if (done) {
        kc_estimate_roots(request->module, request->target->machine);
        kc_visit(request->module, fuse_correction);
    }
    if (!done ||
        LLVMTargetMachineEmitToMemoryBuffer(request->target->machine, request->module, LLVMObjectFile, &why, &code)) {
        fprintf(log, "error: %s\n", why);
        LLVMDisposeMessage(why);
        return false;
    }
    *object = kc_bytes_of(code);
    return true;
}
