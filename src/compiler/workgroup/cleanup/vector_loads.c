#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <string.h>

#define PIECE     8u /* bytes */
#define MOST      8u /* pieces of a vector */
#define MAX_LANES 32u
#define MAX_DEPTH 4u

/* Vectors of fewer pieces that lie anywhere are gathered as fast. */
#define LEAST_APART 4u

/* The program's vectors or structures, one for each lane, gathered piece by piece. */
struct vectors {
    LLVMValueRef address; /* of each lane's vector */
    LLVMValueRef places;  /* the same, where an address that may not be read is another lane's; apart only */
    LLVMValueRef gathers[MOST];
    LLVMValueRef mask; /* NULL: all lanes */
    LLVMTypeRef type;  /* of a gather */
    unsigned n, lanes, align;
    bool apart; /* they don't lie behind each other */
};

/* ---- Finding them ------------------------------------------------------------------------------------------------ */

static bool is_splat(LLVMValueRef vector)
{
    if (!LLVMIsAShuffleVectorInst(vector))
        return false;
    for (unsigned i = 0; i < LLVMGetNumMaskElements(vector); i++)
        if (LLVMGetMaskValue(vector, i) != 0)
            return false;
    return true;
}

/* Does a constant have first, first + step, first + 2 step …? */
static bool is_row(LLVMValueRef vector, uint64_t step)
{
    uint64_t first = 0;

    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(vector)); i++) {
        LLVMValueRef element = LLVMIsConstant(vector) ? LLVMGetAggregateElement(vector, i) : NULL;

        if (!element || !LLVMIsAConstantInt(element))
            return false;
        first = i ? first : (uint64_t)LLVMConstIntGetSExtValue(element);
        if ((uint64_t)LLVMConstIntGetSExtValue(element) != first + i * step)
            return false;
    }
    return true;
}

typedef LLVMBool flag_fn(LLVMValueRef);

/* Is each element the one before and `step` more, surely? holds: of sums that may not wrap; NULL: these may. */
static bool grows(LLVMValueRef index, uint64_t step, flag_fn *holds, unsigned depth)
{
    if ((step == 0 && is_splat(index)) || is_row(index, step))
        return true;
    if (depth == 0 || !LLVMIsABinaryOperator(index) || LLVMGetInstructionOpcode(index) != LLVMAdd ||
        (holds && !holds(index)))
        return false;
    for (unsigned k = 0; k < 2; k++)
        if (grows(LLVMGetOperand(index, k), step, holds, depth - 1) &&
            grows(LLVMGetOperand(index, 1 - k), 0, holds, depth - 1))
            return true;
    return false;
}

static bool counts_up(LLVMValueRef index)
{
    if (LLVMIsAZExtInst(index))
        return grows(LLVMGetOperand(index, 0), 1, LLVMGetNUW, MAX_DEPTH);
    if (LLVMIsASExtInst(index))
        return grows(LLVMGetOperand(index, 0), 1, LLVMGetNSW, MAX_DEPTH);
    return LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(index))) == 64 && grows(index, 1, NULL, MAX_DEPTH);
}

static bool is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

/* Takes a constant number of bytes off the addresses of all lanes. */
static LLVMValueRef without_offset(const struct kc_wg *wg, LLVMValueRef address, uint64_t *offset)
{
    LLVMValueRef by;

    *offset = 0;
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2 ||
        !is_vector(LLVMGetOperand(address, 0)))
        return address;
    by = LLVMGetOperand(address, 1);
    if (!LLVMIsAConstantInt(by))
        return address;
    *offset = LLVMConstIntGetZExtValue(by) * LLVMABISizeOfType(wg->layout, LLVMGetGEPSourceElementType(address));
    return LLVMGetOperand(address, 0);
}

static bool is_gather(LLVMValueRef i)
{
    LLVMValueRef callee = kc_wg_callee(i);

    return callee && kc_name_begins(callee, "llvm.masked.gather.");
}

/* Sets the number of pieces by the size of what the address counts. False: no vectors, or not worth it. */
static bool set_pieces(const struct kc_wg *wg, struct vectors *v, bool may_be_apart)
{
    LLVMValueRef address = v->address;
    uint64_t size;

    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2 ||
        is_vector(LLVMGetOperand(address, 0)) || !is_vector(LLVMGetOperand(address, 1)))
        return false;
    size = LLVMABISizeOfType(wg->layout, LLVMGetGEPSourceElementType(address));
    v->n = (unsigned)(size / PIECE);
    v->apart = !counts_up(LLVMGetOperand(address, 1));
    if (size % PIECE || v->n < 2 || v->n > MOST || (v->n & (v->n - 1)))
        return false;
    return !v->apart || (may_be_apart && v->n >= LEAST_APART && v->lanes % v->n == 0);
}

