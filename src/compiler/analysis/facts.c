#include "compiler/analysis/facts.h"

#include "compiler/workgroup/workgroup.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Metadata ---------------------------------------------------------------------------------------------------- */

/* The operands of a metadata node of the kernel (heap, n of them); NULL: no node of that name. */
static LLVMValueRef *node_operands(LLVMValueRef kernel, const char *name, unsigned *n)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(kernel));
    unsigned kind = LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
    size_t n_entries;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(kernel, &n_entries);
    LLVMValueRef *operands = NULL;

    *n = 0;
    for (unsigned i = 0; i < n_entries && !operands; i++)
        if (LLVMValueMetadataEntriesGetKind(entries, i) == kind) {
            LLVMValueRef node = LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(entries, i));

            *n = LLVMGetMDNodeNumOperands(node);
            operands = malloc((*n + 1) * sizeof(*operands));
            LLVMGetMDNodeOperands(node, operands);
        }
    LLVMDisposeValueMetadataEntries(entries);
    return operands;
}

/* Text i of a metadata node; "" if there is none. NULL only without memory. */
static char *node_text(LLVMValueRef kernel, const char *name, unsigned i)
{
    unsigned n, length = 0;
    LLVMValueRef *operands = node_operands(kernel, name, &n);
    const char *text = i < n ? LLVMGetMDString(operands[i], &length) : NULL;
    char *copy = strndup(text ? text : "", length);

    free(operands);
    return copy;
}

static unsigned node_number(LLVMValueRef kernel, const char *name, unsigned i)
{
    unsigned n, value = 0;
    LLVMValueRef *operands = node_operands(kernel, name, &n);

    if (i < n && LLVMIsAConstantInt(operands[i]))
        value = (unsigned)LLVMConstIntGetZExtValue(operands[i]);
    free(operands);
    return value;
}

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

static void put_size(FILE *out, LLVMValueRef kernel, const char *name)
{
    if (node_number(kernel, name, 0))
        fprintf(out, "%s%s(%u,%u,%u)", ftell(out) ? " " : "", name, node_number(kernel, name, 0),
                node_number(kernel, name, 1), node_number(kernel, name, 2));
}

static const char *scalar_name(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
        return "half";
    case LLVMFloatTypeKind:
        return "float";
    case LLVMDoubleTypeKind:
        return "double";
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) == 8    ? "char"
               : LLVMGetIntTypeWidth(type) == 16 ? "short"
               : LLVMGetIntTypeWidth(type) == 32 ? "int"
                                                 : "long";
    default:
        return "int";
    }
}

/* The hint is an undefined value of the type, and a flag for its signedness. */
static void put_vec_type_hint(FILE *out, LLVMValueRef kernel)
{
    unsigned n;
    LLVMValueRef *operands = node_operands(kernel, "vec_type_hint", &n);

    if (n == 2) {
        LLVMTypeRef type = LLVMTypeOf(operands[0]);
        bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
        LLVMTypeRef scalar = is_vector ? LLVMGetElementType(type) : type;
        bool is_unsigned = LLVMGetTypeKind(scalar) == LLVMIntegerTypeKind && LLVMIsAConstantInt(operands[1]) &&
                           LLVMConstIntGetZExtValue(operands[1]) == 0;

        fprintf(out, "%svec_type_hint(%s%s", ftell(out) ? " " : "", is_unsigned ? "u" : "", scalar_name(scalar));
        if (is_vector)
            fprintf(out, "%u", LLVMGetVectorSize(type));
        fputc(')', out);
    }
    free(operands);
}

/* The text of CL_KERNEL_ATTRIBUTES. */
static char *attributes(LLVMValueRef kernel)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    put_size(out, kernel, "reqd_work_group_size");
    put_size(out, kernel, "work_group_size_hint");
    put_vec_type_hint(out, kernel);
    fclose(out);
    return text;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static enum tsl_fact_kind kind_of(LLVMValueRef param, unsigned space, const char *type)
{
    if (LLVMGetTypeKind(LLVMTypeOf(param)) != LLVMPointerTypeKind || space == 0)
        return TSL_FACT_VALUE;
    if (tsl_type_is_image(type))
        return TSL_FACT_IMAGE;
    return space == 1 ? TSL_FACT_GLOBAL : space == 2 ? TSL_FACT_CONSTANT : TSL_FACT_LOCAL;
}

static size_t size_of(LLVMValueRef kernel, unsigned i)
{
    LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(kernel, i + 1, kc_attribute_kind("byval"));
    LLVMTypeRef type = byval ? LLVMGetTypeAttributeValue(byval) : LLVMTypeOf(LLVMGetParam(kernel, i));

    return LLVMABISizeOfType(LLVMGetModuleDataLayout(LLVMGetGlobalParent(kernel)), type);
}

