#include "compiler/ptx/copies.h"

#include <stdint.h>

#define WIDEST      16u /* bytes of an access */
#define MOST_PIECES 32u /* accesses one after the other; more are a loop */
#define AT_ONCE     8u  /* are loaded before they are stored, where the two don't overlap */
#define BYTE        8u  /* bits */

/* A call of llvm.memcpy, llvm.memmove or llvm.memset. */
struct copy {
    LLVMBuilderRef builder; /* before the call */
    LLVMContextRef context;
    LLVMValueRef to, from; /* from: of a fill the byte */
    LLVMValueRef length;
    bool fills, moves; /* moves: the two may overlap */
    unsigned unit;     /* bytes to which both are aligned, WIDEST at most */
};

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* An access of so many bytes, a power of two. */
static LLVMTypeRef piece_type(LLVMContextRef context, unsigned size)
{
    return size > sizeof(uint64_t) ? LLVMVectorType(LLVMInt32TypeInContext(context), size / sizeof(uint32_t))
                                   : LLVMIntTypeInContext(context, size * BYTE);
}

static LLVMValueRef address(LLVMBuilderRef builder, LLVMContextRef context, LLVMValueRef base, LLVMValueRef offset)
{
    return LLVMBuildInBoundsGEP2(builder, LLVMInt8TypeInContext(context), base, &offset, 1, "");
}

static LLVMValueRef load(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef at, unsigned align)
{
    LLVMValueRef value = LLVMBuildLoad2(builder, type, at, "");
    LLVMSetAlignment(value, align);
    return value;
}

static void store(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef at, unsigned align)
{
    LLVMSetAlignment(LLVMBuildStore(builder, value, at), align);
}

/* A whole number of which each byte is that one. */
static LLVMValueRef repeated(LLVMBuilderRef builder, LLVMContextRef context, LLVMValueRef byte, unsigned size)
{
    LLVMTypeRef type = LLVMIntTypeInContext(context, size * BYTE);
    uint64_t ones = UINT64_C(0x0101010101010101) >> (sizeof(uint64_t) - size) * BYTE;
    return LLVMBuildMul(builder, LLVMBuildZExt(builder, byte, type, ""), LLVMConstInt(type, ones, false), "");
}

/* A piece of which each byte is that one. */
static LLVMValueRef pattern(LLVMBuilderRef builder, LLVMContextRef context, LLVMValueRef byte, unsigned size)
{
    if (size <= sizeof(uint64_t))
        return repeated(builder, context, byte, size);
    LLVMValueRef word = repeated(builder, context, byte, sizeof(uint32_t));
    LLVMValueRef vector = LLVMGetPoison(piece_type(context, size));
    for (unsigned i = 0; i < size / sizeof(uint32_t); i++)
        vector =
            LLVMBuildInsertElement(builder, vector, word, LLVMConstInt(LLVMInt32TypeInContext(context), i, false), "");
    return vector;
}

/* ---- One after the other ----------------------------------------------------------------------------------------- */

/* The largest piece that is aligned at `at` and not longer than the rest. */
static unsigned piece_at(unsigned unit, uint64_t left)
{
    while (unit > left)
        unit /= 2;
    return unit;
}

static uint64_t count_pieces(unsigned unit, uint64_t length)
{
    return length / unit + (uint64_t)__builtin_popcountll(length % unit);
}

static LLVMValueRef value_of(const struct copy *c, unsigned size, uint64_t at)
{
    LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(c->context), at, false);
    if (c->fills)
        return pattern(c->builder, c->context, c->from, size);
    return load(c->builder, piece_type(c->context, size), address(c->builder, c->context, c->from, offset), size);
}

/* Where the two may overlap all are loaded first. */
static void one_by_one(const struct copy *c, uint64_t length)
{
    unsigned most = c->moves ? MOST_PIECES : AT_ONCE;
    for (uint64_t begin = 0, end; begin < length; begin = end) {
        LLVMValueRef values[MOST_PIECES];
        unsigned n = 0;
        for (end = begin; end < length && n < most; end += piece_at(c->unit, length - end))
            values[n++] = value_of(c, piece_at(c->unit, length - end), end);
        n = 0;
        for (uint64_t at = begin; at < end; at += piece_at(c->unit, length - at)) {
            LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(c->context), at, false);
            store(c->builder, values[n++], address(c->builder, c->context, c->to, offset),
                  piece_at(c->unit, length - at));
        }
    }
}

/* ---- In a loop --------------------------------------------------------------------------------------------------- */

/* A loop over pieces of so many bytes, from begin on while they end at `end` or before; from the block in which the
 * builder is. Leaves it in the block behind the loop. Returns where that goes on. */