/* Does the instruction leave memory as it is? Of calls those are known that come between such gathers. */
static bool is_harmless(LLVMValueRef i)
{
    static const char *const known[] = {"llvm.masked.load.", "llvm.fm",    "llvm.fabs.", "llvm.sqrt.",
                                        "llvm.smin.",        "llvm.smax.", "llvm.umin.", "llvm.umax."};
    LLVMValueRef callee = kc_wg_callee(i);
    bool harmless = !LLVMIsACallInst(i) || is_gather(i);

    for (size_t k = 0; callee && k < sizeof(known) / sizeof(known[0]); k++)
        harmless |= kc_name_begins(callee, known[k]);
    return harmless && !LLVMIsAStoreInst(i) && !LLVMIsAFenceInst(i) && !kc_is_volatile_or_atomic(i);
}

static bool begin_vectors(const struct kc_wg *wg, LLVMValueRef first, struct vectors *v)
{
    uint64_t offset;

    *v = (struct vectors){.type = LLVMTypeOf(first), .mask = LLVMGetOperand(first, 2)};
    v->address = without_offset(wg, LLVMGetOperand(first, 0), &offset);
    v->lanes = LLVMGetVectorSize(v->type);
    v->align = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(first, 1));
    return LLVMABISizeOfType(wg->layout, LLVMGetElementType(v->type)) == PIECE && v->lanes <= MAX_LANES;
}

/* Finds the v->n pieces, of which one is gathered first. All are: nothing else of memory is read. */
static bool find_pieces(const struct kc_wg *wg, LLVMValueRef first, struct vectors *v)
{
    unsigned found = 0;

    memset(v->gathers, 0, sizeof(v->gathers));
    for (LLVMValueRef i = first; i && is_harmless(i) && found < v->n; i = LLVMGetNextInstruction(i)) {
        uint64_t offset;

        if (!is_gather(i) || LLVMTypeOf(i) != v->type || LLVMGetOperand(i, 2) != v->mask ||
            !LLVMIsConstant(LLVMGetOperand(i, 3)) || without_offset(wg, LLVMGetOperand(i, 0), &offset) != v->address ||
            offset % PIECE || offset / PIECE >= v->n || v->gathers[offset / PIECE])
            continue;
        v->gathers[offset / PIECE] = i;
        found++;
    }
    return found == v->n;
}

/* Structures of any size whose first members all are read, four or eight pieces of them. */
static bool find_structures(const struct kc_wg *wg, LLVMValueRef first, struct vectors *v)
{
    v->apart = true;
    for (v->n = MOST; v->n >= LEAST_APART; v->n /= 2)
        if (v->lanes % v->n == 0 && find_pieces(wg, first, v))
            return true;
    return false;
}

/* Finds the vectors of which one piece is gathered first. */
static bool find(const struct kc_wg *wg, LLVMValueRef first, bool may_be_apart, struct vectors *v)
{
    if (!is_gather(first) || !begin_vectors(wg, first, v))
        return false;
    if (!(set_pieces(wg, v, may_be_apart) && find_pieces(wg, first, v)) &&
        !(may_be_apart && find_structures(wg, first, v)))
        return false;
    if (v->mask == LLVMConstAllOnes(LLVMTypeOf(v->mask)))
        v->mask = NULL;
    return true;
}

/* ---- The loads --------------------------------------------------------------------------------------------------- */

/* Every second element of two vectors. */
static LLVMValueRef every_second(struct kc_wg *wg, LLVMValueRef a, LLVMValueRef b, unsigned lanes, unsigned first)
{
    LLVMValueRef which[MAX_LANES];

    for (unsigned i = 0; i < lanes; i++)
        which[i] = kc_i32(wg, first + 2 * i);
    return LLVMBuildShuffleVector(wg->builder, a, b, LLVMConstVector(which, lanes), "");
}

/* Elements 0, n, 2 n … become rows[0], and so on. */
static void deal(struct kc_wg *wg, LLVMValueRef *rows, unsigned n, unsigned lanes)
{
    LLVMValueRef even[MOST], odd[MOST];

    if (n == 1)
        return;
    for (unsigned i = 0; i < n / 2; i++) {
        even[i] = every_second(wg, rows[2 * i], rows[2 * i + 1], lanes, 0);
        odd[i] = every_second(wg, rows[2 * i], rows[2 * i + 1], lanes, 1);
    }
    deal(wg, even, n / 2, lanes);
    deal(wg, odd, n / 2, lanes);
    for (unsigned i = 0; i < n / 2; i++) {
        rows[2 * i] = even[i];
        rows[2 * i + 1] = odd[i];
    }
}