static cl_kernel_arg_address_qualifier address_of(unsigned space)
{
    static const cl_kernel_arg_address_qualifier all[] = {CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_GLOBAL,
                                                          CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_LOCAL};

    return space < 4 ? all[space] : CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

static cl_kernel_arg_access_qualifier access_of(const char *text)
{
    return strcmp(text, "read_only") == 0    ? CL_KERNEL_ARG_ACCESS_READ_ONLY
           : strcmp(text, "write_only") == 0 ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY
           : strcmp(text, "read_write") == 0 ? CL_KERNEL_ARG_ACCESS_READ_WRITE
                                             : CL_KERNEL_ARG_ACCESS_NONE;
}

static cl_kernel_arg_type_qualifier qualifiers_of(const char *text)
{
    return (strstr(text, "const") ? CL_KERNEL_ARG_TYPE_CONST : 0) |
           (strstr(text, "restrict") ? CL_KERNEL_ARG_TYPE_RESTRICT : 0) |
           (strstr(text, "volatile") ? CL_KERNEL_ARG_TYPE_VOLATILE : 0) |
           (strstr(text, "pipe") ? CL_KERNEL_ARG_TYPE_PIPE : 0);
}

/* An image's access is what its qualifier allows. */
static unsigned may_of(const struct tsl_arg_fact *arg, unsigned may)
{
    switch (arg->kind) {
    case TSL_FACT_CONSTANT:
        return TSL_MAY_READ;
    case TSL_FACT_GLOBAL:
        return may;
    case TSL_FACT_IMAGE:
        return arg->access == CL_KERNEL_ARG_ACCESS_READ_ONLY    ? TSL_MAY_READ
               : arg->access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY ? TSL_MAY_WRITE
                                                                : TSL_MAY_READ | TSL_MAY_WRITE;
    default:
        return 0;
    }
}

static void fill_arg(LLVMValueRef kernel, unsigned i, unsigned may, struct tsl_arg_fact *arg)
{
    unsigned space = node_number(kernel, "kernel_arg_addr_space", i);
    char *access = node_text(kernel, "kernel_arg_access_qual", i);
    char *qualifiers = node_text(kernel, "kernel_arg_type_qual", i);
    char *base = node_text(kernel, "kernel_arg_base_type", i);

    arg->kind = strcmp(base, "sampler_t") == 0 ? TSL_FACT_SAMPLER : kind_of(LLVMGetParam(kernel, i), space, base);
    arg->size = arg->kind == TSL_FACT_VALUE ? size_of(kernel, i) : 0;
    arg->address = address_of(space);
    arg->access = access_of(access);
    arg->may = may_of(arg, may);
    arg->type_qualifier = qualifiers_of(qualifiers);
    arg->type_name = node_text(kernel, "kernel_arg_type", i);
    arg->name = node_text(kernel, "kernel_arg_name", i);
    free(access);
    free(qualifiers);
    free(base);
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

static bool calls(LLVMValueRef kernel, const char *name)
{
    LLVMValueRef function = LLVMGetNamedFunction(LLVMGetGlobalParent(kernel), name);

    for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = LLVMGetNextUse(use))
        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(LLVMGetUser(use))) == kernel)
            return true;
    return false;
}

bool kc_asks_for_launch(LLVMValueRef kernel)
{
    return calls(kernel, "_Z12get_group_idj") || calls(kernel, "_Z14get_num_groupsj") ||
           calls(kernel, "_Z15get_global_sizej") || calls(kernel, "_Z17get_global_offsetj");
}

void kc_facts(LLVMValueRef kernel, struct kc_access_book *book, struct tsl_kernel_facts *facts)
{
    unsigned n = LLVMCountParams(kernel);
    unsigned *access = calloc(n + 1, sizeof(*access));

    *facts = (struct tsl_kernel_facts){.n_args = n, .has_arg_info = true, .proven = true};
    kc_argument_access(kernel, book, access, &facts->atomics, &facts->opaque);
    facts->name = strdup(kc_name(kernel));
    facts->attributes = attributes(kernel);
    facts->args = n ? calloc(n, sizeof(facts->args[0])) : NULL;
    for (unsigned i = 0; i < n; i++)
        fill_arg(kernel, i, access[i], &facts->args[i]);
    for (unsigned d = 0; d < 3; d++)
        facts->reqd_size[d] = node_number(kernel, "reqd_work_group_size", d);
    for (unsigned d = 0; d < 3; d++)
        facts->recommended_size[d] =
            facts->reqd_size[0] ? facts->reqd_size[d] : node_number(kernel, "work_group_size_hint", d);
    facts->fp64 = kc_has_fp64(kernel);
    facts->prints = calls(kernel, KC_THREAD_FUNCTION) || calls(kernel, "vprintf");
    facts->whole_launch = kc_asks_for_launch(kernel);
    free(access);
}