static LLVMValueRef loop(const struct copy *c, LLVMBuilderRef builder, LLVMValueRef function, unsigned size,
                         LLVMValueRef begin, LLVMValueRef end)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(c->context);
    LLVMValueRef to = LLVMGetParam(function, 0), from = LLVMGetParam(function, 1),
                 step = LLVMConstInt(word, size, false);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder);
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(c->context, function, "");
    LLVMBasicBlockRef behind = LLVMAppendBasicBlockInContext(c->context, function, "");
    LLVMValueRef first = LLVMBuildAdd(builder, begin, step, "");
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntULE, first, end, ""), body, behind);

    LLVMPositionBuilderAtEnd(builder, body);
    LLVMValueRef at = LLVMBuildPhi(builder, word, "");
    LLVMValueRef value =
        c->fills ? pattern(builder, c->context, from, size)
                 : load(builder, piece_type(c->context, size), address(builder, c->context, from, at), size);
    store(builder, value, address(builder, c->context, to, at), size);
    LLVMValueRef next = LLVMBuildAdd(builder, at, step, "");
    LLVMValueRef more = LLVMBuildICmp(builder, LLVMIntULE, LLVMBuildAdd(builder, next, step, ""), end, "");
    LLVMBuildCondBr(builder, more, body, behind);
    LLVMAddIncoming(at, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, body}, 2);

    LLVMPositionBuilderAtEnd(builder, behind);
    LLVMValueRef rest = LLVMBuildPhi(builder, word, "");
    LLVMAddIncoming(rest, (LLVMValueRef[]){begin, next}, (LLVMBasicBlockRef[]){before, body}, 2);
    return rest;
}

static bool is_multiple(const struct copy *c)
{
    return c->unit == 1 || (LLVMIsAConstantInt(c->length) && LLVMConstIntGetZExtValue(c->length) % c->unit == 0);
}

/* void (to, from, length), to be inlined: loops over units and over the bytes that are left. */
static LLVMValueRef make_function(const struct copy *c, LLVMModuleRef module, LLVMTypeRef *type)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(c->context);
    LLVMTypeRef params[] = {LLVMTypeOf(c->to), LLVMTypeOf(c->from), word};
    *type = LLVMFunctionType(LLVMVoidTypeInContext(c->context), params, 3, false);
    LLVMValueRef function = LLVMAddFunction(module, "kc.copy", *type);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(c->context);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kc_add_attribute(function, "alwaysinline");
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(c->context, function, ""));
    LLVMValueRef end = LLVMGetParam(function, 2), rest = LLVMConstNull(word);
    rest = loop(c, builder, function, c->unit, rest, end);
    if (!is_multiple(c))
        loop(c, builder, function, 1, rest, end);
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return function;
}

static void in_loop(const struct copy *c, LLVMModuleRef module)
{
    LLVMTypeRef type;
    LLVMValueRef function = make_function(c, module, &type);
    LLVMValueRef length = LLVMBuildZExt(c->builder, c->length, LLVMInt64TypeInContext(c->context), "");
    LLVMBuildCall2(c->builder, type, function, (LLVMValueRef[]){c->to, c->from, length}, 3, "");
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

#define LOCAL_SPACE 3u

/* The module's own tables lie as well as accesses can use. Of a group's memory the program may want all. */
static bool is_aligned_now(LLVMValueRef base)
{
    if (!LLVMIsAGlobalVariable(base) || LLVMIsDeclaration(base) ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(base)) == LOCAL_SPACE)
        return false;
    if (LLVMGetAlignment(base) < WIDEST)
        LLVMSetAlignment(base, WIDEST);
    return true;
}

static unsigned align_of(LLVMValueRef call, unsigned i)
{
    if (is_aligned_now(LLVMGetOperand(call, i)))
        return WIDEST;
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(call, i + 1, kc_attribute_kind("align"));
    uint64_t bytes = align ? LLVMGetEnumAttributeValue(align) : 1;
    return bytes < WIDEST ? (unsigned)bytes : WIDEST;
}

static bool is_volatile(LLVMValueRef call)
{
    return !LLVMIsNull(LLVMGetOperand(call, 3));
}

/* False: it is none, or one that stays as it is. */
static bool read_copy(LLVMBuilderRef builder, LLVMValueRef at, struct copy *c)
{
    bool copies = LLVMIsAMemCpyInst(at), moves = LLVMIsAMemMoveInst(at), fills = LLVMIsAMemSetInst(at);
    if ((!copies && !moves && !fills) || is_volatile(at))
        return false;
    *c = (struct copy){.builder = builder,
                       .context = LLVMGetTypeContext(LLVMTypeOf(at)),
                       .to = LLVMGetOperand(at, 0),
                       .from = LLVMGetOperand(at, 1),
                       .length = LLVMGetOperand(at, 2),
                       .fills = fills,
                       .moves = moves,
                       .unit = align_of(at, 0)};
    if (!fills && align_of(at, 1) < c->unit)
        c->unit = align_of(at, 1);
    return true;
}

static bool widen(LLVMBuilderRef builder, LLVMValueRef at)
{
    struct copy c;
    if (!read_copy(builder, at, &c))
        return false;
    bool known = LLVMIsAConstantInt(c.length);
    uint64_t length = known ? LLVMConstIntGetZExtValue(c.length) : 0;
    bool few = known && count_pieces(c.unit, length) <= MOST_PIECES;
    if (!few && c.moves)
        return false;
    LLVMPositionBuilderBefore(builder, at);
    if (few)
        one_by_one(&c, length);
    else
        in_loop(&c, LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at))));
    LLVMInstructionEraseFromParent(at);
    return true;
}

static bool widen_all(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    bool any = false;
    for (LLVMValueRef at = LLVMGetFirstInstruction(block), next; at; at = next) {
        next = LLVMGetNextInstruction(at);
        any |= widen(builder, at);
    }
    return any;
}

bool kc_widen_copies(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            any |= widen_all(builder, block);
    LLVMDisposeBuilder(builder);
    return any;
}