/* The address of a lane's vector. */
static LLVMValueRef vector_of(struct kc_wg *wg, const struct vectors *v, unsigned lane)
{
    LLVMValueRef index;

    if (v->apart)
        return LLVMBuildExtractElement(wg->builder, v->places, kc_i32(wg, lane), "");
    index = LLVMBuildExtractElement(wg->builder, LLVMGetOperand(v->address, 1), kc_i32(wg, lane), "");

    return LLVMBuildGEP2(wg->builder, LLVMGetGEPSourceElementType(v->address), LLVMGetOperand(v->address, 0), &index, 1,
                         "");
}

static LLVMValueRef load(struct kc_wg *wg, const struct vectors *v, LLVMTypeRef type, LLVMValueRef address)
{
    LLVMValueRef loaded = LLVMBuildLoad2(wg->builder, type, address, "");

    LLVMSetAlignment(loaded, v->align);
    return loaded;
}

/* The vectors of n lanes, a power of two, one behind the other. */
static LLVMValueRef load_row(struct kc_wg *wg, const struct vectors *v, unsigned lane, unsigned n)
{
    LLVMValueRef both[MAX_LANES], a, b;

    if (n == 1)
        return load(wg, v, LLVMVectorType(wg->i64, v->n), vector_of(wg, v, lane));
    a = load_row(wg, v, lane, n / 2);
    b = load_row(wg, v, lane + n / 2, n / 2);
    for (unsigned i = 0; i < n * v->n; i++)
        both[i] = kc_i32(wg, i);
    return LLVMBuildShuffleVector(wg->builder, a, b, LLVMConstVector(both, n * v->n), "");
}

/* All lanes' vectors, at the builder's position: by piece. */
static void load_all(struct kc_wg *wg, const struct vectors *v, LLVMValueRef *pieces)
{
    LLVMTypeRef type = LLVMVectorType(wg->i64, v->lanes);
    unsigned for_row = v->lanes / v->n;

    for (unsigned i = 0; i < v->n; i++) {
        LLVMValueRef row = kc_i64(wg, i);

        pieces[i] = v->apart ? load_row(wg, v, i * for_row, for_row)
                             : load(wg, v, type, LLVMBuildGEP2(wg->builder, type, vector_of(wg, v, 0), &row, 1, ""));
    }
    deal(wg, pieces, v->n, v->lanes);
    for (unsigned i = 0; i < v->n; i++)
        pieces[i] = LLVMBuildBitCast(wg->builder, pieces[i], v->type, "");
}

/* The gathers once more, at the builder's position. */
static void gather_all(struct kc_wg *wg, const struct vectors *v, LLVMValueRef *pieces)
{
    for (unsigned i = 0; i < v->n; i++) {
        LLVMValueRef offset = kc_i64(wg, i * PIECE), address;

        address = LLVMBuildGEP2(wg->builder, wg->i8, v->address, &offset, 1, "");
        pieces[i] = LLVMInstructionClone(v->gathers[i]);
        LLVMInsertIntoBuilder(wg->builder, pieces[i]);
        LLVMSetOperand(pieces[i], 0, address);
    }
}

/* Splits the block before `first`: the condition decides between the two ways, which come together again there. */
static void split(struct kc_wg *wg, LLVMValueRef first, LLVMValueRef condition, LLVMBasicBlockRef *ways)
{
    LLVMBasicBlockRef before = LLVMGetInstructionParent(first), after = kc_split_before(first);

    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    for (unsigned k = 0; k < 2; k++) {
        ways[k] = LLVMInsertBasicBlockInContext(wg->context, after, "");
        LLVMPositionBuilderAtEnd(wg->builder, ways[k]);
        LLVMBuildBr(wg->builder, after);
    }
    LLVMPositionBuilderAtEnd(wg->builder, before);
    LLVMBuildCondBr(wg->builder, condition, ways[0], ways[1]);
}

static void join(struct kc_wg *wg, const struct vectors *v, LLVMValueRef first, LLVMBasicBlockRef *ways,
                 LLVMValueRef (*values)[MOST], LLVMValueRef *pieces)
{
    LLVMPositionBuilderBefore(wg->builder, LLVMGetFirstInstruction(LLVMGetInstructionParent(first)));
    for (unsigned i = 0; i < v->n; i++) {
        pieces[i] = LLVMBuildPhi(wg->builder, v->type, "");
        LLVMAddIncoming(pieces[i], (LLVMValueRef[]){values[0][i], values[1][i]}, ways, 2);
    }
}

