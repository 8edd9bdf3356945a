#include "compiler/workgroup/analysis/own_vectors.h"

#include "compiler/support/llvm.h"
#include "compiler/workgroup/transform/vectors.h"

/*
 * Costs of a work-item, in thousandths of an instruction of one register. A gather or scatter takes about as many steps
 * as it has elements of eight bytes; a vector of eight bytes is one element.
 */
#define ONE         1000u
#define GATHER      150u /* a byte of one lane */
#define ONE_PIECE   100u /* likewise, of a vector of up to eight bytes */
#define NARROW_LANE 500u /* an element of less than four bytes on its way to or from arithmetic in a lane */
#define BYTE_TIMES  4u   /* registers have no product of bytes */

/* Of so many elements of four bytes, vectors of lanes leave too few registers for other values. */
#define MANY 16u

/* What is always run counts so many times what is run under a condition: checks of what was found, say. */
#define OFTEN 8u

/* How far it is followed whether a number is part of an address. */
#define ADDRESS_DEPTH 6u

struct costs {
    struct kc_wg *wg;
    unsigned lanes;
    uint64_t as_own, as_lanes, as_narrow_lanes; /* the last: if there is arithmetic */
    bool computes;                              /* vectors, by arithmetic */
};

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static uint64_t element_bytes(struct costs *c, LLVMTypeRef vector)
{
    uint64_t bits = LLVMSizeOfTypeInBits(c->wg->layout, LLVMGetElementType(vector));

    return (bits + 7) / 8;
}

/* Registers that the vector fills, at least one. */
static uint64_t registers(struct costs *c, LLVMTypeRef vector)
{
    uint64_t bytes = element_bytes(c, vector) * LLVMGetVectorSize(vector), whole = 4 * (uint64_t)c->lanes;

    return (bytes + whole - 1) / whole;
}

/* Computing with so many elements of all lanes, for one of them. */
static uint64_t of_lanes(struct costs *c, LLVMTypeRef vector)
{
    uint64_t bytes = element_bytes(c, vector), n = LLVMGetVectorSize(vector), once;

    once = n * (bytes > 4 ? bytes / 4 : 1) * ONE / c->lanes;
    return n >= MANY && bytes >= 4 ? 2 * once : once;
}

static void add_access(struct costs *c, LLVMTypeRef type, LLVMValueRef address, uint64_t times)
{
    uint64_t n = LLVMGetVectorSize(type), bytes = element_bytes(c, type);

    if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) == 0)
        return;
    c->as_own += times * ONE * registers(c, type);
    if (!kc_address_differs(address)) {
        c->as_lanes += times * n * ONE / c->lanes;
        return;
    }
    c->as_lanes += times * n * bytes * (n * bytes <= 8 ? ONE_PIECE : GATHER);
    c->as_narrow_lanes += bytes < 4 ? times * n * NARROW_LANE : 0;
}

/* ---- Scalars ----------------------------------------------------------------------------------------------------- */

/* Is the number only there to say where something is, or when a loop ends? Lanes share such work, or it is part of
 * instructions anyhow. */
static bool is_index(LLVMValueRef value, unsigned depth)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAGetElementPtrInst(user) || LLVMIsAICmpInst(user))
            continue;
        if (depth == 0 || !(LLVMIsACastInst(user) || LLVMIsABinaryOperator(user) || LLVMIsAPHINode(user)) ||
            is_vector(LLVMTypeOf(user)) || !is_index(user, depth - 1))
            return false;
    }
    return true;
}

static bool is_scalar_work(LLVMValueRef i)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
    bool integer = kind == LLVMIntegerTypeKind;

    if (!LLVMIsABinaryOperator(i) && !LLVMIsAUnaryOperator(i) && !LLVMIsACastInst(i) && !LLVMIsAFCmpInst(i) &&
        !LLVMIsASelectInst(i) && !(LLVMIsACallInst(i) && kc_call_of(i) == KC_CALL_OTHER))
        return false;
    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind || kind == LLVMHalfTypeKind ||
           (integer && !is_index(i, ADDRESS_DEPTH));
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void add_vector(struct costs *c, LLVMValueRef i, LLVMTypeRef type, uint64_t times)
{
    bool product = LLVMGetInstructionOpcode(i) == LLVMMul && element_bytes(c, type) == 1;

    if (LLVMIsAPHINode(i))
        return;
    c->as_own += times * ONE * registers(c, type) * (product ? BYTE_TIMES : 1);
    if (LLVMIsAShuffleVectorInst(i) || LLVMIsAInsertElementInst(i) || LLVMIsAExtractElementInst(i))
        return;
    c->as_lanes += times * of_lanes(c, type);
    c->computes = true;
}

static void add(struct costs *c, LLVMValueRef i, uint64_t times)
{
    bool stores = LLVMIsAStoreInst(i) != NULL;
    LLVMTypeRef type = LLVMTypeOf(stores || LLVMIsAExtractElementInst(i) ? LLVMGetOperand(i, 0) : i);

    if (is_vector(type) && (stores || LLVMIsALoadInst(i)))
        add_access(c, type, LLVMGetOperand(i, stores ? 1 : 0), times);
    else if (is_vector(type))
        add_vector(c, i, type, times);
    else if (is_scalar_work(i)) {
        c->as_own += times * ONE;
        c->as_lanes += times * ONE / c->lanes;
    }
}

/* Does the block run in each turn of its loop, or whenever the kernel gets to its end? */
static bool is_always(const struct kc_flow *flow, unsigned block)
{
    int loop = flow->blocks[block].loop;

    for (unsigned b = 0; b < flow->n_blocks; b++) {
        bool ends = flow->blocks[b].n_successors == 0;

        for (unsigned s = 0; loop != KC_NONE && s < flow->blocks[b].n_successors; s++)
            ends |=
                kc_bits_get(&flow->loops[loop].blocks, b) && flow->blocks[b].successors[s] == flow->loops[loop].header;
        if (ends && kc_flow_dominates(flow, (int)block, (int)b))
            return true;
    }
    return false;
}

bool kc_keeps_vectors(struct kc_wg *wg, unsigned lanes)
{
    struct costs c = {.wg = wg, .lanes = lanes};
    struct kc_flow flow;

    kc_flow_create(&flow, wg->kernel);
    for (unsigned b = 0; b < flow.n_blocks; b++) {
        uint64_t times = kc_flow_rounds(&flow, b) * (is_always(&flow, b) ? OFTEN : 1);

        for (KC_EACH_INSTRUCTION(i, flow.blocks[b].block))
            add(&c, i, times);
    }
    kc_flow_finish(&flow);
    return c.as_own < c.as_lanes + (c.computes ? c.as_narrow_lanes : 0);
}
