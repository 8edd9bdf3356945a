/*
 * Which arguments' memory a kernel reads and writes. Every load, store and call is followed back to the origin of its
 * address: through pointer arithmetic, choices (phi, select) and private variables that hold pointers. An address that
 * can't be followed counts as any argument's memory, read and written. The access bits of each value are kept for the
 * whole function, and are propagated only when new bits come in, so each value is visited a few times at most.
 *
 * In code as the front end leaves it, functions are analysed one by one: a call does to its arguments what the function
 * does to its parameters. A pointer that a call returns or that is loaded from memory is one of the function's own
 * parameters', or one that was stored somewhere, which counts as read and written because of that.
 */
#include "compiler/analysis/facts.h"

#include "compiler/workgroup/workgroup.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum space { PRIVATE, GLOBAL, LOCAL = 3, CONSTANT };

struct kc_access_book {
    size_t n, capacity;
    struct entry {
        LLVMValueRef function;
        unsigned *access; /* of its parameters; NULL: the function is being analysed, and calls itself */
        bool opaque;
    } * entries;
};

/* An address, and the accesses known to happen there. */
struct place {
    LLVMValueRef value;
    unsigned access;
    bool mentioned;
    UT_hash_handle hh;
};

/* Addresses still to be followed, each with its new access bits. */
struct pending {
    struct step {
        LLVMValueRef value;
        unsigned may;
    } * all;
    size_t n, capacity;
};

struct analysis {
    LLVMValueRef kernel;
    struct kc_access_book *book; /* NULL: everything was inlined */
    unsigned n;
    unsigned *access;
    bool atomics, opaque;
    struct place *places; /* by value */
    struct pending pending;
};

static struct place *find_place(struct analysis *analysis, LLVMValueRef value)
{
    struct place *place;

    HASH_FIND_PTR(analysis->places, &value, place);
    if (place)
        return place;
    place = calloc(1, sizeof(*place));
    place->value = value;
    HASH_ADD_PTR(analysis->places, value, place);
    return place;
}

static void free_places(struct analysis *analysis)
{
    struct place *place, *next;

    HASH_ITER(hh, analysis->places, place, next)
    {
        HASH_DEL(analysis->places, place);
        free(place);
    }
    free(analysis->pending.all);
}

/* An unknown address: it was loaded from memory or made from a number, so it may be any argument's. It can be no other
 * memory, as pointers may not be kept from one launch to the next (OpenCL C 3.0, 6.11.a). That is true as long as there
 * is no shared virtual memory and no device address of a buffer: with these, what a called function does to such an
 * address would have to count for all arguments of its callers, too. */
static void touch_any(struct analysis *analysis, unsigned may)
{
    for (unsigned i = 0; i < analysis->n; i++)
        analysis->access[i] |= may;
}

/* The launch's structures, from which printf, to_global() and the like are made: no argument's memory. */
static bool is_launch(LLVMValueRef value)
{
    LLVMValueRef callee = kc_callee(value);

    return callee && (kc_is_named(callee, KC_LAUNCH_FUNCTION) || kc_is_named(callee, KC_THREAD_FUNCTION) ||
                      kc_is_named(callee, KC_PLACES_FUNCTION));
}

/* Is it that function of OpenCL C (or one whose name begins so), with C++ name mangling? */
static bool is_builtin(LLVMValueRef callee, const char *name)
{
    const char *mangled = kc_name(callee);

    if (strncmp(mangled, "_Z", 2) != 0)
        return false;
    mangled += 2;
    return strncmp(mangled + strspn(mangled, "0123456789"), name, strlen(name)) == 0;
}

/* The event that a copy returns: a pointer in the IR, but not to the program's memory. */
static bool is_event(const struct analysis *analysis, LLVMValueRef value)
{
    LLVMValueRef callee = analysis->book ? kc_callee(value) : NULL;

    return callee && LLVMIsDeclaration(callee) &&
           (is_builtin(callee, "async_work_group_copy") || is_builtin(callee, "async_work_group_strided_copy"));
}

static unsigned space_of(LLVMValueRef address)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(address));
}

/* Adds accesses to the memory at an address; new ones are followed. */
static void touch(struct analysis *analysis, LLVMValueRef address, unsigned may)
{
    struct pending *pending = &analysis->pending;
    struct place *place;
    unsigned more;

    if (LLVMGetTypeKind(LLVMTypeOf(address)) != LLVMPointerTypeKind) { /* the origin is a number */
        touch_any(analysis, may);
        return;
    }
    place = find_place(analysis, address);
    more = may & ~place->access;
    if (!more)
        return;
    place->access |= may;
    if (pending->n == pending->capacity) {
        pending->capacity = pending->capacity ? 2 * pending->capacity : 64;
        pending->all = realloc(pending->all, pending->capacity * sizeof(pending->all[0]));
    }
    pending->all[pending->n++] = (struct step){address, more};
}

static void touch_operands(struct analysis *analysis, LLVMValueRef user, unsigned first, unsigned n, unsigned may)
{
    for (unsigned i = 0; i < n; i++)
        touch(analysis, LLVMGetOperand(user, first + i), may);
}

