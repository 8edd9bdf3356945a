#include "compiler/ptx/offsets.h"

#include <stddef.h>
#include <stdlib.h>
#include <uthash.h>

#define MOST_TERMS 8  /* longer sums stay as they are ... */
#define MOST_STEPS 64 /* ... and those of so many additions */

/* Values as they are defined: by their order the same terms of two indices are summed the same way, those of outer
 * loops first. */
struct place {
    LLVMValueRef value;
    unsigned number;
    UT_hash_handle hh;
};

/* How an index gets its 64 bits: it has them, and may wrap; or it has fewer, and never wraps. */
enum width { WIDE, ZERO_EXTENDED, SIGN_EXTENDED };

/* An index as a sum. */
struct sum {
    LLVMValueRef terms[MOST_TERMS];
    unsigned n_terms, n_constants, n_steps;
    uint64_t constant;
    enum width width;
};

static LLVMOpcode opcode(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : 0;
}

/* An addition of its two operands, which the sum may take apart. */
static bool is_sum(LLVMValueRef value, enum width width)
{
    if (opcode(value) == LLVMOr)
        return LLVMGetIsDisjoint(value);
    if (opcode(value) != LLVMAdd)
        return false;
    return width == WIDE || (width == ZERO_EXTENDED ? LLVMGetNUW(value) : LLVMGetNSW(value));
}

/* False: there are too many terms, or steps. */
static bool add(struct sum *sum, LLVMValueRef value)
{
    if (++sum->n_steps > MOST_STEPS)
        return false;
    if (LLVMIsAConstantInt(value)) {
        sum->constant +=
            sum->width == ZERO_EXTENDED ? LLVMConstIntGetZExtValue(value) : (uint64_t)LLVMConstIntGetSExtValue(value);
        sum->n_constants++;
        return true;
    }
    if (is_sum(value, sum->width))
        return add(sum, LLVMGetOperand(value, 0)) && add(sum, LLVMGetOperand(value, 1));
    if (sum->n_terms == MOST_TERMS)
        return false;
    sum->terms[sum->n_terms++] = value;
    return true;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static void put(struct place **places, LLVMValueRef value)
{
    struct place *place = malloc(sizeof(*place));

    if (!place)
        return;
    *place = (struct place){.value = value, .number = HASH_COUNT(*places)};
    HASH_ADD_PTR(*places, value, place);
}

static struct place *places_of(LLVMValueRef function)
{
    struct place *places = NULL;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            put(&places, at);
    return places;
}

static void forget(struct place *places)
{
    struct place *place, *next;

    HASH_ITER(hh, places, place, next)
    {
        HASH_DEL(places, place);
        free(place);
    }
}

/* Arguments come first. */
static unsigned number_of(struct place *places, LLVMValueRef value)
{
    struct place *place = NULL;

    HASH_FIND_PTR(places, &value, place);
    return place ? place->number + 1 : 0;
}

static void sort(struct sum *sum, struct place *places)
{
    for (unsigned i = 1; i < sum->n_terms; i++)
        for (unsigned k = i; k && number_of(places, sum->terms[k]) < number_of(places, sum->terms[k - 1]); k--) {
            LLVMValueRef later = sum->terms[k - 1];

            sum->terms[k - 1] = sum->terms[k];
            sum->terms[k] = later;
        }
}

/* ---- Constants that are added last ------------------------------------------------------------------------------- */

/* Of all terms: no sum of fewer wraps if the whole doesn't. */
static LLVMValueRef total(LLVMBuilderRef builder, const struct sum *sum)
{
    LLVMValueRef made = sum->terms[0];

    for (unsigned i = 1; i < sum->n_terms; i++)
        made = sum->width == WIDE ? LLVMBuildAdd(builder, made, sum->terms[i], "")
                                  : LLVMBuildNUWAdd(builder, made, sum->terms[i], "");
    return made;
}

/* The constants inside of a term that is zero-extended are the sum's. False: there are none. */
static bool take_out(LLVMBuilderRef builder, struct place *places, struct sum *sum, unsigned i)
{
    struct sum inner = {.width = ZERO_EXTENDED};
    LLVMValueRef term = sum->terms[i], narrow = opcode(term) == LLVMZExt ? LLVMGetOperand(term, 0) : NULL;

    if (!narrow || !is_sum(narrow, ZERO_EXTENDED) || !add(&inner, narrow) || !inner.n_constants || !inner.n_terms)
        return false;
    sort(&inner, places);
    sum->terms[i] = LLVMBuildZExt(builder, total(builder, &inner), LLVMTypeOf(term), "");
    sum->constant += inner.constant;
    return true;
}

/* Is there one constant at most, which is added last? It is found as it is. */
static bool is_plain(const struct sum *sum, LLVMValueRef index)
{
    return sum->n_constants == 0 ||
           (sum->n_constants == 1 && opcode(index) == LLVMAdd && LLVMIsAConstantInt(LLVMGetOperand(index, 1)));
}

static void gather_index(LLVMBuilderRef builder, struct place *places, LLVMValueRef at, unsigned operand)
{
    struct sum sum = {.width = WIDE};
    LLVMValueRef index = LLVMGetOperand(at, operand);
    LLVMTypeRef type = LLVMTypeOf(index);
    bool any = false;

    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) != 64 || !add(&sum, index) ||
        !sum.n_terms)
        return;
    sort(&sum, places);
    LLVMPositionBuilderBefore(builder, at);
    for (unsigned i = 0; i < sum.n_terms; i++)
        any |= take_out(builder, places, &sum, i);
    if (any || !is_plain(&sum, index))
        LLVMSetOperand(at, operand,
                       LLVMBuildAdd(builder, total(builder, &sum), LLVMConstInt(type, sum.constant, false), ""));
}

