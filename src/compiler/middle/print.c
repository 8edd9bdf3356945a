#include "compiler/middle/print.h"

#include "compile_client/work_group.h"
#include "compiler/support/llvm.h"
#include "compiler/workgroup/workgroup.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of launch->print before the variable ones: launch, thread, format. */
#define FIXED_ARGS 3

/* A call during its rewriting: the new format so far, and its arguments. */
struct print {
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMValueRef call;
    unsigned next, n_given; /* the call's operands: the next argument, and how many there are */
    FILE *format;
    LLVMValueRef *args;
    unsigned n_args;
};

/* One conversion of a format (OpenCL C 3.0, 6.15.14.2). */
struct conversion {
    const char *flags; /* flags, width and precision, as in the format */
    int flags_size;
    unsigned n;     /* components; 1: a scalar */
    char length[3]; /* "", "hh", "h", "hl", "l" */
    char letter;    /* 0: unknown */
};

/* ---- Reading a format -------------------------------------------------------------------------------------------- */

/* at: behind the '%'. Returns what follows the conversion. */
static const char *read_conversion(const char *at, struct conversion *conversion)
{
    size_t length;

    *conversion = (struct conversion){.flags = at, .n = 1};
    at += strspn(at, "-+ #0");
    at += strspn(at, "0123456789");
    if (*at == '.')
        at += 1 + strspn(at + 1, "0123456789");
    conversion->flags_size = (int)(at - conversion->flags);
    if (*at == 'v') {
        conversion->n = (unsigned)strtoul(at + 1, NULL, 10);
        at += 1 + strspn(at + 1, "0123456789");
    }
    length = strspn(at, "hl");
    memcpy(conversion->length, at, length < 2 ? length : 2);
    at += length;
    if (*at && strchr("diouxXfFeEgGaAcsp", *at) && conversion->n >= 1 && conversion->n <= 16)
        conversion->letter = *at;
    return *at ? at + 1 : at;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static LLVMValueRef next_argument(struct print *print)
{
    return print->next < print->n_given ? LLVMGetOperand(print->call, print->next++) : NULL;
}

/* The integer type whose width the conversion gives; 32 bits for C's int. */
static LLVMTypeRef integer_of(const struct print *print, const struct conversion *conversion)
{
    return strcmp(conversion->length, "hh") == 0  ? LLVMInt8TypeInContext(print->context)
           : strcmp(conversion->length, "h") == 0 ? LLVMInt16TypeInContext(print->context)
           : strcmp(conversion->length, "l") == 0 ? LLVMInt64TypeInContext(print->context)
                                                  : LLVMInt32TypeInContext(print->context);
}

/* Truncated to its width here, as CUDA's vprintf doesn't know "hh". */
static LLVMValueRef promote_integer(struct print *print, const struct conversion *conversion, LLVMValueRef value)
{
    bool is_signed = strchr("dic", conversion->letter), is_long = strcmp(conversion->length, "l") == 0;

    value = LLVMBuildIntCast2(print->builder, value, integer_of(print, conversion), is_signed, "");
    return is_long ? value
                   : LLVMBuildIntCast2(print->builder, value, LLVMInt32TypeInContext(print->context), is_signed, "");
}

/* Promotes an argument as C passes it. An argument of another kind than the conversion wants is undefined behaviour;
 * here it becomes 0 or null, so that nothing out of bounds is read. */
static LLVMValueRef promote(struct print *print, const struct conversion *conversion, LLVMValueRef value)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(print->context, 0);
    LLVMTypeKind kind = value ? LLVMGetTypeKind(LLVMTypeOf(value)) : LLVMVoidTypeKind;

    if (strchr("sp", conversion->letter))
        return kind == LLVMPointerTypeKind ? LLVMBuildAddrSpaceCast(print->builder, value, pointer, "")
                                           : LLVMConstNull(pointer);
    if (strchr("diouxXc", conversion->letter))
        return promote_integer(print, conversion,
                               kind == LLVMIntegerTypeKind ? value : LLVMConstNull(integer_of(print, conversion)));
    if (kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind)
        return LLVMBuildFPCast(print->builder, value, LLVMDoubleTypeInContext(print->context), "");
    return LLVMConstNull(LLVMDoubleTypeInContext(print->context));
}

static LLVMValueRef component(struct print *print, LLVMValueRef vector, unsigned i)
{
    if (!vector || LLVMGetTypeKind(LLVMTypeOf(vector)) != LLVMVectorTypeKind ||
        i >= LLVMGetVectorSize(LLVMTypeOf(vector)))
        return NULL;
    return LLVMBuildExtractElement(print->builder, vector,
                                   LLVMConstInt(LLVMInt32TypeInContext(print->context), i, false), "");
}

static void put_conversion(struct print *print, const struct conversion *conversion)
{
    LLVMValueRef value = next_argument(print);

    for (unsigned i = 0; i < conversion->n; i++) {
        /* Values passed as int need no length modifier in C. */
        fprintf(print->format, "%s%%%.*s%s%c", i ? "," : "", conversion->flags_size, conversion->flags,
                strcmp(conversion->length, "l") == 0 ? "l" : "", conversion->letter);
        print->args[print->n_args++] =
            promote(print, conversion, conversion->n > 1 ? component(print, value, i) : value);
    }
}