static void touch_instruction(struct analysis *analysis, LLVMValueRef address, unsigned may)
{
    switch (LLVMGetInstructionOpcode(address)) {
    case LLVMAlloca:
        return;
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
        touch(analysis, LLVMGetOperand(address, 0), may);
        return;
    case LLVMSelect:
        touch_operands(analysis, address, 1, 2, may);
        return;
    case LLVMPHI:
        for (unsigned i = 0; i < LLVMCountIncoming(address); i++)
            touch(analysis, LLVMGetIncomingValue(address, i), may);
        return;
    default:
        if (space_of(address) != LOCAL && !is_launch(address) && !is_event(analysis, address))
            touch_any(analysis, may);
    }
}

static void touch_argument(struct analysis *analysis, LLVMValueRef argument, unsigned may)
{
    for (unsigned i = 0; i < analysis->n; i++)
        if (LLVMGetParam(analysis->kernel, i) == argument)
            analysis->access[i] |= may;
}

/* A null pointer, and a number added to one, points at no memory (C99, 6.5.6). */
static void follow(struct analysis *analysis, LLVMValueRef address, unsigned may)
{
    if (LLVMIsAArgument(address))
        touch_argument(analysis, address, may);
    else if (LLVMIsAInstruction(address))
        touch_instruction(analysis, address, may);
    else if (LLVMIsAConstantExpr(address))
        touch(analysis, LLVMGetOperand(address, 0), may);
    else if (!LLVMIsAGlobalVariable(address) && !LLVMIsAConstantPointerNull(address) && !LLVMIsUndef(address))
        touch_any(analysis, may);
}

static void access_memory(struct analysis *analysis, LLVMValueRef address, unsigned may)
{
    touch(analysis, address, may);
    while (analysis->pending.n) {
        const struct step step = analysis->pending.all[--analysis->pending.n];

        follow(analysis, step.value, step.may);
    }
}

/* A pointer that is stored may be used by code that isn't followed. So may a number made from a pointer. */
static void escape(struct analysis *analysis, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        access_memory(analysis, value, TSL_MAY_READ | TSL_MAY_WRITE);
}

/* Does the constant lead to a variable of the program: is it one, made of its address, or a table with that address?
 * Code with such a constant may access the variable, by whatever way the address gets there. A table that nobody
 * changes, such as libdevice has for sines, is none. */
static void mention(struct analysis *analysis, LLVMValueRef constant)
{
    LLVMValueRef variable = LLVMIsAGlobalVariable(constant);
    struct place *place = variable ? find_place(analysis, variable) : NULL;

    if (analysis->opaque || !LLVMIsAConstant(constant) || LLVMIsAFunction(constant) || (place && place->mentioned))
        return;
    if (place)
        place->mentioned = true;
    if (variable && space_of(variable) == GLOBAL && !LLVMIsGlobalConstant(variable))
        analysis->opaque = true;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(constant); i++)
        mention(analysis, LLVMGetOperand(constant, i));
}

static bool begins(LLVMValueRef function, const char *prefix)
{
    return strncmp(kc_name(function), prefix, strlen(prefix)) == 0;
}

/* ---- Code as the front end makes it ------------------------------------------------------------------------------ */

static const struct entry *look_up(struct kc_access_book *book, LLVMValueRef function);

/* Applies what the called function does to its parameters. False: unknown. */
static bool visit_known(struct analysis *analysis, LLVMValueRef call, LLVMValueRef callee)
{
    const struct entry *entry = look_up(analysis->book, callee);

    if (!entry->access) /* it calls itself */
        analysis->opaque = true;
    if (!entry->access || LLVMCountParams(callee) != LLVMGetNumArgOperands(call))
        return false;
    analysis->opaque |= entry->opaque;
    for (unsigned i = 0; i < LLVMCountParams(callee); i++)
        if (entry->access[i])
            access_memory(analysis, LLVMGetOperand(call, i), entry->access[i]);
    return true;
}

/* Built-in functions that only read; a copy reads its second argument. False: another function. */
static bool visit_builtin(struct analysis *analysis, LLVMValueRef call, LLVMValueRef callee)
{
    bool copies = is_builtin(callee, "async_work_group_copy") || is_builtin(callee, "async_work_group_strided_copy");

    if (!copies && !is_builtin(callee, "vload") && !is_builtin(callee, "prefetch"))
        return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef operand = LLVMGetOperand(call, i);

        if (copies && i == 0)
            escape(analysis, operand);
        else if (LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMPointerTypeKind)
            access_memory(analysis, operand, TSL_MAY_READ);
    }
    return true;
}

static bool visit_front_call(struct analysis *analysis, LLVMValueRef call, LLVMValueRef callee)
{
    if (!analysis->book || !callee)
        return false;
    return LLVMIsDeclaration(callee) ? visit_builtin(analysis, call, callee) : visit_known(analysis, call, callee);
}

/* Instructions that pass pointers on are followed; in all others, such as the construction of structures, a pointer
 * escapes. */
