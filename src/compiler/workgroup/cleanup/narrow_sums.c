/* Sums of bytes: C computes them in 32 bits; 16 bits are enough for many, and take half the steps. */
#include "compiler/support/llvm.h"
#include "compiler/workgroup/cleanup/passes.h"
#include "compiler/workgroup/ir.h"
#include "compiler/workgroup/map.h"

#include <stdlib.h>

#define MOST_NODES  1024u /* of a function */
#define LEAST_LANES 8u    /* fewer don't fill a register */
#define WORTH       3u    /* so many nodes at least for each that becomes wide again */
#define LEAST       (-32768)
#define MOST        32767

/* A vector of 32-bit numbers, each of which lies in a range that 16 bits hold: bytes that were made wider, or what is
 * computed of such vectors and constants. Nodes stand behind those that they are computed of. */
struct node {
    LLVMValueRef value, narrow; /* narrow: the same in 16 bits, once it was made */
    int64_t least, most;
    bool leaf;   /* bytes that were made wider */
    bool wanted; /* a sum that is worth it is computed of it */
};

struct nodes {
    struct node *all; /* MOST_NODES */
    unsigned n;
    struct kc_map numbers; /* of a value: its node's, counted from 1 */
};

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static struct node *node_of(const struct nodes *nodes, LLVMValueRef value)
{
    uintptr_t number = kc_map_get(&nodes->numbers, value);

    return number ? &nodes->all[number - 1] : NULL;
}

static bool is_vector_of(LLVMValueRef value, unsigned bits)
{
    LLVMTypeRef type = LLVMTypeOf(value), element;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMGetVectorSize(type) < LEAST_LANES)
        return false;
    element = LLVMGetElementType(type);
    return LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == bits;
}

/* Constants that 16 bits hold. */
static bool find_constants(LLVMValueRef vector, int64_t *least, int64_t *most)
{
    if (!LLVMIsAConstant(vector))
        return false;
    for (unsigned k = 0; k < LLVMGetVectorSize(LLVMTypeOf(vector)); k++) {
        LLVMValueRef element = LLVMGetAggregateElement(vector, k);
        int64_t number;

        if (!element || !LLVMIsAConstantInt(element))
            return false;
        number = LLVMConstIntGetSExtValue(element);
        *least = k && *least < number ? *least : number;
        *most = k && *most > number ? *most : number;
    }
    return *least >= LEAST && *most <= MOST;
}

static bool find_range(const struct nodes *nodes, LLVMValueRef value, int64_t *least, int64_t *most)
{
    const struct node *node = node_of(nodes, value);

    if (!node)
        return find_constants(value, least, most);
    *least = node->least;
    *most = node->most;
    return true;
}

static void multiply(struct node *node, int64_t a0, int64_t a1, int64_t b0, int64_t b1)
{
    const int64_t products[] = {a0 * b0, a0 * b1, a1 * b0, a1 * b1};

    node->least = node->most = products[0];
    for (unsigned k = 1; k < 4; k++) {
        node->least = products[k] < node->least ? products[k] : node->least;
        node->most = products[k] > node->most ? products[k] : node->most;
    }
}

/* The range of a sum, a difference, or a multiple by constants. False: it is none of these. */
static bool compute_range(const struct nodes *nodes, struct node *node)
{
    LLVMValueRef a = LLVMGetOperand(node->value, 0), b = LLVMGetOperand(node->value, 1);
    int64_t a0, a1, b0, b1;

    if (!find_range(nodes, a, &a0, &a1) || !find_range(nodes, b, &b0, &b1))
        return false;
    switch (LLVMGetInstructionOpcode(node->value)) {
    case LLVMAdd:
        node->least = a0 + b0;
        node->most = a1 + b1;
        return true;
    case LLVMSub:
        node->least = a0 - b1;
        node->most = a1 - b0;
        return true;
    case LLVMMul:
        multiply(node, a0, a1, b0, b1);
        return LLVMIsAConstant(b);
    case LLVMShl:
        if (!LLVMIsAConstant(b) || b0 < 0 || b1 > 14)
            return false;
        multiply(node, a0, a1, INT64_C(1) << b0, INT64_C(1) << b1);
        return true;
    default:
        return false;
    }
}

static bool is_leaf(struct node *node)
{
    bool is_signed = LLVMIsASExtInst(node->value);

    if ((!is_signed && !LLVMIsAZExtInst(node->value)) || !is_vector_of(LLVMGetOperand(node->value, 0), 8))
        return false;
    node->least = is_signed ? -128 : 0;
    node->most = is_signed ? 127 : 255;
    return node->leaf = true;
}

static void add_node(struct nodes *nodes, LLVMValueRef i)
{
    struct node node = {.value = i};

    if (nodes->n == MOST_NODES || !is_vector_of(i, 32))
        return;
    if (!is_leaf(&node) && (!LLVMIsABinaryOperator(i) || !compute_range(nodes, &node)))
        return;
    if (node.least < LEAST || node.most > MOST)
        return;
    nodes->all[nodes->n] = node;
    kc_map_set(&nodes->numbers, i, ++nodes->n);
}

