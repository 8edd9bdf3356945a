/*
 * Where many ways of lanes meet, each value that differs by the way is a chain of selects once lanes are a vector, one
 * for each way but the first. At the end of a region of many branches these chains are most of the code, and LLVM's
 * instcombine looks at each way of each chain again. Mostly a value has changed on few ways, and many values on the
 * same ways.
 */
#include "compiler/support/older.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"

#include <stdlib.h>

/* ---- Before the vectoriser --------------------------------------------------------------------------------------- */

static unsigned count_of(LLVMValueRef phi, LLVMValueRef value)
{
    unsigned n = 0;

    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        n += LLVMGetIncomingValue(phi, k) == value;
    return n;
}

/* The value of most ways; NULL: all values differ. */
static LLVMValueRef usual_value(LLVMValueRef phi)
{
    LLVMValueRef usual = NULL;
    unsigned most = 1;

    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        unsigned n = count_of(phi, LLVMGetIncomingValue(phi, k));

        if (n > most) {
            most = n;
            usual = LLVMGetIncomingValue(phi, k);
        }
    }
    return usual;
}

static void add_ways_of(LLVMValueRef sorted, LLVMValueRef phi, LLVMValueRef value)
{
    if (count_of(sorted, value))
        return;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (LLVMGetIncomingValue(phi, k) == value) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);

            LLVMAddIncoming(sorted, &value, &from, 1);
        }
}

/* The first way has no select, and a select between equal values goes: so the value of most ways is the first. */
static void sort_ways(LLVMBuilderRef b, LLVMValueRef phi)
{
    LLVMValueRef usual = usual_value(phi), sorted;

    if (!usual)
        return;
    LLVMPositionBuilderBefore(b, phi);
    sorted = LLVMBuildPhi(b, LLVMTypeOf(phi), "");
    add_ways_of(sorted, phi, usual);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        add_ways_of(sorted, phi, LLVMGetIncomingValue(phi, k));
    LLVMReplaceAllUsesWith(phi, sorted);
    LLVMInstructionEraseFromParent(phi);
}

void kc_wg_sort_ways(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i); i = next) {
                next = LLVMGetNextInstruction(i);
                if (LLVMCountIncoming(i) > 2)
                    sort_ways(b, i);
            }
    LLVMDisposeBuilder(b);
}

/* ---- Behind it --------------------------------------------------------------------------------------------------- */

/* Masks of which one or the other shall do, and the mask of both. */
struct joined {
    LLVMValueRef first, second, both;
    uintptr_t earlier; /* a number of the list + 1, with the same first mask; 0: none */
};

struct list {
    struct joined *joined;
    unsigned n, room;
    struct kc_map latest; /* by first mask, a number + 1 */
};

static LLVMValueRef find_both(const struct list *list, LLVMValueRef first, LLVMValueRef second)
{
    for (uintptr_t k = kc_map_get(&list->latest, first); k; k = list->joined[k - 1].earlier)
        if (list->joined[k - 1].second == second)
            return list->joined[k - 1].both;
    return NULL;
}

static void note_both(struct list *list, struct joined joined)
{
    if (list->n == list->room) {
        struct joined *more = kc_alloc(list->room * 2 + 16, sizeof(*more));

        for (unsigned k = 0; k < list->n; k++)
            more[k] = list->joined[k];
        free(list->joined);
        list->joined = more;
        list->room = list->room * 2 + 16;
    }
    joined.earlier = kc_map_get(&list->latest, joined.first);
    list->joined[list->n++] = joined;
    kc_map_set(&list->latest, joined.first, list->n);
}

/* A lane that the first mask has may have no defined second one. */
static LLVMValueRef build_both(LLVMBuilderRef b, struct list *list, LLVMValueRef first, LLVMValueRef second)
{
    LLVMValueRef both = find_both(list, first, second);

    if (both)
        return both;
    both = LLVMBuildSelect(b, first, LLVMConstAllOnes(LLVMTypeOf(first)), second, "");
    note_both(list, (struct joined){.first = first, .second = second, .both = both});
    return both;
}

static bool has_one_use(LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    return use && !LLVMGetNextUse(use);
}

/* Two selects of one value, one of them what the other has else, become one. */
static void join_with_else(LLVMBuilderRef b, struct list *list, LLVMValueRef select)
{
    LLVMValueRef otherwise = LLVMGetOperand(select, 2);

    if (!LLVMIsASelectInst(otherwise) || LLVMGetOperand(otherwise, 1) != LLVMGetOperand(select, 1) ||
        LLVMGetInstructionParent(otherwise) != LLVMGetInstructionParent(select) || !has_one_use(otherwise) ||
        LLVMTypeOf(LLVMGetOperand(otherwise, 0)) != LLVMTypeOf(LLVMGetOperand(select, 0)))
        return;
    LLVMPositionBuilderBefore(b, select);
    LLVMSetOperand(select, 0, build_both(b, list, LLVMGetOperand(select, 0), LLVMGetOperand(otherwise, 0)));
    LLVMSetOperand(select, 2, LLVMGetOperand(otherwise, 2));
    LLVMInstructionEraseFromParent(otherwise);
}

static bool is_of_lanes(LLVMValueRef i)
{
    return LLVMIsASelectInst(i) && LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) == LLVMVectorTypeKind;
}

static void join_in(LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    struct list list = {.n = 0};

    for (KC_EACH_INSTRUCTION(i, block))
        if (is_of_lanes(i))
            join_with_else(b, &list, i);
    kc_map_clear(&list.latest);
    free(list.joined);
}

void kc_wg_join_ways(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            join_in(b, block);
    LLVMDisposeBuilder(b);
}