static void put_format(struct print *print, const char *text)
{
    struct conversion conversion;

    while (*text) {
        const char *percent = text;

        if (*text != '%') {
            fputc(*text++, print->format);
            continue;
        }
        if (text[1] == '%') {
            fputs("%%", print->format);
            text += 2;
            continue;
        }
        text = read_conversion(text + 1, &conversion);
        if (conversion.letter)
            put_conversion(print, &conversion);
        else /* printed as it is; %n is such a conversion */
            fprintf(print->format, "%%%.*s", (int)(text - percent), percent);
    }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* The text behind a pointer to a constant string; NULL if it isn't one. */
static const char *constant_text(LLVMValueRef pointer)
{
    LLVMValueRef initialiser = LLVMIsAGlobalVariable(pointer) ? LLVMGetInitializer(pointer) : NULL;
    size_t size;

    if (initialiser && LLVMIsAConstantAggregateZero(initialiser))
        return "";
    return initialiser && LLVMIsConstantString(initialiser) ? LLVMGetAsString(initialiser, &size) : NULL;
}

static LLVMValueRef parameter(LLVMModuleRef module, LLVMBuilderRef builder, const char *name)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
    LLVMTypeRef type = LLVMFunctionType(pointer, NULL, 0, false);
    LLVMValueRef function = LLVMGetNamedFunction(module, name);

    return LLVMBuildCall2(builder, type, function ? function : LLVMAddFunction(module, name, type), NULL, 0, "");
}

/* launch->print(launch, thread, format, …) */
static LLVMValueRef build_call(struct print *print, LLVMModuleRef module, const char *format)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(print->context), pointer = LLVMPointerTypeInContext(print->context, 0);
    LLVMTypeRef fixed[3] = {pointer, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(print->context), fixed, 3, true);
    LLVMValueRef offset =
        LLVMConstInt(LLVMInt64TypeInContext(print->context), offsetof(struct tsl_wg_launch, print), false);
    LLVMValueRef function;

    print->args[0] = parameter(module, print->builder, KC_LAUNCH_FUNCTION);
    print->args[1] = parameter(module, print->builder, KC_THREAD_FUNCTION);
    print->args[2] = LLVMBuildGlobalStringPtr(print->builder, format, "format");
    function =
        LLVMBuildLoad2(print->builder, pointer, LLVMBuildGEP2(print->builder, i8, print->args[0], &offset, 1, ""), "");
    return LLVMBuildCall2(print->builder, type, function, print->args, print->n_args, "");
}

/* At the function's begin: elsewhere the inliner saves and restores the stack around it, which a GPU hasn't. */
static LLVMValueRef private_memory(const struct print *print, LLVMTypeRef type)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(print->call)));
    LLVMValueRef memory;

    LLVMPositionBuilderBefore(print->builder, LLVMGetFirstInstruction(entry));
    memory = LLVMBuildAlloca(print->builder, type, "");
    LLVMPositionBuilderBefore(print->builder, print->call);
    return memory;
}

/* vprintf(format, arguments): a structure of the promoted arguments, in private memory (CUDA C++ Programming Guide,
 * "Formatted Output"). */
static LLVMValueRef build_vprintf(struct print *print, LLVMModuleRef module, const char *format)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(print->context, 0), two[2] = {pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(print->context), two, 2, false), fields;
    LLVMTypeRef *types = malloc((print->n_args + 1) * sizeof(*types));
    LLVMValueRef function = LLVMGetNamedFunction(module, "vprintf"), memory;
    unsigned n = print->n_args - FIXED_ARGS;

    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(print->args[FIXED_ARGS + i]);
    fields = LLVMStructTypeInContext(print->context, types, n, false);
    free(types);
    memory = private_memory(print, fields);
    for (unsigned i = 0; i < n; i++)
        LLVMBuildStore(print->builder, print->args[FIXED_ARGS + i],
                       LLVMBuildStructGEP2(print->builder, fields, memory, i, ""));
    if (!function)
        function = LLVMAddFunction(module, "vprintf", type);
    return LLVMBuildCall2(print->builder, type, function,
                          (LLVMValueRef[]){LLVMBuildGlobalStringPtr(print->builder, format, "format"), memory}, 2, "");
}

static void lower(LLVMModuleRef module, LLVMValueRef call, bool gpu)
{
    const char *text = constant_text(LLVMGetOperand(call, 0));
    struct print print = {.context = LLVMGetModuleContext(module), .call = call, .next = 1, .n_args = FIXED_ARGS};
    char *format = NULL;
    size_t size;

    if (!text)
        return; /* OpenCL C requires a literal: the remaining call is reported as undefined */
    print.n_given = LLVMGetNumArgOperands(call);
    print.builder = LLVMCreateBuilderInContext(print.context);
    print.format = open_memstream(&format, &size);
    print.args = malloc((FIXED_ARGS + 16 * (strlen(text) / 2 + 1)) * sizeof(print.args[0]));
    LLVMPositionBuilderBefore(print.builder, call);
    put_format(&print, text);
    fclose(print.format);
    LLVMReplaceAllUsesWith(call, gpu ? build_vprintf(&print, module, format) : build_call(&print, module, format));
    LLVMInstructionEraseFromParent(call);
    LLVMDisposeBuilder(print.builder);
    free(print.args);
    free(format);
}

void kc_print_lower(LLVMModuleRef module, bool gpu)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, "printf");
    LLVMUseRef next;

    for (LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL; use; use = next) {
        next = LLVMGetNextUse(use);
        if (kc_callee(LLVMGetUser(use)) == function)
            lower(module, LLVMGetUser(use), gpu);
    }
}