/* Loads if all lanes may, else gathers. */
static void load_by_mask(struct kc_wg *wg, const struct vectors *v, LLVMValueRef first, LLVMValueRef *pieces)
{
    LLVMBasicBlockRef ways[2];
    LLVMValueRef values[2][MOST];

    LLVMPositionBuilderBefore(wg->builder, first);
    split(wg, first, kc_are_all(wg, v->mask), ways);
    LLVMPositionBuilderBefore(wg->builder, LLVMGetBasicBlockTerminator(ways[0]));
    load_all(wg, v, values[0]);
    LLVMPositionBuilderBefore(wg->builder, LLVMGetBasicBlockTerminator(ways[1]));
    gather_all(wg, v, values[1]);
    join(wg, v, first, ways, values, pieces);
}

/* The address of the first lane in the mask. */
static LLVMValueRef first_place(struct kc_wg *wg, const struct vectors *v, LLVMValueRef bits)
{
    LLVMTypeRef type = LLVMTypeOf(bits);
    unsigned id = LLVMLookupIntrinsicID("llvm.cttz", 9);
    LLVMValueRef cttz = LLVMGetIntrinsicDeclaration(wg->module, id, &type, 1), zeros;

    zeros = LLVMBuildCall2(wg->builder, LLVMIntrinsicGetType(wg->context, id, &type, 1), cttz,
                           (LLVMValueRef[]){bits, LLVMConstInt(LLVMInt1TypeInContext(wg->context), 1, false)}, 2, "");
    return LLVMBuildExtractElement(wg->builder, v->address, zeros, "");
}

/* Loads if any lane may; the others load what the first one does. */
static void load_by_any(struct kc_wg *wg, struct vectors *v, LLVMValueRef first, LLVMValueRef *pieces)
{
    LLVMBuilderRef b = wg->builder;
    LLVMBasicBlockRef ways[2];
    LLVMValueRef values[2][MOST], bits;

    LLVMPositionBuilderBefore(b, first);
    bits = kc_mask_bits(wg, v->mask);
    split(wg, first, LLVMBuildICmp(b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), ""), ways);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(ways[0]));
    v->places = LLVMBuildSelect(b, v->mask, v->address, kc_splat(wg, first_place(wg, v, bits), v->lanes), "");
    load_all(wg, v, values[0]);
    for (unsigned i = 0; i < v->n; i++) {
        values[1][i] = LLVMGetOperand(v->gathers[i], 3);
        if (!LLVMIsUndef(values[1][i])) /* poison included */
            values[0][i] = LLVMBuildSelect(b, v->mask, values[0][i], values[1][i], "");
    }
    join(wg, v, first, ways, values, pieces);
}

/* Returns the block in which what follows the gathers is. */
static LLVMBasicBlockRef replace(struct kc_wg *wg, struct vectors *v, LLVMValueRef first)
{
    LLVMBasicBlockRef block;
    LLVMValueRef pieces[MOST];

    v->places = v->address;
    if (v->mask && v->apart) {
        load_by_any(wg, v, first, pieces);
    } else if (v->mask) {
        load_by_mask(wg, v, first, pieces);
    } else {
        LLVMPositionBuilderBefore(wg->builder, first);
        load_all(wg, v, pieces);
    }
    block = LLVMGetInstructionParent(first);
    for (unsigned i = 0; i < v->n; i++) {
        LLVMReplaceAllUsesWith(v->gathers[i], pieces[i]);
        LLVMInstructionEraseFromParent(v->gathers[i]);
    }
    return block;
}

static void replace_all(struct kc_wg *wg, LLVMValueRef function, bool may_be_apart)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef i = LLVMGetFirstInstruction(block);
        struct vectors v;

        while (i)
            if (find(wg, i, may_be_apart, &v)) {
                block = replace(wg, &v, i);
                i = LLVMGetFirstInstruction(block);
            } else {
                i = LLVMGetNextInstruction(i);
            }
    }
}

void kc_wg_load_vectors(LLVMModuleRef module, bool may_be_apart)
{
    struct kc_wg wg = {.module = module, .context = LLVMGetModuleContext(module)};

    wg.builder = LLVMCreateBuilderInContext(wg.context);
    wg.layout = LLVMGetModuleDataLayout(module);
    wg.i8 = LLVMInt8TypeInContext(wg.context);
    wg.i32 = LLVMInt32TypeInContext(wg.context);
    wg.i64 = LLVMInt64TypeInContext(wg.context);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        replace_all(&wg, f, may_be_apart);
    LLVMDisposeBuilder(wg.builder);
}