static void visit_other(struct analysis *analysis, LLVMValueRef at)
{
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
    case LLVMSelect:
    case LLVMPHI:
    case LLVMICmp:
    case LLVMRet:
    case LLVMBr:
        return;
    default:
        for (unsigned i = 0; analysis->book && i < (unsigned)LLVMGetNumOperands(at); i++)
            escape(analysis, LLVMGetOperand(at, i));
    }
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static void visit_call(struct analysis *analysis, LLVMValueRef call)
{
    LLVMValueRef callee = kc_callee(call);
    unsigned n = LLVMGetNumArgOperands(call);

    if (visit_front_call(analysis, call, callee))
        return;
    if (callee && (begins(callee, "llvm.lifetime") || begins(callee, "llvm.dbg") || begins(callee, "llvm.assume") ||
                   begins(callee, "llvm.prefetch") || begins(callee, "_Z7barrierj")))
        return;
    if (callee && begins(callee, "llvm.memset"))
        access_memory(analysis, LLVMGetOperand(call, 0), TSL_MAY_WRITE);
    else if (callee && (begins(callee, "llvm.memcpy") || begins(callee, "llvm.memmove"))) {
        access_memory(analysis, LLVMGetOperand(call, 0), TSL_MAY_WRITE);
        access_memory(analysis, LLVMGetOperand(call, 1), TSL_MAY_READ);
    } else if (callee && (begins(callee, "llvm.masked.load") || begins(callee, "llvm.masked.gather")))
        touch_any(analysis, TSL_MAY_READ);
    else
        for (unsigned i = 0; i < n; i++)
            escape(analysis, LLVMGetOperand(call, i));
}

static void visit(struct analysis *analysis, LLVMValueRef at)
{
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(at); i++)
        mention(analysis, LLVMGetOperand(at, i));
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMLoad:
        access_memory(analysis, LLVMGetOperand(at, 0), TSL_MAY_READ);
        break;
    case LLVMStore:
        access_memory(analysis, LLVMGetOperand(at, 1), TSL_MAY_WRITE);
        escape(analysis, LLVMGetOperand(at, 0));
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        access_memory(analysis, LLVMGetOperand(at, 0), TSL_MAY_READ | TSL_MAY_WRITE);
        for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(at); i++)
            escape(analysis, LLVMGetOperand(at, i));
        analysis->atomics |= space_of(LLVMGetOperand(at, 0)) != LOCAL;
        break;
    case LLVMPtrToInt:
        escape(analysis, LLVMGetOperand(at, 0));
        break;
    case LLVMIntToPtr: /* comparing it with an argument would reveal that address, which may go on as a number */
        if (analysis->book)
            touch_any(analysis, TSL_MAY_READ | TSL_MAY_WRITE);
        break;
    case LLVMCall:
        visit_call(analysis, at);
        break;
    default:
        visit_other(analysis, at);
    }
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* What a function does to its parameters, including those in local memory: a cast may hide an argument there. */
static void find_access(LLVMValueRef kernel, struct kc_access_book *book, unsigned *result, bool *atomics, bool *opaque)
{
    struct analysis analysis = {.kernel = kernel, .book = book, .n = LLVMCountParams(kernel), .access = result};

    memset(result, 0, analysis.n * sizeof(result[0]));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            visit(&analysis, at);
    free_places(&analysis);
    *atomics = analysis.atomics;
    *opaque = analysis.opaque;
}

void kc_argument_access(LLVMValueRef kernel, struct kc_access_book *book, unsigned *result, bool *atomics, bool *opaque)
{
    find_access(kernel, book, result, atomics, opaque);
    for (unsigned i = 0; i < LLVMCountParams(kernel); i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(kernel, i))) == LLVMPointerTypeKind &&
            space_of(LLVMGetParam(kernel, i)) == LOCAL)
            result[i] = 0;
}

static size_t add_entry(struct kc_access_book *book, LLVMValueRef function)
{
    if (book->n == book->capacity) {
        book->capacity = book->capacity ? 2 * book->capacity : 64;
        book->entries = realloc(book->entries, book->capacity * sizeof(book->entries[0]));
    }
    book->entries[book->n] = (struct entry){.function = function};
    return book->n++;
}

static const struct entry *look_up(struct kc_access_book *book, LLVMValueRef function)
{
    unsigned *access;
    bool atomics, opaque;
    size_t at;

    for (size_t i = 0; i < book->n; i++)
        if (book->entries[i].function == function)
            return &book->entries[i];
    at = add_entry(book, function);
    access = calloc(LLVMCountParams(function) + 1, sizeof(*access));
    find_access(function, book, access, &atomics, &opaque);
    book->entries[at].access = access;
    book->entries[at].opaque = opaque;
    return &book->entries[at];
}

struct kc_access_book *kc_access_book_open(void)
{
    return calloc(1, sizeof(struct kc_access_book));
}

void kc_access_book_close(struct kc_access_book *book)
{
    for (size_t i = 0; i < book->n; i++)
        free(book->entries[i].access);
    free(book->entries);
    free(book);
}