/* ---- Which are worth it ------------------------------------------------------------------------------------------ */

/* Has it a use that needs all bits? */
static bool becomes_wide(const struct nodes *nodes, const struct node *node)
{
    for (LLVMUseRef use = LLVMGetFirstUse(node->value); use; use = LLVMGetNextUse(use))
        if (!node_of(nodes, LLVMGetUser(use)))
            return true;
    return false;
}

/* Counts what a sum is computed of and wasn't counted yet, itself included. */
static unsigned want(const struct nodes *nodes, struct node *node)
{
    unsigned n = 1;

    if (node->wanted)
        return 0;
    node->wanted = true;
    for (unsigned k = 0; k < 2 && !node->leaf; k++) {
        struct node *operand = node_of(nodes, LLVMGetOperand(node->value, k));

        n += operand ? want(nodes, operand) : 0;
    }
    return n;
}

/* Leaves that are used as they are stay; each other node with such a use takes a step to become wide again. */
static bool is_worth_it(struct nodes *nodes)
{
    unsigned n = 0, n_wide = 0;

    for (unsigned i = nodes->n; i-- > 0;)
        if (!nodes->all[i].leaf && becomes_wide(nodes, &nodes->all[i]))
            n += want(nodes, &nodes->all[i]);
    for (unsigned i = 0; i < nodes->n; i++)
        n_wide += nodes->all[i].wanted && !nodes->all[i].leaf && becomes_wide(nodes, &nodes->all[i]);
    return n_wide && n >= WORTH * n_wide;
}

/* ---- The change -------------------------------------------------------------------------------------------------- */

static LLVMValueRef narrow_constants(LLVMValueRef vector)
{
    LLVMTypeRef type = LLVMInt16TypeInContext(LLVMGetTypeContext(LLVMTypeOf(vector)));
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(vector));
    LLVMValueRef *numbers = calloc(n, sizeof(LLVMValueRef)), narrow; /* NOLINT: of pointers */

    for (unsigned k = 0; numbers && k < n; k++)
        numbers[k] =
            LLVMConstInt(type, (uint64_t)LLVMConstIntGetSExtValue(LLVMGetAggregateElement(vector, k)) & 0xffff, false);
    narrow = numbers ? LLVMConstVector(numbers, n) : LLVMConstTrunc(vector, LLVMVectorType(type, n));
    free(numbers);
    return narrow;
}

static LLVMValueRef narrow_operand(const struct nodes *nodes, LLVMValueRef operand)
{
    const struct node *node = node_of(nodes, operand);

    return node ? node->narrow : narrow_constants(operand);
}

static void make_narrow(const struct nodes *nodes, struct node *node, LLVMBuilderRef b)
{
    LLVMTypeRef type = LLVMTypeOf(node->value);
    LLVMTypeRef narrow = LLVMVectorType(LLVMInt16TypeInContext(LLVMGetTypeContext(type)), LLVMGetVectorSize(type));

    LLVMPositionBuilderBefore(b, node->value);
    if (node->leaf)
        node->narrow =
            LLVMBuildCast(b, LLVMGetInstructionOpcode(node->value), LLVMGetOperand(node->value, 0), narrow, "");
    else
        node->narrow = LLVMBuildBinOp(b, LLVMGetInstructionOpcode(node->value),
                                      narrow_operand(nodes, LLVMGetOperand(node->value, 0)),
                                      narrow_operand(nodes, LLVMGetOperand(node->value, 1)), "");
}

/* The uses that are left, as other nodes went before, get the narrow one, made wide. */
static void replace(struct node *node, LLVMBuilderRef b)
{
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(node->value));
    if (LLVMGetFirstUse(node->value))
        LLVMReplaceAllUsesWith(node->value, LLVMBuildSExt(b, node->narrow, LLVMTypeOf(node->value), ""));
    LLVMInstructionEraseFromParent(node->value);
}

static void change(struct nodes *nodes, LLVMBuilderRef b)
{
    for (unsigned i = 0; i < nodes->n; i++)
        if (nodes->all[i].wanted)
            make_narrow(nodes, &nodes->all[i], b);
    for (unsigned i = nodes->n; i-- > 0;)
        if (nodes->all[i].wanted && !nodes->all[i].leaf)
            replace(&nodes->all[i], b);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Blocks come in an order in which a value may stand before what it is computed of: then it is no node. */
static void find_nodes(struct nodes *nodes, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (KC_EACH_INSTRUCTION(i, block))
            add_node(nodes, i);
}

void kc_wg_narrow_sums(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    struct nodes nodes = {.all = calloc(MOST_NODES, sizeof(struct node))};

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f && nodes.all; f = LLVMGetNextFunction(f)) {
        nodes.n = 0;
        kc_map_clear(&nodes.numbers);
        find_nodes(&nodes, f);
        if (is_worth_it(&nodes))
            change(&nodes, b);
    }
    kc_map_clear(&nodes.numbers);
    free(nodes.all);
    LLVMDisposeBuilder(b);
}