static void gather(LLVMBuilderRef builder, struct place *places, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            for (unsigned i = 1; LLVMIsAGetElementPtrInst(at) && i < (unsigned)LLVMGetNumOperands(at); i++)
                gather_index(builder, places, at, i);
}

/* ---- Distances from other indices -------------------------------------------------------------------------------- */

#define MOST_ACCESSED 64 /* of a block, the last ones */

/* An index with which memory was accessed, so that none of its additions wrapped. */
struct accessed {
    LLVMValueRef index;
    struct sum sum;
};

struct block {
    struct accessed accessed[MOST_ACCESSED];
    unsigned n;
};

/* The last index of an address; false: it is none of 64 bits that 32 were extended to with their sign. */
static bool read_index(struct place *places, LLVMValueRef address, struct accessed *a)
{
    if (!LLVMIsAGetElementPtrInst(address))
        return false;
    a->index = LLVMGetOperand(address, (unsigned)LLVMGetNumOperands(address) - 1);
    a->sum = (struct sum){.width = SIGN_EXTENDED};
    if (opcode(a->index) != LLVMSExt || LLVMGetIntTypeWidth(LLVMTypeOf(a->index)) != 64 ||
        !add(&a->sum, LLVMGetOperand(a->index, 0)) || !a->sum.n_terms)
        return false;
    sort(&a->sum, places);
    return true;
}

static bool are_alike(const struct sum *a, const struct sum *b)
{
    if (a->n_terms != b->n_terms)
        return false;
    for (unsigned i = 0; i < a->n_terms; i++)
        if (a->terms[i] != b->terms[i] || LLVMTypeOf(a->terms[i]) != LLVMTypeOf(b->terms[i]))
            return false;
    return true;
}

/* The address's index becomes another one and a distance. */
static void relate(LLVMBuilderRef builder, const struct block *block, struct place *places, LLVMValueRef address)
{
    struct accessed own;

    if (!read_index(places, address, &own))
        return;
    for (unsigned i = 0; i < block->n && i < MOST_ACCESSED; i++) {
        const struct accessed *other = &block->accessed[i];
        uint64_t distance = own.sum.constant - other->sum.constant;

        if (other->index == own.index || !are_alike(&other->sum, &own.sum))
            continue;
        LLVMPositionBuilderBefore(builder, address);
        LLVMSetOperand(address, (unsigned)LLVMGetNumOperands(address) - 1,
                       LLVMBuildNSWAdd(builder, other->index, LLVMConstInt(LLVMTypeOf(own.index), distance, true), ""));
        return;
    }
}

static void note_access(struct block *block, struct place *places, LLVMValueRef at)
{
    struct accessed accessed;

    if ((opcode(at) == LLVMLoad && read_index(places, LLVMGetOperand(at, 0), &accessed)) ||
        (opcode(at) == LLVMStore && read_index(places, LLVMGetOperand(at, 1), &accessed)))
        block->accessed[block->n++ % MOST_ACCESSED] = accessed;
}

static void share(LLVMBuilderRef builder, struct place *places, LLVMValueRef function)
{
    for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(function); at; at = LLVMGetNextBasicBlock(at)) {
        struct block block = {.n = 0};

        for (LLVMValueRef one = LLVMGetFirstInstruction(at); one; one = LLVMGetNextInstruction(one)) {
            relate(builder, &block, places, one);
            note_access(&block, places, one);
        }
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void visit(LLVMModuleRef module, void (*change)(LLVMBuilderRef, struct place *, LLVMValueRef function))
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
        struct place *places = places_of(function);

        change(builder, places, function);
        forget(places);
    }
    LLVMDisposeBuilder(builder);
}

void kc_share_offsets(LLVMModuleRef module)
{
    visit(module, share);
}

void kc_gather_offsets(LLVMModuleRef module)
{
    visit(module, gather);
}
